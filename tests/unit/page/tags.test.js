/* tags.test.js: tags as the page keeps them: what is sent, what is taken back, undo and names; and the file of corrections. */
import { lots, pick, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { countCorrections, makeCorrections } from "../../../analyzer/serve/page/corrections.js";
import { idsWith, suggestedFor, Tags, WRONG } from "../../../analyzer/serve/page/tags.js";
import { createState } from "../../../analyzer/serve/page/state.js";

globalThis.document = { hidden: false };
const listeners = {};
globalThis.addEventListener = (name, tell) => {
  listeners[name] = tell;
};
const later = globalThis.setTimeout;
globalThis.setTimeout = (tell, ms) => later(tell, ms).unref(); /* the next look at the server ends no test */

/* All that is under way. */
const settle = () => new Promise((done) => later(done, 5));

/* A server that keeps tags as tags.c does; fail(): the error of the next change, or null. */
function makeServer({ saved = true, names = [] } = {}) {
  const of = new Map();
  const server = { of, names, posts: [], serial: 0, fail: () => null, whyNot: () => null };
  server.tags = async (run, known) => (known === server.serial ? null : { serial: server.serial, saved, names: server.names, tags: [...of].map(([id, said]) => ({ id, ...said })) });
  server.tag = async (run, changes) => {
    const error = server.fail();
    if (error) throw error;
    server.posts.push(changes);
    server.serial += changes.length;
    for (const { id, tag, label, names: given } of changes) {
      if (given) server.names = given;
      else if (tag === null) of.delete(String(id));
      else of.set(String(id), { tag, label });
    }
    return { serial: server.serial };
  };
  return server;
}

async function open(source, view = { run: "r", ids: "integer" }) {
  const state = createState();
  const tags = new Tags({ state, source });
  state.set({ view });
  await settle();
  return { state, tags };
}

const plain = (map) => Object.fromEntries(map);

test("a change is shown at once, and sent as the server takes it", async () => {
  const server = makeServer();
  const { state, tags } = await open(server);
  tags.toggle("7", WRONG, "b");
  tags.toggle("9007199254740993", 1);
  assert.deepEqual(plain(state.tags.of), { 7: { tag: "wrong label", label: "b" }, "9007199254740993": { tag: "keep", label: null } });
  await settle();
  assert.deepEqual(server.posts, [[{ id: 7, tag: "wrong label", label: "b" }], [{ id: "9007199254740993", tag: "keep", label: null }]], "no digit is lost");
  tags.toggle("7", WRONG, "b");
  tags.setLabel("7", "c");
  await settle();
  assert.deepEqual(plain(server.of), { "9007199254740993": { tag: "keep", label: null } });
});

test("many changes, and their undoing, leave the page and the server alike", async () => {
  const lot = lots(61);
  const server = makeServer();
  const { state, tags } = await open(server);
  const ids = times(6, String);
  const before = [];
  for (let turn = 0; turn < 200; turn++) {
    before.push(JSON.stringify([...state.tags.of].sort()));
    const id = pick(lot, ids);
    const choice = lot();
    if (choice < 0.6) tags.toggle(id, Math.floor(3 * lot()), lot() < 0.5 ? "a" : null);
    else if (choice < 0.8) tags.setLabel(id, pick(lot, ["a", "b", null]));
    else tags.takeAway(id);
    if (before[turn] === JSON.stringify([...state.tags.of].sort())) {
      before.pop(); /* nothing was changed: this turn does not count */
      turn--;
    }
    if (lot() < 0.3) await settle();
  }
  await settle();
  assert.deepEqual([...server.of].sort(), [...state.tags.of].sort());
  for (const known of before.reverse()) {
    assert.equal(tags.undo()?.length, 1);
    assert.equal(JSON.stringify([...state.tags.of].sort()), known);
  }
  assert.equal(tags.undo(), null);
  await settle();
  assert.equal(server.of.size, 0);
});

test("what the server refuses is taken back, unless it was changed again", async () => {
  const server = makeServer();
  const { state, tags } = await open(server);
  tags.toggle("1", 1);
  await settle();
  let refusals = 1;
  server.fail = () => (refusals-- > 0 ? Object.assign(new Error("not saved: the disk is full"), { status: 503 }) : null);
  tags.toggle("1", 2);
  tags.toggle("2", 2);
  await settle();
  assert.deepEqual(plain(state.tags.of), { 1: { tag: "keep", label: null }, 2: { tag: "unsure", label: null } });
  assert.equal(state.tags.problem, "not saved: the disk is full");
  assert.deepEqual(tags.undo(), ["2"], "undo skips what never came to be");
  assert.equal(state.tags.problem, null);
  refusals = 1;
  tags.toggle("3", 1);
  tags.toggle("3", 2);
  await settle();
  assert.deepEqual(state.tags.of.get("3"), { tag: "unsure", label: null }, "the later change stays");
});

test("a server that was started again without --tags leaves them to the page", async () => {
  const server = makeServer();
  const { state, tags } = await open(server);
  server.fail = () => Object.assign(new Error("not saved"), { status: 409 });
  tags.toggle("1", 1);
  await settle();
  assert.equal(state.tags.saved, false);
  assert.deepEqual(plain(state.tags.of), { 1: { tag: "keep", label: null } });
});

test("an undo that was not saved can be done again", async () => {
  const server = makeServer();
  const { state, tags } = await open(server);
  tags.toggle("1", 1);
  await settle();
  let refusals = 1;
  server.fail = () => (refusals-- > 0 ? Object.assign(new Error("not saved: the disk is full"), { status: 503 }) : null);
  assert.deepEqual(tags.undo(), ["1"]);
  await settle();
  assert.deepEqual(plain(state.tags.of), { 1: { tag: "keep", label: null } });
  assert.deepEqual(tags.undo(), ["1"]);
  await settle();
  assert.deepEqual([state.tags.of.size, server.of.size, tags.undo()], [0, 0, null]);
});

test("names: added, changed, removed; those in use that have no key get one", async () => {
  const server = makeServer();
  server.of.set("5", { tag: "from a script", label: null });
  const { state, tags } = await open(server);
  assert.deepEqual(state.tags.names, ["wrong label", "keep", "unsure", "from a script"]);
  tags.toggle("1", 2);
  for (const wrong of ["", "  ", "keep", "x".repeat(101), "\u00e9".repeat(51), "a\nb", "a\u0085"]) assert.ok(tags.rename(2, wrong), JSON.stringify(wrong));
  assert.equal(tags.rename(2, " blurred "), null);
  assert.equal(tags.rename(4, "new"), null);
  await settle();
  assert.deepEqual(server.names, ["wrong label", "keep", "blurred", "from a script", "new"]);
  assert.deepEqual(plain(server.of), { 5: { tag: "from a script", label: null }, 1: { tag: "blurred", label: null } });
  tags.remove(4);
  assert.deepEqual(tags.undo(), []);
  tags.undo();
  assert.deepEqual(tags.undo(), ["1"]);
  await settle();
  assert.deepEqual(server.names, ["wrong label", "keep", "unsure", "from a script"]);
  assert.deepEqual(idsWith(state.tags, "unsure"), ["1"]);
  for (let number = 4; number < 9; number++) tags.rename(number, `tag ${number}`);
  await settle();
  server.of.set("6", { tag: "a tenth", label: null });
  const other = await open(server);
  assert.equal(other.state.tags.names.length, 9);
});

test("a rename of more examples than a request has is sent in parts", async () => {
  const server = makeServer();
  for (let i = 0; i < 12000; i++) server.of.set(String(i), { tag: "keep", label: null });
  server.serial = 12000;
  const { tags } = await open(server);
  tags.rename(1, "good");
  await settle();
  await settle();
  assert.deepEqual(server.posts.map(({ length }) => length), [10000, 2001]);
  assert.ok([...server.of.values()].every(({ tag }) => tag === "good"));
});

test("without a server, and without saving, tags stay in the page, run by run", async () => {
  const { state, tags } = await open(makeServer({ saved: false }));
  tags.toggle("1", 1);
  state.set({ view: { run: "other", ids: "text" } });
  await settle();
  assert.equal(state.tags.of.size, 0);
  assert.equal(tags.undo(), null, "undo is about the run that is shown");
  state.set({ view: { run: "r", ids: "integer" } });
  await settle();
  assert.deepEqual(plain(state.tags.of), { 1: { tag: "keep", label: null } });
  assert.deepEqual(tags.undo(), ["1"]);
});

test("nothing can be tagged before it is known who keeps it", () => {
  const state = createState();
  const tags = new Tags({ state, source: makeServer() });
  state.set({ view: { run: "r", ids: "integer" } });
  tags.toggle("1", 1);
  assert.equal(state.tags.of.size, 0);
});

test("no change is made before it is known who keeps it, of whatever kind", async () => {
  const { state, tags } = await open(makeServer({ saved: false }));
  tags.toggle("1", WRONG, "a");
  tags.rename(3, "more");
  state.set({ view: { run: "other", ids: "integer" } });
  state.set({ view: { run: "r", ids: "integer" } });
  const before = state.tags;
  assert.equal(before.saved, null);
  tags.takeAway("1");
  tags.setLabel("1", "b");
  tags.remove(3);
  assert.equal(tags.undo(), null);
  assert.equal(state.tags, before);
  await settle();
  assert.deepEqual(tags.undo(), []);
});

test("who leaves the page is asked first while tags of any run are in no file", async () => {
  const { state, tags } = await open(makeServer({ saved: false }));
  const isAsked = () => {
    let isIt = false;
    listeners.beforeunload({ preventDefault: () => (isIt = true) });
    return isIt;
  };
  assert.ok(!isAsked());
  tags.toggle("1", 1);
  assert.ok(isAsked());
  state.set({ view: { run: "other", ids: "integer" } });
  assert.ok(isAsked(), "before it is known who keeps the tags of the other run");
  await settle();
  assert.ok(isAsked(), "the tags of another run");
  state.set({ view: { run: "r", ids: "integer" } });
  state.set({ view: { run: "other", ids: "integer" } });
  assert.ok(isAsked(), "they were not looked at again");
  state.set({ view: { run: "r", ids: "integer" } });
  await settle();
  tags.noteExport(state.tags);
  assert.ok(!isAsked());
  tags.toggle("2", 1);
  assert.ok(isAsked());
});

test("the label that the model would give is known from the list of suspects of this run", () => {
  const rows = new Map([["1", { suggested: "b" }], ["2", { suggested: null }]]);
  const view = { run: "r" };
  assert.deepEqual(["1", "2", "3"].map((id) => suggestedFor({ ranking: { run: "r", rows }, view }, id)), ["b", null, null]);
  assert.equal(suggestedFor({ ranking: { run: "other", rows }, view }, "1"), null);
  assert.equal(suggestedFor({ ranking: null, view }, "1"), null);
});

/* Examples by id, in pages, as a source has them. */
const rowsOf = (examples) => ({
  async rows(at, { filters }, { from, most }) {
    const found = examples.filter(({ id }) => filters.id.in.includes(id));
    return { count: found.length, rows: found.slice(from, from + most) };
  },
});

test("corrections: one line for each example that is wrong or right", async () => {
  const names = ["bad", "good", "else"];
  const of = new Map([["1", { tag: "bad", label: "dog\tor cat" }], ["2", { tag: "bad", label: null }], ["3", { tag: "good", label: null }], ["4", { tag: "else", label: "x" }], ["5", { tag: "nowhere", label: null }], ["9", { tag: "good", label: null }]]);
  const example = (id, more) => ({ id, label: "cat", gold: 0, text: { say: `line\n${id}`, old: "not this" }, ...more });
  const examples = [example("1"), example("2", { label: null, gold: 7 }), example("3", { label: null, gold: null, text: null })];
  const tags = { names, of };
  assert.deepEqual(countCorrections(tags), { changed: 1, dropped: 1, right: 2, others: 2 });
  const view = { run: "r", fields: ["say", "old"] };
  const made = await makeCorrections(rowsOf(examples), { tags, view }, ["cat", "dog\tor cat"]);
  assert.equal(made.text, "id\told\tnew\tsay\n1\tcat\tdog or cat\tline 1\n2\t7\tdrop\tline 2\n3\t\t\t\n");
  assert.deepEqual([made.written, made.missing], [3, 1]);
  const dropping = await makeCorrections(rowsOf(examples), { tags, view }, ["cat", "drop"]);
  assert.ok(!dropping.text.includes("\tdrop\t") && dropping.missing === 2, "where a class is called so, the word would mean it");
});

test("corrections of many examples come in pages", async () => {
  const ids = times(2500, String);
  const of = new Map(ids.map((id) => [id, { tag: "keep", label: null }]));
  const examples = ids.map((id) => ({ id, label: "a", gold: 0, text: null }));
  const made = await makeCorrections(rowsOf(examples), { tags: { names: ["wrong label", "keep"], of }, view: { run: "r", fields: [] } }, ["a"]);
  assert.deepEqual(made.text.split("\n").slice(1, -1), ids.map((id) => `${id}\ta\t`));
});
