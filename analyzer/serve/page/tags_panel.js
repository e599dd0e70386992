/* tags_panel.js: the panel of the tags: their names, how many examples have each, and their export as a file of corrections. */
import { commandLine, lineOf } from "./command.js";
import { countCorrections, makeCorrections } from "./corrections.js";
import { button, count, element } from "./dom.js";
import { saveFile } from "./export.js";
import { idsWith, NAMES_MOST, whyUnsaved } from "./tags.js";

const FILE = "corrections.tsv";
const MEANINGS = ["the label is wrong", "the label is right"];

class TagsPanel {
  constructor(section, { state, source, loader, tags }) {
    Object.assign(this, { state, source, loader, tags });
    this.saved = element("p", { role: "status" });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.rows = element("tbody");
    this.made = []; /* by number: a row stays while the run grows, and so does what is typed in it */
    this.wrong = null; /* why a tag cannot have the name that was typed last */
    this.add = button("Add a tag", () => this.#rename(this.state.tags.names.length, this.#freeName()));
    this.about = element("p");
    this.export = button(`Save ${FILE}`, () => this.#export());
    this.status = element("p", { role: "status", class: "hint" });
    this.commands = element("div", { class: "command" });
    const heads = ["key", "name", "examples"].map((text) => element("th", { scope: "col" }, text));
    section.append(
      element("h2", {}, "Tags"),
      this.saved,
      this.problem,
      element("table", { class: "tags" }, element("thead", {}, element("tr", {}, ...heads, element("td"))), this.rows),
      this.add,
      element("h3", {}, "Corrections"),
      this.about,
      element("div", { class: "tools" }, this.export),
      this.status,
      this.commands,
    );
    state.subscribe(["tags", "view"], () => this.#show());
    this.#show();
  }

  #freeName() {
    const { names } = this.state.tags;
    const wanted = (n) => `tag ${n}`;
    let n = names.length + 1;
    while (names.includes(wanted(n))) n++;
    return wanted(n);
  }

  #rename(number, name) {
    this.wrong = this.tags.rename(number, name);
    this.#show();
  }

  #show() {
    const { tags, view } = this.state;
    const none = this.source.whyNot("tags") ?? "No tag is saved: the server was started without --tags FILE.";
    this.saved.textContent = tags.saved === null ? "" : tags.saved ? "The server saves each change in the file of --tags." : whyUnsaved(this.source, tags) ?? none;
    const problem = this.wrong ?? tags.problem ?? "";
    if (this.problem.textContent !== problem) this.problem.textContent = problem;
    const rows = tags.names.map((name, number) => (this.made[number] ??= this.#row(number)));
    for (const { row } of this.made.slice(rows.length)) row.remove();
    this.rows.append(...rows.slice(this.rows.children.length).map(({ row }) => row));
    rows.forEach((made, number) => this.#fill(made, tags.names[number], number));
    this.add.disabled = tags.names.length >= NAMES_MOST || tags.saved === null;
    this.#showCorrections(view, tags);
  }

  #row(number) {
    const field = element("input", { type: "text", maxlength: 100, "aria-label": `Name of tag ${number + 1}` });
    const show = () => {
      field.value = this.state.tags.names[number] ?? "";
    };
    field.addEventListener("change", () => {
      this.#rename(number, field.value);
      show();
    });
    field.addEventListener("blur", show);
    const meaning = MEANINGS[number] ? element("span", { class: "hint" }) : null;
    const examples = element("td", { class: "count" });
    const select = button("Select", () => this.#select(number), { "data-key": `select-${number}` });
    const remove = button("×", () => this.tags.remove(number));
    const row = element("tr", {}, element("th", { scope: "row" }, String(number + 1)), element("td", {}, field, meaning), examples, element("td", {}, select, " ", remove));
    return { row, field, meaning, examples, select, remove };
  }

  #fill({ field, meaning, examples, select, remove }, name, number) {
    if (meaning) meaning.textContent = MEANINGS[number].replace("label", this.state.tags.isLoss ? "target" : "label");
    const { length } = idsWith(this.state.tags, name);
    if (document.activeElement !== field) field.value = name;
    examples.textContent = count(length);
    select.disabled = length === 0;
    select.setAttribute("aria-label", `Select ${name}`);
    remove.hidden = length > 0 || number < MEANINGS.length;
    remove.setAttribute("aria-label", `Remove ${name}`);
  }

  #select(number) {
    const { tags, view } = this.state;
    this.state.set({ selection: { x: "", y: "", parts: [], epochs: view.range, filters: { id: { in: idsWith(tags, tags.names[number]) } } } });
  }

  #showCorrections(view, tags) {
    this.export.hidden = tags.isLoss;
    if (tags.isLoss) {
      this.about.textContent = "The run records losses: it has no labels that could be corrected.";
      this.commands.replaceChildren();
      this.commandsOf = null;
      return;
    }
    const { changed, dropped, right, others } = countCorrections(tags);
    const [wrong, keep] = tags.names;
    this.export.disabled = changed + dropped + right === 0;
    this.about.replaceChildren(
      "The file has the examples that are tagged ", element("bdi", {}, wrong), ` (${count(changed)} with the right label; ${count(dropped)} without, which are dropped) or `,
      element("bdi", {}, keep), ` (${count(right)}, whose labels stay).`, others > 0 ? ` Not in it: ${count(others)} with other tags.` : "");
    const run = view?.run;
    if (!run || this.commandsOf === run) return;
    this.commandsOf = run;
    const data = ["--data", "FILE", "--id-field", view.id_field ?? "FIELD", "--label-field", "FIELD"];
    this.commands.replaceChildren(
      element("p", {}, "Your own lines with these labels, without those that are dropped; and where they lie:"),
      commandLine(lineOf(["portolan", "select", run, "--corrections", FILE, ...data])),
      commandLine(lineOf(["portolan", "map", run, "--corrections", FILE, "-o", "corrections.png"])),
    );
  }

  async #export() {
    const { state, source, loader } = this;
    const { tags, view } = state;
    this.status.textContent = `Making ${FILE}…`;
    try {
      const { text, written, missing } = await makeCorrections(source, { tags, view }, await source.classes(loader.at()));
      if (missing + countCorrections(tags).others === 0) this.tags.noteExport(tags);
      saveFile(new Blob([text], { type: "text/tab-separated-values" }), FILE);
      const left = missing > 0 ? ` Left out: ${count(missing)}, which the run does not have, or which nothing can drop, as it has a class “drop”.` : "";
      this.status.textContent = `${FILE} is in this browser's folder for downloads, with ${count(written)} examples.${left}`;
    } catch (error) {
      this.status.textContent = error.message;
    }
  }
}

export const showTagsPanel = (section, parts) => new TagsPanel(section, parts);
