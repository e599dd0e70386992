"""$PORTOLAN_DISABLED, which switches recording off, $PORTOLAN_RUN and $PORTOLAN_STORE. Each hook is switched off beside its framework in
tests/frameworks/test_disabled.py."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import portolan
from portolan._recording import _hooks

LOGITS = np.array([[2.0, -1.0], [0.5, 1.5]], dtype="f4")
COUNTERS = ("logged", "acknowledged", "refused", "replaced", "dropped", "spooled", "bytes_sent", "reconnects", "waits")


@pytest.fixture
def off(monkeypatch, tmp_path):
    """Recording is off; afterwards nothing may lie in the working directory."""
    monkeypatch.setenv("PORTOLAN_DISABLED", "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORTOLAND", "/nonexistent/portoland")
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_off_does_nothing(off, capfd):
    with portolan.Run("words", store=off / "store", labels=["de", "en"]) as run:
        assert isinstance(run, portolan.Run) and run.is_disabled and run.is_open
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
        run.log_probs(0, [1, 2], LOGITS, [0, 1])
        run.log_gold(0, [1, 2], [0.5, 0.5], [True, False], gold=[0, 1])
        run.log_loss(0, [1, 2], [0.1, 0.2], length=[1, 2])
        run.log_regression(0, [1, 2], [0.1, 0.2], [1, 2])
        run.end_epoch(0)
        assert run.flush() is True
        assert run.stats() == dict.fromkeys(COUNTERS, 0)
        assert portolan.report(run)["epochs"] == [] and portolan.report(run)["map"] is None
        assert portolan.report(run).save(off / "report.html") == str(off / "report.html")
    assert not run.is_open and run.close() is True
    assert (run.name, run.mode, run.store, run.is_strict, run.is_shared) == ("words", "epoch-end", str(off / "store"), False, False)
    assert repr(run) == "<portolan.Run 'words' off: $PORTOLAN_DISABLED is set>"
    assert capfd.readouterr() == ("", "")


def test_a_run_that_is_off_checks_nothing(off):
    run = portolan.Run(store=off / "store", endpoint="tcp://nowhere:1", mode="other", examples=-3, if_exists="often")
    run.log_logits("epoch", object(), None, "gold")
    run.log_regression(0, [1, 2], [1], [2, 3, 4])
    run.log_loss(0, [], object(), columns=7)
    with portolan.Run("a", strict=True, group="job", rank=3) as run:
        assert run.is_strict and run.is_shared and run.store == "./portolan-store"


def test_the_counters_are_those_of_a_run(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
    assert tuple(run.stats()) == COUNTERS and not run.is_disabled


def test_what_reads_says_that_nothing_was_recorded(off):
    with portolan.Run("words") as run:
        for call in (portolan.measures, portolan.dynamics, portolan.select, portolan.suspects, portolan.epochs):
            with pytest.raises(portolan.Error, match="run words is not recorded, as .PORTOLAN_DISABLED is set: there is nothing to read"):
                call(run)


class Kept(portolan.Run):
    def __init__(self, name):
        super().__init__(name)
        self.seen = 3


def test_a_copy_is_of_the_callers_class(off):
    run = Kept("words")
    for one in (copy.deepcopy(run), copy.copy(run), pickle.loads(pickle.dumps(run)), copy.copy(copy.copy(run))):
        assert isinstance(one, Kept) and one.is_disabled and one.name == "words" and one.seen == 3 and one.flush() and one.is_open
    assert copy.copy(portolan.Run("plain")).name == "plain"


def test_the_methods_of_a_class_of_the_callers(off):
    class Mine(portolan.Run):
        def __init__(self, name):
            super().__init__(name)
            self.seen = 0

        def log_logits(self, *arguments):
            self.seen += 1
            super().log_logits(*arguments)

    with Mine("words") as run:
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
        assert run.seen == 1 and run.stats()["logged"] == 0 and type(run).__name__ == "Mine" and run.is_disabled


@pytest.mark.parametrize("value, records", [("", True), ("0", True), ("false", True), ("False", True), ("1", False), ("true", False), ("no", False)])
def test_values(store, monkeypatch, value, records):
    monkeypatch.setenv("PORTOLAN_DISABLED", value)
    with portolan.Run("run", store=store) as run:
        assert run.is_disabled is not records
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
    assert (run.stats()["logged"] == 2) is records and store.exists() is records


def test_neither_numpy_nor_a_program_is_looked_for(off):
    code = ("import sys, portolan; run = portolan.Run('a'); run.log_logits(0, [1], [[1., 2.]], [0]); run.close(); "
            "print('numpy' in sys.modules, 'torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ, PATH=""))
    assert (done.stdout, done.stderr) == ("False False\n", "")


def test_the_name_of_the_environment(store, monkeypatch):
    monkeypatch.setenv("PORTOLAN_RUN", "from/environment")
    monkeypatch.setenv("PORTOLAN_STORE", str(store))
    with portolan.Run() as run:
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
    assert run.name == "from/environment" and run.store == str(store)
    with portolan.Run("given") as run:
        run.log_logits(0, [1, 2], LOGITS, [0, 1])
    assert portolan.runs()["name"].tolist() == ["from/environment", "given"]


def test_a_run_without_a_name(store, monkeypatch):
    monkeypatch.delenv("PORTOLAN_RUN", raising=False)
    for value in (None, ""):
        if value is not None:
            monkeypatch.setenv("PORTOLAN_RUN", value)
        with pytest.raises(TypeError, match="give the run's name, or set .PORTOLAN_RUN"):
            portolan.Run(store=store)
    assert not store.exists()


@pytest.mark.parametrize("given, wanted", [(None, "from/environment"), ("given", "given")])
def test_the_name_of_a_hook(store, monkeypatch, given, wanted):
    monkeypatch.setenv("PORTOLAN_RUN", "from/environment")
    monkeypatch.setenv("PORTOLAN_STORE", str(store))
    one = _hooks.Recorder("portolan.test", given, "epoch-end")
    one.open("the framework's", _hooks.record("Model", {}))
    one.log_logits(0, [1, 2], LOGITS, [0, 1])
    one.close()
    assert one.run.name == wanted and portolan.runs(store)["name"].tolist() == [wanted]


def test_scikit_learn_trains_the_same_model(off, monkeypatch, capfd):
    sklearn = pytest.importorskip("portolan.sklearn")
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import SGDClassifier

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + y[:, None]

    def trained():
        return [
            sklearn.track(SGDClassifier(loss="log_loss", random_state=0), X, y, "sgd", epochs=3, store=off / "store", ids=[0] * 120).coef_,
            sklearn.track(GradientBoostingClassifier(n_estimators=5, random_state=0), X, y, "stages", store=off / "store").predict_proba(X),
            sklearn.cross_val_track(SGDClassifier(loss="log_loss", random_state=0), X, y, "folds", epochs=2, store=off / "store", in_fold=True),
        ]

    class Counted(SGDClassifier):
        def predict_proba(self, X):
            raise AssertionError("a pass of its own")

    off_is = trained()
    for run in ("folds", portolan.Run("folds", store=off / "store")):
        sklearn.cross_val_track(GradientBoostingClassifier(n_estimators=3, random_state=0), X, y, run)
        sklearn.track(SGDClassifier(loss="log_loss", random_state=0), X, y, run, epochs=2)
    assert capfd.readouterr() == ("", "")
    sklearn.track(Counted(loss="log_loss"), X, y, epochs=2)
    monkeypatch.delenv("PORTOLAN_DISABLED")
    wanted = [
        SGDClassifier(loss="log_loss", random_state=0),
        GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y).predict_proba(X),
    ]
    for _ in range(3):
        wanted[0].partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(off_is[0], wanted[0].coef_)
    np.testing.assert_array_equal(off_is[1], wanted[1])
    assert off_is[2].shape == (120, 2) and np.allclose(off_is[2].sum(1), 1)
