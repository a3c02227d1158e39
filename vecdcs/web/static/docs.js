// The interface described from its own OpenAPI document.

import { byId, element } from "./dom.js";

const described = await (await fetch("/openapi.json")).json();
const schema = (reference) => described.components.schemas[reference?.$ref?.split("/").pop()];

function kind(property) {
  if (property.$ref) return property.$ref.split("/").pop();
  if (property.anyOf) return property.anyOf.map(kind).join(" or ");
  if (property.type === "array") return `list of ${kind(property.items)}`;
  return property.type ?? "anything";
}

function limits(property) {
  const names = { maxLength: "at most", minimum: "from", maximum: "to", maxItems: "at most", pattern: "as" };
  return Object.entries(names).filter(([key]) => key in property).map(([key, word]) => `${word} ${property[key]}`).join(", ");
}

function fields(model, title) {
  if (!model?.properties) return null;
  const rows = Object.entries(model.properties).map(([name, property]) => element("tr", {},
    element("th", { scope: "row" }, element("code", {}, name), model.required?.includes(name) ? "" : " (may be left out)"),
    element("td", {}, kind(property)),
    element("td", {}, [limits(property), property.description].filter(Boolean).join(". "))));
  return element("div", {}, element("h3", {}, title), element("table", { class: "parts" }, element("tbody", {}, ...rows)));
}

function example(path, method, model) {
  if (method !== "post") return `curl ${location.origin}${path}`;
  const body = {};
  for (const name of model?.required ?? []) body[name] = sample(model.properties[name]);
  return `curl ${location.origin}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

function sample(property) {
  if (property.examples) return property.examples[0];
  if (property.type === "array") return [sample(property.items)];
  if (property.$ref) return schema(property).enum?.[0];
  return property.type === "integer" ? 0 : "drug/N & ban/V.COMP";
}

for (const [path, methods] of Object.entries(described.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const asked = schema(operation.requestBody?.content["application/json"].schema);
    const given = schema(operation.responses["200"].content["application/json"].schema);
    byId("paths").append(element("section", { class: "card endpoint" },
      element("h2", {}, element("code", {}, element("span", { class: "verb" }, method.toUpperCase()), ` ${path}`), ` — ${operation.summary}`),
      element("p", {}, asked?.description ?? ""),
      fields(asked, "Request"), fields(given, "Response"),
      element("pre", { tabindex: 0, "aria-label": "Example" }, example(path, method, asked))));
  }
}
