/* axes.js: keeps a map's axes wide enough for the pictures that follow, so that the axes need not move. */

/* Both maps, which show the same measures, show the same part of them. */
export function alignAxes(a, b) {
  const known = ({ frame, state: { points, view } }) => [points.x, points.y].map((column) => frame.known(view.run, column));
  widenAxes(a, known(b));
  widenAxes(b, known(a));
}

/* The bounds of measures, over any epochs. el2n is the distance of two distributions over classes. */
const BOUNDS = {
  variability: [0, 0.5],
  threshold_closeness: [0, 0.25],
  aleatoric: [0, 0.25],
  el2n: [0, Math.SQRT2],
};
/* Measures whose values are epochs of the run. */
const IN_EPOCHS = ["first_learned", "always_right_after", "always_wrong_after"];

function boundsOf(name, { all_epochs: all }) {
  if (IN_EPOCHS.includes(name) && all.length > 0) return [all[0], all[all.length - 1]];
  return name === "epochs" ? [1, Math.max(1, all.length)] : BOUNDS[name];
}

/*
 * Called before epochs change. The axis of a measure with bounds shows everything between them, so it need not move later.
 * The axis of any other measure keeps in view what it has shown (frame.js); it may widen while epochs are played the first time.
 */
export function widenForEpochs(map) {
  const { points, view } = map.state;
  if (!points || !view) return;
  const bounded = [points.x, points.y].map(({ name }) => [name, boundsOf(name, view)]).filter(([, bounds]) => bounds);
  widenAxes(map, bounded.map(([name, [low, high]]) => ({ name, low, high })));
}

/* columns: [{name, low, high}]. Axes of these measures show at least low to high from now on. */
export function widenAxes(map, columns) {
  const { points, view, box } = map.state;
  if (!points || !view) return;
  const wide = (axis) => columns.find(({ name }) => name === points[axis].name) ?? points[axis];
  map.frame.follow(view.run, { x: wide("x"), y: wide("y") }, box);
  map.frame.follow(view.run, points, box);
  map.draw();
}
