/*
 * elements.js: elements without a browser, as far as the page's modules need them: a tree with attributes, texts, listeners and the
 * focus. To be imported before the modules. Of selectors it knows lists of NAME, #ID, .CLASS, [ATTRIBUTE], [ATTRIBUTE="VALUE"].
 */
const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function matches(made, selector) {
  const parts = selector.trim().match(/^[\w-]+|#[\w-]+|\.[\w-]+|\[[^\]]+\]/g);
  return parts.every((part) => {
    if (part[0] === "#") return made.id === part.slice(1);
    if (part[0] === ".") return made.classList.contains(part.slice(1));
    if (part[0] !== "[") return made.tagName === part.toUpperCase();
    const [, name, value] = /^\[([\w-]+)(?:="(.*)")?\]$/.exec(part);
    return value === undefined ? made.hasAttribute(name) : made.getAttribute(name) === value;
  });
}

const matchesAny = (made, selectors) => selectors.split(",").some((selector) => matches(made, selector));

export class FakeElement {
  childNodes = [];
  parentElement = null;
  style = { setProperty() {}, removeProperty() {} };
  #attributes = new Map();
  #listeners = [];

  constructor(name) {
    this.tagName = name.toUpperCase();
    this.dataset = new Proxy({}, {
      get: (_, key) => this.getAttribute(`data-${dashed(key)}`) ?? undefined,
      set: (_, key, value) => {
        this.setAttribute(`data-${dashed(key)}`, value);
        return true;
      },
    });
    const words = () => new Set((this.getAttribute("class") ?? "").split(" ").filter(Boolean));
    this.classList = {
      contains: (word) => words().has(word),
      toggle: (word, isOn = !words().has(word)) => {
        const all = words();
        if (isOn) all.add(word);
        else all.delete(word);
        this.setAttribute("class", [...all].join(" "));
      },
    };
  }

  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.#attributes.has(name);
  }

  setAttribute(name, value) {
    this.#attributes.set(name, String(value));
    if (name === "value") this.value = String(value);
    if (name === "checked") this.checked = true;
    if (name === "tabindex") this.tabIndex = Number(value);
  }

  removeAttribute(name) {
    this.#attributes.delete(name);
  }

  get children() {
    return this.childNodes.filter((node) => node instanceof FakeElement);
  }

  get textContent() {
    return this.childNodes.map((node) => (node instanceof FakeElement ? node.textContent : node)).join("");
  }

  set textContent(text) {
    this.replaceChildren(...(text === "" ? [] : [String(text)]));
  }

  remove() {
    if (!this.parentElement) return;
    if (this.contains(document.activeElement)) document.activeElement = document.body;
    this.parentElement.childNodes = this.parentElement.childNodes.filter((node) => node !== this);
    this.parentElement = null;
  }

  insertBefore(node, reference) {
    if (node instanceof FakeElement) {
      node.remove();
      node.parentElement = this;
    }
    const at = reference ? this.childNodes.indexOf(reference) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    return node;
  }

  append(...nodes) {
    for (const node of nodes) this.insertBefore(node instanceof FakeElement ? node : String(node), null);
  }

  replaceChildren(...nodes) {
    for (const child of this.children) child.remove();
    this.childNodes = [];
    this.append(...nodes);
  }

  before(...nodes) {
    for (const node of nodes) this.parentElement.insertBefore(node, this);
  }

  contains(other) {
    for (let node = other; node; node = node.parentElement) if (node === this) return true;
    return false;
  }

  closest(selectors) {
    let node = this;
    while (node && !matchesAny(node, selectors)) node = node.parentElement;
    return node;
  }

  querySelectorAll(selectors) {
    return this.children.flatMap((child) => [...(matchesAny(child, selectors) ? [child] : []), ...child.querySelectorAll(selectors)]);
  }

  querySelector(selectors) {
    return this.querySelectorAll(selectors)[0] ?? null;
  }

  addEventListener(name, tell) {
    this.#listeners.push([name, tell]);
  }

  /* Tells this element and those around it. */
  dispatch(name, more = {}) {
    const event = { target: this, defaultPrevented: false, preventDefault() {}, stopPropagation() {}, ...more };
    for (let node = this; node; node = node.parentElement) for (const [known, tell] of node.#listeners.slice()) if (known === name) tell(event);
  }

  click() {
    if (!this.disabled) this.dispatch("click");
  }

  focus() {
    document.activeElement = this;
    this.dispatch("focusin");
  }

  checkVisibility() {
    return true;
  }

  getBoundingClientRect() {
    return { left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 };
  }

  scrollIntoView() {}

  setCustomValidity() {}
}

for (const name of ["hidden", "disabled"])
  Object.defineProperty(FakeElement.prototype, name, {
    get() {
      return this.hasAttribute(name);
    },
    set(is) {
      if (is) this.setAttribute(name, "");
      else this.removeAttribute(name);
    },
  });
Object.defineProperty(FakeElement.prototype, "id", {
  get() {
    return this.getAttribute("id") ?? "";
  },
});

const body = new FakeElement("body");
globalThis.Element = FakeElement;
globalThis.CSS = { escape: String };
globalThis.addEventListener ??= () => {};
globalThis.document = {
  hidden: false,
  body,
  activeElement: body,
  documentElement: Object.assign(new FakeElement("html"), { clientWidth: 1000, clientHeight: 800 }),
  createElement: (name) => new FakeElement(name),
  createElementNS: (_, name) => new FakeElement(name),
  addEventListener: () => {},
};

/* An element of the page. */
export function place(name = "section") {
  const made = new FakeElement(name);
  body.append(made);
  return made;
}

const later = globalThis.setTimeout;

/* Until all that is under way has ended, but what waits for a time. */
export const settle = () => new Promise((done) => later(done, 5));

/* Every pause of the page from now on, instead of it: {ms, go(), isOver}. */
export function holdTimers() {
  const held = [];
  globalThis.setTimeout = (go, ms) => {
    held.push({ ms, go, isOver: false });
    return held[held.length - 1];
  };
  globalThis.clearTimeout = (timer) => {
    if (timer) timer.isOver = true;
  };
  return held;
}

/* A promise, and what ends it. */
export function promised() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
