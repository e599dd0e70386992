/* example.test.js: the example under the pointer, the pinned ones, and the panels that ask about them, while epochs and runs change. */
import { media } from "./browser.js";
import { place, promised, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { showHover, valuesOf } from "../../../analyzer/serve/page/hover.js";
import { mediaOf } from "../../../analyzer/serve/page/media.js";
import { Picks } from "../../../analyzer/serve/page/picks.js";
import { pileKey } from "../../../analyzer/serve/page/pile_key.js";
import { showPinned } from "../../../analyzer/serve/page/pinned.js";
import { createState } from "../../../analyzer/serve/page/state.js";
import { TagBar } from "../../../analyzer/serve/page/tag_bar.js";

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

test("an example that is asked about while the view changes is asked about again", async () => {
  const first = promised();
  const { state } = openHover({ example: (at, p) => (at.epochs === "0:8" ? first.promise : Promise.resolve(exampleOf(at, p))), exampleOf: async () => null });
  state.set({ hovered: 3 });
  state.set({ view: viewOf("0:3") });
  first.resolve(exampleOf({ epochs: "0:8" }, 3));
  await settle();
  assert.equal(state.example.id, "0:3/3");
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

test("the sound of a pinned example stays where it is, while all around it is made anew", async () => {
  const state = createState();
  const tags = { names: ["wrong", "right"], of: new Map(), saved: true };
  state.define("tags", tags);
  const kinds = { a: undefined, b: "audio", c: "image" };
  const source = {
    mediaAddress: (run, id) => `${run}/${id}`,
    exampleOf: async (at, id) => ({ id, place: at.version, media: kinds[id], measures: { confidence: at.version }, gold_prob: [], correct: [] }),
  };
  const section = place();
  showPinned(section, { state, source, loader: loaderOf(state) });
  state.set({ view: viewOf("0:8", 1), points: COLUMNS, pinned: ["a", "b", "c"] });
  await settle();
  const ids = () => section.querySelectorAll("article").map((article) => article.querySelector("strong").textContent);
  const sound = section.querySelector("audio");
  const moves = [];
  const { remove } = Element.prototype;
  Element.prototype.remove = function noted() {
    if (this.contains(sound)) moves.push(this.tagName);
    remove.call(this);
  };
  state.set({ view: viewOf("0:8", 2) });
  await settle();
  state.set({ tags: { ...tags, of: new Map([["b", { tag: "right", label: null }]]) } });
  state.set({ pinned: ["b", "c"] });
  await settle();
  state.set({ pinned: ["b", "c", "a"] });
  await settle();
  Element.prototype.remove = remove;
  assert.deepEqual(moves, []);
  assert.deepEqual(ids(), ["b", "c", "a"]);
  const card = sound.closest("article");
  const parts = card.querySelector(".card-content").children.map((child) => child.getAttribute("class") ?? child.tagName);
  assert.deepEqual(parts, ["head", "tag-line", "media", "sparkline", "measures"]);
  assert.equal(card.querySelector("dd").textContent, "2");
  card.dispatch("mouseenter");
  assert.equal(state.hovered, 2);
  state.set({ view: { ...viewOf("0:8", 3), run: "other" } });
  await settle();
  assert.notEqual(section.querySelector("audio"), sound, "another run has another sound");
  assert.equal(section.querySelectorAll("article").length, 3);
});

test("the labels that can be given are those of the run as it is now", async () => {
  const state = createState();
  state.define("tags", { names: [], of: new Map(), saved: true });
  const asked = [];
  const source = {
    whyNot: () => null,
    classes() {
      asked.push(promised());
      return asked.at(-1).promise;
    },
  };
  const body = place("tbody");
  const bar = new TagBar({ state, source, loader: loaderOf(state), tags: {} }, { body, current: () => null });
  const offered = () => bar.classes.children.map((option) => option.getAttribute("value"));
  const show = (run, identity, digest) => state.set({ view: { ...viewOf("", identity + digest), run, identity, gold_digest: digest } });
  show("a", "1", "x");
  show("b", "1", "x");
  asked[0].reject(new Error("no answer"));
  await settle();
  show("b", "1", "x");
  assert.equal(asked.length, 2, "what another run could not answer is no reason to ask again");
  asked[1].resolve(["one", "two", "one", "three"]);
  await settle();
  assert.deepEqual(offered(), ["two", "three"]);
  show("b", "2", "x");
  show("b", "2", "y");
  asked[2].resolve(["old"]);
  asked[3].resolve(["new"]);
  await settle();
  assert.deepEqual(offered(), ["new"]);
});

test("a file of which the server does not say what it is says so", async () => {
  const state = createState();
  state.set({ view: viewOf("") });
  const holder = mediaOf({ state, source: { mediaAddress: () => "address", mediaType: async () => null } }, { id: "a", media: "image" });
  holder.querySelector("img").dispatch("error");
  await settle();
  assert.equal(holder.textContent, "This browser cannot show the file (unknown).");
});

test("where no example is in view, no disc needs a key", () => {
  assert.deepEqual(pileKey({ pile: "size", most: 0, radius: 5, isSample: false }), []);
  assert.deepEqual(pileKey({ pile: "heat", most: 0, radius: 5, isSample: false }), []);
  assert.equal(pileKey({ pile: "size", most: 20, radius: 5, isSample: false })[1].children.length, 3);
});
