// Changing a node of the tree: its word, its fields, dropping it, hanging the tree up at it, asking for it.

import { get, post } from "./api.js";
import { byId, element } from "./dom.js";

export function openEditor(node, found, { close, change }) {
  const send = (action, more = {}) => async () => {
    const { tree } = await post("edit", { tree: found.tree, action, position: node.position, ...more() });
    await change(tree);
  };
  const none = () => ({});
  const word = element("input", {
    type: "text", value: node.word, list: "words", "aria-label": "Word", maxlength: 100, oninput: () => suggest(word.value),
  });
  const near = field("Field at the parent’s end", node.parent_label);
  const far = field("Field at this node’s end", node.label);
  const plain = node.word !== "|";
  const rows = [
    plain && row("Word", word, button("Change", send("word", () => ({ word: word.value })))),
    node.label && row("Fields", near, "—", far, button("Change", send("fields", () => ({ parent_label: near.value, label: far.value })))),
    element("div", { class: "row" },
      plain && node.word !== "_" ? button("Ask for this", send("blank", none)) : null,
      node.parent >= 0 ? button("Hang up here", send("root", none)) : null,
      node.parent >= 0 ? button("Drop", send("drop", none)) : null,
      button("Close", close)),
  ];
  const title = element("h3", {}, `Edit ${node.word === "_" ? "the blank" : node.word}`);
  const editor = element("form", {
    class: "editor", "aria-label": title.textContent,
    onkeydown: (event) => { if (event.key === "Escape") { event.preventDefault(); close(); } },
    onsubmit: (event) => event.preventDefault(),
  }, title, ...rows.filter(Boolean));
  return { editor, focus: () => (plain ? word : editor.querySelector("button")).focus() };
}

function field(name, value) {
  return element("input", { type: "text", class: "field", value, list: "fields", "aria-label": name, maxlength: 100 });
}

function row(name, ...parts) {
  return element("div", { class: "row", role: "group", "aria-label": name }, ...parts);
}

const button = (text, onclick) => element("button", { type: "button", onclick: () => run(onclick) }, text);

async function run(action) {
  try {
    await action();
  } catch (problem) {
    document.dispatchEvent(new CustomEvent("problem", { detail: problem.message }));
  }
}

async function suggest(prefix) {
  if (!prefix) return;
  const { names } = await get(`words?prefix=${encodeURIComponent(prefix.slice(0, 100))}`);
  byId("words").replaceChildren(...names.map((name) => element("option", { value: name })));
}
