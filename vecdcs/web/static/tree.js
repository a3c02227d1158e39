// A tree drawn with its fields: P next to the parent, L next to the child. Every node is a button.

import { element, svg } from "./dom.js";

const BOX = 30, PILL = 17, FAN = 26, REACH = 12, STEM = 9, GAP = 18, MARGIN = 14;
const LEVEL = BOX + FAN + PILL + REACH + PILL + STEM;
const measure = document.createElement("canvas").getContext("2d");

function width(text, size) {
  measure.font = `${size}px Helvetica, Arial, sans-serif`;
  return measure.measureText(text).width;
}

const boxWidth = (node) => Math.max(44, width(node.word, 15) + 22);
const pillWidth = (text) => width(text, 11) + 14;

// Slots lie side by side and inside their parent's, so nothing overlaps.
function layout(nodes) {
  const below = nodes.map(() => -GAP), slots = [], taken = nodes.map(() => 0), spots = [];
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at];
    slots[at] = Math.max(below[at], boxWidth(node), node.label ? pillWidth(near(node)) : 0, pillWidth(node.label));
    if (node.parent >= 0) below[node.parent] += slots[at] + GAP;
  }
  nodes.forEach((node, at) => {
    if (node.parent < 0) return (spots[at] = { x: MARGIN + slots[0] / 2, y: MARGIN });
    const above = spots[node.parent];
    const left = above.x - below[node.parent] / 2 + taken[node.parent];
    taken[node.parent] += slots[at] + GAP;
    spots[at] = { x: left + slots[at] / 2, y: above.y + LEVEL };
  });
  const bottom = Math.max(...spots.map((spot) => spot.y)) + BOX + MARGIN;
  return { spots, width: slots[0] + 2 * MARGIN, height: bottom };
}

const near = (node) => (node.negated ? "~" : "") + node.parent_label;

export function drawTree(found, onChoose) {
  const { spots, width: wide, height } = layout(found.nodes);
  const drawing = svg("svg", {
    width: wide, height, viewBox: `0 0 ${wide} ${height}`, role: "group", "text-anchor": "middle",
    "aria-label": `Tree with ${found.nodes.length} nodes: ${found.tree}`, "font-family": "Helvetica, Arial, sans-serif",
  });
  for (const node of found.nodes) if (node.parent >= 0) drawing.append(edge(spots[node.parent], spots[node.position], node));
  for (const node of found.nodes) if (node.label) drawing.append(...pills(node, spots[node.position]));
  for (const node of found.nodes) drawing.append(box(node, spots[node.position], found, onChoose));
  return element("div", { class: "tree" }, drawing);
}

function edge(above, below, node) {
  const start = above.y + BOX, bend = start + FAN;
  const path = `M ${above.x} ${start} C ${above.x} ${bend} ${below.x} ${start} ${below.x} ${bend} V ${below.y}`;
  return svg("path", { d: path, class: node.negated ? "edge negated" : "edge" });
}

function pills(node, spot) {
  const far = spot.y - STEM - PILL;
  return [pill(near(node), spot.x, far - REACH - PILL, node.group > 0), pill(node.label, spot.x, far, false)];
}

function pill(text, x, y, grouped) {
  const wide = pillWidth(text);
  return svg("g", { "aria-hidden": "true" },
    svg("rect", { x: x - wide / 2, y, width: wide, height: PILL, rx: 8, class: grouped ? "pill grouped" : "pill" }),
    svg("text", { x, y: y + 12.5, class: "field" }, text));
}

function box(node, spot, found, onChoose) {
  const wide = boxWidth(node), blank = node.word === "_";
  const classes = ["node", blank && "blank", node.position === found.asked && "asked", node.unknown && "unknown"];
  const group = svg("g", {
    class: classes.filter(Boolean).join(" "), tabindex: 0, role: "button", "data-position": node.position,
    "aria-label": describe(node, found), "aria-haspopup": "true",
    onclick: () => onChoose(node),
    onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); onChoose(node); }
      const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); focusNode(group.ownerSVGElement, node.position + step); }
    },
  },
    svg("rect", { x: spot.x - wide / 2, y: spot.y, width: wide, height: BOX, rx: 7, class: "box" }),
    svg("text", { x: spot.x, y: spot.y + 20, class: "word" }, node.word));
  return group;
}

function describe(node, found) {
  const name = node.word === "_" ? "blank" : node.word;
  const hangs = node.parent < 0 ? "root" : `${node.label} of it is ${near(node)} of ${found.nodes[node.parent].word}`;
  const marks = [node.position === found.asked && "asked for", node.unknown && "unknown to the model"].filter(Boolean);
  return [name, hangs, ...marks, "edit"].join(", ");
}

export function focusNode(drawing, position) {
  drawing?.querySelector(`[data-position="${position}"]`)?.focus();
}

// Small bars below the boxes: what each node adds to the score of the chosen answer.
export function heat(tree, parts, contributions) {
  tree.querySelectorAll(".heat").forEach((bar) => bar.remove());
  if (!parts) return;
  const longest = Math.max(...contributions.map(Math.abs), 1e-9);
  parts.forEach((part, at) => {
    const box = tree.querySelector(`[data-position="${part.position}"] .box`);
    if (!box) return;
    const whole = Number(box.getAttribute("width")), value = contributions[at];
    const bar = svg("rect", {
      x: Number(box.getAttribute("x")), y: Number(box.getAttribute("y")) + BOX - 5, rx: 2,
      width: Math.max(2, whole * Math.abs(value) / longest), height: 5, class: value < 0 ? "heat against" : "heat for",
    });
    box.after(bar);
  });
}
