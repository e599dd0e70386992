/*
 * corrections.js: tags as a file of corrections, which `portolan select --corrections` and `portolan map --corrections` read: TSV with
 * id, old (the label), new, and the texts.
 *
 *     the first tag, with a label    new is that label
 *     the first tag, without         new is "drop": the label is wrong, and nobody knows the right one, so the example is left out
 *     the second tag                 new is empty: somebody looked, and the label is right
 *     every other tag                is not in the file
 */
import { idsWith, KEEP, WRONG } from "./tags.js";

const DROP = "drop";
const PAGE = 1000;
const COLUMNS = ["id", "old", "new"];

/* Readers take a tab or a line end for a blank, too. */
const field = (text) => String(text ?? "").replace(/[\t\r\n]/g, " ");

const labelOf = ({ label, gold }) => label ?? (gold === null ? "" : String(gold));

/* How many of the tags go where: {changed, dropped, right, others}. */
export function countCorrections({ names, of }) {
  const counts = { changed: 0, dropped: 0, right: 0, others: 0 };
  for (const { tag, label } of of.values()) {
    if (tag === names[WRONG]) counts[label === null ? "dropped" : "changed"]++;
    else counts[tag === names[KEEP] ? "right" : "others"]++;
  }
  return counts;
}

/* All examples with these ids that the run has, over all epochs. */
async function rowsOf(source, run, ids) {
  const rows = [];
  for (;;) {
    const answer = await source.rows({ run }, { run, filters: { id: { in: ids } } }, { sort: "id", from: rows.length, most: PAGE });
    rows.push(...answer.rows);
    if (answer.rows.length === 0 || rows.length >= answer.count) return rows;
  }
}

/* {text, written, missing}: the file; how many examples it has; how many the run does not have. */
export async function makeCorrections(source, { tags, view }, classes) {
  const ids = [...idsWith(tags, tags.names[WRONG]), ...idsWith(tags, tags.names[KEEP])];
  const rows = ids.length > 0 ? await rowsOf(source, view.run, ids) : [];
  const fields = view.fields.filter((name) => !COLUMNS.includes(name));
  const lines = [[...COLUMNS, ...fields].map(field).join("\t")];
  for (const example of rows) {
    const { tag, label } = tags.of.get(String(example.id));
    const isWrong = tag === tags.names[WRONG];
    if (isWrong && label === null && classes.includes(DROP)) continue; /* it would mean the class of that name */
    const said = isWrong ? label ?? DROP : "";
    lines.push([example.id, labelOf(example), said, ...fields.map((name) => example.text?.[name])].map(field).join("\t"));
  }
  return { text: lines.join("\n") + "\n", written: lines.length - 1, missing: ids.length - lines.length + 1 };
}
