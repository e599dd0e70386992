/* frame.test.js: the scales between values, pixels and the points' own units, and what zooming and moving may show. */
import { lots, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { Frame } from "../../../analyzer/serve/page/frame.js";

const near = (a, b, size = 1) => assert.ok(Math.abs(a - b) <= 1e-9 * size, `${a} is not ${b}`);
const LOSS = { name: "loss", low: -2, high: 8 };
const AUM = { name: "aum", low: 0.25, high: 0.5 };

function frameOf({ x = LOSS, y = AUM, box = null, width = 800, height = 600 } = {}) {
  const frame = new Frame();
  frame.resize(width, height);
  frame.follow("r", { x, y }, box);
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
  const frame = frameOf({ y: { name: "confidence", low: 0.4, high: 0.6 } });
  const [left, right, low, high] = frame.box;
  assert.ok(left < -2 && right > 8 && left > -3 && right < 9);
  assert.ok(low < 0 && low > -0.1 && high > 1 && high < 1.1);
  near(frame.zoom, 1);
});

test("one value alone has room on both sides", () => {
  const frame = frameOf({ x: { name: "epochs", low: 3, high: 3 } });
  assert.deepEqual(frame.box.slice(0, 2), [2.5, 3.5]);
  near(frame.pixel(frame.steps("x", 3), 0).x, frame.width / 2, 1000);
});

test("an axis does not become shorter while epochs change, and another run has its own", () => {
  const frame = frameOf();
  const before = frame.whole.slice(0, 2);
  frame.follow("r", { x: { ...LOSS, low: 0, high: 1 }, y: AUM }, null);
  assert.deepEqual(frame.whole.slice(0, 2), before);
  assert.deepEqual(frame.known("r", { name: "loss", low: 5, high: 6 }), { name: "loss", low: -2, high: 8 });
  frame.follow("r", { x: { ...LOSS, high: 18 }, y: AUM }, null);
  assert.ok(frame.whole[1] > 18 && frame.whole[0] < -2);
  frame.follow("other", { x: { ...LOSS, low: 0, high: 1 }, y: AUM }, null);
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
    frame.follow("r", { x: LOSS, y: AUM }, box);
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
    frame.follow("r", { x: LOSS, y: AUM }, box);
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
    frame.follow("r", { x: LOSS, y: AUM }, box);
  }
  assert.ok(frame.zoom > 1000 && frame.zoom <= 10000 * (1 + 1e-9));
});

test("small windows have small margins, and never a plot of no size", () => {
  assert.ok(frameOf({ width: 390 }).isNarrow && !frameOf().isNarrow);
  const frame = frameOf({ width: 0, height: 0 });
  assert.ok(frame.width > 0 && frame.height > 0);
});
