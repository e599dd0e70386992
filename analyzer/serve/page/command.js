/* command.js: a command line that can be copied. */
import { button, element } from "./dom.js";

/* A word as a shell reads it. */
export const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/* The line for a list of words. */
export const lineOf = (command) => command.map(quote).join(" ");

/* Copies a text; where that is not allowed, the element that shows it is marked. Is it copied? */
export async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(shown);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}

/* Broken between its words alone: browsers would break it after each "-". */
export const showWords = (code, text) => code.replaceChildren(...text.split(" ").flatMap((word, i) => [...(i > 0 ? [" "] : []), element("span", { class: "word" }, word)]));

/* The command with a button that copies it. */
export function commandLine(text) {
  const code = element("code");
  showWords(code, text);
  const copied = element("span", { role: "status", class: "hint" });
  const press = async () => {
    copied.textContent = (await copy(text, code)) ? "Copied." : "Press Ctrl-C: the command is marked.";
  };
  return element("div", { class: "command-line" }, element("pre", { tabindex: 0, "aria-label": "Command" }, code), button("Copy", press, { "aria-label": `Copy ${text.slice(0, 60)}` }), copied);
}
