/*
 * cell_card.js: pointer and keys where points that share a value are drawn as one (cells.js): the cell under the pointer, or the one that
 * the keys have reached, with a card that says what it holds. A click, or Enter, selects its examples.
 */
import { nameOf } from "./about.js";
import { sayValue } from "./columns.js";
import { count, element, mark } from "./dom.js";
import { addPart, operationOf } from "./parts.js";
import { categoryColour, isOthers, noneColour } from "./palette.js";
import { cellAt, coloursOfCell } from "./piles.js";
import { boxPolygon } from "./selection.js";

const COLOURS_MOST = 6; /* listed on a card */

export class CellCard {
  #at = null; /* {column, row}: numbers of the bins, which stay when the map is moved */

  constructor(map) {
    this.map = map;
    map.state.define("cell", ""); /* what the cell holds, in words */
    this.card = element("div", { class: "card cell", hidden: true });
    map.section.append(this.card);
  }

  get #cell() {
    const { cells } = this.map.cells;
    return this.#at ? cellAt(cells, this.#at.column - cells.x.first, this.#at.row - cells.y.first) : -1;
  }

  #show(cell) {
    const { cells } = this.map.cells;
    const at = cell < 0 ? null : { column: cells.column[cell] + cells.x.first, row: cells.row[cell] + cells.y.first };
    if (at?.column === this.#at?.column && at?.row === this.#at?.row) return;
    this.#at = at;
    this.map.drawOver();
  }

  point([x, y]) {
    mark("pointer-moved");
    const { cells } = this.map.cells;
    const { frame } = this.map;
    const bin = (axis, pixels) => cells[axis].binOf(frame[axis].invert(pixels));
    this.#show(cellAt(cells, bin("x", x), bin("y", y)));
  }

  leave() {
    if (this.#at) this.#show(-1);
  }

  get isOpen() {
    return this.#at !== null;
  }

  /* Selects what the cell holds; its values decide that. */
  select(event) {
    const cell = this.#cell;
    if (cell < 0) return;
    const { cells } = this.map.cells;
    const box = [...cells.x.edges(cells.column[cell]), ...cells.y.edges(cells.row[cell])];
    addPart(this.map.state, this.map.frame.columns, boxPolygon(box), operationOf(event, this.map.state));
  }

  /* To the cell with the most points. */
  first() {
    const { all } = this.map.cells.cells;
    this.#show(all.indexOf(this.map.cells.most));
  }

  /* To the next cell in a direction, rather ahead than aside. */
  go([stepX, stepY]) {
    const from = this.#cell;
    if (from < 0) {
      this.first();
      return;
    }
    const centre = (cell) => {
      const { x, y, width, height } = this.map.cells.place(cell);
      return [x + width / 2, y + height / 2];
    };
    const [atX, atY] = centre(from);
    let [best, least] = [from, Infinity];
    for (let cell = 0; cell < this.map.cells.cells.n; cell++) {
      const [x, y] = centre(cell);
      const [dx, dy] = [x - atX, atY - y];
      const ahead = dx * stepX + dy * stepY;
      const aside = Math.abs(dx * stepY + dy * stepX);
      const far = ahead > 0 && aside <= ahead ? ahead + 2 * aside : Infinity;
      if (far < least) [best, least] = [cell, far];
    }
    this.#show(best);
  }

  draw() {
    const { map } = this;
    const { areShown } = map.cells;
    const cell = areShown ? this.#cell : -1;
    if (!areShown) this.#at = null;
    d3.select(map.layers.hovered)
      .selectAll("rect")
      .data(cell < 0 ? [] : [map.cells.place(cell)])
      .join("rect")
      .attr("x", ({ x }) => x)
      .attr("y", ({ y }) => y)
      .attr("width", ({ width }) => width)
      .attr("height", ({ height }) => height);
    this.card.hidden = cell < 0;
    if (cell >= 0) this.#fill(cell);
    const text = cell < 0 ? "" : this.card.textContent;
    if (text !== map.state.cell) setTimeout(() => map.state.set({ cell: text })); /* what is drawn must not change the state */
  }

  #fill(cell) {
    const { cells } = this.map.cells;
    const { x, y } = this.map.frame.columns;
    const all = cells.all[cell];
    const lines = [
      `${nameOf(x.name)}: ${this.#say("x", x, cells.column[cell])}`,
      `${nameOf(y.name)}: ${this.#say("y", y, cells.row[cell])}`,
      `${count(all)} ${all === 1 ? "example" : "examples"}${this.map.state.selected ? `, ${count(cells.selected[cell])} selected` : ""}.`,
    ];
    this.card.replaceChildren(...lines.map((line) => element("p", {}, element("bdi", {}, line), " ")), this.#mix(cell));
    const { x: left, y: top, width, height } = this.map.cells.place(cell);
    this.map.hover.place(this.card, { x: left + width / 2, y: top + height / 2 });
  }

  #say(axis, column, bin) {
    const [from, to] = this.map.cells.cells[axis].edges(bin);
    return column.grid > 0 ? sayValue(column, (from + to) / 2) : `${sayValue(column, from)} to ${sayValue(column, to)}`;
  }

  /* Of categories as colours, the most frequent ones. */
  #mix(cell) {
    const { points, marks } = this.map.state;
    const { legend } = points;
    if (legend?.kind !== "category") return "";
    const counts = [...coloursOfCell(this.map.cells.cells, points, marks.flags, cell)].sort((a, b) => b[1] - a[1]);
    const others = legend.values.find((value, rank) => value.other || isOthers(rank));
    return element("ul", { class: "mix" }, ...counts.slice(0, COLOURS_MOST).map(([byte, n]) => {
      const swatch = element("span", { class: byte === 255 ? "swatch ring" : "swatch" });
      swatch.style[byte === 255 ? "borderColor" : "backgroundColor"] = byte === 255 ? noneColour() : categoryColour(byte);
      const label = byte === 255 ? "no value" : isOthers(byte) ? (others?.label ?? "other") : legend.values[byte].label;
      return element("li", {}, swatch, element("bdi", { class: "label" }, label), " ", element("span", { class: "count" }, count(n)), " ");
    }));
  }
}
