/*
 * margins.js: a histogram of the points along each axis of the map. Brushing it selects a range. Bars of selected points stand in
 * front of the bars of all.
 */
import { coordinates, DRAWN, SELECTED } from "./marks.js";
import { boxPolygon } from "./selection.js";
import { addPart, operationOf } from "./parts.js";

const BARS = 64;
const GAP = 6;
const ROOM = 44;

/* {all, selected}: counts by bar of the points in view. */
function countBars(steps, flags, from, to) {
  const all = new Float64Array(BARS);
  const selected = new Float64Array(BARS);
  const scale = BARS / (to - from);
  for (let i = 0; i < steps.length; i++) {
    const flag = flags[i];
    if (!(flag & DRAWN)) continue;
    const bar = Math.floor((steps[i] - from) * scale);
    if (bar < 0 || bar >= BARS) continue;
    all[bar]++;
    if (flag & SELECTED) selected[bar]++;
  }
  return { all, selected };
}

export class Margins {
  #key = null;
  #bars = null;

  constructor(map) {
    this.map = map;
    this.group = d3.select(map.layers.margins);
    this.x = this.#side("x");
    this.y = this.#side("y");
  }

  #side(axis) {
    const group = this.group.append("g").attr("class", `margin ${axis}`);
    group.append("path").attr("class", "all");
    group.append("path").attr("class", "selected");
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
    const box = frame.boxInSteps();
    const key = [state.points, state.marks, ...box];
    if (this.#key?.every((part, i) => part === key[i])) return this.#bars;
    this.#key = key;
    const { x, y } = coordinates(state.points);
    const { flags } = state.marks;
    this.#bars = { x: countBars(x, flags, box[0], box[1]), y: countBars(y, flags, box[2], box[3]) };
    return this.#bars;
  }

  draw() {
    const { frame, state } = this.map;
    this.group.attr("display", frame.isNarrow ? "none" : null);
    if (frame.isNarrow) return;
    const bars = this.#count();
    this.x.group.attr("transform", `translate(0,${-GAP - ROOM})`);
    this.y.group.attr("transform", `translate(${frame.width + GAP},0)`);
    this.#drawSide(this.x, bars.x, frame.width, (from, to, share) => `M${from},${ROOM}V${ROOM * (1 - share)}H${to}V${ROOM}Z`);
    this.#drawSide(this.y, bars.y, frame.height, (from, to, share) => `M0,${frame.height - from}H${ROOM * share}V${frame.height - to}H0Z`);
    this.x.brushed.call(this.x.brush.extent([[0, 0], [frame.width, ROOM]]));
    this.y.brushed.call(this.y.brush.extent([[0, 0], [ROOM, frame.height]]));
    this.group.classed("selecting", Boolean(state.selected));
  }

  #drawSide({ group }, { all, selected }, length, bar) {
    const most = Math.max(1, d3.max(all));
    const path = (counts) =>
      Array.from(counts, (count, i) => (count > 0 ? bar((i * length) / BARS, ((i + 1) * length) / BARS, count / most) : "")).join("");
    group.select("path.all").attr("d", path(all));
    group.select("path.selected").attr("d", path(selected));
  }
}
