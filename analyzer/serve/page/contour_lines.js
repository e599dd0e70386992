/*
 * contour_lines.js: counts points by cell, and finds lines of equal density: a line surrounds where at least so many points lie
 * on 10 × 10 pixels. The outermost line surrounds most of the points, and each next one stands for the same factor more.
 */
import { coordinates, DRAWN } from "./marks.js";

const AREA = 100; /* pixels, that levels count by */
const SHARE = 0.95; /* of the points in view: the outermost line surrounds at least so many */
const LINES_MOST = 6;
const FACTORS = [2, 5, 10, 100]; /* the least by which LINES_MOST lines reach the densest cell */

/* Cells of a box (in the axes' units), and around them an edge, from which counts are smoothed into the box. */
export function makeGrid(columns, rows, edge, box) {
  const [width, height] = [columns + 2 * edge, rows + 2 * edge];
  return { columns, rows, edge, box, width, height, counts: new Float64Array(width * height) };
}

/* steps: the grid's box in the points' own units. */
export function countPoints(grid, points, flags, [left, right, low, high]) {
  const { x, y } = coordinates(points);
  const { edge, width, height, counts } = grid;
  const [perX, perY] = [grid.columns / (right - left), grid.rows / (high - low)];
  const weight = points.inside / points.n;
  for (let i = 0; i < points.n; i++) {
    const column = Math.floor((x[i] - left) * perX) + edge;
    const row = Math.floor((y[i] - low) * perY) + edge;
    if (flags[i] & DRAWN && column >= 0 && column < width && row >= 0 && row < height) counts[row * width + column] += weight;
  }
}

/* Puts counts of the box alone into the grid. Beyond the box they go on as they end; but nothing lies beyond all values of an axis. */
export function fillGrid(grid, counts, { x, y }) {
  const { columns, rows, edge, width, box } = grid;
  const [left, right] = [box[0] <= x.low, box[1] >= x.high];
  const [low, high] = [box[2] <= y.low, box[3] >= y.high];
  for (let i = 0; i < grid.counts.length; i++) {
    const [column, row] = [(i % width) - edge, Math.floor(i / width) - edge];
    const isBeyond = (left && column < 0) || (right && column >= columns) || (low && row < 0) || (high && row >= rows);
    grid.counts[i] = isBeyond ? 0 : counts[Math.min(rows - 1, Math.max(0, row)) * columns + Math.min(columns - 1, Math.max(0, column))];
  }
}

/* The counts without the edge. */
export function insideOf({ counts, columns, rows, edge, width }) {
  const inside = new Float64Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    const from = (row + edge) * width + edge;
    inside.set(counts.subarray(from, from + columns), row * columns);
  }
  return inside;
}

/* The greatest of 1, 2, 5, 10, 20, … and 0.5, 0.2, … that is not above a value. */
function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([5, 2, 1].find((digit) => digit * power <= value) ?? 1) * power;
}

/* values: smoothed counts by cell; `per` of them make a level's unit. The levels, from the outermost line to the innermost one. */
function chooseLevels(values, per) {
  const sorted = Float64Array.from(values).sort();
  const total = d3.sum(sorted);
  let at = sorted.length - 1;
  for (let sum = sorted[at]; at > 0 && sum < SHARE * total; sum += sorted[at]) at--;
  const least = roundDown(sorted[at] * per);
  const most = sorted[sorted.length - 1] * per;
  const factor = FACTORS.find((one) => least * one ** LINES_MOST > most) ?? FACTORS[FACTORS.length - 1];
  const levels = Array.from({ length: LINES_MOST }, (_, i) => least * factor ** i).filter((level) => level <= most);
  return { levels, factor };
}

/* In cells of the grid, as SVG has it. */
const pathOf = ({ coordinates: polygons }) =>
  polygons.flat().map((ring) => `M${ring.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}Z`).join("");

/*
 * {levels, factor, share, examples, paths}: the lines of a grid, whose counts are smoothed. reach: how many cells on each
 * side, across and up, a count is averaged over, three times. area: pixels of a cell. Nothing in view: no lines.
 */
export function findLines(grid, reach, area) {
  const counts = insideOf(grid);
  const total = d3.sum(counts);
  if (total === 0) return { levels: [], factor: 1, share: 0, examples: 0, paths: [] };
  d3.blur2({ data: grid.counts, width: grid.width, height: grid.height }, ...reach);
  const smooth = insideOf(grid);
  const per = AREA / area;
  const { levels, factor } = chooseLevels(smooth, per);
  const share = d3.sum(counts, (count, i) => (smooth[i] * per >= levels[0] ? count : 0)) / total;
  const contours = d3.contours().size([grid.width, grid.height]).thresholds(levels.map((level) => level / per));
  return { levels, factor, share, examples: Math.round(total), paths: contours(grid.counts).map(pathOf) };
}
