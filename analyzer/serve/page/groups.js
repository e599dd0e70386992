/*
 * groups.js: how the selection differs from all examples: the groups (gold labels, values of a column of the user's file) and
 * the words that it has more often. Without a selection, the examples that pass the filters take its place.
 */
import { isOfLosses } from "./columns.js";
import { button, count, element, fillSelect } from "./dom.js";
import { chosenNow, follow } from "./follow.js";

const GROUPS_MOST = 20; /* shown at first */
const WORDS_MOST = 40;
const NOTHING = "Select or filter examples to see here how they differ from all.";

const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");
const times = (ratio) => (Number.isFinite(ratio) ? `${ratio.toFixed(2)} ×` : "–");

/* A bar for the selected share of a group, with a mark at the selected share of all examples. */
function shareBar(share, expected) {
  const bar = element("div", { class: "share", "aria-hidden": "true" });
  const fill = element("div", { class: share >= expected ? "fill more" : "fill" });
  const mark = element("div", { class: "expected" });
  fill.style.width = `${100 * Math.min(1, share || 0)}%`;
  mark.style.left = `${100 * Math.min(1, expected || 0)}%`;
  bar.append(fill, mark);
  return bar;
}

/* A table; each row is an array of the contents of its cells, the head of the row first. Its roles: see rows.js. */
function shareTable(name, caption, heads, rows) {
  return element(
    "table",
    { class: `shares ${name}`, role: "table" },
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads.map((head) => element("th", { scope: "col", role: "columnheader" }, head)))),
    element("tbody", { role: "rowgroup" }, ...rows.map(([head, ...cells]) =>
      element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, head)), ...cells.map((cell) => element("td", { role: "cell" }, cell))))),
  );
}

function groupTable({ groups, count: selected, all }, most) {
  const expected = selected / all;
  const sorted = [...groups].sort((a, b) => b.inside - a.inside || b.all - a.all);
  const rows = sorted.slice(0, most).map(({ label, inside, all: examples }) =>
    [label, count(inside), count(examples), percent(inside / examples), times(inside / examples / expected), shareBar(inside / examples, expected)]);
  return shareTable("groups", `${percent(expected)} of all examples are chosen; the mark in each bar stands there.`, ["group", "chosen", "examples", "share", "ratio", "of the group"], rows);
}

function wordTable({ words, texts, inside }, examples) {
  const read = texts < examples ? `${count(texts)} texts were read, of ${count(examples)} examples, evenly by id` : `${count(texts)} texts were read`;
  const rows = words.map(({ word, n, inside: chosen, share, expected, z }) =>
    [word, count(chosen), count(n), percent(share), times(share / expected), z.toFixed(1), shareBar(share, expected)]);
  return shareTable("words", `${read}; ${count(inside)} of them are chosen. A text counts a word once.`, ["word", "chosen", "texts", "share", "ratio", "z", "of the texts"], rows);
}

/* One half of the section: a title, the choices, and a place for a table or for the reason why there is none. */
function panel(section, title, ...controls) {
  const content = element("div");
  const problem = element("p", { class: "hint", role: "status" });
  section.append(element("div", { class: "panel" }, element("h2", {}, title), ...controls, problem, content));
  const say = (text) => {
    problem.textContent = text ?? "";
    problem.hidden = !text;
    if (text) content.replaceChildren();
  };
  return { say, show: (...children) => content.replaceChildren(...children) };
}

function showShares(section, { state, source, loader }) {
  state.define("groupBy", "gold", true); /* "gold" or "data:COLUMN" */
  const select = element("select", { "aria-label": "Groups by", onchange: () => state.set({ groupBy: select.value }) });
  const { say, show } = panel(section, "Groups of the selection", element("label", {}, "By ", select));
  const fill = () => {
    if (!state.view) return;
    const choices = [...(isOfLosses(state.view) ? [] : [["gold", "gold label"]]), ...state.view.data_columns.map((name) => [`data:${name}`, name])];
    if (!choices.some(([value]) => value === state.groupBy)) choices.push([state.groupBy, state.groupBy.replace(/^data:/, "")]);
    fillSelect(select, choices, state.groupBy);
  };
  const load = async () => {
    const selection = chosenNow(state);
    const reason = selection ? source.whyNot("groups") : NOTHING;
    if (reason) {
      say(reason);
      return;
    }
    const at = loader.at();
    const column = state.groupBy;
    if (column === "gold" && isOfLosses(state.view)) {
      say("The run records losses, and has no labels: choose a column of your own file.");
      return;
    }
    if (column !== "gold" && (await source.legend(at, column)).kind === "number") {
      say(`${column.replace(/^data:/, "")} holds numbers: groups are made of categories.`);
      return;
    }
    const answer = await (await source.select(at.run, selection, "groups", { column, epochs: at.epochs, version: at.version })).json();
    say(answer.groups.length > 0 ? null : "No example has a value there.");
    if (answer.groups.length === 0) return;
    const rest = answer.groups.length - GROUPS_MOST;
    const all = rest > 0 ? button(`All ${count(answer.groups.length)} groups`, () => show(groupTable(answer, Infinity))) : null;
    show(groupTable(answer, GROUPS_MOST), ...(all ? [all] : []));
  };
  const ask = follow(section, state, { load, fail: (text) => text && say(text) });
  state.subscribe(["view", "groupBy"], fill);
  state.subscribe(["groupBy"], ask);
}

function showWords(section, { state, source, loader }) {
  const { say, show } = panel(section, "Words of the selection");
  const whyNot = (selection) => {
    if (state.view.fields.length === 0) return source.whyNot("words") ?? "The server was started without texts: say --data FILE --id-field FIELD --text FIELD.";
    return source.whyNot("words") ?? (selection ? null : NOTHING);
  };
  const load = async () => {
    const selection = chosenNow(state);
    const reason = whyNot(selection);
    if (reason) {
      say(reason);
      return;
    }
    const { run, epochs, version } = loader.at();
    const answer = await (await source.select(run, selection, "words", { most: WORDS_MOST, epochs, version })).json();
    say(answer.words.length > 0 ? null : "No word is more frequent here than elsewhere.");
    if (answer.words.length > 0) show(wordTable(answer, state.view.points));
  };
  follow(section, state, { load, fail: (text) => text && say(text) });
}

export function showGroups(section, parts) {
  showShares(section, parts);
  showWords(section, parts);
}
