/*
 * scales.js: how an axis bends values: not at all, or by their logarithm. Even steps of t(v) are even steps on the axis:
 *
 *     linear    t(v) = v
 *     ln        t(v) = ln v, where all values are above 0
 *     symlog    t(v) = sign(v) · ln(1 + |v| / constant), where some are 0 or less; constant: the smallest magnitude above 0
 *
 * A bend is {name, constant}. The server bends steps and colours by the same formulas.
 */

export const isScale = (name) => name === "linear" || name === "log";

export const LINEAR = { name: "linear" };

/* The bend of a column {kind, low, least} on a scale, "linear" or "log". least is null where no value differs from 0. */
export function bendOf({ kind, low, least }, scale) {
  if (scale !== "log" || kind === "category" || !(least > 0)) return LINEAR;
  return low > 0 ? { name: "ln" } : { name: "symlog", constant: least };
}

export const sameBend = (a, b) => a.name === b.name && a.constant === b.constant;

/* ln(1 + v / constant), also where the quotient is greater than numbers can be. */
const bendUp = (value, constant) => (value / constant < Infinity ? Math.log1p(value / constant) : Math.log(value) - Math.log(constant));
const bendDown = (t, constant) => (Math.exp(t) < Infinity ? Math.expm1(t) * constant : Math.exp(t + Math.log(constant)));

/* t(v) as a function. */
export function forward({ name, constant }) {
  if (name === "ln") return Math.log;
  return name === "symlog" ? (value) => Math.sign(value) * bendUp(Math.abs(value), constant) : (value) => value;
}

/* The value of a t. */
export function backward({ name, constant }) {
  if (name === "ln") return Math.exp;
  return name === "symlog" ? (t) => Math.sign(t) * bendDown(Math.abs(t), constant) : (t) => t;
}

export function scaleOf({ name, constant }) {
  if (name === "ln") return d3.scaleLog();
  return name === "symlog" ? d3.scaleSymlog().constant(constant) : d3.scaleLinear();
}
