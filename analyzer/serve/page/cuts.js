/*
 * cuts.js: the lines between the regions, where variability or confidence is on an axis. Each has a handle at its end, on the
 * axis, by which it is dragged: a drag that begins on the line itself draws, as anywhere on the map. Arrow keys move a line
 * too. The counts stand in the panel beside the map (regions.js) and, where both are axes, on the map.
 */
import { isOfLosses } from "./columns.js";
import { count, number } from "./dom.js";
import { cutsOf, REGIONS } from "./selection.js";

const MEASURES = ["variability", "confidence"];

export class Cuts {
  constructor(map) {
    this.map = map;
    this.group = d3.select(map.layers.cuts);
    map.state.define("regionCounts", null);
    map.state.subscribe(["regionCounts"], () => map.drawOver());
  }

  /* Which lines there are: {measure, axis, at}, `at` in pixels. */
  #lines() {
    const { frame, state } = this.map;
    if (isOfLosses(state.view)) return [];
    const cuts = cutsOf(state);
    const names = { x: frame.columns.x.name, y: frame.columns.y.name };
    const lines = [];
    for (const axis of ["x", "y"])
      if (MEASURES.includes(names[axis]) && names.x !== names.y)
        lines.push({ measure: names[axis], axis, value: cuts[names[axis]], at: frame[axis](cuts[names[axis]]) });
    return lines;
  }

  draw() {
    const { frame } = this.map;
    const lines = this.#lines().filter(({ axis, at }) => at >= 0 && at <= (axis === "x" ? frame.width : frame.height));
    const groups = this.group.selectAll("g.cut").data(lines, ({ axis, measure }) => axis + measure).join((enter) => this.#enter(enter));
    groups
      .attr("class", ({ axis }) => `cut ${axis}`)
      .attr("aria-valuenow", ({ value }) => value)
      .attr("aria-valuetext", ({ value }) => number(value));
    groups
      .select(".line")
      .attr("x1", ({ axis, at }) => (axis === "x" ? at : 0))
      .attr("x2", ({ axis, at }) => (axis === "x" ? at : this.#end()))
      .attr("y1", ({ axis, at }) => (axis === "x" ? 0 : at))
      .attr("y2", ({ axis, at }) => (axis === "x" ? frame.height : at));
    for (const part of [".handle", ".grip"])
      groups
        .select(part)
        .attr("cx", ({ axis, at }) => (axis === "x" ? at : 0))
        .attr("cy", ({ axis, at }) => (axis === "x" ? frame.height : at));
    this.#drawCounts();
  }

  /* What is ambiguous is not divided: the line of confidence ends at that of variability. */
  #end() {
    const { frame, state } = this.map;
    const isUsual = frame.columns.x.name === "variability" && frame.columns.y.name === "confidence";
    return isUsual ? Math.max(0, Math.min(frame.width, frame.x(cutsOf(state).variability))) : frame.width;
  }

  #enter(enter) {
    const group = enter
      .append("g")
      .attr("tabindex", 0)
      .attr("role", "slider")
      .attr("aria-label", ({ measure }) => `Cut of ${measure}`)
      .attr("aria-valuemin", 0)
      .attr("aria-valuemax", 1);
    group.append("line").attr("class", "line");
    group.append("circle").attr("class", "handle").attr("r", 5);
    group.append("circle").attr("class", "grip").attr("r", 12); /* for fingers */
    const map = this.map;
    group.call(
      d3.drag().container(map.plot).subject(() => ({ x: d3.event.x, y: d3.event.y })).on("drag", ({ measure, axis }) => {
        const { frame } = map;
        this.#move(measure, frame[axis].invert(axis === "x" ? d3.event.x : d3.event.y));
      }),
    );
    group.on("keydown", ({ measure, axis }) => this.#key(measure, axis));
    return group;
  }

  #key(measure, axis) {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[d3.event.key];
    if (!step) return;
    d3.event.preventDefault();
    d3.event.stopPropagation();
    const [from, to] = this.map.frame[axis].domain();
    this.#move(measure, cutsOf(this.map.state)[measure] + (step * (to - from)) / 100);
  }

  #move(measure, value) {
    const rounded = Number(Math.min(1, Math.max(0, value)).toPrecision(4));
    this.map.state.set({ cuts: { ...cutsOf(this.map.state), [measure]: rounded } });
  }

  #drawCounts() {
    const { frame, state } = this.map;
    const counts = state.regionCounts;
    const fits = frame.columns.x.name === "variability" && frame.columns.y.name === "confidence" && counts && !frame.isNarrow;
    const places = {
      "easy-to-learn": [8, 16, "start"],
      ambiguous: [frame.width - 8, 16, "end"],
      "hard-to-learn": [8, frame.height - 8, "start"],
    };
    this.group
      .selectAll("text")
      .data(fits ? REGIONS : [])
      .join("text")
      .attr("x", (region) => places[region][0])
      .attr("y", (region) => places[region][1])
      .attr("text-anchor", (region) => places[region][2])
      .text((region) => `${region} ${count(counts[region])}`);
  }
}
