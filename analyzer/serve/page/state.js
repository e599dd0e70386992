/*
 * state.js: the state of the page, in one object that can be observed.
 *
 *     const state = createState();
 *     state.define("sort", "id");                  // a key of your module
 *     state.define("sort", "id", true, isSort);    // … kept in the address; isSort(value) says whether the page can use a link's value
 *     state.run                                    // read
 *     state.set({ x: "aum", box: null });          // changes all keys, then calls each subscriber once
 *     state.subscribe(["view", "selected"], fn);   // fn(changed keys, state); returns a function that ends it
 *
 * Values are replaced, never changed in place. A subscriber may call set(): subscribers hear of its changes after the present ones.
 *
 * Kept in the address's fragment (a link shows the same):
 *     run, epochs     epochs is "A:B" as --epochs takes it, "": all
 *     x, y, colour    names of measures, "gold", "data:COLUMN"; colour also "none"
 *     cuts            {variability, confidence}, the cuts between the regions; null: the run's own
 *     box             [left, right, low, high] in the measures' units: the part in view; null: everything
 *     selection       {x, y, parts: [{op: "add" | "remove", polygon: [[x, y], …]}], epochs}; no parts: nothing is selected. It
 *                     keeps the epochs at which it was made when others are shown. The address leaves them out if they are
 *                     those shown. A selection of ids, or one made by a program, has `filters` too, even without parts. In a page
 *                     that is linked with a program, the server keeps such a selection, the address does not
 *     of              the identity (as api/view answers) and name of the run on which the selection was made; "": nothing is
 *                     selected. A run that is overwritten gets another identity
 *     filters         as a selection file has them: {gold: {in: []}, correctness: {min, max}, id: {in: []}},
 *                     and filters that need the user's own file: {"data:COLUMN": {in: []} or {min, max}, text: {contains: []}}
 *     pinned          ids, as texts
 *     saved           [{name, identity, selection}]: selections with names, of any run, as selection.js makes them; `identity` is that of
 *                     the run's data when the selection was saved
 *     tool            the effect of dragging on the map: "lasso", "box", "pan"
 *
 * Not kept; the loader (loader.js) fills in most of them:
 *     runs            as api/runs answers, or null
 *     view            as api/view answers, or null
 *     points          see loader.js
 *     shown           {bits, count}: which places pass the filters; null: all do
 *     selected        {bits, count}: which places are selected; null: there is no selection. A selection made at other epochs also has
 *                     `all`, its number of examples at those epochs, and `own`, the view of those epochs
 *     marks           {flags, drawn}: DRAWN and SELECTED (marks.js) for each loaded point; how many are drawn
 *     operation       the effect of a new part on the selection: "replace", "add", "remove"
 *     hovered         place of the example under the pointer, or null
 *     isLost          was a selection dropped since the run was overwritten?
 *     gone            a text that says why the run that was shown is not in the store any more; null: it is
 *     leftOut         which of `selection` and `saved` are left out of the address, as it would be too long
 *     busy, error     is data being loaded; a text about what went wrong, or null
 *     errorStatus     that of the error, as a SourceError has it: 0 is no answer; null: none
 */

import { filtersProblem, savedProblem, selectionProblem } from "./selection_check.js";

const KEPT = {
  run: "",
  epochs: "",
  x: "variability",
  y: "confidence",
  colour: "correctness",
  cuts: null,
  box: null,
  selection: { x: "", y: "", parts: [] },
  of: "",
  filters: {},
  pinned: [],
  saved: [],
  tool: "lasso",
};

const LOADED = {
  runs: null,
  view: null,
  points: null,
  shown: null,
  selected: null,
  marks: null,
  operation: "replace",
  hovered: null,
  isLost: false,
  gone: null,
  leftOut: [],
  busy: false,
  error: null,
  errorStatus: null,
};

const ADDRESS_MS = 150; /* between two changes of the address */
const ADDRESS_MOST = 32000; /* characters: browsers take a million, but show, copy and remember no more */

export function same(a, b) {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/* The value of a key as the fragment has it; undefined if it is not of the default's kind. */
function parse(text, otherwise) {
  if (typeof otherwise === "string") return text;
  try {
    const value = JSON.parse(text);
    const fits =
      otherwise === null ||
      (typeof value === typeof otherwise && Array.isArray(value) === Array.isArray(otherwise) && value !== null);
    return fits ? value : undefined;
  } catch {
    return undefined;
  }
}

/* A link may have been made by anybody: a value that the page cannot use is left out. */
const CHECKS = {
  box: (box) => box === null || (Array.isArray(box) && box.length === 4 && box.every(Number.isFinite) && box[0] < box[1] && box[2] < box[3]),
  cuts: (cuts) => cuts === null || (Number.isFinite(cuts.variability) && Number.isFinite(cuts.confidence)),
  selection: ({ parts, filters, ...others }) => Array.isArray(parts) &&
    ((parts.length === 0 && !filters) || selectionProblem(parts.length > 0 ? { ...others, parts, filters } : { ...others, filters }) === null),
  filters: (filters) => filtersProblem(filters) === null,
  pinned: (pinned) => pinned.every((id) => typeof id === "string"),
  saved: (saved) => savedProblem(saved) === null,
  tool: (tool) => ["lasso", "box", "pan"].includes(tool),
};

/* The selection in the form of the address. `epochs`: those shown. */
function forAddress({ epochs: own, ...selection }, epochs) {
  return own === undefined || own === epochs ? selection : { ...selection, epochs: own };
}

/* The selection from the form of the address. */
function fromAddress({ x, y, parts, epochs, filters }, shown) {
  if (parts.length === 0 && !filters) return KEPT.selection;
  return { x, y, parts, epochs: epochs ?? shown, ...(filters ? { filters } : {}) };
}

/* These may be too long for an address: they have a place in it after all others. */
const LONG = ["selection", "saved"];

/* Is a filter alone too long for an address? Its text is then not made at all. */
const isLong = ({ filters = {} }) => Object.values(filters).some((filter) => filter.in?.length > ADDRESS_MOST / 2);

export class State {
  #kept = { ...KEPT };
  #checks = { ...CHECKS };
  #subscribers = new Set();
  #changed = new Set();
  #telling = false;

  constructor() {
    Object.assign(this, KEPT, LOADED);
  }

  /* Adds a key. `kept`: it is part of the address. `check`: as in CHECKS. */
  define(key, value, kept = false, check = null) {
    this[key] = value;
    if (kept) this.#kept[key] = value;
    if (check) this.#checks[key] = check;
  }

  set(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (this[key] === value) continue;
      this[key] = value;
      this.#changed.add(key);
    }
    if (!this.#telling) this.#tell();
  }

  subscribe(keys, tell) {
    const subscriber = { keys: new Set(keys), tell };
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  #tell() {
    this.#telling = true;
    try {
      while (this.#changed.size > 0) {
        const changed = this.#changed;
        this.#changed = new Set();
        // oxlint-disable-next-line no-useless-spread -- who is told may subscribe others, which are not to be told of this
        for (const { keys, tell } of [...this.#subscribers]) {
          if ([...changed].some((key) => keys.has(key))) tell(changed, this);
        }
      }
    } finally {
      this.#telling = false;
    }
  }

  /* Of the keys that differ from their defaults, [name, text]; a text of null is too long. */
  #texts() {
    const { selection, saved, linked } = this;
    const isTooLong = { selection: isLong(selection), saved: saved.some((entry) => isLong(entry.selection)) };
    const isKeptElsewhere = (key) => linked && selection.filters && ["selection", "of"].includes(key);
    return Object.entries(this.#kept).flatMap(([key, otherwise]) => {
      if (isKeptElsewhere(key)) return [];
      if (isTooLong[key]) return [[key, null]];
      if (same(this[key], otherwise)) return [];
      const value = key === "selection" ? forAddress(selection, this.epochs) : this[key];
      return [[key, typeof otherwise === "string" ? value : JSON.stringify(value)]];
    });
  }

  /* {fragment, leftOut}: the keys that differ from their defaults, as a fragment without "#", and which of them are too long for it. */
  #address() {
    const all = this.#texts();
    const parts = new URLSearchParams(all.filter(([key]) => !LONG.includes(key)));
    const leftOut = [];
    for (const [key, text] of all.filter(([name]) => LONG.includes(name))) {
      const added = text === null ? "" : new URLSearchParams([[key, text]]).toString();
      const isOwn = key === "selection" && !this.selection.filters; /* an outline */
      if (text !== null && (isOwn || parts.toString().length + added.length < ADDRESS_MOST)) parts.set(key, text);
      else leftOut.push(key);
    }
    return { fragment: parts.toString(), leftOut };
  }

  fragment() {
    return this.#address().fragment;
  }

  /* Sets all kept keys, by the fragment, or to their defaults. */
  load(fragment) {
    const parts = new URLSearchParams(fragment.replace(/^#/, ""));
    const changes = {};
    for (const [key, otherwise] of Object.entries(this.#kept)) {
      let value = parts.has(key) ? parse(parts.get(key), otherwise) : undefined;
      if (value !== undefined && this.#checks[key] && !this.#checks[key](value)) value = undefined;
      if (value === undefined) value = otherwise;
      if (key === "selection") value = fromAddress(value, changes.epochs ?? this.epochs);
      if (!same(value, this[key])) changes[key] = value;
    }
    this.set(changes);
  }

  /*
   * Reads the address, and then writes each change of the state into it at once, so that a copied link shows the same page. While
   * changes come fast, it writes every ADDRESS_MS, as browsers refuse more.
   */
  followAddress() {
    this.load(location.hash);
    let isResting = false;
    let isBehind = false;
    const write = () => {
      isBehind = isResting;
      if (isResting) return;
      const { fragment, leftOut } = this.#address();
      if (!same(leftOut, this.leftOut)) this.set({ leftOut });
      if (fragment === location.hash.slice(1)) return;
      isResting = true;
      setTimeout(() => {
        isResting = false;
        if (isBehind) write();
      }, ADDRESS_MS);
      try {
        history.replaceState(null, "", "#" + fragment);
      } catch {
        /* This browser does not let a script change the address. The page works without. */
      }
    };
    this.subscribe(Object.keys(this.#kept), write);
    addEventListener("hashchange", () => this.load(location.hash));
  }
}

export function createState() {
  return new State();
}
