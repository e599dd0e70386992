/* command.test.js: a line that is copied means the same words to a shell. */
import "./browser.js";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { lineOf, quote } from "../../../analyzer/serve/page/command.js";

const WORDS = ["portolan", "a/b", "it's", "", "two words", "-o", "$HOME `id` $(id)", "é\u202e", "*", "~", "a;b|c&d", "'", "\\", "!", "#x", "line\nbreak", "--", "1:6"];

test("a shell reads the words that were meant", () => {
  const read = execFileSync("sh", ["-c", `printf '%s\\0' ${lineOf(WORDS)}`], { encoding: "utf8" });
  assert.deepEqual(read.split("\0").slice(0, -1), WORDS);
});

test("a word that needs no quotes has none", () => {
  assert.equal(quote("snli/seed1"), "snli/seed1");
  assert.equal(lineOf(["portolan", "report", "my run"]), "portolan report 'my run'");
});
