/*
 * map.js: the map: a canvas of points under an SVG of axes, cuts, outlines and marks. It follows the state, and is drawn again
 * only when something has changed.
 */
import { AxisMarks } from "./axis_marks.js";
import { Beyond } from "./beyond.js";
import { CellCard } from "./cell_card.js";
import { Cells } from "./cells.js";
import { nameOf } from "./about.js";
import { Contours } from "./contours.js";
import { Cuts } from "./cuts.js";
import { Density } from "./density.js";
import { button, count, element, oncePerFrame, svgElement } from "./dom.js";
import { Frame } from "./frame.js";
import { listenToGestures } from "./gestures.js";
import { PointsRenderer } from "./gl.js";
import { showHover } from "./hover.js";
import { Margins } from "./margins.js";
import { DRAWN, SELECTED } from "./marks.js";
import { byteColours, onTheme, unselectedColour } from "./palette.js";
import { showReadOut } from "./readout.js";
import { isElsewhen } from "./selection.js";
import { same } from "./state.js";
import { roomOf as roomOfStrips, Strips } from "./strips.js";

/* Of a point, in pixels of the screen. Where points are many, or the map is small, they are smaller and let others shine through. */
function sizeOf(n, { zoom, width, height }) {
  const share = Math.sqrt((width * height) / 450000);
  const size = 8.6 - 1.1 * Math.log10(Math.max(n, 10));
  return Math.max(1.8, size * Math.min(1, Math.max(0.6, share))) * Math.min(2.5, Math.max(1, zoom ** 0.3));
}

/* Of one point among so many. */
export const opacityOf = (n) => Math.min(0.9, Math.max(0.4, 1.15 - 0.12 * Math.log10(Math.max(n, 10))));

function greyOf() {
  const { r, g, b } = d3.color(unselectedColour()).rgb();
  return { selectedBit: SELECTED, colour: [r / 255, g / 255, b / 255] };
}

/* A sentence about points that do not stand at their values. */
function describeSpread({ points }) {
  const { x, y } = points;
  const few = [...new Set([x, y].filter(({ grid }) => grid > 0).map(({ name }) => nameOf(name)))].join(" and ");
  if (few === "") return "";
  if (x.isPiled) return ` Examples that share a value of ${few} are drawn as one; a click selects them.`;
  return ` Points are spread around their values of ${few}; a lasso takes those whose values are inside it.`;
}

/* A sentence about how many of the examples are drawn. */
function describeDrawn({ view, points, marks, shown }) {
  if (!view || !points || !marks) return "";
  if (view.points === 1 && marks.drawn === 1) return "The one example is drawn.";
  const drawn = count(marks.drawn);
  const examples = view.observed > view.points ? "examples of the sample in this file" : "examples";
  const all = `${count(view.points)} ${examples}`;
  const whole = points.inside < view.points ? `the ${count(points.inside)} in view, of ${all}` : all;
  if (points.n < points.inside) {
    const which = shown ? "It has only examples that pass the filters." : "The shading behind it counts all of them; the histograms count the sample.";
    return `A sample of ${drawn} points of ${whole}. ${which}`;
  }
  if (marks.drawn === view.points) return `All ${drawn} ${examples} are drawn.`;
  const passed = shown ? (points.places ? marks.drawn : shown.count) : points.n;
  const reasons = [];
  if (shown) reasons.push("the others do not pass the filters");
  if (passed > marks.drawn) reasons.push(`${count(passed - marks.drawn)} have no value on an axis, and stand beside it`);
  return `${drawn} of ${whole} are drawn${reasons.length > 0 ? `: ${reasons.join(", ")}` : ""}.`;
}

class MapView {
  constructor(section, parts) {
    this.parts = parts;
    this.state = parts.state;
    this.frame = new Frame(parts.loader.ranges);
    this.#build(section);
    /* A picture of a million points takes long, so it is drawn only when it has changed; the layers above it are drawn more often. */
    this.areStale = true;
    this.drawOver = oncePerFrame(() => this.#draw());
    this.draw = () => {
      this.areStale = true;
      this.drawOver();
    };
    this.renderer = new PointsRenderer(this.canvas, () => this.#renew());
    this.state.define("graphics", this.renderer.trouble);
    this.state.define("mixes", this.renderer.mixes); /* have points over one another the mean of their colours? */
    this.density = new Density(this.shade, this.state);
    this.cells = new Cells(this);
    this.strips = new Strips(this);
    this.axes = new AxisMarks(this);
    this.contours = new Contours(this);
    this.margins = new Margins(this);
    this.cuts = new Cuts(this);
    this.hover = showHover(this);
    this.cellCard = new CellCard(this);
    listenToGestures(this);
    showReadOut(this);
    this.state.subscribe(["points"], () => {
      this.#makeRoom();
      this.#take("points");
    });
    this.state.subscribe(["points", "marks"], () => this.#take("marks"));
    this.state.subscribe(["box"], () => this.#follow());
    this.state.subscribe(["box", "points", "marks"], () => this.draw());
    this.state.subscribe(["cuts", "view", "selection", "hovered", "pinnedExamples"], () => this.drawOver());
    onTheme(() => this.#renew());
    new ResizeObserver(() => this.#resize()).observe(this.holder);
    this.#resize();
  }

  #build(section) {
    this.shade = element("canvas", { class: "layer", "aria-hidden": "true" });
    this.canvas = element("canvas", { class: "layer points", "aria-hidden": "true" });
    this.svg = svgElement("svg", {
      class: "layer over",
      tabindex: "0",
      role: "application",
      "aria-label": "Data map",
      "aria-describedby": `${section.id}-help ${section.id}-drawn`,
    });
    this.plot = svgElement("g");
    const layer = (name) => this.plot.appendChild(svgElement("g", { class: name }));
    this.layers = { grid: layer("grid"), axes: layer("axes") };
    this.capture = this.plot.appendChild(svgElement("rect", { class: "capture" }));
    for (const name of ["contours", "strips", "outlines", "margins", "cuts", "pins", "hovered", "gesture"]) this.layers[name] = layer(name);
    this.clip = svgElement("rect");
    const clipping = svgElement("clipPath", { id: `${section.id}-area` });
    clipping.append(this.clip);
    for (const name of ["contours", "outlines", "gesture"]) this.layers[name].setAttribute("clip-path", `url(#${section.id}-area)`);
    this.svg.append(clipping, this.plot);
    this.holder = element("div", { class: "holder" }, this.shade, this.canvas, this.svg);
    this.drawn = element("p", { class: "drawn", id: `${section.id}-drawn` });
    this.unzoom = button("", () => this.state.set({ box: null }), { class: "unzoom", hidden: true });
    this.beyond = new Beyond(this);
    section.append(this.holder, element("div", { class: "below" }, this.drawn, this.beyond.element, this.unzoom));
    const follow = () => {
      section.dataset.tool = this.state.tool;
    };
    this.state.subscribe(["tool"], follow);
    follow();
    this.section = section;
  }

  get isReady() {
    return Boolean(this.state.points && this.state.view && this.frame.columns);
  }

  #renew() {
    this.state.set({ graphics: this.renderer.trouble });
    this.canvas.style.visibility = this.renderer.works ? "" : "hidden"; /* browsers draw a white picture over the shading */
    this.#take("points");
    this.#take("marks");
    this.draw();
  }

  #take(what) {
    const { points, marks } = this.state;
    if (!points || !marks || !this.renderer.works) return;
    if (what === "marks") {
      this.renderer.setFlags(marks.flags);
      return;
    }
    this.renderer.setPoints(points);
    this.renderer.setColours(byteColours(points.legend));
  }

  /* What the axes show decides how much room they need. */
  #makeRoom() {
    const { points } = this.state;
    const { frame } = this;
    if (!points) return;
    const strips = roomOfStrips(points);
    const room = AxisMarks.roomOf(points, frame.isNarrow, strips.y > 0);
    if (same([room, strips], [frame.room, frame.strips])) return;
    Object.assign(frame, { room, strips });
    this.#resize();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.holder;
    if (clientWidth === 0) return;
    this.frame.resize(clientWidth, clientHeight);
    const { margin, width, height } = this.frame;
    const dense = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.shade]) {
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
      canvas.style.left = `${margin.left}px`;
      canvas.style.top = `${margin.top}px`;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.dense = canvasScale(this.canvas, width);
    this.plot.setAttribute("transform", `translate(${margin.left},${margin.top})`);
    for (const [name, value] of Object.entries({ x: 0, y: 0, width, height })) for (const area of [this.capture, this.clip]) area.setAttribute(name, value);
    this.draw();
  }

  /* At once: the next gesture may come before the next picture. */
  #follow() {
    const { view, points, box } = this.state;
    if (view && points) this.frame.follow(view.run, points, box);
  }

  #draw() {
    const { points, marks, box } = this.state;
    if (!points || !marks) return;
    this.#follow();
    if (this.areStale) {
      this.cells.draw();
      if (!this.cells.areShown) {
        this.#drawPoints();
        this.density.draw(this);
      }
      this.strips.draw();
    }
    this.areStale = false;
    this.axes.draw();
    this.contours.draw();
    this.#drawOutlines();
    this.margins.draw();
    this.cuts.draw();
    this.hover.draw();
    this.cellCard.draw();
    const how = { none: " This browser has no WebGL2: the map shows how many examples lie where, without points.", lost: " The map shows how many examples lie where, without points." }[this.renderer.trouble] ?? "";
    this.drawn.textContent = describeDrawn(this.state) + describeSpread(this.state) + how;
    this.beyond.draw();
    this.unzoom.hidden = !box;
    this.unzoom.textContent = this.frame.isStretched ? "Show the usual range" : "Show everything";
  }

  #drawPoints() {
    if (!this.renderer.works) return;
    const { marks, selected } = this.state;
    this.renderer.draw({
      box: this.frame.boxInSteps(),
      size: sizeOf(marks.drawn, this.frame) * this.dense,
      alpha: opacityOf(marks.drawn),
      drawnBit: DRAWN,
      grey: selected ? greyOf() : null,
    });
    const { mixes } = this.renderer; /* whether it does shows as it draws */
    if (mixes !== this.state.mixes) setTimeout(() => this.state.set({ mixes }));
  }

  #drawOutlines() {
    const { selection } = this.state;
    const { frame } = this;
    const fits = selection.x === frame.columns.x.name && selection.y === frame.columns.y.name;
    const line = (part) => part.polygon.map(([x, y]) => `${frame.at("x", x)},${frame.at("y", y)}`).join(" ");
    d3.select(this.layers.outlines)
      .selectAll("polygon")
      .data(fits ? selection.parts : [])
      .join("polygon")
      .attr("class", ({ op }) => (isElsewhen(this.state) ? `${op} elsewhen` : op))
      .attr("points", line);
  }
}

const canvasScale = (canvas, width) => canvas.width / width;

export function showMap(section, parts) {
  return new MapView(section, parts);
}
