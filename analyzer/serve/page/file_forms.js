/* file_forms.js: a selection in the forms of POST api/runs/RUN/select, made from the file's examples. */
import { csvField } from "./csv.js";
import { rowsOf } from "./file_rows.js";
import { isAxisOfFile, isOfFile, placesOf, within } from "./file_within.js";
import { SourceError } from "./source.js";

export function maskOf(kept) {
  const bits = new Uint8Array((kept.length + 7) >> 3);
  for (let place = 0; place < kept.length; place++) bits[place >> 3] |= kept[place] << (place & 7);
  return bits;
}

/* The columns of `portolan metrics`; numbers read back exactly. */
function csvOf(examples, kept) {
  const names = examples.view.columns.map(({ name }) => name);
  const columns = names.map((name) => examples.column(name));
  const hasLabels = examples.labels.some((label) => label !== null);
  const lines = [["id", "gold", ...names, ...(hasLabels ? ["label"] : [])].map(csvField).join()];
  for (const place of placesOf(kept)) {
    const gold = examples.gold[place];
    const numbers = columns.map((values) => (Number.isNaN(values[place]) ? "" : String(values[place])));
    const label = hasLabels ? [csvField(examples.labels[gold] ?? "")] : [];
    lines.push([csvField(examples.id(place)), gold < 0 ? "" : gold, ...numbers, ...label].join());
  }
  return lines.join("\n") + "\n";
}

/* The selection with ids in place of what needs the user's own file: of filters on it, and of parts on its columns. */
function withoutFile(examples, { x, y, parts, polygon, filters = {}, ...rest }) {
  const drawn = Object.fromEntries(Object.entries({ x, y, parts, polygon }).filter(([, value]) => value !== undefined));
  const ofFile = isAxisOfFile(x) || isAxisOfFile(y);
  const all = Object.entries(filters);
  const isReplaced = ([name, filter]) => name === "id" || isOfFile(name, filter);
  if (!ofFile && !all.some(([name, filter]) => isOfFile(name, filter))) return { ...rest, ...drawn, ...(all.length > 0 ? { filters } : {}) };
  const replaced = { ...(ofFile ? drawn : {}), filters: Object.fromEntries(all.filter(isReplaced)) };
  const kept = all.filter((one) => !isReplaced(one));
  return { ...rest, ...(ofFile ? {} : drawn), filters: { ...Object.fromEntries(kept), id: { in: idsOf(examples, within(examples, replaced)) } } };
}

/* The selection with the epochs of the file, and with digests of the measures and labels that it uses, so that the command can repeat it. */
function repeatable(examples, selection) {
  const { view } = examples;
  const { digests: _, ...made } = withoutFile(examples, selection);
  const names = new Set([made.x, made.y, ...Object.keys(made.filters ?? {})]);
  const columns = view.columns.filter(({ name }) => names.has(name));
  const digests = Object.fromEntries(columns.map(({ name, digest }) => [name, digest]));
  if (names.has("gold")) digests.gold = view.gold_digest;
  return { ...made, run: view.run, epochs: `${view.epochs[0]}:${view.epochs[view.epochs.length - 1] + 1}`, digests };
}

function manifestOf(examples, kept, selection) {
  const { about, view } = examples;
  return {
    portolan: about.portolan,
    command: "map",
    created: about.created,
    run: view.run,
    epochs: view.epochs,
    observed: view.points,
    in_this_file: examples.n,
    chosen: placesOf(kept).length,
    selection: repeatable(examples, selection),
  };
}

function groupsOf(examples, kept, name) {
  const categories = examples.categories(name);
  const counts = new Map();
  categories.numbers.forEach((number, place) => {
    if (number < 0) return;
    const group = counts.get(number) ?? { inside: 0, all: 0 };
    group.all++;
    group.inside += kept[place];
    counts.set(number, group);
  });
  const numbers = [...counts.keys()].sort((a, b) => a - b);
  const groups = numbers.map((number) => ({ label: categories.label(number), value: categories.value(number), ...counts.get(number) }));
  return { name, count: placesOf(kept).length, all: examples.n, groups };
}

const idsOf = (examples, kept) => placesOf(kept).map((place) => examples.id(place));

const json = (object) => [JSON.stringify(object), "application/json"];

/* [content, type, name of the file that it can be saved as]. */
const FORMS = {
  ids: (examples, kept) => {
    const ids = idsOf(examples, kept);
    return json({ count: ids.length, ids });
  },
  mask: (_examples, kept) => [maskOf(kept), "application/octet-stream"],
  rows: (examples, kept, selection, query) => json(rowsOf(examples, kept, selection, query)),
  list: (examples, kept) => [idsOf(examples, kept).map((id) => `${id}\n`).join(""), "text/plain; charset=utf-8", "selection.txt"],
  csv: (examples, kept) => [csvOf(examples, kept), "text/csv; charset=utf-8", "selection.csv"],
  selection: (examples, _kept, selection) => [...json(repeatable(examples, selection)), "selection.json"],
  manifest: (examples, kept, selection) => [...json(manifestOf(examples, kept, selection)), "selection.manifest.json"],
  groups: (examples, kept, _selection, { column = "gold" }) => json(groupsOf(examples, kept, column)),
};

/* The answer that a server would give. */
export function formOf(examples, kept, selection, as, query) {
  const make = FORMS[as];
  if (!make) throw new SourceError(400, `A selection of this file has no form '${as}'.`);
  const [content, type, name] = make(examples, kept, selection, query);
  const headers = { "Content-Type": type };
  if (name) headers["Content-Disposition"] = `attachment; filename="${name}"`;
  return new Response(content, { headers });
}
