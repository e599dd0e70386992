/*
 * saved_masks.js: which examples saved selections hold, and how they overlap. A mask is {bits, count}, with one bit per place of
 * a view (README.md), the lowest bit of a byte first. The source makes it, so it is exact, whatever is drawn.
 */
import { hasBit } from "./links.js";
import { countBits } from "./marks.js";
import { SourceError } from "./source.js";
import { same } from "./state.js";

const VIEWS = 2; /* whose masks are kept: all epochs, and those shown */
const PARTS_MOST = 1000; /* of a selection */
const IDS_MOST = 24 << 20; /* characters: a server takes 32 MiB */

/* The saved selections of the run that is shown, in their order. */
export const savedOf = ({ saved, run }) => saved.filter(({ selection }) => selection.run === run);

export class SavedMasks {
  #source;
  #known = new WeakMap(); /* by selection, a map from views to promises */

  constructor(source) {
    this.#source = source;
  }

  #get(at, selection) {
    const key = JSON.stringify(at);
    const known = this.#known.get(selection) ?? new Map();
    this.#known.set(selection, known);
    if (!known.has(key)) {
      const asked = this.#source.mask(at, selection).then((bits) => ({ bits, count: countBits(bits) }));
      asked.catch(() => known.delete(key));
      known.set(key, asked);
      if (known.size > VIEWS) known.delete(known.keys().next().value);
    }
    return known.get(key);
  }

  /* For each saved selection its mask in a view, or {error}: a text that says why the run cannot have such a selection. */
  all(at, saved) {
    return Promise.all(saved.map(({ selection }) =>
      this.#get(at, selection).catch((error) => {
        if (error.status !== 400) throw error;
        return { error: error.message };
      })));
  }
}

const maskOf = (bits) => ({ bits, count: countBits(bits) });

/* What all masks hold, any of them, and one alone. */
function layersOf(masks) {
  const all = masks[0].bits.slice();
  const any = new Uint8Array(all.length);
  const several = new Uint8Array(all.length);
  for (const { bits } of masks) {
    for (let i = 0; i < bits.length; i++) {
      several[i] |= any[i] & bits[i];
      any[i] |= bits[i];
      all[i] &= bits[i];
    }
  }
  return { all, any, alone: any.map((byte, i) => byte & ~several[i]) };
}

const common = (a, b) => maskOf(a.map((byte, i) => byte & b[i]));

export const overlapOf = (masks) => maskOf(layersOf(masks).all);
export const unionOf = (masks) => maskOf(layersOf(masks).any);

/* What masks[i] alone has. */
export const onlyOf = (masks, i) => common(masks[i].bits, layersOf(masks).alone);

/* How masks overlap in a view of n examples; `chance`: how many would be in all, if each were drawn by lot. */
export function compareMasks(masks, n) {
  const { all, any, alone } = layersOf(masks);
  return {
    counts: masks.map(({ count }) => count),
    only: masks.map(({ bits }) => common(bits, alone).count),
    all: countBits(all),
    any: countBits(any),
    chance: n > 0 ? masks.reduce((share, { count }) => (share * count) / n, n) : 0,
  };
}

/* Calls found(place) for each place in a mask, ascending. */
export function visitPlaces({ bits }, found) {
  for (let i = 0; i < bits.length; i++) for (let byte = bits[i], at = 8 * i; byte; byte >>= 1, at++) if (byte & 1) found(at);
}

/* [[place, id], …] of the examples in a mask, ascending. `held` are {selection, mask}, which together hold all of them. */
export async function idsOf(source, at, held, wanted) {
  const found = [];
  let rest = wanted;
  for (const { selection, mask } of held) {
    const here = overlapOf([mask, rest]);
    if (here.count === 0) continue;
    const ids = await source.ids(at, selection);
    if (ids.length !== mask.count) throw new SourceError(409, "The run has changed meanwhile.");
    let next = 0;
    visitPlaces(mask, (place) => {
      const id = ids[next++];
      if (hasBit(here, place)) found.push([place, id]);
    });
    rest = onlyOf([rest, mask], 0);
  }
  return found.sort(([a], [b]) => a - b);
}

/* A selection of ids; null: they are too many to be sent. Numbers that are exact as such are shorter. */
export function selectionOfIds(view, ids) {
  const short = ids.map((id) => (view.ids === "integer" && Number.isSafeInteger(Number(id)) ? Number(id) : id));
  const length = ids.reduce((sum, id) => sum + id.length + 3, 0);
  return length > IDS_MOST ? null : { run: view.run, epochs: view.range, filters: { id: { in: short } } };
}

const isAlike = (a, b) => a.x === b.x && a.y === b.y && a.epochs === b.epochs && same(a.filters ?? {}, b.filters ?? {});
const onlyAdds = ({ parts }) => parts.every(({ op }) => op === "add");

/* What is in the first selection, or with "remove" in the first and no other: as one selection of parts. null: parts cannot say it. */
export function joinParts(first, others, op) {
  const fits = [first, ...others].every((one) => one.parts && isAlike(one, first)) && others.every(onlyAdds);
  const parts = fits ? [...first.parts, ...others.flatMap((one) => one.parts.map(({ polygon }) => ({ op, polygon })))] : [];
  return fits && parts.length <= PARTS_MOST ? { ...first, parts } : null;
}

/* A union begins with the selection that has parts that remove, if one has any: these would remove from the others, too. */
export function unionParts(selections) {
  const first = selections.find((one) => one.parts && !onlyAdds(one)) ?? selections[0];
  return joinParts(first, selections.filter((one) => one !== first), "add");
}
