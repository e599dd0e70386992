/*
 * strips.js: draws the examples that have no value on an axis, as rings in a strip between the axis and the plot: those without x on the
 * left, at their y; those without y below, at their x; those without either in the corner. A label says how many they are; a click
 * on it, or Enter, selects them.
 */
import { nameOf } from "./about.js";
import { count } from "./dom.js";
import { coordinates, NONE, SELECTED, WITHOUT } from "./marks.js";
import { noneColour, unselectedColour } from "./palette.js";
import { selectWithout } from "./parts.js";
import { lotOf } from "./spread.js";

const WIDTH = 24; /* pixels of a strip */
const GAP = 5; /* pixels between a strip and the plot */
const LANES = 3; /* rings beside one another */
const RADIUS = 3; /* pixels of a ring */
const STEP = 3; /* pixels along the strip, between rings */
const ROW = 10000; /* more places than a map has across */
const USE = 3; /* of lotOf() */
const NAME = "no value";

/* {x, y}: pixels that the strips take of the map. */
export function roomOf({ x, y }) {
  return { x: x.none > 0 ? WIDTH + GAP : 0, y: y.none > 0 && x.name !== y.name ? WIDTH + GAP : 0 };
}

/* The points that pass the filters and lack a value: their numbers, and where they stand in a strip, from 0 to 1: across it, in a lane,
 * and along it. How many lack it on which axis. */
function findWithout(points, flags) {
  const { x, y } = coordinates(points);
  const found = [];
  const counts = { x: 0, y: 0 };
  for (let i = 0; i < points.n; i++) {
    if (!(flags[i] & WITHOUT)) continue;
    found.push(i);
    if (x[i] === NONE) counts.x++;
    if (y[i] === NONE) counts.y++;
  }
  const placeOf = (i) => (points.places ? points.places[i] : i);
  const across = Float32Array.from(found, (i) => (Math.floor(lotOf(placeOf(i), USE) * LANES) + 0.5) / LANES);
  const along = Float32Array.from(found, (i) => lotOf(placeOf(i), 0));
  return { found, counts, across, along };
}

export class Strips {
  #of = [];
  #without = null;

  constructor(map) {
    this.map = map;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "layer strips";
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.hidden = true;
    map.holder.insertBefore(this.canvas, map.svg);
    this.group = d3.select(map.layers.strips);
  }

  get #list() {
    const { points, marks } = this.map.state;
    if (this.#of[0] !== points || this.#of[1] !== marks) {
      this.#of = [points, marks];
      this.#without = findWithout(points, marks.flags);
    }
    return this.#without;
  }

  /* A function: {x, y}, in pixels of the plot, of the k-th point without a value; null: it is out of view. */
  #placer() {
    const { frame, state } = this.map;
    const { width, height, strips } = frame;
    const { x, y } = coordinates(state.points);
    const { found, across, along } = this.#list;
    const [x0, y0] = [frame.pixel(0, 0).x, frame.pixel(0, 0).y];
    const [perX, perY] = [frame.pixel(1, 0).x - x0, frame.pixel(0, 1).y - y0];
    return (k) => {
      const [stepsX, stepsY] = [x[found[k]], y[found[k]]];
      const isCorner = stepsX === NONE && stepsY === NONE;
      const atX = stepsX === NONE ? -GAP - WIDTH * (isCorner && strips.y > 0 ? along[k] : across[k]) : x0 + perX * stepsX;
      const atY = stepsY !== NONE ? y0 + perY * stepsY : strips.y > 0 ? height + GAP + WIDTH * across[k] : height * along[k]; /* both axes show one column */
      const isInView = (stepsX === NONE || (atX >= 0 && atX <= width)) && (stepsY === NONE || (atY >= 0 && atY <= height));
      return isInView ? { x: atX, y: atY } : null;
    };
  }

  /* {x, y} of a point without a value, in pixels of the plot; null: it is not drawn. */
  spot(i) {
    const k = this.#list.found.indexOf(i);
    return k < 0 ? null : this.#placer()(k);
  }

  draw() {
    const { frame, state } = this.map;
    const { strips } = frame;
    const axes = ["x", "y"].filter((axis) => strips[axis] > 0);
    this.#drawLabels(axes);
    this.canvas.hidden = axes.length === 0;
    if (axes.length > 0) this.#drawRings(state.selected !== null);
  }

  #drawLabels(axes) {
    const { frame, state } = this.map;
    const { width, height, strips, columns } = frame;
    const isPart = state.points.places !== null;
    const data = axes.map((axis) => {
      const n = isPart ? columns[axis].none : this.#list.counts[axis];
      const band = axis === "x" ? { x: -GAP - WIDTH, y: 0, width: WIDTH, height: height + strips.y } : { x: -strips.x, y: height + GAP, width: width + strips.x, height: WIDTH };
      return { axis, n, band, name: columns[axis].name };
    });
    const groups = this.group.selectAll("g.strip").data(data, ({ axis }) => axis).join((enter) => {
      const group = enter.append("g").attr("class", ({ axis }) => `strip ${axis}`).attr("tabindex", 0).attr("role", "button");
      group.append("rect");
      group.append("text").attr("class", "what");
      group.append("text").attr("class", "n");
      group.append("title");
      group.on("click", ({ name }) => selectWithout(state, name));
      group.on("keydown", ({ name }) => this.#key(name));
      return group;
    });
    groups.attr("aria-label", ({ n, name }) => `Select ${count(n)} without a value of ${nameOf(name)}`);
    groups.select("title").text(({ n, name }) => `${count(n)} examples have no value of ${nameOf(name)}: click to select them`);
    for (const side of ["x", "y", "width", "height"]) groups.select("rect").attr(side, ({ band }) => band[side]);
    /* That of x stands below its strip, that of y beside it. */
    const place = { x: { x: -GAP - WIDTH, what: height + strips.y + 36, apart: 52, anchor: "start" }, y: { x: -strips.x - 8, what: height + GAP + 10, apart: 0, anchor: "end" } };
    groups.select(".what").attr("x", ({ axis }) => place[axis].x).attr("y", ({ axis }) => place[axis].what).attr("text-anchor", ({ axis }) => place[axis].anchor).text(NAME);
    groups
      .select(".n")
      .attr("x", ({ axis }) => place[axis].x + place[axis].apart)
      .attr("y", ({ axis }) => place[axis].what + (axis === "y" ? 12 : 0))
      .attr("text-anchor", ({ axis }) => place[axis].anchor)
      .text(({ n }) => count(n));
  }

  #key(name) {
    const { key } = d3.event;
    if (key !== "Enter" && key !== " ") return;
    d3.event.preventDefault();
    selectWithout(this.map.state, name);
  }

  /* A ring for each place that has any; the more share it, the stronger it is. */
  #drawRings(isSelecting) {
    const { map, canvas } = this;
    const { frame, state } = map;
    const { margin, strips, width, height } = frame;
    const [wide, high] = [width + strips.x + RADIUS, height + strips.y + RADIUS];
    canvas.style.left = `${margin.left - strips.x}px`;
    canvas.style.top = `${margin.top - RADIUS}px`;
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    canvas.width = Math.round(wide * map.dense);
    canvas.height = Math.round(high * map.dense);
    const pen = canvas.getContext("2d");
    pen.scale(map.dense, map.dense);
    pen.translate(strips.x, RADIUS);
    const rest = new Map(); /* by a number for the place */
    const selected = new Map();
    const { flags } = state.marks;
    const { found } = this.#list;
    const placeOf = this.#placer();
    for (let k = 0; k < found.length; k++) {
      const at = placeOf(k);
      if (!at) continue;
      const key = ROW * Math.round((at.y + WIDTH) / STEP) + Math.round((at.x + 2 * WIDTH) / STEP);
      const counts = flags[found[k]] & SELECTED ? selected : rest;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    this.#rings(pen, rest, isSelecting ? unselectedColour() : noneColour(), 0.4);
    this.#rings(pen, selected, noneColour(), 1);
  }

  #rings(pen, counts, colour, least) {
    const most = d3.max(counts.values()) ?? 1;
    pen.strokeStyle = colour;
    pen.lineWidth = least === 1 ? 2 : 1.4;
    for (const [key, n] of counts) {
      const [x, y] = [(key % ROW) * STEP - 2 * WIDTH, Math.floor(key / ROW) * STEP - WIDTH];
      pen.globalAlpha = least + ((1 - least) * Math.log1p(n)) / Math.log1p(most);
      pen.beginPath();
      pen.arc(x, y, RADIUS - 0.7, 0, 2 * Math.PI);
      pen.stroke();
    }
  }
}
