/** The list of results: asked as the user types, at most one question under way. */

import { get } from "./api.js";
import { languageOf, make, marked } from "./dom.js";
import { say } from "./texts.js";

const LIMIT = 20;

/** Return the parameters of a search for what the form says. */
export function wanted(form) {
  return {
    q: form.get("q").trim(),
    limit: LIMIT,
    ranker: form.get("ranker"),
    expand: form.get("expand") === "on",
    project: form.get("project"),
    tag: form.get("tag"),
    since: form.get("since"),
    until: form.get("until"),
  };
}

/** Ask for results by the entrance that the form names; rows of both look alike. */
export async function ask(form, signal) {
  const asked = wanted(form);
  if (form.get("entrance") === "text") {
    const { q, ranker, expand, ...filters } = asked;
    const found = await get("/api/notes", { search: q, ...filters }, signal);
    return { rows: found.data.items.map(asRow), total: found.data.total, warnings: [] };
  }
  const found = await get("/api/search", { ...asked, highlight: true, fields: "summary" }, signal);
  return { rows: found.data, total: found.data.length, warnings: found.warnings ?? [] };
}

function asRow(note) {
  return { note_id: note.id, title: note.title, project: note.project, tags: note.tags, summary: note.summary };
}

/** Return where the page tells the reasons for a note in the answer to just this search. */
export function whyAddress(id, asked) {
  const { limit, ...kept } = asked;
  const given = Object.entries(kept).filter(([, value]) => value);
  return `#/why/${id}?${new URLSearchParams(given)}`;
}

/** Return the list of rows as an element; each links to its note, and to the reasons if it has a score. */
export function list(rows, asked = {}) {
  return make("ol", { class: "results" }, rows.map((row) => item(row, asked)));
}

function item(row, asked) {
  const by = row.via_relation ? make("span", {}, `${say("via")}: ${row.via_relation}`) : null;
  const score = row.score === undefined ? null : [
    make("meter", { min: 0, max: 1, value: Math.max(0, Math.min(1, row.score)), "aria-label": say("score") }),
    make("span", {}, row.score.toFixed(3)),
  ];
  const why = row.score === undefined ? null
    : make("a", { class: "way", href: whyAddress(row.note_id, asked) }, say("why"));
  return make("li", {},
    make("h2", {}, make("a", { href: `#/note/${row.note_id}`, "data-result": true, lang: languageOf(row.title) }, row.title)),
    make("p", { class: "facts" }, score, make("span", {}, row.project), by, tags(row.tags), why),
    passage(row));
}

function passage(row) {
  if (row.passage) return make("p", { class: "passage", lang: languageOf(row.passage.text) }, marked(row.passage.text, row.passage.extents));
  return row.summary ? make("p", { class: "passage", lang: languageOf(row.summary) }, row.summary) : null;
}

/** Return tags as links to the notes that have them. */
export function tags(names) {
  return names.map((name) => make("a", { class: "tag", href: `#/tag/${encodeURIComponent(name)}` }, name));
}
