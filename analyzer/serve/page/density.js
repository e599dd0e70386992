/*
 * density.js: a picture of how many examples lie where, on a 2D canvas. It stands behind a sample of points, and replaces
 * the points in a browser without WebGL2.
 */
import { coordinates, DRAWN, SELECTED } from "./marks.js";
import { plainColour, unselectedColour } from "./palette.js";

const CELLS = 256;

/* The more examples a cell has, the less transparent it is, on a logarithmic scale. null: no cell has any. */
function picture(counts, columns, rows, colour) {
  const image = new ImageData(columns, rows);
  let most = 0;
  for (const count of counts) if (count > most) most = count;
  if (most === 0) return null;
  const { r, g, b } = d3.color(colour).rgb();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const count = counts[(rows - 1 - row) * columns + column];
      const share = count === 0 ? 0 : 0.25 + (0.75 * Math.log1p(count)) / Math.log1p(most);
      image.data.set([r, g, b, 255 * share], 4 * (row * columns + column));
    }
  }
  const canvas = new OffscreenCanvas(columns, rows);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/* Counts by cell, {rest, selected}, of the points in a box; its edges are in the points' own units, 0 … 65534. */
function countCells(points, flags, [left, right, low, high]) {
  const { x, y } = coordinates(points);
  const rest = new Uint32Array(CELLS * CELLS);
  const selected = new Uint32Array(CELLS * CELLS);
  const [perX, perY] = [CELLS / (right - left), CELLS / (high - low)];
  for (let i = 0; i < points.n; i++) {
    const column = Math.floor((x[i] - left) * perX);
    const row = Math.floor((y[i] - low) * perY);
    if (!(flags[i] & DRAWN) || column < 0 || column >= CELLS || row < 0 || row >= CELLS) continue;
    (flags[i] & SELECTED ? selected : rest)[row * CELLS + column]++;
  }
  return { rest, selected };
}

export class Density {
  constructor(canvas, state) {
    Object.assign(this, { canvas, state });
  }

  draw({ frame, renderer }) {
    const { points, marks, shown, selected } = this.state;
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (points.density && !shown) {
      const { counts, columns, rows, box } = points.density;
      context.globalAlpha = renderer.works ? 0.4 : 1;
      this.#paint(context, frame, picture(counts, columns, rows, selected ? unselectedColour() : plainColour()), box);
      context.globalAlpha = 1;
    }
    if (renderer.works) return;
    const cells = countCells(points, marks.flags, frame.boxInSteps());
    this.#paint(context, frame, picture(cells.rest, CELLS, CELLS, selected ? unselectedColour() : plainColour()), frame.box);
    this.#paint(context, frame, picture(cells.selected, CELLS, CELLS, plainColour()), frame.box);
  }

  /* The box is that of the picture, in the measures' units. */
  #paint(context, frame, cells, [left, right, low, high]) {
    if (!cells) return;
    const dense = this.canvas.width / frame.width;
    const [x0, x1, y0, y1] = [frame.x(left), frame.x(right), frame.y(low), frame.y(high)].map((pixels) => pixels * dense);
    context.drawImage(cells, x0, y1, x1 - x0, y0 - y1);
  }
}
