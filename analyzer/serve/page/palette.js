/*
 * palette.js: colours, for dark and light, and which of the two is shown. People with the common colour blindnesses can tell categories apart, and
 * every mark has a contrast of at least 3:1 with its background.
 */

const CATEGORIES = {
  light: ["#0072b2", "#d55e00", "#00805c", "#b2558a", "#2e1733", "#488bfb", "#857400", "#8a1c1c", "#5b5fc7", "#4f7a1b", "#a6611a", "#40128f"],
  dark: ["#56b4e9", "#e69f00", "#1fbf92", "#d98bb8", "#c1fcf7", "#7457d1", "#f6f852", "#748862", "#f28e6c", "#21e79b", "#a592c9", "#50d9ef"],
};
const OTHER = { light: "#767676", dark: "#9a9a9a" };
const NONE = { light: "#a08a6c", dark: "#8f8168" }; /* of a ring: no value */
const UNSELECTED = { light: "#b9bdc3", dark: "#4b535c" };
const ONE = { light: "#0072b2", dark: "#56b4e9" };
/* The part of viridis that has this contrast. */
const VIRIDIS = { light: [0, 0.59], dark: [0.34, 1] };

/* The theme that was chosen: "light", "dark", or "auto", that of the browser, which in a frame is that of the page around it. */
let chosen = "auto";
const darkness = matchMedia("(prefers-color-scheme: dark)");
const toTell = new Set();
const tellAll = () => {
  for (const tell of toTell) tell();
};
darkness.addEventListener("change", tellAll);

export const theme = () => (chosen !== "auto" ? chosen : darkness.matches ? "dark" : "light");
export const onTheme = (tell) => toTell.add(tell);

export function chooseTheme(name) {
  chosen = name;
  document.documentElement.dataset.theme = name; /* for style.css */
  tellAll();
}

export const plainColour = () => ONE[theme()];
export const unselectedColour = () => UNSELECTED[theme()];

/* The number of the last entry in a legend of categories, which stands for all that have no colour of their own. */
export const OTHERS = CATEGORIES.light.length;
export const isOthers = (rank) => rank >= OTHERS;

export const categoryColour = (rank) => CATEGORIES[theme()][rank] ?? OTHER[theme()];

export const noneColour = () => NONE[theme()];

/* The look of examples without a value: a ring. What is in no saved selection is as grey as what is not selected. */
export const noneLook = (legend) => (legend?.name === "saved" ? { colour: unselectedColour(), isRing: false } : { colour: noneColour(), isRing: true });

/* share: from 0, the lowest, to 1. */
export function numberColour(share) {
  const [from, to] = VIRIDIS[theme()];
  return d3.interpolateViridis(from + share * (to - from));
}

/* The look of each byte that a point may have: 256 × [red, green, blue, 255 for a disc or 0 for a ring], 0 … 255. */
export function byteColours(legend) {
  const bytes = new Uint8Array(256 * 4);
  const none = noneLook(legend);
  for (let byte = 0; byte < 256; byte++) {
    const isNone = Boolean(legend) && byte === 255;
    const isRing = isNone && none.isRing;
    const text = !legend ? plainColour() : isNone ? none.colour : legend.kind === "category" ? categoryColour(byte) : numberColour(byte / 254);
    const { r, g, b } = d3.color(text).rgb();
    bytes.set([r, g, b, isRing ? 0 : 255], 4 * byte);
  }
  return bytes;
}
