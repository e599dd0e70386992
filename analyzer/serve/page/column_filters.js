/*
 * column_filters.js: filters on columns of the user's file: a range of numbers, or values of a category. The largest categories
 * have boxes to tick; any other category can be typed.
 */
import { element, fillSelect } from "./dom.js";
import { rangeRow, withFilter } from "./filter_rows.js";
import { isOthers } from "./palette.js";

const PREFIX = "data:";
const NO_VALUE = "no value";

/* The values that have a box: the largest categories, every value that is ticked, and null if any example has no value. */
function valuesOf(legend, wanted, examples) {
  const large = legend.values.filter((_, rank) => !isOthers(rank)).map(({ label }) => label);
  const withValue = legend.values.reduce((sum, { count }) => sum + count, 0);
  const none = withValue < examples ? [null] : [];
  return [...new Set([...large, ...wanted, ...none])];
}

/* Only ticked values pass; without a tick, everything passes. */
function valueRow(state, name, legend) {
  const filter = PREFIX + name;
  const wanted = state.filters[filter]?.in ?? [];
  const row = element("fieldset", { class: "labels" }, element("legend", {}, name));
  const set = (values) => state.set({ filters: withFilter(state.filters, filter, values.length > 0 ? { in: values } : null) });
  const ticked = () => [...row.querySelectorAll("input:checked")].map(({ value }) => JSON.parse(value));
  const box = (value) => {
    const input = element("input", { type: "checkbox", value: JSON.stringify(value), checked: wanted.includes(value), onchange: () => set(ticked()) });
    return element("label", {}, input, " ", value === null ? element("i", {}, NO_VALUE) : element("bdi", {}, value));
  };
  row.append(...valuesOf(legend, wanted, state.view.points).map(box));
  if (legend.values.some((_, rank) => isOthers(rank))) {
    const other = element("input", { type: "text", placeholder: "another value", "aria-label": `${name}: another value` });
    other.addEventListener("change", () => {
      if (other.value !== "") set([...new Set([...ticked(), other.value])]);
      other.blur(); /* the row is made again, with this value */
    });
    row.append(other);
  }
  return row;
}

class ColumnFilters {
  #legends = new Map(); /* by run and column: the column's legend, or a promise of it */
  #added = new Set();
  #shown = null;

  constructor({ state, source, loader }) {
    Object.assign(this, { state, source, loader });
    this.rows = element("div");
    this.problem = element("p", { class: "hint", role: "status" });
    this.more = element("select", { "aria-label": "Filter by a column of your file" });
    this.more.addEventListener("change", () => {
      this.#added.add(this.more.value);
      this.#show();
    });
    /* Later: a field that is left by Tab changes the filters before the next one has the focus. */
    const showLater = () => setTimeout(() => this.#show());
    this.rows.addEventListener("focusout", showLater);
    state.subscribe(["view", "filters"], showLater);
  }

  /* Asks once. undefined: the answer has not come yet. */
  #legendOf(name) {
    const { state, source, loader } = this;
    const key = JSON.stringify([state.view.run, name]);
    if (!this.#legends.has(key)) {
      this.#legends.set(key, undefined);
      source.legend(loader.at(), PREFIX + name).then(
        (legend) => {
          this.#legends.set(key, legend);
          this.#show();
        },
        (error) => {
          this.#legends.delete(key); /* the next version of the view asks again */
          this.problem.textContent = error.gone ? "" : error.message;
        },
      );
    }
    return this.#legends.get(key);
  }

  #rowOf(name) {
    const legend = this.#legendOf(name);
    if (!legend) return null;
    return legend.kind === "number" ? rangeRow(this.state, PREFIX + name, name, legend) : valueRow(this.state, name, legend);
  }

  #show() {
    const { view, filters } = this.state;
    if (!view || this.rows.contains(document.activeElement)) return;
    const used = view.data_columns.filter((name) => this.#added.has(name) || filters[PREFIX + name]);
    const key = JSON.stringify([view.run, used, filters, used.map((name) => Boolean(this.#legendOf(name))), view.data_columns]);
    if (key === this.#shown) return;
    this.#shown = key;
    this.problem.textContent = "";
    this.rows.replaceChildren(...used.map((name) => this.#rowOf(name)).filter((row) => row !== null));
    const others = view.data_columns.filter((name) => !used.includes(name));
    fillSelect(this.more, [["", "a column of your file…"], ...others.map((name) => [name, name])], "");
    this.more.hidden = others.length === 0;
  }
}

export function columnFilters(parts) {
  const { rows, more, problem } = new ColumnFilters(parts);
  return element("div", { id: "column-filters" }, rows, more, problem);
}
