/*
 * report_blocks.js: the answer of `portolan report --json` as elements: what to do next, and the sections with their sentences,
 * warnings and tables (analyzer/report/page.h describes the tree). Numbers look as in the command's own pages.
 */
import { commandLine } from "./command.js";
import { button, count, element } from "./dom.js";
import { EpochChart } from "./epoch_chart.js";

/* A number with three digits after the point, or thousands; as text_print_short() writes it. */
function realOf(value) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 0.001)) return String(Number(value.toPrecision(3)));
  return size < 1000 ? value.toFixed(3) : count(Math.round(value));
}

const SHARE = (value) => `${(100 * value).toFixed(1)}%`;

/* How the values of a column are written. JSON does not say whether a number is whole: the column's other values do. */
function formatOf({ name, as }, rows) {
  const isWhole = rows.every((row) => typeof row[name] !== "number" || Number.isInteger(row[name]));
  return (value) => {
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return value ?? "–";
    if (as === "share") return SHARE(value);
    return isWhole ? (as === "name" ? String(value) : count(value)) : realOf(value);
  };
}

const isNumber = ({ name }, rows) => rows.every((row) => typeof row[name] !== "string");

/* {onCommand(number), onId(id), onMap()}: what a press on a reference, an id, or the map's sentence does. */
export class ReportBlocks {
  constructor(report, actions) {
    this.report = report;
    this.actions = actions;
  }

  /* [3]: the third command prints what stands before it. */
  #from({ from }) {
    const command = this.report.commands.find(({ number }) => number === from);
    if (!command) return null;
    return button(`[${from}]`, () => this.actions.onCommand(from), { class: "from", title: command.command, "aria-label": `Command ${from}, which prints this` });
  }

  #text(block) {
    return element("p", { class: block.kind === "warning" ? "warning" : null, dir: "auto" }, block.text, " ", this.#from(block));
  }

  #picture(block) {
    return element("p", {}, block.alt, " ", this.#from(block), " ", button("Show it on the map", this.actions.onMap));
  }

  #curves({ curves, columns, rows }) {
    if (!curves || rows.length < 2) return null;
    const [{ name: along }] = columns;
    const charts = columns.filter(({ name }) => curves[name]).map((column) => {
      const chart = new EpochChart(column.heading, { most: column.as === "share" ? 1 : null, format: formatOf(column, rows) });
      chart.draw(rows.map((row) => [row[along], typeof row[column.name] === "number" ? row[column.name] : null]), [], false);
      return chart.figure;
    });
    return element("div", { class: "charts" }, ...charts);
  }

  #cell(column, rows, row) {
    const value = row[column.name];
    if (column.name === "id" && value !== null)
      return element("td", {}, button(String(value), () => this.actions.onId(String(value)), { class: "id", title: "Pin this example, or unpin it" }));
    return element("td", { class: isNumber(column, rows) ? "number" : column.as === "text" ? "texts" : null, dir: "auto" }, formatOf(column, rows)(value));
  }

  #table(block) {
    const { caption, columns, rows } = block;
    const head = columns.map((column) => element("th", { scope: "col", class: isNumber(column, rows) ? "number" : null }, column.heading));
    const body = rows.map((row) => element("tr", {}, ...columns.map((column) => this.#cell(column, rows, row))));
    const table = element("table", {}, element("caption", {}, caption, " ", this.#from(block)), element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
    return element("div", {}, this.#curves(block), element("div", { class: "wide", tabindex: 0, role: "group", "aria-label": caption }, table));
  }

  #block(block) {
    if (block.kind === "table") return this.#table(block);
    return block.kind === "picture" ? this.#picture(block) : this.#text(block);
  }

  #commands() {
    const lines = this.report.commands.map(({ number, command, says }) =>
      element("li", { "data-command": number, tabindex: -1 }, commandLine(command), element("p", { class: "hint" }, says)));
    return element("details", { class: "commands" }, element("summary", {}, `The ${count(lines.length)} commands`), element("ol", {}, ...lines));
  }

  /* `more`: by a section's id, elements at its end. */
  elements(more) {
    const { next, sections } = this.report;
    const steps = next.map((step) => element("li", {}, this.#text(step), commandLine(step.command)));
    return [
      element("section", { class: "next", "data-section": "next" }, element("h3", {}, "What to do next"), element("ol", {}, ...steps)),
      ...sections.map(({ id, title, blocks }) =>
        element("section", { "data-section": id }, element("h3", {}, title), ...blocks.map((block) => this.#block(block)), ...(more[id] ?? []), id === "done" ? this.#commands() : null)),
    ];
  }
}
