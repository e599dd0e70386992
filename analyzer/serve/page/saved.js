/*
 * saved.js: saves selections with names, in the state and so in the page's address, and in files. The list shows how many
 * examples each has, of all that the run ever observed; those ticked are compared (saved_compare.js), the map can be coloured by
 * them (saved_colour.js).
 */
import { nameOf } from "./about.js";
import { button, count, element } from "./dom.js";
import { saveFile } from "./export.js";
import { chosenNow, follow } from "./follow.js";
import { categoryColour, onTheme } from "./palette.js";
import { savedRank } from "./saved_colour.js";
import { showCompared } from "./saved_compare.js";
import { addSaved, changedSince, membershipTable, readSelections, selectionsText, selectionText } from "./saved_files.js";
import { savedOf } from "./saved_masks.js";
import { cleanName, NAME_MOST, nameProblem, SAVED_MOST, selectionProblem } from "./selection_check.js";
import { toSelect } from "./selection.js";

const FILE = "selections.json";
const FILE_MOST = 256 << 20; /* bytes */

const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

/* How a selection was made, in words. */
function describe({ x, y, parts, epochs, filters = {} }) {
  const { id, ...others } = filters;
  const said = [];
  if (parts) said.push(`${nameOf(x)} × ${nameOf(y)}`);
  if (id) said.push(plural(id.in.length, "id"));
  if (Object.keys(others).length > 0) said.push(plural(Object.keys(others).length, "filter"));
  said.push(epochs ? `epochs ${epochs}` : "all epochs");
  return said.join(", ");
}

class Saved {
  #rows = new Map(); /* by entry of the state */
  #picked = new Set(); /* selections whose boxes are ticked */
  #known = null; /* {at, view, saved, masks}, as last loaded */
  #colourBefore = "correctness";

  constructor(section, { state, source, loader }) {
    Object.assign(this, { section, state, source, loader });
    this.#build();
    this.askAgain = follow(section, state, { load: () => this.#load(), fail: (text) => this.#fail(text) });
    state.subscribe(["saved", "run", "view"], () => this.#showList());
    state.subscribe(["saved"], () => this.askAgain());
    state.subscribe(["selection", "filters", "view", "saved"], () => this.#showForm());
    state.subscribe(["leftOut", "colour", "saved"], () => this.#showNotes());
    state.subscribe(["run"], () => {
      this.question.hidden = true; /* it is about the run that was shown */
    });
    onTheme(() => this.#showList());
    this.#showList();
    this.#showForm();
    this.#showNotes();
  }

  #build() {
    this.name = element("input", { type: "text", maxlength: NAME_MOST, dir: "auto", "aria-label": "Name of the selection to save" });
    this.save = element("button", { type: "submit" }, "Save as");
    const submit = (event) => {
      event.preventDefault();
      this.#save();
    };
    this.list = element("ul", { class: "saved-list" });
    this.colour = button("Colour the map by these", () => this.#colour());
    this.file = element("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "A file of selections", onchange: () => this.#open() });
    this.files = [
      button(FILE, () => this.#export(FILE), { title: "All of them in one file, which this page opens again" }),
      button("Table (.csv)", () => this.#export("selections.csv"), { title: "One row per example that any of them holds, one column of 0 and 1 for each" }),
    ];
    this.status = element("p", { role: "status", class: "hint" });
    this.question = element("div", { class: "tools question", role: "group", "aria-label": "A file of another run", hidden: true });
    this.tooLong = element("p", { class: "trouble" }, `These selections are too long for the page's address: a link, or loading this page again, would lose them. Save ${FILE}.`);
    this.others = element("p", { class: "hint" });
    this.opener = button("Open a file…", () => this.file.click());
    this.compared = showCompared(this);
    this.section.append(
      element("h2", {}, "Saved selections"),
      element("form", { class: "tools", onsubmit: submit }, this.name, this.save),
      this.list,
      element("div", { class: "tools" }, this.colour, ...this.files, this.opener, this.file),
      this.question,
      this.status,
      this.tooLong,
      this.others,
      this.compared.element,
    );
  }

  #say(text) {
    this.status.textContent = text;
    this.failed = null;
  }

  /* Why the examples could not be counted, until they can. */
  #fail(text) {
    if (text === null && this.failed !== this.status.textContent) return;
    this.#say(text ?? "");
    this.failed = text;
  }

  /* Those of the run that is shown; whose names are taken. */
  get #own() {
    return savedOf(this.state);
  }

  #isTaken(name, but) {
    return this.#own.some((entry) => entry !== but && entry.name === name);
  }

  /* In the state, `entry` is replaced by `made`; null: it is left out. */
  #replace(entry, made) {
    this.state.set({ saved: this.state.saved.flatMap((one) => (one === entry ? (made ? [made] : []) : [one])) });
  }

  #suggest() {
    for (let i = 1; ; i++) if (!this.#isTaken(`selection ${i}`)) return `selection ${i}`;
  }

  #showForm() {
    const { state } = this;
    const chosen = state.view ? chosenNow(state) : null;
    this.save.disabled = !chosen;
    this.save.title = chosen ? "Keeps the present selection with its axes, epochs and filters" : "Nothing is selected";
    for (const { replace } of this.#rows.values()) replace.disabled = !chosen;
    if (document.activeElement !== this.name && !this.#isTyped) this.name.value = this.#suggest();
  }

  /* Has the user written a name, instead of the one that was suggested? */
  get #isTyped() {
    return this.name.value !== "" && !/^selection \d+$/.test(this.name.value);
  }

  /* The present selection as an entry of the state; null: there is none, or it cannot be saved. */
  #entry(name) {
    const { state } = this;
    const selection = chosenNow(state);
    const problem = selection ? selectionProblem(selection) : "Nothing is selected.";
    if (!problem) return { name, identity: state.view.identity, selection };
    this.#say(problem);
    return null;
  }

  #save() {
    const { state } = this;
    const name = cleanName(this.name.value) || this.#suggest();
    if (this.#isTaken(name)) {
      this.#say(`A selection is called “${name}” already. Choose another name, or press Replace beside it.`);
      return;
    }
    if (state.saved.length >= SAVED_MOST) {
      this.#say(`A page keeps ${SAVED_MOST} selections at most: delete one, or save them to a file.`);
      return;
    }
    const entry = this.#entry(name);
    if (!entry) return;
    state.set({ saved: [...state.saved, entry] });
    this.name.value = this.#suggest();
    this.#say(`Saved as “${name}”.`);
  }

  #rename(entry, input) {
    const name = cleanName(input.value);
    if (name === entry.name) {
      input.value = name;
      return;
    }
    const problem = nameProblem(name) ?? (this.#isTaken(name, entry) ? `A selection is called “${name}” already.` : null);
    if (problem) {
      input.value = entry.name;
      this.#say(problem);
      return;
    }
    this.#say(`Renamed “${entry.name}” to “${name}”.`);
    this.#replace(entry, { ...entry, name });
  }

  #show(entry) {
    this.state.set(toSelect(entry.selection));
    this.#say(`“${entry.name}” is the selection now.`);
  }

  #renew(entry) {
    const made = this.#entry(entry.name);
    if (!made) return;
    this.#replace(entry, made);
    this.#say(`“${entry.name}” is the present selection now. Undo brings the former one back.`);
  }

  #delete(entry) {
    const i = [...this.#rows.keys()].indexOf(entry);
    this.#replace(entry, null);
    const rows = [...this.#rows.values()];
    (rows[i] ?? rows[i - 1])?.actions.at(-1).focus();
    if (rows.length === 0) this.opener.focus();
    this.#say(`Deleted “${entry.name}”. Undo brings it back.`);
  }

  #pick({ entry: { selection } }, isPicked) {
    if (isPicked) this.#picked.add(selection);
    else this.#picked.delete(selection);
    this.#showCompared();
  }

  #makeRow() {
    const made = { entry: null };
    const swatch = element("span", { class: "swatch" });
    const input = element("input", { type: "text", class: "name", maxlength: NAME_MOST, dir: "auto" });
    input.addEventListener("change", () => this.#rename(made.entry, input));
    const box = element("input", { type: "checkbox", onchange: () => this.#pick(made, box.checked) });
    const number = element("span", { class: "count" });
    const about = element("span", { class: "hint" });
    const act = (text, what, does) => button(text, () => does(made.entry), { title: what });
    const replace = act("Replace", "Keeps the present selection under this name", (entry) => this.#renew(entry));
    const actions = [
      act("Select", "Makes it the selection", (entry) => this.#show(entry)),
      replace,
      act("Export", "As selection.json, for `portolan select --within`", (entry) => this.#export("selection.json", entry)),
      act("Delete", "Undo brings it back", (entry) => this.#delete(entry)),
    ];
    const row = element("li", {}, element("div", { class: "named" }, box, swatch, input, number), element("div", { class: "made" }, about, element("div", { class: "tools" }, ...actions)));
    return Object.assign(made, { row, swatch, input, box, number, about, replace, actions });
  }

  /* The row of an entry, or that of the one in whose place it has come. */
  #rowOf(entry, i, own) {
    const [former, row] = [...this.#rows][i] ?? [];
    const made = this.#rows.get(entry) ?? (row && !own.includes(former) ? row : this.#makeRow());
    if (made.entry === entry) return made;
    const { name } = entry;
    made.entry = entry;
    made.input.value = name;
    made.input.setAttribute("aria-label", `Name of ${name}`);
    made.box.setAttribute("aria-label", `Compare ${name}`);
    for (const action of made.actions) action.setAttribute("aria-label", `${action.textContent} ${name}`);
    return made;
  }

  /* Rows stay as they are while their entries do, so that neither what is typed in one nor the focus is lost. */
  #showList() {
    const { state } = this;
    const own = this.#own;
    this.#rows = new Map(own.map((entry, i) => [entry, this.#rowOf(entry, i, own)]));
    const rows = [...this.#rows.values()].map(({ row }) => row);
    [...this.list.children].filter((row) => !rows.includes(row)).forEach((row) => row.remove());
    rows.forEach((row, i) => row === this.list.children[i] || this.list.insertBefore(row, this.list.children[i] ?? null));
    for (const [i, [entry, { swatch, box, about }]] of [...this.#rows].entries()) {
      swatch.style.backgroundColor = categoryColour(savedRank(i));
      box.checked = this.#picked.has(entry.selection);
      const isStale = state.view?.run === state.run && state.view.identity !== entry.identity;
      about.textContent = describe(entry.selection) + (isStale ? "; saved before the run was recorded anew" : "");
    }
    this.list.hidden = own.length === 0;
    for (const part of [this.colour, ...this.files]) part.disabled = own.length === 0;
    this.#showCounts();
  }

  #showNotes() {
    const { leftOut, colour, saved, run } = this.state;
    this.tooLong.hidden = !leftOut.includes("saved");
    this.colour.setAttribute("aria-pressed", String(colour === "saved"));
    const others = new Set(saved.map(({ selection }) => selection.run).filter((name) => name !== run));
    this.others.hidden = others.size === 0;
    this.others.textContent = `${plural(saved.length - this.#own.length, "selection")} of other runs ${saved.length - this.#own.length === 1 ? "is" : "are"} kept as well: ${[...others].join(", ")}.`;
  }

  /* A view in which every example is that any selection can hold: that of all epochs. */
  async #wholeView() {
    const { view, run } = this.state;
    return view.epochs.length === view.all_epochs.length ? view : this.source.view(run, "");
  }

  async #load() {
    const saved = this.#own;
    const view = saved.length > 0 ? await this.#wholeView() : this.state.view;
    const at = { run: view.run, epochs: view.range, version: view.version };
    this.#known = { at, view, saved, masks: await this.loader.savedMasks.all(at, saved) };
    this.#showCounts();
  }

  #maskOf(entry) {
    const i = this.#known?.saved.findIndex(({ selection }) => selection === entry.selection) ?? -1;
    return i < 0 ? null : this.#known.masks[i];
  }

  #showCounts() {
    for (const [entry, { number }] of this.#rows) {
      const mask = this.#maskOf(entry);
      number.textContent = mask?.bits ? count(mask.count) : "–";
      number.title = mask?.error ?? "";
      number.classList.toggle("trouble", Boolean(mask?.error));
    }
    this.#showCompared();
  }

  #showCompared() {
    const picked = this.#own.filter(({ selection }) => this.#picked.has(selection));
    const masks = picked.map((entry) => this.#maskOf(entry));
    this.compared.show(picked, masks.every((mask) => mask?.bits) ? { ...this.#known, masks } : null);
  }

  #colour() {
    const { state } = this;
    if (state.colour !== "saved") this.#colourBefore = state.colour;
    state.set({ colour: state.colour === "saved" ? this.#colourBefore : "saved" });
  }

  async #export(file, entry) {
    const { state, source } = this;
    this.#say(`Making ${file}…`);
    try {
      let text;
      if (entry) text = await selectionText(source, entry);
      else if (file === FILE) text = await selectionsText(source, state.run, this.#own);
      else text = await this.#table();
      saveFile(new Blob([text], { type: file.endsWith(".csv") ? "text/csv" : "application/json" }), file);
      this.#say(`${file} is in this browser's folder for downloads.`);
    } catch (error) {
      this.#say(error.message);
    }
  }

  async #table() {
    await this.#load();
    const { at, saved, masks } = this.#known;
    const wrong = masks.findIndex(({ error }) => error);
    if (wrong >= 0) throw new Error(`“${saved[wrong].name}”: ${masks[wrong].error}`);
    return membershipTable(this.source, at, saved, masks);
  }

  async #open() {
    const [file] = this.file.files;
    if (!file) return;
    this.question.hidden = true;
    try {
      if (file.size > FILE_MOST) throw new Error("It is larger than a file of selections can be.");
      const found = readSelections(await file.text(), { run: this.state.run, name: this.#suggest() });
      if (found.run === this.state.run) await this.#add(found.saved);
      else this.#askAbout(found);
    } catch (error) {
      this.#say(`${file.name}: ${error.message}`);
    }
    this.file.value = ""; /* so that the same file can be opened again */
  }

  #askAbout({ run, saved }) {
    const text = element("p", {}, "The file is of run ", element("strong", {}, element("bdi", {}, run)), ", and this page shows ", element("strong", {}, element("bdi", {}, this.state.run)), ". Outlines and filters would be those of the file, the examples in them those of this run.");
    const end = (then) => () => {
      this.question.hidden = true;
      then?.();
    };
    const here = saved.map(({ name, selection }) => ({ name, selection: { ...selection, run: this.state.run } }));
    this.question.replaceChildren(text, button("Use them for this run", end(() => this.#add(here))), button("Leave them", end()));
    this.question.hidden = false;
    this.#say("");
  }

  async #add(more) {
    const { state, source } = this;
    const { run } = state.view;
    if (more.some(({ selection }) => selection.run !== run)) {
      this.#say("The page shows another run now: open the file again.");
      return;
    }
    const own = savedOf({ saved: state.saved, run });
    const entries = more.map(({ name, selection }) => ({ name, identity: state.view.identity, selection }));
    const added = addSaved(own, entries).slice(own.length);
    if (state.saved.length + added.length > SAVED_MOST) {
      this.#say(`A page keeps ${SAVED_MOST} selections at most: with these it would be ${state.saved.length + added.length}.`);
      return;
    }
    state.set({ saved: [...state.saved, ...added] });
    const already = more.length - added.length;
    this.#say(`${plural(added.length, "selection")} opened${already > 0 ? `, ${count(already)} of the file were here already` : ""}.`);
    for (const entry of more) {
      const changed = await changedSince(source, entry);
      if (changed.length > 0) this.status.textContent += ` Since “${entry.name}” was exported, the run has other values of ${changed.map(nameOf).join(", ")}.`;
    }
  }
}

export function showSaved(section, parts) {
  return new Saved(section, parts);
}
