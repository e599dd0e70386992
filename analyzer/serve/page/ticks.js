/* ticks.js: which values are marked along an axis or a ramp, and their texts. */
import { labelOf } from "./columns.js";
import { count, number } from "./dom.js";

const APART = { across: 58, up: 26 }; /* pixels between two values */
const NAMES_APART = { across: 52, up: 14 };
const LONG = 100; /* characters: no axis has room for more */
const FONT = '11px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'; /* as style.css has it for axes */

/* A number that stands at a tick: 1e-5, where number() would say 1.00e-5. Between whole numbers there is no text. */
export function sayTick(value, integer) {
  if (integer) return Number.isInteger(value) ? count(value) : "";
  return number(value).replace(/\.?0+e/, "e");
}

let pen = null;

/* Pixels that a text takes on an axis. */
export function textWidth(text) {
  pen = pen ?? new OffscreenCanvas(1, 1).getContext("2d");
  pen.font = FONT;
  return pen.measureText(text).width;
}

/* The text within so many pixels: what is too long loses its middle, as names often differ at their ends. */
export function shorten(text, room) {
  if (text.length <= LONG && textWidth(text) <= room) return text;
  const characters = Array.from(text.slice(0, LONG));
  const end = Array.from(text.slice(-LONG));
  const cut = (kept) => `${characters.slice(0, Math.ceil(kept / 2)).join("")}…${kept > 1 ? end.slice(-Math.floor(kept / 2)).join("") : ""}`;
  let [from, to] = [0, Math.min(LONG, Array.from(text).length - 1)];
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (textWidth(cut(middle)) <= room) from = middle;
    else to = middle - 1;
  }
  return cut(from);
}

/* 0 and, on both of its sides, these multiples of every stride-th power of ten between low and high. */
function powers({ low, high, least }, multiples, stride) {
  const found = low <= 0 && high >= 0 ? [0] : [];
  const most = Math.max(Math.abs(low), Math.abs(high));
  const first = Math.floor(Math.log10(least));
  for (let power = first; power <= Math.log10(most); power++) {
    if (power % stride !== 0) continue;
    for (const multiple of multiples) {
      const value = Number(`${multiple}e${power}`); /* 10 ** -5 is not quite 1e-5 */
      if (value >= least) found.push(value, -value);
    }
  }
  return found.filter((value) => value >= low && value <= high).sort((a, b) => a - b);
}

/* The values of a logarithmic axis: as many as stand `apart` pixels from each other, and from 0. */
function logTicks(scale, { constant }, apart, most) {
  const [low, high] = scale.domain();
  const areApart = (values) => values.every((value, i) => i === 0 || Math.abs(scale(value) - scale(values[i - 1])) >= apart);
  const isOff0 = (value) => value === 0 || low > 0 || high < 0 || Math.abs(scale(value) - scale(0)) >= apart;
  const bounds = { low, high, least: constant ?? low };
  for (const [multiples, stride] of [[[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 5], [[1], 10], [[1], 20]]) {
    const values = powers(bounds, multiples, stride).filter(isOff0);
    if (values.length > 2 && areApart(values)) return values;
  }
  return roundTicks(low, high, areApart, most);
}

/* Of a part of an axis that holds hardly any power of ten: as many round numbers as stand apart; else its ends. */
function roundTicks(low, high, areApart, most) {
  for (let wanted = most; wanted > 1; wanted--) {
    const values = d3.ticks(low, high, wanted);
    if (values.length > 1 && areApart(values)) return values;
  }
  return [low, high];
}

/* Names that fit: [{value, text, title}]. */
function nameTicks(scale, column, direction, room) {
  const [low, high] = scale.domain();
  const size = Math.abs(scale(1) - scale(0));
  const stride = Math.max(1, Math.ceil(NAMES_APART[direction] / size));
  const ticks = [];
  for (let value = Math.ceil(low / stride) * stride; value <= high; value += stride) {
    const name = labelOf(column, value);
    if (name === undefined) continue;
    ticks.push({ value, text: shorten(name, direction === "up" ? room : stride * size - 8), title: name });
  }
  return ticks;
}

/* [{value, text, title}] along a scale; a title is the whole name, of which the text may be the beginning. direction: "across" or "up";
 * most: about how many; room: pixels of a name beside an axis that goes up. */
export function ticksOf(scale, column, { direction, most, room }) {
  if (column.kind === "category") return nameTicks(scale, column, direction, room);
  const { bend } = column;
  const values = bend.name === "linear" ? scale.ticks(most) : logTicks(scale, bend, APART[direction], most);
  return values.map((value) => ({ value, text: sayTick(value, column.integer) }));
}

/* From three to five numbers along a scale: round ones, or, where there are hardly any, its ends and its middle: [{value, text}]. */
export function fewTicks(scale, { bend, integer }) {
  const fits = (values) => values.length >= 3 && values.length <= 5;
  const isShown = (value) => !integer || Number.isInteger(value);
  const rounded = bend.name === "linear" ? [5, 4, 3, 2].map((wanted) => scale.ticks(wanted).filter(isShown)) : [logTicks(scale, bend, APART.across, 5).filter(isShown)];
  const [low, high] = scale.range();
  const values = rounded.find(fits) ?? (integer ? scale.domain() : [low, (low + high) / 2, high].map(scale.invert));
  return [...new Set(values)].map((value) => ({ value, text: sayTick(value, integer) }));
}
