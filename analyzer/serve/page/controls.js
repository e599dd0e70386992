/* controls.js: what is on the axes, what colours the points, on which scales, and how points that share a value are drawn. */
import { aboutOf, describeSelect, nameOf, wordsButton } from "./about.js";
import { button, element, fillSelect } from "./dom.js";
import { axesOf } from "./loader.js";

const AXES = [
  ["x", "x", "xScale"],
  ["y", "y", "yScale"],
  ["colour", "Colour", "colourScale"],
];

const PILES = [
  ["jitter", "spread"],
  ["size", "size"],
  ["heat", "heat"],
];

function choicesOf(view) {
  const { columns, gold, data_columns: own } = view;
  const named = (names) => names.map((name) => [name, nameOf(name), aboutOf(view, name)]);
  const groups = [{ group: "Measures", choices: named(columns.map(({ name }) => name)) }];
  if (gold?.values.length > 0) groups.unshift({ group: "Labels", choices: named(["gold"]) });
  if (own.length > 0) groups.push({ group: "Your file's columns", choices: named(own.map((name) => `data:${name}`)) });
  return groups;
}

/* Is there a logarithm to choose? Numbers have one. */
function hasLog({ points }, key) {
  if (!points) return false;
  return key === "colour" ? points.legend?.kind === "number" : points[key].kind === "number";
}

/* Another column begins on a linear scale, and with everything in view. */
function choose(state, key, scale, value) {
  state.set({ [key]: value, [scale]: "linear", ...(key === "colour" ? {} : { box: null }) });
}

export function showControls(section, { state }) {
  const rows = AXES.map(([key, label, scale]) => {
    const select = element("select", { id: `choose-${key}`, onchange: () => choose(state, key, scale, select.value) });
    const log = button("log", () => state.set({ [scale]: state[scale] === "log" ? "linear" : "log" }), { class: "toggle", id: `log-${key}`, title: "Logarithmic scale" });
    log.setAttribute("aria-label", `Logarithmic scale of ${label}`);
    const about = describeSelect(select, state);
    section.append(element("span", { class: "axis" }, element("label", {}, `${label} `, select), " ", log), about.text);
    return { key, scale, select, log, about };
  });
  const pile = element("select", { id: "choose-pile", title: "How points that share a value are drawn", onchange: () => state.set({ pile: pile.value }) });
  fillSelect(pile, PILES, state.pile);
  const piles = element("label", { hidden: true }, "Same values ", pile);
  section.append(piles, wordsButton(state));

  state.subscribe(["view", "x", "y", "colour", "saved"], () => {
    if (!state.view) return;
    const axes = axesOf(state, state.view);
    const choices = choicesOf(state.view);
    const saved = state.saved.length > 0 || state.colour === "saved" ? [["saved", "saved selections"]] : [];
    for (const { key, select, about } of rows) {
      fillSelect(select, key === "colour" ? [["none", "one colour"], ...saved, ...choices] : choices, axes[key]);
      about.follow();
    }
  });
  state.subscribe(["points", "xScale", "yScale", "colourScale", "pile"], () => {
    for (const { key, scale, log } of rows) {
      log.hidden = !hasLog(state, key);
      log.setAttribute("aria-pressed", String(state[scale] === "log"));
    }
    piles.hidden = !state.points || (state.points.x.grid === 0 && state.points.y.grid === 0);
    pile.value = state.pile;
  });
}
