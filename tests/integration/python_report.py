"""portolan.report(), against the numbers as NumPy has them and the regions as the map has them; measures() of a run in progress."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import portolan

EXAMPLES, CLASSES = 301, 3


@pytest.fixture
def trajectories():
    """Probabilities, epochs × examples × classes, which the model is ever surer of; and gold labels."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, CLASSES, EXAMPLES)
    logits = rng.normal(size=(5, EXAMPLES, CLASSES))
    logits[:, np.arange(EXAMPLES), gold] += np.arange(5)[:, None] / 2
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True), gold


def log(run, epoch, trajectories):
    p, gold = trajectories
    run.log_probs(epoch, np.arange(EXAMPLES), p[epoch], gold)
    run.end_epoch(epoch)


def expected(trajectories, epoch):
    p, gold = trajectories
    right = p.argmax(axis=2) == gold
    before, ever = (right[epoch - 1], right[:epoch].any(axis=0)) if epoch else (np.zeros(EXAMPLES, bool), np.zeros(EXAMPLES, bool))
    return {
        "epoch": epoch,
        "observed": EXAMPLES,
        "accuracy": right[epoch].mean(),
        "confidence": p[epoch, np.arange(EXAMPLES), gold].mean(),
        "forgotten": (before & ~right[epoch]).mean(),
        "learned": (right[epoch] & ~ever).mean(),
    }


def regions_of_the_map(store, epochs, folder):
    command = [os.environ["PORTOLAN"], "map", "run", "--store", store, "--epochs", epochs, "--json", "-o", folder / "its.png"]
    regions = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["maps"][0]["regions"]
    return {name: regions[name] / EXAMPLES for name in ("easy-to-learn", "ambiguous", "hard-to-learn")}


def check(epoch, trajectories, regions):
    wanted = {**expected(trajectories, epoch["epoch"]), **regions}
    assert list(epoch) == list(wanted)
    assert {name: pytest.approx(value, abs=1e-6) for name, value in wanted.items()} == epoch


def test_a_run_in_progress(store, tmp_path, trajectories):
    with warnings.catch_warnings(), portolan.Run("run", store=store) as run:
        warnings.simplefilter("error")
        assert portolan.report(run) == {
            "run": "run", "state": "recording", "examples": 0, "observations": 0, "forgettable": None, "epochs": [], "map": None}
        for epoch in range(4):
            log(run, epoch, trajectories)
            r = portolan.report(run)
            assert (r["run"], r["state"], r["examples"], r["observations"]) == ("run", "recording", EXAMPLES, (epoch + 1) * EXAMPLES)
            assert [summary["epoch"] for summary in r["epochs"]] == list(range(epoch + 1))
            with open(r["map"], "rb") as picture:
                assert picture.read(4) == b"\x89PNG"
            check(r["epochs"][-1], trajectories, regions_of_the_map(store, f":{epoch + 1}", tmp_path))
            assert json.loads(json.dumps(r)) == r, "plain numbers"
    m = portolan.measures("run", store=store)
    assert portolan.report("run", store=store, map=False)["state"] == "closed"
    assert r["forgettable"] == pytest.approx(((m.forgetting_events > 0) | (m.never_learned == 1)).mean())


def test_a_range_of_epochs_and_a_picture_of_ones_own(store, tmp_path, trajectories):
    with portolan.Run("run", store=store) as run:
        for epoch in range(5):
            log(run, epoch, trajectories)
    for epochs in ("1:4", (1, 4), slice(1, 4)):
        r = portolan.report("run", store=store, epochs=epochs, map=tmp_path / "mine.svg")
        assert [summary["epoch"] for summary in r["epochs"]] == [1, 2, 3]
        for summary in r["epochs"]:
            check(summary, trajectories, regions_of_the_map(store, f"1:{summary['epoch'] + 1}", tmp_path))
    assert r["map"] == str(tmp_path / "mine.svg") and (tmp_path / "mine.svg").read_text(encoding="utf-8").startswith("<?xml")
    for epochs in ("1", "a:b"):
        with pytest.raises(ValueError, match="A:B"):
            portolan.report("run", store=store, epochs=epochs)


def test_the_page(store, tmp_path, trajectories, monkeypatch):
    """Shown and saved, a report is the page of `portolan report`."""
    monkeypatch.chdir(tmp_path)
    with portolan.Run("run", store=store) as run, portolan.Run("<b>", store=store) as other:
        for epoch in range(5):
            log(run, epoch, trajectories)
            log(other, epoch, trajectories)
    with open("d.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"n": i, "t": f"word {i}"}) + "\n" for i in range(EXAMPLES))
    r = portolan.report("run", store=store, map=False, epochs="1:", with_="<b>", data="d.jsonl", id_field="n", text=["t"])
    monkeypatch.chdir("/")
    assert r.save(tmp_path / "r.json") == str(tmp_path / "r.json")
    page = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    commands = [one["command"] for one in page["commands"]]
    assert page["runs"] == ["run", "<b>"] and all(f" --store {store} " in command for command in commands), commands
    assert any("--epochs 1:" in command for command in commands) and any("--text t" in command for command in commands), commands
    shown = r._repr_html_()
    assert shown.startswith("<iframe ") and shown.count("<") == 2 and "word " in shown and "sandbox" in shown
    with pytest.raises(portolan.Error, match="cannot write docx"):
        r.save(tmp_path / "r.docx")
    with pytest.raises(portolan.Error, match="no run"):
        portolan.report("run", store=store, map=False, with_="other").save(tmp_path / "r.html")


def test_a_run_that_was_overwritten_is_another(store, trajectories):
    p, gold = trajectories
    before = None
    for turn in (0, 1):
        with portolan.Run("run", store=store, overwrite=True) as run:
            for epoch in range(3):
                run.log_probs(epoch, np.arange(EXAMPLES), p[epoch + turn], gold)
            shares = portolan.report(run, map=False)["epochs"][-1]["easy-to-learn"]
        assert shares == portolan.report("run", store=store, map=False)["epochs"][-1]["easy-to-learn"]
        assert turn == 0 or shares != before
        before = shares


def test_pictures_go_with_the_process(store, trajectories):
    with portolan.Run("run", store=store) as run:
        log(run, 0, trajectories)
    code = f"import portolan, os; p = portolan.report('run', store={str(store)!r})['map']; assert os.path.exists(p); print(p)"
    path = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert path.endswith(".png") and not os.path.exists(os.path.dirname(path))


def test_what_cannot_be_reported(store):
    with pytest.raises(portolan.Error, match="no run"):
        with portolan.Run("run", store=store):
            portolan.report("other", store=store)
    with pytest.raises(TypeError, match="name"):
        portolan.report(None)


def test_measures_of_an_open_run(store, trajectories):
    """What a sampler does: after each epoch, the measures of everything logged so far, without a warning."""
    p, gold = trajectories
    with warnings.catch_warnings(), portolan.Run("run", store=store) as run:
        warnings.simplefilter("error")
        for epoch in range(3):
            log(run, epoch, trajectories)
            m = portolan.measures(run)
            seen = p[: epoch + 1, np.arange(EXAMPLES), gold]
            assert m["id"].tolist() == list(range(EXAMPLES)) and (m.epochs == epoch + 1).all()
            np.testing.assert_allclose(m.confidence, seen.mean(axis=0), atol=1e-6)
            np.testing.assert_allclose(m.variability, seen.std(axis=0), atol=1e-6)
