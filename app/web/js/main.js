/** The page: which view the address names, what is typed, and which keys do what. */

import { get, Trouble, untilBack } from "./api.js";
import { make } from "./dom.js";
import * as graph from "./graph.js";
import * as note from "./note.js";
import { ask, list } from "./results.js";
import { say, switchLanguage, translate } from "./texts.js";
import * as views from "./views.js";
import * as why from "./why.js";

const DELAY_MILLISECONDS = 60;
const RANKER = "hybrid";

const form = document.getElementById("search");
const field = document.getElementById("q");
const main = document.getElementById("main");
const said = document.getElementById("said");
const trouble = document.getElementById("trouble");

let asking = new AbortController();
let waiting = 0;
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
  const view = VIEWS[name];
  if (!view) return results();
  asking.abort();
  said.textContent = say("loading");
  const mine = ++turn;
  await attempt(async () => {
    const shown = await view(decodeURIComponent(rest.join("/")), new URLSearchParams(query));
    if (mine !== turn) return;
    main.replaceChildren(shown);
    said.textContent = "";
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }, route);
}

/** Ask for what is typed and show the answer; an older question is cancelled. */
async function results() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const mine = ++turn;
  const data = new FormData(form);
  const query = data.get("q").trim();
  document.title = query ? `${query} · chatcrystal-search` : "chatcrystal-search";
  if (!query) {
    main.replaceChildren(heading("query"), make("p", {}, say("welcome")));
    said.textContent = "";
    return;
  }
  await attempt(async () => {
    const found = await ask(data, signal);
    if (mine !== turn) return;
    main.replaceChildren(heading("query"), list(found.rows, query), whyNot(query, data));
    const count = found.total === 0 ? say("none_of", { q: query })
      : say(found.total === 1 ? "found_one" : "found", { n: found.total });
    said.textContent = [count, ...found.warnings].join(" · ");
    performance.mark("results", { detail: query });
  }, results);
}

/** Return a heading for those who do not see the page. */
function heading(name) {
  return make("h1", { class: "hidden" }, say(name));
}

function whyNot(query, data) {
  if (data.get("entrance") === "text") return "";
  const field = make("input", { name: "ref", "aria-label": say("why_ask"), placeholder: say("why_ask") });
  const submit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const found = (await get("/api/notes/resolve", { ref: field.value })).data;
      location.hash = `#/why/${found.id}?q=${encodeURIComponent(query)}`;
    }, () => {});
  };
  return make("form", { class: "tools", id: "why-not", onsubmit: submit }, make("label", {}, `${say("why_not")} `, field), make("button", {}, say("ask")));
}

/** Do something; tell what went wrong, and do it again once the server is back. */
async function attempt(work, again) {
  try {
    await work();
    trouble.hidden = true;
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Trouble)) throw error;
    said.textContent = "";
    trouble.hidden = false;
    trouble.textContent = error.code === "unreachable" ? say("unreachable") : error.message;
    if (error.code !== "unreachable") return;
    await untilBack();
    trouble.hidden = true;
    said.textContent = say("is_back");
    await again();
  }
}

/** Show results soon; typing on starts the wait anew. */
function soon() {
  clearTimeout(waiting);
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
form.addEventListener("change", (event) => { if (event.target !== field) soon(); });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  main.querySelector("[data-result]")?.click();
});
window.addEventListener("hashchange", route);
document.getElementById("language").addEventListener("click", () => { switchLanguage(); route(); });
document.getElementById("theme").addEventListener("click", (event) => {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(isDark ? "light" : "dark");
  localStorage.setItem("theme", isDark ? "light" : "dark");
  event.preventDefault();
});

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
}

/** Fill the choices that the server knows; without them the page still searches. */
async function prepare() {
  const [config, tags] = await Promise.all([get("/api/config"), get("/api/tags")]);
  const rankers = config.data.search.rankers ?? [RANKER, config.data.search.ranker];
  const choice = document.getElementById("ranker");
  choice.replaceChildren(...new Set(rankers).values().map((name) => make("option", { value: name, selected: name === RANKER }, name)));
  document.getElementById("tag-names").replaceChildren(...tags.data.slice(0, 500).map((tag) => make("option", { value: tag.name })));
}

translate();
if (localStorage.getItem("theme")) setTheme(localStorage.getItem("theme"));
field.value = new URLSearchParams(location.hash.split("?")[1] ?? "").get("q") ?? "";
document.getElementById("ranker").append(make("option", { value: RANKER, selected: true }, RANKER));
attempt(prepare, prepare);
route();
field.focus();
