/* within.test.js: which examples a selection holds, in the page that is one file, beside whole numbers of any size and plain loops. */
import { lots, pick, times } from "./browser.js";
import { isInsideExactly } from "./exact.js";
import assert from "node:assert/strict";
import test from "node:test";
import { finderOf, isInside, isOfFile, placesOf, within } from "../../../analyzer/serve/page/file_within.js";

const next = (value, ulps) => {
  const words = new BigInt64Array(Float64Array.of(value).buffer);
  words[0] += BigInt(ulps);
  return new Float64Array(words.buffer)[0];
};

const agree = (polygon, x, y) => assert.equal(isInside(polygon.flat(), x, y), isInsideExactly(polygon, x, y), JSON.stringify({ polygon, x, y }));

test("random polygons and points", () => {
  const lot = lots(1);
  for (let turn = 0; turn < 3000; turn++) {
    const polygon = times(3 + Math.floor(lot() * 9), () => [lot(), lot()]);
    for (let k = 0; k < 10; k++) agree(polygon, lot(), lot());
  }
});

test("vertices and points on few values, so that edges, corners and level sides are hit", () => {
  const lot = lots(2);
  const values = [0, 1 / 7, 0.1, 0.2, 1 / 3, 0.3, 0.1 + 0.2, 2 / 3, 1];
  let edges = 0;
  for (let turn = 0; turn < 3000; turn++) {
    const polygon = times(3 + Math.floor(lot() * 5), () => [pick(lot, values), pick(lot, values)]);
    for (let k = 0; k < 10; k++) agree(polygon, pick(lot, values), pick(lot, values));
    for (const [x, y] of polygon) {
      agree(polygon, x, y);
      assert.ok(isInside(polygon.flat(), x, y), "a vertex is inside");
      edges++;
    }
  }
  assert.ok(edges > 9000);
});

test("one rounding beside an edge", () => {
  const lot = lots(3);
  const found = { true: 0, false: 0 };
  for (let turn = 0; turn < 3000; turn++) {
    const polygon = times(3, () => [lot(), lot()]);
    const [[ax, ay], [bx, by]] = polygon;
    const share = lot();
    const [x, y] = [ax + share * (bx - ax), ay + share * (by - ay)];
    for (const ulps of [-1, 0, 1]) {
      agree(polygon, x, next(y, ulps));
      found[isInside(polygon.flat(), x, next(y, ulps))]++;
    }
  }
  assert.ok(found.true > 1000 && found.false > 1000, "both sides were tried");
});

test("numbers of any size: subnormal, huge, negative zero", () => {
  const lot = lots(4);
  const values = [5e-324, -5e-324, 1e-310, 2 ** -1022, 1e-200, -0, 0, 1, -1, 1e100, -1e150, 2 ** 500];
  for (let turn = 0; turn < 400; turn++) {
    const polygon = times(3 + Math.floor(lot() * 3), () => [pick(lot, values), pick(lot, values)]);
    for (let k = 0; k < 10; k++) agree(polygon, pick(lot, values), pick(lot, values));
  }
});

test("the order of the vertices, and where they begin, do not matter", () => {
  const lot = lots(5);
  for (let turn = 0; turn < 500; turn++) {
    const polygon = times(6, () => [lot(), lot()]);
    const [x, y] = [lot(), lot()];
    const inside = isInside(polygon.flat(), x, y);
    assert.equal(isInside([...polygon].reverse().flat(), x, y), inside);
    assert.equal(isInside([...polygon.slice(2), ...polygon.slice(0, 2)].flat(), x, y), inside);
  }
});

/* Examples as file_examples.js has them. */
const N = 400;
const lot = lots(6);
const columns = {
  a: Float64Array.from({ length: N }, () => (lot() < 0.1 ? Number.NaN : Math.floor(lot() * 12) / 7)),
  b: Float64Array.from({ length: N }, () => (lot() < 0.1 ? Number.NaN : lot())),
  "data:length": Float64Array.from({ length: N }, () => (lot() < 0.2 ? Number.NaN : Math.floor(lot() * 5))),
};
const genres = { labels: ["fiction", "a b", "Ünicode"], numbers: Int32Array.from({ length: N }, () => Math.floor(lot() * 4) - 1) };
const examples = {
  n: N,
  labels: ["yes", "no", "maybe"],
  gold: Int32Array.from({ length: N }, () => Math.floor(lot() * 4) - 1),
  column: (name) => columns[name],
  isCategory: (name) => !(name in columns),
  id: (place) => String(3 * place),
  placeOf: (id) => (Number(id) % 3 === 0 && Number(id) / 3 < N ? Number(id) / 3 : -1),
  text: (place) => ({ premise: `Number ${place}`, hypothesis: place % 2 ? null : "ÄPFEL and Pears" }),
  categories: () => ({ numbers: genres.numbers, numberOf: (label) => (genres.labels.includes(label) ? genres.labels.indexOf(label) : undefined) }),
};
const chosen = (selection) => placesOf(within(examples, selection));
const placesWhere = (is) => times(N, Number).filter(is);

test("parts: each adds or removes, in their order; no value is in no part", () => {
  const value = [0, 0.1, 1 / 7, 0.5, 1, 12 / 7];
  for (let turn = 0; turn < 100; turn++) {
    const parts = times(1 + Math.floor(lot() * 4), () => ({ op: lot() < 0.6 ? "add" : "remove", polygon: times(4, () => [pick(lot, value), lot()]) }));
    const expected = placesWhere((place) => {
      let is = false;
      const [x, y] = [columns.a[place], columns.b[place]];
      if (!Number.isNaN(x) && !Number.isNaN(y)) for (const { op, polygon } of parts) if (isInsideExactly(polygon, x, y)) is = op === "add";
      return is;
    });
    assert.deepEqual(chosen({ x: "a", y: "b", parts }), expected);
    assert.deepEqual(chosen({ x: "a", y: "b", polygon: parts[0].polygon }), chosen({ x: "a", y: "b", parts: [{ op: "add", polygon: parts[0].polygon }] }));
  }
});

test("filters: bounds are inclusive, lists hold the values themselves, and all must pass", () => {
  assert.deepEqual(chosen({ filters: { a: { min: 1 / 7, max: 4 / 7 } } }), placesWhere((p) => columns.a[p] >= 1 / 7 && columns.a[p] <= 4 / 7));
  assert.deepEqual(chosen({ filters: { a: { in: [3 / 7, 1] } } }), placesWhere((p) => [3 / 7, 1].includes(columns.a[p])));
  assert.deepEqual(chosen({ filters: { a: { min: 0.5 }, b: { max: 0.5 } } }), placesWhere((p) => columns.a[p] >= 0.5 && columns.b[p] <= 0.5));
  assert.deepEqual(chosen({ filters: { "data:length": { in: [2], max: 3 } } }), placesWhere((p) => columns["data:length"][p] === 2));
  const isNone = (p) => Number.isNaN(columns.a[p]);
  assert.deepEqual(chosen({ filters: { a: { in: [null] } } }), placesWhere(isNone), "null: those without a value");
  assert.deepEqual(chosen({ filters: { a: { in: [null, 1] } } }), placesWhere((p) => isNone(p) || columns.a[p] === 1));
  assert.deepEqual(chosen({ filters: { a: { in: [null, 1], max: 2 } } }), placesWhere((p) => columns.a[p] === 1), "which pass no bound");
  assert.deepEqual(chosen({ filters: { "data:length": { in: [null] } } }), placesWhere((p) => Number.isNaN(columns["data:length"][p])));
  assert.deepEqual(chosen({}), placesWhere(() => true));
});

test("labels by number and by name; null is no label", () => {
  assert.deepEqual(chosen({ filters: { gold: { in: ["yes", 2] } } }), placesWhere((p) => [0, 2].includes(examples.gold[p])));
  assert.deepEqual(chosen({ filters: { gold: { in: [null] } } }), placesWhere((p) => examples.gold[p] === -1));
  assert.throws(() => chosen({ filters: { gold: { in: ["perhaps"] } } }), /no class 'perhaps'/);
});

test("ids, as numbers and as texts; those that are not there select nothing", () => {
  assert.deepEqual(chosen({ filters: { id: { in: [0, "3", 4, "x", 3 * N] } } }), [0, 1]);
});

test("categories of the user's file; null is no value", () => {
  assert.deepEqual(chosen({ filters: { "data:genre": { in: ["a b", null] } } }), placesWhere((p) => [1, -1].includes(genres.numbers[p])));
  assert.throws(() => chosen({ filters: { "data:genre": { in: ["poetry"] } } }), /no value 'poetry'/);
});

test("texts: all of them must be there, in the id or in a text; A to Z are as a to z, and nothing else is", () => {
  assert.deepEqual(chosen({ filters: { text: { contains: ["NUMBER 1", "pears"] } } }), placesWhere((p) => String(p).startsWith("1") && p % 2 === 0));
  assert.deepEqual(chosen({ filters: { text: { contains: ["äpfel"] } } }), []);
  assert.equal(chosen({ filters: { text: { contains: ["ÄPFEL"] } } }).length, N / 2);
  assert.ok(finderOf(examples, "33")(11) && !finderOf(examples, "33")(12));
});

test("which filters need the user's file", () => {
  assert.ok(isOfFile("data:genre", { in: [] }) && isOfFile("text", { contains: ["a"] }));
  assert.ok(!isOfFile("text", { min: 1 }) && !isOfFile("confidence", { min: 1 }));
});
