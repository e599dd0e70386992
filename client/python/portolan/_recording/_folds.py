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
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from portolan._recording import _estimators, _hooks, _tasks
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


def split(cv: Any, X: Any, y: Any, groups: Any, is_classifier: bool) -> list[tuple[Any, Any]]:
    """(rows to train on, rows held out) of each fold; exactly one fold holds out each row. Prints the classes that a fold does not train on."""
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"{HOOK}: there are {len(groups)} groups and {len(y)} {'labels' if is_classifier else 'targets'}")
    if groups is not None and isinstance(cv, (int, np.integer)):
        cv = StratifiedGroupKFold(int(cv)) if is_classifier else GroupKFold(int(cv))  # the splitter that scikit-learn takes for a number ignores groups
    parts = [(_numbers(train), _numbers(held_out)) for train, held_out in check_cv(cv, y, classifier=is_classifier).split(X, y, groups)]
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
        if is_classifier:
            _warn_of_classes(number, y[train], y[held_out])
    return parts


class Runs:
    """The runs of a cross-validation: one of all rows, out of fold; with `in_fold` also one of the rows that each fold trains on."""

    def __init__(self, run: Run | str | None, options: dict[str, Any], ids: Any, rows: _estimators.Rows, task: _tasks.Task) -> None:
        self._options, self._ids, self._rows, self._task = options, ids, rows, task
        self._out = self._observations(run, options)
        self._in: list[_estimators.Observations] = []

    def open(self, default_name: str, record: dict[str, Any], folds: Sequence[Fold], in_fold: bool) -> None:
        known: dict[str, Any] = {} if self._ids is not None else {"examples": self._rows.count}
        self._out.recorder.open(default_name, record, **self._task.of_run, **known)
        if not in_fold or self._out.recorder.run is None:
            return
        name = self._out.recorder.run.name
        options = {key: value for key, value in self._options.items() if (key, value) != ("if_exists", "number")}  # the name has the number of the fold
        for number in range(len(folds)):
            one = self._observations(f"{name}/fold{number}", options)
            one.recorder.open(default_name, {**record, "fold": number}, **self._task.of_run)
            self._in.append(one)

    def record(self, folds: Sequence[Fold], epochs: Iterator[Sequence[Sequence[Any]]]) -> Any:
        """Logs what was seen in each epoch, of each fold and part; that of the last epoch, out of fold."""
        last = self._task.nothing(self._rows.count)
        for epoch, seen in enumerate(epochs):
            for number, (fold, parts) in enumerate(zip(folds, seen)):
                self._out.add(epoch, fold.held_out, parts[0])
                last[fold.held_out] = parts[0]
                if self._in:
                    self._in[number].add(epoch, fold.train, parts[1])
                    self._in[number].recorder.end_epoch(epoch)
            self._out.recorder.end_epoch(epoch)
        return last

    def close(self) -> None:
        for one in (*self._in, self._out):
            one.recorder.close()

    def _observations(self, run: Run | str | None, options: dict[str, Any]) -> _estimators.Observations:
        return _estimators.Observations(_hooks.Recorder(HOOK, run, "epoch-end", options), self._ids, self._rows, self._task)


class Training:
    """Trains the clones of all folds.

    Args:
        rows: all of them.
        task: what is asked of the clones.
        batch_size: of partial_fit, or None.
        in_fold: rows that a fold trains on are recorded too.
        n_jobs: folds at a time.
    """

    def __init__(self, rows: _estimators.Rows, task: _tasks.Task, batch_size: int | None, in_fold: bool, n_jobs: int | None) -> None:
        self._rows, self._task, self._batch_size, self._in_fold = rows, task, batch_size, in_fold
        self._n_jobs = n_jobs

    def epochs(self, folds: Sequence[Fold], epochs: int | None) -> Iterator[Sequence[Sequence[Any]]]:
        """What is seen of each part of each fold, epoch by epoch."""
        way = _estimators.way_of(folds[0].estimator, self._task)
        parallel = joblib.Parallel(n_jobs=self._n_jobs, prefer="threads")
        if way == "stages":
            yield from self._stages(folds, epochs, parallel(joblib.delayed(self._fit)(fold) for fold in folds))
            return
        for epoch in range(epochs or (10 if way == "partial_fit" else 1)):
            done = parallel(joblib.delayed(self._train)(fold, epoch) for fold in folds)
            for fold, (estimator, _) in zip(folds, done):
                fold.estimator = estimator  # a process of joblib has trained a copy
            yield [seen for _, seen in done]

    def _train(self, fold: Fold, epoch: int) -> tuple[Any, list[Any]]:
        if _estimators.way_of(fold.estimator, self._task) == "fit":
            self._fit(fold)
        else:
            _estimators.train_epoch(fold.estimator, self._rows.part(fold.train), self._task, self._batch_size, epoch)
        return fold.estimator, [self._see(fold.estimator, part) for part in fold.parts(self._in_fold)]

    def _fit(self, fold: Fold) -> Any:
        part = self._rows.part(fold.train)
        return fold.estimator.fit(part.X, part.y, **part.weights_of(slice(None)))

    def _see(self, estimator: Any, part: Any) -> Any:
        pieces = [part[start : start + _estimators.ROWS] for start in range(0, len(part), _estimators.ROWS)]
        return np.concatenate([self._task.see(estimator, self._rows.take(piece)) for piece in pieces])

    def _stages(self, folds: Sequence[Fold], epochs: int | None, estimators: Sequence[Any]) -> Iterator[Sequence[Sequence[Any]]]:
        totals = [_estimators.count_stages(estimator, self._rows, self._task) for estimator in estimators]
        count = min(totals) if epochs is None else min(epochs, *totals)  # after an early stop each clone has its own number
        passes = [
            zip(*(self._stages_of(estimator, part, total, count) for part in fold.parts(self._in_fold)))
            for fold, estimator, total in zip(folds, estimators, totals)
        ]
        yield from zip(*passes)

    def _stages_of(self, estimator: Any, part: Any, total: int, count: int) -> Iterator[Any]:
        return _estimators.spread_stages(estimator, self._rows.take(part), self._task, total, count)


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
