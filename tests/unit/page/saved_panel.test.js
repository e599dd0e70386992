/* saved_panel.test.js: the list of saved selections: its rows and the focus, and files that are opened while the run is changed. */
import "./browser.js";
import { place, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { showSaved } from "../../../analyzer/serve/page/saved.js";
import { savedProblem } from "../../../analyzer/serve/page/selection_check.js";
import { createState } from "../../../analyzer/serve/page/state.js";

globalThis.IntersectionObserver = class {
  constructor(tell) {
    this.observe = () => tell([{ isIntersecting: true }]);
  }
};
const later = globalThis.setTimeout;
globalThis.setTimeout = (tell, ms) => later(tell, ms).unref();

const viewOf = (run, identity = "1") => ({ run, identity, range: "", version: 1, epochs: [0], all_epochs: [0], columns: [] });
const selectionOf = (run, id) => ({ run, epochs: "", filters: { id: { in: [id] } } });
const entryOf = (name, run = "r") => ({ name, identity: "1", selection: selectionOf(run, name) });

function open(saved, all = async (at, entries) => entries.map(() => ({ bits: new Uint8Array(1), count: 1 }))) {
  const state = createState();
  const section = place();
  showSaved(section, { state, source: { view: async (run) => viewOf(run) }, loader: { savedMasks: { all } } });
  const show = (run) => {
    state.set({ run });
    state.set({ view: viewOf(run) });
  };
  show("r");
  state.set({ saved });
  const labelled = (label) => section.querySelector(`[aria-label="${label}"]`);
  const buttonOf = (text) => section.querySelectorAll("button").find(({ textContent }) => textContent === text);
  const openFile = async (content) => {
    const input = labelled("A file of selections");
    input.files = [{ name: "a.json", size: 10, text: async () => JSON.stringify(content) }];
    input.dispatch("change");
    await settle();
  };
  return { state, section, show, labelled, buttonOf, openFile };
}

test("the focus stays in the row that is renamed or replaced, and goes on from one that is deleted", async () => {
  const { state, labelled, section, buttonOf } = open([entryOf("a"), entryOf("b"), entryOf("c")]);
  const focused = () => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent;
  const name = labelled("Name of b");
  labelled("Select b").focus(); /* Tab has led there, and the name is changed before */
  name.value = "bee";
  name.dispatch("change");
  assert.equal(focused(), "Select bee");
  assert.deepEqual(state.saved.map((entry) => entry.name), ["a", "bee", "c"]);
  state.set({ selection: { x: "", y: "", parts: [], epochs: "", filters: { id: { in: ["9"] } } } });
  labelled("Replace bee").focus();
  labelled("Replace bee").click();
  assert.equal(focused(), "Replace bee");
  assert.deepEqual(state.saved[1].selection.filters, { id: { in: ["9"] } });
  for (const [which, next] of [["bee", "Delete c"], ["c", "Delete a"], ["a", "Open a file…"]]) {
    labelled(`Delete ${which}`).focus();
    labelled(`Delete ${which}`).click();
    assert.equal(focused(), next);
  }
  state.set({ saved: [entryOf("d")] });
  labelled("Delete d").click();
  assert.deepEqual(state.saved, []);
  assert.equal(section.querySelector(".saved-list").children.length, 0);
  assert.ok(buttonOf("Open a file…"));
});

test("a question about a file goes with the run that it is about, and no name is given twice", async () => {
  const { state, section, show, buttonOf, openFile } = open([entryOf("a")]);
  await openFile({ run: "else", selections: [{ name: "a", ...selectionOf("else", "5") }] });
  const use = buttonOf("Use them for this run");
  const question = section.querySelector(".question");
  assert.ok(!question.hidden);
  show("other");
  assert.ok(question.hidden);
  use.click(); /* as one that was pressed before */
  await settle();
  assert.equal(savedProblem(state.saved), null);
  assert.deepEqual(state.saved, [entryOf("a")]);
  show("r");
  await openFile({ run: "else", selections: [{ name: "a", ...selectionOf("else", "5") }] });
  buttonOf("Use them for this run").click();
  await settle();
  assert.deepEqual(state.saved.map((entry) => [entry.name, entry.selection.run]), [["a", "r"], ["a (2)", "r"]]);
});

test("what could not be counted is said until it can be, and other words stay", async () => {
  let isFull = true;
  const { state, section, labelled } = open([entryOf("a")], async (at, entries) => {
    if (isFull) throw new Error("the disk is full");
    return entries.map(() => ({ bits: new Uint8Array(1), count: 1 }));
  });
  const said = () => section.querySelectorAll('p').map((one) => one.textContent);
  await settle();
  assert.ok(said().includes("the disk is full"));
  isFull = false;
  state.set({ saved: [...state.saved] });
  await settle();
  assert.ok(!said().includes("the disk is full"));
  const name = labelled("Name of a");
  name.value = "b";
  name.dispatch("change");
  await settle();
  assert.ok(said().includes("Renamed “a” to “b”."));
});
