"""Axes, scales, picks and selections over labels and columns: what the page that is one file answers is what the server answers, asked by the page's own two sources."""

import json
import subprocess

import numpy as np
import pytest

import stores
from served import MAKE_STORE, PORTOLAN, select_within, serving

N = 1200
NAMES = ["\U0001f600", "\ufb01", "\u00e4", "z", "Z", "a\u0301", "\u4e2d\u6587", "0", "10", "9", "aa", "A", "\u00df", "b", "c", "other"]

# What a source answers to these calls: [[method, arguments after the view]].
ASK = """
const [module, name, calls, done] = arguments;
(async () => {
  const source = (window.askedSources ??= {})[module] ??= new (await import(module))[name]();
  const view = await source.view("r", "");
  const at = { run: "r", epochs: "", version: view.version };
  const plain = (value) => (value instanceof ArrayBuffer ? [...new Uint8Array(value)] : ArrayBuffer.isView(value) ? [...value] : value);
  const answers = [];
  for (const [method, ...rest] of calls) {
    try {
      const answer = method === "select" ? await (await source.select("r", ...rest)).json() : await source[method](at, ...rest);
      const isObject = answer && typeof answer === "object" && !ArrayBuffer.isView(answer);
      answers.push(isObject ? Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, plain(value)])) : plain(answer));
    } catch (error) {
      answers.push({ error: error.status ?? error.message });
    }
  }
  return answers;
})().then(done, (error) => done(error.message));
"""


@pytest.fixture(scope="module")
def store(folder):
    """A run with a column of both signs, and examples without a label; a file with categories and numbers, which not all have."""
    random = np.random.default_rng(31)
    tilt = (random.normal(0, 1, N) * 10.0 ** random.integers(-6, 7, N)).astype("f4")
    tilt[::9] = 0
    gold, batches = random.integers(0, 3, N), []
    for e in range(3):
        p = np.clip(random.beta(0.7, 0.7, N), 1e-6, 1 - 1e-6).astype("f4")
        for part, labels in ((slice(300, N), gold[300:]), (slice(300), None)):
            batches.append(stores.batch(e, np.arange(N)[part], p[part], p[part] > 0.5, labels, tilt=tilt[part]))
    stores.make_store(MAKE_STORE, str(folder / "axes"), [stores.run("r", batches, labels=["yes", "no", "maybe"])])
    with open(folder / "axes.jsonl", "w", encoding="utf-8") as file:
        for i in range(0, N, 2):
            one = {"id": i, "kind": NAMES[int(random.integers(0, 16) * random.random())], "size": None if i % 14 == 0 else round(float(random.normal(0, 100)), 3)}
            file.write(json.dumps(one) + "\n")
        file.write(json.dumps({"id": N + 1, "kind": "Aa", "size": -1e6}) + "\n")
    return folder / "axes"


@pytest.fixture
def ask_both(page, store, folder):
    """ask_both(column, calls): the answers of the server, and of a file that holds this column."""
    data = ["--data", folder / "axes.jsonl", "--id-field", "id"]
    with serving(store, *data, "r") as server:
        live = page(server.view(run="r"))
        live.wait_for(run="r", points=N)

        def ask(column, calls, also_server=True):
            path = folder / f"axes-{column}.html"
            if not path.exists():
                subprocess.run([PORTOLAN, "map", "r", "--store", store, "-o", path, *data, "--colour", column], check=True, capture_output=True)
            file = page(path.as_uri())
            file.wait_for(run="r", points=N)
            asked = [(file, "portolan/file_source.js", "FileSource")] + [(live, "./page/source.js", "ServerSource")] * also_server
            answers = [one.here().execute_async_script(ASK, module, name, calls) for one, module, name in asked]
            assert all(isinstance(answer, list) for answer in answers), answers
            return list(zip(calls, *reversed(answers), strict=True))

        yield ask


def same_points(server, file):
    """Steps of a logarithm may differ by one: its last digit does."""
    a, b = (np.array(answer["bytes"], "u1").tobytes() for answer in (server, file))
    n = server["n"]
    if server["n"] != file["n"] or len(a) != len(b):
        return False
    for kind, begin, end in (("<u2", 0, 2 * n), ("<u2", 2 * n, 4 * n), ("u1", 4 * n, 5 * n)):
        first, second = (np.frombuffer(bytes_[begin:end], kind).astype(int) for bytes_ in (a, b))
        if np.abs(first - second).max() > 1 or np.count_nonzero(first != second) > n / 100:
            return False
    return True


@pytest.mark.parametrize("column", ["kind", "size"])
def test_axes_and_colours(ask_both, column):
    name = f"data:{column}"
    axes = [dict(x=name, y="gold", colour=name), dict(x="tilt", y=name, xScale="log", yScale="log", colour="tilt", colourScale="log"),
            dict(x="loss", y="tilt", xScale="log", colour="loss", colourScale="log"), dict(x="gold", y="first_learned", xScale="log", yScale="log", colour="gold", pick=["maybe"]),
            dict(x="confidence", y="variability", colour=name, colourScale="log")]
    if column == "kind":
        axes += [dict(x=name, y="tilt", colour=name, pick=pick) for pick in (["z"], ["\ufb01", "\U0001f600", "Aa"], [])]
    calls = [["axis", one] for one in (name, "gold", "tilt", "loss", "first_learned", "confidence")]
    calls += [["points", one] for one in axes] + [["legend", one["colour"], one] for one in axes]
    calls += [["rows", {"filters": {"confidence": {"min": 0}}}, {"sort": sort, "descending": d, "from": 300, "most": 300}] for sort in (name, "gold") for d in (0, 1)]
    for call, server, file in ask_both(column, calls):
        if call[0] == "rows":
            server, file = ([row["id"] for row in answer["rows"]] for answer in (server, file))
        same = same_points(server, file) if call[0] == "points" else server == file
        assert same and server and "error" not in server, f"{call}: {str(server)[:400]} {str(file)[:400]}"


def test_boxes(ask_both):
    calls = []
    for axes in (dict(x="data:kind", y="tilt", yScale="log", box=[-0.5, 12, -1e3, 1e6]), dict(x="loss", y="gold", xScale="log", yScale="log", box=[0.01, 3, -1, 2.5]),
                 dict(x="confidence", y="loss", box=[0.2, 0.8, 0, 1])):
        calls += [["bins", {**axes, "columns": 31, "rows": 9}], ["inside", {**axes, "colour": "data:kind", "pick": ["z", "0"], "most": N}]]
    for call, server, file in ask_both("kind", calls):
        if call[0] == "bins":
            assert sum(server) == sum(file) > 0 and sum(abs(a - b) for a, b in zip(server, file, strict=True)) <= 2 + sum(server) / 100, call
        else:
            assert server["inside"] == file["inside"] > 0 and server["places"] == file["places"] and same_points(server, file), call


def test_selections(ask_both, store, folder):
    some = [[-0.5, 0], [6, 0], [6, 2], [-0.5, 2]]
    selections = [
        dict(x="gold", y="confidence", polygon=[[0, 0], [1.5, 0.2], [2, 1], [0, 0.8]]),
        dict(x="data:kind", y="gold", parts=[dict(op="add", polygon=some), dict(op="remove", polygon=[[2, 1], [3, 1], [3, 1.5]])], filters={"confidence": {"min": 0.3}, "id": {"in": list(range(700))}}),
        dict(x="confidence", y="data:kind", polygon=[[0, -1], [1, -1], [1, 20], [0, 9]], filters={"data:kind": {"in": ["z", None, "\ufb01", "\U0001f600"]}}),
        dict(filters={"first_learned": {"in": [None, 1]}}), dict(filters={"first_learned": {"in": [None, 1], "min": 0}}), dict(filters={"tilt": {"in": [0]}, "gold": {"in": [None, 2]}})]
    calls = [[form, *rest] for one in selections for form, *rest in (["ids", one], ["mask", one], ["select", {**one, "epochs": "0:3"}, "selection"])]
    for call, server, file in ask_both("kind", calls):
        if call[0] != "select":
            assert server == file and any(server), call
            continue
        exported = folder / "exported.json"
        ids = []
        for made in (server, file):
            exported.write_text(json.dumps(made))
            ids.append(select_within(store, "r", exported))
        assert server["digests"] == file["digests"] and set(server) == set(file) and set(server.get("filters", ())) == set(file.get("filters", ())), (server, file)
        assert ids[0] == ids[1] and 0 < len(ids[0]) < N, call


def test_numbers_of_the_file(ask_both):
    """Null in the filter of a column of numbers; a lasso over it."""
    selections = [dict(filters={"data:size": {"in": [None]}}), dict(x="data:size", y="tilt", polygon=[[-200, -1e7], [200, -1e7], [100, 1e7]])]
    for call, server, file in ask_both("size", [["ids", one] for one in selections]):
        assert server == file and 0 < len(server) < N, call


def test_wrong_questions(ask_both):
    """The file refuses what the server refuses (run_serve_axes.py)."""
    points = dict(x="confidence", y="confidence")
    calls = [["axis", "nothing"], ["axis", "data:nothing"], ["points", dict(points, x="data:nothing", colour="none")], ["legend", "data:kind", dict(pick=["k9"])], ["legend", "gold", dict(pick=["never"])],
             ["legend", "gold", dict(pick=["0"])], ["bins", dict(x="loss", y="loss", xScale="log", box=[0, 1, 0, 1], columns=2, rows=2)], ["ids", dict(x="data:nothing", y="gold", polygon=[[0, 0], [1, 0], [1, 1]])],
             ["legend", "loss", dict(pick=["a"])], ["legend", "data:kind", dict(pick=["z", "z"])]]
    for call, file in ask_both("kind", calls, also_server=False):
        assert file == {"error": 400}, f"{call}: {file}"
