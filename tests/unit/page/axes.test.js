/* axes.test.js: what is marked along an axis and a ramp, and which categories have colours. */
import { lots, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { findValues, withPick } from "../../../analyzer/serve/page/picks.js";
import { bendOf, scaleOf } from "../../../analyzer/serve/page/scales.js";
import { fewTicks, ticksOf } from "../../../analyzer/serve/page/ticks.js";

test("an axis has at least two ticks and room between them, whatever its scale and part", () => {
  const lot = lots(51);
  for (let turn = 0; turn < 500; turn++) {
    const isLog = turn % 3 > 0;
    const [a, b] = turn % 3 === 1 ? [10 ** (8 * lot() - 4), 10 ** (8 * lot() - 4)] : [10 ** (6 * lot() - 3) * (lot() - 0.5), 10 ** (6 * lot() - 3) * (lot() - 0.5)];
    const [low, high] = [Math.min(a, b), Math.max(a, b) * 1.01 + 1e-6];
    const bend = isLog ? bendOf({ kind: "number", low, least: low > 0 ? low : 1e-4 }, "log") : { name: "linear" };
    for (const [direction, apart] of [["across", 20], ["up", 12]]) {
      const scale = scaleOf(bend).domain([low, high]).range([0, 600]);
      const ticks = ticksOf(scale, { kind: "number", bend }, { direction, most: 8 });
      assert.ok(ticks.length >= 2 && ticks.length <= 60, `${ticks.length} from ${low} to ${high}`);
      for (const [i, { value, text }] of ticks.entries()) {
        assert.ok(value >= low - 1e-9 && value <= high + 1e-9 && text !== "");
        if (i > 0) assert.ok(scale(value) - scale(ticks[i - 1].value) > apart);
      }
    }
  }
});

test("powers of ten, and 0 between them, mark a logarithmic axis", () => {
  const texts = (low, high, least) => {
    const bend = bendOf({ kind: "number", low, least }, "log");
    return ticksOf(scaleOf(bend).domain([low, high]).range([0, 600]), { kind: "number", bend }, { direction: "across", most: 8 }).map(({ text }) => text);
  };
  assert.deepEqual(texts(0.0001, 1000, 0.0001), ["1e-4", "0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
  assert.deepEqual(texts(0, 100, 1), ["0", "1", "3", "10", "30", "100"]);
  assert.ok(texts(-50, 50, 0.01).includes("0"));
});

test("a ramp has from three to five ticks", () => {
  const lot = lots(52);
  for (let turn = 0; turn < 500; turn++) {
    const low = 10 ** (8 * lot() - 4);
    const high = low * (1.05 + 10 ** (6 * lot() - 2));
    const bend = bendOf({ kind: "number", low, least: low }, turn % 2 ? "log" : "linear");
    const ticks = fewTicks(scaleOf(bend).domain([low, high]).range([0, 200]), { bend });
    assert.ok(ticks.length >= 3 && ticks.length <= 5, `${ticks.map(({ text }) => text)} from ${low} to ${high}`);
  }
  const linear = { name: "linear" };
  assert.deepEqual(fewTicks(scaleOf(linear).domain([0, 1]).range([0, 200]), { bend: linear, integer: true }).map(({ text }) => text), ["0", "1"]);
  assert.deepEqual(fewTicks(scaleOf(linear).domain([3, 3]).range([0, 200]), { bend: linear }).map(({ text }) => text), ["3"]);
});

test("a picked category takes the colour of the last that nobody picked", () => {
  const largest = times(12, (i) => `c${i}`);
  const once = withPick(largest, new Set(largest), "x");
  assert.deepEqual(once, [...largest.slice(0, 11), "x"]);
  const twice = withPick(once, new Set(largest), "y");
  assert.deepEqual(twice, [...largest.slice(0, 10), "y", "x"]);
  assert.equal(withPick(twice, new Set(largest), "c3"), twice, "one that has a colour keeps it");
  const all = times(12, (i) => `x${i}`).reduce((labels, label) => withPick(labels, new Set(largest), label), largest);
  assert.deepEqual(new Set(all), new Set(times(12, (i) => `x${i}`)));
  assert.equal(withPick(all, new Set(largest), "z").at(-1), "z");
});

test("a search finds labels by any part of them, those that begin with it first, then the largest", () => {
  const values = [["Cat", 5], ["wildcat", 50], ["catfish", 7], ["dog", 9], ["CATTLE", 7]].map(([label, count], value) => ({ label, value, count }));
  assert.deepEqual(findValues(values, "cat").map(({ label }) => label), ["catfish", "CATTLE", "Cat", "wildcat"]);
  assert.deepEqual(findValues(values, "x"), []);
});
