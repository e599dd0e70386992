/*
 * picks.js: of more categories than there are colours, chooses those that have one. At first these are the largest. A search finds
 * any other; picking it gives it a colour of its own, in place of the last one that nobody picked.
 */
import { button, count, element } from "./dom.js";
import { isOthers } from "./palette.js";

const SHOWN_MOST = 12; /* matches that are listed */

/* The labels that have colours once `label` has one. largest: a set of those that have one without being picked. */
export function withPick(labels, largest, label) {
  if (labels.includes(label)) return labels;
  const unpicked = labels.findLastIndex((one) => largest.has(one));
  const gone = unpicked < 0 ? labels.length - 1 : unpicked;
  return labels.map((one, i) => (i === gone ? label : one));
}

const fold = (text) => text.toLocaleLowerCase();

/* Values whose label has the text, the largest first; those that begin with it before all others. */
export function findValues(values, text) {
  const part = fold(text);
  const rank = ({ label }) => fold(label).indexOf(part);
  return values
    .filter((value) => rank(value) >= 0)
    .sort((a, b) => (rank(a) > 0) - (rank(b) > 0) || b.count - a.count || a.value - b.value);
}

export class Picks {
  #values = []; /* of the colour, as source.axis() has them */
  #of = null; /* which view and colour they are of */

  constructor({ state, source, loader }) {
    Object.assign(this, { state, source, loader });
    this.input = element("input", { type: "search", placeholder: "find a class…", "aria-label": "Find a class, to give it a colour of its own" });
    this.found = element("ul", { class: "found" });
    this.told = element("p", { class: "hint", role: "status" });
    this.reset = button("", () => this.#reset());
    const submit = (event) => {
      event.preventDefault();
      this.#pickFirst();
    };
    this.input.addEventListener("input", () => this.#search());
    this.element = element("form", { class: "picks", hidden: true, onsubmit: submit }, this.input, this.found, this.told);
  }

  get #legend() {
    return this.state.points?.legend;
  }

  /* The search is there where a category has no colour of its own, or somebody has picked some. */
  show() {
    const legend = this.#legend;
    const picked = legend ? this.state.picked[legend.name] : undefined;
    this.element.hidden = legend?.kind !== "category" || legend.name === "saved" || (!picked && !legend.values.some((value, rank) => value.other || isOthers(rank)));
    this.reset.textContent = `Colours for the ${picked?.length} largest`;
    if (picked) this.element.append(this.reset);
    else this.reset.remove();
    if (this.#of && this.#of.colour !== legend?.name) this.#forget();
  }

  #forget() {
    this.#of = null;
    this.input.value = this.told.textContent = "";
    this.found.replaceChildren();
  }

  /* The categories, asked for once for each view. */
  async #load() {
    const { name: colour } = this.#legend;
    const at = this.loader.at();
    const view = JSON.stringify(at);
    if (this.#of?.colour === colour && this.#of.view === view) return this.#values;
    const { values, more } = await this.source.axis(at, colour);
    this.#of = { colour, view };
    this.#values = values;
    this.more = more;
    return values;
  }

  async #search() {
    const text = this.input.value;
    try {
      const matches = text === "" ? [] : findValues(await this.#load(), text);
      if (text === this.input.value) this.#list(text, matches);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    this.told.textContent = error.gone ? "" : error.message;
  }

  #list(text, matches) {
    const coloured = this.#coloured();
    this.found.replaceChildren(...matches.slice(0, SHOWN_MOST).map(({ label, count: examples }) => {
      const parts = [element("bdi", { class: "label" }, label), element("span", { class: "count" }, count(examples))];
      const title = coloured.includes(label) ? "Has a colour of its own" : "Give it a colour of its own";
      return element("li", {}, element("button", { type: "button", title, disabled: coloured.includes(label), onclick: () => this.#pick(label) }, ...parts));
    }));
    const rest = matches.length > SHOWN_MOST ? `${count(matches.length - SHOWN_MOST)} more match.` : "";
    const none = text !== "" && matches.length === 0 ? "None matches." : "";
    const small = this.more > 0 && text !== "" ? `Only the ${count(this.#values.length)} largest are searched.` : "";
    this.told.textContent = [none, rest, small].filter(Boolean).join(" ");
  }

  #coloured() {
    const { values } = this.#legend;
    return values.filter((value, rank) => !value.other && !isOthers(rank)).map(({ label }) => label);
  }

  async #pickFirst() {
    try {
      const [first] = this.input.value === "" ? [] : findValues(await this.#load(), this.input.value);
      if (first) this.#pick(first.label);
    } catch (error) {
      this.#fail(error);
    }
  }

  #pick(label) {
    const { name } = this.#legend;
    const labels = this.#coloured();
    const largest = [...this.#values].sort((a, b) => b.count - a.count || a.value - b.value).slice(0, labels.length);
    const now = withPick(labels, new Set(largest.map((value) => value.label)), label);
    const replaced = labels.find((one) => !now.includes(one));
    this.input.value = "";
    this.#list("", []);
    this.input.focus();
    if (now === labels) return;
    this.told.textContent = `${label} has a colour of its own, in place of ${replaced}.`;
    this.state.set({ picked: { ...this.state.picked, [name]: now } });
  }

  #reset() {
    const { [this.#legend.name]: _, ...picked } = this.state.picked;
    this.told.textContent = "";
    this.state.set({ picked });
    this.input.focus();
  }
}
