/*
 * notices.js: says, in the place of the map, why there is nothing to see or not all of it, and what to do about it. Where no run
 * can be shown, the notice takes the whole page's place; else it stands over the map, or at its foot if the map can be read.
 */
import { aboutOf, nameOf } from "./about.js";
import { meanOf } from "./columns.js";
import { commandLine, lineOf } from "./command.js";
import { button, count, element } from "./dom.js";
import { coordinates, NONE } from "./marks.js";
import { clearSelection } from "./parts.js";
import { AFRESH } from "./runs.js";
import { sayEpochs } from "./selection.js";

const OFFERED = 4; /* runs */
const AWAY_MS = 8000; /* from then on a graphics context is said not to come back */

const AGAIN = "This page looks again every few seconds, and goes on by itself.";
const STARTED_ANEW = ["portolan", "serve"];

/* What a source says of an error, as a sentence. */
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

const isShown = ({ view, run }) => view?.run === run;

/* Buttons for the runs that are there. */
const otherRuns = (state) => (state.runs ?? []).filter(({ name }) => name !== state.run).slice(0, OFFERED).map(({ name }) => [`Show ${name}`, () => state.set({ ...AFRESH, run: name })]);

const allEpochs = (state) => (state.epochs === "" ? [] : [["Show all epochs", () => state.set({ epochs: "" })]]);
const noFilters = (state) => (Object.keys(state.filters).length === 0 ? [] : [["Clear the filters", () => state.set({ filters: {} })]]);

/* What the source says is wrong. */
const FAILURES = [
  {
    name: "server-ended",
    fits: ({ errorStatus: status }) => status === 0,
    tell: ({ run }) => ({
      title: "The server does not answer",
      texts: ["portolan serve has ended, or this machine cannot reach it. Start it again where it ran:", "What is shown here stays until then. With the same --token-file and --port as before, this page goes on by itself. Otherwise open the address that it prints."],
      command: [...STARTED_ANEW, ...(run ? [run] : [])],
      canClose: true,
    }),
  },
  {
    name: "token",
    fits: ({ errorStatus: status }) => status === 401,
    tell: () => ({
      title: "The server was started again, with another token",
      texts: ["Open the address that portolan serve has printed this time: it holds the new token. With --token-file the token stays the same from one start to the next:"],
      command: [...STARTED_ANEW, "--token-file", "page.token"],
      canClose: true,
    }),
  },
  {
    name: "no-store",
    fits: ({ errorStatus: status, error }) => status === 503 && error?.startsWith("no store"),
    tell: ({ error }) => ({ title: "There is no store yet", texts: [`${sentence(error)} ${AGAIN} If you meant another store:`], command: [...STARTED_ANEW, "--store", "DIR"] }),
  },
  {
    name: "no-runs",
    fits: ({ runs }) => runs?.length === 0,
    tell: () => ({
      title: "The store has no run yet",
      texts: ['This page shows a run as soon as one begins: portolan.Run("NAME", store=…) in the loop that trains, or one of the hooks. Logs that exist can be brought in:'],
      command: ["portolan", "import", "LOGS", "--run", "NAME"],
    }),
  },
  {
    name: "no-run",
    fits: ({ errorStatus: status }) => status === 404,
    tell: (state) => ({ title: "There is no such run", texts: [`${sentence(state.error)} This page shows it as soon as it is there.`], buttons: otherRuns(state) }),
  },
  {
    name: "no-epochs",
    fits: ({ errorStatus: status, error }) => status === 400 && error?.includes("has no observations"),
    tell: (state) =>
      state.epochs !== ""
        ? { title: "Nothing was observed in these epochs", texts: [sentence(state.error)], buttons: allEpochs(state) }
        : {
            title: "The run has no epoch yet",
            texts: [`${sentence(state.error)} If it is being recorded, this page shows it as soon as its first observations are stored. If not, this command says what happened:`],
            command: ["portolan", "check", state.run],
            buttons: otherRuns(state),
          },
  },
  {
    name: "failed",
    fits: ({ error }) => Boolean(error),
    tell: (state) => ({ title: "This cannot be shown", texts: [sentence(state.error)], buttons: [...noFilters(state), ...allEpochs(state), ...(isShown(state) ? [] : otherRuns(state))], canClose: true }),
  },
];

function failureOf(state) {
  const { name, tell } = FAILURES.find(({ fits }) => fits(state)) ?? {};
  return tell ? { name, ...tell(state) } : null;
}

/* In the place of the whole page; null: a run is shown. */
function wholeNotice(state) {
  if (state.gone) return { name: "gone", title: "The run is gone", texts: [state.gone], buttons: otherRuns(state) };
  const failure = isShown(state) ? null : failureOf(state);
  return failure && { ...failure, canClose: false };
}

/* The axes on which no example that passes the filters has a value; all of their points are here. */
function emptyAxes({ points, marks, shown, view }) {
  if (!points || !marks || marks.drawn > 0 || points.inside < view.points || shown?.count === 0) return [];
  const has = (values) => values.some((value, i) => value !== NONE && (!shown || shown.bits[i >> 3] & (1 << (i & 7))));
  const { x, y } = coordinates(points);
  return [["x", x], ["y", y]].filter(([, values]) => !has(values)).map(([axis]) => axis);
}

function axisNotice(state) {
  const axes = emptyAxes(state);
  if (axes.length === 0) return null;
  const names = [...new Set(axes.map((axis) => state.points[axis].name))];
  const who = state.shown ? `None of the ${count(state.shown.count)} examples that pass the filters` : "No example";
  const meanings = names.map((name) => `${nameOf(name)}: ${aboutOf(state.view, name)}.`);
  return {
    name: "no-values",
    title: `${who} has a value of ${names.map(nameOf).join(", or of ")}`,
    texts: [...meanings, `So ${state.shown ? "they stand in a strip beside the map" : "nothing can stand on the map"}, in ${sayEpochs(state.view.epochs)}. Choose another measure for this axis.`],
    ...(state.shown ? { isFoot: true, canClose: true } : {}), /* the strip can be read */
    buttons: [[`Show variability and ${nameOf(meanOf(state.view))}`, () => state.set({ x: "variability", y: meanOf(state.view), box: null })], ...noFilters(state), ...allEpochs(state)],
  };
}

const GRAPHICS = {
  none: {
    name: "no-webgl",
    title: "This browser draws no points",
    texts: ["It has no WebGL2, so the map shows how many examples lie where. Selecting, the table and all else work. Another browser, or “use graphics acceleration” in this one's settings, draws the points."],
  },
  lost: {
    name: "graphics-lost",
    title: "The points are away for a moment",
    texts: ["The browser has taken the graphics processor from this page. Until it gives it back, the map shows how many examples lie where. Nothing is lost: selection and filters stay."],
  },
  away: {
    name: "graphics-away",
    title: "The points have not come back",
    texts: ["The browser does not give the graphics processor back to this page. Load the page again: its address keeps what it shows. If that does not help, start the browser anew."],
    buttons: [["Load the page again", () => location.reload()]],
  },
};

/* Over the map, or at its foot; null: all is well. */
function mapNotice(state, isAway) {
  const { view, shown } = state;
  const failure = failureOf(state);
  if (failure) return { ...failure, isFoot: failure.name === "failed" };
  if (shown?.count === 0)
    return { name: "filtered-out", title: "No example passes the filters", texts: [`The run has ${count(view.points)} examples in ${sayEpochs(view.epochs)}; the filters let none of them through.`], buttons: noFilters(state) };
  return axisNotice(state) ?? footNotice(state, isAway);
}

/* At the foot of the map, which can be read beside it; the user can close it. */
function footNotice(state, isAway) {
  const foot = footCase(state, isAway);
  return foot && { ...foot, isFoot: true, canClose: true };
}

function footCase(state, isAway) {
  const { view, selected, graphics } = state;
  if (state.isOverwritten || state.isLost)
    return {
      name: "overwritten",
      title: "The run was recorded anew",
      texts: [`The page shows the new record.${state.isLost ? " What was selected before was of its old data: the selection is gone." : ""}`],
      onClose: () => state.set({ isOverwritten: false }),
    };
  if (selected?.count === 0)
    return {
      name: "empty-selection",
      title: "The selection is empty",
      texts: [selected.all > 0 ? `None of its ${count(selected.all)} examples was observed in ${sayEpochs(view.epochs)}.` : "No example that passes the filters is inside what was drawn."],
      buttons: [["Clear the selection", () => clearSelection(state)], ...noFilters(state)],
    };
  if (graphics === "none" || graphics === "lost") return graphics === "lost" && isAway ? GRAPHICS.away : GRAPHICS[graphics];
  if (view.points === 1)
    return { name: "one-example", title: "The run has one example", texts: ["It is the point on the map. Regions, histograms and rankings compare examples: they say something once there are more."] };
  return null;
}

const textOf = (notice) => notice && JSON.stringify([notice.name, notice.title, notice.texts, notice.command, notice.buttons?.map(([text]) => text)]);

class Notices {
  #filled = new Map(); /* by element, the notice in it as text */
  #closed = null; /* the notice that the user has closed, as text; it comes again after another one */
  #lostAt = null;

  constructor(map, { state }) {
    Object.assign(this, { map, state });
    const made = (kind) => element("div", { class: `notice ${kind}`, role: "status", hidden: true });
    this.whole = made("whole");
    this.over = made("over");
    document.querySelector("main").prepend(this.whole);
    map.holder.append(this.over);
    state.define("isOverwritten", false); /* was the run that is shown recorded anew since the page was opened? */
    state.subscribe(["runs", "run", "view", "gone", "error", "errorStatus", "points", "marks", "shown", "selected", "graphics", "isLost", "isOverwritten", "busy"], () => this.#show());
  }

  #isAway() {
    const { graphics } = this.state;
    if (graphics !== "lost") this.#lostAt = null;
    else if (this.#lostAt === null) {
      this.#lostAt = performance.now();
      setTimeout(() => this.#show(), AWAY_MS + 100);
    }
    return this.#lostAt !== null && performance.now() > this.#lostAt + AWAY_MS;
  }

  #show() {
    const { state } = this;
    const whole = wholeNotice(state);
    const isReady = state.view && !state.busy;
    if (!whole && !isReady && state.view) return; /* what is being loaded may mend it */
    const over = whole || !state.view ? null : mapNotice(state, this.#isAway());
    const notice = whole ?? over;
    if (this.#closed !== textOf(notice)) this.#closed = null;
    this.#fill(this.whole, whole);
    this.#fill(this.over, this.#closed === null ? over : null);
    this.over.classList.toggle("foot", Boolean(over?.isFoot));
    document.querySelector("main").classList.toggle("covered", Boolean(whole));
    document.getElementById("panel-buttons").hidden = Boolean(whole);
    document.getElementById("status").classList.toggle("unseen", Boolean(notice) && this.#closed === null);
  }

  #fill(box, notice) {
    const said = textOf(notice);
    box.hidden = !notice;
    if (said === this.#filled.get(box)) return;
    this.#filled.set(box, said);
    box.replaceChildren();
    delete box.dataset.notice;
    if (!notice) return;
    const { name, title, texts, command, buttons = [], canClose, onClose } = notice;
    box.dataset.notice = name;
    const [first, ...more] = texts;
    const close = () => {
      this.#closed = said;
      onClose?.();
      this.#show();
    };
    box.append(
      element("h2", {}, title),
      element("p", { dir: "auto" }, first),
      ...(command ? [commandLine(lineOf(command))] : []),
      ...more.map((text) => element("p", { dir: "auto" }, text)),
      element("div", { class: "tools" }, ...buttons.map(([text, press]) => button(text, press)), ...(canClose ? [button("Close", close)] : [])),
    );
  }
}

export function showNotices(map, parts) {
  return new Notices(map, parts);
}
