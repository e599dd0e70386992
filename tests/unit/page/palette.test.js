/* palette.test.js: the colours of points: each can be seen on its background, and means one thing. */
import { media, textOf, times } from "./browser.js";
import assert from "node:assert/strict";
import test from "node:test";
import { byteColours, categoryColour, isOthers, noneColour, numberColour, plainColour, theme, unselectedColour } from "../../../analyzer/serve/page/palette.js";

function luminance(colour) {
  const { r, g, b } = d3.color(colour).rgb();
  const linear = [r, g, b].map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort(d3.ascending);
  return (light + 0.05) / (dark + 0.05);
}

const [, ...papers] = /--paper: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/.exec(textOf("style.css"));

for (const [isDark, paper] of [[false, papers[0]], [true, papers[1]]]) {
  test(`${isDark ? "dark" : "light"}: every mark has a contrast of 3:1 with ${paper}`, () => {
    media.isDark = isDark;
    assert.equal(theme(), isDark ? "dark" : "light");
    const all = [...times(12, categoryColour), categoryColour(12), noneColour(), plainColour(), ...times(255, (byte) => numberColour(byte / 254))];
    for (const colour of all) assert.ok(contrast(colour, paper) >= 3, `${colour}: ${contrast(colour, paper).toFixed(2)}`);
    assert.equal(new Set(times(13, categoryColour)).size, 13, "no colour stands for two categories");
    assert.ok(contrast(unselectedColour(), paper) < 3, "what is not selected steps back");
  });

  test(`${isDark ? "dark" : "light"}: higher numbers go one way, from the background`, () => {
    media.isDark = isDark;
    const light = times(255, (byte) => luminance(numberColour(byte / 254)));
    for (let byte = 1; byte < 255; byte++) assert.ok(light[byte] > light[byte - 1] - 1e-3);
  });
}

test("bytes: a category by its number, a measure by its share, and 255 is a ring", () => {
  media.isDark = false;
  const at = (bytes, byte) => Array.from(bytes.subarray(4 * byte, 4 * byte + 4));
  const rgb = (colour, kind) => [d3.rgb(colour).r, d3.rgb(colour).g, d3.rgb(colour).b, kind];
  const categories = byteColours({ kind: "category" });
  assert.deepEqual(at(categories, 3), rgb(categoryColour(3), 255));
  assert.deepEqual(at(categories, 12), rgb(categoryColour(99), 255));
  assert.deepEqual(at(categories, 255), rgb(noneColour(), 0));
  const numbers = byteColours({ kind: "number" });
  assert.deepEqual(at(numbers, 127), rgb(numberColour(127 / 254), 255));
  assert.deepEqual(at(numbers, 255), rgb(noneColour(), 0));
  assert.deepEqual(at(byteColours(null), 255), rgb(plainColour(), 255), "without colours all points look alike");
  assert.deepEqual([isOthers(11), isOthers(12)], [false, true]);
});
