/* theme.js: chooses light, dark, or as the browser has it. In a notebook's frame the browser has it as the notebook does. */
import { button } from "./dom.js";
import { chooseTheme } from "./palette.js";

/* In the order in which the button goes through them. */
const LOOKS = {
  auto: ["◐", "Theme: as the browser or the notebook has it. Press for light"],
  light: ["☀\ufe0e", "Theme: light. Press for dark"],
  dark: ["☾", "Theme: dark. Press for that of the browser or the notebook"],
};
const NAMES = Object.keys(LOOKS);

export function showTheme(header, { state }) {
  state.define("theme", "auto", true, (theme) => NAMES.includes(theme));
  const made = button("", () => state.set({ theme: NAMES[(NAMES.indexOf(state.theme) + 1) % NAMES.length] }), { class: "theme" });
  header.append(made);
  const show = () => {
    const [sign, text] = LOOKS[state.theme];
    made.textContent = sign;
    made.title = text;
    made.setAttribute("aria-label", text);
    chooseTheme(state.theme);
  };
  state.subscribe(["theme"], show);
  show();
}
