/* axes.js: keeps a map's axes wide enough for what else is to be shown on them, so that they stay where they are. */

/* Both maps, which show the same measures, show the same part of them. */
export function alignAxes(a, b) {
  const known = ({ frame, state: { points, view } }) => [points.x, points.y].map((column) => frame.known(view.run, column));
  widenAxes(a, known(b));
  widenAxes(b, known(a));
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
