/*
 * compare.js: a second run beside the first one, matched by id. Examples selected or pointed at on one map are marked
 * on the other. Counts say how far two selections overlap; arrows show where an example is in each run. The second run may
 * be the first one with other epochs.
 *
 * state.other is "", or a fragment as in state.js with run, epochs (left out: the epochs of the first run) and selection, which
 * has epochs of its own.
 */
import { Arrows, findShifts, meanShift, someOf } from "./arrows.js";
import { alignAxes } from "./axes.js";
import { nameOf } from "./about.js";
import { button, count, element, fillSelect, number } from "./dom.js";
import { askFingerprint } from "./fingerprint.js";
import { LinkedPoints } from "./linked_points.js";
import { carryMask, countBoth, makeLinks, NOWHERE } from "./links.js";
import { clearSelection } from "./parts.js";
import { isElsewhen, sayEpochs } from "./selection.js";
import { createState, same } from "./state.js";
import { createTwin, sharedOf } from "./twin.js";

const EPOCHS = "\\d*:\\d*";

/* Checked like the address itself. `shown`: the first run's epochs. */
function parseOther(text, shown) {
  const parts = new URLSearchParams(text);
  const follows = !parts.has("epochs");
  if (follows) parts.set("epochs", shown);
  const state = createState();
  state.load(parts.toString());
  const { run, epochs, selection } = state;
  return { run, epochs, selection, follows };
}

function formatOther({ run, epochs, selection, follows }) {
  const parts = new URLSearchParams({ run });
  if (!follows) parts.set("epochs", epochs);
  if (selection.parts.length > 0) parts.set("selection", JSON.stringify(selection));
  return parts.toString();
}

function titleOf({ run, epochs }) {
  return `${run} · ${sayEpochs(epochs)}`;
}

/* What the fingerprints say of the data: the first half is of the ids, the second of the ids with their labels. */
function sayData({ fingerprint: a, other_fingerprint: b }) {
  if (!a || !b) return "";
  if (a === b) return `Both runs have ${a.includes("-") ? "the same examples with the same labels" : "the same ids"} (fingerprint ${a}).`;
  const [[ids, labels], [otherIds, otherLabels]] = [a, b].map((text) => text.split("-"));
  const what = ids !== otherIds ? "The ids of the two runs are not all the same" : labels && otherLabels ? "Both runs have the same ids, some with another label" : "Both runs have the same ids";
  return `${what} (fingerprints ${a} and ${b}).`;
}

function joinMasks(a, b) {
  if (!a || !b) return a ?? b;
  return { bits: a.bits.map((byte, i) => byte | b.bits[i]), count: a.count + b.count - countBoth(a, b) };
}

class Compare {
  #links = null;
  #data = null; /* the answer about the data of both runs */
  #linked = ""; /* the two versions that the links belong to */
  #asked = "";
  #twin = null;
  #isOpen = false;
  #isLinking = false;

  constructor(section, parts) {
    Object.assign(this, { section, parts, state: parts.state, source: parts.source, map: parts.map });
    const { state } = this;
    state.define("other", "", true);
    this.#build();
    state.subscribe(["runs", "run", "other"], () => this.#fill());
    state.subscribe(["other", "epochs"], () => this.#read());
    this.#fill();
    this.#read();
  }

  #build() {
    this.run = element("select");
    this.run.addEventListener("change", () => this.#choose(this.run.value));
    this.follow = element("select", { "aria-label": "Epochs of the other run" });
    fillSelect(this.follow, [["same", "the same epochs"], ["own", "other epochs"]], "same");
    this.epochs = element("input", { type: "text", pattern: EPOCHS, placeholder: "A:B, empty: all", size: 14, "aria-label": "Epochs, as A:B" });
    for (const input of [this.follow, this.epochs]) input.addEventListener("change", () => this.#chooseEpochs());
    this.swap = button("Swap", () => this.#swap(), { title: "The other run becomes the first one" });
    this.copy = button("Same outline there", () => this.#write({ selection: this.state.selection }), { title: "Select the examples within the same outline on the other map" });
    this.clear = button("Clear there", () => clearSelection(this.#twin.state));
    this.arrows = element("input", { type: "checkbox", onchange: () => this.#link() });
    this.trouble = element("p", { role: "status", class: "trouble" });
    this.warning = element("ul", { class: "warnings" });
    this.counts = element("tbody");
    this.wantData = askFingerprint(this.source, (data) => {
      this.#data = data;
      this.#showData();
    });
    this.data = element("p", { class: "fingerprints" });
    this.overlap = element("p", { role: "status" });
    this.shift = element("p");
    this.heads = ["", "", "in both"].map((text) => element("th", { scope: "col" }, text));
    const table = element("table", {}, element("thead", {}, element("tr", {}, element("td"), ...this.heads)), this.counts);
    this.details = element(
      "div",
      { class: "compared" },
      element("div", { role: "status" }, this.warning),
      element("div", { class: "tools" }, this.swap, this.copy, this.clear, element("label", {}, this.arrows, " Arrows from here to there")),
      table,
      this.data,
      this.overlap,
      this.shift,
    );
    this.section.append(element("div", { class: "tools" }, element("label", {}, "Compare with ", this.run), this.follow, this.epochs), this.details);
  }

  #fill() {
    const { state } = this;
    const { run } = this.#other();
    const names = (state.runs ?? []).map(({ name }) => name);
    if (run && !names.includes(run)) names.unshift(run);
    fillSelect(this.run, [["", "no other run"], ...names.map((name) => [name, name === state.run ? `${name} (this run)` : name])], run);
  }

  /* Beside itself, a run shows other epochs. */
  #choose(run) {
    const { selection } = this.#other();
    const isItself = run === this.state.run;
    this.state.set({ other: run === "" ? "" : formatOther({ run, epochs: "", selection, follows: !isItself }) });
  }

  #chooseEpochs() {
    if (!this.epochs.checkValidity()) return;
    this.#write({ follows: this.follow.value === "same", epochs: this.epochs.value === ":" ? "" : this.epochs.value });
  }

  #write(changes) {
    this.state.set({ other: formatOther({ ...this.#other(), ...changes }) });
  }

  #swap() {
    const { run, epochs, selection } = this.state;
    const { state: twin } = this.#twin;
    const { follows } = this.#other();
    this.state.set({ run: twin.run, epochs: twin.epochs, selection: twin.selection, cuts: null, hovered: null, other: formatOther({ run, epochs, selection, follows }) });
  }

  #other() {
    return parseOther(this.state.other, this.state.epochs);
  }

  /* Follows state.other. */
  #read() {
    const { state } = this;
    const asked = this.#other();
    this.#isOpen = asked.run !== "";
    if (this.#isOpen) this.#open();
    this.#showOpen(asked);
    if (!this.#isOpen) return;
    if (asked.selection.parts.length > 0) this.#write({}); /* a selection without epochs gets those that are shown now, and keeps them */
    const { state: twin } = this.#twin;
    const selection = same(asked.selection, twin.selection) ? twin.selection : asked.selection;
    twin.set({ ...sharedOf(state), run: asked.run, epochs: asked.follows ? state.epochs : asked.epochs, selection });
  }

  #showOpen({ follows, epochs }) {
    const isOpen = this.#isOpen;
    this.#showData();
    for (const part of [this.details, this.follow]) part.hidden = !isOpen;
    this.epochs.hidden = !isOpen || follows;
    this.follow.value = follows ? "same" : "own";
    if (document.activeElement !== this.epochs) this.epochs.value = epochs;
    if (!this.#twin) return;
    this.#twin.map.section.hidden = this.title.hidden = !isOpen;
    if (!isOpen) this.#rest();
  }

  #rest() {
    this.#twin.state.set({ run: "", hovered: null });
    for (const name of ["shared", "here", "there", "both"]) delete this.section.dataset[name];
    this.#links = null;
    this.#asked = this.#linked = "";
    for (const overlay of this.overlays) overlay.show(null);
    for (const arrows of this.drawnArrows) arrows.show([]);
  }

  #open() {
    if (this.#twin) return;
    const place = element("section", { id: "other-map", "aria-label": "Map of the other run", tabindex: -1 });
    this.map.section.after(place);
    this.#twin = createTwin(place, this.parts, () => this.#isOpen);
    this.title = element("h2", { class: "map-title" });
    this.otherTitle = element("h2", { class: "map-title" });
    this.map.section.prepend(this.title);
    this.otherWarning = element("p", { class: "map-warning" });
    place.prepend(element("div", { class: "map-head" }, this.otherTitle, this.otherWarning), this.trouble);
    const maps = [this.map, this.#twin.map];
    this.overlays = maps.map((map) => new LinkedPoints(map));
    this.drawnArrows = maps.map((map) => new Arrows(map));
    this.#follow(this.state, this.#twin.state);
  }

  #follow(state, twin) {
    twin.define("pinnedExamples", []);
    for (const one of [state, twin]) one.subscribe(["points", "selected"], () => this.#link());
    twin.subscribe(["selection"], () => {
      if (this.#isOpen && !same(this.#other().selection, twin.selection)) this.#write({ selection: twin.selection });
    });
    twin.subscribe(["error", "view"], () => {
      this.trouble.textContent = twin.error ?? "";
    });
    state.subscribe(["hovered"], () => this.#linkHover(state, twin, this.#links?.there));
    twin.subscribe(["hovered"], () => this.#linkHover(twin, state, this.#links?.back));
    state.subscribe(["pinnedExamples"], () => this.#linkPins());
  }

  #linkHover(from, to, places) {
    if (this.#isLinking || !this.#isOpen) return;
    this.#isLinking = true;
    const place = from.hovered === null || !places ? NOWHERE : (places[from.hovered] ?? NOWHERE);
    to.set({ hovered: place === NOWHERE ? null : place });
    this.#isLinking = false;
  }

  #linkPins() {
    if (!this.#links || !this.#isOpen) return;
    const pins = (this.state.pinnedExamples ?? []).map((example) => ({ ...example, place: this.#links.there[example.place] }));
    this.#twin.state.set({ pinnedExamples: pins.filter(({ place }) => place !== undefined && place !== NOWHERE) });
  }

  /* Links belong to two versions of views. The pictures stay as they are while the links of newer versions are loaded. */
  #link() {
    if (!this.#isOpen) return;
    const { state } = this;
    const { state: twin, loader } = this.#twin;
    if (state.view?.run !== state.run || twin.view?.run !== twin.run) return;
    this.title.textContent = titleOf(state.view);
    this.otherTitle.textContent = titleOf(twin.view);
    alignAxes(this.map, this.#twin.map);
    const [at, otherAt] = [this.parts.loader.at(), loader.at()];
    const key = JSON.stringify([at, otherAt]);
    if (key === this.#linked) {
      this.#show();
      return;
    }
    for (const overlay of this.overlays) overlay.wait();
    if (key !== this.#asked) this.#load(key, at, otherAt, twin.view.points);
  }

  async #load(key, at, otherAt, otherCount) {
    this.#asked = key;
    if (at.run !== otherAt.run) this.wantData(at, otherAt);
    try {
      const there = await this.source.match(at, otherAt);
      if (this.#asked !== key) return;
      this.#links = makeLinks(there, otherCount);
      this.#linked = key;
      this.trouble.textContent = "";
      this.#link();
      this.#linkPins();
    } catch (error) {
      if (this.#asked !== key) return;
      this.#asked = "";
      this.#links = null;
      if (error.gone) {
        this.#renew(at, otherAt);
        return;
      }
      this.trouble.textContent = error.message;
      for (const overlay of this.overlays) overlay.show(null);
    }
  }

  /* The server has dropped a view: asking for it loads it again. If that is a newer version, the loader brings it, too. */
  async #renew(at, otherAt) {
    try {
      const views = await Promise.all([at, otherAt].map(({ run, epochs, version }) => this.source.view(run, epochs, version)));
      if (views.every((view) => view === null)) this.#link();
    } catch (error) {
      this.trouble.textContent = error.message;
    }
  }

  #show() {
    const { state } = this;
    const { state: twin } = this.#twin;
    const [mine, theirs] = [state.selected, twin.selected];
    const theirsHere = carryMask(theirs, this.#links.back, state.view.points);
    const mineThere = carryMask(mine, this.#links.there, twin.view.points);
    this.overlays[0].show(theirsHere);
    this.overlays[1].show(mineThere);
    this.#showCounts(mine, theirs, mineThere, theirsHere);
    this.#showArrows(joinMasks(mine, theirsHere));
  }

  #showCounts(mine, theirs, mineThere, theirsHere) {
    const { state } = this;
    const { state: twin } = this.#twin;
    const { shared } = this.#links;
    const both = mine && theirs ? countBoth(mine, theirsHere) : null;
    const say = (value) => (value === null || value === undefined ? "–" : count(value));
    const rows = [
      ["Examples", state.view.points, twin.view.points, shared],
      ["Selected", mine?.count, theirs?.count, both],
      ["of these, also in the other run", mineThere?.count, theirsHere?.count, null],
    ];
    this.heads[0].textContent = titleOf(state.view);
    this.heads[1].textContent = titleOf(twin.view);
    this.counts.replaceChildren(...rows.map(([name, ...values]) => element("tr", {}, element("th", { scope: "row" }, name), ...values.map((value) => element("td", {}, say(value))))));
    this.overlap.textContent = "Select on one map to see the same examples on the other. Select on both to see how far the two selections overlap.";
    if (both !== null) {
      const either = mineThere.count + theirsHere.count - both;
      const share = either > 0 ? ` (${((100 * both) / either).toFixed(1)} %)` : "";
      const chance = shared > 0 ? Math.round((mineThere.count * theirsHere.count) / shared) : 0;
      this.overlap.textContent = `Of the examples in both runs, ${count(either)} are in either selection and ${count(both)} in both${share}; by chance it would be ${count(chance)}. Dots with a core of the text's colour are selected on the other map.`;
    }
    if (theirs?.own && isElsewhen(twin)) this.overlap.textContent += ` The selection there was made at ${sayEpochs(theirs.own.epochs)} and keeps its examples.`;
    Object.assign(this.section.dataset, { shared, here: mine?.count ?? 0, there: theirs?.count ?? 0, both: both ?? 0 });
    this.copy.disabled = !mine;
    this.clear.disabled = !theirs;
  }

  /* The fingerprints and the warning. The warning stands beside the other map's title, too, on one line. */
  #showData() {
    const { state } = this;
    const twin = this.#twin?.state;
    const data = this.#isOpen && this.#data?.run === state.run && this.#data.other === twin?.run ? this.#data : null;
    const warning = data?.warning ?? "";
    this.data.textContent = data ? sayData(data) : "";
    if (this.warning.textContent !== warning) this.warning.replaceChildren(...(warning ? [element("li", {}, warning)] : []));
    if (this.otherWarning) this.otherWarning.textContent = this.otherWarning.title = warning;
  }

  #showArrows(mask) {
    const { state } = this;
    const { state: twin } = this.#twin;
    const isWanted = this.arrows.checked && mask && state.points.x.name === twin.points.x.name && state.points.y.name === twin.points.y.name;
    const shifts = isWanted ? findShifts(mask, this.#links, state.points, twin.points) : [];
    const drawn = someOf(shifts);
    for (const arrows of this.drawnArrows) arrows.show(drawn);
    this.shift.hidden = !this.arrows.checked;
    this.shift.textContent = mask ? "No selected example has values in both runs." : "Arrows show how selected examples move.";
    if (shifts.length === 0) return;
    const [dx, dy] = meanShift(shifts);
    const signed = (value) => (value > 0 ? `+${number(value)}` : number(value).replace("-", "−"));
    const moves = [[state.points.x, dx], [state.points.y, dy]].filter(([{ kind }]) => kind === "number").map(([{ name }, by]) => `${nameOf(name)} ${signed(by)}`);
    const part = drawn.length < shifts.length ? `; ${count(drawn.length)} of the ${count(shifts.length)} arrows are drawn` : "";
    this.shift.textContent = `From ${titleOf(state.view)} to ${titleOf(twin.view)}, ${count(shifts.length)} examples ${moves.length > 0 ? `move on average by ${moves.join(", ")}` : "have values"}${part}.`;
  }
}

/* parts: {state, source, loader, map}. */
export function showCompare(section, parts) {
  const why = parts.source.whyNot("compare");
  if (why) section.append(element("p", { class: "hint" }, why));
  else new Compare(section, parts);
}
