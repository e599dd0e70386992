/* saved_files.test.js: saved selections as files, as a table, as colours; and the masks that are kept of them. */
import { lots, pick, times } from "./browser.js";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { csvField } from "../../../analyzer/serve/page/csv.js";
import { paintSaved } from "../../../analyzer/serve/page/saved_colour.js";
import { addSaved, changedSince, freeName, membershipTable, readSelections, selectionsText } from "../../../analyzer/serve/page/saved_files.js";
import { SavedMasks, selectionOfIds } from "../../../analyzer/serve/page/saved_masks.js";
import { savedProblem, selectionProblem } from "../../../analyzer/serve/page/selection_check.js";
import { toSelect } from "../../../analyzer/serve/page/selection.js";
import { createState } from "../../../analyzer/serve/page/state.js";

const N = 300;
const POLYGON = [[0, 0], [1, 0], [1, 1]];

function maskOf(places) {
  const bits = new Uint8Array(Math.ceil(N / 8));
  for (const place of places) bits[place >> 3] |= 1 << (place & 7);
  return { bits, count: places.size };
}

const randomSet = (lot, share) => new Set(times(N, Number).filter(() => lot() < share));

/* A source whose examples have ids that ascend with their places. */
const idAt = (place) => String(10000000000000000n + 7n * BigInt(place));
const sourceOf = (sets) => ({
  asked: 0,
  async ids(_at, selection) {
    return [...sets[selection.k]].sort((a, b) => a - b).map(idAt);
  },
});

test("a selection that is made the selection brings its filters", () => {
  const filters = { gold: { in: [1] } };
  const parts = [{ op: "add", polygon: POLYGON }];
  assert.deepEqual(toSelect({ run: "r", x: "a", y: "b", parts, epochs: "0:2", filters }), { selection: { x: "a", y: "b", parts, epochs: "0:2" }, filters });
  assert.deepEqual(toSelect({ run: "r", x: "a", y: "b", parts, epochs: "" }).filters, {}, "others are dropped");
  assert.deepEqual(toSelect({ run: "r", epochs: "", filters }), { selection: { x: "", y: "", parts: [], epochs: "", filters }, filters: {} });
});

test("masks are asked for once a view, and again after a failure", async () => {
  let asked = 0;
  let status = 0;
  const masks = new SavedMasks({
    async mask() {
      asked++;
      if (status) throw Object.assign(new Error("no"), { status });
      return Uint8Array.of(5);
    },
  });
  const saved = [{ selection: {} }, { selection: {} }];
  assert.deepEqual((await masks.all({ v: 1 }, saved)).map(({ count }) => count), [2, 2]);
  await masks.all({ v: 1 }, [saved[1], { ...saved[0], name: "renamed" }]);
  assert.equal(asked, 2);
  await masks.all({ v: 2 }, saved);
  await masks.all({ v: 1 }, saved);
  assert.equal(asked, 4);
  status = 400;
  assert.deepEqual(await masks.all({ v: 3 }, saved), [{ error: "no" }, { error: "no" }]);
  status = 409;
  await assert.rejects(masks.all({ v: 3 }, saved), /no/);
  status = 0;
  assert.equal((await masks.all({ v: 3 }, saved))[0].count, 2);
});

test("colours: in several, in one alone, in none; they add up to all", () => {
  const lot = lots(34);
  for (const k of [0, 1, 3, 11, 12, 15]) {
    const sets = times(k, () => randomSet(lot, 0.2));
    const saved = sets.map((_, i) => ({ name: `s${i}` }));
    const places = Uint32Array.from(times(N, Number).filter(() => lot() < 0.5));
    const points = { n: places.length, places, bytes: new ArrayBuffer(5 * places.length) };
    const made = paintSaved(points, { points: N }, saved, sets.map(maskOf));
    const ownersOf = (place) => times(k, Number).filter((i) => sets[i].has(place));
    const expected = (place) => {
      const owners = ownersOf(place);
      return owners.length === 0 ? 255 : owners.length > 1 ? 0 : Math.min(12, owners[0] + 1);
    };
    assert.deepEqual([...new Uint8Array(made.bytes, 4 * places.length)], [...places].map(expected));
    const { legend } = made;
    assert.equal(legend.values.length, k === 0 ? 1 : 1 + Math.min(k, 12));
    assert.equal(legend.values.reduce((sum, { count }) => sum + count, legend.none), N);
    for (const [rank, { count }] of legend.values.entries()) assert.equal(count, times(N, Number).filter((place) => expected(place) === rank).length);
  }
});

test("a field of CSV is no formula", () => {
  for (const [text, field] of [["a", "a"], ["=1", "'=1"], ["+1", "'+1"], ["-1", "'-1"], ["@a", "'@a"], ["\t", "'\t"], ["a,b", '"a,b"'], ['"', '""""'], ["=1,\"", "\"'=1,\"\"\""]]) assert.equal(csvField(text), field);
});

const GOOD = { run: "r", epochs: "0:2", x: "variability", y: "confidence", parts: [{ op: "add", polygon: POLYGON }] };

test("a file of selections is read as it was written, long ids too", async () => {
  const made = '{"run": "r", "epochs": "", "filters": {"id": {"in": [12345678901234567890, 7, "12345678901234567890"]}}}';
  const outline = JSON.stringify({ ...GOOD, parts: [{ op: "add", polygon: [[1e17, 0], [2 ** 60, 1], [0, 0.1234567890123456]] }], filters: { loss: { min: -(2 ** 55), max: 1e300 } } });
  const source = { select: async (_run, selection) => new Response(selection === "ids" ? made : outline) };
  const text = await selectionsText(source, "r", [{ name: "a $& <b>", selection: "ids" }, { name: "c", selection: "outline" }]);
  const { run, saved } = readSelections(text, { run: "x" });
  assert.equal(run, "r");
  assert.deepEqual(saved.map(({ name }) => name), ["a $& <b>", "c"]);
  assert.deepEqual(saved[0].selection, { run: "r", epochs: "", filters: { id: { in: ["12345678901234567890", 7, "12345678901234567890"] } } });
  assert.deepEqual(saved[1].selection.parts[0].polygon, [[1e17, 0], [2 ** 60, 1], [0, 0.1234567890123456]]);
  assert.deepEqual(saved[1].selection.filters, { loss: { min: -(2 ** 55), max: 1e300 } });
  const one = readSelections(JSON.stringify({ polygon: POLYGON, x: "a", y: "b", epochs: "1:2" }), { run: "x", name: "selection 4" });
  assert.deepEqual([one.run, one.saved], ["x", [{ name: "selection 4", digests: undefined, selection: { run: "x", epochs: "1:2", x: "a", y: "b", parts: [{ op: "add", polygon: POLYGON }] } }]]);
  assert.equal(savedProblem(saved.map(({ name, selection }) => ({ name, selection, identity: "1" }))), null);
});

test("no file throws anything but a sentence, and what is read is sound", () => {
  const lot = lots(36);
  const whole = JSON.stringify({ run: "r", selections: [{ name: "a", ...GOOD, filters: { gold: { in: [0, null] }, id: { in: [1, "b"] }, correctness: { min: 0, max: 1 }, text: { contains: ["x"] } }, digests: { gold: "1" } }] });
  const bits = ["null", "[]", "{}", "1e999", '"', "7", "-1", "true", '"__proto__"', '"constructor"', "\u202e", ",", "[[0,0]]", '"\u0000"'];
  let read = 0;
  for (let turn = 0; turn < 2000; turn++) {
    let text = whole;
    for (let k = 0; k < lot() * 2; k++) {
      const at = Math.floor(lot() * text.length);
      text = text.slice(0, at) + pick(lot, bits) + text.slice(at + Math.floor(lot() * 8));
    }
    try {
      const { run, saved } = readSelections(text, { run: "x", name: "n" });
      const state = createState();
      state.load(new URLSearchParams([["saved", JSON.stringify(saved.map(({ name, selection }) => ({ name, identity: "", selection })))]]).toString());
      assert.equal(state.saved.length, saved.length, text);
      assert.ok(typeof run === "string" && saved.every(({ selection }) => selectionProblem(selection) === null), text);
      read++;
    } catch (error) {
      assert.equal(error.constructor, Error, `${text}: ${error.stack}`);
      assert.match(error.message, /\.$/);
    }
  }
  assert.ok(read > 50, `${read} were read`);
});

test("selections that are opened stand beside those that are there", () => {
  const entry = (name, k) => ({ name, identity: "1", selection: { run: "r", epochs: "", filters: { gold: { in: [k] } } } });
  const own = [entry("a", 1), entry("b", 2)];
  assert.deepEqual(addSaved(own, [entry("a", 1), entry("b", 3), entry("c", 1)]), [...own, entry("b (2)", 3), entry("c", 1)]);
  assert.equal(freeName("x".repeat(100), ["x".repeat(100)]).length, 98);
});

test("a table of who holds what", async () => {
  const sets = [new Set([0, 5]), new Set([5, 9])];
  const saved = [{ name: "=a", selection: { k: 0 } }, { name: "b", selection: { k: 1 } }];
  assert.equal(await membershipTable(sourceOf(sets), {}, saved, sets.map(maskOf)), `id,'=a,b\n${idAt(0)},1,0\n${idAt(5)},1,1\n${idAt(9)},0,1\n`);
});

test("digests tell which measures have other values now", async () => {
  const source = { view: async () => ({ columns: [{ name: "aum", digest: "1" }, { name: "loss" }], gold_digest: "2" }) };
  const entry = (digests) => ({ selection: { run: "r", epochs: "" }, digests });
  assert.deepEqual(await changedSince(source, entry({ aum: "1", gold: "2", gone: "3", constructor: "4" })), []);
  assert.deepEqual(await changedSince(source, entry({ aum: "0", gold: "0" })), ["aum", "gold"]);
  assert.deepEqual(await changedSince({ view: async () => Promise.reject(new Error("no")) }, entry({ aum: "0" })), []);
});

test("a selection of ids that a server would refuse is none", () => {
  assert.equal(selectionOfIds({ run: "r", range: "", ids: "text" }, times(26000, (i) => String(i).padStart(1000, "x"))), null);
});

test("files of version 1.0 are read", async () => {
  const golden = (name) => readFile(new URL(`../../golden/1.0/exports/${name}`, import.meta.url), "utf8");
  const { run, saved } = readSelections(await golden("selections.json"), { run: "other", name: "none" });
  assert.equal(run, "words/declared");
  assert.deepEqual(saved.map(({ name }) => name), ["few and hard"]);
  assert.deepEqual(saved[0].selection.parts, [{ op: "add", polygon: [[0, 0], [0.6, 0], [0.6, 0.5], [0, 0.5]] }]);
  assert.deepEqual(saved[0].selection.filters, { correctness: { min: 0.2 } });
  const one = readSelections(await golden("selection.json"), { run: "other", name: "its name" });
  assert.deepEqual({ ...one.saved[0], name: "" }, { ...saved[0], name: "" });
});
