/*
 * file_examples.js: the examples that are in the file, by place: ascending by id, from 0. Columns of numbers are typed
 * arrays; NaN: no value.
 */
import { isOfLosses } from "./columns.js";
import { axisOf } from "./file_axes.js";
import { hasBlock, jsonBlock, numbersBlock } from "./file_blocks.js";
import { SourceError } from "./source.js";

const MORE_COLUMNS = "portolan map puts a column of your file in with --colour COLUMN.";

export class FileExamples {
  #places = null;
  #made = new Map();

  constructor() {
    this.about = jsonBlock("about");
    this.view = jsonBlock("view");
    this.n = this.about.examples;
    this.labels = this.about.labels;
  }

  /* A text about what was left out and why, or null. */
  get leftOut() {
    return jsonBlock("left-out");
  }

  #measure(name) {
    return this.view.columns.findIndex((column) => column.name === name);
  }

  #dataColumn(name) {
    return this.about.data_columns.find((column) => `data:${column.name}` === name);
  }

  #make(key, make) {
    if (!this.#made.has(key)) this.#made.set(key, make());
    return this.#made.get(key);
  }

  isCategory(name) {
    return name === "gold" || this.#dataColumn(name)?.kind === "category";
  }

  /* The values on an axis: of a measure; of "gold", the numbers of the classes; of the user's column, "data:NAME", its numbers, or
   * the ranks of its categories. */
  column(name) {
    if (this.isCategory(name)) return this.#make(name, () => this.#valuesOfCategories(name));
    if (this.#dataColumn(name)) return numbersBlock("data-0", Float64Array);
    const number = this.#measure(name);
    if (number < 0) throw new SourceError(400, name.startsWith("data:") ? `This file does not hold '${name.slice(5)}'. ${MORE_COLUMNS}` : `This run has no measure '${name}'.`);
    return numbersBlock(`measure-${number}`, Float64Array);
  }

  #valuesOfCategories(name) {
    const { numbers, rank } = this.categories(name);
    return Float64Array.from(numbers, (number) => (number < 0 ? NaN : rank(number)));
  }

  /* As GET api/axis answers. */
  axis(name) {
    return this.#make(`axis ${name}`, () => axisOf(this, name, this.view.columns[this.#measure(name)]));
  }

  /* −1: without a label. */
  get gold() {
    return numbersBlock("gold", Int32Array);
  }

  label(number) {
    return number < 0 ? null : (this.labels[number] ?? String(number));
  }

  /* As a text. */
  id(place) {
    return this.view.ids === "text" ? jsonBlock("ids")[place] : String(numbersBlock("ids", BigUint64Array)[place]);
  }

  /* −1: the file does not have it. */
  placeOf(id) {
    if (!this.#places) {
      this.#places = new Map();
      for (let place = 0; place < this.n; place++) this.#places.set(this.id(place), place);
    }
    return this.#places.get(id) ?? -1;
  }

  /* {field: text}, or null. */
  text(place) {
    const texts = this.view.fields.length > 0 ? jsonBlock("texts")[place] : null;
    return texts && Object.fromEntries(this.view.fields.map((field, i) => [field, texts[i]]));
  }

  get hasStories() {
    return hasBlock("gold-prob");
  }

  /* {gold_prob, correct}, or {task_loss}, by epoch; null: not observed. They are empty where the file has none. */
  story(place) {
    if (!this.hasStories) return isOfLosses(this.view) ? { task_loss: [] } : { gold_prob: [], correct: [] };
    const epochs = this.view.epochs.length;
    const all = numbersBlock("gold-prob", Float32Array).subarray(place * epochs, (place + 1) * epochs);
    const gold_prob = Array.from(all, (value) => (Number.isNaN(value) ? null : value));
    if (isOfLosses(this.view)) return { task_loss: gold_prob };
    const bits = numbersBlock("correct", Uint8Array);
    const correct = gold_prob.map((value, e) => {
      const bit = place * epochs + e;
      return value === null ? null : Boolean((bits[bit >> 3] >> (bit & 7)) & 1);
    });
    return { gold_prob, correct };
  }

  /* One example, as GET api/example has it. */
  example(place) {
    if (!(place >= 0 && place < this.n)) throw new SourceError(404, "This example is not in the file.");
    const gold = this.gold[place];
    const measures = {};
    for (const { name } of this.view.columns) {
      const value = this.column(name)[place];
      measures[name] = Number.isNaN(value) ? null : value;
    }
    return {
      place,
      id: this.id(place),
      gold: gold < 0 ? null : gold,
      label: this.label(gold),
      measures,
      text: this.text(place),
      epochs: this.view.epochs,
      ...this.story(place),
    };
  }

  /* Numbers of categories by place (−1: none), their names, ranks (values on an axis), and `value`, the number of a class:
   * {numbers, label(number), rank(number), value(number), numberOf(label), ranked}; numberOf(label) is undefined where there is none;
   * ranked: the largest first. `name` is "gold" or "data:COLUMN". */
  categories(name) {
    if (name === "gold") {
      const ranked = this.view.gold.values.filter(({ value }) => value !== null).map(({ value }) => value);
      return { numbers: this.gold, label: (number) => this.label(number), rank: (number) => number, value: (number) => number, numberOf: (label) => this.#classOf(label), ranked };
    }
    const column = this.#dataColumn(name);
    if (column?.kind !== "category") throw new SourceError(400, `This file has no categories '${name}'. ${MORE_COLUMNS}`);
    return this.#make(`categories ${name}`, () => {
      const { labels, ranks } = column;
      const numbers = numbersBlock("data-0", Int32Array);
      const byLabel = new Map(labels.map((label, number) => [label, number]));
      return { numbers, label: (number) => labels[number], rank: (number) => ranks[number], value: () => null, numberOf: (label) => byLabel.get(label), ranked: rankByCount(numbers, labels.length) };
    });
  }

  /* The class with this name, or with this number if it has no name. */
  #classOf(label) {
    const named = this.labels.indexOf(label);
    if (named >= 0) return named;
    const number = /^\d{1,10}$/.test(label) ? Number(label) : Infinity;
    return number < 2 ** 31 && (this.labels[number] ?? null) === null ? number : undefined;
  }
}

/* Numbers by falling count, equal ones ascending. */
function rankByCount(numbers, known) {
  const counts = new Uint32Array(known);
  for (const number of numbers) if (number >= 0) counts[number]++;
  return Array.from(counts.keys())
    .filter((number) => counts[number] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b);
}
