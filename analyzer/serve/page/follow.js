/*
 * follow.js: a panel that asks the source what it shows. It asks again when another selection, other filters, another run
 * or other epochs are chosen, and when the run has grown; only while it is near what can be seen; one question at a time.
 */
import { filteredNow, selectionNow } from "./selection.js";

const NEAR = "300px 0px";
const REST = 4; /* a run that grows is asked about again after so many times as long as the last answer took */

/* What a panel is about: the selection; without one, what passes the filters; null: everything. */
export const chosenNow = (state) => selectionNow(state) ?? filteredNow(state);

/* A selection of every example: the source knows no other way to say so than a filter that lets all through. */
export const everything = (state) => ({ run: state.run, epochs: state.view.range, filters: { confidence: { min: 0 } } });

/*
 * load() is an async function that asks, and shows the answer; fail(text) shows why that could not be done: it is given
 * null where it could. Returns a function that asks again at once.
 */
export function follow(section, state, { load, fail }) {
  let isNear = false;
  let isWanted = false;
  let isBusy = false;
  let asked = null; /* what the last question was about */
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
      /* A version that is gone: the loader brings the next one, and with it comes the next question. */
      if (!error.gone) fail(error.message);
    }
    restUntil = performance.now() + REST * (performance.now() - began);
    isBusy = false;
    look();
  };

  const look = () => {
    clearTimeout(timer);
    /* The state of another run than the view is about to be loaded. */
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
