/* bars.js: counts the points along an axis, in bars: of an axis that has few values one for each, of any other 64 of even width. */
import { DRAWN, NONE, SELECTED } from "./marks.js";

const EVEN = 64;
const OUTSIDE = 255; /* the number of no bar */
const MOST = 254;

/* {from, to} of each bar, in pixels along an axis of this length, and the value in its middle if it stands for one. */
function edgesOf(frame, axis, length) {
  const { grid, low } = frame.columns[axis];
  const [start, end] = frame[axis].domain();
  const even = Array.from({ length: EVEN }, (_, i) => ({ from: (i * length) / EVEN, to: ((i + 1) * length) / EVEN }));
  if (grid === 0) return even;
  const [first, last] = [Math.ceil((start - low) / grid - 0.5), Math.floor((end - low) / grid + 0.5)];
  if (last - first + 1 > MOST) return even;
  const at = (value) => (axis === "x" ? frame.at(axis, value) : length - frame.at(axis, value));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = low + (first + i) * grid;
    const [from, to] = [at(value - grid / 2), at(value + grid / 2)].map((pixels) => Math.max(0, Math.min(length, pixels)));
    return { from, to };
  }).filter(({ from, to }) => to > from);
}

/* The bar of each step that a point may have. */
function barsOfSteps(frame, axis, edges, length) {
  const bars = new Uint8Array(NONE + 1).fill(OUTSIDE);
  const [low, high] = axis === "x" ? frame.boxInSteps().slice(0, 2) : frame.boxInSteps().slice(2);
  const stepAt = (pixels) => low + (pixels / length) * (high - low); /* even steps are even pixels */
  edges.forEach(({ from, to }, bar) => {
    const [first, end] = [stepAt(from), stepAt(to)].map((step) => Math.max(0, Math.min(NONE, Math.ceil(step))));
    bars.fill(bar, first, end);
  });
  const last = Math.floor(high);
  if (edges.length > 0 && last >= 0 && last < NONE && last === high) bars[last] = edges.length - 1; /* the edge of the view is in view */
  return bars;
}

/* {edges, all, selected}: the bars along an axis of the points in view, and how many points are in each. */
export function countBars(frame, axis, steps, flags) {
  const length = axis === "x" ? frame.width : frame.height;
  const edges = edgesOf(frame, axis, length);
  const bars = barsOfSteps(frame, axis, edges, length);
  const all = new Float64Array(OUTSIDE + 1);
  const selected = new Float64Array(OUTSIDE + 1);
  for (let i = 0; i < steps.length; i++) {
    const flag = flags[i];
    if (!(flag & DRAWN)) continue;
    const bar = bars[steps[i]];
    all[bar]++;
    if (flag & SELECTED) selected[bar]++;
  }
  return { edges, all: all.subarray(0, edges.length), selected: selected.subarray(0, edges.length) };
}
