/* tools.js: buttons for the effect of dragging on the map, and for its effect on the selection. */
import { button, element, fillSelect } from "./dom.js";

const TOOLS = [
  ["lasso", "Lasso", "Draw around points"],
  ["box", "Box", "Draw a rectangle"],
  ["pan", "Move", "Move the map; the wheel zooms with every tool"],
];

const OPERATIONS = [
  ["replace", "selects anew"],
  ["add", "adds (Shift)"],
  ["remove", "removes (Alt)"],
];

export function showTools(section, { state }) {
  const buttons = TOOLS.map(([tool, text, title]) => [tool, button(text, () => state.set({ tool }), { title })]);
  const show = () => {
    for (const [tool, made] of buttons) made.setAttribute("aria-pressed", String(state.tool === tool));
  };
  const operation = element("select", { "aria-label": "What drawing does", onchange: () => state.set({ operation: operation.value }) });
  fillSelect(operation, OPERATIONS, state.operation);
  state.subscribe(["tool"], show);
  show();
  section.append(element("div", { class: "tools", role: "group", "aria-label": "Dragging on the map" }, ...buttons.map(([, made]) => made), operation));
}
