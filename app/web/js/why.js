/** Why a note stands where it stands: the run's own record, drawn stage by stage. */

import { get } from "./api.js";
import { flat, languageOf, make } from "./dom.js";
import { whyAddress } from "./results.js";
import { say } from "./texts.js";

const LIMIT = 20;
const PARAMETERS = ["q", "ranker", "expand", "project", "tag", "since", "until"];

/** What each stage worked out, for whichever rankers have it; the tables below have the rest. */
const STAGES = {
  embed: ["space", "second_space"],
  filter: ["searched_chunks"],
  candidates: ["rank", "cosine", "meaning", "semantic · normalised", "vector_rank"],
  words: ["terms_found", "terms_missing", "words", "coverage", "lexical · normalised", "lexical · matched", "full_text_rank"],
  graph: ["seed", "mass"],
  rows: [],
  relations: [],
  rank: ["raw", "border", "adjusted", "floor", "likeness", "joined", "fused", "lift", "cut · least"],
};

/** Numbers from 0 to 1, which have a bar also when they are 0 or 1. */
const SHARES = new Set(["cosine", "meaning", "semantic · normalised", "words", "coverage", "lexical · normalised", "raw", "adjusted",
  "likeness", "joined", "fused", "score"]);

/** Show the reasons for one note in the answer to a search. */
export async function show(id, parameters, form) {
  const asked = { ranker: form.get("ranker") };
  for (const name of PARAMETERS) if (parameters.has(name)) asked[name] = parameters.get(name);
  const found = (await get("/api/search/why", { ...asked, note_id: id, limit: LIMIT })).data;
  const explained = await get("/api/search", { ...asked, limit: LIMIT, explain: true });
  const own = { ...(found.best_chunk ?? {}), ...rowOf(explained.explain ?? {}, found.note_id) };
  return make("section", { class: "record" },
    make("h1", { lang: languageOf(found.title) }, found.title),
    make("p", { class: "facts" }, say("for_query", { q: asked.q, r: asked.ranker })),
    verdict(found),
    make("h2", {}, say("stages")),
    stages(found, new Map([...flat(found.search), ...flat(own)])),
    numbers(say("numbers"), own),
    numbers(say("search_numbers"), found.search),
    another(asked));
}

function verdict(found) {
  const where = found.returned ? say("place", { n: found.place }) : say("missing");
  return make("p", { class: "facts verdict" }, make("strong", {}, where),
    found.score === null ? null : [bar(found.score, say("score")), make("span", {}, found.score.toFixed(3))],
    make("span", { lang: languageOf(found.message) }, found.message));
}

/** Return what each stage took and worked out, and the one that decided. */
function stages(found, values) {
  const times = found.search.milliseconds ?? {};
  const rows = Object.entries(STAGES).map(([stage, names]) => {
    const told = names.filter((name) => values.has(name) && values.get(name) !== "");
    if (!(stage in times) && !told.length) return null;
    return make("li", {},
      make("span", {}, say(`stage_${stage}`)),
      make("span", { class: "told" }, told.map((name) => number(name, values.get(name)))),
      make("span", { class: "number" }, stage in times ? say("milliseconds", { n: times[stage].toFixed(1) }) : null));
  });
  rows.push(make("li", { class: "decided" },
    make("span", {}, readable(found.stage)),
    make("span", { class: "told" }, make("span", {}, readable(found.rule)), found.score === null ? null : number("score", found.score)),
    make("span", { class: "number" }, found.returned ? "✓" : "✗")));
  return make("ol", { class: "stages" }, rows);
}

function number(name, value) {
  return make("span", {}, `${readable(name)} `, make("b", {}, shown(value)), isShare(name, value) ? [" ", bar(value, null)] : null);
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
    make("tr", {}, make("th", { scope: "row" }, readable(name)), make("td", {}, shown(value)), make("td", {}, isShare(name, value) ? bar(value, null) : null)))))];
}

function readable(name) {
  return name.replaceAll("_", " ");
}

function shown(value) {
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(4) : String(value);
}

function isShare(name, value) {
  return typeof value === "number" && (SHARES.has(name) || !Number.isInteger(value)) && value >= 0 && value <= 1;
}

/** Return a bar; one without a label repeats what stands beside it. */
function bar(value, label) {
  return make("meter", { min: 0, max: 1, value: Math.max(0, value), "aria-label": label, "aria-hidden": label ? null : "true" });
}

/** Return the form that asks about another note. */
function another(asked) {
  return [make("h2", {}, say("why_not")), form(asked)];
}

/** Return a form that takes a note and leads to the reasons for it. */
export function form(asked, label = null) {
  const field = make("input", { name: "ref", "aria-label": say("why_ask"), placeholder: say("why_ask") });
  const trouble = make("span");
  const submit = async (event) => {
    event.preventDefault();
    try {
      const note = (await get("/api/notes/resolve", { ref: field.value })).data;
      location.hash = whyAddress(note.id, asked);
    } catch (error) {
      trouble.setAttribute("role", "alert");
      trouble.textContent = error.code === "unreachable" ? say("unreachable") : error.message;
    }
  };
  return make("form", { class: "tools", id: "why-not", onsubmit: submit },
    label ? make("label", {}, `${label} `, field) : field, make("button", {}, say("ask")), trouble);
}
