/* saved.test.js: undo and redo; how saved selections overlap, and are joined; names and selections that come from elsewhere. */
import { lots, pick, times } from "./browser.js";
import { isInsideExactly } from "./exact.js";
import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../../analyzer/serve/page/history.js";
import { countBits } from "../../../analyzer/serve/page/marks.js";
import { compareMasks, idsOf, joinParts, onlyOf, overlapOf, selectionOfIds, unionOf, unionParts, visitPlaces } from "../../../analyzer/serve/page/saved_masks.js";
import { cleanName, filtersProblem, nameProblem, selectionProblem } from "../../../analyzer/serve/page/selection_check.js";
import { createState } from "../../../analyzer/serve/page/state.js";

const VIEW = { run: "r", identity: "1" };

function historyOf() {
  const state = createState();
  const history = new History(state);
  state.set({ run: "r", view: VIEW });
  return [state, history];
}

const valuesOf = ({ selection, filters, cuts, pinned }) => ({ selection, filters, cuts, pinned });

test("undo goes back through every state, redo forth again, whatever was done", () => {
  const lot = lots(61);
  for (let turn = 0; turn < 50; turn++) {
    const [state, history] = historyOf();
    const states = [valuesOf(state)];
    for (let k = 0; k < 30; k++) {
      history.press();
      const part = { op: "add", polygon: times(3, () => [lot(), lot()]) };
      state.set(pick(lot, [{ pinned: [String(k)] }, { cuts: { variability: lot(), confidence: lot() } }, { filters: { aum: { min: lot() } } }, { selection: { x: "a", y: "b", parts: [part] } }]));
      states.push(valuesOf(state));
    }
    for (let k = 29; k >= 0; k--) {
      assert.ok(history.go("undo"));
      assert.deepEqual(valuesOf(state), states[k]);
    }
    assert.ok(!history.go("undo"), "there is no more");
    for (let k = 1; k <= 30; k++) {
      assert.ok(history.go("redo"));
      assert.deepEqual(valuesOf(state), states[k]);
    }
    assert.ok(!history.go("redo"));
    history.go("undo");
    state.set({ pinned: ["new"] });
    assert.equal(history.next("redo"), null, "a change after an undo is a new way on");
  }
});

test("a drag of a cut is one step, a second drag another", () => {
  const [state, history] = historyOf();
  for (const start of [0.1, 0.5]) {
    history.press();
    for (const i of times(10, Number)) state.set({ cuts: { variability: start + i / 100, confidence: 0.5 } });
  }
  history.go("undo");
  assert.equal(state.cuts.variability, 0.1 + 9 / 100);
  assert.equal(history.next("undo"), "the cuts");
  history.go("undo");
  assert.equal(state.cuts, null);
});

test("another run, or the same one recorded anew, has no steps; its next epoch keeps them", () => {
  const [state, history] = historyOf();
  state.set({ pinned: ["1"] });
  state.set({ view: { ...VIEW, version: "2" } });
  assert.equal(history.next("undo"), "the pinned examples");
  state.set({ view: { ...VIEW, identity: "2" } });
  assert.equal(history.next("undo"), null);
});

const maskOf = (n, is) => {
  const bits = new Uint8Array(Math.ceil(n / 8));
  for (let place = 0; place < n; place++) if (is[place]) bits[place >> 3] |= 1 << (place & 7);
  return { bits, count: countBits(bits) };
};
const placesOf = (mask) => {
  const places = [];
  visitPlaces(mask, (place) => places.push(place));
  return places;
};

test("overlap, union and what one alone has, as sets have them", () => {
  const lot = lots(62);
  const n = 203;
  for (let turn = 0; turn < 50; turn++) {
    const sets = times(2 + Math.floor(lot() * 3), () => times(n, () => lot() < 0.4));
    const masks = sets.map((set) => maskOf(n, set));
    const all = times(n, Number);
    const both = all.filter((p) => sets.every((set) => set[p]));
    const any = all.filter((p) => sets.some((set) => set[p]));
    const only = sets.map((set, i) => all.filter((p) => set[p] && !sets.some((other, k) => k !== i && other[p])));
    assert.deepEqual([placesOf(overlapOf(masks)), placesOf(unionOf(masks)), ...masks.map((_, i) => placesOf(onlyOf(masks, i)))], [both, any, ...only]);
    const compared = compareMasks(masks, n);
    assert.deepEqual([compared.all, compared.any, compared.only, compared.counts], [both.length, any.length, only.map(({ length }) => length), masks.map(({ count }) => count)]);
    assert.ok(Math.abs(compared.chance - n * masks.reduce((share, { count }) => (share * count) / n, 1)) < 1e-9);
  }
  assert.equal(compareMasks([maskOf(0, []), maskOf(0, [])], 0).chance, 0);
});

test("ids of what masks hold together, each once, by place", async () => {
  const lot = lots(63);
  const n = 100;
  const sets = times(3, () => times(n, () => lot() < 0.5));
  const held = sets.map((set, i) => ({ selection: i, mask: maskOf(n, set) }));
  const source = { ids: async (at, i) => times(n, Number).filter((p) => sets[i][p]).map((p) => `id${p}`) };
  const union = unionOf(held.map(({ mask }) => mask));
  assert.deepEqual(await idsOf(source, null, held, union), placesOf(union).map((place) => [place, `id${place}`]));
  const changed = { ids: async () => ["one"] };
  await assert.rejects(idsOf(changed, null, held, union), /changed meanwhile/);
});

test("selections of ids are short where numbers are exact", () => {
  const view = { run: "r", range: "0:2", ids: "integer" };
  assert.deepEqual(selectionOfIds(view, ["7", "9007199254740993"]).filters.id.in, [7, "9007199254740993"]);
  assert.deepEqual(selectionOfIds({ ...view, ids: "text" }, ["7"]).filters.id.in, ["7"]);
});

test("selections of parts are joined if parts can say it, and then hold what they should", () => {
  const lot = lots(64);
  const points = times(60, () => [lot(), lot()]);
  const inside = ({ parts }) => points.map(([x, y]) => parts.reduce((is, { op, polygon }) => (isInsideExactly(polygon, x, y) ? op === "add" : is), false));
  let joined = 0;
  for (let turn = 0; turn < 200; turn++) {
    const some = () => ({ run: "r", x: "a", y: lot() < 0.9 ? "b" : "c", epochs: "", parts: ["add", ...times(2, () => (lot() < 0.8 ? "add" : "remove"))].map((op) => ({ op, polygon: times(4, () => [lot(), lot()]) })) });
    const [a, b] = [some(), some()];
    const union = unionParts([a, b]);
    if (union) assert.deepEqual(inside(union), inside(a).map((is, i) => is || inside(b)[i]));
    const difference = joinParts(a, [b], "remove");
    if (difference) assert.deepEqual(inside(difference), inside(a).map((is, i) => is && !inside(b)[i]));
    joined += Boolean(union) + Boolean(difference);
  }
  assert.ok(joined > 50);
});

test("names: what is not seen is refused, and what was typed is made a name", () => {
  for (const name of ["", " ", "\u200b", "a\u0000", "a\u202eb", "\ud800", "x".repeat(101), 7, null]) assert.notEqual(nameProblem(name), null, JSON.stringify(name));
  for (const name of ["a", "Ünicode ☃", "\u{1F468}\u200d\u{1F469}", "x".repeat(100)]) assert.equal(nameProblem(name), null, name);
  for (const text of [" a\u0000b ", "\u202ea", "a\ud800", `${"x".repeat(99)}\u{1F600}`, "a\nb"]) assert.equal(nameProblem(cleanName(text)), null, JSON.stringify(text));
});

test("no selection or filter from elsewhere is taken that would throw later, and each refusal is a sentence", () => {
  const lot = lots(65);
  const leaves = [null, 0, -1, 1.5, 1e200, "", "a", "1:2", true, [], {}, [[0, 0], [1, 0], [1, 1]], { in: [1] }, { min: 1 }, { contains: ["a"] }, [{ op: "add", polygon: [[0, 0], [1, 0], [1, 1]] }]];
  const names = ["run", "x", "y", "epochs", "parts", "polygon", "filters", "gold", "id", "text", "data:a", "in", "min", "max", "contains", "op", "__proto__"];
  const make = (depth) => (depth === 0 || lot() < 0.3 ? pick(lot, leaves) : lot() < 0.3 ? times(Math.floor(lot() * 4), () => make(depth - 1)) : Object.fromEntries(times(1 + Math.floor(lot() * 4), () => [pick(lot, names), make(depth - 1)])));
  let taken = 0;
  for (let turn = 0; turn < 20000; turn++) {
    const value = make(4);
    for (const problem of [selectionProblem(value), filtersProblem(value)]) {
      assert.ok(problem === null || (typeof problem === "string" && problem.endsWith(".")), String(problem));
      taken += problem === null;
    }
    if (selectionProblem(value) === null && value.parts) for (const { polygon } of value.parts) assert.ok(polygon.length >= 3 && polygon.flat().every(Number.isFinite));
  }
  assert.ok(taken > 100);
});
