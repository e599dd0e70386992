/* file_axes.js: what the page can make an axis of, from the file's examples, as GET api/axis answers. */

const VALUES_MOST = 2000; /* so many categories are listed: the largest */

/* The smallest magnitude above 0; null: there is none. */
function leastOf(values) {
  let least = Infinity;
  for (const value of values) {
    const magnitude = Math.abs(value);
    if (magnitude > 0 && magnitude < least) least = magnitude;
  }
  return least < Infinity ? least : null;
}

function extentOf(values) {
  const [low, high] = d3.extent(values.filter((value) => !Number.isNaN(value)));
  return { low: low ?? 0, high: high ?? 0 };
}

/* {values, more}: the categories that occur, by ascending value. */
function valuesOf({ numbers, label }, values) {
  const found = new Map();
  numbers.forEach((number, place) => {
    const one = found.get(number) ?? { label: label(number), value: values[place], count: 0 };
    one.count++;
    if (number >= 0) found.set(number, one);
  });
  const largest = [...found.values()].sort((a, b) => b.count - a.count || a.value - b.value).slice(0, VALUES_MOST);
  return { values: largest.sort((a, b) => a.value - b.value), more: found.size - largest.length };
}

/* `measure`: the column as api/view has it, if it is a measure. */
export function axisOf(examples, name, measure) {
  const values = examples.column(name);
  const none = values.reduce((count, value) => count + (Number.isNaN(value) ? 1 : 0), 0);
  const { low, high } = measure ?? extentOf(values);
  if (examples.isCategory(name)) {
    return { name, kind: "category", integer: true, none, low, high, least: null, ...valuesOf(examples.categories(name), values) };
  }
  const integer = measure ? measure.integer : values.every((value) => Number.isNaN(value) || Number.isInteger(value));
  return { name, kind: "number", integer, none, low, high, least: leastOf(values) };
}
