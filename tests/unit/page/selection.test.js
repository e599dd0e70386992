/* selection.test.js: what a selection and the filters ask the source for, the regions, and how parts are added and turned around. */
import { lots, pick, times } from "./browser.js";
import { isInsideExactly } from "./exact.js";
import assert from "node:assert/strict";
import test from "node:test";
import { addPart, canInvert, clearSelection, invertSelection, operationOf } from "../../../analyzer/serve/page/parts.js";
import { boxPolygon, countRegions, cutsOf, epochsOf, filteredNow, isElsewhen, isSelecting, NOTHING, regionBox, REGIONS, repeatable, sayEpochs, selectionNow } from "../../../analyzer/serve/page/selection.js";
import { createState } from "../../../analyzer/serve/page/state.js";

const COLUMNS = [
  { name: "variability", low: 0, high: 0.5, digest: "dv" },
  { name: "confidence", low: 0, high: 1, digest: "dc" },
  { name: "aum", low: -7, high: 12 },
];
const VIEW = { run: "r", range: "", epochs: [0, 1, 2], all_epochs: [0, 1, 2], columns: COLUMNS, gold_digest: "dg", cuts: { variability: 0.25, confidence: 0.5 } };
const POLYGON = [[0, 0], [1, 0], [1, 1]];
const AXES = { x: COLUMNS[0], y: COLUMNS[1] };

function stateOf(changes = {}) {
  const state = createState();
  state.set({ run: "r", view: VIEW, ...changes });
  return state;
}

test("nothing is selected, and nothing filtered: nothing is asked", () => {
  assert.equal(selectionNow(stateOf()), null);
  assert.equal(filteredNow(stateOf()), null);
  assert.ok(!isSelecting(stateOf()));
});

test("filters alone are no selection, and are part of one", () => {
  const state = stateOf({ filters: { gold: { in: [0] } } });
  assert.equal(selectionNow(state), null);
  assert.deepEqual(filteredNow(state), { run: "r", epochs: "", filters: { gold: { in: [0] } } });
  addPart(state, AXES, POLYGON, "replace");
  assert.deepEqual(selectionNow(state), { run: "r", epochs: "", x: "variability", y: "confidence", parts: [{ op: "add", polygon: POLYGON }], filters: { gold: { in: [0] } } });
});

test("a program's filters and the page's: what passes both", () => {
  const lot = lots(21);
  const passes = (filter, value) =>
    value >= (filter.min ?? -Infinity) && value <= (filter.max ?? Infinity) && (!filter.in || filter.in.some((one) => String(one) === String(value))) && (filter.contains ?? []).every((text) => String(value).includes(text));
  const some = () => ({
    ...(lot() < 0.5 && { min: Math.floor(lot() * 6) }),
    ...(lot() < 0.5 && { max: Math.floor(lot() * 12) }),
    ...(lot() < 0.5 && { in: times(5, () => (lot() < 0.5 ? String : Number)(Math.floor(lot() * 12))) }),
    ...(lot() < 0.2 && { contains: [pick(lot, ["1", "2", "0"])] }),
  });
  let kept = 0;
  for (let turn = 0; turn < 500; turn++) {
    const [own, programs] = [some(), some()];
    const state = stateOf({ filters: { id: own, a: own }, selection: { ...NOTHING, filters: { id: programs, b: programs } } });
    const { filters } = selectionNow(state);
    assert.deepEqual([filters.a, filters.b], [own, programs]);
    for (let value = 0; value < 12; value++) {
      const both = passes(own, value) && passes(programs, value);
      assert.equal(passes(filters.id, value), both, JSON.stringify([own, programs, value]));
      kept += both;
    }
  }
  assert.ok(kept > 300);
});

test("a selection keeps the epochs at which it was made", () => {
  const state = stateOf();
  addPart(state, AXES, POLYGON, "replace");
  assert.equal(state.selection.epochs, "");
  assert.ok(!isElsewhen(state));
  state.set({ epochs: "1:2", view: { ...VIEW, range: "1:2", epochs: [1] } });
  assert.ok(isElsewhen(state));
  assert.equal(selectionNow(state).epochs, "");
  state.set({ selection: { ...state.selection, epochs: "1:2" } });
  assert.ok(!isElsewhen(state));
});

test("all epochs, named, are the epochs of a view of all", () => {
  const state = stateOf({ selection: { x: "a", y: "b", parts: [{ op: "add", polygon: POLYGON }], epochs: "0:3" } });
  assert.ok(!isElsewhen(state));
});

test("epochs as a range, and in words", () => {
  assert.equal(epochsOf({ epochs: [2, 3, 7], range: "" }), "2:8");
  assert.equal(epochsOf({ epochs: [], range: "4:5" }), "4:5");
  assert.equal(epochsOf({ epochs: [], range: "" }), "0:1");
  assert.deepEqual([[], [3], [3, 4, 9]].map(sayEpochs), ["no epoch", "epoch 3", "epochs 3–9"]);
});

test("an export has the epochs of now, and the digests of what it uses", () => {
  const state = stateOf();
  const asked = { run: "r", epochs: "", x: "variability", y: "aum", parts: [], filters: { confidence: { min: 0.5 }, gold: { in: [1] } } };
  assert.deepEqual(repeatable(state, asked), { ...asked, epochs: "0:3", digests: { variability: "dv", confidence: "dc", gold: "dg" } });
  const own = { ...VIEW, range: "0:1", epochs: [0], columns: [{ name: "variability", digest: "old" }] };
  state.set({ selected: { own } });
  assert.deepEqual(repeatable(state, { ...asked, epochs: "0:1", filters: {} }).digests, { variability: "old" });
  const unknown = { ...asked, epochs: "2:3" };
  assert.equal(repeatable(state, unknown), unknown);
});

test("cuts: the user's, else the run's, else the paper's", () => {
  assert.deepEqual(cutsOf(stateOf()), VIEW.cuts);
  assert.deepEqual(cutsOf(stateOf({ cuts: { variability: 0.1, confidence: 0.2 } })), { variability: 0.1, confidence: 0.2 });
  assert.deepEqual(cutsOf(createState()), { variability: 0, confidence: 0.5 });
});

/* As regions/regions.h has it. */
const regionOf = (v, c, cuts) => (v > 0 && v >= cuts.variability ? "ambiguous" : c >= cuts.confidence ? "easy-to-learn" : "hard-to-learn");

test("each example is in exactly one region, also on a cut and one rounding beside it", () => {
  const lot = lots(22);
  for (const cuts of [{ variability: 0.25, confidence: 0.5 }, { variability: 0, confidence: 0 }, { variability: 0.1 + 0.2, confidence: 1 }, { variability: 1.5, confidence: 0.5 }]) {
    const near = (value) => [value, value - Number.EPSILON / 8, value + Number.EPSILON, Math.max(0, value - 2 ** -54)];
    const vs = [0, Number.MIN_VALUE, 0.5, ...near(cuts.variability), ...times(20, () => lot() / 2)].filter((v) => v >= 0 && v <= 0.5);
    const cs = [0, 1, ...near(cuts.confidence), ...times(20, lot)].filter((c) => c >= 0 && c <= 1);
    for (const v of vs) {
      for (const c of cs) {
        const inside = REGIONS.filter((region) => isInsideExactly(boxPolygon(regionBox(region, cuts)), v, c));
        assert.deepEqual(inside, [regionOf(v, c, cuts)], JSON.stringify({ v, c, cuts }));
      }
    }
  }
});

test("counts of the regions, among those that pass the filters", async () => {
  const lot = lots(23);
  const rows = times(500, () => ({ variability: lot() < 0.2 ? 0 : lot() / 2, confidence: lot(), aum: lot() }));
  const passing = (filters) => rows.filter((row) => Object.entries(filters).every(([name, { min = -Infinity, max = Infinity }]) => row[name] >= min && row[name] <= max));
  const source = { count: async (at, { filters }) => passing(filters).length };
  for (const filters of [{}, { aum: { min: 0.5 } }, { confidence: { min: 0.2, max: 0.7 } }, { variability: { max: 0.1 } }]) {
    for (const cuts of [VIEW.cuts, { variability: 0, confidence: 0.3 }]) {
      const expected = Object.fromEntries(REGIONS.map((region) => [region, passing(filters).filter((row) => regionOf(row.variability, row.confidence, cuts) === region).length]));
      assert.deepEqual(await countRegions(source, { run: "r", epochs: "" }, cuts, filters), expected);
    }
  }
});

test("Shift adds, Alt removes, and else the tools' choice counts", () => {
  const state = stateOf({ operation: "add" });
  assert.deepEqual([operationOf({ altKey: true, shiftKey: true }, state), operationOf({ shiftKey: true }, stateOf()), operationOf({}, state), operationOf(undefined, stateOf())], ["remove", "add", "add", "replace"]);
});

test("parts go on only with the same measures, the same epochs and no filters of a program", () => {
  const state = stateOf();
  addPart(state, AXES, POLYGON, "remove");
  assert.equal(state.selection.parts.length, 0, "from nothing, nothing is removed");
  addPart(state, AXES, POLYGON, "add");
  addPart(state, AXES, POLYGON, "remove");
  assert.deepEqual(state.selection.parts.map(({ op }) => op), ["add", "remove"]);
  addPart(state, { x: COLUMNS[2], y: COLUMNS[1] }, POLYGON, "remove");
  assert.equal(state.selection.parts.length, 2, "another measure: nothing to remove from");
  addPart(state, { x: COLUMNS[2], y: COLUMNS[1] }, POLYGON, "add");
  assert.deepEqual([state.selection.x, state.selection.parts.length], ["aum", 1]);
  state.set({ epochs: "0:1", view: { ...VIEW, range: "0:1", epochs: [0] } });
  addPart(state, { x: COLUMNS[2], y: COLUMNS[1] }, POLYGON, "add");
  assert.deepEqual([state.selection.epochs, state.selection.parts.length], ["0:1", 1]);
  state.set({ selection: { ...state.selection, filters: { id: { in: ["1"] } } } });
  addPart(state, { x: COLUMNS[2], y: COLUMNS[1] }, POLYGON, "add");
  assert.deepEqual([state.selection.filters, state.selection.parts.length], [undefined, 1]);
  clearSelection(state);
  assert.equal(state.selection, NOTHING);
});

test("the inverse holds exactly the other examples, and the inverse of the inverse is the selection", () => {
  const lot = lots(24);
  const points = times(200, () => [lot() / 2, lot()]).concat([[0, 0], [0.5, 1]]);
  const inside = ({ parts }) => points.map(([x, y]) => parts.reduce((is, { op, polygon }) => (isInsideExactly(polygon, x, y) ? op === "add" : is), false));
  for (let turn = 0; turn < 30; turn++) {
    const state = stateOf();
    for (const op of ["add", ...times(3, () => pick(lot, ["add", "remove"]))]) addPart(state, AXES, times(4, () => [lot() / 2, lot()]), op);
    const before = state.selection;
    invertSelection(state);
    assert.deepEqual(inside(state.selection), inside(before).map((is) => !is));
    invertSelection(state);
    assert.deepEqual(state.selection, before);
  }
});

test("what cannot be inverted stays", () => {
  for (const changes of [{}, { selection: { ...NOTHING, filters: { id: { in: ["1"] } } } }, { selection: { x: "variability", y: "gone", parts: [{ op: "add", polygon: POLYGON }], epochs: "" } }]) {
    const state = stateOf(changes);
    const before = state.selection;
    invertSelection(state);
    assert.equal(state.selection, before);
  }
  assert.ok(!canInvert(stateOf({ selection: { x: "variability", y: "confidence", parts: [{ op: "add", polygon: POLYGON }], epochs: "0:1" } })), "at other epochs the bounds are not known");
});
