/*
 * loader.js: fetches the data that the state asks for, and puts it into the state: view, points, shown, selected, marks.
 *
 * All data of one version of the view arrives together, so that places always mean the same examples.
 *
 * `points` is
 *     n            how many are here
 *     bytes        ArrayBuffer: n × uint16 x, n × uint16 y, n × uint8 colour (0 … 65534 from low to high; 65535: none)
 *     places       Uint32Array of n, or null: place i is point i
 *     x, y         {name, low, high, integer}: the columns; spread: between the values around which its points stand (spread.js);
 *                  low and high are then those of the room that they take
 *     legend       as api/legend answers, or null
 *     inside       how many the view's box holds; n < inside: the points are a sample
 *     density      {counts, columns, rows, box} where not all points are here, else null
 */
import { countBits, markPoints } from "./marks.js";
import { paintSaved } from "./saved_colour.js";
import { SavedMasks, savedOf } from "./saved_masks.js";
import { SourceError } from "./source.js";
import { spreadPoints } from "./spread.js";
import { filteredNow, isElsewhen, isSelecting, NOTHING, selectionNow } from "./selection.js";
import { same } from "./state.js";

const ALL_MOST = 1000000; /* so many points are loaded whole; of more, the density and a sample of the part in view */
const SAMPLE = 100000;
const CELLS = 256;
const RECORDING_MS = 1000;
const CLOSED_MS = 5000;
const REST = 4; /* times as long as the last update took until its picture: the pause before the next one */
const PICTURE_MS = 2000; /* the longest wait for a picture: a hidden page draws none */

export const columnOf = (view, name) => view.columns.find((column) => column.name === name);

/* Asks the list of runs first: the end of a run does not change the version of the view. */
export function isRecording({ runs, view }) {
  const run = runs?.find(({ name }) => name === view?.run) ?? view;
  return run?.state === "recording";
}

/* Keeps the result of the last request by its key. */
class Last {
  #key = null;
  #result = null;

  get(key, make) {
    const text = JSON.stringify(key);
    if (text !== this.#key) {
      this.#key = text;
      this.#result = make();
      this.#result.catch(() => {
        if (this.#key === text) this.#key = null;
      });
    }
    return this.#result;
  }
}

/* A promise for when the present state has been drawn. */
const nextPicture = () => new Promise((done) => {
  setTimeout(done, PICTURE_MS);
  requestAnimationFrame(() => setTimeout(done));
});

/* x, y and colour; the default in the place of a measure or column that the view does not have. */
export function axesOf(state, view) {
  const known = (name) => Boolean(columnOf(view, name));
  const first = view.columns[0]?.name;
  const pick = (name, otherwise) => (known(name) ? name : known(otherwise) ? otherwise : first);
  const isColour =
    known(state.colour) ||
    ["gold", "none", "saved"].includes(state.colour) ||
    (state.colour.startsWith("data:") && view.data_columns.includes(state.colour.slice(5)));
  return {
    x: pick(state.x, "variability"),
    y: pick(state.y, "confidence"),
    colour: isColour ? state.colour : "none",
  };
}

export class Loader {
  #state;
  #source;
  #ticket = 0;
  #points = new Last();
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
    state.subscribe(["run", "epochs"], () => this.#refresh(true));
    state.subscribe(["x", "y", "colour", "filters", "selection"], (changed) => {
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
    const axes = axesOf(this.#state, view);
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

  #loadColoured(view, at, axes) {
    const box = view.points > ALL_MOST ? this.#box(view, axes) : null;
    return this.#points.get([at, axes, box], async () => {
      const legend = axes.colour === "none" ? null : this.#source.legend(at, axes.colour);
      const loaded = await (box ? this.#loadPart(at, axes, box) : this.#source.points(at, axes));
      const points = {
        places: null,
        inside: loaded.n,
        density: null,
        ...loaded,
        x: columnOf(view, axes.x),
        y: columnOf(view, axes.y),
        colour: axes.colour,
        legend: await legend,
      };
      return spreadPoints(points, view);
    });
  }

  /* The box in view; without zoom, the whole extent of both measures. */
  #box(view, axes) {
    const of = (name) => {
      const { low, high } = columnOf(view, name);
      return low < high ? [low, high] : [low - 0.5, high + 0.5];
    };
    return this.#state.box ?? [...of(axes.x), ...of(axes.y)];
  }

  async #loadPart(at, axes, box) {
    const [part, counts] = await Promise.all([
      this.#source.inside(at, { ...axes, box, most: SAMPLE }),
      this.#source.bins(at, { ...axes, box, columns: CELLS, rows: CELLS }),
    ]);
    return { ...part, density: part.n < part.inside ? { counts, columns: CELLS, rows: CELLS, box } : null };
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
