/* pinned.js: the cards of pinned examples, which follow the run as it grows. */
import { cardOf } from "./card.js";
import { button, element } from "./dom.js";
import { mediaOf } from "./media.js";
import { tagOf } from "./tag_marks.js";

export function showPinned(section, { state, source, loader }) {
  let ticket = 0;
  state.define("pinnedExamples", []);

  /* Those that are not observed in these epochs are left out, and stay pinned. */
  const load = async () => {
    const mine = ++ticket;
    if (!state.view) return;
    const at = loader.at();
    const found = await Promise.all(state.pinned.map((id) => source.exampleOf(at, id).catch(() => null)));
    if (mine === ticket) state.set({ pinnedExamples: found.filter(Boolean).map((example) => ({ ...example, id: String(example.id) })) });
  };

  const unpin = (id) => state.set({ pinned: state.pinned.filter((other) => other !== id) });

  const show = () => {
    section.hidden = state.pinned.length === 0;
    const axes = state.points ? [state.points.x.name, state.points.y.name] : [];
    section.replaceChildren(
      element("h2", {}, "Pinned"),
      ...state.pinnedExamples.map((example) =>
        element(
          "article",
          { onmouseenter: () => state.set({ hovered: example.place }) },
          button("×", () => unpin(example.id), { class: "close", "aria-label": `Unpin ${example.id}` }),
          cardOf(example, axes, state.view, [], [tagOf(state, example.id), mediaOf({ state, source }, example)]),
        )),
    );
  };

  state.subscribe(["pinned", "view"], load);
  state.subscribe(["pinned", "pinnedExamples", "tags"], show);
  show();
}
