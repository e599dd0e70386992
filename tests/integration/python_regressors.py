"""portolan.sklearn with regressors, against scikit-learn itself: the same estimator trained by hand, its predictions epoch by epoch, and the squares of
their errors."""

import os
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import AdaBoostRegressor, GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import portolan
import portolan.sklearn

EXAMPLES, EPOCHS = 240, 4
track, cross_val_track = portolan.sklearn.track, portolan.sklearn.cross_val_track


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(EXAMPLES, 6))
    return X, X @ rng.normal(1, 0.5, 6) + 3 + rng.normal(0, 0.3, EXAMPLES)


def check_numbers(store, name, predicted, target, ids=None, rtol=1e-5):
    """Every observation, against these predictions (epochs × examples); the loss is the square of the error."""
    ids = np.arange(len(target)) if ids is None else np.asarray(ids)
    d = portolan.dynamics(name, store=store)
    place = {one: row for row, one in enumerate(ids.tolist())}
    row, epoch = np.array([place[one] for one in d["id"].tolist()]), d["epoch"].astype(int)
    predicted, target = np.asarray(predicted, dtype=np.float64), np.asarray(target, dtype=np.float64)
    assert len(d) == predicted.size and set(zip(row.tolist(), epoch.tolist())) == {(i, e) for e in range(len(predicted)) for i in range(len(target))}
    np.testing.assert_allclose(d["prediction"], predicted[epoch, row], rtol=rtol, atol=1e-6)
    np.testing.assert_allclose(d["target"], target[row], rtol=1e-6)
    errors = predicted - target
    np.testing.assert_allclose(d["task_loss"], errors[epoch, row] ** 2, rtol=rtol, atol=rtol * np.abs(errors).max())
    assert np.ptp(d["task_loss"]) > 0, "any record would do"


@pytest.mark.parametrize("estimator", [SGDRegressor(random_state=3), MLPRegressor(hidden_layer_sizes=(8,), random_state=3)])
def test_whole_passes(store, estimator):
    X, y = data()
    by_hand, predicted = clone(estimator), []
    for _ in range(EPOCHS):
        by_hand.partial_fit(X, y)
        predicted.append(by_hand.predict(X))
    tracked = track(clone(estimator), X, y[:, None], "run", EPOCHS, store=store)  # a column serves as well
    np.testing.assert_array_equal(tracked.predict(X), predicted[-1])
    check_numbers(store, "run", predicted, y)


@pytest.mark.parametrize("estimator", [
    GradientBoostingRegressor(n_estimators=7, max_depth=2, random_state=0),
    HistGradientBoostingRegressor(max_iter=7, max_depth=2, min_samples_leaf=5, early_stopping=False, random_state=0),
    AdaBoostRegressor(n_estimators=7, random_state=0),
])
@pytest.mark.parametrize("epochs, stages", [(None, range(7)), (3, (2, 4, 6))])
def test_stages_of_boosting(store, estimator, epochs, stages):
    X, y = data()
    all_stages = list(clone(estimator).fit(X, y).staged_predict(X))
    track(clone(estimator), X, y, "run", epochs, store=store)
    check_numbers(store, "run", [all_stages[stage] for stage in stages], y)


def test_batches_ids_weights_sparse_rows_and_training_that_goes_on(store):
    X, y = data()
    ids, weights = [f"row-{i:04}" for i in range(EXAMPLES)], np.linspace(0.5, 2, EXAMPLES)
    seen = []

    class Spy(SGDRegressor):
        def partial_fit(self, X, y, sample_weight=None):
            super().partial_fit(X, y, sample_weight)
            seen.append((X.shape[0], self.coef_.copy(), float(self.intercept_[0])))
            return self

    spy = Spy(random_state=1)
    track(spy, sparse.coo_matrix(X), y, "run", 2, ids=ids, sample_weight=weights, batch_size=100, store=store)
    track(spy, sparse.coo_matrix(X), y, "run", 1, ids=ids, sample_weight=weights, batch_size=100, store=store, first_epoch=2)
    assert [rows for rows, *_ in seen] == [100, 100, 40] * 3
    check_numbers(store, "run", [X @ coef + intercept for _, coef, intercept in seen[2::3]], y, ids)


@pytest.mark.parametrize("estimator, epochs, cv", [
    (SGDRegressor(random_state=3), 3, 5), (MLPRegressor(hidden_layer_sizes=(8,), random_state=3), 2, KFold(3, shuffle=True, random_state=1)),
    (LinearRegression(), None, 5), (make_pipeline(StandardScaler(), LinearRegression()), None, 4), (RandomForestRegressor(5, random_state=0), None, 3)])
def test_out_of_fold(store, estimator, epochs, cv):
    X, y = data()
    predicted = np.zeros((epochs or 1, EXAMPLES))
    for train, held_out in (KFold(cv) if isinstance(cv, int) else cv).split(X):
        one = clone(estimator)
        for epoch in range(epochs or 1):
            one = one.partial_fit(X[train], y[train]) if epochs else one.fit(X[train], y[train])
            predicted[epoch, held_out] = one.predict(X[held_out])
    last = cross_val_track(estimator, X, y, "run", epochs, cv=cv, store=store)
    np.testing.assert_allclose(last, predicted[-1], rtol=1e-12)
    if not epochs:
        np.testing.assert_allclose(last, cross_val_predict(estimator, X, y, cv=cv), rtol=1e-12)
    check_numbers(store, "run", predicted, y)


def test_stages_out_of_fold_in_fold_and_groups(store):
    X, y = data()
    groups, estimator = np.arange(EXAMPLES) // 4, GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0)
    cross_val_track(estimator, X, y, "run", 2, cv=3, groups=groups, in_fold=True, store=store)
    held = np.zeros((2, EXAMPLES))
    for number, (train, held_out) in enumerate(GroupKFold(3).split(X, y, groups)):
        one = clone(estimator).fit(X[train], y[train])
        held[:, held_out] = list(one.staged_predict(X[held_out]))[1::2]
        check_numbers(store, f"run/fold{number}", list(one.staged_predict(X[train]))[1::2], y[train], train)
    check_numbers(store, "run", held, y)


def test_wrong_targets_have_the_largest_loss_and_triage_reads_the_run(store):
    X, y = data()
    wrong = np.random.default_rng(1).choice(EXAMPLES, 12, replace=False)
    y[wrong] += 10
    cross_val_track(LinearRegression(), X, y, "run", store=store)
    assert set(portolan.select("run", by="hard-to-learn", count=12, store=store).ids()) == set(wrong.tolist())
    track(SGDRegressor(random_state=0), X, y, "train", 3, store=store)
    track(SGDRegressor(random_state=0), *data(1), "calibration", 3, store=store)
    done = subprocess.run([os.environ["PORTOLAN"], "triage", "train", "--calibration", "calibration", "--format", "csv", "--store", store],
                          capture_output=True, text=True, check=True)
    group = {int(row.split(",")[0]): row.split(",") for row in done.stdout.split()[1:]}
    assert len(group) == EXAMPLES and all("under" in str(group[row]) for row in wrong.tolist()), done.stdout[:300]


class Plain(BaseEstimator):
    """Says of itself neither that it is a classifier nor that it is a regressor."""

    def partial_fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_the_task_can_be_said(store, opened_with):
    X, y = data()
    for call in (track, cross_val_track):
        with pytest.raises(TypeError, match="Plain has no probabilities, and does not say that it is a classifier: say task='regression'"):
            call(Plain(), X, np.round(y), "run", store=store)
        with pytest.raises(TypeError, match="SGDRegressor is a regressor, and has no probabilities: leave task='classification' out") as said:
            call(SGDRegressor(), X, np.round(y), "run", task="classification", store=store)
        assert "log_loss" not in str(said.value)
    track(Plain(), X, y, "run", 1, task="regression", store=store)
    check_numbers(store, "run", [np.full(EXAMPLES, y.mean())], y)
    assert opened_with["examples"] == EXAMPLES and "labels" not in opened_with
    for call in (track, cross_val_track):
        with pytest.raises(ValueError, match="task must be 'classification' or 'regression', not 'regress'"):
            call(Plain(), X, y, "other", task="regress", store=store)


def test_targets_in_a_column_of_objects(store):
    """As a data frame with mixed columns gives them."""
    X, y = data()
    track(Plain(), X, y.astype(object), "run", 1, task="regression", store=store)
    check_numbers(store, "run", [np.full(EXAMPLES, y.mean())], y)
    with pytest.raises(ValueError, match="y holds 'a', and the estimator is a regressor"):
        track(SGDRegressor(), X, np.array(["a", *y[1:]], dtype=object), "other", store=store)


def test_what_is_refused(store):
    X, y = data()
    for call, estimator, more, error, says in (
        (track, RandomForestRegressor(), {}, TypeError, "RandomForestRegressor has neither partial_fit nor staged_predict,.*SGDRegressor.*cross_val_track takes any"),
        (track, SGDRegressor, {}, TypeError, r"is a class: make one, SGDRegressor\("),
        (track, SGDRegressor(), {"first_epoch": 3}, ValueError, "this SGDRegressor has not been trained"),
        (track, SGDRegressor(), {"correct_only": True}, ValueError, "correct_only=True is for classifiers"),
        (track, GradientBoostingRegressor(), {"correct_only": True}, ValueError, "correct_only=True is for classifiers"),
        (track, SGDRegressor(), {"ids": [1, 2]}, ValueError, "2 ids and 240 targets"),
        (track, SGDClassifier(loss="log_loss"), {}, ValueError, "y holds numbers that are no classes"),
        (cross_val_track, LinearRegression(), {"epochs": 5}, ValueError, "LinearRegression has neither partial_fit nor staged_predict: its fit is one epoch, not 5"),
        (cross_val_track, LinearRegression(), {"groups": [1]}, ValueError, "1 groups and 240 targets"),
    ):
        with pytest.raises(error, match=says):
            call(estimator, X, y, "run", store=store, **more)
    for targets, says in ((np.stack([y, y], 1), r"y has the shape \(240, 2\): of several numbers"), (["a"] * EXAMPLES, "y holds 'a', and the estimator is a regressor"),
                          (y[:10], "X has 240 rows, y 10")):
        with pytest.raises(ValueError, match=says):
            track(SGDRegressor(), X, targets, "run", store=store)
    assert not store.exists(), "nothing was opened before that was said"
    with portolan.Run("labels", store=store) as run:
        run.log_gold(0, [0], [0.5], [True])
        with pytest.raises(ValueError, match="records probabilities of labels"):
            track(SGDRegressor(), X, y, run, 1)
