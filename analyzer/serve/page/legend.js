/* legend.js: what the colours mean. A gold label can be clicked: it alone is shown; once more: all are. */
import { count, element, number, words } from "./dom.js";
import { categoryColour, numberColour, onTheme } from "./palette.js";

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

export function showLegend(section, { state }) {
  const only = (value) => {
    const { gold, ...filters } = state.filters;
    const isOnly = gold?.in.length === 1 && gold.in[0] === value;
    state.set({ filters: isOnly ? filters : { ...filters, gold: { in: [value] } } });
  };

  const entry = (legend, { label, value, count: examples }, rank) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.backgroundColor = categoryColour(label === "other" && value === null ? 12 : rank);
    const texts = [swatch, element("span", { class: "label" }, label), element("span", { class: "count" }, count(examples))];
    if (legend.name !== "gold" || value === null) return element("li", {}, ...texts);
    const isOn = !state.filters.gold || state.filters.gold.in.includes(value) || state.filters.gold.in.includes(label);
    const title = "Show this label alone, or all again";
    return element("li", {}, element("button", { type: "button", "aria-pressed": String(isOn), title, onclick: () => only(value) }, ...texts));
  };

  const show = () => {
    const legend = state.points?.legend;
    section.hidden = !legend;
    if (!legend) return;
    const title = legend.name === "gold" ? "gold label" : words(legend.name.replace(/^data:/, ""));
    section.replaceChildren(
      element("h2", {}, title),
      legend.kind === "number"
        ? drawRamp(legend)
        : element("ul", {}, ...legend.values.map((value, rank) => entry(legend, value, rank))),
    );
  };

  state.subscribe(["points", "filters"], show);
  onTheme(show);
  show();
}
