/*
 * spread.js: where points are drawn whose axis has few values, or an axis that bends otherwise than their steps do. Points that
 * share a value are spread around it, so that they do not hide one another, as `portolan map` does, or stand on it in a pile
 * (cells.js). This never changes what is selected: that is decided on the values themselves.
 */
import { coordinates, NONE } from "./marks.js";
import { backward, bendOf, forward, sameBend } from "./scales.js";

const STEPS = 65534;
const SHARE = 0.6; /* of the distance between two values */

/* A number from 0 to 1 that looks random, and is always the same for a place and its use: 0 and 1, the axes; 2, a sample; 3, a strip. */
export function lotOf(place, use) {
  let mixed = Math.imul(3 * place + use + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/* The values that the steps of a column stand for, as the source bends them. */
function valuesOf(column) {
  const bend = bendOf(column, column.scale);
  const [t, value] = [forward(bend), backward(bend)];
  const [from, size] = [t(column.low), (t(column.high) - t(column.low)) / STEPS];
  return Float64Array.from({ length: NONE }, (_, step) => value(from + step * size));
}

/* The steps of values between from and to. */
function stepsOf(bend, from, to) {
  const t = forward(bend);
  const low = t(from);
  const scale = STEPS / (t(to) - low);
  return (value) => (t(value) - low) * scale;
}

/* Where the points of an axis that has few values stand: beside their values, or on them in a pile. */
function placeAroundValues(column, steps, places, axis) {
  const { low, grid, bend, from, to, isPiled } = column;
  const stepOf = stepsOf(bend, from, to);
  const values = valuesOf(column).map((value) => low + Math.round((value - low) / grid) * grid);
  for (let i = 0; i < steps.length; i++) {
    const aside = isPiled ? 0 : SHARE * (lotOf(places ? places[i] : i, axis) - 0.5) * grid;
    if (steps[i] !== NONE) steps[i] = stepOf(values[steps[i]] + aside);
  }
}

function placeOnBend({ bend, from, to, ...column }, steps) {
  const placed = Uint16Array.from(valuesOf(column), stepsOf(bend, from, to));
  for (let i = 0; i < steps.length; i++) if (steps[i] !== NONE) steps[i] = placed[steps[i]];
}

/*
 * Of points as the source has them, with their columns, the same where they are drawn. A column gets
 *     bend        of its axis (scales.js)
 *     from, to    what the steps 0 and 65534 stand for: the lowest and highest value, with half of a step more where these are few
 *     isPiled     do points that share a value stand in one pile?
 * bends: {x, y}; pile: "jitter", or another name.
 */
export function placePoints(points, bends, pile) {
  const place = ({ grid, ...column }, bend) => ({ ...column, grid, bend, from: column.low - grid / 2, to: column.high + grid / 2, isPiled: pile !== "jitter" });
  const [x, y] = [place(points.x, bends.x), place(points.y, bends.y)];
  const isMoved = (column) => column.grid > 0 || (!sameBend(column.bend, bendOf(column, column.scale)) && column.low < column.high);
  if (!isMoved(x) && !isMoved(y)) return { ...points, x, y };
  const bytes = points.bytes.slice(0);
  for (const [axis, column] of [x, y].entries()) {
    const steps = new Uint16Array(bytes, 2 * axis * points.n, points.n);
    if (column.grid > 0) placeAroundValues(column, steps, points.places, axis);
    else if (isMoved(column)) placeOnBend(column, steps);
  }
  return { ...points, bytes, x, y };
}

function makeReader(points) {
  const { x, y } = coordinates(points);
  const rank = points.places ? new Map(Array.from(points.places, (place, i) => [place, i])) : null;
  const reader = ({ bend, from, to, low, grid }) => {
    const [t, back] = [forward(bend), backward(bend)];
    const [start, size] = [t(from), (t(to) - t(from)) / STEPS];
    return (step) => {
      if (step === NONE) return null;
      const drawn = back(start + step * size);
      return grid > 0 ? low + Math.round((drawn - low) / grid) * grid : drawn;
    };
  };
  const [valueX, valueY] = [reader(points.x), reader(points.y)];
  return (place) => {
    const i = rank ? rank.get(place) : place;
    return i === undefined || i >= points.n ? [null, null] : [valueX(x[i]), valueY(y[i])];
  };
}

const readers = new WeakMap(); /* by points: of a sample a reader is large */

/* Values by place: a function that answers [x, y]; null: the point has no value there, or is not here. A value that may be any is as
 * exact as the step that stands for it. */
export function readerOf(points) {
  if (!readers.has(points)) readers.set(points, makeReader(points));
  return readers.get(points);
}
