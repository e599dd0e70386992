/* report.test.js: when the panel of the report asks, and what it and the list of suspects say, while runs grow and are changed. */
import "./browser.js";
import { holdTimers, place, promised, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { showReport } from "../../../analyzer/serve/page/report.js";
import { SourceError } from "../../../analyzer/serve/page/source.js";
import { createState } from "../../../analyzer/serve/page/state.js";

globalThis.IntersectionObserver = class {
  constructor(tell) {
    this.observe = () => tell([{ isIntersecting: true }]);
  }
};
const timers = holdTimers();
const waiting = () => timers.filter(({ isOver }) => !isOver);

let late = 0; /* milliseconds that the tests have not waited for */
Object.defineProperty(performance, "now", { value: () => Date.now() + late }); /* Node 18 allows no assignment */

/* Ends the pauses that there are now. */
async function elapse() {
  late += 60000;
  for (const timer of waiting()) {
    timer.isOver = true;
    timer.go();
  }
  await settle();
}

const viewOf = (run, range, version = 1) => ({ run, range, version, epochs: [0] });
const called = { id: "suspects", title: "Suspects", blocks: [{ kind: "text", text: "many", numbers: { called: 2 } }] };
const reportOf = (at, more = {}) => ({ state: "made", current: true, took: 1, made: 1000 * at.version, command: ["portolan"], answer: { next: [], sections: [called], commands: [] }, ...more });

function open(source) {
  timers.length = 0;
  const state = createState();
  state.define("panel", "");
  const loader = { at: () => ({ run: state.view.run, epochs: state.view.range, version: state.view.version }) };
  const section = place();
  showReport(section, { state, loader, source: { whyNot: () => null, ...source } });
  const show = (run, range, version) => {
    state.set({ run, epochs: range });
    state.set({ view: viewOf(run, range, version) });
    return settle();
  };
  const buttonOf = (text) => section.querySelectorAll("button").find(({ textContent }) => textContent.includes(text));
  return { state, section, show, buttonOf };
}

test("a report stands there again after other epochs were shown, and not", async () => {
  const { state, section, show } = open({ report: async (at) => reportOf(at) });
  await show("r", "0:8");
  assert.ok(section.textContent.includes("Suspects"));
  state.set({ epochs: "0:3" });
  assert.ok(!section.textContent.includes("Suspects"));
  await show("r", "0:8");
  await elapse(); /* a panel rests before it asks about the same again */
  assert.ok(section.textContent.includes("Suspects"));
});

test("an answer about what is no longer chosen does not fill the panel", async () => {
  const first = promised();
  const { state, section, show } = open({ report: (at) => (at.run === "r" ? first.promise : Promise.resolve({ ...reportOf(at), state: "making" })) });
  await show("r", "0:8");
  state.set({ run: "other" });
  first.resolve({ ...reportOf({ version: 1 }), error: "late" });
  await settle();
  assert.ok(!section.textContent.includes("Suspects") && section.querySelector(".problem").hidden);
  await show("other", "0:8");
  await elapse();
  assert.ok(!section.textContent.includes("the last one"));
});

test("while a report is being made there is one next question, however often the view changes", async () => {
  let asked = 0;
  const { show } = open({
    report: async (at) => {
      asked++;
      return { ...reportOf(at), state: "making" };
    },
  });
  for (let version = 1; version <= 5; version++) await show("r", `0:${version}`, version);
  assert.equal(asked, 5);
  assert.equal(waiting().length, 1);
  await elapse();
  assert.equal(asked, 6);
  assert.equal(waiting().length, 1);
});

test("a press on “Make it anew” is never lost", async () => {
  const asked = [];
  const { show, buttonOf } = open({
    report(at, isAnew) {
      asked.push({ isAnew, at, ...promised() });
      return asked.at(-1).promise;
    },
  });
  const answer = async (i, more) => {
    asked[i].resolve(reportOf(asked[i].at, more));
    await settle();
  };
  await show("r", "0:8", 1);
  buttonOf("Make it anew").click(); /* the first question is under way, and is none of that */
  await answer(0);
  await elapse();
  assert.deepEqual(asked.map(({ isAnew }) => isAnew), [false, true]);
  asked[1].reject(new Error("no answer"));
  await settle();
  await show("r", "0:8", 2);
  await elapse();
  assert.equal(asked[2].isAnew, true, "the question that failed is asked again");
  await answer(2);
  await show("r", "0:8", 3);
  await elapse();
  assert.equal(asked[3].isAnew, false);
});

const suspectsOf = (n) => ({ called: n, weak: [], suspects: Array.from({ length: n }, (_, i) => ({ id: i, rank: i + 1 })) });

test("suspects of a run that grows are listed, and those of an earlier state say so", async () => {
  let version = 1;
  const asked = [];
  const { state, section, show, buttonOf } = open({
    report: async (at) => reportOf(at),
    suspects: async (at) => {
      asked.push(at.version);
      if (at.version < version) throw new SourceError(409, "The view is gone.");
      return asked.length < 4 ? { state: "making" } : { state: "made", current: false, answer: suspectsOf(2) };
    },
  });
  await show("r", "0:8", 1);
  buttonOf("suspects").click();
  await settle();
  version = 2;
  await elapse();
  await show("r", "0:8", 2);
  await elapse();
  await elapse();
  assert.deepEqual(asked, [1, 1, 2, 2]);
  assert.deepEqual(state.selection.filters, { id: { in: ["0", "1"] } });
  assert.ok(section.textContent.includes("2 suspects are selected"));
  assert.ok(section.textContent.includes("earlier state"));
  assert.equal(state.panel, "table");
});

test("who has gone on to another run meanwhile has nothing selected, and is told nothing", async () => {
  const list = promised();
  const { state, show, section, buttonOf } = open({ report: async (at) => reportOf(at), suspects: () => list.promise });
  await show("r", "0:8", 1);
  buttonOf("suspects").click();
  await show("other", "0:8", 1);
  list.resolve({ state: "made", current: true, answer: suspectsOf(2) });
  await settle();
  assert.deepEqual([state.selection.filters, state.ranking, state.panel], [undefined, null, ""]);
  assert.ok(!section.textContent.includes("are selected"));
});
