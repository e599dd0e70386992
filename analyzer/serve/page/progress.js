/*
 * progress.js: the progress of the run, while it is recorded and afterwards: examples learned and forgotten, or the mean loss, by
 * epoch, the rate, the collector's health, warnings, and the clients' counters.
 */
import { count, element, number as sayNumber } from "./dom.js";
import { EpochChart } from "./epoch_chart.js";
import { askFingerprint } from "./fingerprint.js";

const RECORDING_MS = 1000;
const CLOSED_MS = 10000;

const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);
const probability = (value) => (value === null ? "–" : value.toFixed(3));
const CHARTS = [
  ["accuracy", "Accuracy", { most: 1, format: share }],
  ["confidence", "Mean confidence", { most: 1, format: probability }],
  ["learned", "Learned", {}],
  ["forgotten", "Forgotten", {}],
  ["mean_loss", "Mean loss", { least: 0, format: sayNumber }], /* of runs of losses alone */
];

function sayAge(seconds) {
  if (seconds < 2) return "now";
  return seconds < 120 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`;
}

const sayBytes = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`);

/* Facts about the run: [[name, text], …]. */
function runFacts(progress, fingerprint) {
  const { forgetting, examples, declared, observations, rate } = progress;
  const recording = progress.state === "recording";
  return [
    ["Examples so far", declared ? `${count(examples)} of ${count(declared)}` : count(examples)],
    ["Observations", count(observations)],
    ...(recording ? [["Rate", rate === null ? "–" : `${count(Math.round(rate))} a second`], ["Last observation", sayAge(progress.idle_seconds)]] : []),
    ...(forgetting ? [["Forgotten at least once", count(forgetting.examples)], ["Never learned", count(forgetting.not_learned)]] : []),
    ...(fingerprint ? [["Fingerprint of the data", fingerprint]] : []),
  ];
}

/* Counters of trouble are left out while they are 0. */
function healthFacts({ collector, sessions, counters, replaced, refused }) {
  const { commits } = counters;
  const reasons = Object.entries(counters.refused).filter(([, number]) => number > 0).map(([reason, number]) => `${reason.replaceAll("_", " ")} ${count(number)}`);
  const trouble = [
    ["Replaced", replaced],
    ["Refused", refused, reasons.length > 0 ? ` (${reasons.join(", ")})` : ""],
    ["Repeated", counters.repeated],
    ["Skipped, to be sent again", counters.skipped],
    ["Gaps in numbers", counters.gaps],
    ["Malformed frames", counters.malformed],
    ["Failed commits", counters.failures],
  ].filter(([, number]) => number > 0);
  return [
    ["Collector", collector ? "running" : "not running"],
    ["Sessions", `${count(sessions.live)} live of ${count(sessions.total)}${sessions.never_closed > 0 ? `, ${count(sessions.never_closed)} never closed` : ""}`],
    ["Received", `${count(counters.frames)} frames, ${sayBytes(counters.bytes)}`],
    ["Commits", commits.count > 0 ? `${(commits.total_us / commits.count / 1000).toFixed(1)} ms, longest ${(commits.longest_us / 1000).toFixed(1)} ms` : "–"],
    ...trouble.map(([name, number, more = ""]) => [name, count(number) + more]),
  ];
}

function clientFacts({ clients }) {
  if (clients.told === 0) return [["Clients", "none has sent its counts yet"]];
  return [
    ["Clients that sent counts", count(clients.told)],
    ["Logged", count(clients.logged)],
    ["Refused", count(clients.refused)],
    ["Dropped", count(clients.dropped)],
    ["Spooled to disk", count(clients.spooled)],
    ["Log calls that waited", count(clients.waits)],
  ];
}

function factList(title) {
  const list = element("dl", { class: "measures" });
  const show = (facts) => list.replaceChildren(...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  return { box: element("div", { class: "facts" }, element("h3", {}, title), list), show };
}

function numberTable() {
  const body = element("tbody");
  const head = element("tr");
  const table = element("table", {}, element("thead", {}, head), body);
  const ofLabels = ["epoch", "examples", "accuracy", "confidence", "learned", "forgotten"];
  const lossCells = ({ epoch, observed, mean_loss: loss }) => [epoch, count(observed), sayNumber(loss)];
  const labelCells = ({ epoch, observed, accuracy, confidence, learned, forgotten }) => [epoch, count(observed), share(accuracy), probability(confidence), count(learned), count(forgotten)];
  const show = (epochs, isLoss) => {
    const [names, cells] = isLoss ? [["epoch", "examples", "mean loss"], lossCells] : [ofLabels, labelCells];
    head.replaceChildren(...names.map((name) => element("th", { scope: "col" }, name)));
    body.replaceChildren(...epochs.map((epoch) => element("tr", {}, ...cells(epoch).map((text) => element("td", {}, String(text))))));
  };
  return { box: element("details", { class: "numbers-by-epoch" }, element("summary", {}, "Numbers by epoch"), table), show };
}

/* How much of the present epoch has been observed. */
function epochBar() {
  const bar = element("progress");
  const text = element("span");
  const box = element("p", { class: "epoch-bar" }, element("label", {}, text, " ", bar));
  const show = ({ state, epochs, expected }) => {
    const last = epochs[epochs.length - 1];
    box.hidden = state !== "recording" || !last || !expected;
    if (box.hidden) return;
    text.textContent = `Epoch ${last.epoch}: ${count(last.observed)} of ${count(expected)}`;
    bar.max = expected;
    bar.value = Math.min(expected, last.observed);
  };
  return { box, show };
}

class Progress {
  #seen = null;
  #of = null; /* the run that the panel shows */
  #ticket = 0;
  #timer = 0;
  #data = null; /* {run, fingerprint} */

  constructor(section, { state, source }) {
    Object.assign(this, { section, state, source });
    this.title = element("h2");
    this.trouble = element("ul", { class: "warnings" });
    this.bar = epochBar();
    this.charts = CHARTS.map(([name, title, options]) => [name, new EpochChart(title, options)]);
    this.lists = [[factList("Recording"), runFacts], [factList("Collector"), healthFacts], [factList("Clients"), clientFacts]];
    this.table = numberTable();
    const charts = element("div", { class: "charts" }, ...this.charts.map(([, chart]) => chart.figure));
    const facts = element("div", { class: "fact-lists" }, ...this.lists.map(([list]) => list.box));
    section.append(this.title, element("div", { role: "status" }, this.trouble), this.bar.box, charts, facts, this.table.box);
    section.hidden = true;
    state.subscribe(["run"], () => this.#look());
    const ask = askFingerprint(source, (data) => {
      this.#data = data;
      this.#show();
    });
    state.subscribe(["view"], () => {
      this.#show();
      if (state.view) ask(state.view);
    });
    this.#look();
  }

  /* Looks now, and again after a while. */
  async #look() {
    const ticket = ++this.#ticket;
    const { state, source } = this;
    clearTimeout(this.#timer);
    try {
      if (state.run && !state.gone && !(document.hidden && this.#of === state.run)) {
        const run = state.run;
        const seen = await source.progress(run);
        if (ticket !== this.#ticket) return;
        this.#seen = seen;
        this.#of = run;
        this.#show();
      }
    } catch (error) {
      if (ticket !== this.#ticket) return;
      this.#sayTrouble([error.message]);
    }
    const isRecording = this.#seen?.state !== "closed" || state.view?.state === "recording";
    if (source.live) this.#timer = setTimeout(() => this.#look(), isRecording ? RECORDING_MS : CLOSED_MS);
  }

  #sayTrouble(texts) {
    if (JSON.stringify(texts) === JSON.stringify([...this.trouble.children].map(({ textContent }) => textContent))) return;
    this.trouble.replaceChildren(...texts.map((text) => element("li", {}, text)));
  }

  #show() {
    const seen = this.#of === this.state.run ? this.#seen : null;
    this.section.hidden = !seen?.epochs;
    if (!seen?.epochs) return;
    const recording = seen.state === "recording";
    this.title.textContent = recording ? "Progress: recording" : "Progress: closed";
    this.#sayTrouble(seen.warnings);
    this.bar.show(seen);
    const { view } = this.state;
    const shown = view?.run === this.#of ? view.epochs : [];
    const isLoss = !seen.forgetting;
    for (const [name, chart] of this.charts) {
      chart.figure.hidden = isLoss !== (name === "mean_loss");
      if (!chart.figure.hidden) chart.draw(seen.epochs.map((epoch) => [epoch.epoch, epoch[name]]), shown, recording);
    }
    for (const [list, facts] of this.lists) list.show(facts(seen, this.#data?.run === this.#of ? this.#data.fingerprint : null));
    this.table.show(seen.epochs, isLoss);
  }
}

export function showProgress(section, parts) {
  const why = parts.source.whyNot("progress");
  if (why) section.append(element("h2", {}, "Progress"), element("p", { class: "hint" }, why));
  else new Progress(section, parts);
}
