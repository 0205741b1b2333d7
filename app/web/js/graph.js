/** The graph of relations and links, drawn from the places that the server worked out. */

import { get } from "./api.js";
import { draw, make } from "./dom.js";
import { say } from "./texts.js";

const STEP = 1.3;
const SIZE = 1000;
const LONGEST_LABEL = 40;

/** Show the whole graph; the chosen note, if there is one, stands out and in the middle. */
export async function show(chosen) {
  const graph = (await get("/api/relations/graph", { include: "links", layout: true })).data;
  const places = placed(graph.nodes);
  const degrees = new Map();
  const near = new Set();
  for (const { source, target } of graph.edges) {
    for (const end of [source, target]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
    if (String(source) === chosen) near.add(target);
    if (String(target) === chosen) near.add(source);
  }
  const middle = places.get(Number(chosen));
  const role = (id) => (String(id) === chosen ? "node chosen" : near.has(id) ? "node near" : "node");
  const svg = draw("svg", { role: "group", "aria-label": say("graph"), tabindex: 0 },
    draw("g", {}, graph.edges.filter((edge) => places.has(edge.source) && places.has(edge.target)).map((edge) => line(edge, places))),
    draw("g", {}, titledLast(graph.nodes, role).map((node) => dot(node, places.get(node.id), degrees.get(node.id) ?? 0, role(node.id), middle))));
  const figure = make("figure", { class: "graph" }, make("h1", { class: "hidden" }, say("graph")));
  const view = new View(svg, middle);
  figure.append(
    make("div", { class: "tools" },
      make("button", { type: "button", onclick: () => view.zoom(1 / STEP) }, say("zoom_in")),
      make("button", { type: "button", onclick: () => view.zoom(STEP) }, say("zoom_out")),
      make("button", { type: "button", onclick: () => view.reset() }, say("reset")),
      make("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
        const isOn = figure.classList.toggle("labels");
        event.currentTarget.setAttribute("aria-pressed", String(isOn));
      } }, say("labels"))),
    svg,
    make("figcaption", {}, say("graph_said", { n: graph.nodes.length, m: graph.edges.length })));
  return figure;
}

/** Bring the places of nodes into the square of the drawing. */
function placed(nodes) {
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const scale = SIZE / Math.max(Math.max(...xs) - left, Math.max(...ys) - top, 1e-9);
  return new Map(nodes.map((node) => [node.id, [(node.x - left) * scale, (node.y - top) * scale]]));
}

function line(edge, places) {
  const [x1, y1] = places.get(edge.source), [x2, y2] = places.get(edge.target);
  const kind = edge.type ?? edge.kind ?? "";
  return draw("line", { class: /^[A-Z_]+$/.test(kind) ? "edge" : "edge link", x1, y1, x2, y2 }, draw("title", {}, kind));
}

/** Order notes so that those whose titles show are drawn over the others. */
function titledLast(nodes, role) {
  return [...nodes.filter((node) => role(node.id) === "node"), ...nodes.filter((node) => role(node.id) !== "node")];
}

/** Draw a note around the origin, in pixels; the view puts it in its place. */
function dot(node, [x, y], degree, role, middle) {
  const radius = 4 + 1.5 * Math.sqrt(degree);
  const title = Array.from(node.title);
  const label = title.length > LONGEST_LABEL ? `${title.slice(0, LONGEST_LABEL - 1).join("")}…` : node.title;
  return draw("a", { class: role, href: `#/note/${node.id}`, "aria-label": node.title, "data-x": x, "data-y": y },
    draw("circle", { class: "reach", r: 12 }, draw("title", {}, node.title)),
    draw("circle", { r: radius }, draw("title", {}, node.title)),
    // Titles lead away from the middle, where they would cross each other.
    draw("text", middle && x < middle[0] ? { x: -radius - 4, y: 4, "font-size": 13, "text-anchor": "end" } : { x: radius + 4, y: 4, "font-size": 13 }, label));
}

/** What of the drawing is seen: moved by dragging and arrows, sized by wheel, buttons, + and -. */
class View {
  constructor(svg, middle) {
    this.svg = svg;
    this.nodes = [...svg.querySelectorAll("a.node")].map((node) => [node, Number(node.dataset.x), Number(node.dataset.y)]);
    this.reset();
    if (middle) {
      this.box = { x: middle[0] - SIZE / 4, y: middle[1] - SIZE / 4, size: SIZE / 2 };
      this.apply();
    }
    new ResizeObserver(() => this.apply()).observe(svg);
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("pointerdown", (event) => this.drag(event));
  }

  reset() {
    this.box = { x: -SIZE * 0.06, y: -SIZE * 0.06, size: SIZE * 1.12 };
    this.apply();
  }

  apply() {
    this.svg.setAttribute("viewBox", `${this.box.x} ${this.box.y} ${this.box.size} ${this.box.size}`);
    // Dots and titles keep their size on the screen, however near one looks.
    for (const [node, x, y] of this.nodes) node.setAttribute("transform", `translate(${x} ${y}) scale(${this.unit})`);
  }

  /** How much of the drawing a pixel of the screen shows. */
  get unit() {
    return this.box.size / (Math.min(this.svg.clientWidth, this.svg.clientHeight) || SIZE);
  }

  /** Zoom; the point at (right, down) from the middle, in shares of the box, stays where it is. */
  zoom(factor, right = 0, down = 0) {
    const size = Math.min(Math.max(this.box.size * factor, SIZE / 50), SIZE * 4);
    const grown = this.box.size - size;
    this.box = { x: this.box.x + grown * (0.5 + right), y: this.box.y + grown * (0.5 + down), size };
    this.apply();
  }

  wheel(event) {
    event.preventDefault();
    const frame = this.svg.getBoundingClientRect();
    const share = this.unit / this.box.size;
    this.zoom(event.deltaY > 0 ? STEP : 1 / STEP,
      (event.clientX - frame.left - frame.width / 2) * share, (event.clientY - frame.top - frame.height / 2) * share);
  }

  move(x, y) {
    this.box = { ...this.box, x: this.box.x + x * this.box.size, y: this.box.y + y * this.box.size };
    this.apply();
  }

  key(event) {
    if (event.target !== this.svg) return;
    const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (event.key in moves) this.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1 / STEP);
    else if (event.key === "-") this.zoom(STEP);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drag(start) {
    if (start.target.closest("a")) return;
    const width = Math.min(this.svg.clientWidth, this.svg.clientHeight);
    let [x, y] = [start.clientX, start.clientY];
    const follow = (event) => {
      this.move((x - event.clientX) / width, (y - event.clientY) / width);
      [x, y] = [event.clientX, event.clientY];
    };
    this.svg.setPointerCapture(start.pointerId);
    this.svg.addEventListener("pointermove", follow);
    this.svg.addEventListener("pointerup", () => this.svg.removeEventListener("pointermove", follow), { once: true });
  }
}
