/*
 * saved_compare.js: how the saved selections that are ticked overlap, and buttons that select what they share, what one alone has,
 * or what any has.
 */
import { button, count, element } from "./dom.js";
import { compareMasks, idsOf, joinParts, onlyOf, overlapOf, selectionOfIds, unionOf, unionParts } from "./saved_masks.js";
import { toSelect } from "./selection.js";

/* What is selected: an outline, if parts can say it, which then follows the run as it grows; else ids. */
async function selectionOf({ source, at, view }, picked, masks, outline, mask, heldBy) {
  if (outline) return outline;
  const held = heldBy.map((i) => ({ selection: picked[i].selection, mask: masks[i] }));
  const ids = (await idsOf(source, at, held, mask)).map(([, id]) => id);
  return selectionOfIds(view, ids);
}

class Compared {
  constructor({ state, source }) {
    Object.assign(this, { state, source });
    this.hint = element("p", { class: "hint" }, "Tick two selections or more to see how they overlap.");
    this.body = element("tbody");
    const heads = ["", "examples", "only here", "select"].map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text));
    this.table = element("table", {}, element("caption", { class: "unseen" }, "How the ticked selections overlap"), element("thead", {}, element("tr", {}, ...heads)), this.body);
    this.said = element("p");
    this.status = element("p", { role: "status", class: "hint" });
    this.element = element("div", { class: "compared" }, this.hint, this.table, this.said, this.status);
    this.show([], null);
  }

  /* known: {at, view, masks} of these selections, in a view that has all examples; null: they are not loaded yet, or one has none. */
  show(picked, known) {
    const isShown = picked.length > 1 && known !== null;
    this.hint.hidden = picked.length > 1;
    this.table.hidden = this.said.hidden = !isShown;
    this.status.textContent = "";
    if (!isShown) return;
    const { masks, view } = known;
    const { counts, only, all, any, chance } = compareMasks(masks, view.points);
    const selections = picked.map(({ selection }) => selection);
    const places = picked.map((_, i) => i);
    const select = (what, size, outline, mask, heldBy) =>
      button(what, () => this.#select({ source: this.source, ...known }, picked, outline(), mask, heldBy), { disabled: size === 0, "aria-label": `Select ${what}` });
    const rows = picked.map(({ name }, i) => {
      const others = selections.filter((_, other) => other !== i);
      const alone = select("only these", only[i], () => joinParts(selections[i], others, "remove"), () => onlyOf(masks, i), [i]);
      alone.setAttribute("aria-label", `Select only these: what ${name} has and no other`);
      return [element("bdi", {}, name), count(counts[i]), count(only[i]), alone];
    });
    const [both, either] = picked.length === 2 ? ["in both", "in either"] : ["in all", "in any"];
    rows.push([both, count(all), "", select("the overlap", all, () => null, () => overlapOf(masks), [0])]);
    rows.push([either, count(any), "", select("the union", any, () => unionParts(selections), () => unionOf(masks), places)]);
    this.body.replaceChildren(...rows.map(([head, ...cells]) => element("tr", {}, element("th", { scope: "row" }, head), ...cells.map((cell) => element("td", {}, cell)))));
    this.said.textContent = this.#say(all, any, chance);
  }

  #say(all, any, chance) {
    const jaccard = any > 0 ? `Jaccard index ${(all / any).toFixed(3)}. ` : "";
    const expected = chance >= 100 ? count(Math.round(chance)) : Number(chance.toPrecision(2));
    const times = chance > 0 ? ` (${(all / chance).toFixed(2)} × as many are)` : "";
    return `${jaccard}By chance, ${expected} examples would be in all of them${times}.`;
  }

  async #select(known, picked, outline, makeMask, heldBy) {
    try {
      const selection = await selectionOf(known, picked, known.masks, outline, outline ? null : makeMask(), heldBy);
      if (selection) this.state.set(toSelect(selection));
      else this.status.textContent = "These are too many examples to be selected by their ids. The table (.csv) has them.";
    } catch (error) {
      this.status.textContent = error.gone ? "The run has grown meanwhile. Try again." : error.message;
    }
  }
}

export const showCompared = (parts) => new Compared(parts);
