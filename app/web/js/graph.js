/** The graph of relations and links, drawn from the places that the server worked out. */

import { get } from "./api.js";
import { draw, make } from "./dom.js";
import { say } from "./texts.js";

const STEP = 1.3;
const SIZE = 1000;

/** Show the whole graph; the chosen note, if there is one, stands out and in the middle. */
export async function show(chosen) {
  const graph = (await get("/api/relations/graph", { include: "links", layout: true })).data;
  const places = placed(graph.nodes);
  const degrees = new Map();
  for (const edge of graph.edges) {
    for (const end of [edge.source, edge.target]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  }
  const svg = draw("svg", { role: "group", "aria-label": say("graph"), tabindex: 0 },
    draw("g", {}, graph.edges.filter((edge) => places.has(edge.source) && places.has(edge.target)).map((edge) => line(edge, places))),
    draw("g", {}, graph.nodes.map((node) => dot(node, places.get(node.id), degrees.get(node.id) ?? 0, String(node.id) === chosen))));
  const figure = make("figure", { class: "graph" }, make("h1", { class: "hidden" }, say("graph")));
  const view = new View(svg, places.get(Number(chosen)));
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

function dot(node, [x, y], degree, isChosen) {
  const radius = 4 + 1.5 * Math.sqrt(degree);
  return draw("a", { class: isChosen ? "node chosen" : "node", href: `#/note/${node.id}`, "aria-label": node.title },
    draw("circle", { cx: x, cy: y, r: radius }, draw("title", {}, node.title)),
    draw("text", { x: x + radius + 4, y: y + 5, "font-size": 16 }, node.title));
}

/** What of the drawing is seen: moved by dragging and arrows, sized by wheel, buttons, + and -. */
class View {
  constructor(svg, middle) {
    this.svg = svg;
    this.reset();
    if (middle) {
      this.box = { x: middle[0] - SIZE / 4, y: middle[1] - SIZE / 4, size: SIZE / 2 };
      this.apply();
    }
    svg.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? STEP : 1 / STEP); }, { passive: false });
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("pointerdown", (event) => this.drag(event));
  }

  reset() {
    this.box = { x: -SIZE * 0.06, y: -SIZE * 0.06, size: SIZE * 1.12 };
    this.apply();
  }

  apply() {
    this.svg.setAttribute("viewBox", `${this.box.x} ${this.box.y} ${this.box.size} ${this.box.size}`);
  }

  zoom(factor) {
    const size = Math.min(Math.max(this.box.size * factor, SIZE / 50), SIZE * 4);
    const shift = (this.box.size - size) / 2;
    this.box = { x: this.box.x + shift, y: this.box.y + shift, size };
    this.apply();
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
