/* controls.js: which measures are on the axes, and what colours the points. */
import { aboutOf, describeSelect, wordsButton } from "./about.js";
import { element, fillSelect, words } from "./dom.js";
import { axesOf } from "./loader.js";

function measureChoices(view) {
  return view.columns.map(({ name, about }) => [name, words(name), about]);
}

function colourChoices({ view, saved, colour }) {
  const choices = [["none", "one colour"]];
  if (view.gold?.values.length > 0) choices.push(["gold", "gold label", aboutOf(view, "gold")]);
  if (saved.length > 0 || colour === "saved") choices.push(["saved", "saved selections"]);
  choices.push({ group: "Measures", choices: measureChoices(view) });
  if (view.data_columns.length > 0)
    choices.push({ group: "Your file's columns", choices: view.data_columns.map((name) => [`data:${name}`, name]) });
  return choices;
}

export function showControls(section, { state }) {
  const selects = {};
  const descriptions = [];
  for (const [key, label] of [["x", "Across (x)"], ["y", "Up (y)"], ["colour", "Colour"]]) {
    selects[key] = element("select", {
      id: `choose-${key}`,
      onchange: () => state.set(key === "colour" ? { colour: selects[key].value } : { [key]: selects[key].value, box: null }),
    });
    descriptions.push(describeSelect(selects[key], state));
    section.append(element("label", {}, `${label} `, selects[key]), descriptions.at(-1).text);
  }
  section.append(wordsButton(state));
  state.subscribe(["view", "x", "y", "colour", "saved"], () => {
    if (!state.view) return;
    const axes = axesOf(state, state.view);
    fillSelect(selects.x, measureChoices(state.view), axes.x);
    fillSelect(selects.y, measureChoices(state.view), axes.y);
    fillSelect(selects.colour, colourChoices(state), axes.colour);
    for (const { follow } of descriptions) follow();
  });
}
