/*
 * saved_colour.js: colours points by the saved selections that hold them. The page itself paints, from masks, as the source
 * knows no saved selections.
 */
import { OTHERS } from "./palette.js";
import { visitPlaces } from "./saved_masks.js";

const NONE = 255;
const SEVERAL = 0; /* comes first, so that its colour stays when more selections are saved */

/* The number of a saved selection's colour, by its position. Those beyond the last colour share one. */
export const savedRank = (i) => Math.min(i + 1, OTHERS);

/* By place, the number of a colour. A selection whose mask is not there has no examples. */
function colourPlaces(masks, n) {
  const colours = new Uint8Array(n).fill(NONE);
  for (const [i, mask] of masks.entries())
    if (mask.bits)
      visitPlaces(mask, (place) => {
        colours[place] = colours[place] === NONE ? savedRank(i) : SEVERAL;
      });
  return colours;
}

/* As api/legend answers. The counts add up to all examples of the view. */
function legendOf(saved, colours) {
  const counts = new Uint32Array(NONE + 1);
  for (const colour of colours) counts[colour]++;
  const own = saved.map(({ name }, i) => [savedRank(i), name]).filter(([rank]) => rank !== OTHERS);
  const entries = [[SEVERAL, "in several"], ...own, ...(own.length < saved.length ? [[OTHERS, "in one of the others"]] : [])];
  return { name: "saved", kind: "category", none: counts[NONE], values: entries.map(([rank, label]) => ({ label, value: null, count: counts[rank] })) };
}

/* Points as the loader has them, painted. */
export function paintSaved(points, view, saved, masks) {
  const colours = colourPlaces(masks, view.points);
  const bytes = points.bytes.slice(0);
  const painted = new Uint8Array(bytes, 4 * points.n, points.n);
  for (let i = 0; i < points.n; i++) painted[i] = colours[points.places ? points.places[i] : i];
  return { ...points, bytes, colour: "saved", legend: legendOf(saved, colours) };
}
