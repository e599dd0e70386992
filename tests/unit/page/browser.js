/* browser.js: what the page's modules find in a browser and node lacks, and numbers that look random. To be imported before the modules. */
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

export const textOf = (name) => readFileSync(new URL(`../../../analyzer/serve/page/${name}`, import.meta.url), "utf8");

runInThisContext(textOf("d3.min.js")); /* as a script, which makes the global d3 */

/* Dark or light, as the test has it. */
export const media = { isDark: false };
globalThis.matchMedia = () => ({
  get matches() {
    return media.isDark;
  },
  addEventListener() {},
});

/* A function that answers the next number from 0 to 1: the same ones for the same seed. */
export function lots(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

/* One of these. */
export const pick = (lot, all) => all[Math.floor(lot() * all.length)];
