/*
 * file_within.js: decides which examples a selection holds, as regions/within.c does: exactly, on the measures
 * themselves as float64, even-odd, edges inside, bounds inclusive. So the ids agree.
 *
 * `examples` is a FileExamples (file_examples.js).
 */
import { SourceError } from "./source.js";

const wrong = (text) => new SourceError(400, text);

/* A number as a whole multiple of 2^-1074, which all of them are. */
function wholeOf(value) {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0];
  const exponent = (bits >> 52n) & 0x7ffn;
  const digits = bits & 0xfffffffffffffn;
  const size = exponent > 0n ? (digits | 0x10000000000000n) << (exponent - 1n) : digits;
  return bits >> 63n ? -size : size;
}

/* As regions/orientation.c: above 0 where the point is to the left of the line from a to b, 0 on it, exactly. */
function orientation(ax, ay, bx, by, x, y) {
  const left = (bx - ax) * (y - ay);
  const right = (x - ax) * (by - ay);
  const error = 2 * Number.EPSILON * (Math.abs(left) + Math.abs(right)) + 2 ** -1022;
  if (Math.abs(left - right) > error) return left - right;
  if ((ax === x && bx === x) || (ay === y && by === y)) return 0; /* the sides of boxes are often on values */
  const [aX, aY, bX, bY, pX, pY] = [ax, ay, bx, by, x, y].map(wholeOf);
  const exact = (bX - aX) * (pY - aY) - (pX - aX) * (bY - aY);
  return Number(exact > 0n) - Number(exact < 0n);
}

/* `vertices` is x0 y0 x1 y1 …. As regions/outline.c: counts the edges that a ray to the right crosses. */
export function isInside(vertices, x, y) {
  let inside = false;
  const end = vertices.length;
  for (let i = 0, before = end - 2; i < end; before = i, i += 2) {
    const ay = vertices[before + 1];
    const by = vertices[i + 1];
    if ((ay < y && by < y) || (ay > y && by > y)) continue;
    const ax = vertices[before];
    const bx = vertices[i];
    if (ax < x && bx < x) continue;
    if (ax <= x || bx <= x) {
      const side = orientation(ax, ay, bx, by, x, y);
      if (side === 0) return true;
      if (side > 0 !== by > ay) continue;
    }
    if (ay > y !== by > y) inside = !inside;
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

/* null in a filter: examples without a value, which pass no bound. */
function keepNumbers(values, filter, kept) {
  const { min = -Infinity, max = Infinity } = filter;
  const wanted = filter.in && new Set(filter.in);
  const passes = (value) => value >= min && value <= max && (!wanted || wanted.has(value));
  const passesNone = Boolean(wanted?.has(null)) && !("min" in filter || "max" in filter);
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (!(Number.isNaN(value) ? passesNone : passes(value))) kept[place] = 0;
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

/* Axes, and filters, that need the user's own file, as regions/within.h tells them from the others. */
export const isAxisOfFile = (name) => Boolean(name?.startsWith("data:"));
export const isOfFile = (name, filter) => name.startsWith("data:") || (name === "text" && "contains" in filter);

function keepOfFile(examples, name, filter, kept) {
  if (name === "text") keepText(examples, filter, kept);
  else if (examples.isCategory(name)) keepCategories(examples, name, filter, kept);
  else keepNumbers(examples.column(name), filter, kept);
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
