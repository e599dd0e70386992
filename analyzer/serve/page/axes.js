/* axes.js: keeps a map's axes wide enough for what else is to be shown on them, so that they stay where they are. */

/* Both maps, which show the same measures, show the same part of them. */
export function alignAxes(a, b) {
  const known = ({ frame, state: { points, view } }) => [points.x, points.y].map((column) => frame.known(view.run, column));
  widenAxes(a, known(b));
  widenAxes(b, known(a));
}

/* What no measure of a run's epochs, whichever, goes beyond. el2n: the distance of two distributions over classes. */
const BOUNDS = {
  variability: [0, 0.5],
  threshold_closeness: [0, 0.25],
  aleatoric: [0, 0.25],
  el2n: [0, Math.SQRT2],
};
/* Those whose values are epochs of the run. */
const IN_EPOCHS = ["first_learned", "always_right_after", "always_wrong_after"];

function boundsOf(name, { all_epochs: all }) {
  if (IN_EPOCHS.includes(name) && all.length > 0) return [all[0], all[all.length - 1]];
  return name === "epochs" ? [1, Math.max(1, all.length)] : BOUNDS[name];
}

/*
 * Epochs are about to be changed: axes of measures that have bounds show all within them, so that they need not move later.
 * Of the others, what was seen before stays in view (frame.js): the first time that epochs are gone through, they may widen.
 */
export function widenForEpochs(map) {
  const { points, view } = map.state;
  if (!points || !view) return;
  const bounded = [points.x, points.y].map(({ name }) => [name, boundsOf(name, view)]).filter(([, bounds]) => bounds);
  widenAxes(map, bounded.map(([name, [low, high]]) => ({ name, low, high })));
}

/* columns: [{name, low, high}]. The map's axes, if they are of these measures, show at least low to high from now on. */
export function widenAxes(map, columns) {
  const { points, view, box } = map.state;
  if (!points || !view) return;
  const wide = (axis) => columns.find(({ name }) => name === points[axis].name) ?? points[axis];
  map.frame.follow(view.run, { x: wide("x"), y: wide("y") }, box);
  map.frame.follow(view.run, points, box);
  map.draw();
}
