/*
 * twin.js: a second state, loader and map. They share axes, colours, zoom, filters, tool, pins and saved selections with the first ones, and
 * have a run, epochs and a selection of their own.
 */
import { isOfLosses } from "./columns.js";
import { createLoader } from "./loader.js";
import { showMap } from "./map.js";
import { countRegions, cutsOf } from "./selection.js";
import { createState } from "./state.js";

const SHARED = ["x", "y", "xScale", "yScale", "colour", "colourScale", "picked", "pile", "bars", "filters", "tool", "cuts", "box", "pinned", "saved", "contours"];

/* The values of the shared keys. */
export const sharedOf = (state) => Object.fromEntries(SHARED.map((key) => [key, state[key]]));

/* A source that rests while no second run is shown, so that nothing asks whether the run has grown. */
const restable = (source, isAwake) =>
  Object.create(source, {
    live: { get: () => source.live && isAwake() },
    view: { value: async (run, ...more) => (run ? source.view(run, ...more) : null) },
  });

/* Counts the regions of the second map, as regions.js does for the first one. */
function followRegions({ state, source, loader }) {
  let ticket = 0;
  state.subscribe(["view", "cuts", "filters"], async () => {
    const mine = ++ticket;
    if (!state.view || isOfLosses(state.view)) return;
    const counts = await countRegions(source, loader.at(), cutsOf(state), state.filters).catch(() => null);
    if (mine === ticket) state.set({ regionCounts: counts });
  });
}

/* {state, loader, map}. isAwake(): is the second run shown? */
export function createTwin(section, { state, source }, isAwake) {
  const twin = createState();
  const own = restable(source, isAwake);
  const loader = createLoader(twin, own);
  const parts = { state: twin, source: own, loader };
  const map = showMap(section, parts);
  followRegions(parts);
  const share = (from, to) =>
    from.subscribe(SHARED, (changed) => {
      if (isAwake()) to.set(Object.fromEntries(SHARED.filter((key) => changed.has(key)).map((key) => [key, from[key]])));
    });
  share(state, twin);
  share(twin, state);
  return { state: twin, loader, map };
}
