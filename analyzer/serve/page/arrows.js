/*
 * arrows.js: an arrow for each selected example, drawn on both maps, from its place on one map to that on the other; and
 * how far the examples moved on average.
 */
import { oncePerFrame } from "./dom.js";
import { hasBit, NOWHERE } from "./links.js";
import { onTheme } from "./palette.js";
import { readerOf } from "./spread.js";

const MOST = 400; /* arrows drawn */
const HEAD = 4; /* pixels */

/* [[x, y, other x, other y], …] of the places in a mask whose example has values on both maps. */
export function findShifts(mask, links, points, otherPoints) {
  const shifts = [];
  const [here, there] = [readerOf(points), readerOf(otherPoints)];
  for (let place = 0; place < links.there.length; place++) {
    if (links.there[place] === NOWHERE || !hasBit(mask, place)) continue;
    const from = here(place);
    if (from.includes(null)) continue;
    const to = there(links.there[place]);
    if (!to.includes(null)) shifts.push([...from, ...to]);
  }
  return shifts;
}

export const meanShift = (shifts) => [d3.mean(shifts, ([x, , toX]) => toX - x), d3.mean(shifts, ([, y, , toY]) => toY - y)];

/* Evenly spaced items of the list: the same ones each time. */
export const someOf = (shifts) => (shifts.length <= MOST ? shifts : Array.from({ length: MOST }, (_, i) => shifts[Math.floor((i * shifts.length) / MOST)]));

export class Arrows {
  #shifts = [];

  constructor(map) {
    this.map = map;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "layer arrows";
    this.canvas.setAttribute("aria-hidden", "true");
    map.holder.insertBefore(this.canvas, map.svg);
    this.draw = oncePerFrame(() => this.#draw());
    map.state.subscribe(["box", "points", "view"], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(map.holder);
    onTheme(() => this.draw());
  }

  show(shifts) {
    this.#shifts = shifts;
    this.draw();
  }

  #draw() {
    const { map, canvas } = this;
    canvas.hidden = this.#shifts.length === 0 || !map.isReady;
    if (canvas.hidden) return;
    for (const side of ["left", "top", "width", "height"]) canvas.style[side] = map.canvas.style[side];
    canvas.width = map.canvas.width;
    canvas.height = map.canvas.height;
    map.frame.follow(map.state.view.run, map.state.points, map.state.box);
    const pen = canvas.getContext("2d");
    pen.scale(map.dense, map.dense);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.globalAlpha = Math.max(0.45, Math.min(0.9, 6 / Math.sqrt(this.#shifts.length)));
    pen.lineWidth = 1;
    pen.beginPath();
    for (const shift of this.#shifts) this.#arrow(pen, shift);
    pen.stroke();
  }

  #arrow(pen, [fromX, fromY, toX, toY]) {
    const { x, y } = this.map.frame;
    const [ax, ay, bx, by] = [x(fromX), y(fromY), x(toX), y(toY)];
    const length = Math.hypot(bx - ax, by - ay);
    pen.moveTo(ax, ay);
    pen.lineTo(bx, by);
    if (length < 2 * HEAD) return;
    const [dx, dy] = [((bx - ax) / length) * HEAD, ((by - ay) / length) * HEAD];
    pen.moveTo(bx - dx - dy / 2, by - dy + dx / 2);
    pen.lineTo(bx, by);
    pen.lineTo(bx - dx + dy / 2, by - dy - dx / 2);
  }
}
