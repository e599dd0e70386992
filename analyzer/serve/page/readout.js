/*
 * readout.js: the map in words, for people who do not see it: a summary, the counts of the regions, and the example under the
 * pointer.
 */
import { sayExample } from "./card.js";
import { nameOf } from "./about.js";
import { count, element } from "./dom.js";
import { valuesOf } from "./hover.js";
import { REGIONS } from "./selection.js";

const HELP =
  "Arrow keys go from point to point, Home to the middle, Enter pins, Escape leaves. Plus and minus zoom, " +
  "Shift with arrows moves, 0 shows everything. Where examples that share a value are drawn as one, arrow keys go from one such cell " +
  "to the next, and Enter selects its examples. Tab goes to the cuts, and arrow keys move them.";

function summarize(state) {
  const { view, points, selected, regionCounts } = state;
  if (!view || !points) return "";
  const sentences = [
    `Run ${view.run}, ${count(view.points)} examples, ${view.epochs.length} epochs: ${nameOf(points.y.name)} against ${nameOf(points.x.name)}.`,
  ];
  const { legend } = points;
  if (legend?.kind === "category")
    sentences.push(`Colours are ${nameOf(legend.name)}: ${legend.values.map(({ label, count: n }) => `${label} ${count(n)}`).join(", ")}.`);
  if (regionCounts) sentences.push(`Regions: ${REGIONS.map((region) => `${region} ${count(regionCounts[region])}`).join(", ")}.`);
  if (selected) sentences.push(`${count(selected.count)} are selected.`);
  return sentences.join(" ");
}

export function showReadOut({ section, state }) {
  const summary = element("p");
  const live = element("p", { "aria-live": "polite" });
  section.append(element("div", { class: "unseen" }, element("p", { id: `${section.id}-help` }, HELP), summary, live));
  let waiting = 0;
  const say = () => {
    waiting = 0;
    live.textContent = state.cell || (state.example && state.points ? sayExample(state.example, [state.points.x.name, state.points.y.name], valuesOf(state.example, state.points)) : "");
  };
  state.subscribe(["view", "points", "selected", "regionCounts"], () => {
    summary.textContent = summarize(state);
  });
  state.subscribe(["example", "cell"], () => {
    clearTimeout(waiting);
    waiting = setTimeout(say, 250);
  });
}
