/*
 * frame.js: the part of the values that is in view, and the scales between the axes' own units, pixels, and the points' own
 * units, 0 … 65534.
 */
import { backward, forward, scaleOf } from "./scales.js";

const STEPS = 65534;
const MARGIN = { left: 52, right: 64, top: 56, bottom: 44 };
const NARROW = { left: 46, right: 12, top: 12, bottom: 40 };
const ZOOM_MOST = 10000;
const FAR = 100000; /* pixels: a value to which a scale gives no place is drawn out of view */
/* Pixels between an edge of a lasso and what it takes, at most. A tenth of what can be seen. */
const OFF_MOST = 0.02;

export class Frame {
  width = 0; /* of the plot, pixels */
  height = 0;
  margin = MARGIN;
  room = { left: 0 }; /* pixels that the axes need beyond their usual margin */
  strips = { x: 0, y: 0 }; /* pixels between an axis and the plot, for points without a value on it (strips.js) */
  x = d3.scaleLinear();
  y = d3.scaleLinear();
  whole = null; /* [left, right, low, high]: of everything */
  usual = null; /* of what is in view without zoom */
  box = null; /* of what is in view */

  /* ranges: what the axes show (ranges.js). */
  constructor(ranges) {
    this.ranges = ranges;
  }

  resize(width, height) {
    this.isNarrow = width < 500;
    const { left, right, top, bottom } = this.isNarrow ? NARROW : MARGIN;
    this.margin = { left: left + this.room.left + this.strips.x, right, top, bottom: bottom + this.strips.y };
    this.width = Math.max(50, width - this.margin.left - this.margin.right);
    this.height = Math.max(50, height - this.margin.top - this.margin.bottom);
  }

  /* The scales for what the state shows. */
  follow(run, points, box) {
    this.columns = { x: points.x, y: points.y };
    Object.assign(this, this.ranges.boxes(run, points));
    this.box = this.ranges.fit(run, points, box) ?? this.usual;
    this.x = scaleOf(points.x.bend).domain(this.box.slice(0, 2)).range([0, this.width]);
    this.y = scaleOf(points.y.bend).domain(this.box.slice(2)).range([this.height, 0]);
  }

  /* Does the view without zoom leave out values far beyond all others? */
  get isStretched() {
    return this.whole.some((edge, i) => edge !== this.usual[i]);
  }

  /* The box to show after this one on the way back: what is in view without zoom, and from there, everything. */
  back(box) {
    return !box && this.isStretched ? this.whole : null;
  }

  /* A box, evenly bent: [left, right, low, high] as t(v). */
  #bent(box) {
    const [x, y] = [forward(this.columns.x.bend), forward(this.columns.y.bend)];
    return [x(box[0]), x(box[1]), y(box[2]), y(box[3])];
  }

  #unbent(box) {
    const [x, y] = [backward(this.columns.x.bend), backward(this.columns.y.bend)];
    return [x(box[0]), x(box[1]), y(box[2]), y(box[3])];
  }

  get zoom() {
    const [usual, box] = [this.#bent(this.usual), this.#bent(this.box)];
    return (usual[1] - usual[0]) / (box[1] - box[0]);
  }

  /* The width of about `wanted` bins in view, as t(v): the whole axis, halved some times. */
  binSize(axis, wanted) {
    const [whole, box] = [this.#bent(this.whole), this.#bent(this.box)];
    const at = axis === "x" ? 0 : 2;
    const [all, seen] = [whole[at + 1] - whole[at], box[at + 1] - box[at]];
    return all / 2 ** Math.round(Math.log2((wanted * all) / seen));
  }

  /* A value in the points' own units. */
  steps(axis, value) {
    const { bend, from, to } = this.columns[axis];
    const t = forward(bend);
    const [low, high] = [t(from), t(to)];
    return high > low ? ((t(value) - low) / (high - low)) * STEPS : t(value) - low;
  }

  value(axis, steps) {
    const { bend, from, to } = this.columns[axis];
    const t = forward(bend);
    return backward(bend)(t(from) + (steps / STEPS) * (t(to) - t(from)));
  }

  boxInSteps() {
    const [left, right, low, high] = this.box;
    return [this.steps("x", left), this.steps("x", right), this.steps("y", low), this.steps("y", high)];
  }

  /* Pixels of the plot: {x, y}. */
  pixel(stepsX, stepsY) {
    return { x: this.x(this.value("x", stepsX)), y: this.y(this.value("y", stepsY)) };
  }

  /* Pixels of a value along an axis, also of one that the axis has no place for. */
  at(axis, value) {
    const pixels = this[axis](value);
    if (Number.isFinite(pixels)) return Math.max(-FAR, Math.min(FAR, pixels));
    return axis === "x" ? -FAR : FAR;
  }

  /*
   * Pixels of a polygon as values. A line that is straight on a bent axis is not straight in the values, in which a selection
   * is decided, so a slanted edge gets more corners. Between two corners that are d apart as t(v), the straight line in values
   * lies at most d² / 8 beside that on the screen: there are as many corners as make that less than OFF_MOST, and no more,
   * because the address holds them all. A side of a box stays straight, and needs none.
   */
  polygon(corners) {
    const bends = ["x", "y"].map((axis) => {
      const t = forward(this.columns[axis].bend);
      const [from, to] = this[axis].domain();
      return this.columns[axis].bend.name === "linear" ? 0 : (t(to) - t(from)) / (axis === "x" ? this.width : this.height);
    });
    const polygon = [];
    corners.forEach(([x, y], i) => {
      const [dx, dy] = corners[(i + 1) % corners.length].map((end, axis) => end - [x, y][axis]);
      const pieces = dx === 0 || dy === 0 ? 1 : Math.max(1, ...bends.map((perPixel, axis) => Math.ceil(Math.abs([dx, dy][axis]) * Math.sqrt(perPixel / (8 * OFF_MOST)))));
      for (let piece = 0; piece < pieces; piece++) polygon.push([this.x.invert(x + (dx * piece) / pieces), this.y.invert(y + (dy * piece) / pieces)]);
    });
    return polygon;
  }

  /* The box after a picture was scaled by k and moved by (dx, dy) pixels; null: what is in view without zoom. */
  moved(k, dx, dy) {
    const left = this.x.invert(-dx / k);
    const right = this.x.invert((this.width - dx) / k);
    const low = this.y.invert((this.height - dy) / k);
    const high = this.y.invert(-dy / k);
    return this.#clamp(this.#bent([left, right, low, high]));
  }

  #clamp([left, right, low, high]) {
    const [x0, x1, y0, y1] = this.#bent(this.whole);
    const [fullX, fullY] = [x1 - x0, y1 - y0];
    const fit = (from, to, least, most) => {
      const size = Math.min(to - from, most - least);
      const start = Math.min(Math.max(from, least), most - size);
      return [start, start + size];
    };
    if (right - left >= fullX && high - low >= fullY) return this.isStretched ? this.whole : null;
    if ((right - left) * ZOOM_MOST < fullX || (high - low) * ZOOM_MOST < fullY) return this.box;
    return this.#unbent([...fit(left, right, x0, x1), ...fit(low, high, y0, y1)]);
  }
}
