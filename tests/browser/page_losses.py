"""The page of a run of losses: its axes, card, table and progress speak of losses, and nothing of labels stands there."""

import json
import re
import subprocess

import numpy as np
import pytest

import stores
from served import MAKE_STORE, PORTOLAN, metrics, serving

N, EPOCHS = 300, 5
OF_LABELS = re.compile(r"p\(gold\)|gold label|confidence|correctness|wrong label|right label|\bNaN\b|undefined|easy-to-learn|never learned", re.I)


@pytest.fixture(scope="module")
def losses():
    random = np.random.default_rng(23)
    made = (random.gamma(2, 4, N) * np.exp(-np.arange(EPOCHS)[:, None] * random.uniform(0, 0.6, N)) + random.normal(0, 0.3, (EPOCHS, N))).astype("f4")
    made[2, 5] = np.nan
    return made


@pytest.fixture(scope="module")
def server(folder, losses):
    batches = []
    for epoch, row in enumerate(losses):
        ids = np.flatnonzero(~np.isnan(row))
        batches.append(stores.batch(epoch, ids, np.zeros(len(ids)), np.zeros(len(ids), bool), task_loss=row[ids]))
    stores.make_store(MAKE_STORE, str(folder / "losses"), [stores.run("losses", batches, declared=N)])
    data = folder / "losses.jsonl"
    data.write_text("".join(json.dumps({"id": i, "text": f"house number {i}", "kind": f"k{i % 3}"}) + "\n" for i in range(N)))
    with serving(folder / "losses", "--data", data, "--id-field", "id", "--text", "text", "losses") as served:
        yield served


def seen(one):
    """All text that is shown."""
    return one.run("return document.body.innerText")


def choices(one):
    return one.run("return ['x', 'y', 'colour'].map((name) => document.getElementById('choose-' + name).value)")


def check_words(one):
    found = OF_LABELS.search(seen(one))
    assert not found, seen(one)[max(0, found.start() - 60):found.end() + 60]


def check_map(one):
    assert choices(one) == ["variability", "task_loss", "learning_speed"]
    assert one.run("return document.getElementById('regions').checkVisibility()") is False
    assert one.run("return document.querySelectorAll('#map g.cut').length") == 0
    check_words(one)


def test_map_and_table(page, server, losses):
    one = page(server.view(run="losses"))
    one.wait_for(run="losses", points=N, examples=N)
    one.next_picture()
    check_map(one)
    one.open_panel("table")
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") > 5, "rows")
    assert "loss by epoch" in seen(one)
    check_words(one)
    rows = {row["id"]: row for row in metrics(server.store, "losses")}
    told = one.run("return [...document.querySelectorAll('#table tbody tr[data-id]')].map((row) => [Number(row.dataset.id), row.querySelector('[data-name=\"task loss\"]').textContent, row.querySelector('.sparkline').getAttribute('aria-label'), [...row.querySelectorAll('.sparkline circle')].map((dot) => Number(dot.getAttribute('cy')))])")
    for number, text, label, heights in told:
        known = losses[:, number][~np.isnan(losses[:, number])].astype("f8")
        assert abs(float(text) - rows[number]["task_loss"]) <= 0.005 * max(1, abs(float(text))), (number, text)
        assert label.startswith("loss by epoch: ") and len(label.split(",")) == len(known)
        low, high = min(0, known.min()), known.max()
        np.testing.assert_allclose(heights, 28 - 4 - (known - low) / (high - low) * (28 - 8), atol=1e-6)
    one.open_panel("progress")
    one.wait(lambda: "Mean loss" in seen(one), "the chart of the mean loss")
    check_words(one)
    one.open_panel("tags")
    one.wait(lambda: "no labels that could be corrected" in seen(one), "the panel of tags")
    check_words(one)
    one.open_panel("report")
    one.wait(lambda: one.run("return document.getElementById('report').dataset.state") == "made", "a report")
    assert "which have no labels" in seen(one)
    check_words(one)


def test_one_file(page, server, folder):
    subprocess.run([PORTOLAN, "map", "losses", "--store", server.store, "-o", str(folder / "losses.html")], capture_output=True, check=True)
    one = page((folder / "losses.html").as_uri())
    one.wait_for(run="losses", points=N, examples=N)
    drawn, coloured, of = one.pixels("#map .points")
    assert coloured > of / 1000, f"{drawn} of {of} pixels are drawn, {coloured} with a hue"
    check_map(one)
    one.open_panel("table")
    one.wait(lambda: "loss by epoch" in seen(one), "the table")
    assert one.run("return document.querySelector('#table .sparkline').getAttribute('aria-label')").startswith("loss by epoch: ")
