"""Epochs, playing them, progress; and a second run beside the first: all beside what the commands say of the store."""

import json
import re
import subprocess
import urllib.parse

import numpy as np
import pytest
import stores
from selenium.webdriver.common.keys import Keys

from served import LABELS, MAKE_STORE, PORTOLAN, batches, metrics, observations, selected_by, serving

N = 900
SQUARE = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[0.05, 0.2], [0.3, 0.2], [0.3, 0.7], [0.05, 0.7]]}]}


def other_batches():
    """Every third example is missing, and the second epoch of some."""
    probabilities, gold = observations(N, 3, seed=8)
    made = []
    for e, p in enumerate(probabilities):
        ids = np.array([i for i in range(N) if i % 3 and not (e == 1 and i % 7 == 0)])
        made.append(stores.batch(e, ids, p[ids], p[ids] > 0.5, gold[ids]))
    return made


def learned_at_once():
    """In the first epoch; then nothing is in common."""
    rng = np.random.default_rng(1)
    return [np.clip((0.2 if e == 0 else 0.7) + 0.05 * rng.normal(size=N), 0, 1).astype("f4") for e in range(7)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    store = tmp_path_factory.mktemp("epochs") / "store"
    stores.make_store(MAKE_STORE, str(store), [stores.run("one", batches(N, 5), declared=N, labels=LABELS), stores.run("two", other_batches()),
                                               stores.run("scratch", [stores.batch(e, np.arange(N), p, p > 0.5) for e, p in enumerate(learned_at_once())]),
                                               stores.run("names", [stores.batch(0, ["a", "b"], np.array([0.5, 0.7], "f4"), np.array([1, 1]))])])
    with serving(store) as server:
        yield server


def choose(one, name):
    one.run("[...document.querySelectorAll('#epochs button')].find((made) => made.textContent === arguments[0]).click()", name)


def large_type(one):
    return one.run("return document.querySelector('.epoch-now').textContent")


def test_the_common_trend(served, page):
    """Said of all epochs, beside the choice that mends it, and not once epochs are chosen."""
    one = page(served.view(run="scratch"))
    one.wait_for(run="scratch", points=N)
    hint = "const hint = document.querySelector('#epochs .hint'); return hint.hidden ? '' : hint.textContent"
    said = one.run(hint)
    assert re.fullmatch(r"\d\d% of the variance is the learning that all share; the range 1: leaves most of it out\.", said), said
    one = page(served.view(run="scratch", epochs="1:"))
    one.wait_for(run="scratch", points=N)
    assert one.run(hint) == ""


def test_choosing(served, page):
    """All, up to, range, one: the axes stay, and the same examples are selected, which lay inside at the selection's own epochs."""
    one = page(served.view(run="one", selection=SQUARE))
    selected = len(selected_by(SQUARE, metrics(served.store, "one")))
    assert selected != len(selected_by(SQUARE, metrics(served.store, "one", "--epochs", ":4"))), "enough to tell"
    one.wait_for(run="one", epochs="0:5", points=N, selected=selected)
    assert one.fragment()["selection"] == SQUARE
    assert large_type(one) == "all epochs 0 – 4"
    choose(one, "Up to")
    one.wait_for(epochs="0:5")
    axes = one.axis("x"), one.axis("y")
    assert axes[0][0] < 0 and axes[0][0] + axes[0][1] > 0.5, "room for the variability of any epochs"
    one.find("#epochs input[aria-label='Epoch']").send_keys(Keys.ARROW_LEFT)
    one.wait_for(epochs="0:4", selected=selected)
    assert large_type(one) == "up to epoch 3" and one.settled_fragment()["epochs"] == ":4"
    assert (one.axis("x"), one.axis("y")) == axes
    choose(one, "Range")
    one.find("#epochs input[aria-label='First epoch']").send_keys(Keys.ARROW_RIGHT)
    one.wait_for(epochs="1:4", selected=selected)
    assert large_type(one) == "epochs 1 – 3"
    one.find("#epochs input[aria-label='Last epoch']").send_keys(Keys.END)
    one.wait_for(epochs="1:5")
    one.wait(lambda: one.fragment()["epochs"] == "1:", "a range that stays open")
    choose(one, "One")
    one.find("#epochs input[aria-label='Epoch']").send_keys(Keys.HOME)
    one.wait_for(epochs="0:1", selected=selected)
    assert large_type(one) == "epoch 0" and "variability is 0" in one.find("#epochs .hint").text
    assert (one.axis("x"), one.axis("y")) == axes
    assert one.fragment()["selection"] == {**SQUARE, "epochs": ""}
    choose(one, "All")
    one.wait_for(epochs="0:5", selected=selected)
    assert one.fragment()["selection"] == SQUARE


ELSEWHEN = "const box = document.querySelector('#select .elsewhen'); return box.hidden ? '' : box.textContent"


# What the export saves as this form.
SAVED = """
const { createObjectURL } = URL;
const { click } = HTMLAnchorElement.prototype;
let made;
URL.createObjectURL = (blob) => { made = blob; return createObjectURL(blob); };
return new Promise((resolve) => {
  HTMLAnchorElement.prototype.click = function () { if (this.download) resolve(made.text()); };
  document.querySelector(`#export [data-as="${arguments[0]}"]`).click();
}).then((text) => {
  URL.createObjectURL = createObjectURL;
  HTMLAnchorElement.prototype.click = click;
  return JSON.parse(text);
});
"""


def test_selection_keeps_its_epochs(served, page):
    """While other epochs are shown, the same examples stay selected; the page says so, and the export is of the selection's epochs."""
    expected = selected_by(SQUARE, metrics(served.store, "one", "--epochs", "1:3"))
    assert 0 < len(expected) != len(selected_by(SQUARE, metrics(served.store, "one")))
    one = page(served.view(run="one", epochs="1:3", selection=SQUARE))
    one.wait_for(epochs="1:3", selected=len(expected))
    assert one.run(ELSEWHEN) == ""
    choose(one, "All")
    one.wait_for(epochs="0:5", selected=len(expected))
    said = one.wait(lambda: one.run(ELSEWHEN), "which epochs the selection is of")
    assert "made at epochs 1–2" in said and "epochs 0–4" in said
    one.wait(lambda: one.run("return document.querySelector('#map .outlines polygon.elsewhen') !== null"), "an outline that is drawn as one of other epochs")
    one.open_panel("export")
    one.wait(lambda: f"{len(expected)} examples are selected, epochs 1:3" in one.find("#export").text, "the export of epochs 1:3")
    exported = one.run(SAVED, "selection")
    assert exported["epochs"] == "1:3" and served.ids("one", exported) == expected
    other = page(one.run("return location.href"))
    other.wait_for(epochs="0:5", selected=len(expected))
    one.drag([(0.1, 0.1), (0.9, 0.2), (0.8, 0.8), (0.2, 0.9)], keys=[Keys.SHIFT])
    one.wait(lambda: one.run(ELSEWHEN) == "", "a new selection, of the epochs that are shown")
    selection = one.selection()
    assert "epochs" not in selection
    one.wait_for(selected=len(selected_by(selection, metrics(served.store, "one"))))


def test_back_to_the_selections_epochs(served, page):
    one = page(served.view(run="one", epochs="3:4", selection={**SQUARE, "epochs": "1:3"}))
    expected = selected_by(SQUARE, metrics(served.store, "one", "--epochs", "1:3"))
    one.wait_for(epochs="3:4", selected=len(expected))
    one.run("document.querySelector('#select .elsewhen button').click()")
    one.wait_for(epochs="1:3", selected=len(expected))
    assert one.run(ELSEWHEN) == ""


def test_selection_that_epochs_lack(served, page):
    """Not all examples of a selection were observed in the epochs that are shown: the page says how many were not."""
    everything = {"x": "epochs", "y": "confidence", "parts": [{"op": "add", "polygon": [[0, 0], [5, 0], [5, 1], [0, 1]]}], "epochs": "0:1"}
    all_of_it, there = (metrics(served.store, "two", "--epochs", epochs) for epochs in ("0:1", "1:2"))
    assert len(there) < len(all_of_it)
    one = page(served.view(run="two", epochs="1:2", selection=everything))
    one.wait_for(epochs="1:2", selected=len(there))
    one.wait(lambda: f"{len(all_of_it) - len(there)} of them were not observed in epoch 1" in one.run(ELSEWHEN), "how many are missing")
    assert one.find("#select .total").text == f"{len(all_of_it)} selected"


@pytest.mark.parametrize("x, y", [("threshold_closeness", "loss"), ("aleatoric", "first_learned"), ("variability", "confidence")])
def test_axes_stay_while_playing(served, page, x, y):
    """Once all epochs have been seen, no axis moves; of measures that have bounds, none moves at all."""
    one = page(served.view(run="one", x=x, y=y, epochs=":5"))
    one.wait_for(epochs="0:5")
    ticks = "return ['x', 'y'].map((axis) => [...document.querySelectorAll(`#map g.axes g.${axis} .tick`)].map((tick) => tick.getAttribute('transform') + tick.textContent).join())"
    one.next_picture()
    before = one.run(ticks)
    seen = []
    for _ in range(2):
        one.find("#epochs input[aria-label='Epoch']").send_keys(Keys.HOME)
        for epoch in range(1, 6):
            one.wait_for(epochs=f"0:{epoch}")
            one.next_picture()
            seen.append(one.run(ticks))
            if epoch < 5:
                one.find("#epochs input[aria-label='Epoch']").send_keys(Keys.ARROW_RIGHT)
    assert len({axis[0] for axis in [before, *seen]}) == 1, f"{x} moved"
    if y == "loss":
        assert len({axis[1] for axis in seen[4:]}) == 1, f"{y} moved again"
    else:
        assert len({axis[1] for axis in [before, *seen]}) == 1, f"{y} moved"


def test_playing(served, page):
    """Every epoch is shown, in their order; a pause holds, and choosing something else ends it."""
    one = page(served.view(run="one", epochs=":5"))
    one.wait_for(epochs="0:5")
    one.run("""
        const fast = document.querySelector('#epochs select[aria-label=Speed]');
        fast.value = 'fast';
        fast.dispatchEvent(new Event('change'));
        window.seen = [];
        const main = document.querySelector('main');
        new MutationObserver(() => seen[seen.length - 1] !== main.dataset.epochs && seen.push(main.dataset.epochs)).observe(main, {attributes: true});
        document.querySelector('.play').click()""")
    one.wait(lambda: "Play" in one.find(".play").text and one.data()["epochs"] == "0:5", "the end")
    assert one.run("return seen") == ["0:1", "0:2", "0:3", "0:4", "0:5"]
    one.run("document.querySelector('.play').click()")
    one.wait_for(epochs="0:2")
    one.run("document.querySelector('.play').click()")
    held = one.data()["epochs"]
    one.settled_fragment()
    assert one.data()["epochs"] == held and "Play" in one.find(".play").text
    one.run("document.querySelector('.play').click()")
    choose(one, "All")
    one.wait_for(epochs="0:5")
    assert "Play" in one.find(".play").text


def test_progress(served, page):
    one = page(served.view(run="one"))
    one.wait_for(run="one", points=N)
    one.wait(lambda: one.run("return document.querySelectorAll('.epoch-chart .line path').length") == 4, "four charts")
    told = json.loads(served.ask("/api/progress?run=one"))
    cells = one.run("return [...document.querySelectorAll('.numbers-by-epoch tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert [[int(row[0]), int(row[1]), int(row[4]), int(row[5])] for row in cells] == [
        [epoch["epoch"], epoch["observed"], epoch["learned"], epoch["forgotten"]] for epoch in told["epochs"]]
    assert [row[2] for row in cells] == [f"{100 * epoch['accuracy']:.1f} %" for epoch in told["epochs"]]


def compared(one):
    return {name: int(value) for name, value in one.run("return {...document.getElementById('compare').dataset}").items()}


def test_two_runs(served, page):
    """Selections of two runs with other ids overlap as the ids do that `portolan metrics` prints; the address has both."""
    rows = {run: metrics(served.store, run) for run in ("one", "two")}
    ids = {run: {row["id"] for row in rows[run]} for run in rows}
    other = urllib.parse.urlencode({"run": "two", "selection": json.dumps(SQUARE)})
    one = page(served.view(run="one", selection=SQUARE, other=other, panel="compare"))
    chosen = {run: set(selected_by(SQUARE, rows[run])) for run in rows}
    assert 0 < len(chosen["one"] & chosen["two"]) < len(chosen["two"]) and not ids["one"] <= ids["two"]
    expected = {"shared": len(ids["one"] & ids["two"]), "here": len(chosen["one"]), "there": len(chosen["two"]), "both": len(chosen["one"] & chosen["two"])}
    one.wait(lambda: compared(one) == expected, f"{expected}")
    one.run("document.querySelector('#compare input[type=checkbox]').click()")
    either = (chosen["one"] | chosen["two"]) & ids["one"] & ids["two"]
    one.wait(lambda: f"{len(either)} examples move" in one.find("#compare .compared").text, f"{len(either)} examples that move")
    axes = """return ['#map', '#other-map'].map((map) => ['x', 'y'].map((axis) =>
        [...document.querySelectorAll(`${map} g.axes g.${axis} .tick`)].map((tick) => tick.getAttribute('transform') + tick.textContent)))"""
    one.wait(lambda: (lambda here, there: all(here) and here == there)(*one.run(axes)), "both maps with the same axes")
    one.run("[...document.querySelectorAll('#compare button')].find((made) => made.textContent === 'Swap').click()")
    swapped = {**expected, "here": expected["there"], "there": expected["here"]}
    one.wait(lambda: one.data()["run"] == "two" and compared(one) == swapped, f"{swapped}")
    assert dict(urllib.parse.parse_qsl(one.settled_fragment()["other"]))["run"] == "one"


def test_data_of_two_runs(served, page):
    """The warning is the sentence of `portolan compare`; the fingerprints are those of `portolan runs --json`; the run's own stands among its facts."""
    told = {run["name"]: run["fingerprint"] for run in json.loads(subprocess.run([PORTOLAN, "runs", "--json", "--store", served.store], capture_output=True, check=True).stdout)}
    compared = subprocess.run([PORTOLAN, "compare", "one", "two", "--store", served.store], capture_output=True, text=True, check=True)
    sentence, = [line.split("warning: ", 1)[1] for line in compared.stderr.splitlines() if "their ids seem to name other examples" in line]
    warning = "return document.querySelector('#compare .warnings').textContent"
    beside = "return document.querySelector('#other-map .map-warning').textContent"
    data = "return document.querySelector('#compare .fingerprints').textContent"
    one = page(served.view(run="one", other="run=two", panel="compare"))
    choose_other = "const run = document.querySelector('#compare select'); run.value = arguments[0]; run.dispatchEvent(new Event('change'))"
    for other, shared, says in (("two", "The ids of the two runs are not all the same", sentence), ("scratch", "Both runs have the same ids", ""), ("two", "The ids", sentence)):
        one.run(choose_other, other)
        both = f"(fingerprints {told['one']} and {told[other]})."
        one.wait(lambda both=both, shared=shared: (said := one.run(data)).startswith(shared) and said.endswith(both), f"the fingerprint of {other}")
        assert one.run(warning) == one.run(beside) == says
    assert one.find("#compare .warnings").text.endswith(sentence)  # it is seen
    one.run("[...document.querySelectorAll('#compare button')].find((made) => made.textContent === 'Swap').click()")
    one.wait(lambda: f"{told['two']} and {told['one']}" in one.run(data) and "runs 'two' and 'one'" in one.run(warning), "both the other way round")
    one.run(choose_other, "")
    one.wait(lambda: one.run(warning) == one.run(data) == "", "nothing of two runs")
    one.open_panel("progress")
    one.wait(lambda: told["two"] in one.find("#progress .fact-lists").text.replace("\n", ""), "the fingerprint among the facts")


def test_linked(served, page):
    """What is selected or pointed at on one map is shown on the other."""
    one = page(served.view(run="one", other="run=two"))
    one.wait(lambda: compared(one).get("shared"), "two runs")
    assert one.run("return document.querySelector('#other-map .linked').hidden")
    one.drag([(0.1, 0.1), (0.9, 0.2), (0.8, 0.8), (0.2, 0.9)])
    one.wait(lambda: compared(one)["here"] > 0, "a selection")
    one.wait(lambda: one.run("return document.querySelector('#other-map .veiled, #other-map.veiled') !== null && !document.querySelector('#other-map .linked').hidden"),
             "linked points on the other map")
    one.run("document.querySelector('#map svg.over').focus()")
    one.press(Keys.HOME)
    for _ in range(20):
        one.wait(lambda: one.run("return document.querySelector('#map .card .head') !== null"), "a card")
        one.settled_fragment()
        heads = one.run("return [...document.querySelectorAll('.card:not([hidden]) .head strong')].map((head) => head.textContent)")
        if int(heads[0]) % 3:
            break
        one.press(Keys.ARROW_UP)
    assert heads == [heads[0]] * 2, "the same example on both maps"


def test_what_does_not_match(served, page):
    """Ids of another kind: the panel says so. Without a second run, nothing is asked about one."""
    told = subprocess.run([PORTOLAN, "compare", "one", "names", "--store", served.store], capture_output=True, text=True)
    assert told.returncode == 1 and "strings" in told.stderr
    one = page(served.view(run="one", other="run=names"))
    one.wait(lambda: "strings" in one.find("#other-map .trouble").text, "why they cannot be compared")
    assert [error for error in one.errors() if "api/match" not in error] == []  # the browser itself reports the refusal
    one.run("const run = document.querySelector('#compare select'); run.value = ''; run.dispatchEvent(new Event('change'))")
    one.wait(lambda: "other" not in one.fragment() and not one.find("#other-map").is_displayed(), "one map")
    one.run("performance.clearResourceTimings()")
    one.settled_fragment()
    assert not [name for name in one.run("return performance.getEntriesByType('resource').map(({name}) => name)") if "names" in name]
