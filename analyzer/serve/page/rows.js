/*
 * rows.js: the rows and the head of the table: elements for examples as the source answers them. Narrow screens show each
 * row as a block, so the roles of a table are spelled out: browsers forget them where cells are no longer laid out as such.
 */
import { aboutOf } from "./about.js";
import { sparkline } from "./card.js";
import { isOfLosses } from "./columns.js";
import { button, element, number, words } from "./dom.js";
import { mediaOf } from "./media.js";
import { RANKING_COLUMNS } from "./suspects.js";
import { textField } from "./texts.js";

const TEXT_MOST = 160; /* characters of a field */
const USUAL = ["confidence", "variability", "correctness", "forgetting_events", "aum", "el2n", "task_loss", "learning_speed"];

/* The columns of measures: those of the map, the usual ones, and those that the user added, in the view's order. */
export function measureColumns(view, { x, y, colour, extra, sortedBy }) {
  const wanted = new Set([x, y, colour, sortedBy, ...USUAL, ...extra]);
  return view.columns.filter(({ name }) => wanted.has(name));
}

/* The columns of the table: measures of the view, texts of the examples, and those of the list that is selected (suspects.js). */
export function tableColumns(view, choice) {
  return {
    hasLabels: (view.gold?.values.length ?? 0) > 0,
    hasTexts: view.fields.length > 0,
    isOfLosses: isOfLosses(view),
    media: view.media ?? null,
    measures: measureColumns(view, choice),
    ranking: choice.ranking,
  };
}

function sortedHead(name, text, sort, onSort, about) {
  const isSorted = sort === name || sort === `-${name}`;
  const isDescending = sort === `-${name}`;
  const arrow = element("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (isDescending ? "\u00a0▼" : "\u00a0▲") : "");
  return element(
    "th",
    { scope: "col", role: "columnheader", class: ["id", "gold"].includes(name) ? null : "number", "aria-sort": isSorted ? (isDescending ? "descending" : "ascending") : "none" },
    element("button", { type: "button", class: "sort", "data-sort": name, title: about, onclick: () => onSort(isSorted && !isDescending ? `-${name}` : name) }, text, arrow),
  );
}

/* The head of the table. A click on a sortable column calls onSort("name"), or onSort("-name") for descending order. */
export function headRow(columns, sort, onSort) {
  const rankingHead = ({ name, title, about, isNumber }) => (name === "listed" ? sortedHead(name, title, sort, onSort, about) : element("th", { scope: "col", role: "columnheader", class: isNumber ? "number plain" : "plain", title: about }, title));
  const plain = (...content) => element("th", { scope: "col", role: "columnheader", class: "plain" }, ...content);
  return element(
    "tr",
    { role: "row" },
    plain(element("span", { class: "unseen" }, "Pin")),
    sortedHead("id", "id", sort, onSort),
    columns.hasLabels ? sortedHead("gold", "label", sort, onSort, aboutOf(null, "gold")) : null,
    ...(columns.ranking ? RANKING_COLUMNS.map(rankingHead) : []),
    plain("tag"),
    columns.media === null ? null : plain(element("bdi", {}, columns.media)),
    columns.hasTexts ? plain("text") : null,
    plain(columns.isOfLosses ? "loss by epoch" : "p(gold) by epoch"),
    ...columns.measures.map(({ name, about }) => sortedHead(name, words(name), sort, onSort, about)),
  );
}

function textCell(example, opened) {
  const fields = Object.entries(example.text ?? {}).filter(([, text]) => text !== null);
  return element(
    "td",
    { role: "cell", class: "texts" },
    ...fields.map(([name, text]) => textField(fields.length > 1 ? name : null, String(text), TEXT_MOST, opened, JSON.stringify([example.id, name]))),
  );
}

const cell = (name, ...content) => element("td", { role: "cell", class: name }, ...content);

const rankingCell = ({ title, of, isNumber }, row) =>
  element("td", { role: "cell", class: isNumber ? "number" : "label", "data-name": title }, element("bdi", {}, row ? of(row) : "–"));

/* The row of one example, whose tag is filled in later. `opened`: see textField(). onPin() pins the example, or unpins it. */
export function exampleRow(example, columns, opened, parts, onPin) {
  const pin = button("", onPin, { class: "pin", tabindex: -1, "aria-label": `Pin ${example.id}` });
  pin.append(element("span", { "aria-hidden": "true" }, "◎"));
  return element(
    "tr",
    { role: "row", tabindex: -1, "data-place": example.place, "data-id": example.id, "data-label": example.label ?? example.gold },
    cell("pin-cell", pin),
    element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, String(example.id))),
    columns.hasLabels ? cell("label", element("bdi", {}, String(example.label ?? example.gold ?? "–"))) : null,
    ...(columns.ranking ? RANKING_COLUMNS.map((column) => rankingCell(column, columns.ranking.rows.get(String(example.id)))) : []),
    cell("tag-cell"),
    columns.media === null ? null : cell("media-cell", mediaOf(parts, example)),
    columns.hasTexts ? textCell(example, opened) : null,
    cell("line", sparkline(example, 96, 28)),
    ...columns.measures.map(({ name, integer }) =>
      element("td", { role: "cell", class: "number", "data-name": words(name) }, number(example.measures[name], integer))),
  );
}
