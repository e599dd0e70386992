/* frame.test.js: the scales between values, pixels and the points' own units, and what zooming and moving may show. */
import { lots, times } from "./browser.js";
import { place as placeElement } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { CellCard } from "../../../analyzer/serve/page/cell_card.js";
import { Frame } from "../../../analyzer/serve/page/frame.js";
import { coordinates, DRAWN } from "../../../analyzer/serve/page/marks.js";
import { countPiles } from "../../../analyzer/serve/page/piles.js";
import { Ranges, usualOfSteps, usualShares } from "../../../analyzer/serve/page/ranges.js";
import { backward, bendOf, forward, scaleOf } from "../../../analyzer/serve/page/scales.js";

const near = (a, b, size = 1) => assert.ok(Math.abs(a - b) <= 1e-9 * size, `${a} is not ${b}`);

/* A column as an axis shows it. */
const columnOf = (name, low, high, { scale = "linear", grid = 0, least = null, ...more } = {}) => ({
  name, kind: "number", low, high, scale, grid, least, bend: bendOf({ low, least }, scale), from: low - grid / 2, to: high + grid / 2, ...more,
});
const LOSS = columnOf("loss", -2, 8);
const AUM = columnOf("aum", 0.25, 0.5);
const LOGS = { x: columnOf("cost", 0.01, 300, { scale: "log", least: 0.01 }), y: columnOf("gap", -4, 9, { scale: "log", least: 0.001 }) };

/* Shows columns, of which the ranges are told first, as the loader does. */
function follow(frame, run, columns, box) {
  for (const column of Object.values(columns)) frame.ranges.widen(run, column);
  frame.follow(run, columns, box);
}

function frameOf({ x = LOSS, y = AUM, box = null, width = 800, height = 600 } = {}) {
  const frame = new Frame(new Ranges());
  frame.resize(width, height);
  follow(frame, "r", { x, y }, box);
  return frame;
}

test("values, steps and pixels are told from one another, and back", () => {
  const lot = lots(41);
  for (const box of [null, [-1, 3, 0.3, 0.4]]) {
    const frame = frameOf({ box });
    for (let turn = 0; turn < 100; turn++) {
      const [x, y] = [-2 + 10 * lot(), 0.25 + 0.25 * lot()];
      near(frame.value("x", frame.steps("x", x)), x, 10);
      const pixel = frame.pixel(frame.steps("x", x), frame.steps("y", y));
      near(frame.x.invert(pixel.x), x, 10);
      near(frame.y.invert(pixel.y), y, 10);
    }
    assert.deepEqual([frame.x(frame.box[0]), frame.x(frame.box[1]), frame.y(frame.box[2]), frame.y(frame.box[3])], [0, frame.width, frame.height, 0]);
  }
  near(frameOf().steps("x", -2), 0);
  near(frameOf().steps("x", 8), 65534);
});

test("everything is in view, with some room; shares have their whole range", () => {
  const frame = frameOf({ y: columnOf("confidence", 0.4, 0.6) });
  const [left, right, low, high] = frame.box;
  assert.ok(left < -2 && right > 8 && left > -3 && right < 9);
  assert.ok(low < 0 && low > -0.1 && high > 1 && high < 1.1);
  near(frame.zoom, 1);
});

test("one value alone has room on both sides", () => {
  const frame = frameOf({ x: columnOf("epochs", 3, 3) });
  assert.deepEqual(frame.box.slice(0, 2), [2.5, 3.5]);
  near(frame.pixel(frame.steps("x", 3), 0).x, frame.width / 2, 1000);
});

test("an axis does not become shorter while epochs change, and another run has its own", () => {
  const frame = frameOf();
  const before = frame.whole.slice(0, 2);
  follow(frame, "r", { x: { ...LOSS, low: 0, high: 1 }, y: AUM }, null);
  assert.deepEqual(frame.whole.slice(0, 2), before);
  const { low, high } = frame.ranges.of("r", columnOf("loss", 5, 6));
  assert.deepEqual([low, high], [-2, 8]);
  follow(frame, "r", { x: { ...LOSS, high: 18 }, y: AUM }, null);
  assert.ok(frame.whole[1] > 18 && frame.whole[0] < -2);
  follow(frame, "other", { x: { ...LOSS, low: 0, high: 1 }, y: AUM }, null);
  assert.ok(frame.whole[1] < 1.1);
});

test("zooming keeps what is under the pointer, and moving moves it", () => {
  const lot = lots(42);
  for (let turn = 0; turn < 200; turn++) {
    const frame = frameOf({ box: [0, 4, 0.3, 0.4] });
    const k = 1 + lot();
    const [px, py] = [lot() * frame.width, lot() * frame.height];
    const [x, y] = [frame.x.invert(px), frame.y.invert(py)];
    const box = frame.moved(k, px * (1 - k), py * (1 - k));
    follow(frame, "r", { x: LOSS, y: AUM }, box);
    near(frame.x(x), px, 1000);
    near(frame.y(y), py, 1000);
  }
  const frame = frameOf({ box: [0, 4, 0.3, 0.4] });
  const [left, right, low, high] = frame.moved(1, -frame.width / 4, frame.height / 10);
  near(left, 1, 10);
  near(right, 5, 10);
  near(low, 0.31, 10);
  near(high, 0.41, 10);
});

test("nothing outside of everything is shown, whatever was done", () => {
  const lot = lots(43);
  const frame = frameOf();
  let box = null;
  for (let turn = 0; turn < 3000; turn++) {
    const k = 0.3 + 2 * lot();
    box = frame.moved(k, (lot() - 0.5) * 900 + (1 - k) * 400, (lot() - 0.5) * 900 + (1 - k) * 300);
    follow(frame, "r", { x: LOSS, y: AUM }, box);
    if (box === null) continue;
    const [x0, x1, y0, y1] = frame.whole;
    assert.ok(box.every(Number.isFinite) && box[0] < box[1] && box[2] < box[3], String(box));
    assert.ok(box[0] >= x0 - 1e-9 && box[1] <= x1 + 1e-9 && box[2] >= y0 - 1e-9 && box[3] <= y1 + 1e-9, `${box} is outside of ${frame.whole}`);
  }
  assert.equal(frameOf().moved(0.5, 0, 0), null, "further out than everything: everything");
});

test("zooming ends before numbers do", () => {
  const frame = frameOf();
  let box = null;
  for (const _ of times(100, Number)) {
    box = frame.moved(2, -frame.width / 2, -frame.height / 2) ?? box;
    follow(frame, "r", { x: LOSS, y: AUM }, box);
  }
  assert.ok(frame.zoom > 1000 && frame.zoom <= 10000 * (1 + 1e-9));
});

test("small windows have small margins, and never a plot of no size", () => {
  assert.ok(frameOf({ width: 390 }).isNarrow && !frameOf().isNarrow);
  const frame = frameOf({ width: 0, height: 0 });
  assert.ok(frame.width > 0 && frame.height > 0);
});

test("logarithmic axes: values, steps and pixels, and even steps", () => {
  const lot = lots(44);
  for (const box of [null, [0.5, 20, -1, 3]]) {
    const frame = frameOf({ ...LOGS, box });
    for (let turn = 0; turn < 100; turn++) {
      for (const [axis, { low, high, bend }] of Object.entries(LOGS)) {
        const t = forward(bend);
        const value = low + (high - low) * lot() ** 4;
        const steps = frame.steps(axis, value);
        near(steps, (65534 * (t(value) - t(low))) / (t(high) - t(low)), 65534);
        near(frame.value(axis, steps), value, high);
        near(frame[axis].invert(frame[axis](value)), value, high);
      }
    }
  }
  assert.equal(LOGS.x.bend.name, "ln");
  assert.equal(LOGS.y.bend.name, "symlog");
  assert.ok(frameOf(LOGS).whole[0] > 0, "a logarithm has no place for 0");
  const [left] = frameOf({ ...LOGS, box: [-1, 20, -1, 3] }).box;
  assert.ok(left > 0 && left < 0.01, "nor in a box");
});

test("zooming on a logarithmic axis keeps what is under the pointer", () => {
  const frame = frameOf({ ...LOGS, box: [0.5, 20, -1, 3] });
  const [x, y] = [frame.x.invert(200), frame.y.invert(150)];
  const box = frame.moved(1.5, 200 * (1 - 1.5), 150 * (1 - 1.5));
  follow(frame, "r", LOGS, box);
  near(frame.x(x), 200, 1000);
  near(frame.y(y), 150, 1000);
});

/* How far a point is from the line through a and b. */
const aside = ([x, y], [ax, ay], [bx, by]) => Math.abs((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / Math.hypot(bx - ax, by - ay);

test("a lasso has so many corners that what is straight on the screen stays so in the values, within a fiftieth of a pixel", () => {
  for (const columns of [{ x: LOSS, y: AUM }, { ...LOGS, y: AUM }, LOGS]) {
    const frame = frameOf(columns);
    const corners = [[10, 20], [600, 90], [300, 500]];
    const polygon = frame.polygon(corners);
    if (columns.x === LOSS) assert.equal(polygon.length, 3, "linear axes need none");
    else assert.ok(polygon.length > 100 && polygon.length < 1500);
    const screen = (point) => [frame.x(point[0]), frame.y(point[1])];
    let at = 0;
    for (const [i, point] of polygon.entries()) {
      const next = polygon[(i + 1) % polygon.length];
      if (at < 2 && Math.hypot(...screen(point).map((pixels, axis) => pixels - corners[at + 1][axis])) < 1e-6) at++;
      const edge = [corners[at], corners[(at + 1) % 3]];
      for (const share of [0.25, 0.5, 0.75]) {
        const between = point.map((value, axis) => value + share * (next[axis] - value));
        assert.ok(aside(screen(between), ...edge) < 0.045); /* of both axes together */
      }
    }
  }
  const box = frameOf(LOGS).polygon([[10, 20], [600, 20], [600, 300], [10, 300]]);
  assert.equal(box.length, 4, "the sides of a box are straight on every axis");
});

test("a few values far beyond all others are not in view without zoom, and can be reached", () => {
  const far = columnOf("cost", 0, 1000, { usual: [0, 10] });
  const frame = frameOf({ x: far });
  assert.ok(frame.isStretched && frame.box[1] > 10 && frame.box[1] < 11 && frame.whole[1] > 1000);
  assert.deepEqual(frame.moved(1e-3, 0, 0), frame.whole);
  assert.deepEqual(frame.back(null), frame.whole);
  assert.equal(frame.back(frame.whole), null);
  assert.ok(!frameOf().isStretched && frameOf().back(null) === null);
  follow(frame, "r", { x: columnOf("cost", 0, 30, { usual: [0, 20] }), y: AUM }, null);
  assert.ok(frame.box[1] > 20 && frame.box[1] < 21, "what was usual stays in view, and what becomes so comes in");
});

test("the usual range: all, unless 0.5% at an end stretch the axis more than four times", () => {
  const lot = lots(45);
  const steps = (outliers, place) => Uint16Array.from(times(2000, (i) => (i < outliers ? place() : 20000 + 4000 * lot())));
  const usual = usualOfSteps(steps(9, () => 65000));
  assert.ok(usual[0] > 0.3 && usual[1] < 0.37, "both ends are cut where they are far away");
  assert.deepEqual(usualOfSteps(steps(30, () => 65000)), [0, 1], "1.5% are not few");
  const close = usualOfSteps(Uint16Array.from(times(2000, (i) => (i < 9 ? 65000 : 8000 * lot()))));
  assert.ok(close[0] === 0 && close[1] < 0.13, "an end that is near stays");
  assert.deepEqual(usualOfSteps(Uint16Array.from(times(2000, () => 65535))), [0, 1], "no values");
  assert.deepEqual(usualOfSteps(Uint16Array.from(times(2000, (i) => (i < 5 ? 65000 : 7)))), [0, 1], "all others are one value");
});

test("of bars that hold many values each, one may have all but a few far examples", () => {
  const counts = new Uint32Array(2048);
  counts[3] = 100000;
  counts[2000] = 10;
  const [low, high] = usualShares(counts);
  assert.ok(low > 0 && low < 3 / 2048 + 1e-9 && high === 4 / 2048);
  assert.deepEqual(usualShares(counts, true), [0, 1], "bars of one value each");
});

test("a run that was recorded anew has axes of its own, and so has each other run", () => {
  const ranges = new Ranges();
  const wide = columnOf("loss", 0, 1000);
  const narrow = columnOf("loss", 0, 2);
  for (const run of ["r", "other"]) {
    ranges.meet({ run, identity: "1" });
    ranges.widen(run, wide);
  }
  ranges.meet({ run: "r", identity: "1" });
  assert.equal(ranges.of("r", narrow).high, 1000);
  ranges.meet({ run: "r", identity: "2" });
  ranges.widen("r", narrow);
  assert.equal(ranges.of("r", narrow).high, 2);
  assert.equal(ranges.of("other", narrow).high, 1000);
});

test("a box of a link, however large, shows what there is", () => {
  const gold = columnOf("gold", 0, 2, { kind: "category", grid: 1, isPiled: true });
  for (const box of [[-1e9, 1e9, 0, 1], [-1e300, 1e300, -1e300, 1e300], [0.5, 1e9, 0.3, 1e9]]) {
    const frame = frameOf({ x: gold, box });
    assert.ok(frame.box.every((edge, i) => (i % 2 === 0 ? edge >= frame.whole[i] : edge <= frame.whole[i])), String(frame.box));
    const points = { n: 1, bytes: new ArrayBuffer(5) };
    assert.equal(countPiles(frame, points, Uint8Array.of(DRAWN), new Uint8Array(1024), 60).x.count <= 4, true);
  }
  assert.deepEqual(frameOf({ x: gold, box: [5, 6, 0.3, 0.4] }).box, frameOf({ x: gold }).box, "nothing is there");
});

test("beside all cells there is none under the pointer", () => {
  const gold = columnOf("gold", 0, 2, { kind: "category", grid: 1, isPiled: true });
  const frame = frameOf({ x: gold, y: columnOf("loss", 0, 10) });
  const points = { n: 2, bytes: new ArrayBuffer(10), x: frame.columns.x, y: frame.columns.y };
  const at = coordinates(points);
  [at.x[0], at.y[0], at.x[1], at.y[1]] = [frame.steps("x", 1), 0, frame.steps("x", 1), 65534].map(Math.round);
  const cells = countPiles(frame, points, Uint8Array.of(DRAWN, DRAWN), new Uint8Array(1024), 60);
  const state = { define() {} };
  const card = new CellCard({ state, section: placeElement(), frame, cells: { cells }, drawOver() {} });
  const isAt = (x, y) => {
    card.leave();
    card.point([frame.x(x), frame.y(y)]);
    return card.isOpen;
  };
  assert.ok(isAt(1, 0) && isAt(1, 10));
  assert.ok(!isAt(1, 5) && !isAt(0, 0), "an empty cell");
  const beyond = cells.y.edges(cells.row[1])[1];
  assert.ok(beyond > 10 && frame.whole[3] > beyond);
  assert.ok(!isAt(1, (beyond + frame.whole[3]) / 2), "beside the highest value");
});

test("logarithms of values of which the smallest is nearly nothing", () => {
  const column = { low: -3, high: 1e9, least: 5e-324 };
  const bend = bendOf(column, "log");
  const [t, value] = [forward(bend), backward(bend)];
  let before = -Infinity;
  for (const v of [-3, -1e-300, -5e-324, 0, 1e-320, 1e-10, 1, 1e9]) {
    assert.ok(Number.isFinite(t(v)) && t(v) > before, `${v}: ${t(v)}`);
    before = t(v);
    assert.ok(Math.abs(value(t(v)) - v) <= 1e-9 * Math.abs(v) + 5e-324, `${v}: ${value(t(v))}`);
  }
  const shown = new Ranges().bend("r", { ...column, kind: "number", scale: "log" });
  assert.ok(Number.isFinite(scaleOf(shown).domain([-3, 1e9]).range([0, 100])(1)));
});
