/* dom.js: makes elements. Only this module puts texts of users into the page, and only by textContent. */

/* element("button", {type: "button", class: "small", onclick: fn}, "text", child, …); null children are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function svgElement(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export const button = (text, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, text);

/* Choices are [value, text, title], or {group, choices: [[value, text, title], …]}; a title may be left out. */
export function fillSelect(select, choices, chosen) {
  const option = ([value, text, title]) => element("option", { value, title, selected: value === chosen }, text);
  select.replaceChildren(
    ...choices.map((choice) =>
      Array.isArray(choice) ? option(choice) : element("optgroup", { label: choice.group }, ...choice.choices.map(option))));
  select.value = chosen;
}

const whole = new Intl.NumberFormat("en");

/* Replaces the children. The focus moves to the new child with the same data-key. */
export function refill(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  parent.replaceChildren(...children.filter(Boolean));
  if (key !== undefined) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/* 1,000,000 */
export const count = (value) => whole.format(value);

/* A measure's value, for people. */
export function number(value, integer = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (integer) return whole.format(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 100000) ? value.toExponential(2) : String(Number(value.toFixed(size < 1 ? 3 : 2)));
}

/* forgetting_events: "forgetting events" */
export const words = (name) => name.replaceAll("_", " ");

/* On the browser's performance clock, for measurements; the last one of each name. */
export function mark(name) {
  performance.clearMarks(`portolan:${name}`);
  performance.mark(`portolan:${name}`);
}

/* Calls `draw` once before the next picture, however often it is called. */
export function oncePerFrame(draw) {
  let waiting = 0;
  return () => {
    waiting = waiting || requestAnimationFrame(() => {
      waiting = 0;
      draw();
    });
  };
}
