/*
 * follow.js: keeps a panel up to date. The panel asks the source again when the selection, the filters, the run or the epochs
 * change, and when the run has grown. It asks one question at a time, and only while it is in view or close to it.
 */
import { filteredNow, selectionNow } from "./selection.js";

const NEAR = "300px 0px";
const REST = 4; /* times as long as the last answer took: the pause before a growing run is asked about again */

/* The examples that a panel is about: the selection, or without one those that pass the filters; null: all. */
export const chosenNow = (state) => selectionNow(state) ?? filteredNow(state);

/* A selection of every example. The source has no other form for that than a filter that lets all through. */
export const everything = (state) => ({ run: state.run, epochs: state.view.range, filters: { epochs: { min: 0 } } });

/*
 * load() is an async function that asks, and shows the answer. fail(text) shows why load() failed; null: it did not fail.
 * Returns a function that asks again at once.
 */
export function follow(section, state, { load, fail }) {
  let isNear = false;
  let isWanted = false;
  let isBusy = false;
  let asked = null; /* the subject of the last question */
  let restUntil = 0;
  let timer = 0;

  const about = () => JSON.stringify([state.view.run, state.view.range, chosenNow(state)]);

  const ask = async () => {
    isBusy = true;
    isWanted = false;
    asked = about();
    const began = performance.now();
    try {
      await load();
      fail(null);
    } catch (error) {
      /* The version is gone: the loader brings the next one, and the panel then asks again. */
      if (!error.gone) fail(error.message);
    }
    restUntil = performance.now() + REST * (performance.now() - began);
    isBusy = false;
    look();
  };

  const look = () => {
    clearTimeout(timer);
    /* If the run of the state is not that of the view, its view is about to be loaded. */
    if (!isWanted || isBusy || !isNear || !state.view || state.view.run !== state.run) return;
    const rest = asked === about() ? restUntil - performance.now() : 0;
    if (rest > 0) timer = setTimeout(look, rest);
    else ask();
  };

  const want = () => {
    isWanted = true;
    look();
  };

  new IntersectionObserver((entries) => {
    isNear = entries[entries.length - 1].isIntersecting;
    look();
  }, { rootMargin: NEAR }).observe(section);
  state.subscribe(["view", "selected", "shown"], want);
  return () => {
    restUntil = 0;
    want();
  };
}
