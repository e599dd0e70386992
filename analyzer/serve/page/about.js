/*
 * about.js: what the names on the page mean. The sentence of each measure comes with the view, so it is the one that the
 * documentation has. It is a title wherever the name stands; and a button beside the choice of the axes opens all of them, for
 * people who use a keyboard or a finger.
 */
import { columnOf } from "./axis_columns.js";
import { isOfLosses } from "./columns.js";
import { button, element, refill, words } from "./dom.js";
import { axesOf } from "./loader.js";

const PROBABILITY = "Here p(gold) is the probability that the model gives to the gold label of an example, at one epoch.";
const GOLD = "the class that your data give the example, right or wrong";
const FILE_COLUMN = "a column of your own file";
const SAVED = "which of the selections that you saved hold the example";

/* A name as people read it. */
export const nameOf = (name) => (name === "gold" ? "gold label" : name === "saved" ? "saved selections" : name.startsWith("data:") ? name.slice("data:".length) : words(name));

/* The sentence of a measure, of gold, of saved selections, or of a column of the user's file, without its subject; undefined: there is none. */
export function aboutOf(view, name) {
  if (name === "gold") return GOLD;
  if (name === "saved") return SAVED;
  return name.startsWith("data:") ? FILE_COLUMN : (view && columnOf(view, name)?.about);
}

const isFar = (event, ...elements) => !elements.some((one) => one.contains(event.target));

/* The names in use on the map stand first. */
function namesFor(state) {
  const { x, y, colour } = axesOf(state, state.view);
  return [...new Set([x, y, ...(colour === "none" ? [] : [colour]), ...state.view.columns.map(({ name }) => name)])];
}

/* A button that opens a list of the names and what they mean. Returns it, with the list. */
export function wordsButton(state) {
  const list = element("dl", { class: "meanings" });
  const probability = element("p", {}, PROBABILITY);
  const box = element("div", { id: "words", class: "words", role: "group", "aria-label": "What the words mean", tabindex: 0, hidden: true }, probability, list);
  const open = button("i", () => show(box.hidden), { class: "about", "aria-label": "What the words mean", title: "What the words mean", "aria-expanded": "false", "aria-controls": box.id });
  const fill = () => {
    if (!state.view || box.hidden) return;
    probability.hidden = isOfLosses(state.view);
    refill(list, ...namesFor(state).flatMap((name) => [element("dt", {}, nameOf(name)), element("dd", {}, aboutOf(state.view, name))]));
  };
  function show(isOpen) {
    box.hidden = !isOpen;
    open.setAttribute("aria-expanded", String(isOpen));
    fill();
    if (isOpen) box.focus({ preventScroll: true });
  }
  const holder = element("div", { class: "words-holder" }, open, box);
  holder.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    show(false);
    open.focus();
  });
  document.addEventListener("pointerdown", (event) => !box.hidden && isFar(event, holder) && show(false));
  state.subscribe(["view", "x", "y", "colour"], fill);
  return holder;
}

/* Has the sentence of what a select has chosen read with it. */
export function describeSelect(select, state) {
  const text = element("span", { class: "unseen", id: `${select.id}-about` });
  select.setAttribute("aria-describedby", text.id);
  return {
    text,
    follow: () => {
      const about = aboutOf(state.view, select.value);
      text.textContent = about ?? "";
      select.title = about ? `${nameOf(select.value)}: ${about}` : "";
    },
  };
}
