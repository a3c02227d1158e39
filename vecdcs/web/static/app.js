// The page: what is asked stands in the address, so that it can be shared, and gone back to.

import { listAnswers } from "./answers.js";
import { get, post } from "./api.js";
import { byId, element } from "./dom.js";
import { openEditor } from "./editor.js";
import { drawTree, focusNode } from "./tree.js";

const SETTINGS = { k: "10", pos: "", by: "probability", steps: "" };
const CHECKS = ["own"];
const STEPWISE = { 0: false, 1: true };  // else as suits the model
let latest = 0;

function readForm() {
  const state = { q: byId("q").value.trim(), with: byId("other").hidden ? "" : byId("with").value.trim() };
  for (const name of Object.keys(SETTINGS)) state[name] = byId(name).value;
  for (const name of CHECKS) state[name] = byId(name).checked ? "1" : "";
  return state;
}

function writeForm(parameters) {
  byId("q").value = parameters.get("q") ?? "";
  byId("with").value = parameters.get("with") ?? "";
  byId("other").hidden = !parameters.get("with");
  byId("compare").hidden = !byId("other").hidden;
  for (const [name, value] of Object.entries(SETTINGS)) byId(name).value = parameters.get(name) ?? value;
  for (const name of CHECKS) byId(name).checked = parameters.get(name) === "1";
}

function address(state) {
  const kept = Object.entries(state).filter(([name, value]) => value && value !== SETTINGS[name]);
  return kept.length ? `/?${new URLSearchParams(kept)}` : "/";
}

async function show() {
  const state = readForm(), number = ++latest;
  document.title = state.q ? `${state.q} — vecdcs` : "vecdcs";
  if (!state.q) {
    byId("results").replaceChildren();
    return say("");
  }
  say("Asking …");
  const texts = [state.q, ...(state.with ? [state.with] : [])];
  try {
    const found = await Promise.all(texts.map((text) => ask(text, state)));
    const similarity = state.with ? (await post("similar", { one: state.q, other: state.with })).similarity : null;
    if (number !== latest) return;
    byId("results").className = texts.length > 1 ? "results two" : "results";
    byId("results").replaceChildren(...found.map((each, at) => panel(each, at, state)));
    tellSimilarity(similarity);
    say(found.map(summary).join(" · "));
  } catch (problem) {
    if (number === latest) complain(problem.message);
  }
}

function ask(text, state, blank = 0) {
  const checked = { own_words: state.own === "1", stepwise: STEPWISE[state.steps] ?? null };
  return post("ask", { text, k: Number(state.k) || 10, pos: state.pos, by: state.by, blank, ...checked });
}

function summary(found) {
  const exact = found.answers.filter((answer) => answer.kind === "exact").length;
  const counted = `${found.answers.length} answers`;
  return exact ? `${counted}, ${exact} of them exact` : counted;
}

function panel(found, number, state, blank = 0) {
  const home = { number, blank, stepwise: STEPWISE[state.steps] ?? null };
  const made = element("section", { class: "panel", "aria-label": `Question ${number + 1}: ${found.query}` });
  const name = number ? "with" : "q";
  let editor = null;
  const close = (position) => { editor?.remove(); editor = null; focusNode(home.tree.querySelector("svg"), position); };
  const choose = (node) => {
    editor?.remove();
    home.tree.querySelectorAll(".chosen").forEach((chosen) => chosen.classList.remove("chosen"));
    home.tree.querySelector(`[data-position="${node.position}"]`).classList.add("chosen");
    const opened = openEditor(node, found, {
      close: () => close(node.position),
      change: async (tree) => { byId(name).value = tree; await go(); focusNode(document.querySelectorAll(".tree svg")[number], 0); },
    });
    editor = opened.editor;
    treeCard.append(editor);
    opened.focus();
  };
  home.tree = drawTree(found, choose);
  const treeCard = element("div", { class: "card" }, element("h2", {}, "The question as a tree"), home.tree,
    element("p", { class: "notation" }, found.tree),
    element("p", { class: "hint" }, "Choose a node to change its word or fields, drop it, or ask for it."), ...notes(found));
  const answers = element("div", { class: "card" }, element("h2", {}, "Answers"), blankChoice(found, number, state, made, blank),
    listAnswers(found, home));
  made.append(treeCard, answers);
  return made;
}

// With several blanks, which one is asked for.
function blankChoice(found, number, state, made, blank) {
  if (found.blanks.length < 2) return null;
  const options = found.blanks.map((_, at) => element("option", { value: at, selected: at === blank }, `blank ${at + 1}`));
  const select = element("select", {
    onchange: async () => {
      const chosen = Number(select.value);
      try {
        made.replaceWith(panel(await ask(found.tree, state, chosen), number, state, chosen));
      } catch (problem) {
        complain(problem.message);
      }
    },
  }, ...options);
  return element("label", {}, "Asking for ", select);
}

function notes(found) {
  const told = [];
  if (found.unknown.length) told.push(`The model does not know ${found.unknown.join(", ")}; it takes an unknown word instead.`);
  if (found.unused.length) told.push(`Not in this tree: ${found.unused.join(", ")}.`);
  return told.map((text) => element("p", { class: "note" }, text));
}

function tellSimilarity(value) {
  byId("similarity").hidden = value === null;
  byId("similarity").textContent = value === null ? "" : `Similarity of the two: ${value.toFixed(3)}`;
}

function say(text) {
  byId("status").className = "";
  byId("status").textContent = text;
}

function complain(text) {
  byId("results").replaceChildren();
  tellSimilarity(null);
  byId("status").className = "bad";
  byId("status").textContent = text;
}

async function go() {
  const wanted = address(readForm());
  if (wanted !== location.pathname + location.search) history.pushState(null, "", wanted);
  await show();
}

function comparing(open) {
  byId("other").hidden = !open;
  byId("compare").hidden = open;
  if (open) byId("with").focus();
  else { byId("with").value = ""; go(); byId("q").focus(); }
}

async function start() {
  byId("form").addEventListener("submit", (event) => { event.preventDefault(); go(); });
  byId("compare").addEventListener("click", () => comparing(true));
  byId("single").addEventListener("click", () => comparing(false));
  for (const name of [...Object.keys(SETTINGS), ...CHECKS]) byId(name).addEventListener("change", go);
  document.addEventListener("problem", (event) => {
    byId("status").className = "bad";
    byId("status").textContent = event.detail;
  });
  addEventListener("popstate", () => { writeForm(new URLSearchParams(location.search)); show(); });
  writeForm(new URLSearchParams(location.search));
  const model = await get("model");
  const corpus = model.sentences === null ? "" : `, ${model.sentences.toLocaleString("en")} sentences`;
  byId("about").textContent = `Ask structured questions of plain text: ${model.words.toLocaleString("en")} words${corpus}.`;
  byId("fields").replaceChildren(...model.fields.map((field) => element("option", { value: field })));
  byId("examples").replaceChildren(...model.examples.map((text) => element("button", {
    type: "button", onclick: () => { byId("q").value = text; go(); },
  }, text)));
  await show();
}

start().catch((problem) => complain(problem.message));
