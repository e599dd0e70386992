/*
 * tags.js: the tags that people give to examples: "wrong label", "keep". An example has one at most. The server keeps them if it
 * was started with --tags FILE; else they are in this page alone, until it is closed.
 *
 * state.tags is {run, isLoss, names, of, saved, problem}
 *     isLoss   does the run record losses? Then there are no labels to be put right
 *     names    what the keys 1, 2, … give. The first says that a label is wrong, the second that it is right, whatever they are called
 *     of       a Map from ids to {tag, label}; label: the one that the example should have, or null
 *     saved    does the server keep them? null: not known yet, and nothing can be tagged
 *     problem  why the last change was not saved, or null
 */
import { isOfLosses } from "./columns.js";

export const WRONG = 0;
export const KEEP = 1;
export const NAMES_MOST = 9;

const defaults = (isLoss) => [isLoss ? "wrong target" : "wrong label", "keep", "unsure"];
const UNSAVED = "Not saved, and gone when this page is closed: start with --tags FILE.";
const NAME_BYTES = 100;
const MOST = 10000; /* changes in one request */
const LOOK_MS = 3000;

const nothing = (run, isLoss = false) => ({ run, isLoss, names: defaults(isLoss), of: new Map(), saved: null, problem: null });

/* Names that are in use and have no key get one, if one is free. */
function namesOf({ names, tags }, isLoss) {
  const own = names.length > 0 ? names : defaults(isLoss);
  const used = tags.map(({ tag }) => tag).filter((tag) => !own.includes(tag));
  return [...own, ...new Set(used)].slice(0, Math.max(own.length, NAMES_MOST));
}

/* Why a text cannot be the name of a tag; null: it can. */
function whyNoName(name, others) {
  if (name.trim() === "") return "A tag needs a name.";
  if (new TextEncoder().encode(name).length > NAME_BYTES) return "This name is too long.";
  // oxlint-disable-next-line no-control-regex -- these are what the server refuses
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)) return "This name has control characters.";
  return others.includes(name) ? `There is a tag “${name}” already.` : null;
}

export class Tags {
  #state;
  #source;
  #runs = new Map(); /* the tags of each run, as they were when it was last looked at */
  #serial = undefined; /* that of the server's tags that this page has */
  #done = []; /* what undo() takes back: {run, changes, names} */
  #queue = Promise.resolve(); /* changes are sent one after another */
  #pending = 0;
  #turns = 0; /* changes made here: an answer to an older question is dropped */
  #timer = 0;
  #exported = new WeakSet(); /* tags, as `of` has them, that are in a file of the user's */

  constructor({ state, source }) {
    this.#state = state;
    this.#source = source;
    state.define("tags", nothing(""));
    state.subscribe(["view"], () => this.#follow());
    addEventListener("beforeunload", (event) => this.#isUnsaved && event.preventDefault());
  }

  #follow() {
    const { view, tags } = this.#state;
    if (!view || view.run === tags.run) return;
    this.#keep();
    this.#serial = undefined;
    this.#turns++;
    const known = this.#runs.get(view.run) ?? nothing(view.run, isOfLosses(view));
    this.#state.set({ tags: { ...known, saved: null, problem: null } });
    this.#look();
  }

  #keep() {
    const { tags } = this.#state;
    if (this.#isReady) this.#runs.set(tags.run, tags);
  }

  /* Other pages may have changed the tags that the server keeps. */
  async #look() {
    clearTimeout(this.#timer);
    const { run } = this.#state.tags;
    const turn = this.#turns;
    try {
      const isIdle = this.#pending > 0 || (document.hidden && this.#serial !== undefined);
      const answer = isIdle ? null : await this.#source.tags(run, this.#serial);
      if (answer && turn === this.#turns) this.#take(answer);
    } catch {
      /* The loader says what is wrong with the server. */
    }
    clearTimeout(this.#timer);
    if (this.#state.tags.saved !== false) this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }

  #take(answer) {
    const { tags } = this.#state;
    this.#serial = answer.serial;
    const kept = { names: namesOf(answer, tags.isLoss), of: new Map(answer.tags.map(({ id, tag, label }) => [String(id), { tag, label }])), saved: true };
    this.#state.set({ tags: answer.saved ? { ...tags, ...kept } : { ...tags, saved: false } });
  }

  /* Changes: [[id, {tag, label} or null], …]. undone: the step that they take back; without one, undo() can take back these. */
  #change(changes, names = null, undone = null) {
    const { tags } = this.#state;
    if (!this.#isReady) return;
    const before = { run: tags.run, changes: changes.map(([id]) => [id, tags.of.get(id) ?? null]), names: names && tags.names };
    const of = new Map(tags.of);
    for (const [id, said] of changes) {
      if (said) of.set(id, said);
      else of.delete(id);
    }
    if (!undone) this.#done.push(before);
    this.#turns++;
    this.#state.set({ tags: { ...tags, of, names: names ?? tags.names, problem: null } });
    if (tags.saved) this.#send(changes, names, before, undone);
  }

  #send(changes, names, before, undone) {
    const lines = changes.map(([id, said]) => ({ id: this.#idOf(id), tag: said?.tag ?? null, label: said?.label ?? null }));
    if (names) lines.unshift({ names });
    this.#pending++;
    this.#queue = this.#queue.then(async () => {
      try {
        for (let from = 0; from < lines.length; from += MOST) await this.#post(before.run, lines.slice(from, from + MOST));
      } catch (error) {
        this.#takeBack(changes, before, error, undone);
      }
      this.#pending--;
    });
  }

  /* If the serial shows that another page made changes, too, these are fetched at the next look. */
  async #post(run, lines) {
    const { serial } = await this.#source.tag(run, lines);
    if (run === this.#state.tags.run && this.#serial + lines.length === serial) this.#serial = serial;
  }

  /* Whole numbers stand in the server's file as numbers, if every reader of JSON reads them exactly. */
  #idOf(id) {
    const isNumber = this.#state.view.ids === "integer" && Number.isSafeInteger(Number(id));
    return isNumber ? Number(id) : id;
  }

  /* What was not saved is not shown as if it were. A server that keeps no tags any more leaves them to this page. */
  #takeBack(changes, before, { message, status }, undone) {
    const { tags } = this.#state;
    if (status !== 409) this.#done = [...this.#done.filter((one) => one !== before), ...(undone ? [undone] : [])];
    if (tags.run !== before.run) return;
    if (status === 409) {
      this.#state.set({ tags: { ...tags, saved: false } });
      return;
    }
    const of = new Map(tags.of);
    changes.forEach(([id, said], i) => {
      if ((of.get(id) ?? null) !== said) return; /* it was changed again */
      const [, known] = before.changes[i];
      if (known) of.set(id, known);
      else of.delete(id);
    });
    this.#turns++;
    this.#serial = undefined;
    this.#state.set({ tags: { ...tags, of, names: before.names ?? tags.names, problem: message } });
  }

  get #isReady() {
    return this.#state.tags.saved !== null;
  }

  /* Gives the tag with a number, from 0, to an example, or takes it away if the example has it. */
  toggle(id, number, label = null) {
    const { names, of } = this.#state.tags;
    const tag = names[number];
    if (tag === undefined) return;
    this.#change([[id, of.get(id)?.tag === tag ? null : { tag, label: number === WRONG ? label : null }]]);
  }

  takeAway(id) {
    if (this.#state.tags.of.has(id)) this.#change([[id, null]]);
  }

  setLabel(id, label) {
    const known = this.#state.tags.of.get(id);
    if (known && known.label !== label) this.#change([[id, { ...known, label }]]);
  }

  /* Takes back the last change to this run's tags. Returns the ids that it was about; null: there is nothing to take back. */
  undo() {
    const last = this.#done.findLast(({ run }) => run === this.#state.tags.run);
    if (!last || !this.#isReady) return null;
    this.#done = this.#done.filter((one) => one !== last);
    this.#change(last.changes, last.names, last);
    return last.changes.map(([id]) => id);
  }

  /* Are there changes, of any run, that are nowhere but in this page? */
  get #isUnsaved() {
    this.#keep();
    return [...this.#runs.values()].some((tags) => whyUnsaved(this.#source, tags) !== null && !this.#exported.has(tags.of));
  }

  /* These tags are all in a file of the user's. */
  noteExport({ of }) {
    this.#exported.add(of);
  }

  get canUndo() {
    return this.#done.some(({ run }) => run === this.#state.tags.run);
  }

  /* Gives a tag another name; one with the number of none yet is added. Returns why that cannot be, or null. */
  rename(number, wanted) {
    const { names, of } = this.#state.tags;
    const name = wanted.trim();
    if (!this.#isReady || names[number] === name) return null;
    const problem = whyNoName(name, names);
    if (problem) return problem;
    const changed = [...of].filter(([, { tag }]) => tag === names[number]).map(([id, said]) => [id, { ...said, tag: name }]);
    this.#change(changed, [...names.slice(0, number), name, ...names.slice(number + 1)]);
    return null;
  }

  /* Removes a tag that no example has. The first two stay, as they mean something. */
  remove(number) {
    this.#change([], this.#state.tags.names.filter((_, i) => i !== number));
  }
}

/* The ids of the examples that have a tag. */
export const idsWith = ({ of }, name) => [...of].filter(([, { tag }]) => tag === name).map(([id]) => id);

/* Why the tags that there are are not saved; null: they are, or there are none. */
export const whyUnsaved = (source, { saved, of }) => (saved === false && of.size > 0 ? source.whyNot("tags") ?? UNSAVED : null);

/* The label that the model would give an example, as far as the page knows the list of suspects; else null. */
export const suggestedFor = ({ ranking, view }, id) => (ranking?.run === view?.run && ranking?.rows.get(id)?.suggested) || null;
