/*
 * file_within.js: decides which examples a selection holds, as selection/within.c does: in float64 on the measures
 * themselves, even-odd, edges inside, bounds inclusive. The formulas agree term by term, so that the ids agree.
 *
 * `examples` is {n, column(name), gold, labels, placeOf(id)}: see file_source.js.
 */
import { SourceError } from "./source.js";

const wrong = (text) => new SourceError(400, text);

/* `vertices` is x0 y0 x1 y1 …. `side` is above 0 where the point is to the left of the edge, and 0 on its line. An
 * edge that lies all above or all below the point does not count. */
export function isInside(vertices, x, y) {
  let inside = false;
  const end = vertices.length;
  for (let i = 0, before = end - 2; i < end; before = i, i += 2) {
    const ay = vertices[before + 1];
    const by = vertices[i + 1];
    if ((ay < y && by < y) || (ay > y && by > y)) continue;
    const ax = vertices[before];
    const bx = vertices[i];
    const side = (bx - ax) * (y - ay) - (x - ax) * (by - ay);
    if (side === 0 && x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by)) return true;
    if (ay > y !== by > y && (by > ay ? side > 0 : side < 0)) inside = !inside;
  }
  return inside;
}

function partOf({ op, polygon }) {
  const vertices = new Float64Array(polygon.flat());
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  const least = (values) => values.reduce((a, b) => Math.min(a, b));
  const most = (values) => values.reduce((a, b) => Math.max(a, b));
  return { removes: op === "remove", vertices, left: least(xs), right: most(xs), low: least(ys), high: most(ys) };
}

/* NaN is in no part. */
const isInPart = (part, x, y) =>
  x >= part.left && x <= part.right && y >= part.low && y <= part.high && isInside(part.vertices, x, y);

function keepParts(examples, { x: nameX, y: nameY, parts }, kept) {
  const x = examples.column(nameX);
  const y = examples.column(nameY);
  const made = parts.map(partOf);
  for (let place = 0; place < examples.n; place++) {
    let selected = false;
    for (const part of made) if (selected === part.removes && isInPart(part, x[place], y[place])) selected = !selected;
    kept[place] = selected ? 1 : 0;
  }
}

function keepNumbers(values, filter, kept) {
  const { min = -Infinity, max = Infinity } = filter;
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (!(value >= min && value <= max) || (filter.in && !filter.in.some((wanted) => wanted === value))) kept[place] = 0;
  }
}

/* A filter gives classes by number or name; null: examples without a label. */
function keepLabels({ gold, labels }, filter, kept) {
  const numbers = filter.in.map((value) => {
    if (value === null) return -1;
    if (typeof value === "number") return value;
    const number = labels.indexOf(value);
    if (number < 0) throw wrong(`The run has no class '${value}'.`);
    return number;
  });
  const wanted = new Set(numbers);
  for (let place = 0; place < gold.length; place++) if (!wanted.has(gold[place])) kept[place] = 0;
}

function keepIds(examples, filter, kept) {
  const wanted = new Uint8Array(examples.n);
  for (const id of filter.in) {
    const place = examples.placeOf(String(id));
    if (place >= 0) wanted[place] = 1;
  }
  for (let place = 0; place < examples.n; place++) if (!wanted[place]) kept[place] = 0;
}

/* ASCII letters in lower case; all others stay. */
const fold = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/* A function: does the example at this place have the text in its id or in its texts? Decided as on the server. */
export function finderOf(examples, text) {
  const part = fold(text);
  const has = (value) => value !== null && fold(value).includes(part);
  return (place) => has(examples.id(place)) || Object.values(examples.text(place) ?? {}).some(has);
}

function keepText(examples, { contains }, kept) {
  for (const isFound of contains.map((text) => finderOf(examples, text)))
    for (let place = 0; place < examples.n; place++) if (kept[place] && !isFound(place)) kept[place] = 0;
}

/* null in a filter: examples without a value. */
function keepCategories(examples, name, filter, kept) {
  const { numbers, numberOf } = examples.categories(name);
  const wanted = new Set(filter.in.map((value) => {
    const number = value === null ? -1 : numberOf(value);
    if (number === undefined) throw wrong(`The column '${name.slice(5)}' has no value '${value}'.`);
    return number;
  }));
  for (let place = 0; place < numbers.length; place++) if (!wanted.has(numbers[place])) kept[place] = 0;
}

/* Filters that need the user's own file, as selection/within.h tells them from the others. */
export const isOfFile = (name, filter) => name.startsWith("data:") || (name === "text" && "contains" in filter);

function keepOfFile(examples, name, filter, kept) {
  if (name === "text") keepText(examples, filter, kept);
  else if (examples.extent(name)) keepNumbers(examples.column(name), filter, kept);
  else keepCategories(examples, name, filter, kept);
}

/* One byte per place: 1 is selected. */
export function within(examples, selection) {
  const kept = new Uint8Array(examples.n).fill(1);
  const parts = selection.parts ?? (selection.polygon ? [{ op: "add", polygon: selection.polygon }] : null);
  if (parts) keepParts(examples, { ...selection, parts }, kept);
  for (const [name, filter] of Object.entries(selection.filters ?? {})) {
    if (name === "gold") keepLabels(examples, filter, kept);
    else if (name === "id") keepIds(examples, filter, kept);
    else if (isOfFile(name, filter)) keepOfFile(examples, name, filter, kept);
    else keepNumbers(examples.column(name), filter, kept);
  }
  return kept;
}

export function placesOf(kept) {
  const places = [];
  for (let place = 0; place < kept.length; place++) if (kept[place]) places.push(place);
  return places;
}
