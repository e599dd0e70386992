/* card.js: one example: its texts, label, measures, and a line of p(gold), or the loss, by epoch. */
import { aboutOf, nameOf } from "./about.js";
import { element, number, svgElement as svg, words } from "./dom.js";

const TEXT_MOST = 600; /* characters shown */
const MEASURES = ["confidence", "variability", "correctness", "forgetting_events", "aum", "el2n", "task_loss", "learning_speed", "detrended_variability"];

/* p(gold) by epoch; a filled dot: correct, a hollow one: not. Of losses, from the lowest, or 0, to the highest of the example. */
export function sparkline({ task_loss: losses, gold_prob: probabilities = losses, correct }, width = 150, height = 34) {
  const picture = svg("svg", { class: "sparkline", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  const known = probabilities.filter((value) => value !== null);
  const name = losses ? "loss" : "p(gold)";
  const text = known.length > 0 ? `${name} by epoch: ${known.map((value) => (losses ? number(value) : value.toFixed(2))).join(", ")}` : `no ${name}`;
  picture.setAttribute("aria-label", text);
  if (losses) picture.append(svg("title", {}, text));
  const [low, high] = losses ? [Math.min(0, ...known), Math.max(...known)] : [0, 1];
  const x = (i) => (probabilities.length > 1 ? 4 + (i * (width - 8)) / (probabilities.length - 1) : width / 2);
  const y = (value) => height - 4 - ((value - low) / (high > low ? high - low : 1)) * (height - 8);
  const middle = losses ? 0 : 0.5;
  picture.append(svg("line", { class: "half", x1: 0, x2: width, y1: y(middle), y2: y(middle) }));
  const seen = probabilities.map((value, i) => [i, value]).filter(([, value]) => value !== null);
  picture.append(svg("polyline", { points: seen.map(([i, value]) => `${x(i)},${y(value)}`).join(" ") }));
  if (seen.length <= 40)
    for (const [i, value] of seen) picture.append(svg("circle", { cx: x(i), cy: y(value), r: 2.4, class: losses || correct[i] ? "right" : "wrong" }));
  return picture;
}

const shorten = (text) => (text.length > TEXT_MOST ? `${text.slice(0, TEXT_MOST)}… (${text.length} characters)` : text);

function texts(example) {
  return Object.entries(example.text ?? {}).flatMap(([field, text]) =>
    text === null ? [] : [element("p", { class: "text", dir: "auto" }, element("span", { class: "field" }, field), " ", shorten(String(text)))]);
}

function measures(example, axes, values, view) {
  const names = [...new Set([...axes, ...MEASURES])].filter((name) => example.measures[name] !== undefined);
  return element(
    "dl",
    { class: "measures" },
    ...values.flatMap(([name, value]) => [element("dt", { title: aboutOf(view, name) }, nameOf(name)), element("dd", {}, element("bdi", {}, value))]),
    ...names.flatMap((name) => [element("dt", { title: aboutOf(view, name) }, words(name)), element("dd", {}, number(example.measures[name]))]),
  );
}

/* axes: names of the measures to list first. values: [[name, text]] of other columns, before these. more: elements that stand
 * above the texts; null among them is left out. */
export function cardOf(example, axes, view, values = [], more = []) {
  const label = (example.label ?? null) === null ? null : element("bdi", {}, example.label);
  return element(
    "div",
    { class: "card-content" },
    element("p", { class: "head" }, element("strong", {}, element("bdi", {}, String(example.id))), label ? " · " : "", label),
    ...more,
    ...texts(example),
    sparkline(example),
    measures(example, axes, values, view),
  );
}

/* In words, for a screen reader. values: as for cardOf(). */
export function sayExample(example, axes, values = []) {
  const text = Object.values(example.text ?? {}).filter((value) => value !== null).join(". ").slice(0, 300);
  const measured = axes.filter((name) => example.measures[name] !== undefined).map((name) => [words(name), number(example.measures[name])]);
  const said = [...values.map(([name, value]) => [nameOf(name), value]), ...measured].map(([name, value]) => `${name} ${value}`);
  return `Example ${example.id}${example.label ? `, ${example.label}` : ""}: ${said.join(", ")}. ${text}`;
}
