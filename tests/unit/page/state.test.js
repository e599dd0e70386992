/* state.test.js: one state: who is told of changes, and what an address may do to it. */
import { lots, pick, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { createState, same } from "../../../analyzer/serve/page/state.js";

const POLYGON = [[0, 0], [1, 0], [1, 1]];
const PART = { op: "add", polygon: POLYGON };
const DEFAULTS = createState();

test("a subscriber hears once of all keys that are set together", () => {
  const state = createState();
  const heard = [];
  state.subscribe(["x", "y"], (changed, told) => heard.push([[...changed].sort(), told.x, told.y]));
  state.set({ x: "aum", y: "loss", colour: "gold" });
  assert.deepEqual(heard, [[["colour", "x", "y"], "aum", "loss"]]);
});

test("what does not change is not told, nor what nobody asked for", () => {
  const state = createState();
  let heard = 0;
  state.subscribe(["x"], () => heard++);
  state.set({ x: state.x });
  state.set({ y: "loss" });
  assert.equal(heard, 0);
});

test("a change made by a subscriber is told after the present one, to all", () => {
  const state = createState();
  const heard = [];
  state.subscribe(["x"], () => {
    heard.push("first");
    state.set({ y: "loss" });
  });
  state.subscribe(["x", "y"], (changed) => heard.push([...changed].join()));
  state.set({ x: "aum" });
  assert.deepEqual(heard, ["first", "x", "y"]);
});

test("who no longer subscribes hears nothing; who subscribes meanwhile hears the next change", () => {
  const state = createState();
  const heard = [];
  const end = state.subscribe(["x"], () => heard.push("old"));
  state.subscribe(["x"], () => {
    end();
    state.subscribe(["x"], () => heard.push("new"));
  });
  state.set({ x: "a" });
  assert.deepEqual(heard, ["old"]);
  state.set({ x: "b" });
  assert.deepEqual(heard, ["old", "new"]);
});

test("a subscriber that throws does not silence the state", () => {
  const state = createState();
  const end = state.subscribe(["x"], () => {
    throw new Error("meant");
  });
  assert.throws(() => state.set({ x: "a" }), /meant/);
  end();
  let heard = 0;
  state.subscribe(["x"], () => heard++);
  state.set({ x: "b" });
  assert.equal(heard, 1);
});

test("values are compared by what they hold", () => {
  assert.ok(same([1, { a: null }], [1, { a: null }]) && same(null, null) && same("a", "a"));
  assert.ok(!same([1], [2]) && !same(null, []) && !same("1", 1));
});

test("the address has what differs from the defaults, and gives it back", () => {
  const state = createState();
  assert.equal(state.fragment(), "");
  const wanted = {
    run: "snli/seed & 1=2#3 ü",
    epochs: "1:6",
    x: "aum",
    colour: "data:a b",
    cuts: { variability: 0.25, confidence: 0.5 },
    box: [-1.5, 1e-9, 0, 2],
    selection: { x: "aum", y: "confidence", parts: [PART, { op: "remove", polygon: POLYGON }], epochs: "0:3" },
    of: "3-1767225600",
    filters: { gold: { in: [0, null, "neutral"] }, correctness: { min: 0.25, max: 1 }, "data:length": { max: -3 }, text: { contains: ["a&b", "="] } },
    pinned: ["17", "a#b"],
    tool: "box",
  };
  state.set(wanted);
  const other = createState();
  other.load("#" + state.fragment());
  for (const [key, value] of Object.entries(wanted)) assert.deepEqual(other[key], value, key);
  assert.equal(other.y, "confidence");
  other.load("");
  for (const key of Object.keys(wanted)) assert.deepEqual(other[key], DEFAULTS[key], `${key} is as at the start`);
});

test("a module's own keys are in the address where it says so", () => {
  const state = createState();
  state.define("sort", "id", true);
  state.define("open", 3);
  state.set({ sort: "aum", open: 4 });
  assert.equal(state.fragment(), "sort=aum");
  state.load("sort=loss&open=9");
  assert.deepEqual([state.sort, state.open], ["loss", 4]);
});

test("a selection names its epochs in the address only if they are not those shown", () => {
  const state = createState();
  state.set({ epochs: "1:4", selection: { x: "a", y: "b", parts: [PART], epochs: "1:4" } });
  const inAddress = () => JSON.parse(new URLSearchParams(state.fragment()).get("selection"));
  assert.equal(inAddress().epochs, undefined);
  const other = createState();
  other.load(state.fragment());
  assert.equal(other.selection.epochs, "1:4");
  state.set({ epochs: "" });
  assert.equal(inAddress().epochs, "1:4");
});

test("a selection of ids is in the address, unless the page is linked with a program, whose server keeps it", () => {
  const state = createState();
  state.define("linked", false, true);
  const selection = { x: "a", y: "b", parts: [PART], epochs: "", filters: { id: { in: ["1"] } } };
  state.set({ of: "3", selection });
  const other = createState();
  other.load(state.fragment());
  assert.deepEqual([other.selection, other.of], [selection, "3"]);
  state.set({ linked: true });
  assert.equal(state.fragment(), "linked=true");
});

test("what is too long for an address is left out of it, an outline never", () => {
  const state = createState();
  const entry = (name, ids) => ({ name, identity: "3", selection: { run: "r", filters: { id: { in: ids } } } });
  state.set({ run: "r", saved: [entry("few", [1, 2])] });
  assert.deepEqual(JSON.parse(new URLSearchParams(state.fragment()).get("saved")), state.saved);
  state.set({ saved: [entry("many", times(20000, Number))] });
  assert.equal(state.fragment(), "run=r");
  const outline = { x: "a", y: "b", parts: [{ op: "add", polygon: times(5000, (i) => [i / 7, i / 11]) }], epochs: "" };
  state.set({ saved: [], selection: outline });
  const other = createState();
  other.load(state.fragment());
  assert.deepEqual(other.selection, outline);
});

test("saved selections are left out before a selection of ids is", () => {
  const state = createState();
  const idsOf = (n) => ({ filters: { id: { in: times(n, Number) } } });
  const savedOf = (n) => [{ name: "a", identity: "1", selection: { run: "r", epochs: "", ...idsOf(n) } }];
  const parts = () => [...new URLSearchParams(state.fragment()).keys()];
  state.set({ selection: { x: "", y: "", parts: [], epochs: "", ...idsOf(2000) }, saved: savedOf(10) });
  assert.deepEqual(parts(), ["selection", "saved"]);
  state.set({ saved: savedOf(3500) });
  assert.deepEqual(parts(), ["selection"]);
  for (const long of [5000, 5000000]) {
    state.set({ selection: { ...state.selection, ...idsOf(long) }, saved: savedOf(10) });
    assert.deepEqual(parts(), ["saved"]);
  }
});

const HOSTILE = {
  box: ["[1,0,0,1]", "[0,1,1,1]", "[0,1,0]", "[0,1,0,1,2]", "[null,1,0,1]", '["0",1,0,1]', "{}", "1", "[0,1e999,0,1]", "[[0,1],[0,1]]"],
  cuts: ["{}", '{"variability":"1","confidence":1}', '{"variability":1}', "[]", "0"],
  selection: [
    "null",
    "[]",
    "{}",
    '{"x":1,"y":"b","parts":[]}',
    '{"x":"a","y":"b","parts":{}}',
    '{"x":"a","y":"b","parts":[null]}',
    '{"x":"a","y":"b","parts":[{"op":"xor","polygon":[[0,0],[1,0],[1,1]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,"1"]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1e999]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":"abc"}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1]]}],"epochs":5}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1]]}],"epochs":"1:2;"}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1]]}],"filters":{"id":{"in":3}}}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1]]}],"filters":{"id":{"in":[1.5]}}}',
    '{"x":"a","y":"b","parts":[],"filters":{"gold":{"min":1}}}',
    '{"x":"a","y":"b","parts":[],"filters":{},"digests":3}',
    '{"x":"","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1]]}]}',
    '{"x":"a","y":"b","parts":[{"op":"add","polygon":[[0,0],[1,0],[1,1e200]]}]}',
  ],
  filters: ["[]", "null", '{"gold":null}', '{"gold":{}}', '{"gold":[]}', '{"gold":{"in":3}}', '{"gold":{"like":1}}', '{"a":{"min":"1"}}', '{"a":{"max":1e999}}', '{"text":{"contains":"a"}}', '{"text":{"contains":[1]}}'],
  pinned: ["{}", "[1]", "[null]", '["a",{}]', "3", '"a"'],
  saved: [
    "{}",
    "[null]",
    '[{"name":"a"}]',
    '[{"name":"a","identity":"1","selection":{"run":"r"}}]',
    '[{"name":"","identity":"1","selection":{"run":"r","filters":{"id":{"in":[1]}}}}]',
    '[{"name":"a\\u202eb","identity":"1","selection":{"run":"r","filters":{"id":{"in":[1]}}}}]',
    '[{"name":"a","identity":"1","selection":{"filters":{"id":{"in":[1]}}}}]',
    '[{"name":"a","identity":"1","more":1,"selection":{"run":"r","filters":{"id":{"in":[1]}}}}]',
    '[{"name":"a","identity":"1","selection":{"run":"r","filters":{"id":{"in":[1]}}}},{"name":"a","identity":"2","selection":{"run":"r","filters":{"id":{"in":[2]}}}}]',
  ],
  tool: ["", "Lasso", "constructor", "__proto__"],
};

test("a link may come from anybody: what the page cannot use is left out", () => {
  for (const [key, texts] of Object.entries(HOSTILE)) {
    for (const text of texts) {
      const state = createState();
      const other = key === "tool" ? "run=a" : "tool=box";
      state.load(`${key}=${encodeURIComponent(text)}&${other}`);
      assert.deepEqual(state[key], DEFAULTS[key], `${key}=${text}`);
      assert.ok(state.tool === "box" || state.run === "a", "the rest of the link counts");
    }
  }
});

test("no link throws, pollutes prototypes or sets what is not kept", () => {
  const lot = lots(11);
  const whole = "run=a&epochs=1%3A2&cuts=%7B%22variability%22%3A1%2C%22confidence%22%3A1%7D&box=%5B0%2C1%2C0%2C1%5D&filters=%7B%22gold%22%3A%7B%22in%22%3A%5B0%5D%7D%7D&pinned=%5B%221%22%5D";
  const bits = ["%", "%7B", "%5D", "&", "=", "#", "[", "null", "__proto__", "constructor", "1e999", '"', "view=1", "busy=true", "\u0000", "\u202e"];
  for (let turn = 0; turn < 3000; turn++) {
    let text = whole;
    for (let k = 0; k < 1 + lot() * 4; k++) {
      const at = Math.floor(lot() * text.length);
      text = text.slice(0, at) + pick(lot, bits) + text.slice(at + Math.floor(lot() * 4));
    }
    const state = createState();
    state.load(text);
    assert.ok(state.box === null || state.box.every(Number.isFinite), text);
    assert.ok(state.pinned.every((id) => typeof id === "string"), text);
    assert.deepEqual([state.view, state.busy], [null, false], text);
    const again = createState();
    again.load(state.fragment());
    assert.equal(again.fragment(), state.fragment(), "what was read is written, and read alike");
  }
  const state = createState();
  state.load(`__proto__=1&filters=${encodeURIComponent('{"__proto__":{"min":1}}')}`);
  assert.equal({}.min, undefined);
  assert.equal(Object.getPrototypeOf(state), Object.getPrototypeOf(DEFAULTS));
});

test("the address follows at once, then at most every 150 ms, and ends with the last state", () => {
  const [written, waiting, listeners] = [[], [], {}];
  const kept = { setTimeout: globalThis.setTimeout };
  Object.assign(globalThis, {
    location: { hash: "#x=aum" },
    history: { replaceState: (_, __, hash) => written.push((globalThis.location.hash = hash)) },
    addEventListener: (name, tell) => (listeners[name] = tell),
    setTimeout: (tell, pause) => waiting.push([tell, pause]),
  });
  try {
    const state = createState();
    state.followAddress();
    assert.equal(state.x, "aum");
    for (const i of times(5, Number)) state.set({ run: `run${i}` });
    assert.deepEqual(written, ["#run=run0&x=aum"]);
    assert.deepEqual([waiting.length, waiting[0][1]], [1, 150]);
    waiting.shift()[0]();
    assert.equal(written.at(-1), "#run=run4&x=aum");
    waiting.shift()[0]();
    assert.equal(written.length, 2, "nothing is written twice");
    globalThis.location.hash = "#tool=pan";
    listeners.hashchange();
    assert.deepEqual([state.tool, state.run, state.x], ["pan", "", "variability"]);
    globalThis.history.replaceState = () => {
      throw new Error("a browser that refuses");
    };
    state.set({ run: "b" });
    assert.equal(state.run, "b");
  } finally {
    Object.assign(globalThis, kept);
  }
});
