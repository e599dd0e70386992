/*
 * suspects.js: the labels that are likely wrong, as `portolan suspects` lists them: selects them, so that the table shows them in
 * the order of the list, with rank, suggested label and score.
 */
import { number } from "./dom.js";
import { same } from "./state.js";

const POLL_MS = 500;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/* The list as the source answers once it is made, with `at`, the view that it was asked about; null: the page has gone on to another
 * run. A run may grow meanwhile, so each question is about the view that is shown. tell(answer) hears that the list is not there yet. */
async function whenMade({ state, source, loader }, tell) {
  const { run } = state.view;
  for (;;) {
    const at = loader.at();
    const answer = await source.suspects(at).catch((error) => {
      if (!error.gone) throw error;
      return { state: "gone" };
    });
    if (state.run !== run || state.view.run !== run) return null;
    if (answer.state === "failed") throw new Error(answer.error);
    if (answer.state === "made") return { at, ...answer };
    tell(answer);
    await wait(POLL_MS);
  }
}

/*
 * Selects the suspects, and answers {called, weak, current}: how many they are, why the list is weak, and whether it is of the run's
 * present state. null: nothing was selected. The state's `ranking` is {run, filter, rows}: the run, the selection's filter of ids, and by id the row of the list.
 */
export async function openSuspects(parts, tell) {
  const made = await whenMade(parts, tell);
  if (!made || made.answer.suspects.length === 0) return null;
  const { at, answer, current } = made;
  const filter = { in: answer.suspects.map(({ id }) => String(id)) };
  const rows = new Map(answer.suspects.map((row) => [String(row.id), row]));
  parts.state.set({ ranking: { run: at.run, filter, rows }, sort: "listed", find: "", selection: { x: "", y: "", parts: [], epochs: at.epochs, filters: { id: filter } } });
  return { ...answer, current };
}

/* The list that is selected now; null: another selection, or none. */
export function rankingNow({ ranking, selection }) {
  const list = selection.filters?.id;
  return ranking && list && (list === ranking.filter || same(list, ranking.filter)) ? ranking : null;
}

/* The columns of the table for such a list: {name, title, about, of(row), isNumber}. The first one sorts the table. */
export const RANKING_COLUMNS = [
  { name: "listed", title: "rank", about: "the rank in the list of suspects: 1 is the most suspect", of: ({ rank }) => String(rank), isNumber: true },
  { name: "suggested", title: "suggested", about: "the class, other than the label, to which the model gave most of its probability", of: ({ suggested }) => suggested ?? "–" },
  { name: "score", title: "score", about: "how suspect the label is: the higher, the more. It is no probability", of: ({ score }) => number(score), isNumber: true },
];
