/*
 * history.js: undo and redo, by two buttons and by Ctrl-Z, Ctrl-Shift-Z and Ctrl-Y. A step is a change of the state's keys listed
 * here. What is undone is exactly what it was, as values of the state are never changed in place. Another run, or the same one
 * recorded anew, begins with no steps.
 */
import { button, element } from "./dom.js";
import { same } from "./state.js";

/* What can be undone, and its name in a sentence. */
const KEYS = { selection: "the selection", filters: "the filters", cuts: "the cuts", saved: "the saved selections", pinned: "the pinned examples" };
const MERGED = "cuts"; /* each picture of a drag changes it: one press of the pointer or of a key is one step */
const STEPS_MOST = 100;

/* A text field undoes what is typed in it by itself. */
const ownUndo = "textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=range], [type=button], [type=file])";

/* "undo", "redo" or null. The letter is where it is on the keyboard, if the keyboard has no Latin letters. */
function commandOf({ key, code, ctrlKey, metaKey, altKey, shiftKey, target }) {
  if (!(ctrlKey || metaKey) || altKey || target.closest?.(ownUndo)) return null;
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : code.replace(/^Key/, "").toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : null;
}

export class History {
  #past = []; /* {before, after, changed}: values of the keys; which of them differ */
  #future = [];
  #now;
  #data = null; /* the run's data that the steps belong to */
  #press = 0; /* counts presses of the pointer and of keys */
  #lastPress = -1; /* during which the last step was made */

  constructor(state) {
    this.state = state;
    this.#now = this.#values();
    state.subscribe([...Object.keys(KEYS), "run", "view"], () => this.#follow());
  }

  #values() {
    return Object.fromEntries(Object.keys(KEYS).map((key) => [key, this.state[key]]));
  }

  /* What the page shows until its first view is no change of the user's. */
  #isOther() {
    const { run, view } = this.state;
    const data = view && view.run === run ? `${view.identity} ${run}` : null;
    const isOther = data !== this.#data || data === null;
    this.#data = data;
    return isOther;
  }

  #follow() {
    const before = this.#now;
    const after = this.#values();
    const changed = Object.keys(KEYS).filter((key) => !same(before[key], after[key]));
    this.#now = after;
    if (this.#isOther()) {
      this.#past = [];
      this.#future = [];
    } else if (changed.length > 0) {
      this.#add({ before, after, changed });
    }
    this.show?.();
  }

  #add(step) {
    const last = this.#past[this.#past.length - 1];
    const isOne = ({ changed }) => changed.length === 1 && changed[0] === MERGED;
    const isMore = last && this.#press === this.#lastPress && isOne(last) && isOne(step) && this.#future.length === 0;
    if (isMore) last.after = step.after;
    else this.#past.push(step);
    this.#past = this.#past.slice(-STEPS_MOST);
    this.#future = [];
    this.#lastPress = this.#press;
  }

  press() {
    this.#press++;
  }

  /* The keys that the next undo or redo changes, in words; null: there is none. */
  next(command) {
    const steps = command === "undo" ? this.#past : this.#future;
    const last = steps[steps.length - 1];
    return last ? last.changed.map((key) => KEYS[key]).join(" and ") : null;
  }

  /* Answers whether there was a step. */
  go(command) {
    const [from, to] = command === "undo" ? [this.#past, this.#future] : [this.#future, this.#past];
    const step = from.pop();
    if (!step) return false;
    to.push(step);
    const values = command === "undo" ? step.before : step.after;
    this.#now = { ...this.#now, ...Object.fromEntries(step.changed.map((key) => [key, values[key]])) };
    this.#lastPress = -1;
    this.state.set(this.#now);
    this.show?.();
    return true;
  }
}

const COMMANDS = [["undo", "↶", "Undo", "Ctrl-Z"], ["redo", "↷", "Redo", "Ctrl-Shift-Z"]];

export function showHistory(section, { state }) {
  const history = new History(state);
  const said = element("span", { class: "unseen", role: "status" });
  const act = (command) => {
    const what = history.next(command);
    if (history.go(command)) said.textContent = `${command === "undo" ? "Undone" : "Redone"}: ${what}.`;
  };
  const buttons = COMMANDS.map(([id, text]) => button(text, () => act(id), { id }));
  history.show = () => {
    for (const [i, [id, , word, keys]] of COMMANDS.entries()) {
      const what = history.next(id);
      buttons[i].disabled = what === null;
      buttons[i].title = what ? `${word} the change of ${what} (${keys})` : `Nothing to ${id} (${keys})`;
      buttons[i].setAttribute("aria-label", what ? `${word}: ${what}` : word);
    }
  };
  history.show();
  section.append(element("div", { class: "tools history", role: "group", "aria-label": "Undo and redo" }, ...buttons, said));
  addEventListener("pointerdown", () => history.press(), true);
  addEventListener("keydown", (event) => {
    if (!event.repeat) history.press();
    const command = commandOf(event);
    if (!command) return;
    event.preventDefault();
    act(command);
  }, true);
}
