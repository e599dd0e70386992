/*
 * source.js: the source of all data. No other module of the page asks the server.
 *
 * A page that is one file has a source with the same methods, without a server. Every method returns a promise. It fails
 * with a SourceError, whose `status` is that of HTTP. Its `gone` is true if the server no longer has the view's version;
 * the loader then loads the view again.
 *
 * `at` is {run, epochs, version} and names a view. Ids are texts everywhere, also whole numbers.
 */

export class SourceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
    this.gone = status === 409;
  }
}

/* JSON numbers beyond 2^53 would lose digits, so ids become texts before the answer is parsed. */
function parseJson(text) {
  return JSON.parse(text.replace(/([{,]\s*"id":\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
}

/* The ids of {"count": N, "ids": […]}, as texts. */
function parseIds(text) {
  return JSON.parse(text.replace(/^(\{"count":\d+,"ids":\[)([\d,]*)\]\}$/, (all, begin, ids) =>
    ids ? begin + '"' + ids.replaceAll(",", '","') + '"]}' : all));
}

function addressOf(path, query) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && (value !== "" || name === "epochs")) parts.set(name, value);
  }
  const text = parts.toString();
  return text ? `${path}?${text}` : path;
}

async function ask(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new SourceError(0, "The server does not answer. Is `portolan serve` still running?");
  }
  if (response.ok || response.status === 304) return response;
  let message = `The server answered ${response.status}.`;
  try {
    message = JSON.parse(await response.text()).error || message;
  } catch {
    /* The answer gives no reason. */
  }
  throw new SourceError(response.status, message);
}

/* Answers about a selection use the places of this view, whose epochs may not be the selection's own. */
const ofView = ({ epochs, version }) => ({ epochs, version });

const ifLog = (scale) => (scale === "log" ? scale : undefined);

/* What is asked of axes and colours, as the query names it. */
const axesQuery = ({ x, y, xScale, yScale }) => ({ x, y, x_scale: ifLog(xScale), y_scale: ifLog(yScale) });
const colourQuery = ({ colour, colourScale, pick }) => ({ colour, colour_scale: ifLog(colourScale), pick: pick && JSON.stringify(pick) });

const getJson = async (path, query) => parseJson(await (await ask(addressOf(path, query))).text());
const getBytes = async (path, query, options) => (await ask(addressOf(path, query), options)).arrayBuffer();

export class ServerSource {
  /* Is there a server, so that runs can grow? */
  live = true;

  /* A sentence about why this page cannot do something; null: it can. `what` is a form of select(), "texts" or "report". */
  whyNot(_what) {
    return null;
  }

  /* All runs, as `portolan runs --json` prints them. */
  runs() {
    return getJson("api/runs", {});
  }

  /* The view; null: `known` is still its version. */
  async view(run, epochs, known) {
    const response = await ask(addressOf("api/view", { run, epochs, known }));
    return response.status === 304 ? null : parseJson(await response.text());
  }

  /*
   * What there is to know of an axis: {name, kind: "number" or "category", integer, none, low, high, least}; of categories also
   * {values: [{label, value, count}], more}. `name`: a measure, "gold" or "data:COLUMN".
   */
  axis(at, name) {
    return getJson("api/axis", { ...at, name });
  }

  /*
   * {bytes, n}: n × uint16 x, n × uint16 y, n × uint8 colour, by place. x and y are names as those of axis(), colour too or
   * "none". xScale, yScale and colourScale: "log", else they are linear. pick: labels of the categories that have the colours
   * 0, 1, …; without it, the largest have. All others have colour 12.
   */
  async points(at, axes) {
    const bytes = await getBytes("api/points", { ...at, ...axesQuery(axes), ...colourQuery(axes) });
    return { bytes, n: bytes.byteLength / 5 };
  }

  /*
   * {name, kind: "number", none, low, high}, with {scale: "log", least} on such a scale; {name, kind: "category", none, values:
   * [{label, value, count}]}, in the order of their colours, and last, for all others together, {label: "other", value: null, count,
   * other: true}; or null. `none` counts the examples without a value.
   */
  legend(at, colour, { colourScale, pick } = {}) {
    return getJson("api/legend", { ...at, ...colourQuery({ colour, colourScale, pick }) });
  }

  /* Counts by cell of a box of [left, right, low, high], in the units of the values; row 0 has the lowest y. Cells are even on the scales. */
  async bins(at, { box, columns, rows, ...axes }) {
    return new Uint32Array(await getBytes("api/bins", { ...at, ...axesQuery(axes), box: box.join(), columns, rows }));
  }

  /* {inside, n, places, bytes}: `n` of the `inside` points in a box; bytes as from points(). */
  async inside(at, { box, most, ...axes }) {
    const answer = await getBytes("api/inside", { ...at, ...axesQuery(axes), ...colourQuery(axes), box: box.join(), most });
    const [inside, n] = new Uint32Array(answer, 0, 2);
    return { inside, n, places: new Uint32Array(answer, 8, n), bytes: answer.slice(8 + 4 * n) };
  }

  /* Uint32Array: by place of `at`, the place of the same id in the view `other`; 0xffffffff: `other` does not have it. */
  async match(at, other) {
    return new Uint32Array(await getBytes("api/match", { ...at, other: other.run, other_epochs: other.epochs, other_version: other.version }));
  }

  /* {fingerprint} of the data of a run; with `other`, the name of another one, also {other_fingerprint, warning}: a sentence if the ids of
   * the two seem to name other examples. null: not known, and nothing to warn of. */
  fingerprint(run, other) {
    return getJson("api/fingerprint", { run, other });
  }

  /* One example, with its measures, texts and its story by epoch. */
  example(at, place) {
    return getJson("api/example", { ...at, place });
  }

  /* null: the view has no such example. */
  exampleOf(at, id) {
    return getJson("api/example", { ...at, id });
  }

  /* How far the run is, as `portolan watch --json` prints it. */
  progress(run) {
    return getJson("api/progress", { run });
  }

  /* A selection (see selection.js) as a Response, in the form `as` with further `query`. With `version` and `epochs`, the answer has
   * the examples, places and measures of that view; without, those of the selection's own epochs. */
  select(run, selection, as, query = {}) {
    const path = `api/runs/${encodeURIComponent(run)}/select`;
    return ask(addressOf(path, { as, ...query }), { method: "POST", body: JSON.stringify(selection) });
  }

  /* One bit per place, the lowest bit of a byte first. */
  async mask(at, selection) {
    const response = await this.select(at.run, selection, "mask", ofView(at));
    return new Uint8Array(await response.arrayBuffer());
  }

  /*
   * {count, from, searched, complete, rows}: examples of the selection, as from example(). query: sort, descending,
   * from, most, q (a text to search for), around (a place: answers with the page that has it).
   */
  async rows(at, selection, query) {
    return parseJson(await (await this.select(at.run, selection, "rows", { ...ofView(at), ...query })).text());
  }

  async count(at, selection) {
    return (await this.rows(at, selection, { most: 1 })).count;
  }

  /* The ids of a selection, as texts. */
  async ids(at, selection) {
    const response = await this.select(at.run, selection, "ids", ofView(at));
    return parseIds(await response.text()).ids;
  }

  /* The selection last kept for the run by a program or a page: {serial, selection}; null: `known` is still its serial. */
  async keptSelection(run, known) {
    const response = await ask(addressOf("api/selection", { run, known }));
    return response.status === 304 ? null : parseJson(await response.text());
  }

  /* The answer of `portolan report --json` about the view, or how far the server is with it: README.md describes the object. `anew`:
   * it is made again. */
  report(at, anew) {
    return getJson("api/report", { ...at, anew: anew ? 1 : undefined });
  }

  /* The answer of `portolan suspects --json`, likewise. */
  suspects(at) {
    return getJson("api/suspects", at);
  }

  /* The run's tags: {serial, saved, names, tags: [{id, tag, label}]}; saved: does the server keep tags? null: `known` is still the
   * serial. */
  async tags(run, known) {
    const response = await ask(addressOf("api/tags", { run, known }));
    return response.status === 304 ? null : parseJson(await response.text());
  }

  /* Saves changes of tags, {id, tag, label} or {names}. Answers {serial}. */
  async tag(run, changes) {
    const path = `api/runs/${encodeURIComponent(run)}/tags`;
    return parseJson(await (await ask(path, { method: "POST", body: JSON.stringify({ changes }) })).text());
  }

  /* The labels that an example of the run can have. */
  async classes(at) {
    return (await getJson("api/classes", at)).classes;
  }

  /* Where the picture or sound of an example is. */
  mediaAddress(run, id) {
    return addressOf("api/media", { run, id });
  }

  /* What it is, by its content: "image/png". */
  async mediaType(run, id) {
    const response = await ask(this.mediaAddress(run, id), { headers: { Range: "bytes=0-0" } });
    return response.headers.get("Content-Type");
  }

  async keep(run, selection) {
    return parseJson(await (await this.select(run, selection, "keep")).text());
  }
}
