"""scikit-learn: one call in the place of fit().

    portolan.sklearn.track(SGDClassifier(loss="log_loss"), X, y, run="words", epochs=10)

An estimator with partial_fit is trained epoch by epoch, and how it sees every row is recorded at each epoch's end. A boosting
model (GradientBoosting, HistGradientBoosting, AdaBoost) is fitted, and its stages are recorded as epochs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from portolan._recording import _hooks, _ids
from portolan._recording._run import Run

_HOOK = "portolan.sklearn.track"
# Rows per call of predict_proba: some estimators need much memory per row.
_ROWS = 10_000


def track(
    estimator: Any,
    X: Any,
    y: Any,
    run: Run | str | None = None,
    epochs: int | None = None,
    *,
    ids: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    first_epoch: int = 0,
    correct_only: bool = False,
    **options: Any,
) -> Any:
    """Trains `estimator` on all of (X, y) and records it; answers the estimator.

    Args:
        estimator: a classifier with partial_fit, or a boosting model with staged_predict_proba.
        X: rows: an array, a sparse matrix, a DataFrame, a list.
        y: (n,) class labels of any kind; the run's class names are the classes as text.
        run: an open Run (mode="epoch-end"), or the name of one to open; default: the estimator's class.
        epochs: how often partial_fit goes over the data (default 10); of a boosting model, how many of its stages are recorded,
            evenly spread, the last one among them (default: all).
        ids: (n,) ids of the rows; default: 0 ... n-1.
        sample_weight: (n,) handed on.
        batch_size: rows per partial_fit, in an order of its own for each epoch; default: partial_fit gets all rows once per
            epoch, in which SGDClassifier and MLPClassifier shuffle them, and the latter forms its own batches.
        first_epoch: training that goes on: this estimator, and the run, have seen so many epochs.
        correct_only: for a classifier without probabilities (SGDClassifier(loss="hinge"), Perceptron): record whether it is
            right, as a probability of 1 or 0. Without it, such a classifier is refused.
        options: of portolan.Run, for a run that is opened here: store, config, if_exists, ...
    """
    for name, value in (("epochs", epochs), ("batch_size", batch_size)):
        if value is not None and value < 1:
            raise ValueError(f"{_HOOK}: {name} must be 1 or more, not {value!r}")
    staged = hasattr(estimator, "staged_predict_proba")
    _check(estimator, staged, correct_only, first_epoch)
    rows = _Rows(X, _labels(y), sample_weight)
    classes = estimator.classes_ if first_epoch > 0 else np.unique(rows.y)
    recorder = _hooks.Recorder(_HOOK, run, "epoch-end", options)
    observations = _Observations(recorder, ids, rows, classes)
    own_ids = {} if ids is not None else {"examples": rows.count}
    recorder.open(
        type(estimator).__name__, _record(estimator), resumed=first_epoch > 0, labels=[str(label) for label in classes], **own_ids
    )
    try:
        if staged:
            _train_stages(estimator, rows, epochs, observations)
        else:
            for epoch in range(first_epoch, first_epoch + (10 if epochs is None else epochs)):
                _train_epoch(estimator, rows, classes, batch_size, epoch)
                observations.take(estimator, epoch)
    finally:
        recorder.close()
    return estimator


class _Rows:
    """X, y and the weights, of which parts can be taken."""

    def __init__(self, X: Any, y: Any, weights: Any) -> None:
        self.X = X.tocsr() if hasattr(X, "tocsr") else X
        self.y, self.weights = y, None if weights is None else np.asarray(weights)
        self.count = len(y)
        length = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if length != self.count:
            raise ValueError(f"{_HOOK}: X has {length} rows, y {self.count}")

    def take(self, rows: Any) -> Any:
        if hasattr(self.X, "iloc"):
            return self.X.iloc[rows]
        if hasattr(self.X, "shape"):
            return self.X[rows]
        return self.X[rows] if isinstance(rows, slice) else [self.X[row] for row in rows]

    def weights_of(self, rows: Any) -> dict[str, Any]:
        return {} if self.weights is None else {"sample_weight": self.weights[rows]}

    def slices(self) -> Iterator[slice]:
        for start in range(0, self.count, _ROWS):
            yield slice(start, min(start + _ROWS, self.count))


class _Observations:
    """Where what an estimator says of the rows goes."""

    def __init__(self, recorder: _hooks.Recorder, ids: Any, rows: _Rows, classes: Any) -> None:
        self.recorder, self.rows = recorder, rows
        self.ids = np.arange(rows.count) if ids is None else np.asarray(ids)
        self.gold = np.searchsorted(classes, rows.y)
        if len(self.ids) != rows.count:
            raise ValueError(f"{_HOOK}: there are {len(self.ids)} ids and {rows.count} labels")
        if ids is not None:
            _ids.check_unique(_HOOK, self.ids)
        unknown = rows.y[classes[np.minimum(self.gold, len(classes) - 1)] != rows.y]
        if len(unknown):
            raise ValueError(f"{_HOOK}: y holds {unknown[0]!r}, which the estimator did not have among its classes")

    def take(self, estimator: Any, epoch: int) -> None:
        """A pass over all rows."""
        for part in self.rows.slices():
            if hasattr(estimator, "predict_proba"):
                self.add(epoch, part, estimator.predict_proba(self.rows.take(part)))
            else:
                right = estimator.predict(self.rows.take(part)) == self.rows.y[part]
                self.recorder.log_gold(epoch, self.ids[part], right.astype("f4"), right, self.gold[part])
        self.recorder.end_epoch(epoch)

    def add(self, epoch: int, part: slice, probs: Any) -> None:
        if probs.shape[1] == 1:  # one class alone: no probability of a class 1
            probs = np.column_stack((probs, np.zeros(len(probs))))
        self.recorder.log_probs(epoch, self.ids[part], probs, self.gold[part])


def _labels(y: Any) -> Any:
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"{_HOOK}: y has the shape {labels.shape}: several labels per example (multi-label, multi-output) have no gold "
            "probability; track each label's classifier as a run of its own"
        )
    if labels.dtype.kind == "f" and not (labels == np.round(labels)).all():
        raise ValueError(f"{_HOOK}: y holds numbers that are no classes, such as {labels[labels != np.round(labels)][0]}")
    return labels


def _check(estimator: Any, staged: bool, correct_only: bool, first_epoch: int) -> None:
    if isinstance(estimator, type):
        raise TypeError(f"{_HOOK}: the estimator is a class: make one, {estimator.__name__}(...)")
    name = type(estimator).__name__
    if is_regressor(estimator):
        raise TypeError(f"{_HOOK}: {name} is a regressor: there are no gold labels whose probability could be recorded")
    if staged:
        return
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"{_HOOK}: {name} has neither partial_fit nor staged_predict_proba, so there are no epochs to record: take an estimator that "
            "has (SGDClassifier, MLPClassifier, HistGradientBoostingClassifier, ...); of a Pipeline, its last step, on transformed rows"
        )
    if not hasattr(estimator, "predict_proba") and not correct_only:
        loss = getattr(estimator, "loss", None)
        given = f"{name}(loss={loss!r})" if isinstance(loss, str) else name
        raise TypeError(
            f"{_HOOK}: {given} has no probabilities (its decision function is no logit): take loss='log_loss' or 'modified_huber' where "
            "there is a choice, or record correctness alone with correct_only=True"
        )
    if first_epoch > 0 and not hasattr(estimator, "classes_"):
        raise ValueError(f"{_HOOK}: first_epoch={first_epoch} is for training that goes on, but this {name} has not been trained")


def _record(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False)
    seed = parameters.get("random_state")
    versions = _hooks.versions_of("sklearn", "numpy")
    return _hooks.record(estimator, versions, int(seed) if isinstance(seed, (int, np.integer)) else None, parameters)


def _train_epoch(estimator: Any, rows: _Rows, classes: Any, batch_size: int | None, epoch: int) -> None:
    if batch_size is None:
        estimator.partial_fit(rows.X, rows.y, classes=classes, **rows.weights_of(slice(None)))
        return
    seed = getattr(estimator, "random_state", None)
    generator = np.random.default_rng([int(seed) if isinstance(seed, (int, np.integer)) else 0, epoch])
    order = generator.permutation(rows.count)
    for start in range(0, rows.count, batch_size):
        batch = order[start : start + batch_size]
        estimator.partial_fit(rows.take(batch), rows.y[batch], classes=classes, **rows.weights_of(batch))


def _train_stages(estimator: Any, rows: _Rows, epochs: int | None, observations: _Observations) -> None:
    estimator.fit(rows.X, rows.y, **rows.weights_of(slice(None)))
    total = sum(1 for _ in estimator.staged_predict_proba(rows.take(slice(0, 1))))
    count = total if epochs is None else min(epochs, total)
    last = [-(-(i + 1) * total // count) - 1 for i in range(count)]  # the stage that ends each epoch
    for stage, probs in enumerate(estimator.staged_predict_proba(rows.X)):
        if stage in last:
            epoch = last.index(stage)
            observations.add(epoch, slice(None), probs)
            observations.recorder.end_epoch(epoch)
