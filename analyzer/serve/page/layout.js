/*
 * layout.js: arranges the page on one screen: the side panel, the map, and beside the map one of the panels (table, groups, …),
 * with a splitter between them. The page remembers the arrangement in this browser.
 *
 * state.panel: the panel that is open, or "none"; "": the one that was open the last time, at first the table where there is room
 * for it. A tab opens its panel, and closes it again; arrow keys, Home and End go from tab to tab. In windows of middle width the side and the panels lie over the map, and
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
  #width = null; /* of the panels, as the user has set it since the page was opened */
  #side = null; /* was the side opened or closed by the user? null: neither */

  constructor(state) {
    const at = (id) => document.getElementById(id);
    Object.assign(this, { state, side: at("side"), desk: at("desk"), panels: at("panels"), splitter: at("splitter") });
    const { side, width } = recall();
    this.#side = typeof side === "boolean" ? side : null;
    if (width >= LEAST && width <= MOST) this.#setWidth(width);
    this.fold = button("☰", () => this.#foldSide(), { id: "fold-side", "aria-controls": "side", "aria-label": "Side panel", title: "Show or hide the side panel: selection, colours, regions, filters" });
    at("map-controls").prepend(this.fold);
    this.tabs = PANELS.map(([name, text]) => {
      const made = button(text, () => this.#press(name), { role: "tab", "aria-controls": name, "data-panel": name });
      at(name).setAttribute("role", "tabpanel");
      return [name, made];
    });
    at("panel-buttons").append(...this.tabs.map(([, made]) => made));
    at("panel-buttons").addEventListener("keydown", (event) => this.#turn(event));
    at("skip-panel").addEventListener("click", (event) => {
      event.preventDefault(); /* the fragment is the state's */
      this.#focusPanel();
    });
    this.#listenToSplitter();
    state.subscribe(["panel"], () => this.#show());
    MIDDLE.addEventListener("change", () => this.#show());
    addEventListener("resize", () => this.#tellSplitter());
    document.addEventListener("keydown", (event) => this.#escape(event));
    at("board").addEventListener("focusin", ({ target }) => this.#uncover(target));
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
    if (MIDDLE.matches && panel !== "none") this.#focus(panel);
  }

  /* From what lies over the map, the keys go on in it: Tab, and Escape, which closes it. */
  #focus(id) {
    const part = document.getElementById(id);
    part.tabIndex = -1;
    part.focus();
  }

  /* Tab reaches one of the tabs; the keys here go on from it, and Enter opens. */
  #turn(event) {
    const all = this.tabs.map(([, made]) => made);
    const i = all.indexOf(event.target);
    const last = all.length - 1;
    const to = { ArrowRight: i === last ? 0 : i + 1, ArrowLeft: i === 0 ? last : i - 1, Home: 0, End: last }[event.key];
    if (i < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    for (const one of all) one.tabIndex = one === all[to] ? 0 : -1;
    all[to].focus();
  }

  /* For who comes by the keyboard: between a tab and its panel stands the whole map. */
  #focusPanel() {
    if (!this.#open) this.#press(this.tabs.find(([, made]) => made.tabIndex === 0)[0]);
    this.#focus(this.#open);
  }

  /* Who goes to the map by keys sees it whole. */
  #uncover(target) {
    if (!MIDDLE.matches || !target.matches(":focus-visible")) return;
    if (this.#open) this.#press(this.#open);
    if (this.#isSideOpen) this.#foldSide();
  }

  #foldSide() {
    this.#side = !this.#isSideOpen;
    if (!MIDDLE.matches) remember({ side: this.#side });
    this.#show();
    if (MIDDLE.matches && this.#side) this.#focus("side");
  }

  get #isSideOpen() {
    return this.#side ?? !MIDDLE.matches;
  }

  #show() {
    const open = this.#open;
    for (const [name, made] of this.tabs) {
      made.setAttribute("aria-selected", String(name === open));
      made.tabIndex = name === (open ?? PANELS[0][0]) ? 0 : -1;
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
    if (this.panels.contains(event.target)) {
      const [, tab] = this.tabs.find(([name]) => name === this.#open);
      tab.click();
      tab.focus();
    } else if (this.side.contains(event.target)) {
      this.#foldSide();
      this.fold.focus();
    }
  }

  #setWidth(width) {
    this.desk.style.setProperty("--panels", `${Math.round(width)}px`);
  }

  /* Moves the splitter so that the panels have this width, if the map keeps enough. */
  #resize(width) {
    const room = this.desk.clientWidth - (!MIDDLE.matches && this.#isSideOpen ? this.side.offsetWidth : 0);
    this.#width = Math.max(LEAST, Math.min(width, room - LEAST));
    this.#setWidth(this.#width);
    this.#tellSplitter();
  }

  #rememberWidth() {
    if (this.#width !== null) remember({ width: this.#width });
  }

  #tellSplitter() {
    const { panels, desk, splitter } = this;
    splitter.setAttribute("aria-valuenow", String(Math.round((100 * panels.offsetWidth) / Math.max(1, desk.clientWidth))));
  }

  #listenToSplitter() {
    const { splitter, panels } = this;
    for (const [name, value] of Object.entries({ role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-controls": "panels", "aria-valuemin": "0", "aria-valuemax": "100", "aria-label": "Width of the panels, in percent", title: "Drag, or press an arrow key, to make the panels wider; double-click, or press Enter, for the usual width" }))
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
    splitter.addEventListener("lostpointercapture", () => this.#rememberWidth());
    const usual = () => {
      this.#width = null;
      this.desk.style.removeProperty("--panels");
      remember({ width: null });
      this.#tellSplitter();
    };
    splitter.addEventListener("dblclick", usual);
    splitter.addEventListener("keydown", (event) => {
      const sign = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
      if (!sign && event.key !== "Enter") return;
      event.preventDefault();
      if (!sign) {
        usual();
        return;
      }
      this.#resize(panels.offsetWidth + sign * STEP);
      this.#rememberWidth();
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
