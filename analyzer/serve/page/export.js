/*
 * export.js: saves the selected examples as files, and shows the command that selects the same. Without a selection, these are
 * the examples that pass the filters.
 *
 * A file has the data of now. If the run has grown since the page looked, the page asks for the file once more, with the epochs
 * that it shows.
 */
import { copy, quote, showWords } from "./command.js";
import { button, count, element } from "./dom.js";
import { chosenNow, follow } from "./follow.js";
import { isElsewhen, repeatable } from "./selection.js";

const FILES = [
  { as: "list", text: "Ids", name: "selection.txt", title: "One id per line, as `portolan select` prints them" },
  { as: "lines", text: "Your own lines", name: "selection.jsonl", title: "The lines of your own file (--data), unchanged" },
  { as: "csv", text: "Measures", name: "selection.csv", title: "Ids, labels and measures, one row per example" },
  { as: "manifest", text: "Manifest", name: "selection.manifest.json", title: "What these files hold: run, epochs, selection, classes" },
];
const SELECTION = "selection.json";

/* The selection that the files hold, in a form that can be repeated; null: there is nothing to export. */
function chosenToExport(state) {
  const chosen = chosenNow(state);
  return chosen && repeatable(state, chosen);
}

/* The command that selects the same; store: null if it is not known; threshold: of a run of losses, if there is one. */
export function commandOf(run, store, threshold) {
  const words = [`portolan select ${quote(run)} --within ${SELECTION}`];
  if (store) words.push(`--store ${quote(store)}`);
  if (threshold !== undefined) words.push(`--loss-threshold ${threshold}`);
  return words.join(" ");
}

/* Saves a blob in the browser's folder for downloads. */
export function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/* The name that the server gives the file, whose ending tells the format of the user's lines. */
const nameOf = (response, otherwise) => /filename="([\w.-]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? otherwise;

class Export {
  #stores = new Map(); /* by run, where its store is; null: not known */

  constructor(section, { state, source, loader }) {
    Object.assign(this, { state, source, loader });
    this.#build(section);
    follow(section, state, { load: () => this.#findStore(), fail: () => {} });
    state.subscribe(["view", "selected", "shown"], () => this.#show());
    this.#show();
  }

  #build(section) {
    this.about = element("p");
    this.status = element("p", { role: "status", class: "hint" });
    this.buttons = FILES.map((file) => ({ file, made: button(`${file.text} (.${file.name.split(".").pop()})`, () => this.#save(file), { title: file.title, "data-as": file.as }) }));
    this.selection = button(SELECTION, () => this.#save({ as: "selection", name: SELECTION }), { title: "The selection itself, for `portolan select --within`", "data-as": "selection" });
    this.reasons = element("ul", { class: "hint reasons" });
    this.code = element("code", { id: "select-command" });
    this.copied = element("span", { role: "status", class: "hint" });
    const copyButton = button("Copy", async () => {
      this.copied.textContent = (await copy(this.code.textContent, this.code)) ? "Copied." : "Press Ctrl-C: the command is marked.";
    }, { "aria-label": "Copy the command" });
    this.command = element(
      "div",
      { class: "command" },
      element("p", {}, `Save ${SELECTION}. This command, run in its folder, selects the same examples:`),
      element("div", { class: "command-line" }, element("pre", { tabindex: 0, "aria-label": "Command" }, this.code), copyButton, this.copied),
    );
    section.append(
      element("h2", {}, "Export"),
      this.about,
      element("div", { class: "tools" }, ...this.buttons.map(({ made }) => made), this.selection),
      this.status,
      this.reasons,
      this.command,
    );
  }

  /* Why a file cannot be saved; null: it can. */
  #whyNot({ as }) {
    const { state, source } = this;
    return source.whyNot(as) ?? (as === "lines" && state.view && !state.view.id_field ? "The server was started without --data FILE --id-field FIELD." : null);
  }

  #show() {
    const { state } = this;
    const selection = state.view ? chosenToExport(state) : null;
    const chosen = state.selected ?? state.shown;
    const about = JSON.stringify(selection && { ...selection, digests: null, epochs: null });
    if (about !== this.saidOf) this.status.textContent = this.copied.textContent = ""; /* these were about another selection */
    this.saidOf = about;
    this.about.textContent = !selection || !chosen
      ? "Nothing is selected. Draw around points, select a region, or filter; then you can save the examples."
      : `${count(chosen.all ?? chosen.count)} examples ${state.selected ? "are selected" : "pass the filters"}, epochs ${selection.epochs}.`;
    const reasons = [];
    for (const { file, made } of this.buttons) {
      const reason = this.#whyNot(file);
      made.disabled = !selection || reason !== null;
      if (reason) reasons.push(element("li", {}, `${file.text}: ${reason}`));
    }
    this.reasons.replaceChildren(...reasons);
    this.selection.disabled = this.command.hidden = !selection;
    if (selection) showWords(this.code, commandOf(selection.run, this.#stores.get(selection.run), state.view.loss_threshold));
  }

  async #answer(as) {
    const { state, source, loader } = this;
    const selection = chosenToExport(state);
    try {
      if (isElsewhen(state)) return await source.select(selection.run, selection, as);
      const { run, epochs, version } = loader.at();
      return await source.select(run, { ...selection, epochs }, as, { version });
    } catch (error) {
      if (!error.gone) throw error;
      return source.select(selection.run, selection, as);
    }
  }

  async #save(file) {
    this.status.textContent = `Making ${file.name}…`;
    try {
      const response = await this.#answer(file.as);
      const name = nameOf(response, file.name);
      saveFile(await response.blob(), name);
      this.status.textContent = `${name} is in this browser's folder for downloads.`;
    } catch (error) {
      this.status.textContent = error.message;
    }
  }

  /* The manifest says where the store is. */
  async #findStore() {
    const { state, source } = this;
    const selection = chosenToExport(state);
    if (!selection || this.#stores.has(selection.run) || source.whyNot("manifest")) return;
    const manifest = JSON.parse(await (await this.#answer("manifest")).text());
    this.#stores.set(selection.run, manifest.store ?? null);
    this.#show();
  }
}

export function showExport(section, parts) {
  return new Export(section, parts);
}
