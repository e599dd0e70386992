/* texts.js: users' texts. They may be long, be in any script, and hold marks that change the direction of the text after them. */
import { button, count, element } from "./dom.js";

/* The first characters of a text, with no half of one at the end. */
export function cut(text, most) {
  if (text.length <= most) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text[most - 1]);
  return text.slice(0, isHalf ? most - 1 : most);
}

/*
 * One field of an example, with its name if one is given. Beyond `most` characters it is cut, and a button shows all of it. The set `opened`
 * has the `key` of each text that is shown whole, so that it stays whole when the run grows.
 */
export function textField(name, text, most, opened, key) {
  const content = element("p", { class: "user-text", dir: "auto" });
  const parts = [name === null ? null : element("span", { class: "field" }, name), content];
  if (text.length > most) {
    const more = button("", () => {
      if (!opened.delete(key)) opened.add(key);
      show();
    }, { class: "more" });
    const show = () => {
      const isOpen = opened.has(key);
      content.textContent = isOpen ? text : `${cut(text, most)}…`;
      content.classList.toggle("whole", isOpen);
      more.textContent = isOpen ? "Less" : `All ${count(text.length)} characters`;
      more.setAttribute("aria-expanded", String(isOpen));
    };
    show();
    parts.push(more);
  } else {
    content.textContent = text;
  }
  return element("div", { class: name === null ? "text-field" : "text-field named" }, ...parts);
}
