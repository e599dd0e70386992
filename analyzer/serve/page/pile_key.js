/* pile_key.js: says how many points a disc or a colour stands for, where points that share a value are drawn as one (cells.js). */
import { count, element, svgElement } from "./dom.js";
import { drawRamp } from "./ramp.js";

/* Counts whose discs are worth showing: the greatest, and a quarter and a sixteenth of it. */
const countsOf = (most) => [...new Set([most, Math.ceil(most / 4), Math.ceil(most / 16)])];

function drawDiscs({ most, radius }) {
  const sizes = countsOf(most).map((n) => ({ n, r: Math.max(1, radius * Math.sqrt(n / most)) }));
  const height = 2 * sizes[0].r + 2;
  return element("ul", { class: "disc-key" }, ...sizes.map(({ n, r }) => {
    const width = 2 * r + 2;
    const picture = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    picture.append(svgElement("circle", { cx: width / 2, cy: height / 2, r }));
    return element("li", {}, picture, element("span", { class: "count" }, count(n)));
  }));
}

/* Children for the key: none where no example is in view. */
export function pileKey({ pile, most, radius, isSample }) {
  if (most === 0) return [];
  const what = isSample ? "Examples of the sample that share a value" : "Examples that share a value";
  const heading = element("h2", {}, what);
  if (pile === "heat") return [heading, drawRamp({ low: 1, high: most, bend: { name: "ln" }, integer: true })];
  return [heading, drawDiscs({ most, radius })];
}
