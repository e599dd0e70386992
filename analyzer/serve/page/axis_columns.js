/*
 * axis_columns.js: fetches what must be known of the columns on the axes before their points can be drawn. The view itself
 * describes most measures; the source is asked about all else (source.axis).
 */
import { boundsOf, gridOf } from "./columns.js";
import { NONE } from "./marks.js";
import { usualOfSteps, usualShares } from "./ranges.js";
import { backward, bendOf, forward } from "./scales.js";

const BARS = 2048; /* in which the usual range is looked for, where not all points are here */

export const columnOf = (view, name) => view.columns.find((column) => column.name === name);

/* Keeps the result of the last request by its key. */
export class Last {
  #key = null;
  #result = null;

  get(key, make) {
    const text = JSON.stringify(key);
    if (text !== this.#key) {
      this.#key = text;
      this.#result = make();
      this.#result.catch(() => {
        if (this.#key === text) this.#key = null;
      });
    }
    return this.#result;
  }
}

/* May a few examples lie far beyond all others? */
const canStretch = ({ kind, name }, view) => kind === "number" && !boundsOf(name, view);

/* The values at shares of a column, 0 … 1, which the source bends. */
function betweenShares(column, shares) {
  const bend = bendOf(column, column.scale);
  const t = forward(bend);
  const inside = (share) => backward(bend)(t(column.low) + share * (t(column.high) - t(column.low)));
  return shares.map((share) => (share === 0 ? column.low : share === 1 ? column.high : inside(share)));
}

function countNone(steps) {
  let none = 0;
  for (let i = 0; i < steps.length; i++) if (steps[i] === NONE) none++;
  return none;
}

export class AxisColumns {
  #columns = { x: new Last(), y: new Last() };

  constructor(source) {
    this.source = source;
  }

  /*
   * Of the axis "x" or "y", what loader.js says of it, but for where its points are drawn. isPart: the points will be a part of all, so
   * that they cannot say how many have no value, and what the usual range is.
   */
  load(axis, name, scale, { at, view, isPart }) {
    return this.#columns[axis].get([at, name, scale, isPart], async () => {
      const measure = columnOf(view, name);
      const isKnown = measure && scale !== "log" && !(measure.sometimes && isPart);
      const described = { kind: "number", none: null, least: null, ...measure, ...(isKnown ? {} : await this.source.axis(at, name)), name, scale };
      const column = { ...described, grid: gridOf(described, view) };
      return isPart && canStretch(column, view) ? { ...column, usual: await this.#findUsual(at, column) } : column;
    });
  }

  async #findUsual(at, column) {
    const { name, scale, low, high } = column;
    if (low === high) return [low, high];
    const counts = await this.source.bins(at, { x: name, y: name, xScale: scale, box: [low, high, low, high], columns: BARS, rows: 1 });
    return betweenShares(column, usualShares(counts, column.grid > 0));
  }

  /* A column with what all points say of it. `axis`: 0 or 1. */
  describe(column, { bytes, n }, axis, view) {
    const steps = new Uint16Array(bytes, 2 * axis * n, n);
    const described = { ...column, none: column.sometimes === false ? 0 : countNone(steps) };
    return canStretch(column, view) ? { ...described, usual: betweenShares(column, usualOfSteps(steps)) } : described;
  }
}
