/*
 * contours.js: lines of equal density over the points (contour_lines.js).
 *
 * The lines are counted anew once the map has come to rest; while it is moved, they move with it. They count what is drawn.
 * Of a sample, they count what the sample stands for: the server's counts; with filters, or where points stand beside their
 * values, the sample's own, scaled up. Points that are drawn in piles (cells.js) have no lines.
 *
 * state.contours    "auto": from FROM examples in view; "on"; "off". It is part of the address
 * state.lines       what the lines mean: {levels (examples per 10 × 10 pixels), factor from line to line, share of the examples
 *                   in view that the outermost line surrounds, examples in view, isEstimate}; null: there are none
 */
import { svgElement } from "./dom.js";
import { countPoints, fillGrid, findLines, insideOf, makeGrid } from "./contour_lines.js";
import { bendOf, sameBend } from "./scales.js";

export const FROM = 50000;
const CHOICES = ["auto", "on", "off"];
const CELL = 4; /* pixels */
const REACH = 8; /* pixels on each side, over which counts are averaged: the noise of FROM examples disappears */
const REACH_FEW = 16;
const REST_MS = 150;

/* Do the points of an axis stand elsewhere than where the server counts them? */
const isPlaced = (column) => column.grid > 0 || !sameBend(column.bend, bendOf(column, column.scale));

const isSame = (a, b) => a?.length === b.length && a.every((part, i) => part === b[i]);

/* Pixels: the denser, the thicker. */
export const lineWidth = (line) => 0.8 + 0.3 * line;

export class Contours {
  #of = null; /* the data that the lines are of */
  #at = null; /* the view that was drawn last */
  #grid = null;
  #timer = 0;
  #rests = false; /* has the view changed, and then come to rest? */

  constructor(map) {
    this.map = map;
    this.layer = map.layers.contours.appendChild(svgElement("g"));
    map.state.define("contours", "auto", true, (choice) => CHOICES.includes(choice));
    map.state.define("lines", null);
    map.state.subscribe(["contours"], () => map.drawOver());
  }

  /* Other data have other lines at once; another view has, once it rests. */
  draw() {
    const { state, frame } = this.map;
    const { points, view, shown, contours } = state;
    const of = [view, shown, contours, ...[points.x, points.y].flatMap(({ name, from, to, scale, isPiled }) => [name, from, to, scale, isPiled])];
    const at = [points, frame.width, frame.height, ...frame.box];
    const isMoved = !isSame(this.#at, at);
    this.#at = at;
    if (!isSame(this.#of, of)) {
      this.#of = of;
      this.#count();
    } else if (isMoved) {
      this.#wait();
    } else if (this.#rests) {
      this.#count();
    }
    this.#move();
  }

  /* A slow browser may be drawing still when the time is over: then the next picture says whether the map was moved meanwhile. */
  #wait() {
    clearTimeout(this.#timer);
    this.#rests = false;
    this.#timer = setTimeout(() => {
      this.#rests = true;
      this.map.drawOver();
    }, REST_MS);
  }

  #count() {
    clearTimeout(this.#timer);
    this.#rests = false;
    const { cells, state } = this.map;
    const { points, marks, shown, contours } = state;
    const least = contours === "on" ? 1 : FROM;
    const isSample = points.n < points.inside;
    const isEstimate = isSample && Boolean(shown || isPlaced(points.x) || isPlaced(points.y));
    const mayHave = contours !== "off" && !cells.areShown && marks.drawn * (points.inside / points.n) >= least;
    const found = mayHave ? this.#find(isSample && !isEstimate) : null;
    const { paths, ...lines } = found?.examples >= least ? found : { paths: [] };
    this.#show(paths);
    state.set({ lines: paths.length > 0 ? { ...lines, isEstimate } : null });
  }

  #find(byServer) {
    const { points, marks } = this.map.state;
    const { frame } = this.map;
    const { columns, rows, box } = byServer ? points.density : { columns: Math.round(frame.width / CELL), rows: Math.round(frame.height / CELL), box: frame.box };
    const { width, height } = this.#cellOf({ columns, rows, box });
    const reach = [width, height].map((size) => Math.max(1, Math.round((byServer || marks.drawn >= FROM ? REACH : REACH_FEW) / size)));
    this.#grid = makeGrid(columns, rows, 3 * Math.max(...reach) + 1, box);
    if (byServer) {
      fillGrid(this.#grid, points.density.counts, points);
    } else {
      countPoints(this.#grid, points, marks.flags, frame.boxInSteps());
      if (points.places) fillGrid(this.#grid, insideOf(this.#grid), points);
    }
    return findLines(this.#grid, reach, width * height);
  }

  /* In pixels of the plot: {left, bottom} of the box, and {width, height} of a cell. */
  #cellOf({ columns, rows, box: [left, right, low, high] }) {
    const { x, y } = this.map.frame;
    return { left: x(left), bottom: y(low), width: (x(right) - x(left)) / columns, height: (y(low) - y(high)) / rows };
  }

  /* Each line twice: on a halo, which makes it visible over points of any colour. */
  #show(paths) {
    const lines = paths.flatMap((path, i) => [["halo", path, lineWidth(i) + 2], ["line", path, lineWidth(i)]]);
    d3.select(this.layer).selectAll("path").data(lines).join("path")
      .attr("class", ([name]) => name).attr("d", ([, path]) => path).attr("stroke-width", ([, , width]) => width);
  }

  #move() {
    if (!this.#grid) return;
    const { edge } = this.#grid;
    const { left, bottom, width, height } = this.#cellOf(this.#grid);
    this.layer.setAttribute("transform", `matrix(${width},0,0,${-height},${left - edge * width},${bottom + edge * height})`);
  }
}
