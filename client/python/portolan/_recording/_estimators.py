"""Trains scikit-learn's estimators and records them: rows, epochs and stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portolan._recording import _environment, _hooks, _ids, _tasks

# Rows per call of predict_proba or predict: some estimators need much memory per row.
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
    """Logs what an estimator says of rows."""

    def __init__(self, recorder: _hooks.Recorder, ids: Any, rows: Rows, task: _tasks.Task) -> None:
        who = recorder.hook
        self.recorder, self.rows, self.task = recorder, rows, task
        self.is_off = _environment.is_disabled()
        if self.is_off:
            return
        self.ids = np.arange(rows.count) if ids is None else np.asarray(ids)
        self.gold = task.gold(rows.y, who)
        if len(self.ids) != rows.count:
            raise ValueError(f"{who}: there are {len(self.ids)} ids and {rows.count} {'labels' if task.is_classifier else 'targets'}")
        if ids is not None:
            _ids.check_unique(who, self.ids)

    def take(self, estimator: Any, epoch: int) -> None:
        """A pass over all rows."""
        if self.is_off:
            return
        for part in self.rows.slices():
            X = self.rows.take(part)
            if self.task.is_classifier and not hasattr(estimator, "predict_proba"):
                right = estimator.predict(X) == self.rows.y[part]
                self.recorder.log_gold(epoch, self.ids[part], right.astype("f4"), right, self.gold[part])
            else:
                self.add(epoch, part, self.task.see(estimator, X))
        self.recorder.end_epoch(epoch)

    def add(self, epoch: int, part: Any, seen: Any) -> None:
        if not self.is_off:
            self.task.log(self.recorder, epoch, self.ids[part], seen, self.gold[part])


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


def targets_of(y: Any, who: str) -> Any:
    """(n,) numbers."""
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise ValueError(
            f"{who}: y has the shape {targets.shape}: of several numbers for each row log the loss, run.log_loss(), in a loop of your own; or track "
            "a regressor for each of them, as a run of its own"
        )
    if targets.dtype.kind == "O":
        try:
            targets = targets.astype(np.float64)
        except (TypeError, ValueError):
            pass  # said below
    if targets.dtype.kind not in "fiub":
        raise ValueError(f"{who}: y holds {targets.tolist()[0]!r}, and the estimator is a regressor: it must hold numbers")
    return targets.astype(np.float64)


def count_stages(estimator: Any, rows: Rows, task: _tasks.Task) -> int:
    return sum(1 for _ in task.stages(estimator, rows.take(slice(0, 1))))


def spread_stages(estimator: Any, X: Any, task: _tasks.Task, total: int, count: int) -> Iterator[Any]:
    """What `count` of the stages say, evenly spread, the last one among them."""
    last = {-(-(i + 1) * total // count) - 1 for i in range(count)}
    return (seen for stage, seen in enumerate(task.stages(estimator, X)) if stage in last)


def way_of(estimator: Any, task: _tasks.Task) -> str:
    """How the estimator is trained."""
    if hasattr(estimator, task.staged):
        return "stages"
    return "partial_fit" if hasattr(estimator, "partial_fit") else "fit"


def train_epoch(estimator: Any, rows: Rows, task: _tasks.Task, batch_size: int | None, epoch: int) -> None:
    if batch_size is None:
        estimator.partial_fit(rows.X, rows.y, **task.of_partial_fit, **rows.weights_of(slice(None)))
        return
    seed = getattr(estimator, "random_state", None)
    generator = np.random.default_rng([int(seed) if isinstance(seed, (int, np.integer)) else 0, epoch])
    order = generator.permutation(rows.count)
    for start in range(0, rows.count, batch_size):
        batch = order[start : start + batch_size]
        estimator.partial_fit(rows.take(batch), rows.y[batch], **task.of_partial_fit, **rows.weights_of(batch))
