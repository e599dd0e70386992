/*
 * table.js: the table of the selection; without one, of all examples that pass the filters. The source sorts, searches and
 * pages. The example of the row under the pointer, or of the row that the keys have reached, is marked on the map. An example
 * pinned on the map is brought into view in the table.
 */
import { isOfLosses } from "./columns.js";
import { button, count, element, fillSelect, words } from "./dom.js";
import { chosenNow, everything, follow } from "./follow.js";
import { exampleRow, headRow, tableColumns } from "./rows.js";
import { selectionNow } from "./selection.js";
import { rankingNow } from "./suspects.js";
import { TagBar } from "./tag_bar.js";

const PAGE = 50;
const TYPING_MS = 250;
const help = (isLoss) => `Keys: J and K go to the next and previous row, 1–9 give a tag, 0 takes it away,${isLoss ? "" : " L sets the right label,"} U undoes; Enter pins, T shows a long text whole.`;
const MORE_HELP = "Down and Up go from row to row, too, and Page Down and Page Up from page to page. A row that is clicked shows all of its lines.";

const lastPage = (examples) => PAGE * Math.floor(Math.max(0, examples - 1) / PAGE);

class Table {
  #from = 0;
  #turning = 0; /* 1, −1: a step has led to the next or previous page, whose rows are under way; 0: none has */
  #around = null; /* the next page is the one that has this example */
  #opened = new Set(); /* keys of the texts that are shown whole */
  #made = new Map(); /* rows by their content: rows that have not changed stay */
  #known = []; /* ids that were pinned before */
  #pointed = null; /* the row whose point is marked on the map */

  constructor(section, parts) {
    const { state, source, loader } = parts;
    Object.assign(this, { section, parts, state, source, loader });
    state.define("sort", "id", true); /* a column; with "-" before it: descending */
    state.define("find", "", true); /* a text that ids or texts contain */
    state.define("columns", [], true); /* measures shown beside the usual ones */
    state.define("table", null); /* the answer of the source's rows(), with isSelection and filters of the question, and `at`, its view as text */
    this.#build();
    this.ask = follow(section, state, { load: () => this.#load(), fail: (text) => this.#fail(text) });
    let about = null;
    state.subscribe(["sort", "find", "selection", "filters", "run", "epochs"], () => {
      const now = JSON.stringify([state.sort, state.find, state.selection, state.filters, state.run, state.epochs]);
      if (now !== about) this.#from = 0;
      about = now;
    });
    state.subscribe(["sort", "find"], () => this.ask());
    state.subscribe(["view", "points", "columns", "table", "sort"], () => this.#show());
    state.subscribe(["example", "pinned", "table"], () => this.#mark());
    state.subscribe(["pinnedExamples"], () => this.#followPins());
  }

  #build() {
    const { state } = this;
    this.caption = element("caption");
    this.head = element("thead", { role: "rowgroup" });
    this.body = element("tbody", { role: "rowgroup" });
    this.table = element("table", { role: "table", class: "examples" }, this.caption, this.head, this.body);
    this.holder = element("div", { class: "table-holder" }, this.table);
    this.status = element("p", { role: "status", class: "drawn" });
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.tagging = new TagBar(this.parts, { body: this.body, current: () => (this.#turning === 0 ? this.#current() : null), step: (by) => this.#step(by), reveal: (id) => this.#goTo(id) });
    this.help = element("p", { class: "hint" });
    state.subscribe(["view"], () => {
      this.help.textContent = help(isOfLosses(state.view));
      this.help.title = `${this.help.textContent} ${MORE_HELP}`;
    });
    this.section.append(
      element("h2", {}, "Table"),
      element("div", { class: "below" }, this.#buildSearch(), this.#buildColumns()),
      this.tagging.bar,
      this.problem,
      this.holder,
      element("div", { class: "below" }, this.status, this.#buildPager()),
      this.help,
    );
    this.body.addEventListener("pointerover", ({ target }) => this.#point(target.closest("tr")));
    this.body.addEventListener("pointerleave", () => this.#point(null));
    this.body.addEventListener("focusin", ({ target }) => {
      this.#makeCurrent(target.closest("tr"));
      this.#point(target.closest("tr"));
    });
    this.body.addEventListener("focusout", ({ relatedTarget }) => this.body.contains(relatedTarget) || this.#point(null));
    this.body.addEventListener("click", ({ target }) => target.closest("button, a, input, audio") || target.closest("tr")?.classList.toggle("unfolded"));
    this.body.addEventListener("keydown", (event) => this.#key(event));
    /* Browsers leave a head that is half in view where it is. */
    this.head.addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" }));
    state.subscribe(["view"], () => this.#showReason());
  }

  #buildSearch() {
    const { state } = this;
    const input = element("input", { type: "search", id: "table-find", placeholder: "id or text", "aria-label": "Search the table's ids and texts", value: state.find });
    let waiting = 0;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => state.set({ find: input.value.trim() }), TYPING_MS);
    });
    state.subscribe(["find"], () => {
      if (document.activeElement !== input) input.value = state.find;
    });
    this.reason = element("span", { class: "hint" });
    return element("label", { class: "find" }, "Search ", input, " ", this.reason);
  }

  #buildColumns() {
    const { state } = this;
    const select = element("select", { "aria-label": "Show another measure" });
    select.addEventListener("change", () => state.set({ columns: [...state.columns, select.value] }));
    this.more = select;
    return select;
  }

  #buildPager() {
    const go = (from) => {
      this.#from = Math.max(0, from);
      this.ask();
    };
    const end = () => lastPage(this.state.table?.count ?? 0);
    this.pages = { first: button("First", () => go(0)), back: button("Back", () => go(this.#from - PAGE)), next: button("Next", () => go(this.#from + PAGE)), last: button("Last", () => go(end())) };
    this.turn = (pages) => go(Math.min(end(), this.#from + pages * PAGE));
    return element("div", { class: "tools", role: "group", "aria-label": "Pages of the table" }, ...Object.values(this.pages));
  }

  /* Says why there are no texts to read. */
  #showReason() {
    const { state, source } = this;
    const hasTexts = state.view && state.view.fields.length > 0;
    this.reason.textContent = !state.view || hasTexts ? "" : source.whyNot("texts") ?? "No texts, ids only: the server was started without --data and --text.";
  }

  async #load() {
    const { state, source, loader } = this;
    const at = loader.at();
    const isDescending = state.sort.startsWith("-");
    const wanted = state.sort.replace(/^-/, "");
    const sort = wanted === "gold" || (wanted === "listed" && rankingNow(state)) || state.view.columns.some(({ name }) => name === wanted) ? wanted : "id";
    const from = this.#from;
    const around = this.#around;
    this.#around = null;
    const isSelection = Boolean(selectionNow(state));
    const query = { sort, descending: isDescending ? 1 : undefined, from, most: PAGE, q: state.find, around: around?.place };
    const answer = await source.rows(at, chosenNow(state) ?? everything(state), query);
    const isTurned = this.#from !== from; /* the user turned the page meanwhile; the next question is under way */
    if (!isTurned) this.#from = answer.from;
    if (answer.rows.length === 0 && answer.count > 0 && !isTurned) {
      this.#from = lastPage(answer.count); /* there are fewer pages than before */
      this.ask();
      return;
    }
    state.set({ table: { ...answer, at: JSON.stringify(at), isSelection, filters: state.filters } });
    if (!isTurned && this.#turning !== 0) this.#endTurn();
    if (around) this.#reveal(around.id);
  }

  /* The row next to the one that the step came from has the focus, if that one had it. */
  #endTurn() {
    const rows = [...this.body.children];
    const row = this.#turning < 0 ? rows[rows.length - 1] : rows[0];
    this.#turning = 0;
    if (this.#rowWithFocus()) this.#focus(row);
    else if (row) this.#makeCurrent(row);
    this.tagging.show();
  }

  #fail(text) {
    if (text !== null && this.#turning !== 0) {
      this.#from = this.state.table.from;
      this.#turning = 0;
    }
    this.problem.hidden = text === null;
    this.problem.textContent = text ?? "";
  }

  #show() {
    const { state } = this;
    if (!state.table || !state.view || !state.points) return;
    const choice = { x: state.points.x.name, y: state.points.y.name, colour: state.points.colour, ranking: rankingNow(state), extra: state.columns, sortedBy: state.sort.replace(/^-/, "") };
    const columns = tableColumns(state.view, choice);
    const names = columns.measures.map(({ name }) => name);
    const shownBefore = JSON.stringify([columns.hasLabels, columns.hasTexts, names]);
    if (shownBefore !== this.shownColumns || columns.ranking !== this.shownRanking) this.#made.clear();
    this.shownColumns = shownBefore;
    this.shownRanking = columns.ranking;
    const sortFocus = document.activeElement?.dataset?.sort;
    this.head.replaceChildren(headRow(columns, state.sort, (sort) => state.set({ sort })));
    if (sortFocus) this.head.querySelector(`[data-sort="${CSS.escape(sortFocus)}"]`)?.focus();
    this.#showRows(columns);
    this.#showCounts();
    const others = state.view.columns.filter(({ name }) => !names.includes(name));
    fillSelect(this.more, [["", "more columns…"], ...others.map(({ name, about }) => [name, words(name), about])], "");
    this.more.hidden = others.length === 0;
  }

  /* A row whose content has not changed stays the same element, and so keeps its focus and marks. */
  #showRows(columns) {
    const { rows } = this.state.table;
    const focused = this.#rowWithFocus();
    const made = new Map();
    const elements = rows.map((example) => {
      const key = JSON.stringify(example);
      const row = this.#made.get(key) ?? exampleRow(example, columns, this.#opened, this.parts, () => this.#pin(example.id));
      made.set(key, row);
      return row;
    });
    this.#made = made;
    const isSame = elements.length === this.body.children.length && elements.every((row, i) => row === this.body.children[i]);
    if (!isSame) this.body.replaceChildren(...elements);
    const again = elements.find((row) => row.dataset.id === focused?.dataset.id) ?? elements[0];
    for (const row of elements) row.tabIndex = row === again ? 0 : -1;
    if (focused && again && !this.body.contains(document.activeElement)) again.focus({ preventScroll: true });
    this.tagging.show();
  }

  #rowWithFocus() {
    return this.body.contains(document.activeElement) ? document.activeElement.closest("tr") : null;
  }

  #showCounts() {
    const { table, find, filters } = this.state;
    const end = table.from + table.rows.length;
    const [examples, pass] = table.count === 1 ? ["example", "passes"] : ["examples", "pass"];
    const what = table.isSelection ? `selected ${examples}` : Object.keys(filters).length > 0 ? `${examples} that ${pass} the filters` : `${examples}, as nothing is selected`;
    this.caption.textContent = `${count(table.count)} ${what}${find ? `, with “${find}”` : ""}`;
    const broken = table.complete === false ? ` The search took too long: only ${count(table.searched)} were searched.` : "";
    this.status.textContent = (table.count === 0 ? "No rows." : `Rows ${count(table.from + 1)}–${count(end)} of ${count(table.count)}.`) + broken;
    this.pages.first.disabled = this.pages.back.disabled = table.from === 0;
    this.pages.next.disabled = this.pages.last.disabled = end >= table.count;
  }

  #pin(id) {
    const { state } = this;
    const { pinned } = state;
    this.#known = [...this.#known, String(id)]; /* its row is in view already */
    state.set({ pinned: pinned.includes(String(id)) ? pinned.filter((other) => other !== String(id)) : [...pinned, String(id)] });
  }

  /* Marks the row's point on the map; null: marks that of the row with the focus, if there is one. */
  #point(row) {
    if (!row && !this.#pointed) return; /* the mark that the map itself has set stays */
    this.#pointed = row ?? this.#rowWithFocus();
    if (this.#pointed) this.#hover(this.#pointed);
    else this.state.set({ hovered: null });
  }

  /* The place in a row belongs to the view that the table was loaded from. */
  async #hover(row) {
    const { state, source, loader } = this;
    const isNow = state.table.at === JSON.stringify(loader.at());
    const place = isNow ? Number(row.dataset.place) : (await source.exampleOf(loader.at(), row.dataset.id).catch(() => null))?.place ?? null;
    if (this.#pointed === row) state.set({ hovered: place });
  }

  #mark() {
    const { state } = this;
    for (const row of this.body.children) {
      const isPinned = state.pinned.includes(row.dataset.id);
      row.classList.toggle("pointed", String(state.example?.id) === row.dataset.id);
      row.classList.toggle("pinned", isPinned);
      row.querySelector(".pin").setAttribute("aria-pressed", String(isPinned));
    }
  }

  /* Brings the row of the example pinned last into view, from another page if need be. */
  #followPins() {
    const { state } = this;
    const added = state.pinnedExamples.filter(({ id }) => !this.#known.includes(id));
    this.#known = state.pinned;
    const last = added[added.length - 1];
    if (!last || last.place === null) return;
    if (this.#reveal(last.id)) return;
    this.#around = last;
    this.ask();
  }

  #reveal(id) {
    const row = [...this.body.children].find((other) => other.dataset.id === id);
    if (!row) return false;
    const { holder } = this;
    const top = row.offsetTop - this.head.offsetHeight;
    if (top < holder.scrollTop || row.offsetTop + row.offsetHeight > holder.scrollTop + holder.clientHeight)
      holder.scrollTop = Math.max(0, top - (holder.clientHeight - this.head.offsetHeight - row.offsetHeight) / 2);
    return true;
  }

  #key(event) {
    const row = event.target.closest("tr");
    if (event.altKey || event.ctrlKey || event.metaKey || !row) return;
    const { children } = this.body;
    const i = [...children].indexOf(row);
    const isRow = event.target === row;
    const actions = {
      ...(isRow ? this.tagging.actions(row) : {}),
      ArrowDown: () => this.#focus(children[i + 1]),
      ArrowUp: () => this.#focus(children[i - 1]),
      Home: () => this.#focus(children[0]),
      End: () => this.#focus(children[children.length - 1]),
      PageDown: () => this.turn(1),
      PageUp: () => this.turn(-1),
      Enter: isRow ? () => this.#pin(row.dataset.id) : null,
      t: isRow ? () => row.querySelectorAll(".more").forEach((more) => more.click()) : null,
      Escape: () => row.blur(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    if (this.#turning !== 0 || (event.repeat && /^[0-9u]$/.test(event.key))) return; /* a key that is held would tag row after row */
    actions[event.key]();
  }

  #focus(row) {
    if (!row) return;
    this.#makeCurrent(row);
    row.focus({ preventScroll: true });
    this.#reveal(row.dataset.id);
  }

  /* The row that has the focus, or will have it when it comes back. */
  #current() {
    return [...this.body.children].find(({ tabIndex }) => tabIndex === 0) ?? null;
  }

  #makeCurrent(row) {
    if (row.tabIndex === 0) return;
    for (const other of this.body.children) other.tabIndex = -1;
    row.tabIndex = 0;
    this.tagging.show();
  }

  /* Beyond the last row of a page comes the first one of the next. Until it is there, the row that has the focus is not meant any more. */
  #step(by) {
    if (this.#turning !== 0) return;
    const rows = [...this.body.children];
    const next = rows[rows.indexOf(this.#current()) + by];
    if (next) this.#focus(next);
    else if (by !== 0 && !(by > 0 ? this.pages.next : this.pages.back).disabled) {
      this.#turning = by;
      this.turn(by);
    }
  }

  /* Goes to the row of an example, on another page if need be. */
  async #goTo(id) {
    const row = [...this.body.children].find((other) => other.dataset.id === id);
    if (row) {
      this.#focus(row);
      return;
    }
    this.#around = await this.source.exampleOf(this.loader.at(), id).catch(() => null);
    if (this.#around) this.ask();
  }
}

export function showTable(section, parts) {
  return new Table(section, parts);
}
