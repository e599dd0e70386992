/* parts.js: how the parts of a selection are added, removed and turned around. */

import { isElsewhen, NOTHING } from "./selection.js";
import { same } from "./state.js";

const BEYOND_ALL = 1e100; /* its square is still a number, as is decided exactly who is inside */

/* Shift adds, Alt removes; without a key, the choice in the tools decides. */
export const operationOf = (event, state) => (event?.altKey ? "remove" : event?.shiftKey ? "add" : state.operation);

/*
 * columns: {x, y}, as the points have them. All parts of a selection share one pair of measures and one range of epochs. On other
 * measures or epochs the selection begins anew, and also after a selection that has filters of its own.
 */
export function addPart(state, columns, polygon, operation) {
  const [x, y] = [columns.x.name, columns.y.name];
  const before = state.selection;
  const goesOn = operation !== "replace" && before.x === x && before.y === y && !before.filters && !isElsewhen(state);
  if (operation === "remove" && !goesOn) return;
  const part = { op: operation === "remove" ? "remove" : "add", polygon };
  const epochs = goesOn ? before.epochs : (state.view?.range ?? state.epochs);
  state.set({ selection: { x, y, parts: goesOn ? [...before.parts, part] : [part], epochs } });
}

/* Selects the examples that have no value of a column: these are in no polygon, so a filter of the selection's own names them. */
export function selectWithout(state, name) {
  state.set({ selection: { ...NOTHING, epochs: state.view?.range ?? state.epochs, filters: { [name]: { in: [null] } } } });
}

export const clearSelection = (state) => state.set({ selection: NOTHING });

/* Parts can be inverted, filters cannot. The bounds of everything are known only for the epochs that are shown. */
export const canInvert = (state) => state.selection.parts.length > 0 && !state.selection.filters && !isElsewhen(state);

/* From below to above all values of an axis: of a measure, also of those that are still to come. Of labels and columns of the user's
 * file the view does not say what values they have. null: there is no such axis. */
function boundsOfAll(view, name) {
  const column = view.columns.find((one) => one.name === name);
  if (!column) return name === "gold" || name.startsWith("data:") ? [-BEYOND_ALL, BEYOND_ALL] : null;
  const room = 1 + Math.abs(column.low) + Math.abs(column.high);
  return [column.low - room, column.high + room];
}

/* Selects all other examples: adds a part that holds everything, and inverts each part. */
export function invertSelection(state) {
  const { x, y, parts, epochs } = state.selection;
  if (!canInvert(state)) return;
  const sides = [x, y].flatMap((name) => boundsOfAll(state.view, name));
  if (sides.includes(null)) return;
  const [left, right, low, high] = sides;
  const everything = { op: "add", polygon: [[left, low], [right, low], [right, high], [left, high]] };
  const contrary = parts.map(({ op, polygon }) => ({ op: op === "add" ? "remove" : "add", polygon }));
  const [first, ...rest] = contrary;
  const isUndone = same(first?.polygon, everything.polygon) && first.op === "remove";
  state.set({ selection: { x, y, parts: isUndone ? rest : [everything, ...contrary], epochs } });
}
