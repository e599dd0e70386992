/*
 * frame.js: the part of the measures that is in view, and the scales between the measures' units, pixels, and the points' own
 * units, 0 … 65534.
 */

const STEPS = 65534;
const MARGIN = { left: 52, right: 64, top: 56, bottom: 44 };
const NARROW = { left: 46, right: 12, top: 12, bottom: 40 };
const PADDING = 0.03;
const ZOOM_MOST = 10000;
/* Measures whose axis always shows the whole range. */
const RANGES = { confidence: [0, 1], correctness: [0, 1], never_learned: [0, 1] };

export class Frame {
  /* By run and measure, the range that was in view: axes stay where they are when epochs change. */
  #extents = new Map();
  width = 0; /* of the plot, pixels */
  height = 0;
  margin = MARGIN;
  x = d3.scaleLinear();
  y = d3.scaleLinear();

  #extent(run, { name, low, high }) {
    const key = JSON.stringify([run, name]);
    const known = this.#extents.get(key) ?? RANGES[name] ?? [low, high];
    const extent = [Math.min(known[0], low), Math.max(known[1], high)];
    this.#extents.set(key, extent);
    const size = extent[1] - extent[0] || 1;
    const padding = extent[1] > extent[0] ? PADDING * size : 0.5;
    return [extent[0] - padding, extent[1] + padding];
  }

  /* {name, low, high}: the range that the axis of a measure shows at least, without the room around it. */
  known(run, { name, low, high }) {
    const extent = this.#extents.get(JSON.stringify([run, name])) ?? [low, high];
    return { name, low: extent[0], high: extent[1] };
  }

  resize(width, height) {
    this.isNarrow = width < 500;
    this.margin = this.isNarrow ? NARROW : MARGIN;
    this.width = Math.max(50, width - this.margin.left - this.margin.right);
    this.height = Math.max(50, height - this.margin.top - this.margin.bottom);
  }

  /* The scales for what the state shows. */
  follow(run, points, box) {
    this.columns = { x: points.x, y: points.y };
    this.whole = [...this.#extent(run, points.x), ...this.#extent(run, points.y)];
    this.box = box ?? this.whole;
    this.x.domain(this.box.slice(0, 2)).range([0, this.width]);
    this.y.domain(this.box.slice(2)).range([this.height, 0]);
  }

  get zoom() {
    return (this.whole[1] - this.whole[0]) / (this.box[1] - this.box[0]);
  }

  /* A measure's value in the points' own units. */
  steps(axis, value) {
    const { low, high } = this.columns[axis];
    return high > low ? ((value - low) / (high - low)) * STEPS : value - low;
  }

  value(axis, steps) {
    const { low, high } = this.columns[axis];
    return low + (steps / STEPS) * (high - low);
  }

  boxInSteps() {
    const [left, right, low, high] = this.box;
    return [this.steps("x", left), this.steps("x", right), this.steps("y", low), this.steps("y", high)];
  }

  /* Pixels of the plot: {x, y}. */
  pixel(stepsX, stepsY) {
    return { x: this.x(this.value("x", stepsX)), y: this.y(this.value("y", stepsY)) };
  }

  /* The box after a picture was scaled by k and moved by (dx, dy) pixels; null: everything is in view. */
  moved(k, dx, dy) {
    const left = this.x.invert(-dx / k);
    const right = this.x.invert((this.width - dx) / k);
    const low = this.y.invert((this.height - dy) / k);
    const high = this.y.invert(-dy / k);
    return this.#clamp([left, right, low, high]);
  }

  #clamp([left, right, low, high]) {
    const [x0, x1, y0, y1] = this.whole;
    const [fullX, fullY] = [x1 - x0, y1 - y0];
    const fit = (from, to, least, most) => {
      const size = Math.min(to - from, most - least);
      const start = Math.min(Math.max(from, least), most - size);
      return [start, start + size];
    };
    if (right - left >= fullX && high - low >= fullY) return null;
    if ((right - left) * ZOOM_MOST < fullX || (high - low) * ZOOM_MOST < fullY) return this.box;
    return [...fit(left, right, x0, x1), ...fit(low, high, y0, y1)];
  }
}
