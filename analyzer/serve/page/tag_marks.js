/* tag_marks.js: how a tag is seen: a badge on a card, and the cell of the table with the label that an example should have. */
import { element } from "./dom.js";
import { KEEP, WRONG } from "./tags.js";

const KINDS = { [WRONG]: "wrong", [KEEP]: "keep" };

const kindOf = ({ names }, { tag }) => KINDS[names.indexOf(tag)] ?? "other";

function badge(tags, said) {
  const number = tags.names.indexOf(said.tag);
  return element("span", { class: `tag ${kindOf(tags, said)}` }, number < 0 ? "" : element("b", {}, String(number + 1)), " ", element("bdi", {}, said.tag));
}

/* The badge of an example, with the label that it should have; null: it has no tag. */
export function tagOf({ tags }, id) {
  const said = tags?.of.get(String(id));
  return said ? element("p", { class: "tag-line" }, badge(tags, said), said.label === null ? "" : " → ", said.label === null ? null : element("bdi", {}, said.label)) : null;
}

/*
 * Fills the cell of an example. If the example has the tag of a wrong label, the cell has a field for the right one:
 * onLabel(text, field) hears what was typed.
 */
export function fillTagCell(cell, tags, id, onLabel) {
  const said = tags.of.get(id) ?? null;
  const key = JSON.stringify([said, tags.names]);
  if (cell.dataset.shown === key) return;
  cell.dataset.shown = key;
  if (!said) {
    cell.replaceChildren();
    return;
  }
  if (tags.isLoss || kindOf(tags, said) !== "wrong") {
    cell.replaceChildren(tagOf({ tags }, id));
    return;
  }
  const field = element("input", { type: "text", class: "new-label", list: "tag-classes", value: said.label ?? "", placeholder: "right label?", "aria-label": `The right label of ${id}`, tabindex: -1, autocomplete: "off" });
  field.addEventListener("change", () => onLabel(field.value, field));
  field.addEventListener("keydown", (event) => {
    if (!["Enter", "Escape"].includes(event.key)) return;
    event.stopPropagation();
    if (event.key === "Escape") field.value = said.label ?? "";
    field.setCustomValidity("");
    cell.closest("tr").focus({ preventScroll: true }); /* which tells of a change */
  });
  cell.replaceChildren(badge(tags, said), field);
}
