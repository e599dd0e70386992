/*
 * log_scale.js: where numbers lie on a logarithmic scale, as serve/axes.h has it.
 */

/* A function: the position of a value on the scale of a column; equal differences of positions are equal distances. `low` is the
 * column's lowest value, `least` its smallest magnitude above 0. */
export function positionIn({ low, least }) {
  if (low > 0) return Math.log;
  return (value) => {
    const magnitude = Math.abs(value);
    const ratio = magnitude / least;
    const position = ratio === Infinity ? Math.log(magnitude) - Math.log(least) : Math.log1p(ratio);
    return value < 0 ? -position : position;
  };
}
