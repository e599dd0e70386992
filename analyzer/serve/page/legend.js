/* legend.js: says what the colours mean, and how many examples have no value there or on an axis. A click on a category, or on "no
 * value", shows its examples alone; a second click shows all again. */
import { columnOf } from "./axis_columns.js";
import { aboutOf, nameOf } from "./about.js";
import { count, element, refill } from "./dom.js";
import { categoryColour, isOthers, noneLook, onTheme, OTHERS } from "./palette.js";
import { Picks } from "./picks.js";
import { pileKey } from "./pile_key.js";
import { drawRamp } from "./ramp.js";
import { bendOf } from "./scales.js";

/* A filter takes a label by its number, a value of the user's file by its text, and null for those without. */
const valueOf = (legend, { label, value }) => (legend.name === "gold" ? value : label);

/* The number of a category's colour. */
const rankOf = (category, i) => (category.other ? OTHERS : i);

function rampOf(legend, view) {
  const { low, high, scale, least = null } = legend;
  return drawRamp({ low, high, bend: bendOf({ kind: "number", low, least }, scale), integer: columnOf(view, legend.name)?.integer });
}

export function showLegend(section, parts) {
  const { state } = parts;
  const picks = new Picks(parts);
  const colours = element("div");
  const piles = element("div");
  const axes = element("div");
  section.append(colours, picks.element, piles, axes);

  const only = (name, value) => {
    const { [name]: filter, ...filters } = state.filters;
    const isOnly = filter?.in?.length === 1 && filter.in[0] === value;
    state.set({ filters: isOnly ? filters : { ...filters, [name]: { in: [value] } } });
  };

  const swatchOf = (name, rank) => {
    const { colour, isRing } = rank === null ? noneLook({ name }) : { colour: categoryColour(rank), isRing: false };
    const swatch = element("span", { class: isRing ? "swatch ring" : "swatch" });
    swatch.style[isRing ? "borderColor" : "backgroundColor"] = colour;
    return swatch;
  };

  /* rank: null is that of no value. value: as a filter of the column `name` takes it; undefined: there is no such filter. */
  const entry = (name, { label, count: examples }, rank, value) => {
    const texts = [swatchOf(name, rank), element("bdi", { class: "label", title: label }, label), element("span", { class: "count" }, count(examples))];
    if (value === undefined) return element("li", {}, ...texts);
    const wanted = state.filters[name]?.in;
    const isOn = !wanted || wanted.includes(value) || wanted.includes(label);
    const title = "Show this value alone, or all again";
    return element("li", {}, element("button", { type: "button", "aria-pressed": String(isOn), "data-key": value === null ? `no ${name}` : value, title, onclick: () => only(name, value) }, ...texts));
  };

  /* No filter knows the saved selections. */
  const isFilter = (name) => name !== "saved";
  const noValue = (name, examples) => entry(name, { label: isFilter(name) ? "no value" : "in none", count: examples }, null, isFilter(name) ? null : undefined);

  const showColours = (legend) => {
    if (!legend) {
      colours.replaceChildren();
      return;
    }
    const values = legend.values ?? [];
    const entries = values.map((category, i) => {
      const rank = rankOf(category, i);
      return entry(legend.name, category, rank, isOthers(rank) || !isFilter(legend.name) ? undefined : valueOf(legend, category));
    });
    if (legend.none > 0) entries.push(noValue(legend.name, legend.none));
    const hasSum = values.length > 0 && (legend.none > 0 || values.some((category, i) => isOthers(rankOf(category, i))));
    const sum = hasSum ? element("p", { class: "sum" }, "together ", element("span", { class: "count" }, count(d3.sum(values, (one) => one.count) + legend.none))) : null;
    refill(colours, element("h2", { title: aboutOf(state.view, legend.name) }, nameOf(legend.name)), legend.kind === "number" ? rampOf(legend, state.view) : null, element("ul", {}, ...entries), sum);
  };

  /* An axis that is the colour as well has its entry there. */
  const showAxes = ({ x, y, legend }) => {
    const lacking = [x, y].filter((column, i) => column.none > 0 && column.name !== legend?.name && (i === 0 || column.name !== x.name));
    refill(axes, ...lacking.flatMap((column) => [element("h2", { title: aboutOf(state.view, column.name) }, nameOf(column.name)), element("ul", {}, noValue(column.name, column.none))]));
    return lacking.length > 0;
  };

  const show = () => {
    const { points } = state;
    const hasAxes = points ? showAxes(points) : false;
    const isHeat = state.piles?.pile === "heat"; /* whose colours are counts */
    showColours(isHeat ? null : points?.legend);
    picks.show();
    if (isHeat) picks.element.hidden = true;
    section.hidden = !points?.legend && !hasAxes && !state.piles;
  };

  state.subscribe(["points", "filters", "piles"], show);
  state.subscribe(["piles"], () => piles.replaceChildren(...(state.piles ? pileKey(state.piles) : [])));
  onTheme(() => {
    show();
    if (state.piles) piles.replaceChildren(...pileKey(state.piles));
  });
  show();
}
