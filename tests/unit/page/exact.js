/*
 * exact.js: is a point inside a polygon, in whole numbers of any size? Even-odd, edges inside; no code of the page. Doubles are fractions with a
 * power of two below, so all coordinates times one large power of two are whole.
 */

/* {digits, halvings}: the number is digits / 2^halvings. */
function fractionOf(number) {
  let halvings = 0;
  while (!Number.isInteger(number)) {
    number *= 2;
    halvings++;
  }
  return { digits: BigInt(number), halvings };
}

export function isInsideExactly(polygon, x, y) {
  const fractions = [...polygon.flat(), x, y].map(fractionOf);
  const most = Math.max(...fractions.map(({ halvings }) => halvings));
  const whole = fractions.map(({ digits, halvings }) => digits << BigInt(most - halvings));
  const [px, py] = whole.splice(-2);
  let crossings = 0;
  for (let i = 0; i < whole.length; i += 2) {
    const [ax, ay, bx, by] = [0, 1, 2, 3].map((k) => whole[(i + k) % whole.length]);
    const side = (bx - ax) * (py - ay) - (px - ax) * (by - ay);
    const isBetween = (p, a, b) => (a <= p && p <= b) || (b <= p && p <= a);
    if (side === 0n && isBetween(px, ax, bx) && isBetween(py, ay, by)) return true;
    if (ay > py !== by > py && side > 0n === by > ay) crossings++;
  }
  return crossings % 2 === 1;
}
