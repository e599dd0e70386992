/*
 * tag_bar.js: tagging in the table: a bar of the tags with their keys, the keys, and the cells of the rows. A key gives its tag to
 * the example of the current row, the one that has the focus or had it last, and goes on to the next row, if the user wants that.
 */
import { button, element, refill } from "./dom.js";
import { fillTagCell } from "./tag_marks.js";
import { suggestedFor, whyUnsaved, WRONG } from "./tags.js";

const isField = (target) => target instanceof Element && target.closest("input, select, textarea, [contenteditable]") !== null;

export class TagBar {
  #classes = []; /* the labels that an example can have */
  #classesOf = null; /* … of this run and its labels, as text */

  /* table: {body, current(), step(by), reveal(id)}: its rows; the current row; goes to another one. */
  constructor({ state, source, loader, tags }, table) {
    Object.assign(this, { state, source, loader, tags, table });
    state.define("goesOn", true); /* to the next row, after a tag was given */
    this.buttons = element("div", { class: "tools", role: "group", "aria-label": "Tags" });
    this.undo = button("Undo tag", () => this.#undo(), { title: "Takes back the last change of a tag (key U)" });
    this.problem = element("span", { class: "problem", role: "alert" });
    this.unsaved = element("span", { class: "hint", role: "status" });
    this.said = element("span", { class: "unseen", role: "status" });
    this.classes = element("datalist", { id: "tag-classes" });
    this.bar = element("div", { class: "tag-bar" }, this.buttons, this.#goesOnBox(), this.undo, this.unsaved, this.problem, this.said, this.classes);
    this.bar.addEventListener("pointerdown", (event) => event.target.closest("button") && event.preventDefault()); /* the row keeps the focus */
    state.subscribe(["tags"], () => this.show());
    state.subscribe(["view"], () => this.#findClasses());
    document.addEventListener("keydown", (event) => this.#enter(event));
    this.show();
  }

  #goesOnBox() {
    const box = element("input", { type: "checkbox", checked: this.state.goesOn });
    box.addEventListener("change", () => this.state.set({ goesOn: box.checked }));
    return element("label", { title: "After a tag was given, go on to the next row" }, box, " go on");
  }

  async #findClasses() {
    const { state, source, loader } = this;
    if (!state.view) return;
    const { run, identity, gold, gold_digest: digest } = state.view;
    const of = JSON.stringify([run, identity, gold, digest]);
    if (this.#classesOf === of) return;
    this.#classesOf = of;
    try {
      const all = await source.classes(loader.at());
      if (this.#classesOf !== of) return;
      const places = new Map(all.map((name, i) => [name, i])); /* the last one of each name */
      const repeated = new Set(all.filter((name, i) => places.get(name) !== i));
      this.#classes = all.filter((name) => !repeated.has(name)); /* two with one name cannot be told apart */
      refill(this.classes, ...this.#classes.slice(0, 1000).map((name) => element("option", { value: name })));
    } catch {
      if (this.#classesOf === of) this.#classesOf = null; /* asked again with the next version of the view */
    }
  }

  show() {
    const { tags } = this.state;
    const current = this.table.current();
    const own = current && tags.of.get(current.dataset.id)?.tag;
    const buttons = tags.names.slice(0, 9).map((name, number) =>
      button("", () => this.#give(number), { "data-key": String(number + 1), title: `Gives the current row this tag, or takes it away (key ${number + 1})`, "aria-pressed": String(own === name), disabled: tags.saved === null }));
    buttons.forEach((made, number) => made.append(element("b", {}, String(number + 1)), " ", element("bdi", {}, tags.names[number])));
    refill(this.buttons, ...buttons);
    this.undo.disabled = !this.tags.canUndo;
    this.problem.textContent = tags.problem ?? "";
    this.unsaved.textContent = whyUnsaved(this.source, tags) ?? "";
    for (const row of this.table.body.children) fillTagCell(row.querySelector(".tag-cell"), tags, row.dataset.id, (text, field) => this.#label(row, text, field));
  }

  /* What the keys do in a row. */
  actions(row) {
    const tag = (number) => [String(number), () => this.#give(number - 1, row)];
    return {
      j: () => this.table.step(1),
      k: () => this.table.step(-1),
      0: () => this.#takeAway(row),
      u: () => this.#undo(),
      l: () => row.querySelector(".new-label")?.focus(),
      ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map(tag)),
    };
  }

  /* J and K lead into the table from everywhere. */
  #enter(event) {
    if (!["j", "k"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || isField(event.target) || this.table.body.contains(event.target)) return;
    const row = this.table.current();
    if (!row?.checkVisibility()) return;
    event.preventDefault();
    this.table.step(0);
  }

  #say(id) {
    const said = this.state.tags.of.get(id);
    this.said.textContent = said ? `${id}: ${said.tag}${said.label === null ? "" : `, right label ${said.label}`}` : `${id}: no tag`;
  }

  #give(number, row = this.table.current()) {
    const { state } = this;
    if (!row || !state.tags.names[number] || state.tags.saved === null) return;
    const { id } = row.dataset;
    const suggested = suggestedFor(state, id);
    this.tags.toggle(id, number, number === WRONG && this.#classes.includes(suggested) ? suggested : null);
    this.#say(id);
    if (state.goesOn && state.tags.of.has(id)) this.table.step(1);
  }

  #takeAway(row) {
    this.tags.takeAway(row.dataset.id);
    this.#say(row.dataset.id);
  }

  #undo() {
    const ids = this.tags.undo();
    if (ids?.length !== 1) return;
    this.#say(ids[0]);
    this.table.reveal(ids[0]);
  }

  #label(row, text, field) {
    const label = text.trim();
    const { id, label: own } = row.dataset;
    const problem = label === "" || this.#classes.includes(label) ? (label !== "" && label === own ? "This is the label that it has." : "") : `The run has no class “${label}”.`;
    field.setCustomValidity(problem);
    if (problem) {
      field.reportValidity();
      return;
    }
    this.tags.setLabel(id, label === "" ? null : label);
    this.#say(id);
  }
}
