/* runs.js: chooses the run, and says how far it is. */
import { count, fillSelect } from "./dom.js";
import { isRecording } from "./loader.js";
import { NOTHING } from "./selection.js";

export const AFRESH = { epochs: "", box: null, cuts: null, selection: NOTHING, of: "", isLost: false, isOverwritten: false, filters: {}, pinned: [], hovered: null };
const LOOK_MS = 5000;

function facts(state) {
  const { view } = state;
  const examples = view.points < view.examples ? `${count(view.points)} of ${count(view.examples)}` : count(view.examples);
  const epochs = view.epochs.length < view.all_epochs.length ? `${view.epochs.length} of ${view.all_epochs.length}` : view.epochs.length;
  return `${isRecording(state) ? "● recording · " : ""}${examples} ${view.examples === 1 ? "example" : "examples"} · ${epochs} ${view.all_epochs.length === 1 ? "epoch" : "epochs"}`;
}

/* All that the page shows of the list of runs: their names, and whether they are being recorded. */
const told = (runs) => JSON.stringify(runs?.map(({ name, state }) => [name, state]));

export function showRuns(header, { state, source }) {
  const select = header.querySelector("select");
  const text = header.querySelector("#run-facts");
  const status = header.querySelector("#status");

  select.addEventListener("change", () => state.set({ ...AFRESH, run: select.value }));
  const fill = () => {
    const names = (state.runs ?? []).map(({ name }) => name);
    if (state.run && !names.includes(state.run)) names.unshift(state.run);
    fillSelect(select, names.map((name) => [name, name]), state.run);
  };
  state.subscribe(["runs", "run"], fill);
  state.subscribe(["view", "runs", "gone"], () => {
    text.textContent = state.view && !state.gone ? facts(state) : "";
    text.classList.toggle("recording", isRecording(state));
  });
  state.subscribe(["busy", "error"], () => {
    status.textContent = state.error ?? "";
    status.classList.toggle("error", Boolean(state.error));
    document.body.classList.toggle("busy", state.busy);
  });
  /* The run that was shown has gone: so does all that the page shows of it. null: it is there. */
  const leave = (gone) => {
    if (gone || state.gone) state.set({ gone, error: gone, errorStatus: null });
  };
  state.subscribe(["run"], () => leave(null));
  const look = async () => {
    try {
      const runs = document.hidden && state.runs ? state.runs : await source.runs();
      if (told(runs) !== told(state.runs)) state.set({ runs });
      const isShown = Boolean(state.view) && state.view.run === state.run;
      if (runs.some(({ name }) => name === state.run)) leave(null);
      else if (isShown) leave(`The run '${state.run}' is no longer in the store: it was removed, or the store is another one now. This page shows it as soon as it is there again.`);
      /* Without a run in the address, the newest one. */
      if (!state.run && runs.length > 0)
        state.set({ run: [...runs].sort((a, b) => (a.created < b.created ? 1 : -1))[0].name });
      else if (runs.length === 0 && !state.gone) state.set({ error: "The store has no run yet: this page shows one as soon as it begins.", errorStatus: null });
    } catch (error) {
      if (state.view && error.status === 503) leave(`${error.message}. This page shows the run as soon as it is there again.`);
      else if (!state.view) state.set({ error: error.message, errorStatus: error.status ?? null });
    }
    if (source.live) setTimeout(look, LOOK_MS);
  };
  look();
}
