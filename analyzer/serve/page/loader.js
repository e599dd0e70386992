/*
 * loader.js: fetches the data that the state asks for, and puts it into the state: view, points, shown, selected, marks.
 *
 * All data of one version of the view arrives together, so that places always mean the same examples.
 *
 * `points` is
 *     n            how many are here
 *     bytes        ArrayBuffer: n × uint16 x, n × uint16 y, n × uint8 colour (0 … 65534 from low to high; 65535: none)
 *     places       Uint32Array of n, or null: place i is point i
 *     x, y         the columns of the axes: {name, kind, integer, low, high, least, values} (columns.js), and where their points
 *                  are drawn: {scale, grid, bend, from, to, isPiled} (spread.js); none: how many examples have no value; grid: the
 *                  distance of two values, 0: they may be any
 *     legend       as api/legend answers, or null
 *     inside       how many the view's box holds; n < inside: the points are a sample
 *     everywhere   where only those in the box were asked for: how many have values on both axes
 *     density      {counts, columns, rows, box} where not all points are here, else null
 *
 * Its keys of the state, all kept in the address:
 *     xScale, yScale, colourScale    "linear" or "log"
 *     picked                         {name of a colour: [labels]}: the categories that have colours of their own
 *     pile                           points that share a value: "jitter" spreads them, "size" and "heat" pile them (cells.js)
 */
import { AxisColumns, columnOf, Last } from "./axis_columns.js";
import { isOfLosses, meanOf } from "./columns.js";
import { countBits, markPoints } from "./marks.js";
import { OTHERS } from "./palette.js";
import { Ranges } from "./ranges.js";
import { isScale, sameBend } from "./scales.js";
import { paintSaved } from "./saved_colour.js";
import { SavedMasks, savedOf } from "./saved_masks.js";
import { SourceError } from "./source.js";
import { placePoints } from "./spread.js";
import { filteredNow, isElsewhen, isSelecting, NOTHING, selectionNow } from "./selection.js";
import { same } from "./state.js";

const ALL_MOST = 1000000; /* so many points are loaded whole; of more, the density and a sample of the part in view */
const SAMPLE = 100000;
const CELLS = 256;
const RECORDING_MS = 1000;
const CLOSED_MS = 5000;
const REST = 4; /* times as long as the last update took until its picture: the pause before the next one */
const PICTURE_MS = 2000; /* the longest wait for a picture: a hidden page draws none */

/* Asks the list of runs first: the end of a run does not change the version of the view. */
export function isRecording({ runs, view }) {
  const run = runs?.find(({ name }) => name === view?.run) ?? view;
  return run?.state === "recording";
}

/* A promise for when the present state has been drawn. */
const nextPicture = () => new Promise((done) => {
  setTimeout(done, PICTURE_MS);
  requestAnimationFrame(() => setTimeout(done));
});

/* x, y and colour; the default in the place of a measure or column that the view does not have. */
export function axesOf(state, view) {
  const isMeasure = (name) => Boolean(columnOf(view, name));
  const isKnown = (name) => isMeasure(name) || name === "gold" || (name.startsWith("data:") && view.data_columns.includes(name.slice(5)));
  const first = view.columns[0]?.name;
  const pick = (name, otherwise) => (isKnown(name) ? name : isMeasure(otherwise) ? otherwise : first);
  return {
    x: pick(state.x, "variability"),
    y: pick(state.y, meanOf(view)),
    colour: isKnown(state.colour) || state.colour === "saved" ? state.colour : isOfLosses(view) && state.colour === "correctness" ? "learning_speed" : "none",
  };
}

/* The axes and how they are drawn, as questions to the source name them. */
function wantedOf(state, view) {
  const axes = axesOf(state, view);
  const { xScale, yScale, colourScale } = state;
  return { ...axes, xScale, yScale, colourScale, pick: state.picked[axes.colour] };
}

/* At most as many as there are colours. */
const arePicked = (picked) => Object.values(picked).every((labels) => Array.isArray(labels) && labels.length > 0 && labels.length <= OTHERS && labels.every((label) => typeof label === "string"));

export class Loader {
  #state;
  #source;
  #ticket = 0;
  #columns;
  #points = new Last();
  #placed = { key: [], points: null };
  #shown = new Last();
  #selected = new Last();
  #painted = null; /* {of, result}: what #paint() last answered, and of what */
  #timer = 0;
  #boxTimer = 0;
  #failed = false;
  #took = 0; /* milliseconds that the last update of a grown run took */
  #viewOf = null; /* the run and epochs that the state's view was asked with */

  constructor(state, source) {
    this.#state = state;
    this.#source = source;
    this.savedMasks = new SavedMasks(source);
    this.#columns = new AxisColumns(source);
    this.ranges = new Ranges();
    for (const key of ["xScale", "yScale", "colourScale"]) state.define(key, "linear", true, isScale);
    state.define("picked", {}, true, arePicked);
    state.define("pile", "jitter", true, (pile) => ["jitter", "size", "heat"].includes(pile));
    state.subscribe(["run", "epochs"], () => this.#refresh(true));
    state.subscribe(["x", "y", "colour", "xScale", "yScale", "colourScale", "picked", "pile", "filters", "selection"], (changed) => {
      if (!changed.has("run") && !changed.has("epochs")) this.#refresh(false);
    });
    state.subscribe(["saved"], (changed) => {
      if (state.colour === "saved" && !["run", "epochs", "colour"].some((key) => changed.has(key))) this.#refresh(false);
    });
    state.subscribe(["box"], () => this.#followBox());
    state.subscribe(["gone"], () => !state.gone && this.#refresh(true));
  }

  /* Which view is shown now, for questions to the source. */
  at() {
    const { run, range, version } = this.#state.view;
    return { run, epochs: range, version };
  }

  /* When a view has too many points to load whole, another box needs another part. */
  #followBox() {
    clearTimeout(this.#boxTimer);
    if (this.#state.view?.points > ALL_MOST) this.#boxTimer = setTimeout(() => this.#refresh(false), 120);
  }

  #isOfState() {
    return Boolean(this.#state.view) && same(this.#viewOf, [this.#state.run, this.#state.epochs]);
  }

  async #refresh(newView) {
    const ticket = ++this.#ticket;
    const state = this.#state;
    if (!state.run || state.gone) return;
    state.set({ busy: true });
    try {
      const view = newView || !this.#isOfState() ? await this.#source.view(state.run, state.epochs) : state.view;
      const found = await this.#loadAll(view);
      if (ticket !== this.#ticket) return;
      this.#take({ ...found, busy: false });
    } catch (error) {
      if (ticket === this.#ticket) this.#fail(error);
    }
    if (ticket === this.#ticket) this.#poll();
  }

  /* Puts loaded data into the state, whose run and epochs it belongs to. */
  #take(found) {
    const { run, epochs, gone } = this.#state;
    if (gone) return;
    this.#failed = false;
    this.#viewOf = [run, epochs];
    this.#state.set({ ...found, error: null, errorStatus: null });
  }

  /* A selection that was made before the run was overwritten is of other data: it is dropped. */
  async #loadAll(view) {
    const state = this.#state;
    this.ranges.meet(view);
    const at = { run: view.run, epochs: view.range, version: view.version };
    const own = `${view.identity} ${view.run}`;
    const isLost = isSelecting(state) && state.of !== own && state.of.endsWith(` ${view.run}`);
    const selection = isLost ? NOTHING : state.selection;
    const of = { run: view.run, filters: state.filters, selection, view };
    const [points, shown, selected] = await Promise.all([
      this.#loadPoints(view, at),
      this.#loadMask(this.#shown, at, filteredNow(of)),
      this.#loadMask(this.#selected, at, selectionNow(of), isElsewhen(of)),
    ]);
    const isKnown = state.points === points && state.shown === shown && state.selected === selected;
    const marks = isKnown ? state.marks : markPoints(points, shown, selected);
    const now = { of: isSelecting({ selection }) ? own : "", ...(isLost ? { selection, isLost } : {}) };
    if (points.isUnpicked) now.picked = Object.fromEntries(Object.entries(state.picked).filter(([colour]) => colour !== points.colour));
    const isAnew = state.view?.run === view.run && state.view.identity !== view.identity;
    return { view, points, shown, selected, marks, ...now, ...(isAnew ? { isOverwritten: true } : {}) };
  }

  #loadMask(last, at, selection, isOfOthers) {
    return last.get([at, selection, isOfOthers], async () => {
      if (!selection) return null;
      if (isOfOthers) return this.#loadCarried(at, selection);
      const bits = await this.#source.mask(at, selection);
      return { bits, count: countBits(bits) };
    });
  }

  /* A selection that was made at other epochs: the epochs shown may lack some of its examples. */
  async #loadCarried(at, selection) {
    const own = await this.#source.view(at.run, selection.epochs);
    const [bits, all] = await Promise.all([
      this.#source.mask(at, selection),
      this.#source.count({ run: at.run, epochs: own.range, version: own.version }, selection),
    ]);
    return { bits, count: countBits(bits), all, own };
  }

  async #loadPoints(view, at) {
    const axes = wantedOf(this.#state, view);
    if (axes.colour !== "saved") return this.#loadColoured(view, at, axes);
    const saved = savedOf({ saved: this.#state.saved, run: view.run });
    const [points, masks] = await Promise.all([this.#loadColoured(view, at, { ...axes, colour: "none" }), this.savedMasks.all(at, saved)]);
    return this.#paint(points, view, saved, masks);
  }

  /* The same points as before, if nothing has changed: what is drawn then stays. */
  #paint(points, view, saved, masks) {
    const of = [points, ...saved, ...masks];
    const last = this.#painted;
    if (last?.of.length === of.length && last.of.every((one, i) => one === of[i])) return last.result;
    const result = paintSaved(points, view, saved, masks);
    this.#painted = { of, result };
    return result;
  }

  async #loadColoured(view, at, wanted) {
    const { run } = view;
    const isPart = view.points > ALL_MOST;
    const [x, y] = await Promise.all(["x", "y"].map((axis) => this.#columns.load(axis, wanted[axis], wanted[`${axis}Scale`], { at, view, isPart })));
    const box = isPart ? this.#boxOf(run, { x, y }) : null;
    const loaded = await this.#points.get([at, wanted, box], async () => {
      const found = await this.#loadPicked(at, wanted, box);
      return isPart ? { ...found, x, y } : { ...found, x: this.#columns.describe(x, found, 0, view), y: this.#columns.describe(y, found, 1, view) };
    });
    return this.#place(run, loaded);
  }

  /* A link, or another run, may pick categories that are not there: then the largest have colours, and the picks are forgotten. */
  async #loadPicked(at, wanted, box) {
    try {
      const [points, legend] = await Promise.all([
        box ? this.#loadPart(at, wanted, box) : this.#source.points(at, wanted),
        wanted.colour === "none" ? null : this.#source.legend(at, wanted.colour, wanted),
      ]);
      return { places: null, inside: points.n, density: null, ...points, colour: wanted.colour, legend };
    } catch (error) {
      if (!wanted.pick || error.status !== 400) throw error;
      return { ...(await this.#loadPicked(at, { ...wanted, pick: undefined }, box)), isUnpicked: true };
    }
  }

  /* {inView, whole}: the box in view; that of everything, if it is to be said how many examples lie beyond. */
  #boxOf(run, columns) {
    for (const column of [columns.x, columns.y]) this.ranges.widen(run, column);
    const { usual, whole } = this.ranges.boxes(run, columns);
    const box = this.ranges.fit(run, columns, this.#state.box);
    return { inView: box ?? usual, whole: box || same(usual, whole) ? null : whole };
  }

  /* The points where they are drawn. Axes stay as they are while epochs change. */
  #place(run, loaded) {
    const { ranges } = this;
    const { pile } = this.#state;
    for (const column of [loaded.x, loaded.y]) ranges.widen(run, column);
    const bends = { x: ranges.bend(run, loaded.x), y: ranges.bend(run, loaded.y) };
    const key = [loaded, JSON.stringify(bends), pile];
    if (!key.every((part, i) => part === this.#placed.key[i])) this.#placed = { key, points: placePoints(loaded, bends, pile) };
    return this.#placed.points;
  }

  /* Is told that the axes shown have become wider: their points may stand elsewhere now, and more of them may be in view. */
  follow() {
    const { points, view, busy, box } = this.#state;
    if (busy || !points || !view) return; /* what is being loaded takes the ranges at its end */
    const isBent = [points.x, points.y].some((column) => !sameBend(column.bend, this.ranges.bend(view.run, column)));
    if (isBent || (view.points > ALL_MOST && !box)) this.#refresh(false);
  }

  async #loadPart(at, wanted, { inView: box, whole }) {
    const [part, counts, all] = await Promise.all([
      this.#source.inside(at, { ...wanted, box, most: SAMPLE }),
      this.#source.bins(at, { ...wanted, box, columns: CELLS, rows: CELLS }),
      whole && this.#source.inside(at, { ...wanted, colour: "none", box: whole, most: 1 }),
    ]);
    const density = part.n < part.inside ? { counts, columns: CELLS, rows: CELLS, box } : null;
    return { ...part, density, ...(all ? { everywhere: all.inside } : {}) };
  }

  #fail(error) {
    if (error instanceof SourceError && error.gone) {
      this.#refresh(true);
      return;
    }
    this.#failed = error.status !== 400; /* a wrong question is not asked again */
    if (!(error instanceof SourceError)) console.error(error);
    this.#state.set({ busy: false, error: error.message, errorStatus: error.status ?? null });
  }

  /* Asks again after a while whether the run has grown. */
  #poll() {
    clearTimeout(this.#timer);
    if (!this.#source.live) return;
    const isSlow = this.#state.view && !isRecording(this.#state);
    this.#timer = setTimeout(() => this.#look(), Math.max(isSlow ? CLOSED_MS : RECORDING_MS, REST * this.#took));
  }

  async #look() {
    if (this.#state.gone) return;
    if (this.#failed) {
      this.#refresh(true);
      return;
    }
    const ticket = this.#ticket;
    const state = this.#state;
    const began = performance.now();
    try {
      const known = this.#isOfState() ? state.view.version : undefined;
      const view = document.hidden ? null : await this.#source.view(state.run, state.epochs, known);
      if (ticket !== this.#ticket) return;
      if (view) {
        const found = await this.#loadAll(view);
        if (ticket !== this.#ticket) return;
        this.#take(found);
        await nextPicture();
        this.#took = performance.now() - began;
      }
    } catch (error) {
      if (ticket === this.#ticket) this.#fail(error);
    }
    if (ticket === this.#ticket) this.#poll();
  }
}

export function createLoader(state, source) {
  return new Loader(state, source);
}
