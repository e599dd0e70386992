/* points.test.js: points as the page holds them: flags, the nearest one, masks carried to another view, and how they are spread. */
import { lots, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { gridOf } from "../../../analyzer/serve/page/columns.js";
import { carryMask, countBoth, hasBit, makeLinks, NOWHERE } from "../../../analyzer/serve/page/links.js";
import { coordinates, countBits, DRAWN, markPoints, NONE, SELECTED, WITHOUT } from "../../../analyzer/serve/page/marks.js";
import { Grid } from "../../../analyzer/serve/page/nearest.js";
import { backward, bendOf, forward, LINEAR } from "../../../analyzer/serve/page/scales.js";
import { lotOf, placePoints, readerOf } from "../../../analyzer/serve/page/spread.js";

const STEPS = 65534;

function pointsOf(n, x, y, places = null) {
  const points = { n, bytes: new ArrayBuffer(5 * n), places };
  const at = coordinates(points);
  for (let i = 0; i < n; i++) [at.x[i], at.y[i]] = [x(i), y(i)];
  return points;
}

function maskOf(n, is) {
  const bits = new Uint8Array(Math.ceil(n / 8));
  for (let place = 0; place < n; place++) if (is(place)) bits[place >> 3] |= 1 << (place & 7);
  return { bits, count: times(n, is).filter(Boolean).length };
}

test("bits are counted", () => {
  assert.equal(countBits(Uint8Array.of(0, 1, 128, 255)), 10);
  assert.equal(countBits(new Uint8Array(0)), 0);
});

test("a point is drawn if it has values and passes, and selected if it is drawn and chosen", () => {
  const lot = lots(31);
  const all = 1003;
  for (const places of [null, Uint32Array.from(times(all, Number).filter(() => lot() < 0.3))]) {
    const n = places ? places.length : all;
    const value = times(2 * n, () => (lot() < 0.1 ? NONE : Math.floor(lot() * STEPS)));
    const points = pointsOf(n, (i) => value[i], (i) => value[n + i], places);
    const passes = times(all, () => lot() < 0.7);
    const chosen = times(all, () => lot() < 0.4);
    for (const [shown, selected] of [[null, null], [maskOf(all, (i) => passes[i]), null], [null, maskOf(all, (i) => chosen[i])], [maskOf(all, (i) => passes[i]), maskOf(all, (i) => chosen[i])]]) {
      const { flags, drawn } = markPoints(points, shown, selected);
      const expected = times(n, (i) => {
        const place = places ? places[i] : i;
        if (shown && !passes[place]) return 0;
        return (value[i] === NONE || value[n + i] === NONE ? WITHOUT : DRAWN) | (selected && chosen[place] ? SELECTED : 0);
      });
      assert.deepEqual([...flags], expected);
      assert.equal(drawn, expected.filter((flag) => flag & DRAWN).length);
    }
  }
});

test("the nearest drawn point, as looking at all of them finds it", () => {
  const lot = lots(32);
  const n = 3000;
  const value = times(2 * n, (i) => (lot() < 0.05 ? NONE : i % 7 === 0 ? STEPS - Math.floor(lot() * 3) : Math.floor(lot() * STEPS)));
  const points = pointsOf(n, (i) => value[i], (i) => value[n + i]);
  const { flags } = markPoints(points, maskOf(n, (i) => i % 3 !== 0), null);
  const grid = new Grid(points);
  let found = 0;
  for (let turn = 0; turn < 2000; turn++) {
    const [atX, atY] = [lot() * 70000 - 2000, lot() * 70000 - 2000];
    const [reachX, reachY] = [lot() * 3000, lot() * 3000];
    const far = (dx, dy) => (Math.abs(dx) > reachX || Math.abs(dy) > reachY ? Infinity : dx * dx + 4 * dy * dy);
    const distance = (i) => (flags[i] & DRAWN ? far(value[i] - atX, value[n + i] - atY) : Infinity);
    const least = times(n, distance).reduce((a, b) => Math.min(a, b), Infinity);
    const best = grid.find(atX, atY, reachX, reachY, flags, far);
    assert.equal(best < 0 ? Infinity : distance(best), least);
    found += best >= 0;
  }
  assert.ok(found > 200);
});

test("no points: none is nearest", () => {
  assert.equal(new Grid(pointsOf(0)).find(5, 5, 100, 100, new Uint8Array(0), () => 0), -1);
});

test("the examples of two views are matched both ways, and masks carried over", () => {
  const lot = lots(33);
  const [n, other] = [501, 397];
  const targets = times(other, Number).sort(() => lot() - 0.5);
  const there = Uint32Array.from({ length: n }, (_, i) => (i < other && lot() < 0.8 ? targets[i] : NOWHERE));
  const { back, shared } = makeLinks(there, other);
  assert.equal(shared, [...there].filter((place) => place !== NOWHERE).length);
  for (let place = 0; place < n; place++) if (there[place] !== NOWHERE) assert.equal(back[there[place]], place);
  assert.equal([...back].filter((place) => place !== NOWHERE).length, shared);
  const chosen = times(n, () => lot() < 0.5);
  const carried = carryMask(maskOf(n, (i) => chosen[i]), there, other);
  const expected = new Set([...there].filter((place, i) => place !== NOWHERE && chosen[i]));
  for (let place = 0; place < other; place++) assert.equal(Boolean(hasBit(carried, place)), expected.has(place));
  assert.equal(carried.count, expected.size);
  assert.equal(carryMask(null, there, other), null);
  const again = maskOf(other, (i) => i % 2 === 0);
  assert.equal(countBoth(carried, again), [...expected].filter((place) => place % 2 === 0).length);
});

test("lots are even, the same each time, and another for each use", () => {
  const lot = times(20000, (place) => lotOf(place, 0));
  assert.ok(lot.every((value) => value >= 0 && value < 1));
  for (let tenth = 0; tenth < 10; tenth++) assert.ok(Math.abs(lot.filter((value) => Math.floor(10 * value) === tenth).length - 2000) < 200);
  assert.equal(lotOf(17, 1), lotOf(17, 1));
  const both = d3.mean(times(20000, (place) => (lotOf(place, 0) - 0.5) * (lotOf(place, 1) - 0.5)));
  assert.ok(Math.abs(both) < 0.003, "x and y are not alike");
});

/* Points with their columns, as the loader places them. */
function placed(points, view, { pile = "jitter", bends = {} } = {}) {
  const described = (column) => ({ kind: "number", scale: "linear", least: null, ...column, grid: gridOf(column, view) });
  const [x, y] = [described(points.x), described(points.y)];
  return placePoints({ ...points, x, y }, { x: bends.x ?? LINEAR, y: bends.y ?? LINEAR }, pile);
}

test("points of few values are spread around their own value, and those of many stay", () => {
  const n = 2000;
  const counts = { name: "forgetting_events", low: 0, high: 4, integer: true };
  const any = { name: "confidence", low: 0, high: 1, integer: false };
  const value = times(n, (i) => (i % 6 === 5 ? null : i % 6));
  const made = (places) => ({ ...pointsOf(n, (i) => (value[i] === null ? NONE : Math.floor((value[i] / 4) * STEPS + 0.5)), (i) => i, places), x: counts, y: any });
  const source = made(null);
  const spread = placed(source, { epochs: [0, 1, 2] });
  assert.deepEqual(coordinates(source), coordinates(made(null)), "what the source sent stays as it is");
  const { x, y } = coordinates(spread);
  const beside = [];
  for (let i = 0; i < n; i++) {
    assert.equal(y[i], i);
    if (value[i] === null) assert.equal(x[i], NONE);
    else beside.push(spread.x.from + (x[i] / STEPS) * (spread.x.to - spread.x.from) - value[i]);
  }
  assert.ok(beside.every((distance) => Math.abs(distance) < 0.31), "less than half of the way to the next value");
  assert.ok(d3.max(beside) > 0.25 && d3.min(beside) < -0.25 && Math.abs(d3.mean(beside)) < 0.02);
  const elsewhere = coordinates(placed(made(Uint32Array.from({ length: n }, (_, i) => i)), { epochs: [0, 1, 2] }));
  assert.deepEqual(elsewhere.x, x, "an example lies at the same place, in a sample too");
  const piles = coordinates(placed(source, { epochs: [0, 1, 2] }, { pile: "size" })).x;
  assert.equal(new Set(piles).size, 6, "in a pile all stand on their value");
  const read = readerOf(spread);
  for (let i = 0; i < n; i++) assert.equal(read(i)[0], value[i]);
});

test("correctness has one value more than there are epochs", () => {
  const correctness = { name: "correctness", low: 0, high: 1, integer: false };
  const made = () => ({ ...pointsOf(100, (i) => (i % 4) * (STEPS / 3), () => 0), x: correctness, y: { name: "loss", low: 0, high: 9 } });
  assert.deepEqual(coordinates(placed(made(), { epochs: times(500, Number) })).x, coordinates(made()).x, "500 epochs: neighbours look the same");
  assert.notDeepEqual(coordinates(placed(made(), { epochs: [0, 1, 2] })).x, coordinates(made()).x);
});

test("points of a source whose logarithm bends otherwise than the axis stand where the axis has their values", () => {
  const lot = lots(34);
  const n = 1000;
  const values = times(n, () => 10 ** (4 * lot() - 2));
  const column = { name: "cost", kind: "number", low: d3.min(values), high: d3.max(values), least: d3.min(values), scale: "log", integer: false };
  const t = forward(bendOf(column, "log"));
  const step = (value) => Math.round((STEPS * (t(value) - t(column.low))) / (t(column.high) - t(column.low)));
  const bend = { name: "symlog", constant: 0.003 }; /* another epoch had a 0 */
  const points = placed({ ...pointsOf(n, (i) => step(values[i]), () => 0), x: column, y: { name: "loss", low: 0, high: 9 } }, { epochs: [0] }, { bends: { x: bend } });
  const [to, from] = [forward(bend), backward(bend)];
  const { x } = coordinates(points);
  for (let i = 0; i < n; i++) {
    const value = from(to(column.low) + (x[i] / STEPS) * (to(column.high) - to(column.low)));
    assert.ok(Math.abs(value / values[i] - 1) < 1e-3, `${value} is not ${values[i]}`);
    assert.ok(Math.abs(readerOf(points)(i)[0] / values[i] - 1) < 1e-3);
  }
});

test("few values on a logarithmic axis keep apart", () => {
  const counts = { name: "forgetting_events", kind: "number", low: 0, high: 6, least: 1, scale: "log", integer: true };
  const bend = bendOf(counts, "log");
  const t = forward(bend);
  const n = 700;
  const points = placed({ ...pointsOf(n, (i) => Math.round((STEPS * t(i % 7)) / t(6)), () => 0), x: counts, y: { name: "loss", low: 0, high: 9 } }, { epochs: [0] }, { bends: { x: bend } });
  const read = readerOf(points);
  const { x } = coordinates(points);
  for (let i = 0; i < n; i++) assert.equal(read(i)[0], i % 7);
  for (let value = 0; value < 6; value++) {
    const of = (wanted) => times(n, Number).filter((i) => i % 7 === wanted).map((i) => x[i]);
    assert.ok(d3.max(of(value)) < d3.min(of(value + 1)));
  }
});
