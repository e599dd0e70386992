/*
 * cells.js: draws points that share a value as one: a disc whose area is their number ("size"), or a cell whose colour is their number
 * ("heat"). Of a disc, the colour is the mean of its points' colours. Selected points stay visible: as a disc within, whose area
 * is their number, or as an outline within, whose area is their share.
 *
 * state.piles: {pile, most, radius, isSample}: the greatest count in view, and the radius of its disc in pixels; null: points are drawn.
 */
import { oncePerFrame } from "./dom.js";
import { byteColours, numberColour, onTheme, unselectedColour } from "./palette.js";
import { countPiles } from "./piles.js";
import { same } from "./state.js";

const BINS = { size: 30, heat: 60 }; /* about so many, of an axis whose values may be any */
const FILLED = 0.46; /* of a cell's shorter side: the greatest radius of a disc */
const RADIUS_MOST = 36; /* pixels */
const RADIUS_LEAST = 1;
const GAP_FROM = 7; /* pixels: cells this wide have a line between them */
const MARK_LEAST = 3; /* pixels: the side of the mark of selected points */

export class Cells {
  #of = [];
  #cells = null;

  constructor(map) {
    this.map = map;
    map.state.define("piles", null);
    this.canvas = document.createElement("canvas");
    this.canvas.className = "layer cells";
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.hidden = true;
    map.holder.insertBefore(this.canvas, map.svg);
    this.tell = oncePerFrame(() => this.#tell());
    onTheme(() => {
      this.#of = [];
    });
  }

  /* Are points drawn in piles? */
  get areShown() {
    const { points } = this.map.state;
    return Boolean(points) && points.x.isPiled && (points.x.grid > 0 || points.y.grid > 0);
  }

  /* The cells in view, counted again only when something has changed. */
  get cells() {
    const { frame, state } = this.map;
    const { points, marks, pile } = state;
    const of = [points, marks, pile, ...frame.box];
    if (of.some((part, i) => part !== this.#of[i])) {
      this.#of = of;
      this.#cells = countPiles(frame, points, marks.flags, byteColours(points.legend), BINS[pile]);
    }
    return this.#cells;
  }

  /* {x, y, width, height} of a cell, in pixels of the plot. */
  place(cell) {
    const { frame } = this.map;
    const { x, y, column, row } = this.cells;
    const [left, right] = x.edges(column[cell]).map((value) => frame.at("x", value));
    const [bottom, top] = y.edges(row[cell]).map((value) => frame.at("y", value));
    return { x: left, y: top, width: right - left, height: bottom - top };
  }

  draw() {
    const { map, canvas } = this;
    const { areShown } = this;
    canvas.hidden = !areShown;
    map.canvas.hidden = map.shade.hidden = areShown;
    this.tell();
    if (!areShown) return;
    for (const side of ["left", "top", "width", "height"]) canvas.style[side] = map.canvas.style[side];
    canvas.width = map.canvas.width;
    canvas.height = map.canvas.height;
    const pen = canvas.getContext("2d");
    pen.scale(map.dense, map.dense);
    const { cells } = this;
    const places = Array.from({ length: cells.n }, (_, cell) => this.place(cell));
    this.most = cells.all.reduce((a, b) => Math.max(a, b), 0);
    this.radius = Math.min(RADIUS_MOST, FILLED * places.reduce((least, { width, height }) => Math.min(least, width, height), Infinity));
    if (map.state.pile === "heat") this.#drawHeat(pen, cells, places);
    else this.#drawSizes(pen, cells, places);
  }

  #drawSizes(pen, cells, places) {
    const isSelecting = Boolean(this.map.state.selected);
    const grey = unselectedColour();
    const colourOf = (mix, cell) => `rgb(${[0, 1, 2].map((part) => Math.round(mix[3 * cell + part])).join()})`;
    const disc = ({ x, y, width, height }, n, colour) => {
      pen.beginPath();
      pen.arc(x + width / 2, y + height / 2, Math.max(RADIUS_LEAST, this.radius * Math.sqrt(n / this.most)), 0, 2 * Math.PI);
      pen.fillStyle = colour;
      pen.fill();
    };
    places.forEach((place, cell) => {
      disc(place, cells.all[cell], isSelecting ? grey : colourOf(cells.mix, cell));
      if (cells.selected[cell] > 0) disc(place, cells.selected[cell], colourOf(cells.mixSelected, cell));
    });
  }

  #drawHeat(pen, cells, places) {
    const isSelecting = Boolean(this.map.state.selected);
    const text = getComputedStyle(document.documentElement).getPropertyValue("--text");
    const paper = getComputedStyle(document.documentElement).getPropertyValue("--paper");
    const share = (n) => (this.most > 1 ? Math.log(n) / Math.log(this.most) : 1);
    places.forEach(({ x, y, width, height }, cell) => {
      const [gapX, gapY] = [width, height].map((side) => (side >= GAP_FROM ? 1 : 0));
      pen.globalAlpha = isSelecting && cells.selected[cell] === 0 ? 0.3 : 1;
      pen.fillStyle = numberColour(share(cells.all[cell]));
      pen.fillRect(x, y, width - gapX, height - gapY);
    });
    pen.globalAlpha = 1;
    places.forEach(({ x, y, width, height }, cell) => {
      if (cells.selected[cell] === 0) return;
      const part = Math.sqrt(cells.selected[cell] / cells.all[cell]);
      const [wide, high] = [width, height].map((side) => Math.max(Math.min(MARK_LEAST, side), (side - 3) * part));
      const at = [x + (width - 1 - wide) / 2, y + (height - 1 - high) / 2, wide, high];
      for (const [colour, line] of [[paper, 3], [text, 1.5]]) {
        pen.strokeStyle = colour;
        pen.lineWidth = line;
        pen.strokeRect(...at);
      }
    });
  }

  /* Later: what is drawn must not change the state while it is told. */
  #tell() {
    const { points, pile } = this.map.state;
    const piles = this.areShown ? { pile, most: this.most, radius: this.radius, isSample: points.n < points.inside } : null;
    if (!same(piles, this.map.state.piles)) this.map.state.set({ piles });
  }
}
