/*
 * selection_check.js: checks selections and filters that come from elsewhere: from a link, or from a file. It refuses what
 * regions/within_read.c refuses. Each check answers with a sentence that names the field that is wrong, or with null.
 */

export const NAME_MOST = 100; /* characters of a name */
export const SAVED_MOST = 50; /* selections */
const PARTS_MOST = 1000;
const VERTICES_MOST = 100000; /* of all polygons together */
const TEXTS_MOST = 16; /* that are searched for at once */
const COORDINATE_MOST = 1e150;

const MEMBERS = ["name", "run", "x", "y", "epochs", "polygon", "parts", "filters", "digests"];

/* Control characters, and those that turn the direction of what follows them around. */
// oxlint-disable-next-line no-control-regex -- they are what it looks for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
const isCoordinate = (value) => Number.isFinite(value) && Math.abs(value) <= COORDINATE_MOST;
const isVertex = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isCoordinate);

/* The first sentence that is not null. */
function firstOf(items, problemOf) {
  for (const [i, item] of items.entries()) {
    const problem = problemOf(item, i);
    if (problem) return problem;
  }
  return null;
}

const unknownMember = (object, known, where) => firstOf(Object.keys(object), (name) => (known.includes(name) ? null : `${where} has an unknown field, "${name.slice(0, 40)}".`));

export function nameProblem(name, where = "The name") {
  if (!isText(name) || !/[^\p{Z}\p{C}]/u.test(name)) return `${where} is empty, or no text.`;
  if (name.length > NAME_MOST) return `${where} is longer than ${NAME_MOST} characters.`;
  if (UNSEEN.test(name) || LONE.test(name)) return `${where} holds a character that is not seen.`;
  return null;
}

/* What was typed or suggested, as a name. */
export const cleanName = (text) => Array.from(text, (character) => (UNSEEN.test(character) || LONE.test(character) ? " " : character)).join("").trim().slice(0, NAME_MOST).replace(LONE, "");

function partProblem(part, where) {
  if (!isObject(part)) return `${where} is no object.`;
  if (part.op !== "add" && part.op !== "remove") return `${where}.op is neither "add" nor "remove".`;
  return unknownMember(part, ["op", "polygon"], where) ?? polygonProblem(part.polygon, `${where}.polygon`);
}

function polygonProblem(polygon, where) {
  if (!Array.isArray(polygon) || polygon.length < 3) return `${where} is no list of 3 corners or more.`;
  return firstOf(polygon, (pair, i) => (isVertex(pair) ? null : `${where}[${i}] is not [x, y], two numbers.`));
}

function partsProblem({ x, y, parts, polygon }, where) {
  if (parts !== undefined && polygon !== undefined) return `${where} has "polygon" and "parts": one of them is meant.`;
  if (parts === undefined && polygon === undefined) return null;
  const isNamed = [x, y].every((name) => isText(name) && name !== "");
  if (!isNamed) return `${where}.${isText(x) && x !== "" ? "y" : "x"} is not the name of an axis.`;
  if (polygon !== undefined) return polygonProblem(polygon, `${where}.polygon`);
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > PARTS_MOST) return `${where}.parts is no list of 1 to ${PARTS_MOST} parts.`;
  const problem = firstOf(parts, (part, i) => partProblem(part, `${where}.parts[${i}]`));
  const vertices = problem ? 0 : parts.reduce((sum, part) => sum + part.polygon.length, 0);
  return problem ?? (vertices > VERTICES_MOST ? `${where}.parts has more than ${VERTICES_MOST} corners.` : null);
}

function valuesProblem(name, values, where) {
  if (values === undefined) return null;
  if (!Array.isArray(values)) return `${where}.in is no list.`;
  const fits = (value) => {
    if (name === "gold") return isText(value) || value === null || (Number.isInteger(value) && value >= 0);
    if (name === "id") return isText(value) || Number.isSafeInteger(value);
    return value === null || Number.isFinite(value) || (isText(value) && name.startsWith("data:"));
  };
  return firstOf(values, (value, i) => (fits(value) ? null : `${where}.in[${i}] is no value of "${name.slice(0, 40)}".`));
}

function filterProblem(name, filter, where) {
  if (!isObject(filter) || Object.keys(filter).length === 0) return `${where} is not {"in": […]}, {"min": …, "max": …} or {"contains": […]}.`;
  if (name === "text" && filter.contains !== undefined) {
    const { contains } = filter;
    const fits = Array.isArray(contains) && contains.length > 0 && contains.length <= TEXTS_MOST && contains.every((text) => isText(text) && text !== "");
    return unknownMember(filter, ["contains"], where) ?? (fits ? null : `${where}.contains is no list of 1 to ${TEXTS_MOST} texts.`);
  }
  const bounds = ["min", "max"].filter((end) => filter[end] !== undefined && !Number.isFinite(filter[end]));
  return unknownMember(filter, ["gold", "id"].includes(name) ? ["in"] : ["in", "min", "max"], where)
    ?? (bounds.length > 0 ? `${where}.${bounds[0]} is no number.` : valuesProblem(name, filter.in, where));
}

export function filtersProblem(filters, where = "filters") {
  if (!isObject(filters)) return `${where} is no object.`;
  return firstOf(Object.entries(filters), ([name, filter]) => filterProblem(name, filter, `${where}.${name.slice(0, 40)}`));
}

/* A selection as `portolan select --within` reads it; `name` and `run` may be left out. */
export function selectionProblem(selection, where = "The selection") {
  if (!isObject(selection)) return `${where} is no object.`;
  const { epochs, filters, parts, polygon, digests } = selection;
  const isEmpty = parts === undefined && polygon === undefined && !(isObject(filters) && Object.keys(filters).length > 0);
  const wrongText = ["run", "x", "y"].find((field) => selection[field] !== undefined && !isText(selection[field]));
  return unknownMember(selection, MEMBERS, where)
    ?? (wrongText ? `${where}.${wrongText} is no text.` : null)
    ?? (epochs !== undefined && !(isText(epochs) && /^(\d{0,9}:\d{0,9})?$/.test(epochs)) ? `${where}.epochs is not A:B.` : null)
    ?? (filters === undefined ? null : filtersProblem(filters, `${where}.filters`))
    ?? (digests !== undefined && !(isObject(digests) && Object.values(digests).every(isText)) ? `${where}.digests is no object of texts.` : null)
    ?? partsProblem(selection, where)
    ?? (isEmpty ? `${where} has neither "parts" nor "filters".` : null);
}

/* A saved selection as the state and the address hold it: {name, identity, selection}. */
function entryProblem(entry, where) {
  if (!isObject(entry) || !isText(entry.identity) || entry.identity.length > NAME_MOST || !isObject(entry.selection)) return `${where} is no saved selection.`;
  return unknownMember(entry, ["name", "identity", "selection"], where)
    ?? unknownMember(entry.selection, ["run", "x", "y", "epochs", "parts", "filters"], where)
    ?? nameProblem(entry.name, `${where}.name`)
    ?? selectionProblem(entry.selection, where)
    ?? (isText(entry.selection.run) ? null : `${where} has no run.`);
}

/* The list of saved selections. Of one run, each has a name of its own. */
export function savedProblem(saved) {
  if (!Array.isArray(saved) || saved.length > SAVED_MOST) return `saved is no list of ${SAVED_MOST} selections at most.`;
  const problem = firstOf(saved, (entry, i) => entryProblem(entry, `saved[${i}]`));
  const names = problem ? [] : saved.map(({ name, selection }) => JSON.stringify([selection.run, name]));
  return problem ?? (new Set(names).size < names.length ? "Two saved selections have one name." : null);
}
