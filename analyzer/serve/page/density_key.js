/*
 * density_key.js: says what the map shows where many examples lie: the colour and opacity of points over one another, the shading
 * behind a sample, and the lines of equal density, which are switched here.
 */
import { FROM, lineWidth } from "./contours.js";
import { count, element, fillSelect, number, refill, svgElement } from "./dom.js";
import { opacityOf } from "./map.js";
import { onTheme, plainColour } from "./palette.js";

const DENSE = 0.98; /* an opacity that looks like 1 */
const WIDTH = 128; /* of the sample of opacities */

const CHOICES = [
  ["auto", `from ${count(FROM)}`],
  ["on", "always"],
  ["off", "never"],
];

const MIXED = "Points over one another have the mean of their colours, in any order.";
const NOT_MIXED = "Of points over one another, the one drawn last is on top: this browser cannot mix their colours.";

/* From one point to as many as look opaque. */
function drawOpacities(opacity) {
  const most = Math.max(2, Math.ceil(Math.log(1 - DENSE) / Math.log(1 - opacity)));
  const canvas = element("canvas", { width: WIDTH, height: 1, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  context.fillStyle = plainColour();
  const edge = (i) => Math.round((i * WIDTH) / most);
  for (let i = 0; i < most; i++) {
    context.globalAlpha = 1 - (1 - opacity) ** (i + 1);
    context.fillRect(edge(i), 0, edge(i + 1) - edge(i), 1);
  }
  return element("div", { class: "opacities" }, element("span", {}, "1 point"), canvas, element("span", {}, `${most} or more`));
}

function describeShading({ counts, columns, rows }) {
  return `The shading behind the points counts all examples in view: the stronger, the more, up to ${count(d3.max(counts))} in a cell (of ${count(columns)} × ${count(rows)}).`;
}

function drawLevel(level, i) {
  const line = svgElement("svg", { width: 22, height: 10, "aria-hidden": "true" });
  line.append(svgElement("path", { d: "M0,5H22", class: "line", "stroke-width": lineWidth(i) }));
  return element("li", {}, line, number(level, Number.isInteger(level)));
}

function describeLines({ examples, share, factor, levels, isEstimate }) {
  const of = isEstimate ? `about ${count(examples)} in view, judged by the sample` : `${count(examples)} in view`;
  const next = levels.length > 1 ? ` Each next line stands for ${factor} times as many.` : "";
  return `The outermost line surrounds ${Math.round(100 * share)}% of ${of}.${next}`;
}

export function showDensityKey(section, { state, map }) {
  const choice = element("select", { onchange: () => state.set({ contours: choice.value }) });
  const colours = element("div");
  const lines = element("div", { class: "lines" });
  section.append(element("h2", {}, "Density"), colours, element("label", {}, "Density lines ", choice), lines);

  const showColours = () => {
    const { points, marks, shown } = state;
    const { works, mixes } = map.renderer;
    const shading = points.density && !shown ? element("p", {}, describeShading(points.density)) : null;
    if (works) refill(colours, element("p", {}, mixes ? MIXED : NOT_MIXED), drawOpacities(opacityOf(marks.drawn)), shading);
    else refill(colours, element("p", {}, "The map has no points. The stronger the shading, the more examples lie there."));
  };

  const showLines = () => {
    fillSelect(choice, CHOICES, state.contours);
    const { lines: found } = state;
    lines.hidden = !found;
    if (!found) return;
    refill(lines, element("p", {}, "Examples on 10 × 10 pixels, at least:"), element("ul", {}, ...found.levels.map(drawLevel)), element("p", {}, describeLines(found)));
  };

  const show = () => {
    section.hidden = !state.points || !state.marks || map.cells.areShown;
    if (section.hidden) return;
    showColours();
    showLines();
  };
  state.subscribe(["points", "marks", "shown", "lines", "contours", "graphics", "mixes", "piles"], show);
  onTheme(show);
  show();
}
