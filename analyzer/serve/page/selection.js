/*
 * selection.js: selections as `portolan select --within` reads them: {run, x, y, epochs, parts, filters}. Inside is
 * decided by the source, in float64 on the measures themselves, as they are over the selection's own epochs: those that it was made
 * at. So the same examples stay selected while other epochs are shown.
 */

/* Parts on two axes, and filters; null: neither is there. `epochs` is a range as the view was asked for. A selection that a program
 * made may have filters of its own. */
function selectionObject(run, epochs, { x, y, parts }, filters) {
  const object = { run, epochs };
  if (parts.length > 0) Object.assign(object, { x, y, parts });
  if (Object.keys(filters).length > 0) object.filters = filters;
  return object.parts || object.filters ? object : null;
}

/* Was the selection made at other epochs than those that are shown? */
export function isElsewhen({ selection, view }) {
  const { epochs, parts, filters } = selection;
  return Boolean(view) && (parts.length > 0 || Boolean(filters)) && epochs !== undefined && epochs !== view.range && epochs !== epochsOf(view);
}

/* What is selected, for questions about the view that is shown; null: nothing is selected. */
export function selectionNow(state) {
  const { selection, filters } = state;
  if (selection.parts.length === 0 && !selection.filters) return null;
  const together = selection.filters ? both(filters, selection.filters) : filters;
  return selectionObject(state.run, selection.epochs ?? state.view?.range ?? state.epochs, selection, together);
}

/* What passes the filters; null: there are none. */
export function filteredNow(state) {
  return selectionObject(state.run, state.view?.range ?? state.epochs, { parts: [] }, state.filters);
}

/* "A:B": the epochs that the view has now. */
export function epochsOf(view) {
  const { epochs } = view;
  return epochs.length > 0 ? `${epochs[0]}:${epochs[epochs.length - 1] + 1}` : view.range || "0:1";
}

/* The epochs of a view, in words. */
export function sayEpochs(epochs) {
  if (epochs.length < 2) return epochs.length === 0 ? "no epoch" : `epoch ${epochs[0]}`;
  return `epochs ${epochs[0]}–${epochs[epochs.length - 1]}`;
}

/*
 * A selection for an export: with the epochs that are there now, so that it repeats on a run that goes on, and the digests
 * of its measures and labels, by which a command sees that an observation was replaced. Both are of the view of its own epochs.
 */
export function repeatable(state, object) {
  const view = [state.selected?.own, state.view].find((one) => one && [one.range, epochsOf(one)].includes(object.epochs));
  if (!view) return object; /* which is still being loaded */
  const names = new Set([object.x, object.y, ...Object.keys(object.filters ?? {})]);
  const columns = view.columns.filter(({ name, digest }) => digest && names.has(name));
  const digests = Object.fromEntries(columns.map(({ name, digest }) => [name, digest]));
  if (names.has("gold")) digests.gold = view.gold_digest;
  return { ...object, epochs: epochsOf(view), digests };
}

/* The cuts between the regions: the user's, else the run's. */
export function cutsOf(state) {
  const own = state.view?.cuts;
  return state.cuts ?? { variability: own?.variability ?? 0, confidence: own?.confidence ?? 0.5 };
}

/* The largest number below `value`, which is 0 or more. */
function below(value) {
  if (value === 0) return -Number.MIN_VALUE;
  const number = new Float64Array([value]);
  new BigInt64Array(number.buffer)[0] -= 1n;
  return number[0];
}

/* What is ambiguous begins here: where nothing varies, nothing is. */
const ambiguousFrom = (cuts) => Math.max(cuts.variability, Number.MIN_VALUE);

export const REGIONS = ["easy-to-learn", "ambiguous", "hard-to-learn"];

/* A region as [left, right, low, high] of variability and confidence; all edges belong to it. */
export function regionBox(region, cuts) {
  const from = ambiguousFrom(cuts);
  if (region === "ambiguous") return [from, Math.max(1, from), 0, 1];
  return region === "easy-to-learn" ? [0, below(from), cuts.confidence, 1] : [0, below(from), -1, below(cuts.confidence)];
}

export function boxPolygon([left, right, low, high]) {
  return [[left, low], [right, low], [right, high], [left, high]];
}

/* How many of those that pass the filters are in each region. */
export async function countRegions(source, at, cuts, filters) {
  const epochs = at.epochs;
  const count = (more) => source.count(at, { run: at.run, epochs, filters: both(filters, more) });
  const variability = { min: ambiguousFrom(cuts) };
  const confidence = { min: cuts.confidence };
  const [all, ambiguous, confident, together] = await Promise.all([
    count({ confidence: { min: 0 } }),
    count({ variability }),
    count({ confidence }),
    count({ variability, confidence }),
  ]);
  const easy = confident - together;
  return { "easy-to-learn": easy, ambiguous, "hard-to-learn": all - ambiguous - easy };
}

/* The filters that let through what both do. */
function both(filters, more) {
  const joined = { ...filters };
  for (const [name, filter] of Object.entries(more)) joined[name] = name in filters ? bothOf(filters[name], filter) : filter;
  return joined;
}

function bothOf(a, b) {
  const joined = { ...a, ...b };
  if ("min" in a && "min" in b) joined.min = Math.max(a.min, b.min);
  if ("max" in a && "max" in b) joined.max = Math.min(a.max, b.max);
  if (a.in && b.in) {
    const textOf = (value) => (value === null ? null : String(value)); /* an id may be a number or a text */
    const wanted = new Set(b.in.map(textOf));
    joined.in = a.in.filter((value) => wanted.has(textOf(value)));
  }
  if (a.contains && b.contains) joined.contains = [...new Set([...a.contains, ...b.contains])];
  return joined;
}
