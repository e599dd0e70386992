/* file_rows.js: a selection as a table in pages: searched, sorted, and then cut, as in select_rows.c. */
import { SourceError } from "./source.js";
import { finderOf, placesOf } from "./file_within.js";

/* The place of each example in the list of ids by which the selection filters. */
function listedValues(examples, list) {
  if (!list) throw new SourceError(400, "sort=listed: the selection has no filter with a list of ids");
  const values = new Float64Array(examples.n).fill(NaN);
  list.forEach((id, i) => {
    const place = examples.placeOf(String(id));
    if (place >= 0 && Number.isNaN(values[place])) values[place] = i;
  });
  return values;
}

/* The values to sort by; null: the ids. NaN is no value. */
function valuesOf(examples, sort, selection) {
  if (!sort || sort === "id") return null;
  return sort === "listed" ? listedValues(examples, selection.filters?.id?.in) : examples.column(sort);
}

/* Examples without a value last, equal ones by ascending id. Places ascend as ids do. */
function sortPlaces(places, values, isDescending) {
  if (!values) return isDescending ? places.reverse() : places;
  const compare = (a, b) => {
    const [first, second] = [values[a], values[b]];
    if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second) || a - b;
    return (isDescending ? second - first : first - second) || a - b;
  };
  return places.sort(compare);
}

/* {count, from, searched, complete, rows}: with `around`, a place, the page that has it. `kept`: the examples of the selection. */
export function rowsOf(examples, kept, selection, { sort, descending, from = 0, most = 100, q, around }) {
  const all = placesOf(kept);
  const found = q ? all.filter(finderOf(examples, q)) : all;
  const places = sortPlaces(found, valuesOf(examples, sort, selection), Number(descending) === 1);
  const size = Number(most);
  const row = around === undefined ? -1 : places.indexOf(Number(around));
  const first = row < 0 ? Number(from) : row - (row % size);
  const rows = places.slice(first, first + size).map((place) => examples.example(place));
  return { count: places.length, from: first, searched: all.length, complete: true, rows };
}
