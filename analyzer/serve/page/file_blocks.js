/*
 * file_blocks.js: what `portolan map -o FILE.html` left in the page: script elements that hold JSON, or numbers as base64
 * (little-endian). Each is parsed at its first use, and its text is then dropped.
 */

const PREFIX = "file-";

const elementOf = (name) => document.getElementById(PREFIX + name);

/* Is this page a file with data inside? */
export const isFile = () => elementOf("about") !== null;

export const hasBlock = (name) => elementOf(name) !== null;

function takeText(name) {
  const block = elementOf(name);
  const text = block.textContent;
  block.textContent = "";
  return text;
}

function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

const known = new Map();

function remember(name, read) {
  if (!known.has(name)) known.set(name, read());
  return known.get(name);
}

export const jsonBlock = (name) => remember(name, () => JSON.parse(takeText(name)));

/* type: Float64Array, Int32Array, … */
export const numbersBlock = (name, type) => remember(name, () => new type(decode(takeText(name)).buffer));
