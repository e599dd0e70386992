/* epoch_chart.js: a small chart of one number by epoch, which is drawn again in place as the run grows. */
import { count, element } from "./dom.js";

const SIZE = { width: 260, height: 96, left: 34, right: 8, top: 8, bottom: 20 };
const DOTS_MOST = 40;

/*
 * A panel of a title, the newest value and a line. most: the upper end of the scale, null: the largest value, or `least`.
 * format: a value for people. draw(values, shown, growing): values are [[epoch, number or null], …]; shown are the
 * epochs that the map shows; growing: the last epoch is still being recorded, and its dot is hollow.
 */
export class EpochChart {
  constructor(title, { most = null, least = 1, format = count }) {
    Object.assign(this, { title, most, least, format });
    this.value = element("strong");
    this.figure = element("figure", { class: "epoch-chart" }, element("figcaption", {}, `${title} `, this.value));
    this.svg = d3.select(this.figure).append("svg").attr("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`).attr("role", "img");
    for (const name of ["shown", "x axes", "y axes", "line", "dots"]) this.svg.append("g").attr("class", name);
  }

  draw(values, shown, growing) {
    const known = values.filter(([, value]) => value !== null);
    const last = known[known.length - 1];
    this.value.textContent = last ? this.format(last[1]) : "–";
    this.svg.attr("aria-label", last ? `${this.title} by epoch: ${known.slice(-20).map(([epoch, value]) => `${epoch}: ${this.format(value)}`).join(", ")}` : `${this.title}: nothing yet`);
    const epochs = values.map(([epoch]) => epoch);
    const x = d3.scaleLinear().domain([d3.min(epochs) ?? 0, Math.max(d3.max(epochs) ?? 0, (d3.min(epochs) ?? 0) + 1)]).range([SIZE.left, SIZE.width - SIZE.right]);
    const y = d3.scaleLinear().domain(this.#range(known.map(([, value]) => value))).range([SIZE.height - SIZE.bottom, SIZE.top]);
    this.#drawAxes(x, y);
    this.#drawShown(shown, x);
    this.svg.select(".line").selectAll("path").data([known]).join("path").attr("d", d3.line().x(([epoch]) => x(epoch)).y(([, value]) => y(value)));
    const dots = known.length <= DOTS_MOST ? known : known.slice(-1);
    this.svg
      .select(".dots")
      .selectAll("circle")
      .data(dots)
      .join("circle")
      .attr("cx", ([epoch]) => x(epoch))
      .attr("cy", ([, value]) => y(value))
      .attr("r", 2.5)
      .classed("growing", (dot) => growing && dot === last);
  }

  #range(values) {
    const [low, high] = [Math.min(0, ...values), this.most ?? Math.max(this.least, ...values)];
    return [low, high > low ? high : low + 1];
  }

  #drawAxes(x, y) {
    const [first, last] = x.domain();
    const whole = x.ticks(Math.min(6, last - first)).filter(Number.isInteger);
    this.svg.select(".x").attr("transform", `translate(0,${SIZE.height - SIZE.bottom})`).call(d3.axisBottom(x).tickValues(whole).tickFormat(d3.format("d")).tickSize(3));
    this.svg.select(".y").attr("transform", `translate(${SIZE.left},0)`).call(d3.axisLeft(y).ticks(3, y.domain()[1] > 10 ? "~s" : undefined).tickSize(3));
  }

  /* A band behind the epochs that the map shows, unless these are all. */
  #drawShown(shown, x) {
    const [from, to] = x.domain();
    const isPart = shown.length > 0 && (shown[0] > from || shown[shown.length - 1] < to);
    const half = 4;
    this.svg
      .select(".shown")
      .selectAll("rect")
      .data(isPart ? [[x(shown[0]), x(shown[shown.length - 1])]] : [])
      .join("rect")
      .attr("x", ([begin]) => begin - half)
      .attr("width", ([begin, end]) => end - begin + 2 * half)
      .attr("y", SIZE.top)
      .attr("height", SIZE.height - SIZE.top - SIZE.bottom);
  }
}
