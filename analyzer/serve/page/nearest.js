/*
 * nearest.js: the drawn point that is nearest to a place on the map. Points are sorted into a grid of 256 × 256 cells
 * over their own units, 0 … 65534, once for each set of points.
 */
import { coordinates, DRAWN, NONE } from "./marks.js";

const SHIFT = 8;
const CELLS = 256;

export class Grid {
  constructor(points) {
    const { x, y } = coordinates(points);
    const starts = new Uint32Array(CELLS * CELLS + 1);
    const cell = (i) => ((y[i] >> SHIFT) << 8) | (x[i] >> SHIFT);
    for (let i = 0; i < points.n; i++) if (x[i] !== NONE && y[i] !== NONE) starts[cell(i) + 1]++;
    for (let c = 0; c < CELLS * CELLS; c++) starts[c + 1] += starts[c];
    const next = starts.slice(0, -1);
    const order = new Uint32Array(starts[CELLS * CELLS]);
    for (let i = 0; i < points.n; i++) if (x[i] !== NONE && y[i] !== NONE) order[next[cell(i)]++] = i;
    Object.assign(this, { x, y, starts, order });
  }

  /*
   * The number of the drawn point with the least distance, as `distance(dx, dy)` of steps has it, among those at most
   * (reachX, reachY) steps away; −1: there is none. distance() answers Infinity for what does not count.
   */
  find(atX, atY, reachX, reachY, flags, distance) {
    const { x, y, starts, order } = this;
    const clamp = (steps) => Math.floor(Math.max(0, Math.min(NONE, steps))) >> SHIFT;
    let best = -1;
    let least = Infinity;
    for (let row = clamp(atY - reachY); row <= clamp(atY + reachY); row++) {
      const from = starts[row * CELLS + clamp(atX - reachX)];
      const to = starts[row * CELLS + clamp(atX + reachX) + 1];
      for (let k = from; k < to; k++) {
        const i = order[k];
        if (!(flags[i] & DRAWN)) continue;
        const far = distance(x[i] - atX, y[i] - atY);
        if (far < least) {
          least = far;
          best = i;
        }
      }
    }
    return best;
  }
}
