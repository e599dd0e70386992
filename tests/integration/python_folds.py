"""portolan.sklearn.cross_val_track() against scikit-learn itself: the same clones trained by hand, their probabilities of the rows held out."""

import inspect
import json
import os
import subprocess
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import portolan
import portolan.sklearn
from python_sklearn import EXAMPLES, check_record, data

cross_val_track = portolan.sklearn.cross_val_track
EPOCHS = 3


def by_hand(estimator, X, gold, epochs, cv=None):
    """epochs × examples × classes: each row by the clone that was not trained on it."""
    probs = np.zeros((epochs, len(gold), gold.max() + 1))
    for train, held_out in (cv or StratifiedKFold(5)).split(X, gold):
        one = clone(estimator)
        for epoch in range(epochs):
            one.partial_fit(X[train], gold[train], classes=np.unique(gold))
            probs[epoch, held_out] = one.predict_proba(X[held_out])
    return probs


@pytest.mark.parametrize("estimator", [SGDClassifier(loss="log_loss", random_state=3), MLPClassifier((8,), random_state=3)])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_epochs_of_partial_fit(store, estimator, n_jobs):
    X, gold = data(3)
    probs = by_hand(estimator, X, gold, EPOCHS)
    last = cross_val_track(estimator, X, gold, "run", EPOCHS, n_jobs=n_jobs, store=store)
    np.testing.assert_array_equal(last, probs[-1])
    check_record(store, "run", probs, gold)
    assert not hasattr(estimator, "classes_"), "its clones are trained, and it stays as it was"


@pytest.mark.parametrize("estimator", [
    RandomForestClassifier(5, random_state=0),
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_any_other_classifier_has_one_epoch(store, estimator, n_jobs):
    X, gold = data(3)
    probs = cross_val_predict(estimator, X, gold, cv=5, method="predict_proba")
    last = cross_val_track(estimator, X, gold, "run", n_jobs=n_jobs, store=store)
    np.testing.assert_array_equal(last, probs)
    check_record(store, "run", [probs], gold)


@pytest.mark.parametrize("estimator, epochs, stages", [
    (GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0), None, range(6)),
    (HistGradientBoostingClassifier(max_iter=6, max_depth=2, min_samples_leaf=5, early_stopping=False, random_state=0), 3, (1, 3, 5)),
    (AdaBoostClassifier(n_estimators=6, random_state=0), 1, (5,)),
])
def test_stages_of_boosting(store, estimator, epochs, stages):
    X, gold = data(3)
    probs = np.zeros((len(stages), EXAMPLES, 3))
    for train, held_out in StratifiedKFold(3).split(X, gold):
        all_stages = list(clone(estimator).fit(X[train], gold[train]).staged_predict_proba(X[held_out]))
        probs[:, held_out] = [all_stages[stage] for stage in stages]
    cross_val_track(estimator, X, gold, "run", epochs, cv=3, n_jobs=2, store=store)
    check_record(store, "run", probs, gold)


class Stages(ClassifierMixin, BaseEstimator):
    """As many stages as its smallest row number says: an early stop that differs from fold to fold."""

    def fit(self, X, y):
        self.classes_, self.count_ = np.unique(y), 4 + int(X[:, 0].min())
        return self

    def predict_proba(self, X):
        return list(self.staged_predict_proba(X))[-1]

    def staged_predict_proba(self, X):
        for stage in range(self.count_):
            p = (stage + 1) / self.count_
            yield np.tile([p, 1 - p], (len(X), 1))


def test_folds_that_stop_early_at_different_stages(store):
    """Each row is seen in each epoch, and the last epoch is each clone's last stage."""
    X, gold = np.arange(40.0)[:, None], np.arange(40) % 2
    cross_val_track(Stages(), X, gold, "run", cv=KFold(2), store=store)  # 24 stages, and 4
    m = portolan.measures("run", store=store)
    assert (m.epochs == 4).all()
    last = portolan.measures("run", store=store, epochs=(3, 4))
    assert last.confidence.tolist() == [1.0, 0.0] * 20


def test_ids_names_weights_sparse_rows_and_batches(store):
    X, gold = data(3)
    names, ids = np.array(["cat", "dog", "wörm"]), [f"row-{i:04}" for i in range(EXAMPLES)]
    weights = np.linspace(0.5, 2, EXAMPLES)
    seen = []

    class Spy(GaussianNB):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            seen.append((len(y), sample_weight[0]))
            return super().partial_fit(X, y, classes, sample_weight)

    cross_val_track(Spy(), X, names[gold], "run", 2, cv=2, ids=ids, sample_weight=weights, batch_size=50, store=store)
    m = portolan.measures("run", store=store)
    assert m["id"].tolist() == ids and m["label"].tolist() == names[gold].tolist() and (m.epochs == 2).all()
    assert sum(rows for rows, _ in seen) == 2 * EXAMPLES and all(0.5 <= weight <= 2 for _, weight in seen)
    estimator = LogisticRegression()
    params = "params" if "params" in inspect.signature(cross_val_predict).parameters else "fit_params"  # its older name
    probs = cross_val_predict(estimator, X, gold, cv=5, method="predict_proba", **{params: {"sample_weight": weights}})
    last = cross_val_track(estimator, sparse.csr_matrix(X), names[gold], "sparse", sample_weight=weights, store=store)
    np.testing.assert_allclose(last, probs, atol=1e-3)


def test_lists_and_data_frames(store):
    pandas = pytest.importorskip("pandas")
    X, gold = data(3)
    plain = cross_val_track(LogisticRegression(), X, gold, "array", store=store)
    for name, rows in (("frame", pandas.DataFrame(X, columns=list("abcdef"))), ("list", X.tolist())):
        np.testing.assert_allclose(cross_val_track(LogisticRegression(), rows, gold.tolist(), name, store=store), plain)


def test_splitters_groups_and_pairs(store):
    X, gold = data(3)
    groups = np.arange(EXAMPLES) // 4
    estimator = SGDClassifier(loss="log_loss", random_state=3)
    for name, cv, pairs in (
        ("shuffled", StratifiedKFold(4, shuffle=True, random_state=1), StratifiedKFold(4, shuffle=True, random_state=1).split(X, gold)),
        ("groups", GroupKFold(3), GroupKFold(3).split(X, gold, groups)),
        ("number of groups", 3, StratifiedGroupKFold(3).split(X, gold, groups)),
        ("pairs", list(KFold(2).split(X)), KFold(2).split(X)),
    ):
        probs = np.zeros((1, EXAMPLES, 3))
        for train, held_out in pairs:
            probs[0, held_out] = clone(estimator).partial_fit(X[train], gold[train], classes=range(3)).predict_proba(X[held_out])
        cross_val_track(estimator, X, gold, name, 1, cv=cv, groups=groups if "groups" in name else None, store=store)
        check_record(store, name, probs, gold)


def test_how_each_fold_sees_what_it_is_trained_on(store):
    X, gold = data(3)
    estimator = SGDClassifier(loss="log_loss", random_state=3)
    cross_val_track(estimator, X, gold, "run", EPOCHS, cv=3, in_fold=True, store=store)
    check_record(store, "run", by_hand(estimator, X, gold, EPOCHS, StratifiedKFold(3)), gold)
    for number, (train, _) in enumerate(StratifiedKFold(3).split(X, gold)):
        one, probs = clone(estimator), []
        for _ in range(EPOCHS):
            one.partial_fit(X[train], gold[train], classes=range(3))
            probs.append(one.predict_proba(X[train]))
        check_record(store, f"run/fold{number}", probs, gold[train], train)
    for name in ("run", "run/fold0", "run/fold2"):
        check = subprocess.run([os.environ["PORTOLAN"], "check", name, "--store", store], capture_output=True, text=True)
        assert check.returncode == 0, check.stdout
    with pytest.raises(portolan.Refused, match="run 'run' exists"):
        cross_val_track(estimator, X, gold, "run", 1, cv=3, in_fold=True, store=store)
    cross_val_track(estimator, X, gold, "run", 1, cv=3, in_fold=True, store=store, if_exists="number")
    assert set(portolan.runs(store=store)["name"]) == {one + fold for one in ("run", "run/2") for fold in ("", "/fold0", "/fold1", "/fold2")}
    cross_val_track(estimator, X, gold, "run", 1, cv=3, in_fold=True, store=store, overwrite=True)
    assert (portolan.measures("run/fold1", store=store).epochs == 1).all()


def test_epochs_end_one_after_the_other(store, monkeypatch):
    """All folds go through an epoch before the next begins, so none is written a second time."""
    X, gold = data(3)
    with portolan.Run("run", store=store) as run:
        ended = []
        monkeypatch.setattr(run, "end_epoch", lambda epoch: ended.append((epoch, run.stats()["logged"])))
        cross_val_track(SGDClassifier(loss="log_loss"), X, gold, run, EPOCHS)
        assert ended == [(epoch, (epoch + 1) * EXAMPLES) for epoch in range(EPOCHS)]


def test_folds_are_trained_at_the_same_time(store):
    """Two clones wait for each other: one by one, neither would go on."""
    meeting = threading.Barrier(2, timeout=60)

    class Waits(GaussianNB):
        def partial_fit(self, *arguments, **more):
            meeting.wait()
            return super().partial_fit(*arguments, **more)

    X, gold = data(2)
    cross_val_track(Waits(), X, gold, "run", 2, cv=2, n_jobs=2, store=store)
    assert (portolan.measures("run", store=store).epochs == 2).all()


def test_clones_in_processes_of_their_own(store):
    joblib = pytest.importorskip("joblib")
    X, gold = data(3)
    estimator = SGDClassifier(loss="log_loss", random_state=3)
    with joblib.parallel_backend("loky", n_jobs=2):
        cross_val_track(estimator, X, gold, "run", EPOCHS, store=store)
    check_record(store, "run", by_hand(estimator, X, gold, EPOCHS), gold)


def test_wrong_labels_have_the_lowest_confidence(store):
    """Out of fold; a forest that has seen them believes them."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 6))
    X[np.arange(600), gold] += 4
    wrong = rng.choice(600, 30, replace=False)
    gold[wrong] = (gold[wrong] + 1) % 3
    forest = RandomForestClassifier(50, random_state=0)
    cross_val_track(forest, X, gold, "run", store=store, in_fold=True)
    suspects = portolan.select("run", by="confidence:asc", count=30, store=store).ids()
    assert len(set(suspects) & set(wrong.tolist())) >= 28
    assert (portolan.measures("run/fold0", store=store).correctness == 1).all()


def test_a_class_that_a_fold_was_not_trained_on(store, capfd):
    X, gold = data(2)
    gold[7] = 2
    with pytest.warns(UserWarning, match="least populated class"):
        last = cross_val_track(LogisticRegression(), X, gold, "run", store=store)
    assert last[7, 2] == 0 and last.shape == (EXAMPLES, 3)
    np.testing.assert_allclose(last.sum(axis=1), 1)
    m = portolan.measures("run", store=store)
    assert m.confidence[7] == 0 and m.gold[7] == 2
    said = capfd.readouterr().err
    assert said.count("holds out all rows of 2: what is recorded of them (1 rows) is by a clone that was trained without their class") == 1


def test_a_single_class_is_certain(store):
    last = cross_val_track(GaussianNB(), data(2)[0], np.zeros(EXAMPLES), "run", 2, store=store)
    assert last.shape == (EXAMPLES, 1) and (portolan.measures("run", store=store).confidence == 1).all()


def test_the_record_says_that_it_is_cross_validation(store, opened_with, capfd):
    X, gold = data(3)
    cross_val_track(LogisticRegression(random_state=9), X, gold, store=store)
    assert (opened_with["name"], opened_with["model"], opened_with["seed"]) == ("LogisticRegression", "LogisticRegression", 9)
    assert opened_with["cross_validation"] == {"folds": 5, "cv": "5"} and opened_with["examples"] == EXAMPLES and opened_with["labels"] == ["0", "1", "2"]
    assert json.dumps(opened_with["parameters"])
    assert "run LogisticRegression: 240 observations on disk" in capfd.readouterr().err


def test_what_is_refused(store):
    X, gold = data(3)
    sgd = SGDClassifier(loss="log_loss")
    for estimator, says in ((SGDClassifier(loss="hinge"), "SGDClassifier has no predict_proba.*CalibratedClassifierCV"),
                            (RidgeClassifier(), "RidgeClassifier has no predict_proba"),
                            (SGDClassifier, r"make one, SGDClassifier\(")):
        with pytest.raises(TypeError, match=f"cross_val_track: .*{says}"):
            cross_val_track(estimator, X, gold, "run", store=store)
    with pytest.raises(ValueError, match="LogisticRegression has neither partial_fit nor staged_predict_proba: its fit is one epoch, not 5"):
        cross_val_track(LogisticRegression(), X, gold, "run", 5, store=store)
    for cv, says in ((RepeatedStratifiedKFold(n_splits=3, n_repeats=2), "row 0 is held out 2 times"), (ShuffleSplit(3), "is held out [023] times"),
                     (TimeSeriesSplit(3), "row 0 is held out 0 times.*KFold"),
                     ([(np.arange(240), np.arange(120)), (np.arange(120), np.arange(120, 240))], "fold 0 trains on row 0, which it holds out")):
        with pytest.raises(ValueError, match=f"cross_val_track: .*{says}"):
            cross_val_track(sgd, X, gold, "run", cv=cv, store=store)
    with pytest.raises(ValueError, match="3 groups and 240 labels"):
        cross_val_track(sgd, X, gold, "run", groups=[1, 2, 3], store=store)
    with pytest.raises(ValueError, match="cross_val_track: rows 1 and 239 have the same id, 1; of the 240 ids 239 differ"):
        cross_val_track(sgd, X, gold, "run", ids=np.append(np.arange(239), 1), store=store)
    with pytest.raises(ValueError, match=r"cross_val_track: y has the shape \(240, 3\)"):
        cross_val_track(sgd, X, np.eye(3, dtype=int)[gold], "run", store=store)
    with pytest.raises(ValueError, match="cross_val_track: X has 10 rows, y 240"):
        cross_val_track(sgd, X[:10], gold, "run", store=store)
    with pytest.raises(ValueError, match="cross_val_track: epochs must be 1 or more"):
        cross_val_track(sgd, X, gold, "run", 0, store=store)
    assert not store.exists(), "nothing was opened before that was said"
    with portolan.Run("open", store=store) as run, pytest.raises(TypeError, match="in_fold=True opens runs beside this one"):
        cross_val_track(sgd, X, gold, run, in_fold=True)


def test_an_error_in_a_fold_closes_the_runs(store):
    class Fails(GaussianNB):
        def partial_fit(self, *arguments, **more):
            raise ArithmeticError("in a fold")

    X, gold = data(3)
    with pytest.raises(ArithmeticError):
        cross_val_track(Fails(), X, gold, "run", in_fold=True, store=store)
    assert set(portolan.runs(store=store)["state"]) == {"closed"}
