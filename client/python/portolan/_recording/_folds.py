"""Cross-validation of scikit-learn's estimators: the rows of each fold, a clone trained for each, and the runs that record them.

All folds go through an epoch before the next one begins, so the epochs of the run end one after the other, each with an observation of every
row. The price: all clones are in memory at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from portolan._recording import _estimators, _hooks
from portolan._recording._run import Run

HOOK = "portolan.sklearn.cross_val_track"


@dataclass
class Fold:
    estimator: Any  # the fold's clone
    train: Any  # row numbers
    held_out: Any

    def parts(self, in_fold: bool) -> list[Any]:
        """The rows that are recorded."""
        return [self.held_out, self.train] if in_fold else [self.held_out]


def split(cv: Any, X: Any, y: Any, groups: Any) -> list[tuple[Any, Any]]:
    """(rows to train on, rows held out) of each fold; exactly one fold holds out each row. Prints the classes that a fold does not train on."""
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"{HOOK}: there are {len(groups)} groups and {len(y)} labels")
    if groups is not None and isinstance(cv, (int, np.integer)):
        cv = StratifiedGroupKFold(int(cv))  # the splitter that scikit-learn takes for a number ignores groups
    parts = [(_numbers(train), _numbers(held_out)) for train, held_out in check_cv(cv, y, classifier=True).split(X, y, groups)]
    times = np.bincount(np.concatenate([held_out for _, held_out in parts]), minlength=len(y))
    if (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise ValueError(
            f"{HOOK}: row {row} is held out {times[row]} times, and each must be once: take a number of folds, KFold, StratifiedKFold or "
            "GroupKFold. Repetitions are runs of their own, from splitters with other seeds"
        )
    for number, (train, held_out) in enumerate(parts):
        shared = np.intersect1d(train, held_out)
        if len(shared):
            raise ValueError(f"{HOOK}: fold {number} trains on row {shared[0]}, which it holds out")
        _warn_of_classes(number, y[train], y[held_out])
    return parts


class Runs:
    """The runs of a cross-validation: one of all rows, out of fold; with `in_fold` also one of the rows that each fold trains on."""

    def __init__(self, run: Run | str | None, options: dict[str, Any], ids: Any, rows: _estimators.Rows, classes: Any) -> None:
        self._options, self._ids, self._rows, self._classes = options, ids, rows, classes
        self._out = self._observations(run, options)
        self._in: list[_estimators.Observations] = []

    def open(self, default_name: str, record: dict[str, Any], folds: Sequence[Fold], in_fold: bool) -> None:
        labels = [str(label) for label in self._classes]
        known: dict[str, Any] = {} if self._ids is not None else {"examples": self._rows.count}
        self._out.recorder.open(default_name, record, labels=labels, **known)
        if not in_fold or self._out.recorder.run is None:
            return
        name = self._out.recorder.run.name
        options = {key: value for key, value in self._options.items() if (key, value) != ("if_exists", "number")}  # the name has the number of the fold
        for number in range(len(folds)):
            one = self._observations(f"{name}/fold{number}", options)
            one.recorder.open(default_name, {**record, "fold": number}, labels=labels)
            self._in.append(one)

    def record(self, folds: Sequence[Fold], epochs: Iterator[Sequence[Sequence[Any]]]) -> Any:
        """Logs the probabilities of each epoch, fold and part; those of the last epoch, out of fold."""
        last = np.zeros((self._rows.count, len(self._classes)))
        for epoch, seen in enumerate(epochs):
            for number, (fold, probs) in enumerate(zip(folds, seen)):
                self._out.add(epoch, fold.held_out, probs[0])
                last[fold.held_out] = probs[0]
                if self._in:
                    self._in[number].add(epoch, fold.train, probs[1])
                    self._in[number].recorder.end_epoch(epoch)
            self._out.recorder.end_epoch(epoch)
        return last

    def close(self) -> None:
        for one in (*self._in, self._out):
            one.recorder.close()

    def _observations(self, run: Run | str | None, options: dict[str, Any]) -> _estimators.Observations:
        return _estimators.Observations(_hooks.Recorder(HOOK, run, "epoch-end", options), self._ids, self._rows, self._classes)


class Training:
    """Trains the clones of all folds.

    Args:
        rows, classes: all of them.
        batch_size: of partial_fit, or None.
        in_fold: rows that a fold trains on are recorded too.
        n_jobs: folds at a time.
    """

    def __init__(self, rows: _estimators.Rows, classes: Any, batch_size: int | None, in_fold: bool, n_jobs: int | None) -> None:
        self._rows, self._classes, self._batch_size, self._in_fold = rows, classes, batch_size, in_fold
        self._n_jobs = n_jobs

    def epochs(self, folds: Sequence[Fold], epochs: int | None) -> Iterator[Sequence[Sequence[Any]]]:
        """The probabilities of each part of each fold, epoch by epoch."""
        way = _estimators.way_of(folds[0].estimator)
        parallel = joblib.Parallel(n_jobs=self._n_jobs, prefer="threads")
        if way == "stages":
            yield from self._stages(folds, epochs, parallel(joblib.delayed(self._fit)(fold) for fold in folds))
            return
        for epoch in range(epochs or (10 if way == "partial_fit" else 1)):
            done = parallel(joblib.delayed(self._train)(fold, epoch) for fold in folds)
            for fold, (estimator, _) in zip(folds, done):
                fold.estimator = estimator  # a process of joblib has trained a copy
            yield [probs for _, probs in done]

    def _train(self, fold: Fold, epoch: int) -> tuple[Any, list[Any]]:
        if _estimators.way_of(fold.estimator) == "fit":
            self._fit(fold)
        else:
            _estimators.train_epoch(fold.estimator, self._rows.part(fold.train), self._classes, self._batch_size, epoch)
        return fold.estimator, [self._probabilities(fold.estimator, part) for part in fold.parts(self._in_fold)]

    def _fit(self, fold: Fold) -> Any:
        part = self._rows.part(fold.train)
        return fold.estimator.fit(part.X, part.y, **part.weights_of(slice(None)))

    def _probabilities(self, estimator: Any, part: Any) -> Any:
        pieces = [part[start : start + _estimators.ROWS] for start in range(0, len(part), _estimators.ROWS)]
        return np.concatenate([self._by_class(estimator, estimator.predict_proba(self._rows.take(piece))) for piece in pieces])

    def _stages(self, folds: Sequence[Fold], epochs: int | None, estimators: Sequence[Any]) -> Iterator[Sequence[Sequence[Any]]]:
        totals = [_estimators.count_stages(estimator, self._rows) for estimator in estimators]
        count = min(totals) if epochs is None else min(epochs, *totals)  # after an early stop each clone has its own number
        passes = [
            zip(*(self._stages_of(estimator, part, total, count) for part in fold.parts(self._in_fold)))
            for fold, estimator, total in zip(folds, estimators, totals)
        ]
        yield from zip(*passes)

    def _stages_of(self, estimator: Any, part: Any, total: int, count: int) -> Iterator[Any]:
        for probs in _estimators.spread_stages(estimator, self._rows.take(part), total, count):
            yield self._by_class(estimator, probs)

    def _by_class(self, estimator: Any, probs: Any) -> Any:
        """Probabilities (n, classes), with 0 for classes that the estimator has not seen."""
        known = getattr(estimator, "classes_", self._classes)
        if len(known) == len(self._classes):
            return probs
        out = np.zeros((len(probs), len(self._classes)), probs.dtype)
        out[:, np.searchsorted(self._classes, known)] = probs
        return out


def _numbers(rows: Any) -> Any:
    """Row numbers, also from a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _warn_of_classes(number: int, train: Any, held_out: Any) -> None:
    alone = np.setdiff1d(held_out, train)
    if len(alone):
        _hooks.warn(
            f"{HOOK}: fold {number} holds out all rows of {', '.join(str(label) for label in alone[:5])}{', ...' if len(alone) > 5 else ''}: "
            f"what is recorded of them ({int(np.isin(held_out, alone).sum()):,} rows) is by a clone that was trained without their class"
        )
