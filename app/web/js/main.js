/** The page: which view the address names, what is typed, and which keys do what. */

import { get, Trouble, untilBack } from "./api.js";
import { make } from "./dom.js";
import * as graph from "./graph.js";
import * as note from "./note.js";
import { ask, list, wanted } from "./results.js";
import { say, switchLanguage, translate } from "./texts.js";
import * as views from "./views.js";
import * as why from "./why.js";

const DELAY_MILLISECONDS = 45;
const RANKER = "hybrid";
const NAME = "chatcrystal-search";

const form = document.getElementById("search");
const field = document.getElementById("q");
const main = document.getElementById("main");
const said = document.getElementById("said");
const trouble = document.getElementById("trouble");

let asking = new AbortController();
let waiting = 0;
let isPending = false;
let opensFirst = false;
let leave = () => {};
let turn = 0;

const VIEWS = {
  note: (id) => note.show(id),
  ref: (reference) => note.showReference(reference),
  why: (id, parameters) => why.show(id, parameters, new FormData(form)),
  graph: (id) => graph.show(id),
  tags: () => views.showTags(),
  tag: (name) => views.showTag(name),
  conversations: (_, parameters) => views.showConversations(parameters),
  conversation: (id) => views.showConversation(id),
  status: () => views.showStatus((close) => { leave = close; }),
};

/** Show what the address names: a view, or the results of what is typed. */
async function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  leave();
  leave = () => {};
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : null;
  if (!view) return results();
  clearTimeout(waiting);
  asking.abort();
  isPending = false;
  said.textContent = say("loading");
  const mine = ++turn;
  await attempt(async () => {
    const shown = await view(decoded(rest.join("/")), new URLSearchParams(query));
    if (mine !== turn) return;
    main.replaceChildren(shown);
    entitle(shown.querySelector("h1")?.textContent);
    said.textContent = "";
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }, route, () => { if (mine === turn) main.replaceChildren(heading("query")); });
}

/** Return a part of the address as it was written; one that is not well encoded, as it stands. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function entitle(text) {
  document.title = text ? `${text} · ${NAME}` : NAME;
}

/** Ask for what is typed and show the answer; an older question is cancelled. */
async function results() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const mine = ++turn;
  const data = new FormData(form);
  const query = data.get("q").trim();
  entitle(query);
  isPending = Boolean(query);
  if (!query) {
    main.replaceChildren(heading("query"), make("p", {}, say("welcome")));
    said.textContent = "";
    return;
  }
  await attempt(async () => {
    const found = await ask(data, signal);
    if (mine !== turn) return;
    isPending = false;
    const asked = wanted(data);
    const isRanked = data.get("entrance") !== "text";
    main.replaceChildren(heading("query"), list(found.rows, asked), isRanked ? why.form(asked, say("why_not")) : "");
    said.textContent = [counted(found, query), ...found.warnings].join(" · ");
    performance.mark("results", { detail: query });
    if (opensFirst) openFirst();
  }, results, () => { isPending = opensFirst = false; });
}

function counted({ rows, total }, query) {
  if (total === 0) return say("none_of", { q: query });
  const count = say(total === 1 ? "found_one" : "found", { n: total });
  return total > rows.length ? `${count} · ${say("newest", { n: rows.length, m: total })}` : count;
}

/** Open the first result; while a newer answer is under way, the first of that one. */
function openFirst() {
  opensFirst = isPending;
  if (!isPending) main.querySelector("[data-result]")?.click();
}

/** Return a heading for those who do not see the page. */
function heading(name) {
  return make("h1", { class: "hidden" }, say(name));
}

/** Do something; tell what went wrong and give it up, or do it again once the server is back. */
async function attempt(work, again, giveUp) {
  try {
    await work();
    trouble.hidden = true;
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Trouble)) throw error;
    said.textContent = "";
    trouble.hidden = false;
    trouble.textContent = error.code === "unreachable" ? say("unreachable") : error.message;
    if (error.code !== "unreachable") return giveUp();
    await untilBack();
    trouble.hidden = true;
    said.textContent = say("is_back");
    await again();
  }
}

/** Show results soon; typing on starts the wait anew. */
function soon() {
  clearTimeout(waiting);
  isPending = true;
  opensFirst = false;
  waiting = setTimeout(() => {
    const address = field.value.trim() ? `#/?q=${encodeURIComponent(field.value.trim())}` : "#/";
    history.replaceState(null, "", address);
    leave();
    leave = () => {};
    results();
  }, DELAY_MILLISECONDS);
}

/** Move among the results; from the first one up leads back to the field. */
function step(direction) {
  const links = [...main.querySelectorAll("[data-result]")];
  const at = links.indexOf(document.activeElement);
  if (direction < 0 && at <= 0) field.focus();
  else links[Math.min(at + direction, links.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.matches("input:not([type=radio], [type=checkbox]), select, textarea");
  const isInList = event.target === field || event.target.matches("[data-result]");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Enter" && event.target === field) {
    event.preventDefault();
    openFirst();
  } else if (isInList && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    escape(event);
  }
});

/** Leave a view for the results; in the results, for the field; in the field, clear it. */
function escape(event) {
  event.preventDefault();
  const isView = location.hash.replace(/^#\/?/, "").split("?")[0] !== "";
  if (isView) {
    const query = field.value.trim();
    location.hash = query ? `#/?q=${encodeURIComponent(query)}` : "#/";
    field.focus();
  } else if (document.activeElement !== field) {
    field.focus();
  } else if (field.value) {
    field.value = "";
    soon();
  }
}

field.addEventListener("input", (event) => { if (!event.isComposing) soon(); });
field.addEventListener("compositionend", soon);
form.addEventListener("change", (event) => {
  offer();
  if (event.target !== field && field.value.trim()) soon();
});
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", () => { readQuery(); route(); });
document.getElementById("language").addEventListener("click", () => { switchLanguage(); route(); });
document.getElementById("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", theme);
  setTheme(theme);
});

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Offer only what the chosen entrance heeds. */
function offer() {
  const isText = new FormData(form).get("entrance") === "text";
  for (const name of ["ranker", "expand"]) document.getElementById(name).disabled = isText;
}

/** Take over the query that the address names. */
function readQuery() {
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "").get("q");
  if (query !== null && query !== field.value.trim()) field.value = query;
}

/** Show the chosen theme, or without one the system's. */
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  document.getElementById("theme").setAttribute("aria-pressed", String(isDark()));
}

/** Fill the choices that the server knows; without them the page still searches. */
async function prepare() {
  try {
    await fillChoices();
  } catch (error) {
    // The view itself tells of trouble; here it is only waited for.
    if (error.code !== "unreachable") return;
    await untilBack();
    await prepare();
  }
}

async function fillChoices() {
  const [config, tags] = await Promise.all([get("/api/config"), get("/api/tags")]);
  const rankers = config.data.search.rankers ?? [RANKER, config.data.search.ranker];
  const choice = document.getElementById("ranker");
  choice.replaceChildren(...new Set(rankers).values().map((name) => make("option", { value: name, selected: name === RANKER }, name)));
  document.getElementById("tag-names").replaceChildren(...tags.data.slice(0, 500).map((tag) => make("option", { value: tag.name })));
}

translate();
setTheme(localStorage.getItem("theme"));
offer();
readQuery();
document.getElementById("ranker").append(make("option", { value: RANKER, selected: true }, RANKER));
prepare();
route();
field.focus();
