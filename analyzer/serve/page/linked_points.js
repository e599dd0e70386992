/*
 * linked_points.js: marks on one of two maps the examples that are selected on the other one. If nothing is selected on this
 * map, all other examples turn grey; else each marked example gets a dark core (a light one in the dark theme).
 */
import { oncePerFrame } from "./dom.js";
import { PointsRenderer } from "./gl.js";
import { hasBit } from "./links.js";
import { DRAWN } from "./marks.js";
import { byteColours, onTheme } from "./palette.js";

const COLOURS = 256; /* as many as a point's byte can name */

function flagsOf(points, marks, mask) {
  const flags = new Uint8Array(points.n);
  for (let i = 0; i < points.n; i++) if (marks.flags[i] & DRAWN && hasBit(mask, points.places ? points.places[i] : i)) flags[i] = DRAWN;
  return flags;
}

function coreColours() {
  const { r, g, b } = d3.color(getComputedStyle(document.body).color).rgb();
  const bytes = new Uint8Array(4 * COLOURS);
  for (let i = 0; i < COLOURS; i++) bytes.set([r, g, b, 255], 4 * i);
  return bytes;
}

export class LinkedPoints {
  #mask = null;
  #isWaiting = false;
  #uploaded = {}; /* the points, marks, mask and isAlone that the renderer has */

  constructor(map) {
    this.map = map;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "layer linked";
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.hidden = true;
    map.holder.insertBefore(this.canvas, map.svg);
    this.draw = oncePerFrame(() => this.#draw());
    map.state.subscribe(["box", "points", "marks", "selected", "view"], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(map.holder);
    onTheme(() => this.#renew());
  }

  #renew() {
    this.#uploaded = {};
    this.draw();
  }

  /* mask: by place of this map's view; null: nothing is selected on the other map. */
  show(mask) {
    this.#mask = mask;
    this.#isWaiting = false;
    this.draw();
  }

  /* Keeps the picture until the next show(): the mask belongs to a view that has gone. */
  wait() {
    this.#isWaiting = true;
  }

  #draw() {
    const { map } = this;
    if (this.#isWaiting) return;
    const { points, marks, box, view, selected } = map.state;
    const isAlone = !selected;
    this.canvas.hidden = !(this.#mask && points && marks && map.renderer.works);
    map.holder.classList.toggle("veiled", isAlone && !this.canvas.hidden);
    if (this.canvas.hidden) return;
    this.renderer = this.renderer ?? new PointsRenderer(this.canvas, () => this.#renew());
    for (const side of ["left", "top", "width", "height"]) this.canvas.style[side] = map.canvas.style[side];
    if (this.canvas.width !== map.canvas.width) this.canvas.width = map.canvas.width;
    if (this.canvas.height !== map.canvas.height) this.canvas.height = map.canvas.height;
    this.#upload(points, marks, isAlone);
    map.frame.follow(view.run, points, box);
    const size = Math.max(2, 7 - Math.log10(this.#mask.count + 1)) * (isAlone ? 1 : 0.6);
    this.renderer.draw({ box: map.frame.boxInSteps(), size: size * map.dense, alpha: 0.9, drawnBit: DRAWN, grey: null });
  }

  #upload(points, marks, isAlone) {
    const before = this.#uploaded;
    if (before.points !== points) this.renderer.setPoints(points);
    if (before.points !== points || before.isAlone !== isAlone) this.renderer.setColours(isAlone ? byteColours(points.legend) : coreColours());
    if (before.marks !== marks || before.mask !== this.#mask) this.renderer.setFlags(flagsOf(points, marks, this.#mask));
    this.#uploaded = { points, marks, mask: this.#mask, isAlone };
  }
}
