/*
 * file_source.js: the data of a page that is one file (`portolan map RUN -o FILE.html`). It has the methods of ServerSource
 * (source.js), and answers from the file exactly as the server does.
 */
import { isFile } from "./file_blocks.js";
import { FileExamples } from "./file_examples.js";
import { formOf, maskOf } from "./file_forms.js";
import { countBins, legendOf, pointBytes, pointsInside } from "./file_points.js";
import { rowsOf } from "./file_rows.js";
import { placesOf, within } from "./file_within.js";
import { SourceError } from "./source.js";

const LIVE = "the live page, portolan serve";

/* Why something cannot be done in a file. */
const REASONS = {
  epochs: (view) => `This file holds the measures over epochs ${view.epochs[0]} to ${view.epochs[view.epochs.length - 1]} alone. Other epochs need ${LIVE}.`,
  runs: () => `This file holds one run. Comparing runs needs ${LIVE}.`,
  progress: () => `This file shows the run as it was when the file was made. To see how a run proceeds, use ${LIVE}.`,
  lines: () => `This page does not hold the lines of your own file. They need ${LIVE} --data FILE, or portolan select --data FILE.`,
  words: () => `Words are counted in all of your own file, which this page does not hold. They need ${LIVE} --data FILE.`,
  texts: () => "This file holds no texts. portolan map puts them in with --data FILE --id-field FIELD --text FIELD.",
  report: () => `This file holds no report. This command writes one, as a page of its own:`,
  tags: () => `Not saved, and gone when this page is closed. Export them, or use ${LIVE} --tags FILE.`,
  media: () => `This file holds no pictures and no sounds. They need ${LIVE} --media FIELD --media-root DIR.`,
  keep: () => `Only ${LIVE} keeps a selection for programs. From this page, export it.`,
};
REASONS.compare = REASONS.runs;
REASONS.live = REASONS.progress;
REASONS.suspects = REASONS.report;

export class FileSource {
  live = false;

  constructor() {
    this.examples = new FileExamples();
  }

  whyNot(what) {
    return REASONS[what]?.(this.examples.view) ?? null;
  }

  #refuse(what) {
    throw new SourceError(400, this.whyNot(what));
  }

  #checkEpochs(epochs) {
    const { range, epochs: all } = this.examples.view;
    const own = `${all[0]}:${all[all.length - 1] + 1}`;
    if (epochs && epochs !== range && epochs !== own) this.#refuse("epochs");
  }

  #kept(run, selection) {
    if (run !== this.examples.view.run) this.#refuse("runs");
    this.#checkEpochs(selection.epochs);
    return within(this.examples, selection);
  }

  async runs() {
    const { run, examples, all_epochs } = this.examples.view;
    return [{ name: run, examples, epochs: all_epochs.length, state: "closed" }];
  }

  /* `points` are those of the file, `observed` those of the run. */
  async view(run, epochs, known) {
    const { view, n } = this.examples;
    if (run !== view.run) this.#refuse("runs");
    this.#checkEpochs(epochs);
    if (known === view.version) return null;
    const data_columns = this.examples.about.data_columns.map(({ name }) => name);
    return { ...view, state: "closed", gold: legendOf(this.examples, "gold"), points: n, observed: view.points, data_columns };
  }

  async points(_at, axes) {
    return { bytes: pointBytes(this.examples, axes), n: this.examples.n };
  }

  async axis(_at, name) {
    return this.examples.axis(name);
  }

  async legend(_at, colour, axes) {
    return legendOf(this.examples, colour, axes);
  }

  async bins(_at, query) {
    return countBins(this.examples, query);
  }

  async inside(_at, query) {
    return pointsInside(this.examples, query);
  }

  async example(_at, place) {
    return this.examples.example(place);
  }

  async exampleOf(_at, id) {
    const place = this.examples.placeOf(id);
    return place < 0 ? null : this.examples.example(place);
  }

  async progress() {
    return this.#refuse("progress");
  }

  async report() {
    return this.#refuse("report");
  }

  async suspects() {
    return this.#refuse("suspects");
  }

  async select(run, selection, as, query = {}) {
    if (this.whyNot(as)) this.#refuse(as);
    return formOf(this.examples, this.#kept(run, selection), selection, as, query);
  }

  async mask(at, selection) {
    return maskOf(this.#kept(at.run, selection));
  }

  async rows(at, selection, query) {
    return rowsOf(this.examples, this.#kept(at.run, selection), selection, query);
  }

  async count(at, selection) {
    return this.#kept(at.run, selection).reduce((sum, bit) => sum + bit, 0);
  }

  async ids(at, selection) {
    return placesOf(this.#kept(at.run, selection)).map((place) => this.examples.id(place));
  }

  async tags() {
    return { serial: 0, saved: false, names: [], tags: [] };
  }

  async tag() {
    return this.#refuse("tags");
  }

  async classes() {
    const { labels, gold } = this.examples;
    const numbers = [...new Set(gold)].filter((number) => number >= labels.length).sort((a, b) => a - b);
    return [...labels.map((label, number) => label ?? String(number)), ...numbers.map(String)];
  }

  mediaAddress() {
    return null;
  }

  async mediaType() {
    return this.#refuse("media");
  }

  async keptSelection() {
    return this.#refuse("keep");
  }

  async keep() {
    return this.#refuse("keep");
  }
}

/* null: the page is no file, and has a server. */
export const fileSource = () => (isFile() ? new FileSource() : null);
