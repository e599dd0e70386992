/*
 * beyond.js: says how many examples lie beyond the part of the map that is in view without zoom, where few far ones would squeeze
 * all others (ranges.js); a button shows them.
 */
import { button, count, element } from "./dom.js";
import { coordinates, DRAWN } from "./marks.js";

function countOutside(points, flags, [left, right, low, high]) {
  const { x, y } = coordinates(points);
  let outside = 0;
  for (let i = 0; i < points.n; i++) if (flags[i] & DRAWN && (x[i] < left || x[i] > right || y[i] < low || y[i] > high)) outside++;
  return outside;
}

export class Beyond {
  #of = [];
  #outside = 0;

  constructor(map) {
    this.map = map;
    this.text = element("span");
    const all = button("Show everything", () => map.state.set({ box: map.frame.whole }));
    this.element = element("p", { class: "beyond", role: "status", hidden: true }, this.text, " ", all);
  }

  draw() {
    const { frame, state } = this.map;
    const outside = frame.isStretched && !state.box ? this.#count() : 0;
    this.element.hidden = outside === 0;
    const text = `${count(outside)} ${outside === 1 ? "example lies" : "examples lie"} beyond.`;
    if (outside > 0 && this.text.textContent !== text) this.text.textContent = text;
  }

  /* Counts again only when something has changed. */
  #count() {
    const { frame, state } = this.map;
    const { points, marks } = state;
    if (points.everywhere !== undefined) return points.everywhere - points.inside;
    const of = [points, marks, ...frame.usual];
    if (of.some((part, i) => part !== this.#of[i])) {
      this.#of = of;
      this.#outside = countOutside(points, marks.flags, frame.boxInSteps());
    }
    return this.#outside;
  }
}
