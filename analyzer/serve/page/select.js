/* select.js: says how many examples are selected, and takes a box as numbers, for people who use no pointer. */
import { aboutOf, nameOf } from "./about.js";
import { button, count, element, fillSelect, mark } from "./dom.js";
import { showPanel } from "./layout.js";
import { addPart, canInvert, clearSelection, invertSelection } from "./parts.js";
import { boxPolygon, isElsewhen, isSelecting, sayEpochs } from "./selection.js";
import { same } from "./state.js";

/* The number of selected examples, in words. */
function describe({ selected, view }) {
  if (!selected) return "Nothing is selected.";
  const all = selected.all ?? selected.count;
  const share = view.points > 0 && all === selected.count ? ` (${((100 * all) / view.points).toFixed(1)} %)` : "";
  return `${count(all)} selected${share}`;
}

/* A selection keeps the epochs at which it was made. This line names them while the map shows others. */
function showEpochsOf(state) {
  const text = element("span");
  const back = button("", () => state.set({ epochs: state.selection.epochs }));
  const box = element("div", { class: "elsewhen", role: "status" }, text, " ", back);
  state.subscribe(["selected", "view", "selection"], () => {
    const { selected, view } = state;
    box.hidden = !selected?.own || !isElsewhen(state);
    if (box.hidden) return;
    const [own, shown] = [sayEpochs(selected.own.epochs), sayEpochs(view.epochs)];
    const lacking = selected.all - selected.count;
    const missing = lacking > 0 ? ` ${count(lacking)} of them were not observed in ${shown}.` : "";
    text.textContent = `The selection was made at ${own} and keeps its examples; the map shows ${shown}.${missing}`;
    back.textContent = `Show ${own}`;
  });
  box.hidden = true;
  return box;
}

/* A line about a selection that was dropped, until there is another one. */
function showLost(state) {
  const text = element("p", { role: "status", hidden: true }, "The run was recorded anew. What was selected before was of its old data: the selection is gone.");
  state.subscribe(["isLost", "selection"], () => {
    if (state.isLost && isSelecting(state)) state.set({ isLost: false });
    text.hidden = !state.isLost;
  });
  return text;
}

/* A line about a selection of so many ids that the address cannot have it. */
function showLeftOut(state) {
  const text = element("p", { role: "status", class: "trouble", hidden: true }, "This selection is too long for the page's address: a link, or loading this page again, would lose it. Export it to keep it.");
  state.subscribe(["leftOut"], () => {
    text.hidden = !state.leftOut.includes("selection");
  });
  return text;
}

/* A field for an edge of a box: a number, or one of the names of an axis of categories. */
function edgeField(axis, end, { kind, values }) {
  const name = `${axis} ${end}`;
  if (kind !== "category") return element("input", { type: "number", step: "any", "aria-label": name, placeholder: end });
  const select = element("select", { "aria-label": name });
  fillSelect(select, [["", end], ...(values ?? []).map(({ label, value }) => [String(value), label])], "");
  return select;
}

/* Four fields for the edges of a box, and buttons that select with it. */
function showNumbers(state) {
  const sides = { x: element("fieldset"), y: element("fieldset") };
  const fields = {};
  const shown = {};
  const value = (axis, end) => {
    const field = fields[axis][end];
    const { low, high } = state.points[axis];
    return field.value === "" ? [low, high][end] : Number(field.value);
  };
  const apply = (operation) => {
    if (!state.points) return;
    const box = [value("x", 0), value("x", 1), value("y", 0), value("y", 1)];
    addPart(state, state.points, boxPolygon(box), operation);
  };
  state.subscribe(["points"], () => {
    for (const axis of ["x", "y"]) {
      const column = state.points[axis];
      const key = [column.name, column.kind, column.values?.map(({ label }) => label)];
      if (same(shown[axis], key)) continue;
      shown[axis] = key;
      fields[axis] = ["from", "to"].map((end) => edgeField(axis, end, column));
      sides[axis].replaceChildren(element("legend", { title: aboutOf(state.view, column.name) }, nameOf(column.name)), fields[axis][0], " to ", fields[axis][1]);
    }
  });
  return element(
    "details",
    {},
    element("summary", {}, "Select by numbers"),
    sides.x,
    sides.y,
    element("div", { class: "tools" }, button("Select", () => apply("replace")), button("Add", () => apply("add")), button("Remove", () => apply("remove"))),
  );
}

export function showSelect(section, { state }) {
  const total = element("p", { class: "total", role: "status" });
  const clear = button("Clear", () => clearSelection(state));
  const invert = button("Invert", () => invertSelection(state));
  const save = button("Save as…", () => {
    showPanel(state, "saved");
    document.querySelector("#saved form input").focus();
  });
  section.append(
    element("h2", {}, "Selection"),
    total,
    element("div", { class: "tools" }, clear, invert, save),
    showEpochsOf(state),
    showLost(state),
    showLeftOut(state),
    element("p", { class: "hint" }, "Draw on the map, or brush its histograms. A click pins an example."),
    showNumbers(state),
  );
  const show = () => {
    const { selected, marks } = state;
    clear.disabled = save.disabled = !selected;
    invert.disabled = !selected || !canInvert(state);
    total.textContent = describe(state);
    if (selected && marks) mark("selected");
  };
  state.subscribe(["selected", "view", "marks"], show);
  show();
}
