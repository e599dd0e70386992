/* contours.test.js: counts by cell, and lines of equal density, against counts made point by point. */
import { lots, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { countPoints, fillGrid, findLines, insideOf, makeGrid } from "../../../analyzer/serve/page/contour_lines.js";

/* Points as the loader has them. */
function pointsOf(xs, ys, inside = xs.length) {
  const n = xs.length;
  const bytes = new ArrayBuffer(5 * n);
  new Uint16Array(bytes, 0, n).set(xs);
  new Uint16Array(bytes, 2 * n, n).set(ys);
  return { n, bytes, inside };
}

const sum = (values) => values.reduce((all, value) => all + value, 0);

test("points are counted in their cells, also beyond the box, and only those that are drawn", () => {
  const lot = lots(61);
  const xs = times(5000, () => Math.floor(lot() * 1000));
  const ys = times(5000, () => Math.floor(lot() * 1000));
  const flags = Uint8Array.from(xs, () => (lot() < 0.8 ? 1 : lot() < 0.5 ? 0 : 2));
  const grid = makeGrid(10, 5, 2, []);
  countPoints(grid, pointsOf(xs, ys, 10000), flags, [300, 500, 400, 600]);
  const expected = new Float64Array(14 * 9);
  for (const [i, x] of xs.entries()) {
    const [column, row] = [Math.floor((x - 300) / 20) + 2, Math.floor((ys[i] - 400) / 40) + 2];
    if (flags[i] & 1 && column >= 0 && column < 14 && row >= 0 && row < 9) expected[row * 14 + column] += 2;
  }
  assert.deepEqual(grid.counts, expected, "each stands for two: the points are a sample of half");
  assert.equal(sum(insideOf(grid)), 2 * xs.filter((x, i) => flags[i] & 1 && x >= 300 && x < 500 && ys[i] >= 400 && ys[i] < 600).length);
});

test("counts of the box alone go on beyond it, but not beyond all values", () => {
  const grid = makeGrid(3, 2, 1, [0, 3, 0, 2]);
  fillGrid(grid, [1, 2, 3, 4, 5, 6], { x: { low: 0, high: 9 }, y: { low: -1, high: 2 } });
  assert.deepEqual([...grid.counts], [0, 1, 2, 3, 3, 0, 1, 2, 3, 3, 0, 4, 5, 6, 6, 0, 0, 0, 0, 0], "the box begins at the lowest x, and ends at the highest y");
  assert.deepEqual([...insideOf(grid)], [1, 2, 3, 4, 5, 6]);
});

test("levels are round numbers, step by one factor, and end at the densest cell; the outermost line surrounds most", () => {
  const lot = lots(62);
  for (const power of [1, 3, 8]) {
    const grid = makeGrid(60, 50, 7, []);
    const at = () => Math.floor(60000 * lot() ** power);
    const points = pointsOf(times(80000, at), times(80000, at));
    countPoints(grid, points, new Uint8Array(80000).fill(1), [0, 65534, 0, 65534]);
    const { levels, factor, share, examples, paths } = findLines(grid, [2, 2], 16);
    assert.equal(examples, 80000);
    assert.equal(paths.length, levels.length);
    assert.ok(levels.length >= 1 && levels.length <= 6 && [2, 5, 10, 100].includes(factor));
    assert.ok(share >= 0.94 && share <= 1, `${share} of the points`);
    const [, digits] = levels[0].toExponential(6).match(/^(\d)\.0+e/);
    assert.ok([1, 2, 5].includes(Number(digits)), `begins with ${levels[0]}`);
    for (const [i, level] of levels.entries()) assert.ok(Math.abs(level / (levels[0] * factor ** i) - 1) < 1e-9);
    const most = Math.max(...insideOf(grid)) * (100 / 16); /* the counts are smoothed now */
    assert.ok(levels.at(-1) <= most && levels.at(-1) * factor > most);
  }
});

test("no points, no lines", () => {
  const { levels, examples, paths } = findLines(makeGrid(20, 20, 7, []), [2, 2], 16);
  assert.deepEqual([levels, examples, paths], [[], 0, []]);
});
