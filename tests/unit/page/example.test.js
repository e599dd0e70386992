/* example.test.js: the example under the pointer, the pinned ones, and the panels that ask about them, while epochs and runs change. */
import { media } from "./browser.js";
import { place, promised, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { showHover, valuesOf } from "../../../analyzer/serve/page/hover.js";
import { Picks } from "../../../analyzer/serve/page/picks.js";
import { createState } from "../../../analyzer/serve/page/state.js";

media.isDark = true; /* as on a phone: the card has a place of its own */

const COLUMNS = { x: { name: "variability" }, y: { name: "confidence" } };
const viewOf = (range, version = "v") => ({ run: "r", range, version, columns: [] });

/* As the loader does. */
const loaderOf = (state) => ({ at: () => ({ run: state.view.run, epochs: state.view.range, version: state.view.version }) });

/* An example of place p is called "epochs/p", so that one sees of which view it is. */
const exampleOf = ({ epochs }, p) => ({ id: `${epochs}/${p}`, place: p, measures: { variability: 1, confidence: 1 }, gold_prob: [], correct: [] });

function openHover(source) {
  const state = createState();
  const map = { state, section: place(), frame: { columns: COLUMNS }, isReady: false, parts: { source, state, loader: loaderOf(state) } };
  const hover = showHover(map);
  state.set({ view: viewOf("0:8"), points: COLUMNS });
  return { state, hover };
}

test("the card of a place is that of the epochs that are shown, and so is what a click pins", async () => {
  const { state, hover } = openHover({ example: async (at, p) => exampleOf(at, p), exampleOf: async () => null });
  state.set({ hovered: 3 });
  await settle();
  assert.equal(state.example.id, "0:8/3");
  state.set({ hovered: null });
  state.set({ view: viewOf("0:3") });
  hover.pin(3);
  await settle();
  assert.deepEqual(state.pinned, ["0:3/3"]);
  state.set({ hovered: 3 });
  await settle();
  assert.equal(state.example.id, "0:3/3");
});

test("an example that is found again in a new view does not take the pointer back", async () => {
  const found = promised();
  const { state } = openHover({ example: async (at, p) => exampleOf(at, p), exampleOf: () => found.promise });
  state.set({ hovered: 3 });
  await settle();
  state.set({ view: viewOf("0:3") });
  state.set({ hovered: 5 });
  found.resolve({ ...exampleOf({ epochs: "0:8" }, 4) });
  await settle();
  assert.equal(state.hovered, 5);
  assert.equal(state.example.id, "0:3/5");
});

test("points are read only for columns that are no measures of the example", () => {
  const points = new Proxy(COLUMNS, { get: (of, key) => of[key] ?? assert.fail(`${String(key)} is read`) });
  assert.deepEqual(valuesOf(exampleOf({ epochs: "" }, 0), points), []);
});

test("the classes to pick from are those of the epochs that are shown", async () => {
  const state = createState();
  const asked = [];
  const source = {
    async axis(at) {
      asked.push(at.epochs);
      if (at.epochs === "0:1") throw new Error("the disk is full");
      return { values: [{ label: `of ${at.epochs}`, value: 0, count: 1 }], more: 0 };
    },
  };
  const legend = { kind: "category", name: "gold", values: [{ label: "a", value: 1, count: 3 }] };
  state.define("picked", {});
  state.set({ view: viewOf("0:8"), points: { legend } });
  const picks = new Picks({ state, source, loader: loaderOf(state) });
  const search = async () => {
    picks.input.value = "of";
    picks.input.dispatch("input");
    await settle();
    return picks.found.textContent;
  };
  assert.equal(await search(), "of 0:81");
  assert.equal(await search(), "of 0:81");
  state.set({ view: viewOf("0:3") });
  assert.equal(await search(), "of 0:31");
  assert.deepEqual(asked, ["0:8", "0:3"]);
  state.set({ view: viewOf("0:1") });
  picks.element.dispatch("submit");
  await settle();
  assert.equal(picks.told.textContent, "the disk is full");
});
