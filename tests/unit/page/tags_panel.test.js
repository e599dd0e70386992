/* tags_panel.test.js: the panel of the tags, while the run grows and files are made. */
import "./browser.js";
import { holdTimers, place, promised, settle } from "./elements.js";
import assert from "node:assert/strict";
import test from "node:test";
import { createState } from "../../../analyzer/serve/page/state.js";
import { Tags } from "../../../analyzer/serve/page/tags.js";
import { showTagsPanel } from "../../../analyzer/serve/page/tags_panel.js";

const listeners = {};
globalThis.addEventListener = (name, tell) => {
  listeners[name] = tell;
};
holdTimers();

const viewOf = (version) => ({ run: "r", range: "", version, fields: [], ids: "integer" });
const rowOf = (id) => ({ id, label: "a", gold: 0, text: null });

async function open({ classes = async () => ["a"], examples = ["1", "2", "3"], saved = false, tag } = {}) {
  const state = createState();
  const source = {
    whyNot: () => null,
    classes,
    tag,
    tags: async () => ({ serial: 0, saved, names: [], tags: [] }),
    async rows(at, { filters }) {
      const rows = filters.id.in.filter((id) => examples.includes(id)).map(rowOf);
      return { count: rows.length, rows };
    },
  };
  const tags = new Tags({ state, source });
  const section = place();
  showTagsPanel(section, { state, source, tags, loader: { at: () => ({ run: "r" }) } });
  state.set({ view: viewOf(1) });
  await settle();
  const field = (number) => section.querySelector(`[aria-label="Name of tag ${number}"]`);
  const buttonOf = (text) => section.querySelectorAll("button").find(({ textContent }) => textContent === text);
  const isUnsaved = () => {
    let isIt = false;
    listeners.beforeunload({ preventDefault: () => (isIt = true) });
    return isIt;
  };
  return { state, tags, section, field, buttonOf, isUnsaved };
}

test("a name can be typed while the run grows", async () => {
  const { state, tags, field, buttonOf, section } = await open();
  const typed = field(3);
  typed.focus();
  typed.value = "blurr";
  state.set({ view: viewOf(2) });
  tags.toggle("1", 2);
  assert.equal(field(3), typed);
  assert.equal(typed.value, "blurr");
  assert.equal(document.activeElement, typed);
  typed.value = " blurred ";
  typed.dispatch("change");
  assert.deepEqual([state.tags.names[2], typed.value, state.tags.of.get("1").tag], ["blurred", "blurred", "blurred"]);
  typed.value = "keep";
  typed.dispatch("change");
  assert.equal(typed.value, "blurred");
  assert.ok(section.querySelector(".problem").textContent.includes("already"));
  typed.value = "keep it";
  typed.dispatch("change");
  assert.equal(section.querySelector(".problem").textContent, "");
  buttonOf("Add a tag").click();
  assert.equal(section.querySelector("tbody").children.length, 4);
  section.querySelector('[aria-label="Remove tag 4"]').click();
  assert.equal(section.querySelector("tbody").children.length, 3);
});

test("what the server has said is wrong goes with the next change", async () => {
  let isFull = true;
  const { tags, section } = await open({
    saved: true,
    async tag() {
      if (isFull) throw Object.assign(new Error("the disk is full"), { status: 503 });
      return { serial: 1 };
    },
  });
  tags.toggle("1", 1);
  await settle();
  assert.equal(section.querySelector(".problem").textContent, "the disk is full");
  isFull = false;
  tags.toggle("1", 1);
  await settle();
  assert.equal(section.querySelector(".problem").textContent, "");
});

test("tags count as being in a file only if the file has them all", async () => {
  const { tags, buttonOf, isUnsaved } = await open();
  const save = async () => {
    buttonOf("Save corrections.tsv").click();
    await settle();
  };
  tags.toggle("1", 1);
  await save();
  assert.ok(!isUnsaved());
  tags.toggle("2", 2);
  await save();
  assert.ok(isUnsaved(), "other tags are not in the file");
  tags.takeAway("2");
  tags.toggle("99", 1);
  await save();
  assert.ok(isUnsaved(), "examples that the run does not have are not in the file");
});

test("a tag that is given while the file is made is not in it", async () => {
  const classes = promised();
  const { tags, buttonOf, isUnsaved } = await open({ classes: () => classes.promise });
  tags.toggle("1", 1);
  buttonOf("Save corrections.tsv").click();
  tags.toggle("2", 1);
  classes.resolve(["a"]);
  await settle();
  assert.ok(isUnsaved());
});
