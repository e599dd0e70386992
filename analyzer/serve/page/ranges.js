/*
 * ranges.js: which part of its values an axis shows. It is kept by run, column and scale, and only ever widens: axes stay where
 * they are when epochs change. A run that was recorded anew begins anew here, too.
 *
 *     low, high   the values that occur
 *     usual       [low, high]: what is shown without zoom. It leaves out the values far beyond all others, which would squeeze
 *                 these; the map says how many examples lie beyond
 *     least       the smallest magnitude above 0, by which a logarithmic axis bends around 0; null: not known
 */
import { backward, bendOf, forward } from "./scales.js";

const PADDING = 0.03; /* of the axis, at each end */
const BEYOND = 0.005; /* of the examples, at each end: whether they stretch the axis */
const STRETCHED = 4; /* times the range of all others */
const NEAR = 0.25; /* of that range: an end that is no further away is shown */
const STEPS = 65535;

/* Measures whose axis always shows the whole range, unless it is logarithmic. */
const WHOLE = { confidence: [0, 1], correctness: [0, 1], never_learned: [0, 1] };

/* [low, high] of the shares of a column, 0 … 1, that are shown without zoom: all, unless few examples stretch the axis.
 * counts: how many examples have which share, evenly from 0 to 1. isFinest: what is in one bar is one value, and shown larger would
 * be no clearer. */
export function usualShares(counts, isFinest) {
  const all = d3.sum(counts);
  const most = BEYOND * all;
  let [from, to] = [0, counts.length - 1];
  for (let below = counts[from]; below <= most && from < to; below += counts[from]) from++;
  for (let above = counts[to]; above <= most && to > from; above += counts[to]) to--;
  const size = (to + 1 - from) / counts.length;
  if (all === 0 || (isFinest && from === to) || size * STRETCHED >= 1) return [0, 1];
  const [low, high] = [from / counts.length, (to + 1) / counts.length];
  return [low <= NEAR * size ? 0 : low, 1 - high <= NEAR * size ? 1 : high];
}

/* Of the steps of points, 0 … 65534. */
export function usualOfSteps(steps) {
  const counts = new Uint32Array(STEPS + 1);
  for (let i = 0; i < steps.length; i++) counts[steps[i]]++;
  return usualShares(counts.subarray(0, STEPS), true);
}

export class Ranges {
  #known = new Map();
  #identities = new Map(); /* by run */

  /* Is told of each view before its columns. */
  meet({ run, identity }) {
    if (this.#identities.get(run) === identity) return;
    this.#identities.set(run, identity);
    for (const key of this.#known.keys()) if (JSON.parse(key)[0] === run) this.#known.delete(key);
  }

  #key = (run, { name, scale }) => JSON.stringify([run, name, scale]);

  /* {low, high, usual, least}, as far as it is known. */
  of(run, column) {
    return this.#known.get(this.#key(run, column)) ?? { low: column.low, high: column.high, usual: column.usual ?? [column.low, column.high], least: column.least ?? null };
  }

  /* Is told of a column {name, scale, low, high} with or without {usual, least}; true: it changes what is known. */
  widen(run, column) {
    const { name, scale, low, high, usual = [low, high], least = null } = column;
    const key = this.#key(run, column);
    const bounds = scale === "log" ? undefined : WHOLE[name];
    const before = this.#known.get(key) ?? { low, high, usual: bounds ?? usual, least };
    const join = (a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
    const [from, to] = join(join([before.low, before.high], [low, high]), bounds ?? [low, high]);
    const leasts = [before.least, least].filter((one) => one !== null);
    const now = { low: from, high: to, usual: join(before.usual, usual), least: leasts.length > 0 ? Math.min(...leasts) : null };
    const isNew = JSON.stringify(now) !== JSON.stringify(this.#known.get(key));
    this.#known.set(key, now);
    return isNew;
  }

  /* d3's scales divide by the smallest magnitude: it is such that this can be done. */
  bend(run, column) {
    const known = { ...column, ...this.of(run, column) };
    const least = known.least && Math.max(known.least, Math.max(-known.low, known.high) / 1e300);
    return bendOf({ ...known, least }, column.scale);
  }

  /* {whole, usual}: [from, to] each, with room around the values: of an axis of few values half of a step. */
  rooms(run, column) {
    const known = this.of(run, column);
    const bend = column.bend ?? this.bend(run, column);
    const hasPlace = bend.name !== "ln" || known.low > 0; /* else the points are placed anew soon */
    const { low, high, usual } = hasPlace ? known : { low: column.low, high: known.high, usual: [column.low, known.usual[1]] };
    return { whole: withRoom([low, high], column.grid, bend), usual: withRoom(usual, column.grid, bend) };
  }

  /* {whole, usual}: [left, right, low, high] of all, and of what is shown without zoom. */
  boxes(run, columns) {
    const [x, y] = [this.rooms(run, columns.x), this.rooms(run, columns.y)];
    return { whole: [...x.whole, ...y.whole], usual: [...x.usual, ...y.usual] };
  }

  /* Of a box, which may be a link's, what the axes can show. null: nothing. */
  fit(run, columns, box) {
    if (!box) return null;
    const { whole } = this.boxes(run, columns);
    const fitted = box.map((edge, i) => (i % 2 === 0 ? Math.max(edge, whole[i]) : Math.min(edge, whole[i])));
    return fitted[0] < fitted[1] && fitted[2] < fitted[3] ? fitted : null;
  }
}

function withRoom([low, high], grid, bend) {
  if (low === high && grid === 0) return bend.name === "ln" ? [low / 2, low * 2] : [low - 0.5, high + 0.5];
  const [t, value] = [forward(bend), backward(bend)];
  const padding = PADDING * (t(high) - t(low));
  return [value(Math.min(t(low) - padding, t(low - grid / 2))), value(Math.max(t(high) + padding, t(high + grid / 2)))];
}
