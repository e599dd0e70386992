/*
 * piles.js: counts the points that share a value on an axis of few values, by cell of the map. An axis whose values may be any is cut
 * into bins, which stay where they are while the map is moved, and are halved as it is zoomed.
 */
import { coordinates, DRAWN, NONE, SELECTED } from "./marks.js";
import { backward, forward } from "./scales.js";

const STEPS = 65534;
const NOWHERE = 65535; /* the bin of what is in none */

/* The bins of an axis in view: {first, count, binOf(value), edges(bin), lut}: bin 0 is number `first` of all; edges: [from, to], values;
 * lut: the bin of each step. */
function binsOf(frame, axis, wanted) {
  const column = frame.columns[axis];
  const { bend, from, to, grid, low } = column;
  const [t, value] = [forward(bend), backward(bend)];
  const [start, end] = frame[axis].domain();
  const [whole] = axis === "x" ? frame.whole : frame.whole.slice(2);
  const size = grid > 0 ? 0 : frame.binSize(axis, wanted);
  const numberOf = grid > 0 ? (at) => Math.round((at - low) / grid) : (at) => Math.floor((t(at) - t(whole)) / size);
  const [first, last] = [numberOf(start), numberOf(end)];
  const count = last - first + 1;
  const binOf = (at) => numberOf(at) - first;
  const edges = (bin) => {
    const number = first + bin;
    if (grid > 0) return [low + (number - 0.5) * grid, low + (number + 0.5) * grid];
    return [value(t(whole) + number * size), value(t(whole) + (number + 1) * size)];
  };
  const lut = new Uint16Array(NONE + 1).fill(NOWHERE);
  const [t0, perStep] = [t(from), (t(to) - t(from)) / STEPS];
  for (let step = 0; step < NONE; step++) {
    const bin = binOf(value(t0 + step * perStep));
    if (bin >= 0 && bin < count) lut[step] = bin;
  }
  return { first, count, binOf, edges, lut };
}

/*
 * The cells in view that hold points. Each has, by its number: all, selected (counts), column, row (bins), and mix, mixSelected: the
 * mean of the colours of all points, of those that are selected, three numbers 0 … 255 for each cell.
 * colours: the look of each byte that a point may have, as palette.js makes it. wanted: about so many bins.
 */
export function countPiles(frame, points, flags, colours, wanted) {
  const x = binsOf(frame, "x", wanted);
  const y = binsOf(frame, "y", wanted);
  const steps = coordinates(points);
  const ids = new Int32Array(x.count * y.count); /* the number of a cell, plus 1 */
  const cellOf = new Int32Array(points.n).fill(-1);
  let n = 0;
  for (let i = 0; i < points.n; i++) {
    if (!(flags[i] & DRAWN)) continue;
    const [column, row] = [x.lut[steps.x[i]], y.lut[steps.y[i]]];
    if (column === NOWHERE || row === NOWHERE) continue;
    const at = row * x.count + column;
    if (ids[at] === 0) ids[at] = ++n;
    cellOf[i] = ids[at] - 1;
  }
  const cells = { x, y, n, ids, all: new Uint32Array(n), selected: new Uint32Array(n), column: new Uint16Array(n), row: new Uint16Array(n) };
  const sums = [new Float64Array(3 * n), new Float64Array(3 * n)];
  for (let i = 0; i < points.n; i++) {
    const cell = cellOf[i];
    if (cell < 0) continue;
    const isSelected = (flags[i] & SELECTED) !== 0;
    const look = 4 * steps.colour[i];
    cells.all[cell]++;
    if (isSelected) cells.selected[cell]++;
    for (let part = 0; part < 3; part++) {
      sums[0][3 * cell + part] += colours[look + part];
      if (isSelected) sums[1][3 * cell + part] += colours[look + part];
    }
  }
  for (let at = 0; at < ids.length; at++) {
    if (ids[at] === 0) continue;
    cells.column[ids[at] - 1] = at % x.count;
    cells.row[ids[at] - 1] = Math.floor(at / x.count);
  }
  const mean = (sum, counts) => sum.map((value, i) => (counts[Math.floor(i / 3)] > 0 ? value / counts[Math.floor(i / 3)] : 0));
  return { ...cells, mix: mean(sums[0], cells.all), mixSelected: mean(sums[1], cells.selected) };
}

/* How many points of a cell have each colour: by their byte. */
export function coloursOfCell(cells, points, flags, cell) {
  const { x, y, colour } = coordinates(points);
  const counts = new Map();
  for (let i = 0; i < points.n; i++) {
    if (!(flags[i] & DRAWN) || cells.x.lut[x[i]] !== cells.column[cell] || cells.y.lut[y[i]] !== cells.row[cell]) continue;
    counts.set(colour[i], (counts.get(colour[i]) ?? 0) + 1);
  }
  return counts;
}

/* The number of the cell at bins; −1: none holds points there. */
export function cellAt({ x, y, ids }, column, row) {
  return column < 0 || column >= x.count || row < 0 || row >= y.count ? -1 : ids[row * x.count + column] - 1;
}
