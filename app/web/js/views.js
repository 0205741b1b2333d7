/** Tags, conversations and the state of the server. */

import { get, post } from "./api.js";
import { flat, make, trusted } from "./dom.js";
import { list } from "./results.js";
import { say } from "./texts.js";

const PAGE = 50;

/** Show every tag with the number of its notes. */
export async function showTags() {
  const found = (await get("/api/tags")).data;
  return make("section", {}, make("h1", {}, say("tags")), make("ul", { class: "cloud" }, found.map((tag) =>
    make("li", {}, make("a", { class: "tag", href: `#/tag/${encodeURIComponent(tag.name)}` }, `${tag.name} ${tag.count}`)))));
}

/** Show the notes that have a tag. */
export async function showTag(name) {
  const found = (await get("/api/notes", { tag: name, limit: 100 })).data;
  const rows = found.items.map((note) => ({ note_id: note.id, title: note.title, project: note.project, tags: note.tags, summary: note.summary }));
  const more = found.total > rows.length ? make("p", {}, say("newest", { n: rows.length, m: found.total })) : null;
  return make("section", {}, make("h1", {}, name), more, rows.length ? list(rows) : make("p", {}, say("nothing")));
}

/** Show a page of conversations. */
export async function showConversations(parameters) {
  const offset = Number(parameters.get("offset") ?? 0);
  const found = (await get("/api/conversations", { offset, limit: PAGE })).data;
  return make("section", {}, make("h1", {}, say("conversations")),
    make("ol", { class: "results" }, found.items.map((each) => make("li", {},
      make("h2", {}, make("a", { href: `#/conversation/${encodeURIComponent(each.id)}`, "data-result": true }, each.slug || each.id)),
      make("p", { class: "facts" }, make("span", {}, each.project_name), make("span", {}, each.source),
        make("span", {}, each.last_message_at.slice(0, 10)), make("span", {}, each.status))))),
    make("p", { class: "tools" },
      offset > 0 ? make("a", { href: `#/conversations?offset=${Math.max(0, offset - PAGE)}` }, say("previous")) : null,
      offset + PAGE < found.total ? make("a", { href: `#/conversations?offset=${offset + PAGE}` }, say("next")) : null));
}

/** Show a conversation turn by turn; thinking and tools are folded. */
export async function showConversation(id) {
  const found = (await get(`/api/conversations/${id.split("/").map(encodeURIComponent).join("/")}`, { render: true })).data;
  return make("section", {}, make("h1", {}, found.slug || found.id),
    make("p", { class: "facts" }, make("span", {}, found.project_name), make("span", {}, found.source)),
    found.messages.length ? null : make("p", {}, say("nothing")),
    found.messages.map((message) => make("article", { class: `turn ${message.role === "user" ? "user" : ""}`, id: `message-${message.id}` },
      make("p", { class: "facts" }, make("strong", {}, message.role ?? message.type), make("span", {}, message.timestamp)),
      message.thinking ? make("details", {}, make("summary", {}, say("thinking")), make("pre", {}, message.thinking)) : null,
      trusted(message.html), message.tools.map(tool))));
}

/** Return what a tool was asked and what it answered, folded. */
function tool(use) {
  const facts = Object.entries(use).filter(([, value]) => typeof value === "string" && value);
  return make("details", {}, make("summary", {}, `${say("tools")}: ${use.name ?? ""}`),
    facts.filter(([name]) => name !== "name").map(([, value]) => make("pre", {}, value)));
}

/** Show what the server holds, and how embedding goes on while it is looked at. */
export async function showStatus(onLeave) {
  const [status, ready] = await Promise.all([get("/api/status"), get("/api/ready").catch((error) => ({ data: { ready: false, error: error.message } }))]);
  const { stats, embedding, version, recentNotes } = status.data;
  const bar = make("progress", { max: 1, value: 0, "aria-label": say("embedded") });
  const said = make("p", { role: "status" });
  const embed = make("button", { type: "button", onclick: () => post("/api/embeddings/batch") }, say("embed_all"));
  const show = (counts) => {
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const done = counts.done ?? 0;
    bar.max = Math.max(all, 1);
    bar.value = done;
    embed.hidden = done === all;
    said.textContent = done === all ? say("all_embedded") : say("progress", { n: done, m: all });
  };
  show(embedding.notes);
  onLeave(follow(show));
  return make("section", {}, make("h1", {}, say("status")), bar, said,
    embed,
    facts({ [say("version")]: version, [say("provider")]: `${embedding.provider}/${embedding.model}`, ...stats }),
    facts(ready.data),
    make("h2", {}, say("notes")),
    make("ul", {}, recentNotes.map((note) => make("li", {}, make("a", { href: `#/note/${note.id}` }, note.title)))));
}

/** Show the counts of notes whenever the embedding queue moves; return what ends it. */
function follow(show) {
  const events = new EventSource("/api/queue/stream");
  let isAsking = false, hasMoved = false;
  events.onmessage = async () => {
    hasMoved = true;
    if (isAsking) return;
    isAsking = true;
    // The counts are asked anew, since others embed too; one question at a time.
    while (hasMoved) {
      hasMoved = false;
      await get("/api/status").then((found) => show(found.data.embedding.notes), () => {});
    }
    isAsking = false;
  };
  return () => events.close();
}

function facts(record) {
  return make("table", { class: "numbers" }, make("tbody", {}, [...flat(record)].map(([name, value]) => make("tr", {},
    make("th", { scope: "row" }, name.replaceAll("_", " ")), make("td", {}, String(value))))));
}
