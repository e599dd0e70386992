/*
 * filters.js: chooses the examples to show: by label, by measures, by columns of the user's file, by a search in ids and
 * texts. Examples that do not pass vanish from the map, and are never selected.
 */
import { aboutOf } from "./about.js";
import { columnFilters } from "./column_filters.js";
import { button, count, element, fillSelect, words } from "./dom.js";
import { rangeRow, withFilter } from "./filter_rows.js";
import { labelFilter } from "./label_filter.js";
import { columnOf } from "./axis_columns.js";
import { same } from "./state.js";

const PRESET = ["correctness", "forgetting_events", "task_loss"];

function rangeFilters(state) {
  const rows = element("div");
  const more = element("select", { "aria-label": "Filter by another measure" });
  const added = new Set();
  more.addEventListener("change", () => {
    added.add(more.value);
    show();
  });
  let shown = null;
  function show() {
    if (!state.view || rows.contains(document.activeElement)) return;
    const names = state.view.columns.map(({ name }) => name);
    const used = names.filter((name) => PRESET.includes(name) || added.has(name) || state.filters[name]);
    const key = JSON.stringify([used, state.filters, names]);
    if (key === shown) return;
    shown = key;
    rows.replaceChildren(...used.map((name) => rangeRow(state, name, words(name), columnOf(state.view, name), aboutOf(state.view, name))));
    fillSelect(more, [["", "another measure…"], ...names.filter((name) => !used.includes(name)).map((name) => [name, words(name), aboutOf(state.view, name)])], "");
  }
  /* Later: a field that is left by Tab changes the filters before the next one has the focus. */
  const showLater = () => setTimeout(show);
  state.subscribe(["view", "filters"], showLater);
  rows.addEventListener("focusout", showLater);
  return element("div", {}, rows, more);
}

/* Clears a filter of ids too, which a link or a program may have set. */
function searchFilter(state) {
  const input = element("input", { type: "search", placeholder: "id or text", "aria-label": "Search ids and texts" });
  const result = element("p", { role: "status" });
  const all = button("Show all", () => state.set({ filters: withFilter(withFilter(state.filters, "id", null), "text", null) }), { hidden: true });
  const search = () => {
    const filter = input.value === "" ? null : { contains: [input.value] };
    const filters = withFilter(state.filters, "text", filter);
    if (same(filters, state.filters)) return;
    result.textContent = filter ? "Searching…" : "";
    state.set({ filters });
  };
  const show = () => {
    const { text, id } = state.filters;
    all.hidden = !text && !id;
    if (document.activeElement !== input) input.value = text?.contains?.join(" ") ?? "";
  };
  const tell = () => {
    result.textContent = state.filters.text && state.shown && !state.error ? `${count(state.shown.count)} pass the filters.` : "";
  };
  state.subscribe(["filters"], show);
  state.subscribe(["shown", "error"], tell);
  const submit = (event) => {
    event.preventDefault();
    search();
  };
  const form = element("form", { role: "search", onsubmit: submit }, input, element("button", { type: "submit" }, "Search"));
  show();
  return element("div", {}, form, result, all);
}

export function showFilters(section, parts) {
  const { state } = parts;
  const clear = button("No filters", () => state.set({ filters: {} }));
  const show = () => {
    clear.hidden = Object.keys(state.filters).length === 0;
  };
  state.subscribe(["filters"], show);
  section.append(element("h2", {}, "Filters"), searchFilter(state), labelFilter(parts), rangeFilters(state), columnFilters(parts), clear);
  show();
}
