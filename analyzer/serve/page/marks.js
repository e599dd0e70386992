/* marks.js: flags for each loaded point: is it drawn, is it selected? */

export const DRAWN = 1; /* has values on both axes, and passes the filters */
export const SELECTED = 2;
export const WITHOUT = 4; /* lacks a value on an axis, and passes the filters */
export const NONE = 65535; /* a coordinate without value */

export const coordinates = (points) => ({
  x: new Uint16Array(points.bytes, 0, points.n),
  y: new Uint16Array(points.bytes, 2 * points.n, points.n),
  colour: new Uint8Array(points.bytes, 4 * points.n, points.n),
});

export function countBits(bits) {
  let count = 0;
  for (let i = 0; i < bits.length; i++) for (let byte = bits[i]; byte; byte &= byte - 1) count++;
  return count;
}

/* This loop runs over a million points at each selection, so it reads the masks itself, without a call for each point. */
export function markPoints(points, shown, selected) {
  const { x, y } = coordinates(points);
  const { n, places } = points;
  const flags = new Uint8Array(n);
  const passes = shown?.bits;
  const chosen = selected?.bits;
  let drawn = 0;
  for (let i = 0; i < n; i++) {
    const place = places ? places[i] : i;
    const bit = 1 << (place & 7);
    if (passes && !(passes[place >> 3] & bit)) continue;
    const isHere = x[i] !== NONE && y[i] !== NONE;
    if (isHere) drawn++;
    flags[i] = (isHere ? DRAWN : WITHOUT) | (chosen && chosen[place >> 3] & bit ? SELECTED : 0);
  }
  return { flags, drawn };
}
