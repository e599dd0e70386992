/*
 * gestures.js: pointer and keys on the map: lasso and box, moving and zooming, hovering and pinning, going from point to
 * point.
 */
import { mark } from "./dom.js";
import { DRAWN } from "./marks.js";
import { Grid } from "./nearest.js";
import { addPart, clearSelection, operationOf } from "./parts.js";
import { boxPolygon } from "./selection.js";

const REACH = 14; /* pixels: a point within this distance is under the pointer */
const APART = 3; /* pixels between the corners of a lasso */
const CLICK = 4; /* pixels: a press that moves less is a click */

class Gestures {
  #grid = null;
  #gridOf = null;

  constructor(map) {
    this.map = map;
    this.state = map.state;
    this.#listenToZoom();
    this.#listenToPointer();
    map.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  get grid() {
    if (this.#gridOf !== this.state.points) {
      this.#gridOf = this.state.points;
      this.#grid = new Grid(this.state.points);
    }
    return this.#grid;
  }

  #listenToZoom() {
    const { map, state } = this;
    let last = d3.zoomIdentity;
    const zoom = d3
      .zoom()
      .filter(() => !d3.event.button && (d3.event.type === "wheel" || state.tool === "pan" || d3.event.touches?.length > 1))
      .on("start", () => {
        last = d3.event.transform;
      })
      .on("zoom", () => {
        const { transform } = d3.event;
        if (!map.isReady) return;
        const k = transform.k / last.k;
        state.set({ box: map.frame.moved(k, transform.x - last.x * k, transform.y - last.y * k) });
        last = transform;
      })
      .on("end", () => {
        map.capture.__zoom = d3.zoomIdentity; /* the state has the box; d3 would otherwise stop at limits of its own */
      });
    d3.select(map.capture).call(zoom).on("dblclick.zoom", null);
    map.capture.addEventListener("dblclick", () => map.isReady && state.set({ box: map.frame.back(state.box) }));
  }

  #at(event) {
    const { left, top } = this.map.svg.getBoundingClientRect();
    const { margin, width, height } = this.map.frame;
    const clamp = (value, most) => Math.min(most, Math.max(0, value));
    return [clamp(event.clientX - left - margin.left, width), clamp(event.clientY - top - margin.top, height)];
  }

  #listenToPointer() {
    const { capture } = this.map;
    let drag = null;
    capture.addEventListener("pointerdown", (event) => {
      drag = null;
      this.#sketch([]); /* a second finger zooms */
      if (event.button !== 0 || !event.isPrimary || !this.map.isReady) return;
      drag = { from: this.#at(event), points: [this.#at(event)], moved: false, draws: this.state.tool !== "pan" };
      if (drag.draws) capture.setPointerCapture(event.pointerId);
    });
    capture.addEventListener("pointermove", (event) => {
      if (!this.map.isReady) return;
      if (!drag) {
        this.#hover(this.#at(event));
        return;
      }
      this.#follow(drag, this.#at(event));
    });
    const end = (event, isDone) => {
      if (!drag) return;
      const ended = drag;
      drag = null;
      this.#sketch([]);
      if (!isDone) return;
      if (!ended.moved) this.#click(this.#at(event), event);
      else if (ended.draws) this.#select(ended, event);
    };
    capture.addEventListener("pointerup", (event) => end(event, true));
    capture.addEventListener("pointercancel", (event) => end(event, false));
    capture.addEventListener("pointerleave", () => {
      if (drag) return;
      this.state.set({ hovered: null });
      this.map.cellCard.leave();
    });
  }

  #follow(drag, at) {
    const [lastX, lastY] = drag.points[drag.points.length - 1];
    if (Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) > CLICK) drag.moved = true;
    if (!drag.draws || Math.hypot(at[0] - lastX, at[1] - lastY) < APART) return;
    if (this.state.tool === "box") drag.points = [drag.from, at];
    else drag.points.push(at);
    if (drag.moved) this.#sketch(this.#corners(drag));
  }

  #corners({ points }) {
    if (this.state.tool !== "box") return points;
    const [[x0, y0], [x1, y1]] = points.length > 1 ? points : [points[0], points[0]];
    return boxPolygon([Math.min(x0, x1), Math.max(x0, x1), Math.min(y0, y1), Math.max(y0, y1)]);
  }

  #sketch(corners) {
    d3.select(this.map.layers.gesture).selectAll("polygon").data(corners.length > 0 ? [corners] : []).join("polygon").attr("points", (list) => list.join(" "));
  }

  #select(drag, event) {
    const corners = this.#corners(drag);
    if (corners.length < 3) return;
    const { frame } = this.map;
    mark("lasso-ended");
    addPart(this.state, frame.columns, frame.polygon(corners), operationOf(event, this.state));
  }

  /* The place of the point nearest to a pixel, or null. */
  #nearest([atX, atY]) {
    const { frame } = this.map;
    const { points, marks } = this.state;
    const stepsX = frame.steps("x", frame.x.invert(atX));
    const stepsY = frame.steps("y", frame.y.invert(atY));
    const perX = frame.pixel(1, 0).x - frame.pixel(0, 0).x;
    const perY = frame.pixel(0, 0).y - frame.pixel(0, 1).y;
    const far = (dx, dy) => {
      const pixels = (dx * perX) ** 2 + (dy * perY) ** 2;
      return pixels <= REACH * REACH ? pixels : Infinity;
    };
    const i = this.grid.find(stepsX, stepsY, REACH / perX, REACH / perY, marks.flags, far);
    return i < 0 ? null : points.places ? points.places[i] : i;
  }

  #hover(at) {
    if (this.map.cells.areShown) {
      this.map.cellCard.point(at);
      return;
    }
    mark("pointer-moved");
    this.state.set({ hovered: this.#nearest(at) });
  }

  #click(at, event) {
    if (this.map.cells.areShown) {
      this.map.cellCard.point(at);
      this.map.cellCard.select(event);
      return;
    }
    const place = this.#nearest(at);
    this.state.set({ hovered: place });
    if (place !== null) this.map.hover.pin(place);
  }

  #key(event) {
    if (event.target !== this.map.svg || !this.map.isReady || event.ctrlKey || event.metaKey) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const { frame } = this.map;
    const { width, height } = frame;
    const zoomBy = (k) => this.state.set({ box: frame.moved(k, (width * (1 - k)) / 2, (height * (1 - k)) / 2) });
    const actions = {
      "+": () => zoomBy(1.5),
      "=": () => zoomBy(1.5),
      "-": () => zoomBy(1 / 1.5),
      0: () => this.state.set({ box: frame.back(this.state.box) }),
      ...(this.map.cells.areShown ? this.#keysOfCells(event) : this.#keysOfPoints()),
    };
    if (arrow && event.shiftKey) this.state.set({ box: frame.moved(1, (-arrow[0] * width) / 8, (arrow[1] * height) / 8) });
    else if (arrow && this.map.cells.areShown) this.map.cellCard.go(arrow);
    else if (arrow) this.#go(this.#beside(arrow));
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }

  #keysOfPoints() {
    return {
      Home: () => this.#go(this.#first()),
      Enter: () => this.state.hovered !== null && this.map.hover.pin(this.state.hovered),
      Escape: () => (this.state.hovered !== null ? this.state.set({ hovered: null }) : clearSelection(this.state)),
    };
  }

  #keysOfCells(event) {
    const { cellCard } = this.map;
    return {
      Home: () => cellCard.first(),
      Enter: () => cellCard.select(event),
      Escape: () => (cellCard.isOpen ? cellCard.leave() : clearSelection(this.state)),
    };
  }

  /* The point nearest to the middle of the view. */
  #first() {
    const [left, right, low, high] = this.map.frame.boxInSteps();
    return this.#search((left + right) / 2, (low + high) / 2, () => true);
  }

  /* The next point in a direction, rather ahead than aside; the first one, where none is hovered. */
  #beside([stepX, stepY]) {
    const { points, hovered } = this.state;
    const i = hovered === null ? -1 : points.places ? points.places.indexOf(hovered) : hovered;
    if (i < 0 || i >= points.n) return this.#first();
    return this.#search(this.grid.x[i], this.grid.y[i], (dx, dy) => {
      const ahead = dx * stepX + dy * stepY;
      return ahead > 0 && Math.abs(dx * stepY + dy * stepX) <= ahead;
    });
  }

  /* The number of the nearest drawn point in view that fits, or −1; the search widens step by step. */
  #search(atX, atY, fits) {
    const [left, right, low, high] = this.map.frame.boxInSteps();
    const { flags } = this.state.marks;
    const [scaleX, scaleY] = [1 / (right - left), 1 / (high - low)];
    for (let share = 1 / 64; share <= 2; share *= 2) {
      const far = (dx, dy) => {
        const inView = atX + dx >= left && atX + dx <= right && atY + dy >= low && atY + dy <= high;
        const distance = Math.hypot(dx * scaleX, dy * scaleY);
        return inView && distance <= share && fits(dx * scaleX, dy * scaleY) ? distance : Infinity;
      };
      const i = this.grid.find(atX, atY, share / scaleX, share / scaleY, flags, far);
      if (i >= 0 && flags[i] & DRAWN) return i;
    }
    return -1;
  }

  #go(i) {
    const { points } = this.state;
    if (i >= 0) this.state.set({ hovered: points.places ? points.places[i] : i });
  }
}

export function listenToGestures(map) {
  return new Gestures(map);
}
