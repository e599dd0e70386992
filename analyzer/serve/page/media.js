/*
 * media.js: the picture or sound of an example, if the server was started with --media. The file's name only suggests what it is: if
 * the browser cannot take it, the server is asked what it is, or why it is not shown.
 */
import { element } from "./dom.js";

const picture = (address, id) => element("img", { src: address, loading: "lazy", decoding: "async", alt: `picture of ${id}` });
const player = (address, id) => element("audio", { src: address, controls: true, preload: "none", "aria-label": `sound of ${id}` });

/* Tries the other kind, if the server says that the file is of that. */
async function mend(holder, made, { source, state }, id, isAgain) {
  const say = (text) => holder.replaceChildren(element("span", { class: "hint", title: text }, text));
  try {
    const type = (await source.mediaType(state.view.run, id)) ?? "unknown";
    const isSound = type.startsWith("audio/");
    if (isAgain || isSound === (made.tagName === "AUDIO")) say(`This browser cannot show the file (${type}).`);
    else fill(holder, isSound ? "audio" : "image", { source, state }, id, true);
  } catch (error) {
    say(error.message);
  }
}

function fill(holder, kind, parts, id, isAgain = false) {
  const address = parts.source.mediaAddress(parts.state.view.run, id);
  const made = kind === "audio" ? player(address, id) : picture(address, id);
  made.addEventListener("error", () => mend(holder, made, parts, id, isAgain), { once: true });
  holder.replaceChildren(kind === "audio" ? made : element("a", { href: address, target: "_blank", rel: "noopener", title: "Open the picture", tabindex: -1 }, made));
}

/* null: the example has none. */
export function mediaOf(parts, example) {
  if (!example.media) return null;
  const holder = element("div", { class: "media" });
  fill(holder, example.media, parts, String(example.id));
  return holder;
}

/* For a card that goes with the pointer: nobody could press the buttons of a player there. */
export function mediaGlance(parts, example) {
  return example.media === "audio" ? element("p", { class: "hint" }, "♪ A sound: pin the example to play it.") : mediaOf(parts, example);
}
