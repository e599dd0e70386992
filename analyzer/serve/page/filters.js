/*
 * filters.js: which examples are shown: by label, by measures, by a search in ids and texts. What does not pass
 * vanishes from the map, and is never selected.
 */
import { button, count, element, fillSelect, words } from "./dom.js";

const PRESET = ["correctness", "forgetting_events"];

/* Without `name`, if the filter lets everything through. */
function withFilter(filters, name, filter) {
  const others = Object.entries(filters).filter(([other]) => other !== name);
  return Object.fromEntries(filter && Object.keys(filter).length > 0 ? [...others, [name, filter]] : others);
}

function labelFilter(state) {
  const list = element("fieldset", { class: "labels" });
  const change = () => {
    const boxes = [...list.querySelectorAll("input")];
    const on = boxes.filter(({ checked }) => checked).map(({ value }) => JSON.parse(value));
    state.set({ filters: withFilter(state.filters, "gold", on.length === boxes.length ? null : { in: on }) });
  };
  const show = () => {
    const values = (state.view?.gold?.values ?? []).filter(({ value }) => value !== null);
    list.hidden = values.length < 2;
    const wanted = state.filters.gold?.in;
    list.replaceChildren(
      element("legend", {}, "Gold label"),
      ...values.map(({ label, value }) => {
        const checked = !wanted || wanted.includes(value) || wanted.includes(label);
        return element("label", {}, element("input", { type: "checkbox", value: JSON.stringify(value), checked, onchange: change }), ` ${label}`);
      }),
    );
  };
  state.subscribe(["view", "filters"], show);
  return list;
}

/* One measure, from and to. */
function rangeRow(state, name) {
  const { low, high } = state.view.columns.find((column) => column.name === name);
  const filter = state.filters[name] ?? {};
  const field = (end, otherwise) =>
    element("input", {
      type: "number",
      step: "any",
      value: filter[end] ?? "",
      placeholder: Number(otherwise.toPrecision(3)),
      "aria-label": `${words(name)}, ${end === "min" ? "from" : "to"}`,
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
  return element("div", { class: "range" }, element("span", {}, words(name)), from, "–", to);
}

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
    rows.replaceChildren(...used.map((name) => rangeRow(state, name)));
    fillSelect(more, [["", "another measure…"], ...names.filter((name) => !used.includes(name)).map((name) => [name, words(name)])], "");
  }
  state.subscribe(["view", "filters"], show);
  rows.addEventListener("focusout", () => setTimeout(show));
  return element("div", {}, rows, more);
}

function searchFilter(state, source, loader) {
  const input = element("input", { type: "search", placeholder: "id or text", "aria-label": "Search ids and texts" });
  const result = element("p", { role: "status" });
  const all = button("Show all", () => state.set({ filters: withFilter(state.filters, "id", null) }), { hidden: true });
  const search = async () => {
    if (input.value === "" || !state.view) return;
    result.textContent = "Searching…";
    try {
      const at = loader.at();
      const found = await source.search(at, input.value);
      const ids = await source.ids(at, { run: at.run, epochs: at.epochs, filters: { confidence: { min: 0 } } });
      const isCut = found.places.length >= 1000;
      const part = found.complete ? "" : isCut ? " The first 1,000 are shown." : ` Only the first ${count(found.searched)} examples were searched.`;
      result.textContent = `${count(found.places.length)} found.${part}`;
      if (found.places.length > 0) state.set({ filters: withFilter(state.filters, "id", { in: found.places.map((place) => ids[place]) }) });
    } catch (error) {
      result.textContent = error.message;
    }
  };
  const show = () => {
    all.hidden = !state.filters.id;
    if (!state.filters.id) result.textContent = "";
  };
  state.subscribe(["filters"], show);
  const submit = (event) => {
    event.preventDefault();
    search();
  };
  const form = element("form", { role: "search", onsubmit: submit }, input, element("button", { type: "submit" }, "Search"));
  return element("div", {}, form, result, all);
}

export function showFilters(section, { state, source, loader }) {
  const clear = button("No filters", () => state.set({ filters: {} }));
  const show = () => {
    clear.hidden = Object.keys(state.filters).length === 0;
  };
  state.subscribe(["filters"], show);
  section.append(element("h2", {}, "Filters"), searchFilter(state, source, loader), labelFilter(state), rangeFilters(state), clear);
  show();
}
