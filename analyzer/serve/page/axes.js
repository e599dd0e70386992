/* axes.js: keeps a map's axes wide enough for the pictures that follow, so that the axes need not move. */
import { boundsOf } from "./columns.js";

/* Both maps, which show the same columns, show the same part of them. */
export function alignAxes(a, b) {
  const known = ({ parts, state: { points, view } }) => [points.x, points.y].map((column) => ({ ...column, ...parts.loader.ranges.of(view.run, column) }));
  const ofA = known(a);
  widenAxes(a, known(b));
  widenAxes(b, ofA);
}

/*
 * Called before epochs change. The axis of a measure with bounds shows everything between them, so it need not move later.
 * The axis of any other measure keeps in view what it has shown (ranges.js), and so does a logarithmic one, on which most bounds
 * would be far away; it may widen while epochs are played the first time.
 */
export function widenForEpochs(map) {
  const { points, view } = map.state;
  if (!points || !view) return;
  const bounded = [points.x, points.y].filter(({ name, scale }) => scale !== "log" && boundsOf(name, view));
  widenAxes(map, bounded.map((column) => {
    const [low, high] = boundsOf(column.name, view);
    return { ...column, low, high, usual: [low, high] };
  }));
}

/* Axes of these columns show at least these ranges from now on. */
function widenAxes(map, columns) {
  const { points, view, box } = map.state;
  if (!points || !view) return;
  const { ranges } = map.parts.loader;
  const isShown = ({ name, scale }) => [points.x, points.y].some((shown) => shown.name === name && shown.scale === scale);
  const isWider = columns.filter(isShown).map((column) => ranges.widen(view.run, column)).includes(true);
  if (!isWider) return;
  map.frame.follow(view.run, points, box);
  map.draw();
  map.parts.loader.follow();
}
