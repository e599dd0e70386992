/* table.test.js: the keys of the table, while pages of rows are under way. */
import "./browser.js";
import { holdTimers, place, promised, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { createState } from "../../../analyzer/serve/page/state.js";
import { showTable } from "../../../analyzer/serve/page/table.js";
import { Tags } from "../../../analyzer/serve/page/tags.js";

globalThis.IntersectionObserver = class {
  constructor(tell) {
    this.observe = () => tell([{ isIntersecting: true }]);
  }
};
holdTimers();

const N = 120;
const PAGE = 50;
const VIEW = { run: "r", range: "", version: 1, epochs: [0], columns: [], fields: [], ids: "integer" };
const exampleOf = (id) => ({ id: String(id), place: id, gold: 0, measures: {}, gold_prob: [], correct: [] });

async function open() {
  const state = createState();
  state.define("ranking", null);
  state.define("pinnedExamples", []);
  const asked = [];
  const source = {
    whyNot: () => null,
    tags: async () => ({ serial: 0, saved: false, names: [], tags: [] }),
    classes: async () => [],
    exampleOf: async (at, id) => ({ id, place: 1000 + Number(id) }),
    rows(at, selection, { from }) {
      const rows = Array.from({ length: Math.min(PAGE, N - from) }, (_, i) => exampleOf(from + i));
      asked.push({ from, answer: { from, count: N, rows }, ...promised() });
      return asked.at(-1).promise;
    },
  };
  const parts = { state, source, loader: { at: () => ({ run: "r", epochs: state.view.range, version: 1 }) } };
  parts.tags = new Tags(parts);
  const section = place();
  showTable(section, parts);
  state.set({ run: "r", view: VIEW, points: { x: { name: "x" }, y: { name: "y" } } });
  const answer = async () => {
    asked.at(-1).resolve(asked.at(-1).answer);
    await settle();
  };
  await answer();
  const press = (...keys) => keys.forEach((key) => document.activeElement.dispatch("keydown", { key }));
  const focus = (id) => section.querySelector(`[data-id="${id}"]`).focus();
  const tags = () => Object.fromEntries([...state.tags.of].map(([id, { tag }]) => [id, tag]));
  return { state, section, asked, answer, press, focus, tags };
}

const focused = () => document.activeElement.dataset.id;

test("a key pressed before the next page is there tags nothing, and each step leads one row on", async () => {
  const { asked, answer, press, focus, tags, section } = await open();
  focus(49);
  press("1", "2", "j", "j");
  section.querySelector('[data-key="2"]').click();
  assert.deepEqual(tags(), { 49: "wrong label" });
  assert.deepEqual(asked.map(({ from }) => from), [0, 50]);
  await answer();
  assert.equal(focused(), "50");
  press("2");
  assert.deepEqual(tags(), { 49: "wrong label", 50: "keep" });
  assert.equal(focused(), "51");
});

test("before the first row of a page comes the last one of the page before", async () => {
  const { answer, press, focus } = await open();
  focus(49);
  press("j");
  await answer();
  press("k");
  assert.equal(focused(), "50");
  await answer();
  assert.equal(focused(), "49");
});

test("a page that does not come leaves the rows as they are", async () => {
  const { asked, answer, press, focus, tags } = await open();
  focus(49);
  press("j");
  asked.at(-1).reject(new Error("the disk is full"));
  await settle();
  press("2");
  assert.deepEqual(tags(), { 49: "keep" });
  assert.equal(asked.at(-1).from, 50, "no page is left out");
  await answer();
  assert.equal(focused(), "50");
});

test("a key that is held gives one tag, and takes one back", async () => {
  const { focus, tags, press } = await open();
  focus(3);
  const hold = (key) => document.activeElement.dispatch("keydown", { key, repeat: true });
  press("1");
  hold("1");
  hold("1");
  press("2");
  press("u");
  hold("u");
  assert.deepEqual(tags(), { 3: "wrong label" });
  hold("j");
  assert.equal(focused(), "5", "row after row is meant");
});

test("a row of other epochs than those shown marks its example, not its place", async () => {
  const { state, focus, answer } = await open();
  focus(3);
  assert.equal(state.hovered, 3);
  state.set({ view: { ...VIEW, range: "0:3" } });
  focus(4);
  await settle();
  assert.equal(state.hovered, 1004);
  await answer();
  focus(5);
  assert.equal(state.hovered, 5);
});
