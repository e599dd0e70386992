/* axis_marks.js: draws the axes of a map: ticks, with names where an axis shows categories, and the name of each axis. */
import { aboutOf, nameOf } from "./about.js";
import { sayTick, shorten, textWidth, ticksOf } from "./ticks.js";

const NAMES_MOST = { usual: 130, narrow: 70 }; /* pixels of a name beside the axis that goes up */
const ROOM = { usual: 34, narrow: 27 }; /* pixels of a tick's text that the usual margin has */
const STRIP_NAME = 48; /* pixels of the name of a strip (strips.js) */

const roomOf = (isNarrow) => (isNarrow ? ROOM.narrow : ROOM.usual);

function widestOf(values) {
  const longest = values.reduce((found, { label }) => (label.length > found.length ? label : found), "");
  return textWidth(longest);
}

/* About: of the ends, and of a number near 0. */
function widestNumber({ low, high, integer, scale }) {
  const some = integer ? [low, high].map(Math.round) : [low, high, scale === "log" ? 0.001 * Math.sign(low) : 0];
  return Math.max(...some.map((value) => textWidth(sayTick(value, integer))));
}

export class AxisMarks {
  constructor(map) {
    this.map = map;
    this.group = d3.select(map.layers.axes);
  }

  /* {left}: pixels that the texts beside the axis that goes up need beyond the usual margin. hasStrip: one of them is a strip's name. */
  static roomOf({ y }, isNarrow, hasStrip) {
    const widest = y.kind === "category" ? Math.min(widestOf(y.values ?? []), NAMES_MOST[isNarrow ? "narrow" : "usual"]) : widestNumber(y);
    return { left: Math.ceil(Math.max(0, Math.max(widest, hasStrip ? STRIP_NAME : 0) - roomOf(isNarrow))) };
  }

  draw() {
    const { frame } = this.map;
    const { width, height, columns, isNarrow, margin, strips } = frame;
    const most = isNarrow ? 4 : 8;
    const ticks = {
      x: ticksOf(frame.x, columns.x, { direction: "across", most }),
      y: ticksOf(frame.y, columns.y, { direction: "up", most, room: frame.room.left + roomOf(isNarrow) }),
    };
    this.#axis("x", `translate(0,${height + strips.y})`, d3.axisBottom(frame.x), ticks.x);
    this.#axis("y", `translate(${-strips.x},0)`, d3.axisLeft(frame.y), ticks.y);
    const name = ({ name: column, scale, bend }) => nameOf(column) + (scale === "log" && bend.name !== "linear" ? " (log)" : "");
    const labels = [
      [columns.x, `translate(${width / 2},${height + strips.y + 36})`, width],
      [columns.y, `translate(${-margin.left + 12},${height / 2}) rotate(-90)`, height],
    ];
    const names = this.group.selectAll("text.name").data(labels).join("text").attr("class", "name").attr("transform", ([, at]) => at);
    names.text(([column, , room]) => shorten(name(column), room)).append("title").text(([column]) => aboutOf(this.map.state.view, column.name));
  }

  #axis(name, transform, axis, ticks) {
    const found = this.group.selectAll(`g.${name}`).data([0]);
    const group = found.enter().append("g").attr("class", name).merge(found).attr("transform", transform);
    const texts = new Map(ticks.map(({ value, text }) => [value, text]));
    group.call(axis.tickValues(ticks.map(({ value }) => value)).tickFormat((value) => texts.get(value)));
    const titles = new Map(ticks.map(({ value, title }) => [value, title]));
    group.selectAll(".tick").selectAll("title").data((value) => (titles.get(value) === undefined ? [] : [titles.get(value)])).join("title").text((title) => title);
  }
}
