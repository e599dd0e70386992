/*
 * columns.js: what an axis may show: a measure, "gold" (the gold label), or "data:COLUMN" of the user's file. A column is
 * {name, kind: "number" | "category", integer, low, high}; of a category, `values` are its names: [{label, value, count}].
 */
import { number } from "./dom.js";

const GRID_MOST = 200; /* of more values, neighbours look the same */

/* The distance of two neighbouring values of an axis that has few; 0: its values may be any. */
export function gridOf({ name, kind, low, high, integer }, view) {
  if (kind === "category") return 1;
  const grid = integer ? 1 : name === "correctness" ? 1 / Math.max(1, view.epochs.length) : 0;
  return high - low <= GRID_MOST * grid ? grid : 0;
}

/* A value of a column, for people. */
export function sayValue(column, value) {
  if (value === null || Number.isNaN(value)) return "no value";
  if (column.kind !== "category") return number(value, column.integer);
  return labelOf(column, value) ?? `number ${Math.round(value)}`;
}

const known = new WeakMap(); /* by column: its labels by their value */

/* The name of a category; undefined: it is not among those that are known. */
export function labelOf(column, value) {
  if (!known.has(column)) known.set(column, new Map((column.values ?? []).map((one) => [one.value, one.label])));
  return known.get(column).get(Math.round(value));
}

/* Does the run record losses? It has no gold labels, no regions, and nothing is right or wrong. */
export const isOfLosses = (view) => view?.kind === "loss";

/* The measure that is the mean over the epochs. */
export const meanOf = (view) => (isOfLosses(view) ? "task_loss" : "confidence");

/* The bounds of measures, over any epochs. el2n is the distance of two distributions over classes. */
const BOUNDS = {
  confidence: [0, 1],
  correctness: [0, 1],
  never_learned: [0, 1],
  variability: [0, 0.5],
  threshold_closeness: [0, 0.25],
  aleatoric: [0, 0.25],
  el2n: [0, Math.SQRT2],
};
/* Measures whose values are epochs of the run. */
const IN_EPOCHS = ["first_learned", "always_right_after", "always_wrong_after"];

/* [low, high] of a measure; undefined: it has no bounds. */
export function boundsOf(name, view) {
  const { all_epochs: all } = view;
  if (IN_EPOCHS.includes(name) && all.length > 0) return [all[0], all[all.length - 1]];
  if (name === "epochs") return [1, Math.max(1, all.length)];
  return name === "variability" && isOfLosses(view) ? undefined : BOUNDS[name];
}
