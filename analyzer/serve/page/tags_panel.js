/* tags_panel.js: the panel of the tags: their names, how many examples have each, and their export as a file of corrections. */
import { commandLine, lineOf } from "./command.js";
import { countCorrections, makeCorrections } from "./corrections.js";
import { button, count, element, refill } from "./dom.js";
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
    const problem = this.tags.rename(number, name);
    this.problem.textContent = problem ?? "";
    if (problem) this.#show();
  }

  #show() {
    const { tags, view } = this.state;
    const none = this.source.whyNot("tags") ?? "No tag is saved: the server was started without --tags FILE.";
    this.saved.textContent = tags.saved === null ? "" : tags.saved ? "The server saves each change in the file of --tags." : whyUnsaved(this.source, tags) ?? none;
    if (tags.problem) this.problem.textContent = tags.problem;
    refill(this.rows, ...tags.names.map((name, number) => this.#row(name, number)));
    this.add.disabled = tags.names.length >= NAMES_MOST || tags.saved === null;
    this.#showCorrections(view, tags);
  }

  #row(name, number) {
    const ids = idsWith(this.state.tags, name);
    const field = element("input", { type: "text", value: name, maxlength: 100, "aria-label": `Name of tag ${number + 1}`, "data-key": `name-${number}` });
    field.addEventListener("change", () => this.#rename(number, field.value));
    const meaning = MEANINGS[number] ? element("span", { class: "hint" }, MEANINGS[number]) : null;
    const isSpare = ids.length === 0 && number >= MEANINGS.length;
    const remove = isSpare ? button("×", () => this.tags.remove(number), { "aria-label": `Remove ${name}` }) : null;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, String(number + 1)),
      element("td", {}, field, meaning),
      element("td", { class: "count" }, count(ids.length)),
      element("td", {}, button("Select", () => this.#select(ids), { disabled: ids.length === 0, "aria-label": `Select ${name}`, "data-key": `select-${number}` }), " ", remove),
    );
  }

  #select(ids) {
    const { state } = this;
    state.set({ selection: { x: "", y: "", parts: [], epochs: state.view.range, filters: { id: { in: ids } } } });
  }

  #showCorrections(view, tags) {
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
    this.status.textContent = `Making ${FILE}…`;
    try {
      const { text, written, missing } = await makeCorrections(source, state, await source.classes(loader.at()));
      this.tags.noteExport();
      saveFile(new Blob([text], { type: "text/tab-separated-values" }), FILE);
      const left = missing > 0 ? ` Left out: ${count(missing)}, which the run does not have, or which nothing can drop, as it has a class “drop”.` : "";
      this.status.textContent = `${FILE} is in this browser's folder for downloads, with ${count(written)} examples.${left}`;
    } catch (error) {
      this.status.textContent = error.message;
    }
  }
}

export const showTagsPanel = (section, parts) => new TagsPanel(section, parts);
