/* regions.js: the number of examples in each region, live while the cuts are moved. A button selects a region. */
import { isOfLosses } from "./columns.js";
import { button, count, element } from "./dom.js";
import { boxPolygon, countRegions, cutsOf, regionBox, REGIONS } from "./selection.js";
import { addPart, operationOf } from "./parts.js";

const AXES = { x: { name: "variability" }, y: { name: "confidence" } };

export function showRegions(section, { state, source, loader }) {
  const cells = {};
  const rows = REGIONS.map((region) => {
    cells[region] = element("td", { class: "count" });
    const choose = (event) => addPart(state, AXES, boxPolygon(regionBox(region, cutsOf(state))), operationOf(event, state));
    return element("tr", {}, element("th", { scope: "row" }, region), cells[region], element("td", {}, button("Select", choose, { "aria-label": `Select ${region}` })));
  });
  const field = (measure) => {
    const input = element("input", { type: "number", min: 0, max: 1, step: "any" });
    input.addEventListener("change", () => {
      if (input.value !== "" && input.checkValidity()) state.set({ cuts: { ...cutsOf(state), [measure]: Number(input.value) } });
    });
    return input;
  };
  const fields = { variability: field("variability"), confidence: field("confidence") };
  const reset = button("Default cuts", () => state.set({ cuts: null }));
  section.append(
    element("h2", {}, "Regions"),
    element("table", {}, element("tbody", {}, ...rows)),
    element(
      "div",
      { class: "fields" },
      element("label", {}, "ambiguous from ", fields.variability),
      element("label", {}, "easy from ", fields.confidence),
      reset,
    ),
    element("p", { class: "hint" }, "Drag the handle at a line's end to move it, or focus it and press an arrow key."),
  );

  /* Asks one question at a time, and then the newest. */
  let asking = false;
  let again = false;
  const ask = async () => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    do {
      again = false;
      try {
        const counts = await countRegions(source, loader.at(), cutsOf(state), state.filters);
        state.set({ regionCounts: counts });
      } catch {
        /* The view has gone: the next view asks again. */
      }
    } while (again);
    asking = false;
  };

  const show = () => {
    if (!state.view || state.view.run !== state.run) return;
    section.hidden = isOfLosses(state.view);
    if (section.hidden) {
      state.set({ regionCounts: null });
      return;
    }
    const cuts = cutsOf(state);
    reset.hidden = !state.cuts;
    for (const [measure, input] of Object.entries(fields))
      if (document.activeElement !== input) input.value = Number(cuts[measure].toPrecision(4));
    ask();
  };
  state.subscribe(["view", "cuts", "filters"], show);
  state.subscribe(["regionCounts"], () => {
    for (const region of REGIONS) cells[region].textContent = state.regionCounts ? count(state.regionCounts[region]) : "";
  });
}
