/** One note: its text, rendered and cleaned by the server, and what it is joined to. */

import { get, post } from "./api.js";
import { languageOf, make, trusted } from "./dom.js";
import { tags } from "./results.js";
import { say } from "./texts.js";

/** Show a note and record that it was opened. */
export async function show(id) {
  const note = (await get(`/api/notes/${id}`, { render: true })).data;
  post(`/api/notes/${note.id}/open`).catch(() => {});
  return make("div", {},
    make("article", { lang: languageOf(note.title) },
      make("h1", {}, note.title),
      make("p", { class: "facts" }, make("span", {}, note.project), make("span", {}, note.created_at.slice(0, 10)), tags(note.tags), conversationOf(note),
        make("a", { href: `#/graph/${note.id}` }, say("its_graph"))),
      trusted(note.html)),
    await surroundings(note.id));
}

function conversationOf(note) {
  if (note.conversation_id.startsWith("note:")) return null;
  return make("a", { href: `#/conversation/${encodeURIComponent(note.conversation_id)}` }, say("conversation"));
}

/** Show the note that a reference names. */
export async function showReference(reference) {
  const found = (await get("/api/notes/resolve", { ref: reference })).data;
  location.replace(`#/note/${found.id}`);
  return make("p", {}, say("loading"));
}

async function surroundings(id) {
  const [relations, links, backlinks, hidden] = await Promise.all([
    get(`/api/notes/${id}/relations`), get(`/api/notes/${id}/connections`, { hops: 1 }),
    get(`/api/notes/${id}/backlinks`), get(`/api/notes/${id}/hidden`, { limit: 5 }),
  ].map((asked) => asked.then((found) => found.data, () => ({ items: [] }))));
  const related = (Array.isArray(relations) ? relations : []).map((each) => {
    const isSource = each.source_note_id === id;
    return entry(isSource ? each.target_note_id : each.source_note_id, isSource ? each.target_title : each.source_title,
      `${isSource ? "" : "← "}${each.relation_type}${isSource ? " →" : ""} ${percent(each.confidence)}`);
  });
  const unresolved = (links.unresolved ?? []).map((name) => make("li", {}, `${name.name ?? name.target ?? name.text} (${say("unresolved")})`));
  return make("div", { class: "panels" },
    panel("relations", related),
    panel("links", [...items(links), ...unresolved]),
    panel("backlinks", items(backlinks)),
    panel("hidden", items(hidden)));
}

function items(found) {
  const rows = Array.isArray(found) ? found : found.items ?? [];
  return rows.map((each) => entry(each.note_id ?? each.id, each.title, each.score ? each.score.toFixed(2) : ""));
}

function entry(id, title, beside) {
  return make("li", {}, make("a", { href: `#/note/${id}`, lang: languageOf(title) }, title), beside ? ` ${beside}` : null);
}

function panel(name, rows) {
  return make("section", {}, make("h2", {}, say(name)), rows.length ? make("ul", {}, rows) : make("p", {}, say("nothing")));
}

function percent(share) {
  return share === null ? "" : `${Math.round(share * 100)}%`;
}
