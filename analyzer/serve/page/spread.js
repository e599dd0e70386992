/*
 * spread.js: spreads points around the values of an axis that has few, so that they do not hide one another, as `portolan map`
 * does. It changes where points are drawn, never what is selected: that is decided on the measures themselves.
 */
import { coordinates, NONE } from "./marks.js";

const STEPS = 65534;
const VALUES_MOST = 200; /* with more, neighbours look the same */
const SHARE = 0.6; /* of the distance between two values */

/* Between the values of a column; 0: they may be any. */
function gridOf({ name, low, high, integer }, view) {
  const grid = integer ? 1 : name === "correctness" ? 1 / Math.max(1, view.epochs.length) : 0;
  return high - low <= VALUES_MOST * grid ? grid : 0;
}

/* A number from 0 to 1 that looks random, and is always the same for a place and its use: 0 and 1, the axes; 2, a sample. */
export function lotOf(place, use) {
  let mixed = Math.imul(3 * place + use + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/* Changes the steps; the column that they are of, which has half the distance of two values more at each end. */
function spreadAxis(column, steps, places, axis, view) {
  const grid = gridOf(column, view);
  if (grid === 0) return column;
  const spread = { ...column, low: column.low - grid / 2, high: column.high + grid / 2, spread: grid };
  const scale = STEPS / (spread.high - spread.low);
  const size = (column.high - column.low) / STEPS;
  for (let i = 0; i < steps.length; i++) {
    const around = 0.5 + SHARE * (lotOf(places ? places[i] : i, axis) - 0.5);
    if (steps[i] !== NONE) steps[i] = (steps[i] * size + around * grid) * scale;
  }
  return spread;
}

/* Of points as the loader has them, the same, spread. */
export function spreadPoints(points, view) {
  const { x, y } = coordinates(points);
  return { ...points, x: spreadAxis(points.x, x, points.places, 0, view), y: spreadAxis(points.y, y, points.places, 1, view) };
}
