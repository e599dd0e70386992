/* export.test.js: the command that selects what the page shows. */
import "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { commandOf } from "../../../analyzer/serve/page/export.js";

test("the command has what the server was told", () => {
  assert.equal(commandOf("toy/seed1", null), "portolan select toy/seed1 --within selection.json");
  assert.equal(commandOf("my run", "a store"), "portolan select 'my run' --within selection.json --store 'a store'");
  assert.equal(commandOf("losses", "s", -0.25), "portolan select losses --within selection.json --store s --loss-threshold -0.25");
});
