/*
 * label_filter.js: chooses the gold labels to show. Each of the largest labels has a box of its own. All other labels share one box,
 * and examples without a label have another.
 */
import { element, refill } from "./dom.js";
import { withFilter } from "./filter_rows.js";

class LabelFilter {
  #boxes = []; /* [{input, values()}]; values() promises the values that the filter lets through when the box is ticked */
  #asked = 0;

  constructor({ state, source, loader }) {
    Object.assign(this, { state, source, loader });
    this.list = element("fieldset", { class: "labels" });
    this.problem = element("p", { class: "hint", role: "status" });
    state.subscribe(["view", "filters"], () => this.#show());
  }

  /* With all boxes ticked there is no filter. */
  async #change() {
    const asked = ++this.#asked;
    const ticked = this.#boxes.filter(({ input }) => input.checked);
    const isAll = ticked.length === this.#boxes.length;
    this.problem.textContent = "";
    try {
      const values = isAll ? null : await Promise.all(ticked.map((box) => box.values()));
      if (asked !== this.#asked) return; /* meanwhile another box was changed, whose own call asks for all boxes */
      this.state.set({ filters: withFilter(this.state.filters, "gold", values && { in: values.flat() }) });
    } catch (error) {
      this.problem.textContent = error.message;
      this.#show();
    }
  }

  /* The numbers of all labels but these. */
  async #labelsBeside(large) {
    const { run, epochs } = this.loader.at();
    const { name } = this.state.view.columns[0];
    const nothing = { run, epochs: epochs || undefined, x: name, y: name, parts: [] }; /* groups are listed with the counts of all examples, so an empty selection is enough */
    const { groups } = await (await this.source.select(run, nothing, "groups", { column: "gold", epochs })).json();
    const known = new Set(large.map(({ value }) => value));
    return groups.map(({ value }) => value).filter((value) => !known.has(value));
  }

  #box(key, name, checked, values) {
    const input = element("input", { type: "checkbox", value: JSON.stringify(key), "data-key": key, checked, onchange: () => this.#change() });
    this.#boxes.push({ input, values });
    return element("label", {}, input, " ", name);
  }

  #show() {
    const { view, filters } = this.state;
    const labels = view?.gold?.values ?? [];
    const large = labels.filter(({ value }) => value !== null);
    const wanted = filters.gold?.in;
    const isLarge = (wish) => large.some(({ label, value }) => wish === value || wish === label);
    const others = wanted?.filter((wish) => wish !== null && !isLarge(wish)) ?? [];
    this.#boxes = [];
    const boxes = large.map(({ label, value }) =>
      this.#box(value, element("bdi", {}, label), !wanted || wanted.includes(value) || wanted.includes(label), async () => [value]));
    if (labels.length > large.length)
      boxes.push(this.#box("others", element("i", {}, "all others"), !wanted || others.length > 0, async () => (others.length > 0 ? others : this.#labelsBeside(large))));
    if (labels.length > 0 && labels.reduce((sum, { count }) => sum + count, 0) < view.points)
      boxes.push(this.#box("none", element("i", {}, "no label"), !wanted || wanted.includes(null), async () => [null]));
    this.list.hidden = boxes.length < 2;
    refill(this.list, element("legend", {}, "Gold label"), ...boxes);
  }
}

export function labelFilter(parts) {
  const { list, problem } = new LabelFilter(parts);
  return element("div", {}, list, problem);
}
