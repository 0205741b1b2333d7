/** Elements from plain values: the only place that makes them. Text is always text. */

/**
 * Make an element. Attributes that are null or false are left out; those that begin with "on" are
 * listeners; children are nodes or texts, nested lists allowed.
 */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Make an element of a drawing. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return nodes of HTML that the server made and cleaned. The page's policy runs nothing in it. */
export function trusted(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return [...parsed.body.childNodes].map((node) => document.importNode(node, true));
}

/** Return a text with some parts marked; extents are [start, end) in code points. */
export function marked(text, extents) {
  const characters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [start, end] of extents) {
    parts.push(characters.slice(at, start).join(""));
    parts.push(make("mark", {}, characters.slice(start, end).join("")));
    at = end;
  }
  parts.push(characters.slice(at).join(""));
  return parts;
}

/** Return the language of a text, when it is not the page's own; screen readers speak by it. */
export function languageOf(text) {
  const language = /[\u3400-\u9fff]/.test(text) ? "zh-CN" : "en";
  return language === document.documentElement.lang ? null : language;
}

/** Yield the plain values of a record with their names, those of records inside it too. */
export function* flat(record, prefix = "") {
  for (const [name, value] of Object.entries(record)) {
    if (value === null || name.endsWith("_id")) continue;
    if (Array.isArray(value)) {
      if (value.length && value.every((each) => typeof each !== "object")) yield [prefix + name, value.join(", ")];
    } else if (typeof value === "object") yield* flat(value, `${prefix}${name} · `);
    else yield [prefix + name, value];
  }
}
