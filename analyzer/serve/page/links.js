/*
 * links.js: matches the examples of two views by id, and carries selections from one to the other. Places are those of the
 * views (README.md); masks have one bit per place, the lowest bit of a byte first.
 */
import { countBits } from "./marks.js";

export const NOWHERE = 0xffffffff; /* the other view has no such example */

export const hasBit = (mask, place) => (mask.bits[place >> 3] >> (place & 7)) & 1;

/* {there, back, shared}: by place here the place in the other view; by place there the place here; how many examples both have. */
export function makeLinks(there, otherCount) {
  const back = new Uint32Array(otherCount).fill(NOWHERE);
  let shared = 0;
  for (let place = 0; place < there.length; place++) {
    if (there[place] === NOWHERE) continue;
    back[there[place]] = place;
    shared++;
  }
  return { there, back, shared };
}

/* A mask carried over to the other view by `there`. null stays null. */
export function carryMask(mask, there, otherCount) {
  if (!mask) return null;
  const bits = new Uint8Array(Math.ceil(otherCount / 8));
  let count = 0;
  for (let place = 0; place < there.length; place++) {
    if (there[place] === NOWHERE || !hasBit(mask, place)) continue;
    bits[there[place] >> 3] |= 1 << (there[place] & 7);
    count++;
  }
  return { bits, count };
}

/* How many places two masks of one view share. */
export const countBoth = (a, b) => countBits(a.bits.map((byte, i) => byte & b.bits[i]));
