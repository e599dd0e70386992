/* pinned.js: the cards of pinned examples, which follow the run as it grows. */
import { cardOf } from "./card.js";
import { button, element } from "./dom.js";
import { mediaOf } from "./media.js";
import { tagOf } from "./tag_marks.js";

export function showPinned(section, { state, source, loader }) {
  let ticket = 0;
  let cards = new Map(); /* by run, id and kind of media: {example, media, content, article}. A card stays, so that its sound plays on */
  state.define("pinnedExamples", []);
  section.append(element("h2", {}, "Pinned"));

  /* Those that are not observed in these epochs are left out, and stay pinned. */
  const load = async () => {
    const mine = ++ticket;
    if (!state.view) return;
    const at = loader.at();
    const found = await Promise.all(state.pinned.map((id) => source.exampleOf(at, id).catch(() => null)));
    if (mine === ticket) state.set({ pinnedExamples: found.filter(Boolean).map((example) => ({ ...example, id: String(example.id) })) });
  };

  const unpin = (id) => state.set({ pinned: state.pinned.filter((other) => other !== id) });

  const makeCard = (example) => {
    const made = { example, media: mediaOf({ state, source }, example) };
    made.content = element("div", { class: "card-content" }, made.media);
    made.article = element(
      "article",
      { onmouseenter: () => state.set({ hovered: made.example.place }) },
      button("×", () => unpin(example.id), { class: "close", "aria-label": `Unpin ${example.id}` }),
      made.content,
    );
    return made;
  };

  /* Everything is made anew around the media, which do not move: a sound that is moved stops. */
  const fill = ({ content, media }, example) => {
    const axes = state.points ? [state.points.x.name, state.points.y.name] : [];
    const place = media && element("div");
    const parts = [...cardOf(example, axes, state.view, [], [tagOf(state, example.id), place]).children];
    const i = parts.indexOf(place);
    [...content.children].filter((child) => child !== media).forEach((child) => child.remove());
    media?.before(...parts.slice(0, i));
    content.append(...parts.slice(i + 1));
  };

  const show = () => {
    section.hidden = state.pinned.length === 0;
    const former = cards;
    cards = new Map();
    for (const example of state.pinnedExamples) {
      const key = JSON.stringify([state.view.run, example.id, example.media]);
      const made = former.get(key) ?? makeCard(example);
      cards.set(key, made);
      made.example = example;
      fill(made, example);
    }
    for (const [key, { article }] of former) if (!cards.has(key)) article.remove();
    [...cards.values()].forEach(({ article }, i) => {
      const there = section.children[i + 1] ?? null; /* after the heading */
      if (article !== there) section.insertBefore(article, there);
    });
  };

  state.subscribe(["pinned", "view"], load);
  state.subscribe(["pinned", "pinnedExamples", "tags"], show);
  show();
}
