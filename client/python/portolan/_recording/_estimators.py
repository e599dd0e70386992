"""Trains scikit-learn's estimators and records them: rows, epochs, stages and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portolan._recording import _hooks, _ids

# Rows per call of predict_proba: some estimators need much memory per row.
ROWS = 10_000


class Rows:
    """X, y and the weights, which can be divided into parts."""

    def __init__(self, X: Any, y: Any, weights: Any, who: str) -> None:
        self.X = X.tocsr() if hasattr(X, "tocsr") else X
        self.y, self.weights, self._who = y, None if weights is None else np.asarray(weights), who
        self.count = len(y)
        length = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if length != self.count:
            raise ValueError(f"{who}: X has {length} rows, y {self.count}")

    def take(self, rows: Any) -> Any:
        if hasattr(self.X, "iloc"):
            return self.X.iloc[rows]
        if hasattr(self.X, "shape"):
            return self.X[rows]
        return self.X[rows] if isinstance(rows, slice) else [self.X[row] for row in rows]

    def part(self, rows: Any) -> Rows:
        return Rows(self.take(rows), self.y[rows], None if self.weights is None else self.weights[rows], self._who)

    def weights_of(self, rows: Any) -> dict[str, Any]:
        return {} if self.weights is None else {"sample_weight": self.weights[rows]}

    def slices(self) -> Iterator[slice]:
        for start in range(0, self.count, ROWS):
            yield slice(start, min(start + ROWS, self.count))


class Observations:
    """Logs an estimator's probabilities."""

    def __init__(self, recorder: _hooks.Recorder, ids: Any, rows: Rows, classes: Any) -> None:
        who = recorder.hook
        self.recorder, self.rows = recorder, rows
        self.ids = np.arange(rows.count) if ids is None else np.asarray(ids)
        self.gold = np.searchsorted(classes, rows.y)
        if len(self.ids) != rows.count:
            raise ValueError(f"{who}: there are {len(self.ids)} ids and {rows.count} labels")
        if ids is not None:
            _ids.check_unique(who, self.ids)
        unknown = rows.y[classes[np.minimum(self.gold, len(classes) - 1)] != rows.y]
        if len(unknown):
            raise ValueError(f"{who}: y holds {unknown[0]!r}, which the estimator did not have among its classes")

    def take(self, estimator: Any, epoch: int) -> None:
        """A pass over all rows."""
        for part in self.rows.slices():
            if hasattr(estimator, "predict_proba"):
                self.add(epoch, part, estimator.predict_proba(self.rows.take(part)))
            else:
                right = estimator.predict(self.rows.take(part)) == self.rows.y[part]
                self.recorder.log_gold(epoch, self.ids[part], right.astype("f4"), right, self.gold[part])
        self.recorder.end_epoch(epoch)

    def add(self, epoch: int, part: Any, probs: Any) -> None:
        if probs.shape[1] == 1:  # with one class alone there is no probability of a class 1
            probs = np.column_stack((probs, np.zeros(len(probs))))
        self.recorder.log_probs(epoch, self.ids[part], probs, self.gold[part])


def labels_of(y: Any, who: str) -> Any:
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"{who}: y has the shape {labels.shape}: several labels per example (multi-label, multi-output) have no gold "
            "probability; track each label's classifier as a run of its own, or log portolan.per_label(ids, probs, y) in a loop of your own"
        )
    if labels.dtype.kind == "f" and not (labels == np.round(labels)).all():
        raise ValueError(f"{who}: y holds numbers that are no classes, such as {labels[labels != np.round(labels)][0]}")
    return labels


def count_stages(estimator: Any, rows: Rows) -> int:
    return sum(1 for _ in estimator.staged_predict_proba(rows.take(slice(0, 1))))


def spread_stages(estimator: Any, X: Any, total: int, count: int) -> Iterator[Any]:
    """Probabilities at `count` of the stages, evenly spread, the last one among them."""
    last = {-(-(i + 1) * total // count) - 1 for i in range(count)}
    return (probs for stage, probs in enumerate(estimator.staged_predict_proba(X)) if stage in last)


def way_of(estimator: Any) -> str:
    """How the estimator is trained."""
    if hasattr(estimator, "staged_predict_proba"):
        return "stages"
    return "partial_fit" if hasattr(estimator, "partial_fit") else "fit"


def train_epoch(estimator: Any, rows: Rows, classes: Any, batch_size: int | None, epoch: int) -> None:
    if batch_size is None:
        estimator.partial_fit(rows.X, rows.y, classes=classes, **rows.weights_of(slice(None)))
        return
    seed = getattr(estimator, "random_state", None)
    generator = np.random.default_rng([int(seed) if isinstance(seed, (int, np.integer)) else 0, epoch])
    order = generator.permutation(rows.count)
    for start in range(0, rows.count, batch_size):
        batch = order[start : start + batch_size]
        estimator.partial_fit(rows.take(batch), rows.y[batch], classes=classes, **rows.weights_of(batch))
