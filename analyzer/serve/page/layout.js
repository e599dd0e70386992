/*
 * layout.js: arranges the page on one screen: the side panel, the map, and beside the map one of the panels (table, groups, …),
 * with a splitter between them. The page remembers the arrangement in this browser.
 *
 * state.panel: the panel that is open, or "none"; "": the one that was open the last time, at first the table where there is room
 * for it. A button opens its panel, and closes it again. In windows of middle width the side and the panels lie over the map, and
 * are closed at first; on phones all stands below one another.
 */
import { button, element } from "./dom.js";

const PANELS = [
  ["table", "Table"],
  ["tags", "Tags"],
  ["report", "Report"],
  ["saved", "Saved"],
  ["groups", "Groups"],
  ["compare", "Compare"],
  ["export", "Export"],
  ["progress", "Progress"],
];
const MIDDLE = matchMedia("(min-width: 761px) and (max-width: 1099px)"); /* as in style.css */
const MEMORY = "portolan-layout";
const STEP = 32; /* pixels that an arrow key moves the splitter */
const LEAST = 280; /* pixels that the panels, and the map, keep */
const MOST = 4000;

const isPanel = (name) => name === "" || name === "none" || PANELS.some(([panel]) => panel === name);

/* A browser may refuse to remember anything: in private windows, or for pages that are files. */
function recall() {
  try {
    const known = JSON.parse(localStorage.getItem(MEMORY));
    return known && typeof known === "object" ? known : {};
  } catch {
    return {};
  }
}

function remember(changes) {
  try {
    localStorage.setItem(MEMORY, JSON.stringify({ ...recall(), ...changes }));
  } catch {
    /* The arrangement lasts as long as the page. */
  }
}

class Layout {
  #side = null; /* was the side opened or closed by the user? null: neither */

  constructor(state) {
    const at = (id) => document.getElementById(id);
    Object.assign(this, { state, side: at("side"), desk: at("desk"), panels: at("panels"), splitter: at("splitter") });
    const { side, width } = recall();
    this.#side = typeof side === "boolean" ? side : null;
    if (width >= LEAST && width <= MOST) this.#setWidth(width);
    this.fold = button("☰", () => this.#foldSide(), { id: "fold-side", "aria-controls": "side", "aria-label": "Side panel", title: "Show or hide the side panel: selection, colours, regions, filters" });
    at("map-controls").prepend(this.fold);
    this.buttons = PANELS.map(([name, text]) => {
      const made = button(text, () => this.#press(name), { "aria-controls": name, "data-panel": name });
      at("panel-buttons").append(made);
      return [name, made];
    });
    this.#listenToSplitter();
    state.subscribe(["panel"], () => this.#show());
    MIDDLE.addEventListener("change", () => this.#show());
    addEventListener("resize", () => this.#tellSplitter());
    document.addEventListener("keydown", (event) => this.#escape(event));
    this.#show();
  }

  /* The panel that is open; null: none. */
  get #open() {
    const { panel } = this.state;
    const last = recall().panel;
    const name = panel !== "" ? panel : MIDDLE.matches ? "none" : isPanel(last) && last ? last : "table";
    return name === "none" ? null : name;
  }

  #press(name) {
    const panel = this.#open === name ? "none" : name;
    if (!MIDDLE.matches) remember({ panel });
    this.state.set({ panel });
  }

  #foldSide() {
    this.#side = !this.#isSideOpen;
    if (!MIDDLE.matches) remember({ side: this.#side });
    this.#show();
  }

  get #isSideOpen() {
    return this.#side ?? !MIDDLE.matches;
  }

  #show() {
    const open = this.#open;
    for (const [name, made] of this.buttons) {
      made.setAttribute("aria-expanded", String(name === open));
      document.getElementById(name).classList.toggle("closed", name !== open);
    }
    this.panels.classList.toggle("closed", open === null);
    this.splitter.classList.toggle("closed", open === null);
    this.side.classList.toggle("closed", !this.#isSideOpen);
    this.fold.setAttribute("aria-expanded", String(this.#isSideOpen));
    this.#tellSplitter();
  }

  /* What lies over the map is closed by Escape. */
  #escape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || !MIDDLE.matches) return;
    if (this.panels.contains(event.target)) this.#press(this.#open);
    else if (this.side.contains(event.target)) this.#foldSide();
    else return;
    this.fold.focus();
  }

  #setWidth(width) {
    this.desk.style.setProperty("--panels", `${Math.round(width)}px`);
  }

  /* Moves the splitter so that the panels have this width, if the map keeps enough. */
  #resize(width) {
    const room = this.desk.clientWidth - (!MIDDLE.matches && this.#isSideOpen ? this.side.offsetWidth : 0);
    const fitting = Math.max(LEAST, Math.min(width, room - LEAST));
    this.#setWidth(fitting);
    this.#tellSplitter();
    remember({ width: fitting });
  }

  #tellSplitter() {
    const { panels, desk, splitter } = this;
    splitter.setAttribute("aria-valuenow", String(Math.round((100 * panels.offsetWidth) / Math.max(1, desk.clientWidth))));
  }

  #listenToSplitter() {
    const { splitter, panels } = this;
    for (const [name, value] of Object.entries({ role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-controls": "panels", "aria-valuemin": "0", "aria-valuemax": "100", "aria-label": "Width of the panels, in percent", title: "Drag to make the panels wider; double-click: the usual width" }))
      splitter.setAttribute(name, value);
    splitter.append(element("span", { "aria-hidden": "true" }));
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      event.preventDefault();
      splitter.focus();
    });
    splitter.addEventListener("pointermove", (event) => {
      if (splitter.hasPointerCapture(event.pointerId)) this.#resize(panels.getBoundingClientRect().right - event.clientX - splitter.offsetWidth / 2);
    });
    splitter.addEventListener("dblclick", () => {
      this.desk.style.removeProperty("--panels");
      remember({ width: null });
      this.#tellSplitter();
    });
    splitter.addEventListener("keydown", (event) => {
      const sign = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
      if (!sign) return;
      event.preventDefault();
      this.#resize(panels.offsetWidth + sign * STEP);
    });
  }
}

/* Call it before the address is read, which may name a panel. */
export function showLayout(state) {
  state.define("panel", "", true, isPanel);
  return new Layout(state);
}

/* Opens a panel, for buttons elsewhere on the page. */
export const showPanel = (state, name) => state.set({ panel: name });
