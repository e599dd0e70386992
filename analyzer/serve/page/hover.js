/*
 * hover.js: draws the example under the pointer, or the one that the keys have reached, in front of all others, with its card.
 * A click pins it; pinned examples stay marked on the map.
 */
import { cardOf } from "./card.js";
import { placeCard } from "./card_place.js";
import { sayValue } from "./columns.js";
import { element, mark } from "./dom.js";
import { coordinates, NONE } from "./marks.js";
import { mediaGlance } from "./media.js";
import { byteColours } from "./palette.js";
import { readerOf } from "./spread.js";
import { tagOf } from "./tag_marks.js";

const KNOWN_MOST = 200; /* examples kept */
const ON_PHONE = matchMedia("(max-width: 760px)"); /* there the card stands below the map: style.css */

/* [[name, text]] of the axes that show no measure: measures are known of the example itself. */
export function valuesOf(example, points) {
  const others = [points.x, points.y].map((column, i) => [column, i]).filter(([{ name }]) => example.measures[name] === undefined);
  if (others.length === 0) return [];
  const values = readerOf(points)(example.place);
  return others.map(([column, i]) => [column.name, sayValue(column, values[i])]);
}

class Hover {
  #known = new Map(); /* by place, of one view */
  #at = null; /* that view, as text */
  #asking = false;

  constructor(map) {
    this.map = map;
    this.state = map.state;
    this.card = element("div", { class: "card", hidden: true });
    map.section.append(this.card);
    map.state.define("example", null); /* the hovered one, as api/example answers */
    map.state.subscribe(["hovered", "view"], () => this.#ask());
    map.state.subscribe(["tags"], () => map.state.example && this.#show(map.state.example));
  }

  /* One request at a time: the pointer may move over hundreds of points a second. */
  async #ask() {
    const { state, map } = this;
    const at = state.view ? JSON.stringify(map.parts.loader.at()) : null;
    if (at !== this.#at) {
      this.#known.clear();
      this.#at = at;
      if (state.hovered !== null && state.example) {
        this.#findAgain(String(state.example.id));
        return;
      }
    }
    const place = state.hovered;
    if (place === null) {
      this.#show(null);
      return;
    }
    const known = this.#known.get(place);
    if (known) {
      this.#show(known);
      return;
    }
    if (this.#asking) return;
    this.#asking = true;
    try {
      const example = await map.parts.source.example(map.parts.loader.at(), place);
      if (this.#known.size >= KNOWN_MOST) this.#known.clear();
      if (at === this.#at) this.#known.set(place, example);
    } catch {
      if (state.hovered === place) this.#show(null); /* a new view asks again */
    }
    this.#asking = false;
    if (this.#known.has(state.hovered)) this.#show(this.#known.get(state.hovered));
    else if (state.hovered !== null && (state.hovered !== place || at !== this.#at)) this.#ask();
  }

  /* In a new view the same example has another place. Where the pointer has gone on meanwhile, it stays. */
  async #findAgain(id) {
    const { source, loader } = this.map.parts;
    const at = this.#at;
    const { hovered } = this.state;
    const example = await source.exampleOf(loader.at(), id).catch(() => null);
    if (at !== this.#at || hovered !== this.state.hovered || String(this.state.example?.id) !== id) return;
    if (example) this.#known.set(example.place, example);
    this.state.set({ hovered: example?.place ?? null });
    if (example) this.#show(example);
  }

  #show(example) {
    this.card.hidden = !example;
    if (example) {
      const { x, y } = this.map.frame.columns;
      this.card.replaceChildren(cardOf(example, [x.name, y.name], this.state.view, valuesOf(example, this.state.points), [tagOf(this.state, example.id), mediaGlance(this.map.parts, example)]));
      mark("text-shown");
    }
    this.state.set({ example });
    this.#place();
  }

  pin(place) {
    const { state } = this;
    const example = this.#known.get(place);
    const toggle = (id) => {
      const isThere = state.pinned.includes(id);
      state.set({ pinned: isThere ? state.pinned.filter((other) => other !== id) : [...state.pinned, id] });
    };
    if (example) {
      toggle(String(example.id));
      return;
    }
    const { source, loader } = this.map.parts;
    source.example(loader.at(), place).then(
      (found) => toggle(String(found.id)),
      () => {},
    );
  }

  /* {x, y, colour} of a place, in pixels; null: it is not here, or out of view. */
  #spot(place) {
    const { points } = this.state;
    const i = points.places ? points.places.indexOf(place) : place;
    if (i < 0 || i >= points.n) return null;
    const { x, y, colour } = coordinates(points);
    if (x[i] === NONE || y[i] === NONE) {
      const strip = this.map.strips.spot(i);
      return strip && { ...strip, byte: colour[i] };
    }
    const at = this.map.frame.pixel(x[i], y[i]);
    const { width, height } = this.map.frame;
    return at.x < 0 || at.x > width || at.y < 0 || at.y > height ? null : { ...at, byte: colour[i] };
  }

  draw() {
    const { state, map } = this;
    const spot = state.hovered === null ? null : this.#spot(state.hovered);
    const colours = spot ? byteColours(state.points.legend) : null;
    d3.select(map.layers.hovered)
      .selectAll("circle")
      .data(spot ? [spot] : [])
      .join("circle")
      .attr("r", 6)
      .attr("cx", ({ x }) => x)
      .attr("cy", ({ y }) => y)
      .attr("fill", ({ byte }) => `rgb(${colours.slice(4 * byte, 4 * byte + 3).join()})`);
    const pins = (state.pinnedExamples ?? []).map(({ place, id }) => ({ ...this.#spot(place), id })).filter(({ x }) => x !== undefined);
    const groups = d3.select(map.layers.pins).selectAll("g").data(pins, ({ id }) => id).join((enter) => {
      const group = enter.append("g");
      group.append("circle").attr("r", 6);
      group.append("text").attr("x", 9).attr("y", -6);
      return group;
    });
    groups.attr("transform", ({ x, y }) => `translate(${x},${y})`);
    groups.selectAll("text").each(function name() {
      this.textContent = d3.select(this.parentNode).datum().id.slice(0, 24);
    });
    this.#place(spot);
  }

  /* What was selected last, in pixels of the window: {left, top, right, bottom}; null: nothing, or on other axes. */
  #selected() {
    const { state, map } = this;
    const { selection } = state;
    const { frame } = map;
    const { columns, width, height } = frame;
    const part = selection.parts[selection.parts.length - 1];
    if (!part || selection.x !== columns.x.name || selection.y !== columns.y.name) return null;
    const plot = map.capture.getBoundingClientRect();
    const within = (values, most) => d3.extent(values, (value) => Math.max(0, Math.min(most, value)));
    const [left, right] = within(part.polygon.map(([x]) => frame.at("x", x)), width);
    const [top, bottom] = within(part.polygon.map(([, y]) => frame.at("y", y)), height);
    return { left: plot.left + left, right: plot.left + right, top: plot.top + top, bottom: plot.top + bottom };
  }

  #place(spot = this.state.hovered !== null && this.map.isReady ? this.#spot(this.state.hovered) : null) {
    this.place(this.card, spot);
  }

  /* A card stands beside its point, in pixels of the plot, within the window, and off what was selected last: beside the map, if need be. */
  place(card, spot) {
    const { map } = this;
    if (card.hidden || ON_PHONE.matches) return;
    const plot = map.capture.getBoundingClientRect();
    const around = map.section.getBoundingClientRect();
    const place = placeCard({
      card: { width: card.offsetWidth, height: card.offsetHeight },
      at: { x: plot.left + (spot?.x ?? 0), y: plot.top + (spot?.y ?? 0) },
      map: around,
      avoid: this.#selected(),
      window: { width: document.documentElement.clientWidth, height: document.documentElement.clientHeight },
    });
    card.style.left = `${place.left}px`;
    card.style.top = `${place.top}px`;
  }
}

export function showHover(map) {
  return new Hover(map);
}
