/** Why a note stands where it stands: the run's own record, drawn stage by stage. */

import { get } from "./api.js";
import { flat, make } from "./dom.js";
import { say } from "./texts.js";

const STAGES = ["embed", "filter", "candidates", "words", "rows", "relations", "rank", "answer"];

/** Show the reasons for one note; without an id, ask which note is meant. */
export async function show(id, parameters, form) {
  const ranker = form.get("ranker");
  const asked = { q: parameters.get("q"), ranker, note_id: id, limit: 20 };
  const found = (await get("/api/search/why", asked)).data;
  const explained = await get("/api/search", { ...asked, note_id: undefined, explain: true });
  return make("section", { class: "record" },
    make("h1", {}, found.title),
    verdict(found),
    make("h2", {}, say("stages")),
    stages(found),
    numbers(say("numbers"), { ...(found.best_chunk ?? {}), ...rowOf(explained.explain ?? {}, found.note_id) }),
    numbers(say("search_numbers"), found.search),
    another(asked.q));
}

function verdict(found) {
  const where = found.returned ? say("place", { n: found.place }) : say("missing");
  const score = found.score === null ? null : make("meter", { min: 0, max: 1, value: Math.max(0, found.score), "aria-label": say("score") });
  return make("p", { class: "facts" }, make("strong", {}, where), score,
    found.score === null ? null : make("span", {}, found.score.toFixed(3)), make("span", {}, found.message));
}

function stages(found) {
  const times = found.search.milliseconds ?? {};
  const names = [...STAGES.filter((name) => name in times), ...Object.keys(times).filter((name) => !STAGES.includes(name))];
  const longest = Math.max(...Object.values(times), 0.001);
  const rows = names.map((name) => make("li", {},
    make("span", {}, name),
    make("meter", { min: 0, max: longest, value: times[name], "aria-label": name }),
    make("span", { class: "number" }, say("milliseconds", { n: times[name].toFixed(1) }))));
  rows.push(make("li", { class: "decided" },
    make("span", {}, found.stage),
    make("span", {}, found.rule.replaceAll("_", " ")),
    make("span", { class: "number" }, found.returned ? "✓" : "✗")));
  return make("ol", { class: "stages" }, rows);
}

/** Return what the record says of one note, wherever the ranker keeps it. */
function rowOf(explanation, id) {
  for (const name of ["rows", "notes", "candidates"]) {
    const row = (explanation[name] ?? []).find((each) => each.note_id === id);
    if (row) return row;
  }
  return {};
}

function numbers(caption, record) {
  const rows = [...flat(record)].filter(([name]) => !name.startsWith("milliseconds"));
  if (!rows.length) return null;
  return [make("h2", {}, caption), make("table", { class: "numbers" }, make("tbody", {}, rows.map(([name, value]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, shown(value)), make("td", {}, bar(value))))))];
}

function shown(value) {
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(4) : String(value);
}

function bar(value) {
  if (typeof value !== "number" || Number.isInteger(value) || value < 0 || value > 1) return null;
  return make("meter", { min: 0, max: 1, value, "aria-hidden": "true" });
}

/** Return the form that asks about another note. */
function another(query) {
  const field = make("input", { name: "ref", "aria-label": say("why_ask"), placeholder: say("why_ask") });
  const trouble = make("span", { role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      const note = (await get("/api/notes/resolve", { ref: field.value })).data;
      location.hash = `#/why/${note.id}?q=${encodeURIComponent(query)}`;
    } catch (error) {
      trouble.textContent = error.message;
    }
  };
  return [make("h2", {}, say("why_not")),
    make("form", { class: "tools", onsubmit: submit }, field, make("button", {}, say("ask")), trouble)];
}
