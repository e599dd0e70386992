/* parts.js: how the parts of a selection are added, removed and turned around. */

import { isElsewhen, NOTHING } from "./selection.js";
import { same } from "./state.js";

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

export const clearSelection = (state) => state.set({ selection: NOTHING });

/* Parts can be inverted, filters cannot. The bounds of everything are known only for the epochs that are shown. */
export const canInvert = (state) => state.selection.parts.length > 0 && !state.selection.filters && !isElsewhen(state);

/* Selects all other examples: adds a part that holds everything, and inverts each part. */
export function invertSelection(state) {
  const { x, y, parts, epochs } = state.selection;
  const columns = [x, y].map((name) => state.view?.columns.find((column) => column.name === name));
  if (!canInvert(state) || columns.includes(undefined)) return;
  const sides = columns.flatMap(({ low, high }) => {
    const room = 1 + Math.abs(low) + Math.abs(high); /* for values that are still to come, too */
    return [low - room, high + room];
  });
  const [left, right, low, high] = sides;
  const everything = { op: "add", polygon: [[left, low], [right, low], [right, high], [left, high]] };
  const contrary = parts.map(({ op, polygon }) => ({ op: op === "add" ? "remove" : "add", polygon }));
  const [first, ...rest] = contrary;
  const isUndone = same(first?.polygon, everything.polygon) && first.op === "remove";
  state.set({ selection: { x, y, parts: isUndone ? rest : [everything, ...contrary], epochs } });
}
