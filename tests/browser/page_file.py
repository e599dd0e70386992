"""The page that is one file (`portolan map RUN -o FILE.html`), opened from disk, beside what the commands say of the run."""

import json
import os
import subprocess

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from served import N, PORTOLAN, TEXTS, metrics, select_within, selected_by
from serving import is_inside

STAR = [(0.5, 0.1), (0.7, 0.85), (0.2, 0.4), (0.8, 0.4), (0.3, 0.85)]

# A selection by the page's own source: {ids, and what two forms of it say}.
ASK = """
const [selection, done] = arguments;
(async () => {
  const { fileSource } = await import("portolan/file_source.js");
  const source = window.askedSource ??= fileSource();
  const at = { run: selection.run, epochs: "", version: "file" };
  const text = async (as) => (await source.select(selection.run, selection, as)).text();
  return { ids: await source.ids(at, selection), selection: JSON.parse(await text("selection")), csv: await text("csv") };
})().then(done, (error) => done({ error: error.message }));
"""


@pytest.fixture(scope="module")
def file(served, folder):
    """make(options…): the address of a file of the run a/b."""
    def make(*options, name="map.html"):
        subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(folder / name), *map(str, options)], capture_output=True, check=True)
        return (folder / name).as_uri()
    return make


def served_data(served):
    return os.path.join(os.path.dirname(served.store), "data.jsonl")


def of_state(address, **state):
    parts = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in state.items()]
    return f"{address}#{'&'.join(parts)}"


def same_number(text, number):
    return text == "" if number is None else float(text) == number


def test_points(page, file):
    one = page(file())
    one.wait_for(run="a/b", epochs="0:4", points=N, examples=N, selected=0)
    drawn, coloured, of = one.pixels("#map .points")
    assert coloured > of / 100, f"{drawn} of {of} pixels are drawn, {coloured} with a hue"
    assert f"all {N:,} observed examples" in one.find("#file-note").text


def test_lasso(page, file, served, folder):
    """The page's lasso, the command on what the page exports, and exact arithmetic: the same ids; the csv has the very measures."""
    one = page(file())
    one.wait_for(points=N)
    one.drag(STAR + STAR[:1])
    selection = dict(one.selection(), run="a/b")
    rows = metrics(served.store, "a/b")
    expected = selected_by(selection, rows)
    assert 50 < len(expected) < N / 2
    one.wait_for(selected=len(expected))
    asked = one.here().execute_async_script(ASK, selection)
    assert asked.get("ids") == [str(i) for i in expected], asked.get("error")
    exported = folder / "from-file.json"
    exported.write_text(json.dumps(asked["selection"]))
    assert asked["selection"]["epochs"] == "0:4" and select_within(served.store, "a/b", exported) == expected
    by_label = one.here().execute_async_script(ASK, {"run": "a/b", "filters": {"gold": {"in": [1]}}})["selection"]
    assert by_label["digests"] == {"gold": json.loads(served.ask("/api/view?run=a/b"))["gold_digest"]}, "the digest of labels that the server says"
    head, *lines = asked["csv"].splitlines()
    names, chosen = head.split(","), {row["id"]: row for row in rows}
    assert {"confidence", "variability_ci", "forgetting_events"} < set(names)
    for line, i in zip(lines, expected, strict=True):
        values = dict(zip(names, line.split(","), strict=True))
        assert values.pop("id") == str(i) and values.pop("label") == chosen[i]["label"]
        assert all(same_number(text, chosen[i][name]) for name, text in values.items())


def test_parts_and_filters(page, file, served, folder):
    filters = {"gold": {"in": [0, "contradiction"]}, "correctness": {"min": 0.25, "max": 1}}
    one = page(of_state(file(), tool="box", filters=filters))
    one.wait(lambda: one.data().get("run") == "a/b", "the run")
    one.drag([(0.1, 0.1), (0.7, 0.7)])
    one.selection(1)
    one.drag([(0.3, 0.2), (0.5, 0.6)], keys=[Keys.ALT])
    selection = dict(one.selection(2), run="a/b", filters=filters)
    passing = [row for row in metrics(served.store, "a/b") if row["gold"] in (0, 2) and 0.25 <= row["correctness"] <= 1]
    expected = selected_by(selection, passing)
    one.wait_for(selected=len(expected), points=len(passing))
    assert one.here().execute_async_script(ASK, selection)["ids"] == [str(i) for i in expected]
    exported = folder / "parts.json"
    exported.write_text(json.dumps(selection))
    assert select_within(served.store, "a/b", exported) == expected


# How many of these polygons hold other points than those listed, by the page's own arithmetic.
INSIDE = """
const [cases, points, done] = arguments;
import("portolan/file_within.js").then(({ isInside }) =>
  done(cases.filter(([polygon, held]) => String(points.map(([x, y]) => Number(isInside(polygon.flat(), x, y)))) !== String(held)).length),
  (error) => done(error.message));
"""


def test_vertices_on_values(page, file):
    """Points on edges, and one rounding beside them: as exact arithmetic has it. Sevenths are not exact, so rows of them are not straight."""
    random = np.random.default_rng(7)
    points = [(float(x), y / 7) for x in range(5) for y in range(8)] + [(x * 1e-200, y / 7 * 1e-200) for x in range(5) for y in range(8)]
    polygons = [[points[i] for i in random.integers(0, 40, random.integers(3, 7)) + 40 * (turn % 2)] for turn in range(400)]
    cases = [(polygon, [int(is_inside(polygon, *point)) for point in points]) for polygon in polygons]
    assert page(file()).here().execute_async_script(INSIDE, cases, points) == 0


# How many times longer examples on a box's side take than those within it.
SIDES = """
const done = arguments[0];
import("portolan/file_within.js").then(({ isInside }) => {
  const exactly = (vertices, y) => {
    let count = 0;
    const Words = BigUint64Array; // which only the exact way needs
    window.BigUint64Array = class extends Words { constructor(...words) { super(...words); count++; } };
    for (let i = 0; i < 1000; i++) isInside(vertices, 0.15 + 0.75 * (i / 1024), y);
    window.BigUint64Array = Words;
    return count;
  };
  done([exactly([0.1, 0.2, 0.9, 0.2, 0.9, 1, 0.1, 1], 1), exactly([0, 0, 0.3, 0.1, 0, 1], 0.05)]);
}, (error) => done(error.message));
"""


def test_examples_on_a_side_of_a_box_are_not_computed_exactly(page, file):
    """A box up to the value 1 has many examples on its side. Beside a slanted side there is no other way."""
    box, slanted = page(file()).here().execute_async_script(SIDES)
    assert box == 0 and slanted > 0


# By how much a sample's points stand beside their values, on average, on each axis.
ASIDE = """
const done = arguments[0];
Promise.all([import("portolan/file_points.js"), import("portolan/spread.js")]).then(([{ pointsInside }, { placePoints }]) => {
  const values = Float64Array.from({ length: 4000 }, (_, i) => i % 3);
  const examples = { n: 4000, column: () => values, axis: () => ({ kind: "number", low: 0, high: 2, least: 1 }) };
  const part = pointsInside(examples, { x: "x", y: "y", colour: "none", box: [0, 2, 0, 2], most: 1000 });
  const column = { name: "x", kind: "number", scale: "linear", low: 0, high: 2, grid: 1 };
  const { bytes } = placePoints({ ...part, x: column, y: column }, { x: { name: "linear" }, y: { name: "linear" } }, "jitter");
  const mean = (steps) => d3.mean(part.places, (place, i) => (steps[i] / 65534) * 3 - 0.5 - values[place]);
  done([part.n, mean(new Uint16Array(bytes, 0, part.n)), mean(new Uint16Array(bytes, 2 * part.n, part.n))]);
}).catch((error) => done(error.message));
"""


def test_a_sample_is_spread_around_its_values(page, file):
    n, x, y = page(file()).here().execute_async_script(ASIDE)
    assert 800 < n < 1200 and abs(x) < 0.03 and abs(y) < 0.03


# The first rows of all examples, sorted and searched.
ROWS = """
const [query, filters, done] = arguments;
(async () => {
  const { fileSource } = await import("portolan/file_source.js");
  const source = window.askedSource ??= fileSource();
  return source.rows({ run: "a/b", epochs: "" }, { run: "a/b", filters }, query);
})().then(done, (error) => done({ error: error.message }));
"""


def test_rows(page, file, served):
    """The table's rows: the server's, sorted, searched and cut in the same way."""
    one = page(file("--data", served_data(served), "--id-field", "id", "--text", "text"))
    one.wait_for(points=N)
    everything = {"confidence": {"min": 0}}
    listed = {"id": {"in": ["901", 17, 4000000, 17, "3", 2500]}}
    for query in ({}, {"sort": "id", "descending": 1, "from": 7, "most": 5}, {"sort": "confidence", "from": N - 3}, {"sort": "first_learned", "descending": 1, "most": 1000},
                  {"sort": "first_learned", "from": N - 20}, {"sort": "correctness", "most": 40}, {"from": N + 5},
                  {"sort": "listed"}, {"sort": "listed", "descending": 1, "from": 1}):
        filters = listed if query.get("sort") == "listed" else everything
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        expected = json.loads(served.ask(f"/api/runs/a%2Fb/select?as=rows&{asked}", json.dumps({"run": "a/b", "filters": filters})))
        found = one.here().execute_async_script(ROWS, query, filters)
        assert found.get("count") == expected["count"], found.get("error")
        for row in found["rows"]:
            row["id"] = int(row["id"])
            assert row["measures"]["variability_ci"] is not None
        assert found["rows"] == [{**row, "epochs": [0, 1, 2, 3]} for row in expected["rows"]], query
    rows = one.here().execute_async_script(ROWS, {"q": "NUMBER 12", "most": 3, "around": 125}, everything)
    ids = [i for i in range(N) if "12" in str(i)[:2]]
    assert "no filter" in one.here().execute_async_script(ROWS, {"sort": "listed"}, everything)["error"]
    assert rows["count"] == len(ids) and rows["from"] == 6 and [int(row["id"]) for row in rows["rows"]] == ids[6:9]


def test_texts(page, file, served):
    """Texts are there with --data alone, and are text, whatever is in them."""
    one = page(of_state(file("--data", served_data(served), "--id-field", "id", "--text", "text"), pinned=["0", "1", "2"]))
    one.wait_for(points=N)
    for i in range(3):
        one.wait(lambda i=i: TEXTS[i] in one.run("return document.getElementById('pinned').textContent"), f"the text of example {i}")
    assert one.run("return window.attacked === undefined")
    assert one.run("return document.querySelectorAll('#pinned circle').length") == 3 * 4  # p(gold) by epoch


def test_sample(page, file, served):
    one = page(file("--sample", 500, name="sample.html"))
    one.wait_for(points=500, examples=N)
    assert f"500 of {N:,} examples" in one.find("#file-note").text
    assert "500 examples of the sample" in one.find("#map-drawn").text


def test_what_needs_a_server(page, file, served):
    """Other epochs and other runs are refused with the reason, and nothing wrong is shown; so are the user's lines, and words."""
    whole = page(file())
    whole.wait_for(points=N)
    whole.open_panel("export")
    whole.wait(lambda: "portolan serve" in whole.find("#export .reasons").text, "the reason why there are no lines")
    assert not whole.find("#export [data-as=lines]").is_enabled()
    whole.open_panel("groups")  # what is not seen asks for nothing
    whole.wait(lambda: "portolan serve" in whole.find("#groups").text, "the reason why there are no words")
    one = page(of_state(file(), run="small"))
    one.wait(lambda: "portolan serve" in one.status(), "the reason")
    assert one.data()["points"] == "0"
    other = page(of_state(file(), epochs="1:2"))
    other.wait(lambda: "epochs 0 to 3" in other.status(), "the reason")


def test_without_webgl(file, served):
    from chromium import NO_WEBGL, Page, browser

    with browser(*NO_WEBGL) as driver:
        one = Page(driver, file())
        one.wait_for(run="a/b", examples=N)
        drawn, _, of = one.pixels("#map .holder")
        assert drawn > of / 100 and not one.errors()
