/*
 * report.js: what `portolan report` says of the run, made by that command, on the server. The answer belongs to a version of the
 * view; this panel says whether the run has grown since, and has it made anew on demand.
 */
import { commandLine, lineOf } from "./command.js";
import { button, count, element } from "./dom.js";
import { follow } from "./follow.js";
import { showPanel } from "./layout.js";
import { ReportBlocks } from "./report_blocks.js";
import { openSuspects } from "./suspects.js";

const POLL_MS = 700;
const MAP = { x: "variability", y: "confidence", colour: "correctness", box: null };

const timeOf = (made) => new Date(made).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

class Report {
  #settled = null; /* the view about which the last answer was, as text; null: ask */
  #isAnew = false;
  #timer = 0; /* of the next question */
  #turns = 0; /* how often the panel was emptied: an answer to an older question is dropped */
  #shown = null; /* the answer that stands in the panel */

  constructor(section, parts) {
    Object.assign(this, { section, parts, state: parts.state });
    this.#build();
    this.ask = follow(section, this.state, { load: () => this.#load(), fail: (text) => this.#fail(text) });
    this.state.subscribe(["run", "epochs"], () => this.#forget());
  }

  #build() {
    this.about = element("p", { role: "status" });
    this.anew = button("Make it anew", () => {
      this.#isAnew = true;
      this.ask();
    });
    this.command = element("div");
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.body = element("div", { class: "report-body" });
    this.suspects = button("", () => this.#openSuspects(), { class: "suspects" });
    this.opened = element("p", { role: "status" });
    this.section.append(element("h2", {}, "Report"), element("div", { class: "report-head" }, this.about, this.anew), this.command, this.problem, this.body);
  }

  /* The report of another run, or of other epochs, does not stay. */
  #forget() {
    this.#shown = this.#settled = null;
    this.#turns++;
    this.failed = undefined;
    this.#fail(null);
    this.body.replaceChildren();
    this.command.replaceChildren();
    this.about.textContent = "";
  }

  async #load() {
    const { source, loader } = this.parts;
    const at = loader.at();
    const about = JSON.stringify(at);
    const isAnew = this.#isAnew;
    if (about === this.#settled && !isAnew) return;
    clearTimeout(this.#timer);
    this.#isAnew = false; /* a press from now on is another wish */
    let isHeard = false;
    const turn = this.#turns;
    try {
      const answer = await source.report(at, isAnew);
      isHeard = turn === this.#turns && JSON.stringify(loader.at()) === about; /* else follow() asks about the newer view */
      if (isHeard) this.#take(answer, about);
    } finally {
      if (!isHeard && turn === this.#turns) this.#isAnew ||= isAnew;
    }
  }

  #take(answer, about) {
    this.#settled = answer.state === "making" ? null : about;
    this.#show(answer);
    /* A grown run has its report made again after a rest: ask whether it is time. */
    if (answer.state === "making" || !answer.current) {
      this.#settled = null;
      this.#timer = setTimeout(() => this.ask(), answer.state === "making" ? POLL_MS : Math.max(POLL_MS, 1000 * answer.took));
    }
  }

  #fail(text) {
    this.problem.hidden = text === null && this.failed === undefined;
    this.problem.textContent = text ?? this.failed ?? "";
  }

  #show(answer) {
    const isMaking = answer.state === "making";
    this.section.dataset.state = answer.state;
    this.anew.disabled = isMaking;
    this.failed = answer.error;
    const making = answer.waits_for ? `The report waits until portolan ${answer.waits_for} has ended.` : "The report is being made.";
    this.about.textContent = isMaking ? `${making}${this.#shown ? " What stands below is the last one." : ""}` : answer.state === "failed" ? "There is no report." : this.#sayWhen(answer);
    if (isMaking && this.#shown) return;
    this.command.replaceChildren(commandLine(lineOf(answer.command)));
    if (answer.state === "failed") this.body.replaceChildren();
    if (answer.state !== "made" || answer.made === this.#shown?.made) return;
    this.#shown = answer;
    this.#fill(answer.answer);
  }

  #sayWhen({ made, took, current }) {
    const of = current ? "" : " The run has grown since: what stands here is of an earlier state. It is made again by itself, at most a tenth of the time.";
    return `Made ${timeOf(made)}, in ${took < 10 ? took.toFixed(1) : Math.round(took)} s.${of}`;
  }

  #fill(report) {
    const { state } = this;
    const called = report.sections.find(({ id }) => id === "suspects")?.blocks.find(({ numbers }) => numbers?.called !== undefined)?.numbers.called ?? 0;
    this.suspects.textContent = `Open the ${count(called)} suspects in the table`;
    this.opened.textContent = "";
    const toggle = (id) => state.set({ pinned: state.pinned.includes(id) ? state.pinned.filter((other) => other !== id) : [...state.pinned, id] });
    const blocks = new ReportBlocks(report, { onCommand: (number) => this.#showCommand(number), onId: toggle, onMap: () => state.set(MAP) });
    this.body.replaceChildren(...blocks.elements({ suspects: called > 0 ? [element("div", { class: "tools" }, this.suspects), this.opened] : [] }));
  }

  #showCommand(number) {
    const line = this.body.querySelector(`[data-command="${number}"]`);
    line.closest("details").open = true;
    line.scrollIntoView({ block: "nearest" });
    line.focus({ preventScroll: true });
  }

  async #openSuspects() {
    this.suspects.disabled = true;
    this.opened.textContent = "The suspects are being listed.";
    try {
      const list = await openSuspects(this.parts, ({ waits_for: first }) => {
        if (first) this.opened.textContent = `The list waits until portolan ${first} has ended.`;
      });
      this.opened.textContent = list ? this.#sayList(list) : "";
      if (list) showPanel(this.state, "table");
    } catch (error) {
      this.opened.textContent = error.message;
    }
    this.suspects.disabled = false;
  }

  #sayList({ called, weak, current }) {
    const earlier = current ? "" : " The list is of an earlier state of the run, which has grown since.";
    const why = weak.length > 0 ? ` The list is weak: ${weak.map(({ text }) => text).join("; ")}.` : "";
    return `${count(called)} suspects are selected, and the table has them in their order.${earlier}${why}`;
  }
}

/* In a page that is one file: how to make one. */
function showReason(section, { state, source }) {
  const command = element("div");
  section.append(element("h2", {}, "Report"), element("p", {}, source.whyNot("report")), command);
  state.subscribe(["view"], () => state.view && command.replaceChildren(commandLine(lineOf(["portolan", "report", state.view.run, "-o", "report.html"]))));
}

export function showReport(section, parts) {
  parts.state.define("ranking", null); /* suspects.js */
  if (parts.source.whyNot("report")) showReason(section, parts);
  else new Report(section, parts);
}
