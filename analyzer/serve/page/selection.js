/*
 * selection.js: selections as `portolan select --within` reads them: {run, x, y, epochs, parts, filters}. The
 * source decides which examples are inside, in float64 on the measures themselves. It takes the measures over the selection's own
 * epochs, at which it was made, so the same examples stay selected while other epochs are shown.
 */

/* A selection of parts on two axes, and filters; null: it would have neither. `epochs` is the range that the view was asked with. A
 * selection made by a program may have filters of its own. */
function selectionObject(run, epochs, { x, y, parts }, filters) {
  const object = { run, epochs };
  if (parts.length > 0) Object.assign(object, { x, y, parts });
  if (Object.keys(filters).length > 0) object.filters = filters;
  return object.parts || object.filters ? object : null;
}

export const NOTHING = { x: "", y: "", parts: [] };

export const isSelecting = ({ selection }) => selection.parts.length > 0 || Boolean(selection.filters);

/* Was the selection made at epochs that are not those shown? */
export function isElsewhen({ selection, view }) {
  const { epochs } = selection;
  return Boolean(view) && isSelecting({ selection }) && epochs !== undefined && epochs !== view.range && epochs !== epochsOf(view);
}

/* The selection, for questions about the view that is shown; null: nothing is selected. */
export function selectionNow(state) {
  const { selection, filters } = state;
  if (!isSelecting(state)) return null;
  const together = selection.filters ? both(filters, selection.filters) : filters;
  return selectionObject(state.run, selection.epochs ?? state.view?.range ?? state.epochs, selection, together);
}

/* The examples that pass the filters, as a selection; null: there are no filters. */
export function filteredNow(state) {
  return selectionObject(state.run, state.view?.range ?? state.epochs, { parts: [] }, state.filters);
}

/* The change of state that selects what a selection object holds. An outline brings back the filters with which it was drawn; filters
 * alone, as of ids, become the selection's own, so that the map still shows all others. */
export function toSelect({ x, y, parts = [], epochs, filters = {} }) {
  if (parts.length > 0) return { selection: { x, y, parts, epochs }, filters };
  return { selection: { ...NOTHING, epochs, filters }, filters: {} };
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
 * A selection for an export. It names the epochs that are there now, so that it can be repeated on a run that grows. It has the
 * digests of its measures and labels, by which a command sees that an observation was replaced. Both come from the view of its own epochs.
 */
export function repeatable(state, object) {
  const view = [state.selected?.own, state.view].find((one) => one && [one.range, epochsOf(one)].includes(object.epochs));
  if (!view) return object; /* its view is still being loaded */
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

/* The variability at which the ambiguous region begins. Examples that do not vary are never ambiguous. */
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

/* How many of the examples that pass the filters are in each region. */
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

/* Filters that let through the examples that pass both. */
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
