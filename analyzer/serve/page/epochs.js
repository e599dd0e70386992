/*
 * epochs.js: chooses the epochs that the measures cover: all, one, all up to one, or a range; and plays them. Axes, zoom and
 * selection stay. The epochs in large type are those that the map shows.
 *
 * Sliders count the epochs that the run has, from 0, and so skip epochs without observations.
 */
import { widenForEpochs } from "./axes.js";
import { button, element, fillSelect } from "./dom.js";
import { Player } from "./play.js";

const MODES = [
  ["all", "All"],
  ["one", "One"],
  ["upto", "Up to"],
  ["range", "Range"],
];
const PAUSES = { slow: 2000, normal: 1000, fast: 400 };

/* "A:B" of a choice {mode, from, to}: indices into `all`. A range up to the last epoch stays open: it grows with the run. */
export function rangeOf({ mode, from, to }, all) {
  if (mode === "all" || all.length === 0) return "";
  if (mode === "one") return `${all[to]}:${all[to] + 1}`;
  if (mode === "upto") return `:${all[to] + 1}`;
  return `${all[from]}:${to === all.length - 1 ? "" : all[to] + 1}`;
}

/* The choice that a range stands for, with the nearest epochs where the run lacks those of the range. */
export function choiceOf(range, all) {
  const last = Math.max(0, all.length - 1);
  const match = /^(\d*):(\d*)$/.exec(range);
  if (!match || (match[1] === "" && match[2] === "")) return { mode: "all", from: 0, to: last };
  const [begin, end] = [Number(match[1]), match[2] === "" ? Infinity : Number(match[2])];
  const first = all.findIndex((epoch) => epoch >= begin);
  const from = first < 0 ? last : first;
  const to = Math.max(from, all.filter((epoch) => epoch < end).length - 1);
  const mode = match[1] === "" ? "upto" : end === begin + 1 ? "one" : "range";
  return { mode, from, to };
}

/* The epochs of the view in words: [in small type, in large type]. */
function describe(mode, epochs) {
  if (epochs.length === 0) return ["no", "epoch"];
  const [first, last] = [epochs[0], epochs[epochs.length - 1]];
  if (mode === "upto") return ["up to epoch", String(last)];
  if (epochs.length === 1) return ["epoch", String(last)];
  return [mode === "all" ? "all epochs" : "epochs", `${first} – ${last}`];
}

/* What is to be said of a map that shows variability; "": nothing. */
function hintOf({ epochs, range, trend }) {
  if (epochs.length === 1) return "Within one epoch nothing varies: variability is 0.";
  if (range !== "" || !trend.most) return "";
  const mend = trend.less_from === null ? "" : `; the range ${trend.less_from}: leaves most of it out`;
  return `${Math.round(100 * trend.share)}% of the variance is the learning that all share${mend}.`;
}

class Epochs {
  #choice = { mode: "all", from: 0, to: 0 };
  #late = null; /* chosen while another view was being loaded */

  constructor(section, parts) {
    Object.assign(this, { section, state: parts.state, map: parts.map });
    this.player = new Player(parts, () => this.#next(), () => this.#show());
    this.#build();
    const { state } = parts;
    state.subscribe(["view", "epochs", "run"], (changed) => {
      if (changed.has("run")) this.#late = null;
      this.#read();
    });
    state.subscribe(["busy"], () => this.#catchUp());
    state.subscribe(["points", "epochs"], () => {
      if (state.epochs !== "") widenForEpochs(this.map);
    });
    this.#read();
  }

  get #all() {
    return this.state.view?.all_epochs ?? [];
  }

  #build() {
    const slider = (end, label) => {
      const input = element("input", { type: "range", min: 0, step: 1, "aria-label": label });
      input.addEventListener("input", () => this.#slide(end, Number(input.value)));
      return input;
    };
    this.from = slider("from", "First epoch");
    this.to = slider("to", "Epoch");
    this.before = element("span");
    this.large = element("strong");
    this.now = element("p", { class: "epoch-now" }, this.before, " ", this.large);
    this.modes = MODES.map(([mode, text]) => [mode, button(text, () => this.#choose({ ...this.#choice, mode }))]);
    this.play = button("", () => this.#toggle(), { class: "play" });
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const speed = element("select", { "aria-label": "Speed" });
    speed.addEventListener("change", () => {
      this.player.pause = PAUSES[speed.value];
    });
    fillSelect(speed, Object.keys(PAUSES).map((name) => [name, name]), isCalm ? "slow" : "normal");
    this.player.pause = PAUSES[speed.value];
    this.ends = [element("span"), element("span")];
    this.track = element("div", { class: "track" }, element("div", { class: "rail" }), this.from, this.to, ...this.ends);
    this.hint = element("p", { class: "hint" });
    this.section.append(
      this.now,
      element("div", { class: "tools", role: "group", "aria-label": "Measures over which epochs" }, ...this.modes.map(([, made]) => made)),
      this.track,
      element("div", { class: "tools" }, this.play, speed),
      this.hint,
    );
  }

  /* Takes the choice from the state. Where two kinds of choice mean the same range, the user's own kind stays. */
  #read() {
    if (this.#late) return;
    const { epochs } = this.state;
    if (this.#all.length > 0 && rangeOf(this.#choice, this.#all) !== epochs) {
      const { mode } = this.#choice;
      this.#choice = choiceOf(epochs, this.#all);
      if (mode === "range" && this.#choice.mode === "one") this.#choice.mode = "range";
    }
    if (this.#choice.mode === "all") Object.assign(this.#choice, { from: 0, to: Math.max(0, this.#all.length - 1) });
    this.#show();
  }

  #slide(end, index) {
    const choice = { ...this.#choice, [end]: index };
    if (choice.mode === "range" && choice.from > choice.to) choice[end === "from" ? "to" : "from"] = index;
    this.#choose(choice.mode === "all" ? { ...choice, mode: "upto" } : choice);
  }

  /* While a view is being loaded, only the newest choice waits: no view is asked for that nobody wants any more. */
  #choose(choice) {
    this.player.stop();
    this.#choice = choice;
    this.#late = this.state.busy ? choice : null;
    if (!this.#late) this.state.set({ epochs: rangeOf(choice, this.#all) });
    this.#show();
  }

  #catchUp() {
    if (!this.#late || this.state.busy) return;
    const choice = this.#late;
    this.#late = null;
    this.state.set({ epochs: rangeOf(choice, this.#all) });
  }

  /* A range moves on as a whole. */
  #next() {
    const { mode, from, to } = this.#choice;
    return to + 1 < this.#all.length ? rangeOf({ mode, from: from + 1, to: to + 1 }, this.#all) : null;
  }

  #toggle() {
    if (this.player.isPlaying) {
      this.player.stop();
      return;
    }
    const { mode, from, to } = this.#choice;
    const last = this.#all.length - 1;
    if (mode === "all") this.#choice = { mode: "upto", from: 0, to: 0 };
    else if (to === last) this.#choice = { mode, from: 0, to: mode === "range" ? Math.max(0, Math.min(to - from, last - 1)) : 0 };
    this.player.start(rangeOf(this.#choice, this.#all));
  }

  #show() {
    const { view, points } = this.state;
    const all = this.#all;
    const { mode, from, to } = this.#choice;
    this.section.hidden = all.length < 2;
    if (all.length < 2) return;
    const shown = view.range === rangeOf(this.#choice, all) ? mode : choiceOf(view.range, all).mode;
    [this.before.textContent, this.large.textContent] = describe(shown, view.epochs);
    for (const [name, made] of this.modes) made.setAttribute("aria-pressed", String(name === mode));
    this.#setSlider(this.from, from);
    this.#setSlider(this.to, to);
    this.from.hidden = mode !== "range";
    this.to.setAttribute("aria-label", mode === "range" ? "Last epoch" : "Epoch");
    this.track.classList.toggle("all", mode === "all");
    const begin = mode === "range" ? from : mode === "one" ? to : 0;
    this.track.style.setProperty("--from", begin / (all.length - 1));
    this.track.style.setProperty("--to", to / (all.length - 1));
    this.ends[0].textContent = String(all[0]);
    this.ends[1].textContent = String(all[all.length - 1]);
    this.play.textContent = this.player.isPlaying ? "❚❚ Pause" : "▶ Play";
    this.hint.textContent = this.hint.title = hintOf(view);
    this.hint.hidden = this.hint.textContent === "" || !(points && [points.x.name, points.y.name].includes("variability"));
  }

  #setSlider(input, index) {
    input.max = this.#all.length - 1;
    input.value = index;
    input.setAttribute("aria-valuetext", `epoch ${this.#all[index]}`);
  }
}

/* parts: {state, source, loader, map}. */
export function showEpochs(section, parts) {
  const why = parts.source.whyNot("epochs");
  if (why) section.append(element("p", { class: "hint" }, why));
  else new Epochs(section, parts);
}
