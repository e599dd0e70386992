/* file_points.js: points, colours and densities of the file's examples, in the bytes that the server sends. */
import { lotOf } from "./spread.js";

const NONE = 65535;
const COLOURS_MOST = 12; /* categories with a colour of their own; the others are one more */
const COLOUR_NONE = 255;

/* 0 … most for a value between low and high. */
function scale(value, low, high, most) {
  const share = high > low ? (value - low) / (high - low) : 0;
  return share <= 0 ? 0 : share >= 1 ? most : Math.floor(share * most + 0.5);
}

function fillSteps(examples, name, steps, places) {
  const values = examples.column(name);
  const { low, high } = examples.extent(name);
  for (let i = 0; i < steps.length; i++) {
    const value = values[places ? places[i] : i];
    steps[i] = Number.isNaN(value) ? NONE : scale(value, low, high, NONE - 1);
  }
}

function ranksOf({ ranked }) {
  return new Map(ranked.slice(0, COLOURS_MOST).map((number, rank) => [number, rank]));
}

function colourAll(examples, colour) {
  const colours = new Uint8Array(examples.n).fill(COLOUR_NONE);
  const extent = examples.extent(colour);
  if (extent) {
    const values = examples.column(colour);
    const { low, high } = extent;
    for (let place = 0; place < examples.n; place++)
      if (!Number.isNaN(values[place])) colours[place] = scale(values[place], low, high, COLOUR_NONE - 1);
  } else if (colour !== "none") {
    const categories = examples.categories(colour);
    const ranks = ranksOf(categories);
    for (let place = 0; place < examples.n; place++) {
      const number = categories.numbers[place];
      if (number >= 0) colours[place] = ranks.get(number) ?? COLOURS_MOST;
    }
  }
  return colours;
}

/* The meaning of the colours, as GET api/legend answers; null: they have none. */
export function legendOf(examples, colour) {
  if (colour === "none") return null;
  const extent = examples.extent(colour);
  const none = colourAll(examples, colour).reduce((count, byte) => count + (byte === COLOUR_NONE ? 1 : 0), 0);
  if (extent) return { name: colour, kind: "number", none, low: extent.low, high: extent.high };
  const categories = examples.categories(colour);
  const ranks = ranksOf(categories);
  const counts = Array.from({ length: ranks.size + 1 }, () => 0);
  for (const number of categories.numbers) if (number >= 0) counts[ranks.get(number) ?? ranks.size]++;
  const values = [...ranks.keys()].map((number, rank) => ({ label: categories.label(number), value: categories.value(number), count: counts[rank] }));
  if (counts[ranks.size] > 0) values.push({ label: "other", value: null, count: counts[ranks.size] });
  return { name: colour, kind: "category", none, values };
}

/* n × uint16 x, n × uint16 y, n × uint8 colour: of all, or of these places. */
export function pointBytes(examples, { x, y, colour }, places = null) {
  const n = places ? places.length : examples.n;
  const bytes = new ArrayBuffer(5 * n);
  fillSteps(examples, x, new Uint16Array(bytes, 0, n), places);
  fillSteps(examples, y, new Uint16Array(bytes, 2 * n, n), places);
  const colours = colourAll(examples, colour);
  new Uint8Array(bytes, 4 * n).set(places ? Uint8Array.from(places, (place) => colours[place]) : colours);
  return bytes;
}

/* Calls found(place, x, y) for each point in the box, edges included. */
function visitBox(examples, { x, y, box: [left, right, low, high] }, found) {
  const [xs, ys] = [examples.column(x), examples.column(y)];
  for (let place = 0; place < examples.n; place++)
    if (xs[place] >= left && xs[place] <= right && ys[place] >= low && ys[place] <= high) found(place, xs[place], ys[place]);
}

/* Counts by cell; row 0 has the lowest y. */
export function countBins(examples, { x, y, box, columns, rows }) {
  const [left, right, low, high] = box;
  const bins = new Uint32Array(columns * rows);
  visitBox(examples, { x, y, box }, (place, atX, atY) => {
    const column = Math.floor(((atX - left) / (right - left)) * columns);
    const row = Math.floor(((atY - low) / (high - low)) * rows);
    bins[Math.min(row, rows - 1) * columns + Math.min(column, columns - 1)]++;
  });
  return bins;
}

/* {inside, n, places, bytes}: the points in the box, or about `most` of them: the same places each time. */
export function pointsInside(examples, { x, y, colour, box, most }) {
  const inside = [];
  visitBox(examples, { x, y, box }, (place) => inside.push(place));
  const share = most / inside.length;
  const places = Uint32Array.from(share < 1 ? inside.filter((place) => lotOf(place, 2) < share) : inside);
  return { inside: inside.length, n: places.length, places, bytes: pointBytes(examples, { x, y, colour }, places) };
}
