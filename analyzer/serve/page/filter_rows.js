/* filter_rows.js: filters as they are in the state, and a row of the panel for one on numbers. */
import { element } from "./dom.js";

/* `filters` with `filter` as `name`; without `name` if `filter` lets everything through. */
export function withFilter(filters, name, filter) {
  const others = Object.entries(filters).filter(([other]) => other !== name);
  return Object.fromEntries(filter && Object.keys(filter).length > 0 ? [...others, [name, filter]] : others);
}

/* Fields from and to, for the measure or column `title`, whose values go from low to high. `about`: what it means. */
export function rangeRow(state, name, title, { low, high }, about) {
  const filter = state.filters[name] ?? {};
  const field = (end, otherwise) =>
    element("input", {
      type: "number",
      step: "any",
      value: filter[end] ?? "",
      placeholder: Number(otherwise.toPrecision(3)),
      "aria-label": `${title}, ${end === "min" ? "from" : "to"}`,
    });
  const from = field("min", low);
  const to = field("max", high);
  const change = () => {
    const made = {};
    if (from.value !== "") made.min = Number(from.value);
    if (to.value !== "") made.max = Number(to.value);
    state.set({ filters: withFilter(state.filters, name, made) });
  };
  from.addEventListener("change", change);
  to.addEventListener("change", change);
  return element("div", { class: "range" }, element("span", { title: about }, title), from, "–", to);
}
