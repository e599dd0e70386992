/* legend.js: says what the colours mean. A click on a gold label, or on a value of the user's own column, shows its examples
 * alone; a second click shows all again. */
import { aboutOf, nameOf } from "./about.js";
import { count, element, number, refill } from "./dom.js";
import { categoryColour, isOthers, noneLook, numberColour, onTheme } from "./palette.js";

function drawRamp(legend) {
  const canvas = element("canvas", { width: 128, height: 1, class: "ramp", "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  for (let i = 0; i < 128; i++) {
    context.fillStyle = numberColour(i / 127);
    context.fillRect(i, 0, 1, 1);
  }
  return element(
    "div",
    { class: "numbers" },
    element("span", {}, number(legend.low)),
    canvas,
    element("span", {}, number(legend.high)),
  );
}

/* A filter takes a label by its number, a value of the user's file by its text, and null for those without. */
const isFilter = ({ kind, name }) => kind === "category" && name !== "saved";
const valueOf = (legend, { label, value }) => (legend.name === "gold" ? value : label);

export function showLegend(section, { state }) {
  const only = (name, value) => {
    const { [name]: filter, ...filters } = state.filters;
    const isOnly = filter?.in?.length === 1 && filter.in[0] === value;
    state.set({ filters: isOnly ? filters : { ...filters, [name]: { in: [value] } } });
  };

  /* rank: null is that of no value. */
  const entry = (legend, category, rank) => {
    const { label, count: examples } = category;
    const { colour, isRing } = rank === null ? noneLook(legend) : { colour: categoryColour(rank), isRing: false };
    const swatch = element("span", { class: isRing ? "swatch ring" : "swatch" });
    swatch.style[isRing ? "borderColor" : "backgroundColor"] = colour;
    const texts = [swatch, element("bdi", { class: "label" }, label), element("span", { class: "count" }, count(examples))];
    if (!isFilter(legend) || isOthers(rank)) return element("li", {}, ...texts);
    const value = rank === null ? null : valueOf(legend, category);
    const wanted = state.filters[legend.name]?.in;
    const isOn = !wanted || wanted.includes(value) || wanted.includes(label);
    const title = "Show this value alone, or all again";
    return element("li", {}, element("button", { type: "button", "aria-pressed": String(isOn), "data-key": value ?? "", title, onclick: () => only(legend.name, value) }, ...texts));
  };

  const show = () => {
    const legend = state.points?.legend;
    section.hidden = !legend;
    if (!legend) return;
    const entries = (legend.values ?? []).map((value, rank) => entry(legend, value, rank));
    if (legend.none > 0) entries.push(entry(legend, { label: legend.name === "saved" ? "in none" : "no value", count: legend.none }, null));
    refill(section, element("h2", { title: aboutOf(state.view, legend.name) }, nameOf(legend.name)), legend.kind === "number" ? drawRamp(legend) : null, element("ul", {}, ...entries));
  };

  state.subscribe(["points", "filters"], show);
  onTheme(show);
  show();
}
