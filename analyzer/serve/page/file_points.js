/* file_points.js: points, colours and densities of the file's examples, in the bytes that the server sends. */
import { bendOf, forward, LINEAR } from "./scales.js";
import { SourceError } from "./source.js";
import { lotOf } from "./spread.js";

const NONE = 65535;
const COLOURS_MOST = 12; /* categories with a colour of their own */
const COLOUR_OTHER = COLOURS_MOST;
const COLOUR_NONE = 255;

/* 0 … most for a value between low and high. */
function scale(value, low, high, most) {
  const share = high > low ? (value - low) / (high - low) : 0;
  return share <= 0 ? 0 : share >= 1 ? most : Math.floor(share * most + 0.5);
}

/* A function: where a value lies on the scale of its column. */
const positionOn = (examples, name, scaleName) => forward(bendOf(examples.axis(name), scaleName));

/* A function: the step of a value, 0 … most. */
function stepperOf(examples, name, scaleName, most) {
  const { low, high } = examples.axis(name);
  const position = positionOn(examples, name, scaleName);
  const [from, to] = [position(low), position(high)];
  return (value) => scale(position(value), from, to, most);
}

function fillSteps(examples, name, scaleName, steps, places) {
  const values = examples.column(name);
  const stepOf = stepperOf(examples, name, scaleName, NONE - 1);
  for (let i = 0; i < steps.length; i++) {
    const value = values[places ? places[i] : i];
    steps[i] = Number.isNaN(value) ? NONE : stepOf(value);
  }
}

/* The numbers of the categories that have colours, in their order. */
function colouredOf(examples, colour, pick) {
  const { ranked, numberOf } = examples.categories(colour);
  if (!pick) return ranked.slice(0, COLOURS_MOST);
  if (new Set(pick).size < pick.length || pick.length > COLOURS_MOST) throw new SourceError(400, `Up to ${COLOURS_MOST} categories can have colours, each once.`);
  return pick.map((label) => {
    const number = numberOf(label);
    if (number === undefined) throw new SourceError(400, `'${colour.replace(/^data:/, "")}' has no value '${label}'.`);
    return number;
  });
}

function checkNumbers(colour, pick) {
  if (pick) throw new SourceError(400, `Categories have colours that can be picked, and '${colour}' holds numbers.`);
}

const ranksOf = (numbers) => new Map(numbers.map((number, rank) => [number, rank]));

function colourAll(examples, { colour, colourScale, pick }) {
  const colours = new Uint8Array(examples.n).fill(COLOUR_NONE);
  if (colour === "none") return colours;
  if (examples.isCategory(colour)) {
    const { numbers } = examples.categories(colour);
    const ranks = ranksOf(colouredOf(examples, colour, pick));
    for (let place = 0; place < examples.n; place++) if (numbers[place] >= 0) colours[place] = ranks.get(numbers[place]) ?? COLOUR_OTHER;
    return colours;
  }
  checkNumbers(colour, pick);
  const values = examples.column(colour);
  const stepOf = stepperOf(examples, colour, colourScale, COLOUR_NONE - 1);
  for (let place = 0; place < examples.n; place++) if (!Number.isNaN(values[place])) colours[place] = stepOf(values[place]);
  return colours;
}

/* The meaning of the colours, as GET api/legend answers; null: they have none. */
export function legendOf(examples, colour, { colourScale, pick } = {}) {
  if (colour === "none") return null;
  const column = examples.axis(colour);
  const { kind, none, low, high, least } = column;
  if (kind === "number") {
    checkNumbers(colour, pick);
    return { name: colour, kind, none, low, high, ...(bendOf(column, colourScale) === LINEAR ? {} : { scale: "log", least }) };
  }
  const { numbers, label, value } = examples.categories(colour);
  const coloured = colouredOf(examples, colour, pick);
  const ranks = ranksOf(coloured);
  const counts = Array.from({ length: coloured.length + 1 }, () => 0);
  for (const number of numbers) if (number >= 0) counts[ranks.get(number) ?? coloured.length]++;
  const values = coloured.map((number, rank) => ({ label: label(number), value: value(number), count: counts[rank] }));
  if (counts[coloured.length] > 0) values.push({ label: "other", value: null, count: counts[coloured.length], other: true });
  return { name: colour, kind, none, values };
}

/* n × uint16 x, n × uint16 y, n × uint8 colour: of all, or of these places. */
export function pointBytes(examples, axes, places = null) {
  const n = places ? places.length : examples.n;
  const bytes = new ArrayBuffer(5 * n);
  fillSteps(examples, axes.x, axes.xScale, new Uint16Array(bytes, 0, n), places);
  fillSteps(examples, axes.y, axes.yScale, new Uint16Array(bytes, 2 * n, n), places);
  const colours = colourAll(examples, axes);
  new Uint8Array(bytes, 4 * n).set(places ? Uint8Array.from(places, (place) => colours[place]) : colours);
  return bytes;
}

/* Calls found(place, x, y) for each point in the box, edges included. */
function visitBox(examples, { x, y, box: [left, right, low, high] }, found) {
  const [xs, ys] = [examples.column(x), examples.column(y)];
  for (let place = 0; place < examples.n; place++)
    if (xs[place] >= left && xs[place] <= right && ys[place] >= low && ys[place] <= high) found(place, xs[place], ys[place]);
}

/* A function: the cell of a value, of `count` cells that are even on the scale between the ends. */
function cellerOf(examples, name, scaleName, [from, to], count) {
  const position = positionOn(examples, name, scaleName);
  const [first, last] = [position(from), position(to)];
  if (Number.isNaN(first) || first === -Infinity) throw new SourceError(400, `A logarithmic scale of values above 0 has no place for ${from}.`);
  return (value) => (last > first ? Math.min(Math.floor(((position(value) - first) / (last - first)) * count), count - 1) : 0);
}

/* Counts by cell; row 0 has the lowest y. */
export function countBins(examples, { x, y, xScale, yScale, box, columns, rows }) {
  const columnOf = cellerOf(examples, x, xScale, box.slice(0, 2), columns);
  const rowOf = cellerOf(examples, y, yScale, box.slice(2), rows);
  const bins = new Uint32Array(columns * rows);
  visitBox(examples, { x, y, box }, (place, atX, atY) => bins[rowOf(atY) * columns + columnOf(atX)]++);
  return bins;
}

/* {inside, n, places, bytes}: the points in the box, or about `most` of them: the same places each time. */
export function pointsInside(examples, { box, most, ...axes }) {
  const inside = [];
  visitBox(examples, { ...axes, box }, (place) => inside.push(place));
  const share = most / inside.length;
  const places = Uint32Array.from(share < 1 ? inside.filter((place) => lotOf(place, 2) < share) : inside);
  return { inside: inside.length, n: places.length, places, bytes: pointBytes(examples, axes, places) };
}
