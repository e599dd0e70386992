/* ramp.js: a bar of colours with ticks, from a lowest to a highest number, on a linear or a logarithmic scale. */
import { element } from "./dom.js";
import { numberColour } from "./palette.js";
import { scaleOf } from "./scales.js";
import { fewTicks, textWidth } from "./ticks.js";

const COLOURS = 128;
const WIDTH = 236; /* pixels, about: so many ticks fit */

function drawColours() {
  const canvas = element("canvas", { width: COLOURS, height: 1, class: "ramp", "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  for (let i = 0; i < COLOURS; i++) {
    context.fillStyle = numberColour(i / (COLOURS - 1));
    context.fillRect(i, 0, 1, 1);
  }
  return canvas;
}

/* A text begins or ends at the bar's end where it would go beyond. */
function placeText(made, share, text) {
  const half = textWidth(text) / 2 / WIDTH;
  const shift = share < half ? 0 : share > 1 - half ? 100 : 50;
  made.style.left = `${100 * share}%`;
  made.style.transform = `translateX(-${shift}%)`;
}

/* {low, high, bend, integer} */
export function drawRamp({ low, high, ...column }) {
  const scale = scaleOf(column.bend).domain([low, high]).range([0, WIDTH]);
  const marks = fewTicks(scale, column).map(({ value, text }) => {
    const share = low < high ? scale(value) / WIDTH : 0.5;
    const line = element("i");
    const label = element("span", {}, text);
    line.style.left = `${100 * share}%`;
    placeText(label, share, text);
    return [line, label];
  });
  return element("div", { class: "numbers" }, drawColours(), element("div", { class: "ramp-ticks" }, ...marks.flat()));
}
