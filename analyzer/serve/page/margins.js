/*
 * margins.js: a histogram of the points along each axis of the map. Brushing it selects a range. Bars of selected points stand in
 * front of the bars of all. Counts are on a linear or a logarithmic scale (state key `bars`, kept in the address).
 */
import { countBars } from "./bars.js";
import { button, count } from "./dom.js";
import { coordinates } from "./marks.js";
import { addPart, operationOf } from "./parts.js";
import { isScale } from "./scales.js";
import { boxPolygon } from "./selection.js";

const GAP = 6;
const ROOM = 44;
const LEAST = 2; /* pixels: so high at least is a bar of any points, to be seen */
const TITLE = 14; /* pixels above the bars, for the greatest count */

/* The height of a bar, in pixels. */
function heightOf(scale, most) {
  const room = ROOM - TITLE;
  const share = scale === "log" ? (n) => Math.log1p(n) / Math.log1p(most) : (n) => n / most;
  return (n) => (n > 0 ? Math.max(LEAST, room * share(n)) : 0);
}

export class Margins {
  #key = null;
  #bars = null;

  constructor(map) {
    this.map = map;
    map.state.define("bars", "linear", true, isScale);
    this.group = d3.select(map.layers.margins);
    this.x = this.#side("x");
    this.y = this.#side("y");
    const toggle = () => map.state.set({ bars: map.state.bars === "log" ? "linear" : "log" });
    this.toggle = button("log", toggle, { class: "toggle bars", title: "Histograms: counts on a logarithmic scale", "aria-label": "Histograms: counts on a logarithmic scale" });
    map.holder.append(this.toggle);
    map.state.subscribe(["bars"], () => map.drawOver());
  }

  #side(axis) {
    const group = this.group.append("g").attr("class", `margin ${axis}`);
    group.append("path").attr("class", "all");
    group.append("path").attr("class", "selected");
    group.append("text").attr("class", "most");
    const brush = axis === "x" ? d3.brushX() : d3.brushY();
    const side = { group, brush, brushed: group.append("g").attr("class", "brush") };
    brush.on("end", () => this.#end(axis, side));
    return side;
  }

  #end(axis, side) {
    const { selection, sourceEvent } = d3.event;
    if (!sourceEvent || !selection) return;
    side.brushed.call(side.brush.move, null);
    const { frame, state } = this.map;
    const box = [...frame.box];
    const values = selection.map((pixels) => frame[axis].invert(pixels));
    const at = axis === "x" ? 0 : 2;
    [box[at], box[at + 1]] = axis === "x" ? values : values.reverse();
    addPart(state, frame.columns, boxPolygon(box), operationOf(sourceEvent, state));
  }

  /* Counts again only when something has changed. */
  #count() {
    const { state, frame } = this.map;
    const key = [state.points, state.marks, frame.width, frame.height, ...frame.box];
    if (this.#key?.every((part, i) => part === key[i])) return this.#bars;
    this.#key = key;
    const steps = coordinates(state.points);
    const { flags } = state.marks;
    this.#bars = { x: countBars(frame, "x", steps.x, flags), y: countBars(frame, "y", steps.y, flags) };
    return this.#bars;
  }

  draw() {
    const { frame, state } = this.map;
    this.group.attr("display", frame.isNarrow ? "none" : null);
    this.toggle.hidden = frame.isNarrow;
    if (frame.isNarrow) return;
    const bars = this.#count();
    this.toggle.setAttribute("aria-pressed", String(state.bars === "log"));
    this.toggle.style.left = `${frame.margin.left + frame.width + GAP}px`;
    this.toggle.style.top = `${frame.margin.top - GAP - ROOM + TITLE}px`;
    this.x.group.attr("transform", `translate(0,${-GAP - ROOM})`);
    this.y.group.attr("transform", `translate(${frame.width + GAP},0)`);
    this.#drawSide(this.x, bars.x, ({ from, to }, height) => `M${from},${ROOM}V${ROOM - height}H${to}V${ROOM}Z`);
    this.#drawSide(this.y, bars.y, ({ from, to }, height) => `M0,${frame.height - from}H${height}V${frame.height - to}H0Z`);
    this.#name(this.x, bars.x, 0, TITLE - 4, "start");
    this.#name(this.y, bars.y, frame.margin.right - GAP - 4, -GAP, "end");
    this.x.brushed.call(this.x.brush.extent([[0, 0], [frame.width, ROOM]]));
    this.y.brushed.call(this.y.brush.extent([[0, 0], [ROOM, frame.height]]));
    this.group.classed("selecting", Boolean(state.selected));
  }

  #drawSide({ group }, { edges, all, selected }, bar) {
    const height = heightOf(this.map.state.bars, Math.max(1, d3.max(all) ?? 0));
    const path = (counts) => edges.map((edge, i) => (counts[i] > 0 ? bar(edge, height(counts[i])) : "")).join("");
    group.select("path.all").attr("d", path(all));
    group.select("path.selected").attr("d", path(selected));
  }

  /* The greatest count: that of the longest bar. */
  #name({ group }, { all }, x, y, anchor) {
    const most = d3.max(all) ?? 0;
    group.select("text.most").attr("x", x).attr("y", y).attr("text-anchor", anchor).text(most > 0 ? `most: ${count(most)}` : "");
  }
}
