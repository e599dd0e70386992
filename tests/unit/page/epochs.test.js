/* epochs.test.js: choices of epochs as ranges, and back; and numbers as people read them. */
import { lots, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { count, number, words } from "../../../analyzer/serve/page/dom.js";
import { choiceOf, rangeOf } from "../../../analyzer/serve/page/epochs.js";

/* The epochs that a range lets through. */
function within(range, all) {
  const [begin, end] = range === "" ? ["", ""] : range.split(":");
  return all.filter((epoch) => epoch >= Number(begin) && (end === "" || epoch < Number(end)));
}

test("each choice means its epochs", () => {
  const all = [2, 3, 5, 9];
  assert.equal(rangeOf({ mode: "all", from: 1, to: 2 }, all), "");
  assert.equal(rangeOf({ mode: "one", from: 0, to: 2 }, all), "5:6");
  assert.equal(rangeOf({ mode: "upto", from: 0, to: 1 }, all), ":4");
  assert.equal(rangeOf({ mode: "range", from: 1, to: 2 }, all), "3:6");
  assert.equal(rangeOf({ mode: "range", from: 1, to: 3 }, all), "3:", "up to the last one it grows with the run");
  assert.equal(rangeOf({ mode: "one", from: 0, to: 0 }, []), "");
});

test("a choice comes back from its range, and means the same epochs", () => {
  const lot = lots(51);
  for (let turn = 0; turn < 2000; turn++) {
    const all = times(30, Number).filter(() => lot() < 0.4);
    if (all.length === 0) continue;
    const to = Math.floor(lot() * all.length);
    const choice = { mode: ["all", "one", "upto", "range"][Math.floor(lot() * 4)], from: Math.floor(lot() * (to + 1)), to };
    const range = rangeOf(choice, all);
    const back = choiceOf(range, all);
    assert.deepEqual(within(rangeOf(back, all), all), within(range, all), JSON.stringify({ all, choice, range, back }));
    const expected = { all, one: [all[to]], upto: all.slice(0, to + 1), range: all.slice(choice.from, to + 1) }[choice.mode];
    assert.deepEqual(within(range, all), expected);
  }
});

test("ranges from elsewhere: the nearest epochs that there are, and nonsense is all", () => {
  const all = [2, 3, 5, 9];
  assert.deepEqual(choiceOf("4:8", all), { mode: "range", from: 2, to: 2 });
  assert.deepEqual(choiceOf("100:200", all), { mode: "range", from: 3, to: 3 });
  assert.deepEqual(choiceOf("3:", all), { mode: "range", from: 1, to: 3 });
  assert.deepEqual(choiceOf(":1", all), { mode: "upto", from: 0, to: 0 });
  assert.deepEqual(choiceOf("4:5", all), { mode: "one", from: 2, to: 2 });
  for (const range of ["", ":", "a:b", "1:2:3", "-1:2", "5"]) assert.deepEqual(choiceOf(range, all), { mode: "all", from: 0, to: 3 }, range);
  for (const range of ["1:2", "", "5:"]) {
    const { from, to } = choiceOf(range, []);
    assert.deepEqual([from, to], [0, 0], `${range} of a run without epochs`);
  }
});

test("numbers for people", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.deepEqual([0, 0.5, 0.12345, 1 / 3, 12.345, 0.000012, -123456.7, null, undefined, Number.NaN].map((value) => number(value)), ["0", "0.5", "0.123", "0.333", "12.35", "1.20e-5", "-1.23e+5", "–", "–", "–"]);
  assert.deepEqual([number(12345, true), number(0, true)], ["12,345", "0"]);
  assert.equal(words("always_right_after"), "always right after");
});
