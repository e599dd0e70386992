"""Saved selections, and undo: what the page says of them beside sets computed here, and beside what the commands make of what it exports."""

import csv
import io
import json
import random
import subprocess

import numpy as np
import pytest
import stores
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from served import MAKE_STORE, PORTOLAN, metrics, selected_by, serving

N = 600
LABELS = ["yes", "no", "maybe"]

# Downloads are kept in the page, by name.
KEEP_DOWNLOADS = """
window.saved = {};
if (!window.blobs) {
  window.blobs = new Map();
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { const address = make.call(URL, blob); window.blobs.set(address, blob); return address; };
  HTMLAnchorElement.prototype.click = function () { window.blobs.get(this.href).text().then((text) => { window.saved[this.download] = text; }); };
}
"""


def observed(epoch):
    """Each epoch leaves a part of the examples out."""
    return [i for i in range(N) if (i // 60 + epoch) % 4]


def make_batches(seed):
    rng = np.random.default_rng(seed)
    level, gold = rng.beta(1.2, 0.8, N), rng.integers(0, 3, N)
    made = []
    for epoch in range(4):
        ids = np.array(observed(epoch))
        p = np.clip(level[ids] * (1 - np.exp(-(epoch + 1) / 2)) + rng.normal(0, 0.1, len(ids)), 0.001, 0.999).astype("f4")
        made.append(stores.batch(epoch, ids, p, p > 0.5, gold[ids]))
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    store = tmp_path_factory.mktemp("saved") / "store"
    stores.make_store(MAKE_STORE, str(store), [stores.run("other", make_batches(2), labels=LABELS), stores.run("a/b", make_batches(1), labels=LABELS)])
    with serving(store, "a/b") as server:
        yield server


def box(x, y, sides, epochs="", op="add", **filters):
    left, right, low, high = sides
    made = {"run": "a/b", "epochs": epochs, "x": x, "y": y, "parts": [{"op": op, "polygon": [[left, low], [right, low], [right, high], [left, high]]}]}
    return dict(made, filters=filters) if filters else made


def select_within(store, run, path):
    """The ids that the command selects. It may say that examples were not observed in all epochs, and nothing else."""
    made = subprocess.run([PORTOLAN, "select", run, "--store", str(store), "--within", str(path)], capture_output=True, text=True, check=True)
    assert all(line.startswith("portolan: warning: not observed in all") for line in made.stderr.splitlines()), made.stderr
    return {int(line) for line in made.stdout.split()}


class Oracle:
    """The examples that a selection means, by what `portolan metrics` prints of its epochs."""

    def __init__(self, store, run="a/b"):
        self.store, self.run, self.known = store, run, {}

    def rows(self, epochs):
        if epochs not in self.known:
            self.known[epochs] = metrics(self.store, self.run, *(["--epochs", epochs] if epochs else []))
        return self.known[epochs]

    def ids(self, selection):
        rows = self.rows(selection.get("epochs", ""))
        chosen = set(selected_by(selection, rows)) if selection.get("parts") else {row["id"] for row in rows}
        for name, wanted in selection.get("filters", {}).items():
            if name == "id":
                chosen &= {int(i) for i in wanted["in"]}
            elif name == "gold":
                chosen &= {row["id"] for row in rows if row["gold"] in wanted["in"]}
            else:
                chosen &= {row["id"] for row in rows if row[name] is not None and wanted.get("min", -1e9) <= row[name] <= wanted.get("max", 1e9)}
        return chosen


@pytest.fixture(scope="module")
def oracle(served):
    return Oracle(served.store)


# Of different axes, epochs and filters; one removes a part, one is of ids.
SELECTIONS = {
    "far right": box("variability", "confidence", (0.1, 0.4, 0.2, 0.8)),
    "early": dict(box("confidence", "correctness", (0.1, 0.9, 0, 1), "0:2", gold={"in": [0, 2]})),
    "late & <b>bold</b>": box("forgetting_events", "confidence", (0, 1, 0.3, 1), "2:4"),
    "with a hole": {**box("variability", "confidence", (0, 0.3, 0, 1)), "parts": [*box("variability", "confidence", (0, 0.3, 0, 1))["parts"],
                                                                                 *box("variability", "confidence", (0.1, 0.2, 0.3, 0.6), op="remove")["parts"]]},
    "ids": {"run": "a/b", "epochs": "", "filters": {"id": {"in": [*range(50, 130), 7, "8"]}}},
}


def entries(selections, identity="x"):
    return [{"name": name, "identity": identity, "selection": selection} for name, selection in selections.items()]


def open_saved(page, served, selections=SELECTIONS, **state):
    one = page(served.view(run="a/b", saved=entries(selections), **state))
    one.wait_for(run="a/b")
    show_panel(one)
    wait_for_counts(one, len(selections))
    return one


def show_panel(page):
    page.open_panel("saved")


def listed(page):
    """{name: how many examples} of the list, as it is seen."""
    return {name: None if shown == "–" else int(shown.replace(",", "")) for name, shown in page.run("""
        return [...document.querySelectorAll('#saved .saved-list li')].map((row) => [row.querySelector('input.name').value, row.querySelector('.count').textContent])""")}


def wait_for_counts(page, expected):
    """Until the list has these counts by name, or so many of them."""
    def are_there():
        found = listed(page)
        return all(value is not None for value in found.values()) and (len(found) == expected if isinstance(expected, int) else found == expected)
    page.wait(are_there, f"{expected}, not {listed(page)} {said(page)}")


def said(page):
    return page.run("return document.querySelector('#saved > [role=status], #saved .hint[role=status]').textContent")


def press_in(page, name, text):
    """A button in a saved selection's row."""
    page.run("""
        const row = [...document.querySelectorAll('#saved .saved-list li')].find((one) => one.querySelector('input.name').value === arguments[0]);
        [...row.querySelectorAll('button')].find((one) => one.textContent === arguments[1]).click()""", name, text)


def press(page, text, inside="#saved"):
    page.run("[...document.querySelectorAll(`${arguments[1]} button`)].find((one) => one.textContent === arguments[0]).click()", text, inside)


def tick(page, *names):
    page.run("""
        for (const row of document.querySelectorAll('#saved .saved-list li')) {
          const box = row.querySelector('input[type=checkbox]');
          if (box.checked !== arguments[0].includes(row.querySelector('input.name').value)) box.click();
        }""", names)


def compared(page):
    """{first cell: (examples, only here)} of the table, and the sentence below it."""
    page.wait(lambda: page.run("return !document.querySelector('#saved .compared table').hidden"), "the comparison")
    rows = page.run("return [...document.querySelectorAll('#saved .compared tbody tr')].map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent))")
    return {name: tuple(int(cell.replace(",", "")) if cell else None for cell in cells) for name, *cells in rows}, page.run("return document.querySelector('#saved .compared > p:not(.hint)').textContent")


def press_compared(page, row, text):
    page.run("""
        const row = [...document.querySelectorAll('#saved .compared tbody tr')].find((one) => one.cells[0].textContent === arguments[0]);
        [...row.querySelectorAll('button')].find((one) => one.textContent === arguments[1]).click()""", row, text)


def state_selection(page):
    """The selection in the address, as `select --within` reads it."""
    fragment = page.settled_fragment()
    selection = {"epochs": fragment.get("epochs", ""), **fragment.get("selection", {})}
    if not selection.get("parts"):
        selection = {"epochs": selection["epochs"], "filters": selection.get("filters", {})}
    filters = {**fragment.get("filters", {}), **selection.get("filters", {})}
    return {"run": "a/b", **selection, **({"filters": filters} if filters else {})}


def wait_for_selected(page, expected, oracle=None):
    """Until the page has selected these; those of them that were observed in the epochs shown are marked."""
    shown = expected & {row["id"] for row in oracle.rows(page.data()["epochs"])} if oracle else expected
    page.wait_for(selected=len(shown))


def download(page, name, click):
    page.run(KEEP_DOWNLOADS)
    click()
    return page.wait(lambda: page.run("return window.saved[arguments[0]]", name), name)


def open_file(page, folder, content, name="opened.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    show_panel(page)
    page.find("#saved input[type=file]").send_keys(str(path))


def go(page, **changes):
    """Another address in the same page, as a link there would open it."""
    fragment = page.settled_fragment()
    if "selection" in fragment:
        fragment["selection"].setdefault("epochs", fragment.get("epochs", ""))
    fragment.update(changes)
    page.run("location.hash = new URLSearchParams(arguments[0]).toString()",
             {name: value if isinstance(value, str) else json.dumps(value) for name, value in fragment.items() if value is not None})


def test_by_hand(page, served, oracle):
    """Drawn, saved with a name, and made the selection again while other axes and epochs are shown; renamed, replaced, deleted."""
    one = page(served.view(run="a/b", epochs="0:2", tool="box", filters={"gold": {"in": [0, 1]}}))
    one.wait_for(run="a/b", epochs="0:2")
    one.drag([(0.1, 0.1), (0.6, 0.6)])
    first = state_selection(one)
    assert first["epochs"] == "0:2" and len(first["parts"]) == 1
    expected = oracle.ids(first)
    assert 10 < len(expected) < N / 2
    show_panel(one)
    name = one.find("#saved form input")
    assert name.get_attribute("value") == "selection 1"
    name.clear()
    called = "left half"
    name.send_keys(f"  {called} ", Keys.ENTER)
    wait_for_counts(one, {called: len(expected)})
    (saved,) = one.settled_fragment()["saved"]
    assert saved["selection"] == first and saved["name"] == called, "axes, epochs and filters"
    name.clear()
    name.send_keys(called, Keys.ENTER)
    assert "already" in said(one) and list(listed(one)) == [called]
    one.run("document.querySelector('#saved form input').value = 'turned \u202e around'")
    press(one, "Save as")
    assert list(listed(one)) == [called, "turned   around"]
    press_in(one, "turned   around", "Delete")
    go(one, epochs="2:4", x="forgetting_events", y="correctness", selection=None, of=None, filters=None)
    one.wait_for(epochs="2:4", selected=0)
    wait_for_counts(one, {called: len(expected)})
    press_in(one, called, "Select")
    wait_for_selected(one, expected, oracle)
    assert state_selection(one) == first
    field = one.find("#saved .saved-list input.name")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "  renamed  ", Keys.ENTER)
    wait_for_counts(one, {"renamed": len(expected)})
    press(one, "Clear", "#select")
    one.wait_for(selected=0)
    press_in(one, "renamed", "Replace")  # with nothing selected, by the examples that pass the filters
    passing = oracle.ids({"epochs": "2:4", "filters": {"gold": {"in": [0, 1]}}})
    wait_for_counts(one, {"renamed": len(passing)})
    press_in(one, "renamed", "Delete")
    wait_for_counts(one, 0)
    assert "saved" not in one.settled_fragment()


def check_operations(page, oracle, names, selections):
    sets = [oracle.ids(selections[name]) for name in names]
    every = len(oracle.rows(""))
    tick(page, *names)
    rows, sentence = compared(page)
    only = [one - set().union(*(other for k, other in enumerate(sets) if k != i)) for i, one in enumerate(sets)]
    both, either = set.intersection(*sets), set.union(*sets)
    for name, one, alone in zip(names, sets, only, strict=True):
        assert rows[name] == (len(one), len(alone))
    last = ("in both", "in either") if len(names) == 2 else ("in all", "in any")
    assert rows[last[0]] == (len(both), None) and rows[last[1]] == (len(either), None)
    assert f"{len(both) / len(either):.3f}" in sentence
    chance = every * np.prod([len(one) / every for one in sets])
    said_chance = float(sentence.split("By chance, ")[1].split(" ")[0].replace(",", ""))
    assert abs(said_chance - chance) <= max(0.5, 0.06 * chance), sentence
    return {(name, "only these"): alone for name, alone in zip(names, only, strict=True)} | {
        (last[0], "the overlap"): both, (last[1], "the union"): either}


def test_compared(page, served, oracle, folder):
    """Of any axes, epochs and filters: as sets; what the buttons select, the page, the server and the command say alike, also when the page is loaded again."""
    one = open_saved(page, served)
    wait_for_counts(one, {name: len(oracle.ids(selection)) for name, selection in SELECTIONS.items()})
    for names in (["far right", "early"], ["early", "late & <b>bold</b>"], ["with a hole", "far right"], ["far right", "late & <b>bold</b>", "ids"], list(SELECTIONS)):
        for (row, text), expected in check_operations(one, oracle, names, SELECTIONS).items():
            show_panel(one)
            tick(one, *names)
            compared(one)
            if not expected:
                assert one.run("return [...document.querySelectorAll('#saved .compared button')].some((one) => one.disabled && one.textContent === arguments[0])", text)
                continue
            press_compared(one, row, text)
            wait_for_selected(one, expected)
            selection = state_selection(one)
            assert oracle.ids(selection) == expected, (names, row, text)
            assert set(served.ids("a/b", selection)) == expected
    made = one.settled_fragment()
    one.here().refresh()
    one.wait_for(run="a/b", selected=len(expected))
    assert one.settled_fragment() == made
    show_panel(one)
    wait_for_counts(one, {name: len(oracle.ids(selection)) for name, selection in SELECTIONS.items()})
    exported = folder / "operation.json"
    exported.write_bytes(served.ask("/api/runs/a/b/select?as=selection", json.dumps(selection)))
    assert select_within(served.store, "a/b", exported) == expected


def test_outlines_stay_outlines(page, served, oracle):
    """What parts can say is an outline on the map, with the filters that it was drawn with."""
    frame = {"gold": {"in": [1]}}
    selections = {"a": box("variability", "confidence", (0.05, 0.25, 0.2, 0.8), **frame), "b": box("variability", "confidence", (0.15, 0.4, 0.4, 0.9), **frame)}
    one = open_saved(page, served, selections)
    expected = check_operations(one, oracle, ["a", "b"], selections)
    for (row, text), ids in expected.items():
        press_compared(one, row, text)
        wait_for_selected(one, ids)
        selection = state_selection(one)
        assert oracle.ids(selection) == ids
        assert ("parts" in selection and len(selection["parts"]) == 2) == (text != "the overlap"), text
        assert one.fragment().get("filters") == (frame if text != "the overlap" else None)
    # A part that removes would remove from the other, too: it comes first.
    holes = {"far right": SELECTIONS["far right"], "with a hole": SELECTIONS["with a hole"]}
    other = open_saved(page, served, holes)
    expected = check_operations(other, oracle, list(holes), holes)
    press_compared(other, "in either", "the union")
    wait_for_selected(other, expected["in either", "the union"])
    assert [part["op"] for part in state_selection(other)["parts"]] == ["add", "remove", "add"]
    press_compared(other, "far right", "only these")
    wait_for_selected(other, expected["far right", "only these"])
    assert set(state_selection(other)["filters"]) == {"id"}


def test_exported(page, served, oracle, folder):
    """Each alone, all in one file, and as a table: the command, a parser of CSV, and another page make the same sets of them."""
    formula = "=1+1, \"quoted\""
    selections = {**SELECTIONS, formula: box("variability", "confidence", (0, 0.05, 0, 1))}
    sets = {name: oracle.ids(selection) for name, selection in selections.items()}
    one = open_saved(page, served, selections)
    for name in selections:
        text = download(one, "selection.json", lambda name=name: press_in(one, name, "Export"))
        path = folder / "exported.json"
        path.write_text(text)
        assert json.loads(text)["name"] == name and json.loads(text)["epochs"] == (selections[name]["epochs"] or "0:4")
        assert select_within(served.store, "a/b", path) == sets[name]
    table = list(csv.reader(io.StringIO(download(one, "selections.csv", lambda: press(one, "Table (.csv)")))))
    assert table[0] == ["id", *list(selections)[:-1], "'" + formula], "no formula for a spreadsheet"
    assert [int(row[0]) for row in table[1:]] == sorted(set.union(*sets.values()))
    for k, name in enumerate(selections, start=1):
        assert {int(row[0]) for row in table[1:] if row[k] == "1"} == sets[name] and {row[k] for row in table[1:]} == {"0", "1"}
    text = download(one, "selections.json", lambda: press(one, "selections.json"))
    whole = json.loads(text)
    assert set(whole) == {"run", "selections"} and whole["run"] == "a/b" and all("digests" in made for made in whole["selections"] if "parts" in made)
    for made in whole["selections"]:  # one of the file, as it is, is a selection for the command
        path.write_text(json.dumps(made))
        assert select_within(served.store, "a/b", path) == sets[made["name"]]
    other = page(served.view(run="a/b"))
    other.wait_for(run="a/b")
    open_file(other, folder, text)
    wait_for_counts(other, {name: len(ids) for name, ids in sets.items()})
    assert "other values" not in said(other)
    check_operations(other, oracle, list(selections), selections)
    open_file(other, folder, text, "again.json")
    other.wait(lambda: "were here already" in said(other), "nothing twice")
    assert listed(other) == {name: len(ids) for name, ids in sets.items()}
    open_file(other, folder, dict(whole["selections"][0], name="early"))  # one selection; the name is taken
    wait_for_counts(other, {**{name: len(ids) for name, ids in sets.items()}, "early (2)": len(sets["far right"])})


def wrong_files():
    good = dict(SELECTIONS["far right"], name="good", epochs="0:4")
    few = dict(good, parts=[{"op": "add", "polygon": [[0, 0], [1, 1]]}])
    file = {"run": "a/b", "selections": [good]}
    yield "{", "no JSON"
    yield "[1]", "no object"
    yield dict(file, more=1), '"more"'
    yield dict(file, run=7), "run"
    yield dict(file, selections={}), "selections"
    yield dict(file, selections=[good] * 51), "50"
    yield dict(file, selections=[good, few]), "selections[1].parts[0].polygon"
    yield dict(file, selections=[dict(good, parts=[{"op": "xor", "polygon": good["parts"][0]["polygon"]}])]), "selections[0].parts[0].op"
    yield dict(file, selections=[dict(good, parts=[{"op": "add", "polygon": [[0, 0], [1, 1], [1, "2"]]}])]), "selections[0].parts[0].polygon[2]"
    yield dict(file, selections=[dict(good, x=None)]), "selections[0].x"
    yield dict(file, selections=[dict(good, y="")]), "selections[0].y"
    yield dict(file, selections=[dict(good, epochs="early")]), "selections[0].epochs"
    yield dict(file, selections=[dict(good, filters={"gold": {"min": 1}})]), "selections[0].filters.gold"
    yield dict(file, selections=[dict(good, filters={"confidence": {"min": "low"}})]), "selections[0].filters.confidence.min"
    yield dict(file, selections=[dict(good, filters={"id": {"in": [1, 2.5]}})]), "selections[0].filters.id.in[1]"
    yield dict(file, selections=[dict(good, filters={"text": {"contains": [""]}})]), "selections[0].filters.text.contains"
    yield dict(file, selections=[dict(good, colour="red")]), '"colour"'
    yield dict(file, selections=[dict(good, name="")]), "selections[0].name"
    yield dict(file, selections=[dict(good, name=5)]), "selections[0].name"
    yield dict(file, selections=[dict(good, name="a\u202eb")]), "selections[0].name"
    yield dict(file, selections=[dict(good, name="x" * 101)]), "selections[0].name"
    yield dict(file, selections=[good, good]), "selections[1].name"
    yield dict(file, selections=[{"name": "nothing", "epochs": "0:1"}]), "selections[0]"
    yield dict(file, selections=[dict(good, run="elsewhere")]), "selections[0].run"
    yield dict(file, selections=[dict(good, digests=["x"])]), "selections[0].digests"
    yield '{"run": "a/b", "selections": [{"name": "x", "filters": {"__proto__": {"min": {}}}}]}', "selections[0].filters.__proto__"


def test_wrong_files(page, served, folder):
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b")
    for i, (content, field) in enumerate(wrong_files()):
        open_file(one, folder, content, f"wrong-{i}.json")
        one.wait(lambda i=i: said(one).startswith(f"wrong-{i}.json: "), f"an answer about file {i}")
        assert field in said(one), f"{field}: {said(one)}"
    assert listed(one) == {} and "saved" not in one.settled_fragment()


def test_another_runs_file(page, served, folder, oracle):
    """The page asks; with the user's leave the outlines are those of the file, the examples those of this run."""
    made = dict(SELECTIONS["far right"], name="far", run="other")
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b")
    question = "#saved .question"
    open_file(one, folder, {"run": "other", "selections": [made]})
    one.wait(lambda: one.find(question).is_displayed() and "other" in one.find(question).text, "a question")
    press(one, "Leave them", question)
    assert not one.find(question).is_displayed() and listed(one) == {}
    open_file(one, folder, {"run": "other", "selections": [made]}, "again.json")
    one.wait(lambda: one.find(question).is_displayed(), "a question")
    press(one, "Use them for this run", question)
    wait_for_counts(one, {"far": len(oracle.ids(SELECTIONS["far right"]))})


def test_of_other_values(page, served, folder):
    """A file's digest shows that the run has other values now; a link's identity, that it was recorded anew."""
    digests = {"variability": "0" * 16, "confidence": next(c["digest"] for c in served.json("/api/view?run=a/b")["columns"] if c["name"] == "confidence")}
    one = open_saved(page, served, {"ids": SELECTIONS["ids"]})
    assert "recorded anew" in one.find("#saved .saved-list").text, "the identity in the link is not the run's"
    open_file(one, folder, dict(SELECTIONS["far right"], name="far", epochs="0:4", digests=digests))
    one.wait(lambda: "other values of variability." in said(one), "a word about what has changed")
    assert one.find("#saved .saved-list").text.count("recorded anew") == 1
    exists = page(served.view(run="a/b", saved=[{"name": "no", "identity": "x", "selection": box("nothing", "confidence", (0, 1, 0, 1))}], colour="saved"))
    exists.wait_for(run="a/b")
    show_panel(exists)
    exists.wait(lambda: "no measure 'nothing'" in (exists.find("#saved .count").get_attribute("title") or ""), "why it has no examples")
    assert legend(exists)["no"] == 0
    press(exists, "Table (.csv)")
    exists.wait(lambda: "no measure 'nothing'" in said(exists), "why there is no table")
    assert all("status of 400" in error for error in exists.errors())


def legend(page):
    page.wait(lambda: "saved selections" in page.find("#legend").text, "the key")
    return {label: int(number.replace(",", "")) for label, number in page.run("""
        return [...document.querySelectorAll('#legend li')].map((one) => [one.querySelector('.label').textContent, one.querySelector('.count').textContent])""")}


def expected_legend(oracle, selections, epochs, most=11):
    """Of the examples observed in these epochs: how many are in several, in each one alone, in none."""
    there = {row["id"] for row in oracle.rows(epochs)}
    sets = {name: oracle.ids(selection) & there for name, selection in selections.items()}
    held = {i: [name for name, ids in sets.items() if i in ids] for i in there}
    counts = {"in several": sum(len(names) > 1 for names in held.values())}
    for k, name in enumerate(sets):
        label = name if k < most else "in one of the others"
        counts[label] = counts.get(label, 0) + sum(names == [name] for names in held.values())
    counts["in none"] = sum(not names for names in held.values())
    assert sum(counts.values()) == len(there)
    return {label: number for label, number in counts.items() if number or label != "in none"}


def test_as_colour(page, served, oracle):
    one = open_saved(page, served)
    press(one, "Colour the map by these")
    one.wait(lambda: legend(one) == expected_legend(oracle, SELECTIONS, ""), f"{expected_legend(oracle, SELECTIONS, '')}, not {legend(one)}")
    _, coloured, of = one.pixels("#map .points")
    assert coloured > of / 200
    press_in(one, "early", "Delete")
    rest = {name: selection for name, selection in SELECTIONS.items() if name != "early"}
    one.wait(lambda: legend(one) == expected_legend(oracle, rest, ""), "the others")
    go(one, epochs="1:3")
    one.wait_for(epochs="1:3")
    one.wait(lambda: legend(one) == expected_legend(oracle, rest, "1:3"), f"{expected_legend(oracle, rest, '1:3')}, not {legend(one)}")
    press(one, "Colour the map by these")
    one.wait(lambda: "correctness" in one.find("#legend").text, "the colour before")
    many = {f"s{k}": box("variability", "confidence", (0.02 * k, 0.02 * k + 0.03, 0, 1)) for k in range(14)}
    two = open_saved(page, served, many, colour="saved")
    assert legend(two) == expected_legend(oracle, many, "")
    points = two.data()["points"]
    two.find("#legend").click()
    assert two.data()["points"] == points and "filters" not in two.settled_fragment(), "the key is no filter"


def test_as_colour_of_two_runs(page, served, oracle):
    """Beside the run, another one has its own saved selections, in the same colours."""
    other = Oracle(served.store, "other")
    theirs = dict(SELECTIONS["with a hole"], run="other")
    saved = [*entries({"far right": SELECTIONS["far right"]}), *entries({"theirs": theirs})]
    one = page(served.view(run="a/b", saved=saved, colour="saved", other="run=other"))
    one.wait_for(run="a/b")
    assert legend(one) == expected_legend(oracle, {"far right": SELECTIONS["far right"]}, "")
    show_panel(one)
    wait_for_counts(one, {"far right": len(oracle.ids(SELECTIONS["far right"]))})
    assert "1 selection of other runs is kept as well: other." in one.find("#saved").text
    one.run("""const select = document.querySelector('header select'); select.value = "other"; select.dispatchEvent(new Event("change"))""")
    one.wait_for(run="other")
    wait_for_counts(one, {"theirs": len(other.ids(theirs))})
    one.wait(lambda: legend(one) == expected_legend(other, {"theirs": theirs}, ""), "the colours of the other run")


# The colours and the key of a sample whose points are these places.
PAINTED = """
const [bits, places, done] = arguments;
import("portolan/saved_colour.js").then(({ paintSaved }) => {
  const bytes = new ArrayBuffer(5 * places.length);
  const points = { n: places.length, bytes, places: Uint32Array.from(places) };
  const masks = bits.map((mask) => ({ bits: Uint8Array.from(mask) }));
  const made = paintSaved(points, { points: 8 * bits[0].length }, bits.map((_, i) => ({ name: `s${i}` })), masks);
  done([[...new Uint8Array(made.bytes, 4 * places.length)], made.legend.values.map(({ count }) => count), made.legend.none, new Uint8Array(bytes).every((byte) => byte === 0)]);
}, (error) => done(error.message));
"""


@pytest.fixture(scope="module")
def file(served, folder):
    def make(*options, name="saved.html"):
        subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(folder / name), *map(str, options)], capture_output=True, check=True)
        return (folder / name).as_uri()
    return make


def of_state(address, **state):
    return f"{address}#{'&'.join(f'{name}={value if isinstance(value, str) else json.dumps(value)}' for name, value in state.items())}"


def test_in_a_file(page, file, served, oracle, folder):
    """The page as one file saves, compares, colours and exports the same; a sample's points have the colours of their places."""
    selections = {name: selection for name, selection in SELECTIONS.items() if not selection["epochs"]}
    sets = {name: oracle.ids(selection) for name, selection in selections.items()}
    one = page(of_state(file(), saved=entries(selections), colour="saved"))
    one.wait_for(run="a/b", points=len(oracle.rows("")))
    show_panel(one)
    wait_for_counts(one, {name: len(ids) for name, ids in sets.items()})
    assert legend(one) == expected_legend(oracle, selections, "")
    for (row, text), expected in check_operations(one, oracle, list(selections), selections).items():
        if expected:
            press_compared(one, row, text)
            wait_for_selected(one, expected)
            assert oracle.ids(state_selection(one)) == expected
    assert one.find("#undo").is_enabled()
    one.find("#undo").click()
    assert one.find("#redo").is_enabled()
    text = download(one, "selection.json", lambda: press_in(one, "with a hole", "Export"))
    path = folder / "of-a-file.json"
    path.write_text(text)
    assert select_within(served.store, "a/b", path) == sets["with a hole"]
    table = list(csv.DictReader(io.StringIO(download(one, "selections.csv", lambda: press(one, "Table (.csv)")))))
    assert all({int(row["id"]) for row in table if row[name] == "1"} == ids for name, ids in sets.items())
    whole = download(one, "selections.json", lambda: press(one, "selections.json"))
    live = page(served.view(run="a/b"))
    live.wait_for(run="a/b")
    open_file(live, folder, whole)
    wait_for_counts(live, {name: len(ids) for name, ids in sets.items()})
    early = page(of_state(file(), saved=entries({"early": SELECTIONS["early"]})))
    early.wait_for(run="a/b")
    show_panel(early)
    early.wait(lambda: "epochs 0 to 3" in early.find("#saved .count").get_attribute("title"), "why the file has no such selection")
    bits = [[0b00001111, 0], [0b00000110, 0b10000000]]
    colours, counts, none, is_kept = early.here().execute_async_script(PAINTED, bits, [15, 0, 2, 8])
    assert (colours, counts, none, is_kept) == ([2, 1, 0, 255], [2, 2, 1], 11, True)


HOSTILE = [
    "x", 7, {}, {"length": 3}, [None], [[]], [{}], [1, 2],
    [{"name": "a", "identity": "x"}], [{"name": "a", "identity": "x", "selection": None}], [{"name": "a", "identity": "x", "selection": []}],
    [{"name": "a", "identity": 5, "selection": SELECTIONS["ids"]}], [{"name": {}, "identity": "x", "selection": SELECTIONS["ids"]}],
    entries({"": SELECTIONS["ids"]}), entries({"\u200b \u200d": SELECTIONS["ids"]}), entries({"a\u202eb": SELECTIONS["ids"]}), entries({"a\x00b": SELECTIONS["ids"]}), entries({"a\nb": SELECTIONS["ids"]}),
    entries({"x" * 101: SELECTIONS["ids"]}), entries({"x": SELECTIONS["ids"]}) * 2, entries({f"n{k}": SELECTIONS["ids"] for k in range(51)}),
    entries({f"n{k}": {"run": "a/b", "epochs": "", "filters": {"gold": {"in": [1]}}} for k in range(10000)}),
    entries({"a": {"run": "a/b"}}), entries({"a": {"epochs": "", "filters": {"id": {"in": [1]}}}}), entries({"a": dict(SELECTIONS["ids"], more=1)}),
    entries({"a": dict(SELECTIONS["ids"], filters={"id": {"in": [[1]]}})}), entries({"a": dict(SELECTIONS["ids"], filters={"id": 3})}),
    entries({"a": dict(SELECTIONS["ids"], filters={"constructor": {"in": [{}]}})}), entries({"a": dict(SELECTIONS["ids"], filters={"text": {"contains": "x"}})}),
    entries({"a": dict(SELECTIONS["far right"], parts=[])}), entries({"a": dict(SELECTIONS["far right"], parts=[{"op": "add", "polygon": [[0, 0], [1, 0], [1, None]]}])}),
    entries({"a": dict(SELECTIONS["far right"], parts=[{"op": "add", "polygon": [[1e200, 0], [1, 0], [1, 1]]}])}), entries({"a": dict(SELECTIONS["far right"], epochs="1:2; DROP")}),
]


def test_hostile_links(page, served, file, oracle):
    """Whatever a link says, the page works; what it cannot use it leaves out."""
    tabs = [page(served.view(run="a/b")), page(file())]
    for one in tabs:
        one.wait_for(run="a/b")
    for k, saved in enumerate(HOSTILE):
        one = tabs[k % 2]
        fragment = dict(run="a/b", saved=json.dumps(saved), colour="saved", pinned=json.dumps([str(k)]))
        one.run("location.hash = new URLSearchParams(arguments[0]).toString()", fragment)
        one.wait(lambda one=one, k=k: one.fragment().get("pinned") == [str(k)] and "saved" not in one.fragment(), f"{str(saved)[:80]} is left out")
        one.wait_for(run="a/b", points=len(oracle.rows("")))
        assert listed(one) == {} and legend(one) == {"in several": 0, "in none": len(oracle.rows(""))}, saved
    names = ["<img src=x onerror='window.attacked = 1'>", "</td></tr></table><h1>big</h1>", "\u05e9\u05dc\u05d5\u05dd (1)", "x" * 100, "' onfocus='window.attacked = 2", "__proto__", "constructor"]
    one = open_saved(page, served, {name: box("variability", "confidence", (0.05 * k, 0.05 * k + 0.1, 0, 1)) for k, name in enumerate(names)}, colour="saved")
    assert list(listed(one)) == names and set(names) < set(legend(one))
    tick(one, *names)
    assert set(names) < set(compared(one)[0])
    assert one.run("return window.attacked === undefined && document.querySelectorAll('h1').length === 1")
    show_panel(one)
    assert one.run("return document.documentElement.scrollWidth <= innerWidth"), "a long name is no reason to scroll"
    for selection in ({"parts": [], "filters": {"gold": {"min": 1}}}, {"x": "variability", "y": "confidence", "parts": 3}, {"parts": [], "filters": []}):
        other = page(served.view(run="a/b", selection=selection, filters={"gold": {"min": 1}}))
        other.wait_for(run="a/b", points=len(oracle.rows("")), selected=0)


def test_too_long_for_an_address(page, served, oracle, folder):
    """The page says so and offers the file, which brings all back."""
    many = {f"part {k}": {"run": "a/b", "epochs": "", "filters": {"id": {"in": list(range(10**12 + 300 * k, 10**12 + 300 * k + 300)) + list(range(k, N, 8))}}} for k in range(8)}
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b")
    open_file(one, folder, {"run": "a/b", "selections": [dict(selection, name=name) for name, selection in many.items()]})
    wait_for_counts(one, {name: len(range(k, N, 8)) for k, name in enumerate(many)})
    one.wait(lambda: "too long" in one.find("#saved").text, "a word about it")
    assert "saved" not in one.settled_fragment()
    for k in range(7):
        press_in(one, f"part {k}", "Delete")
    one.wait(lambda: "too long" not in one.find("#saved").text, "a short address")
    assert len(one.settled_fragment()["saved"]) == 1
    one.press(Keys.CONTROL + "z" + Keys.NULL)
    wait_for_counts(one, 2)
    ids = list(range(0, 40000, 2))
    open_file(one, folder, {"name": "ids", "filters": {"id": {"in": ids}}}, "ids.json")
    wait_for_counts(one, 3)
    press_in(one, "ids", "Select")
    one.wait_for(selected=len([row for row in oracle.rows("") if row["id"] % 2 == 0]))
    one.wait(lambda: "too long" in one.find("#select").text, "a word beside the selection")
    assert "selection" not in one.settled_fragment()


def undo_keys(page, *keys):
    page.run("document.activeElement.blur()")
    page.press(*keys)


UNDO, REDO, OTHER_REDO = Keys.CONTROL + "z" + Keys.NULL, Keys.CONTROL + Keys.SHIFT + "z" + Keys.NULL, Keys.CONTROL + "y" + Keys.NULL


def test_undo(page, served, oracle):
    """Selections come back as they were, with their epochs; a drag of a cut is one step; a text field keeps its own undo; another run begins anew."""
    one = page(served.view(run="a/b", epochs="0:2", tool="box"))
    one.wait_for(run="a/b", epochs="0:2")
    assert not one.find("#undo").is_enabled() and not one.find("#redo").is_enabled()
    one.drag([(0.2, 0.2), (0.6, 0.6)])
    first = state_selection(one)
    go(one, epochs="2:4")
    one.wait_for(epochs="2:4")
    assert state_selection(one) == first
    press(one, "Clear", "#select")
    one.wait_for(selected=0)
    assert "the selection" in one.find("#undo").get_attribute("title")
    undo_keys(one, UNDO)
    wait_for_selected(one, oracle.ids(first), oracle)
    assert state_selection(one) == first and one.data()["epochs"] == "2:4"
    undo_keys(one, UNDO)
    one.wait_for(selected=0)
    assert not one.find("#undo").is_enabled()
    undo_keys(one, OTHER_REDO, REDO)
    one.wait_for(selected=0)
    undo_keys(one, UNDO)
    wait_for_selected(one, oracle.ids(first), oracle)

    handle = one.run("const {x, y, width, height} = document.querySelector('#map .cut.x .handle').getBoundingClientRect(); const plot = document.querySelector('#map rect.capture').getBoundingClientRect(); return [(x + width / 2 - plot.x) / plot.width, (y + height / 2 - plot.y) / plot.height]")
    one.drag([handle, (handle[0] + 0.05, handle[1]), (handle[0] + 0.1, handle[1]), (handle[0] + 0.15, handle[1])])
    cuts = one.settled_fragment()["cuts"]
    one.drag([(handle[0] + 0.15, handle[1]), (handle[0] + 0.2, handle[1])])
    assert one.settled_fragment()["cuts"] != cuts
    undo_keys(one, UNDO)
    assert one.settled_fragment()["cuts"] == cuts
    undo_keys(one, UNDO)
    assert "cuts" not in one.settled_fragment()
    assert one.fragment()["selection"]["parts"] == first["parts"]

    search = one.find("#filters input[type=search]")
    search.send_keys("12")
    search.send_keys(UNDO)
    assert search.get_attribute("value") != "12" and one.fragment()["selection"]["parts"] == first["parts"], "the field's own undo"
    one.run("document.activeElement.blur()")
    one.run("""const select = document.querySelector('header select'); select.value = "other"; select.dispatchEvent(new Event("change"))""")
    one.wait_for(run="other")
    assert not one.find("#undo").is_enabled() and not one.find("#redo").is_enabled()


def test_undo_of_pins_and_filters(page, served, oracle):
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b")
    everything = len(oracle.rows(""))
    one.open_panel("table")
    one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#table .pin"), "the table's rows")[0].click()
    pinned = one.settled_fragment()["pinned"]
    assert len(pinned) == 1 and "pinned" in one.find("#undo").get_attribute("title")
    one.find("#undo").click()
    assert "pinned" not in one.settled_fragment()
    one.find("#redo").click()
    assert one.settled_fragment()["pinned"] == pinned
    set_filter(one, 0.5)
    one.wait_for(points=len(oracle.ids({"filters": {"correctness": {"min": 0.5}}})))
    undo_keys(one, UNDO)
    one.wait_for(points=everything)
    assert one.settled_fragment()["pinned"] == pinned


def set_filter(page, least):
    """Of correctness; None: none."""
    page.wait(lambda: page.run("""
        const field = document.querySelector('#filters input[aria-label="correctness, from"]');
        if (!field) return false;
        field.value = arguments[0] ?? '';
        field.dispatchEvent(new Event('change'));
        return true;""", least), "the filter's field")


class Model:
    """What the page should show: its selection, None: nothing is selected; its filter, the least correctness; the saved ones, (name, what).

    A selection is ("parts", ((op, region), …)), or of its own filters, ("own", ids or None, least correctness). A saved one of
    parts is ("parts", parts, least correctness)."""

    def __init__(self, oracle, regions):
        self.oracle, self.regions = oracle, regions
        self.now = (None, None, ())
        self.past, self.future = [], []

    def passing(self, least):
        return {row["id"] for row in self.oracle.rows("") if least is None or row["correctness"] >= least}

    def ids_of(self, what):
        kind, held, *least = what
        passing = self.passing(least[0] if least else None)
        if kind == "own":
            return passing if held is None else passing & held
        ids = set()
        for op, region in held:
            ids = ids | self.regions[region] if op == "add" else ids - self.regions[region]
        return ids & passing

    def selected(self):
        selection, least, _ = self.now
        return None if selection is None else self.ids_of(selection) & self.passing(least)

    def change(self, selection, least, saved):
        after = (selection, least, saved)
        if after != self.now:
            self.past.append(self.now)
            self.future = []
            self.now = after

    def go(self, one, other):
        if one:
            other.append(self.now)
            self.now = one.pop()

    def present(self):
        """What would be saved: the selection with the page's filter, or the examples that pass it."""
        selection, least, _ = self.now
        if selection is None:
            return None if least is None else ("own", None, least)
        if selection[0] == "parts":
            return (*selection, least)
        both = [one for one in (least, selection[2]) if one is not None]
        return ("own", selection[1], max(both) if both else None)

    def shown(self, what):
        """The page's selection and filter, once a saved selection is made the selection."""
        return (what[:2], what[2]) if what[0] == "parts" else (what, None)

    def joined(self, first, others, op):
        """One selection of parts, where parts can say it."""
        all_of = [first, *others]
        if any(one[0] != "parts" or one[2] != first[2] for one in all_of) or any(part[0] != "add" for one in others for part in one[1]):
            return None
        return ("parts", (*first[1], *((op, region) for one in others for _, region in one[1])), first[2])

    def operated(self, row, a, b, ids):
        """What a button of the comparison of `a` and `b` selects."""
        made = None
        if row == "in either":
            first = next((one for one in (a, b) if one[0] == "parts" and any(op == "remove" for op, _ in one[1])), a)
            made = self.joined(first, [b if first is a else a], "add")
        elif row != "in both":
            made = self.joined(*((a, [b]) if row == "first" else (b, [a])), "remove")
        return self.shown(made or ("own", frozenset(ids), None))


def region_ids(oracle, served):
    cuts = served.json("/api/view?run=a/b")["cuts"]
    rows = oracle.rows("")
    ambiguous = {row["id"] for row in rows if row["variability"] is not None and row["variability"] >= cuts["variability"]}
    easy = {row["id"] for row in rows if row["confidence"] >= cuts["confidence"]} - ambiguous
    return [frozenset(easy), frozenset(ambiguous), frozenset({row["id"] for row in rows} - easy - ambiguous)]


@pytest.mark.parametrize("seed", [1, 2])
def test_random_walk(page, served, oracle, seed):
    """Sixty actions by chance; after each, the page is as the model of it is."""
    random.seed(seed)
    model = Model(oracle, region_ids(oracle, served))
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b", points=len(oracle.rows("")))
    done = []
    for turn in range(60):
        selection, least, saved = model.now
        names = [name for name, _ in saved]
        at = dict(saved)
        actions = ["region", "region", "filter", "undo", "redo", "clear"]
        actions += ["save", "save"] * (model.present() is not None and len(saved) < 8)
        actions += ["select", "rename", "delete"] * bool(saved) + ["replace"] * (bool(saved) and model.present() is not None) + ["operate"] * 3 * (len(saved) > 1) + ["reload"] * (turn % 20 == 19)
        action = random.choice(actions) if turn % 20 != 19 else "reload"
        done.append(action)
        name = random.choice(names) if names else None
        show_panel(one)
        if action == "region":
            k = random.randrange(3)
            press(one, "Select", f"#regions tr:nth-child({k + 1})")
            model.change(("parts", (("add", k),)), least, saved)
        elif action == "clear":
            if selection is not None:
                press(one, "Clear", "#select")
            model.change(None, least, saved)
        elif action == "filter":
            least = random.choice([None, 0.25, 0.5])
            set_filter(one, least)
            model.change(selection, least, saved)
        elif action == "save":
            new = f"n{turn}"
            one.run("document.querySelector('#saved form input').value = arguments[0]", new)
            press(one, "Save as")
            model.change(selection, least, (*saved, (new, model.present())))
        elif action == "select":
            press_in(one, name, "Select")
            model.change(*model.shown(at[name]), saved)
        elif action == "rename":
            new = f"r{turn}"
            one.run("""const field = [...document.querySelectorAll('#saved input.name')].find((one) => one.value === arguments[0]);
                field.value = arguments[1]; field.dispatchEvent(new Event('change'))""", name, new)
            model.change(selection, least, tuple((new if was == name else was, what) for was, what in saved))
        elif action == "delete":
            press_in(one, name, "Delete")
            model.change(selection, least, tuple(entry for entry in saved if entry[0] != name))
        elif action == "replace":
            press_in(one, name, "Replace")
            model.change(selection, least, tuple((was, model.present() if was == name else what) for was, what in saved))
        elif action == "operate":
            a, b = random.sample(names, 2)
            a, b = sorted((a, b), key=names.index)
            wait_for_counts(one, {was: len(model.ids_of(what)) for was, what in saved})
            rows = check_sets(one, a, b, model.ids_of(at[a]), model.ids_of(at[b]))
            row, text = random.choice(list(rows))
            if rows[row, text]:
                press_compared(one, row, text)
                model.change(*model.operated({a: "first", b: "second"}.get(row, row), at[a], at[b], rows[row, text]), saved)
        elif action == "undo":
            undo_keys(one, UNDO)
            model.go(model.past, model.future)
        elif action == "redo":
            undo_keys(one, random.choice([REDO, OTHER_REDO]))
            model.go(model.future, model.past)
        elif action == "reload":
            one.settled_fragment()
            one.here().refresh()
            model.past, model.future = [], []
        expected = model.selected()
        try:
            one.wait_for(run="a/b", selected=len(expected or ()), points=len(model.passing(model.now[1])))
            show_panel(one)
            wait_for_counts(one, {was: len(model.ids_of(what)) for was, what in model.now[2]})
            assert one.find("#undo").is_enabled() == bool(model.past) and one.find("#redo").is_enabled() == bool(model.future)
            if turn % 5 == 0:
                told = state_selection(one)
                assert (oracle.ids(told) if expected is not None else None) == expected
        except AssertionError as error:
            raise AssertionError(f"after {done}: {error}") from error


def check_sets(page, a, b, one, two):
    tick(page, a, b)
    rows, _ = compared(page)
    assert rows == {a: (len(one), len(one - two)), b: (len(two), len(two - one)), "in both": (len(one & two), None), "in either": (len(one | two), None)}
    return {(a, "only these"): one - two, (b, "only these"): two - one, ("in both", "the overlap"): one & two, ("in either", "the union"): one | two}
