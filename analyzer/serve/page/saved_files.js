/*
 * saved_files.js: saved selections as files. selections.json holds all of a run, {"run", "selections": [{"name", …a selection}]},
 * each in the form that can be repeated later, as one alone in selection.json. selections.csv says of each example which of them
 * hold it.
 */
import { csvField } from "./csv.js";
import { idsOf, unionOf } from "./saved_masks.js";
import { NAME_MOST, nameProblem, SAVED_MOST, selectionProblem } from "./selection_check.js";
import { same } from "./state.js";

/* A saved selection as selection.json. Its ids are not parsed: as numbers, long ones would lose digits. */
export async function selectionText(source, { name, selection }) {
  const text = await (await source.select(selection.run, selection, "selection")).text();
  return text.replace(/^\s*\{/, () => `{"name":${JSON.stringify(name)},`);
}

export async function selectionsText(source, run, saved) {
  const texts = [];
  for (const entry of saved) texts.push((await selectionText(source, entry)).trim());
  return `{"run":${JSON.stringify(run)},"selections":[\n${texts.join(",\n")}\n]}\n`;
}

/* The table of all examples that a saved selection holds: 1 where it does. */
export async function membershipTable(source, at, saved, masks) {
  const held = saved.map(({ selection }, i) => ({ selection, mask: masks[i] }));
  const lines = [["id", ...saved.map(({ name }) => name)].map(csvField).join()];
  for (const [place, id] of await idsOf(source, at, held, unionOf(masks)))
    lines.push([csvField(id), ...masks.map(({ bits }) => (bits[place >> 3] >> (place & 7)) & 1)].join());
  return `${lines.join("\n")}\n`;
}

const LONG = /^-?\d{16,}$/;
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/* Parses JSON. Whole numbers that would lose digits become texts, as ids may be; bounds and corners of polygons stay numbers. */
function parseExactly(text) {
  const numberOf = (value) => (LONG.test(value) ? Number(value) : value);
  const cornerOf = (pair) => (Array.isArray(pair) ? pair.map(numberOf) : pair);
  return JSON.parse(text.replace(TEXT_OR_NUMBER, (found) => (LONG.test(found) ? `"${found}"` : found)), (key, value) => {
    if (key === "polygon" && Array.isArray(value)) return value.map(cornerOf);
    return key === "min" || key === "max" ? numberOf(value) : value;
  });
}

/* As the state holds it. */
function entryOf({ name, run, x, y, epochs = "", parts, polygon, filters, digests }) {
  const outline = parts ?? (polygon && [{ op: "add", polygon }]);
  return { name, digests, selection: { run, epochs, ...(outline ? { x, y, parts: outline } : {}), ...(filters ? { filters } : {}) } };
}

const refuse = (problem) => {
  if (problem) throw new Error(problem);
};

/* {run, saved: [{name, selection, digests}]} of a file's text: of selections.json, or of selection.json. Fails with a sentence that names
 * the field that is wrong. `otherwise`: the run, and a name, where the file says none. */
export function readSelections(text, otherwise) {
  let file;
  try {
    file = parseExactly(text);
  } catch (error) {
    throw new Error(`The file is no JSON: ${error.message}.`, { cause: error });
  }
  if (typeof file !== "object" || file === null || Array.isArray(file)) throw new Error("The file holds no selections: it is no object.");
  const isOne = !("selections" in file);
  const { run = otherwise.run, selections, ...others } = isOne ? { run: file.run, selections: [{ name: otherwise.name, ...file }] } : file;
  const where = (i) => (isOne ? "The file" : `selections[${i}]`);
  if (typeof run !== "string") throw new Error("run is no text.");
  if (Object.keys(others).length > 0) throw new Error(`The file has an unknown field, "${Object.keys(others)[0].slice(0, 40)}".`);
  if (!Array.isArray(selections) || selections.length > SAVED_MOST) throw new Error(`selections is no list of ${SAVED_MOST} selections at most.`);
  for (const [i, one] of selections.entries()) {
    refuse(selectionProblem(one, where(i)) ?? nameProblem(one.name, `${where(i)}.name`));
    if ((one.run ?? run) !== run) throw new Error(`${where(i)}.run is not "${run}", as the file's run is.`);
    if (selections.findIndex(({ name }) => name === one.name) < i) throw new Error(`${where(i)}.name is the name of another selection, too.`);
  }
  return { run, saved: selections.map((one) => entryOf({ ...one, run })) };
}

/* A name that is not taken, as like the wanted one as can be. */
export function freeName(wanted, taken) {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted.slice(0, NAME_MOST - 6)} (${i})`;
    if (!taken.includes(name)) return name;
  }
}

/* The saved selections of a run, and more of them; those that are there already are not added again. */
export function addSaved(own, more) {
  const all = [...own];
  for (const entry of more) {
    const isThere = all.some(({ name, selection }) => name === entry.name && same(selection, entry.selection));
    if (!isThere) all.push({ ...entry, name: freeName(entry.name, all.map(({ name }) => name)) });
  }
  return all;
}

/* The names of the measures of which the run has other values now than when a selection was exported. */
export async function changedSince(source, { selection, digests = {} }) {
  const view = await source.view(selection.run, selection.epochs).catch(() => null); /* that run has no such epochs: its row says so */
  if (!view) return [];
  const now = Object.fromEntries([...view.columns.map(({ name, digest }) => [name, digest]), ["gold", view.gold_digest]]);
  return Object.keys(digests).filter((name) => Object.hasOwn(now, name) && now[name] !== digests[name]);
}
