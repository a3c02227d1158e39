// The ranked answers: a bar, a mark, and on a click what each part of the question adds, and the sentences.

import { post } from "./api.js";
import { element } from "./dom.js";
import { heat } from "./tree.js";

const percent = (value) => (value >= 0.0995 ? `${(100 * value).toFixed(0)} %` : `${(100 * value).toFixed(value < 0.001 ? 3 : 1)} %`);

export function listAnswers(found, panel) {
  if (!found.answers.length) return element("p", { class: "empty" }, "No word answers this.");
  const longest = Math.max(...found.answers.map((answer) => answer.probability), 1e-12);
  const rows = found.answers.map((answer, at) => row(answer, at, longest, found, panel));
  return element("ol", { class: "answers" }, ...rows);
}

function row(answer, at, longest, found, panel) {
  const slash = answer.word.lastIndexOf("/");
  const id = `why-${panel.number}-${at}`;
  const bar = element("span", {});
  bar.style.width = `${(100 * answer.probability) / longest}%`;
  const mark = answer.kind === "exact" ? `exact · ${answer.count}` : "inferred";
  const score = answer.score === null ? "not in the model" : `score ${answer.score.toFixed(3)}`;
  const button = element("button", {
    type: "button", class: `answer ${answer.kind}`, "aria-expanded": "false", "aria-controls": id, title: score,
    "aria-label": `${at + 1}: ${answer.word}, ${percent(answer.probability)}, ${mark}, ${score}; why`,
    onclick: () => toggle(button, why, answer, found, panel),
  },
    element("span", { class: "name" }, answer.word.slice(0, slash), element("small", {}, answer.word.slice(slash))),
    element("span", { class: "chance" }, percent(answer.probability)),
    element("span", { class: "bar", "aria-hidden": "true" }, bar),
    element("span", { class: `mark ${answer.kind}` }, mark));
  const why = element("div", { id, class: "why", hidden: true });
  return element("li", {}, button, why);
}

async function toggle(button, why, answer, found, panel) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  why.hidden = open;
  if (open) return heat(panel.tree);
  if (!why.hasChildNodes()) why.append(...(await contents(answer, found, panel)));
  if (why.explained) heat(panel.tree, why.explained.parts, why.explained.answers[0].contributions);
  async function contents() {
    const parts = [];
    if (answer.score !== null) {
      const { blank, stepwise } = panel;
      why.explained = await post("explain", { text: found.tree, words: [answer.word], blank, stepwise });
      parts.push(table(why.explained));
    }
    if (answer.evidence.length) parts.push(sentences(answer));
    return parts.length ? parts : [element("p", { class: "empty" }, "Nothing more is known about this answer.")];
  }
}

function table(explained) {
  const [answer] = explained.answers;
  const longest = Math.max(...answer.contributions.map(Math.abs), 1e-9);
  const rows = explained.parts.map((part, at) => {
    const value = answer.contributions[at];
    const bar = element("span", { class: value < 0 ? "against" : "for" });
    bar.style.width = `${(50 * Math.abs(value)) / longest}%`;
    const fields = part.label ? element("small", {}, ` ${part.parent_label} ─ ${part.label}`) : null;
    return element("tr", {}, element("th", { scope: "row" }, part.word, fields),
      element("td", { class: "chart" }, element("span", { class: "two-way", "aria-hidden": "true" }, bar)),
      element("td", { class: "number" }, signed(value)));
  });
  const total = element("tr", { class: "total" }, element("th", { scope: "row" }, "score"), element("td", {}),
    element("td", { class: "number" }, signed(answer.score)));
  return element("div", {}, element("h3", {}, "What each part of the question adds"),
    element("table", { class: "parts" }, element("tbody", {}, ...rows, total)));
}

const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

function sentences(answer) {
  const title = answer.kind === "exact" ? "Sentences that say so" : "The nearest real statements";
  const quotes = answer.evidence.map((quote) => element("blockquote", {}, quote.text,
    element("cite", {}, `${quote.source.split("/").pop()}:${quote.line}`, answer.kind === "exact" ? "" : ` · ${quote.states}`)));
  return element("div", {}, element("h3", {}, title), ...quotes);
}
