"""Portolan for scikit-learn: one call replaces fit().

    portolan.sklearn.track(SGDClassifier(loss="log_loss"), X, y, run="words", epochs=10)

An estimator with partial_fit is trained epoch by epoch, and its probabilities of every row are recorded at the end of each epoch. A boosting
model (GradientBoosting, HistGradientBoosting, AdaBoost) is fitted, and its stages are recorded as epochs.

    p = portolan.sklearn.cross_val_track(RandomForestClassifier(), X, y, run="words")

cross-validates any classifier with predict_proba. The probabilities of a row come from the clone that was not trained on it, so wrong labels
show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from portolan._recording import _estimators, _folds, _hooks
from portolan._recording._run import Run

__all__ = ["cross_val_track", "track"]

_HOOK = "portolan.sklearn.track"


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
        sample_weight: (n,) passed on to the estimator.
        batch_size: rows per partial_fit, in an order of its own for each epoch; default: partial_fit gets all rows once per
            epoch, in which SGDClassifier and MLPClassifier shuffle them, and the latter forms its own batches.
        first_epoch: to continue training: the number of epochs that this estimator and the run have seen.
        correct_only: for a classifier without probabilities (SGDClassifier(loss="hinge"), Perceptron): record whether it is
            right, as a probability of 1 or 0. Without it, such a classifier is refused.
        options: of portolan.Run, for a run that is opened here: store, config, if_exists, ...
    """
    _check_counts(_HOOK, epochs=epochs, batch_size=batch_size)
    staged = hasattr(estimator, "staged_predict_proba")
    _check(estimator, staged, correct_only, first_epoch)
    rows = _estimators.Rows(X, _estimators.labels_of(y, _HOOK), sample_weight, _HOOK)
    classes = estimator.classes_ if first_epoch > 0 else np.unique(rows.y)
    recorder = _hooks.Recorder(_HOOK, run, "epoch-end", options)
    observations = _estimators.Observations(recorder, ids, rows, classes)
    own_ids: dict[str, Any] = {} if ids is not None else {"examples": rows.count}
    recorder.open(
        type(estimator).__name__, _record(estimator), resumed=first_epoch > 0, labels=[str(label) for label in classes], **own_ids
    )
    try:
        if staged:
            _train_stages(estimator, rows, epochs, observations)
        else:
            for epoch in range(first_epoch, first_epoch + (10 if epochs is None else epochs)):
                _estimators.train_epoch(estimator, rows, classes, batch_size, epoch)
                observations.take(estimator, epoch)
    finally:
        recorder.close()
    return estimator


def cross_val_track(
    estimator: Any,
    X: Any,
    y: Any,
    run: Run | str | None = None,
    epochs: int | None = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    ids: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    in_fold: bool = False,
    n_jobs: int | None = None,
    **options: Any,
) -> Any:
    """Cross-validates `estimator`, and records each row out of fold: with the probabilities of the clone that was trained on the other folds.

    Args:
        estimator: a classifier with predict_proba. It is cloned for each fold, and stays as it is. One with partial_fit is trained epoch
            by epoch; the stages of a boosting model are recorded as epochs; any other (a Pipeline, a random forest) is fitted: one epoch.
        X, y: as for track().
        run: an open Run (mode="epoch-end"), or the name of one to open; default: the estimator's class.
        epochs: as for track(). For boosting models the default is the number of stages of the clone that has the fewest.
        cv: number of folds, stratified by class; or a splitter of scikit-learn's, or pairs (rows to train on, rows held out). Each
            row must be held out once.
        groups: (n,) the group of each row; rows of one group stay in one fold.
        ids, sample_weight, batch_size: as for track().
        in_fold: record also how each clone sees the rows it is trained on, as runs NAME/fold0, NAME/fold1, ..., with the ids that
            these rows have in the whole.
        n_jobs: folds trained at a time, by joblib: in threads, unless joblib.parallel_config() says otherwise.
        options: of portolan.Run, for runs that are opened here: store, config, if_exists, ...

    Returns:
        (n, classes) out-of-fold probabilities of the last epoch, the classes in the order of numpy.unique(y), as from
        cross_val_predict(method="predict_proba").
    """
    _check_counts(_folds.HOOK, epochs=epochs, batch_size=batch_size)
    _check_cross_validated(estimator, epochs)
    if in_fold and isinstance(run, Run):
        raise TypeError(f"{_folds.HOOK}: in_fold=True opens runs beside this one: give its name, and the options of portolan.Run")
    rows = _estimators.Rows(X, _estimators.labels_of(y, _folds.HOOK), sample_weight, _folds.HOOK)
    classes = np.unique(rows.y)
    runs = _folds.Runs(run, options, ids, rows, classes)
    folds = [_folds.Fold(clone(estimator), train, held_out) for train, held_out in _folds.split(cv, rows.X, rows.y, groups)]
    record = {**_record(estimator), "cross_validation": {"folds": len(folds), "cv": _hooks.as_json(str(cv))}}
    try:
        runs.open(type(estimator).__name__, record, folds, in_fold)
        return runs.record(folds, _folds.Training(rows, classes, batch_size, in_fold, n_jobs).epochs(folds, epochs))
    finally:
        runs.close()


def _check_counts(who: str, **counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{who}: {name} must be 1 or more, not {value!r}")


def _check_kind(who: str, estimator: Any) -> str:
    """The name of the run."""
    if isinstance(estimator, type):
        raise TypeError(f"{who}: the estimator is a class: make one, {estimator.__name__}(...)")
    name = type(estimator).__name__
    if is_regressor(estimator):
        raise TypeError(f"{who}: {name} is a regressor: there are no gold labels whose probability could be recorded")
    return name


def _check_cross_validated(estimator: Any, epochs: int | None) -> None:
    name = _check_kind(_folds.HOOK, estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{_folds.HOOK}: {name} has no predict_proba: take loss='log_loss' or probability=True where there is a choice, or "
            f"sklearn.calibration.CalibratedClassifierCV({name}(...))"
        )
    if epochs is not None and epochs > 1 and _estimators.way_of(estimator) == "fit":
        raise ValueError(f"{_folds.HOOK}: {name} has neither partial_fit nor staged_predict_proba: its fit is one epoch, not {epochs}")


def _check(estimator: Any, staged: bool, correct_only: bool, first_epoch: int) -> None:
    name = _check_kind(_HOOK, estimator)
    if staged:
        return
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"{_HOOK}: {name} has neither partial_fit nor staged_predict_proba, so there are no epochs to record: take an estimator that "
            "has (SGDClassifier, MLPClassifier, HistGradientBoostingClassifier, ...); of a Pipeline, its last step, on transformed rows. "
            "cross_val_track takes any, and records one epoch, out of fold"
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


def _train_stages(estimator: Any, rows: _estimators.Rows, epochs: int | None, observations: _estimators.Observations) -> None:
    estimator.fit(rows.X, rows.y, **rows.weights_of(slice(None)))
    total = _estimators.count_stages(estimator, rows)
    stages = _estimators.spread_stages(estimator, rows.X, total, total if epochs is None else min(epochs, total))
    for epoch, probs in enumerate(stages):
        observations.add(epoch, slice(None), probs)
        observations.recorder.end_epoch(epoch)
