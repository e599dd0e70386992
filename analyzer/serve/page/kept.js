/*
 * kept.js: shares the selection with programs (portolan.serve() in Python). The server keeps each selection that is made here. A
 * page whose address says linked=true, as that of a notebook does, also takes over each newer selection that the server keeps.
 * Other pages, perhaps of other people, stay as they are. The last selection wins.
 *
 * A page whose address has a selection begins with that one; a linked page without one begins with the one that the server keeps.
 */
import { NOTHING, selectionNow } from "./selection.js";
import { same } from "./state.js";

const LOOK_MS = 1000;
const REST_MS = 200; /* from a change until it is sent: more changes often follow, as while epochs are played */

/* The selection for the server to keep. If all epochs are shown, it covers all, also those to come. null: nothing is selected. */
function toKeep({ run, epochs, selection, filters }) {
  const object = selectionNow({ run, epochs, selection, filters });
  if (object && !object.epochs) delete object.epochs;
  return object;
}

/* The server asks for measures even in a selection without parts. */
const nothingOf = ({ run, view }) => ({ run, x: view.columns[0].name, y: view.columns[0].name, parts: [] });

/* Labels by their numbers, as the page's own filters have them. */
function byNumber(filters, { gold }) {
  if (!filters?.gold?.in) return filters;
  const number = (wanted) => gold?.values.find(({ label }) => label === wanted)?.value ?? wanted;
  return { ...filters, gold: { in: filters.gold.in.map(number) } };
}

/* The change of state that shows a kept selection. Filters that the page does not have become the selection's own. */
function toShow(kept, state) {
  const { x = "", y = "", epochs = "" } = kept;
  const parts = kept.parts ?? (kept.polygon ? [{ op: "add", polygon: kept.polygon }] : []);
  const filters = byNumber(kept.filters, state.view);
  if (kept.parts?.length === 0 || (parts.length === 0 && !filters)) return { selection: NOTHING };
  const isOwn = filters && (parts.length === 0 || !same(filters, state.filters));
  return { selection: isOwn ? { x, y, parts, epochs, filters } : { x, y, parts, epochs } };
}

class Kept {
  #state;
  #source;
  #run = null;
  #serial = 0; /* that of the selection on which this page and the server agree */
  #agreed = "null"; /* that selection, as toKeep() makes it */
  #timer = 0;
  #isAsking = false;

  constructor({ state, source }) {
    this.#state = state;
    this.#source = source;
    state.define("linked", false, true);
    state.subscribe(["run", "epochs", "selection", "filters", "view"], () => this.#wait(REST_MS));
    this.#wait(REST_MS);
  }

  #wait(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#turn(), milliseconds);
  }

  async #turn() {
    const state = this.#state;
    if (this.#isAsking || state.gone || !state.view || state.view.run !== state.run) {
      this.#wait(REST_MS);
      return;
    }
    this.#isAsking = true;
    try {
      if (this.#run !== state.run) this.#begin();
      const own = toKeep(state);
      if (JSON.stringify(own) !== this.#agreed) await this.#keep(own);
      else if (state.linked && !document.hidden) await this.#look();
    } catch {
      /* The loader reports what is wrong with the server or with the selection. */
    }
    this.#isAsking = false;
    this.#wait(LOOK_MS);
  }

  /* Starts with a run whose kept selection is not known yet. */
  #begin() {
    this.#run = this.#state.run;
    this.#serial = 0;
    this.#agreed = "null";
  }

  async #keep(own) {
    try {
      this.#serial = (await this.#source.keep(this.#run, own ?? nothingOf(this.#state))).serial;
    } catch (error) {
      const isRefused = error.status >= 400 && error.status < 500;
      if (!isRefused) throw error; /* a refused selection would be refused again */
    }
    this.#agreed = JSON.stringify(own);
  }

  async #look() {
    const state = this.#state;
    const { run } = state;
    const answer = await this.#source.keptSelection(run, this.#serial);
    const isLate = run !== state.run || JSON.stringify(toKeep(state)) !== this.#agreed;
    if (!answer || isLate) return;
    if (answer.serial < this.#serial) {
      this.#begin(); /* the server was started anew, and keeps nothing yet */
      return;
    }
    this.#serial = answer.serial;
    state.set(toShow(answer.selection, state));
    this.#agreed = JSON.stringify(toKeep(state));
  }
}

export function keepSelection(parts) {
  if (parts.source.live) new Kept(parts);
}
