"""Portolan for scikit-learn: one call replaces fit().

    portolan.sklearn.track(SGDClassifier(loss="log_loss"), X, y, run="words", epochs=10)

An estimator with partial_fit is trained epoch by epoch, and its probabilities of every row are recorded at the end of each epoch. A boosting
model (GradientBoosting, HistGradientBoosting, AdaBoost) is fitted, and its stages are recorded as epochs. Of a regressor predictions are recorded,
beside the targets, with the squared errors.

    p = portolan.sklearn.cross_val_track(RandomForestClassifier(), X, y, run="words")

cross-validates any classifier with predict_proba, and any regressor. What is recorded of a row comes from the clone that was not trained on it, so
wrong labels and targets show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from portolan._recording import _environment, _estimators, _folds, _hooks, _regression, _tasks
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
    task: str | None = None,
    **options: Any,
) -> Any:
    """Trains `estimator` on all of (X, y) and records it; answers the estimator.

    Args:
        estimator: a classifier or regressor with partial_fit, or a boosting model with staged_predict_proba, of a regressor staged_predict.
        X: rows: an array, a sparse matrix, a DataFrame, a list.
        y: (n,) class labels of any kind; the run's class names are the classes as text. Of a regressor: (n,) targets.
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
        task: "classification" or "regression". Default: what scikit-learn's is_regressor() says of the estimator.
        options: of portolan.Run, for a run that is opened here: store, config, if_exists, ...
    """
    _check_counts(_HOOK, epochs=epochs, batch_size=batch_size)
    regression = _is_regression(_HOOK, estimator, task)
    staged = hasattr(estimator, "staged_predict" if regression else "staged_predict_proba")
    _check(estimator, staged, correct_only, first_epoch, regression)
    rows, kind = _rows_of(_HOOK, X, y, sample_weight, regression, estimator if first_epoch > 0 else None)
    recorder = _hooks.Recorder(_HOOK, run, "epoch-end", options)
    observations = _estimators.Observations(recorder, ids, rows, kind)
    own_ids: dict[str, Any] = {} if ids is not None else {"examples": rows.count}
    recorder.open(type(estimator).__name__, _record(estimator), resumed=first_epoch > 0, **kind.of_run, **own_ids)
    try:
        if staged:
            _train_stages(estimator, rows, epochs, observations)
        else:
            for epoch in range(first_epoch, first_epoch + (10 if epochs is None else epochs)):
                _estimators.train_epoch(estimator, rows, kind, batch_size, epoch)
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
    task: str | None = None,
    **options: Any,
) -> Any:
    """Cross-validates `estimator`, and records each row out of fold: as the clone sees it that was trained on the other folds.

    Args:
        estimator: a classifier with predict_proba, or a regressor. It is cloned for each fold, and stays as it is. One with partial_fit is trained epoch
            by epoch; the stages of a boosting model are recorded as epochs; any other (a Pipeline, a random forest) is fitted: one epoch.
        X, y: as for track().
        run: an open Run (mode="epoch-end"), or the name of one to open; default: the estimator's class.
        epochs: as for track(). For boosting models the default is the number of stages of the clone that has the fewest.
        cv: number of folds, of a classifier stratified by class; or a splitter of scikit-learn's, or pairs (rows to train on, rows held out). Each
            row must be held out once.
        groups: (n,) the group of each row; rows of one group stay in one fold.
        ids, sample_weight, batch_size: as for track().
        in_fold: record also how each clone sees the rows it is trained on, as runs NAME/fold0, NAME/fold1, ..., with the ids that
            these rows have in the whole.
        n_jobs: folds trained at a time, by joblib: in threads, unless joblib.parallel_config() says otherwise.
        task: as for track().
        options: of portolan.Run, for runs that are opened here: store, config, if_exists, ...

    Returns:
        (n, classes) out-of-fold probabilities of the last epoch, the classes in the order of numpy.unique(y), as from
        cross_val_predict(method="predict_proba"). Of a regressor: (n,) out-of-fold predictions, as from cross_val_predict().
    """
    _check_counts(_folds.HOOK, epochs=epochs, batch_size=batch_size)
    regression = _is_regression(_folds.HOOK, estimator, task)
    _check_cross_validated(estimator, epochs, regression)
    if in_fold and isinstance(run, Run):
        raise TypeError(f"{_folds.HOOK}: in_fold=True opens runs beside this one: give its name, and the options of portolan.Run")
    rows, kind = _rows_of(_folds.HOOK, X, y, sample_weight, regression)
    in_fold = in_fold and not _environment.is_disabled()
    runs = _folds.Runs(run, options, ids, rows, kind)
    parts = _folds.split(cv, rows.X, rows.y, groups, kind.is_classifier)
    folds = [_folds.Fold(clone(estimator), train, held_out) for train, held_out in parts]
    record = {**_record(estimator), "cross_validation": {"folds": len(folds), "cv": _hooks.as_json(str(cv))}}
    try:
        runs.open(type(estimator).__name__, record, folds, in_fold)
        return runs.record(folds, _folds.Training(rows, kind, batch_size, in_fold, n_jobs).epochs(folds, epochs))
    finally:
        runs.close()


def _check_counts(who: str, **counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{who}: {name} must be 1 or more, not {value!r}")


def _is_regression(who: str, estimator: Any, task: str | None) -> bool:
    _regression.check_task(who, task)
    if isinstance(estimator, type):
        raise TypeError(f"{who}: the estimator is a class: make one, {estimator.__name__}(...)")
    return bool(is_regressor(estimator)) if task is None else task == "regression"


def _rows_of(who: str, X: Any, y: Any, weights: Any, regression: bool, trained: Any = None) -> tuple[_estimators.Rows, _tasks.Task]:
    """The rows, and what is asked of them; `trained`: a classifier that knows its classes."""
    if regression:
        return _estimators.Rows(X, _estimators.targets_of(y, who), weights, who), _tasks.Regression()
    rows = _estimators.Rows(X, _estimators.labels_of(y, who), weights, who)
    return rows, _tasks.Classification(np.unique(rows.y) if trained is None else trained.classes_)


def _check_cross_validated(estimator: Any, epochs: int | None, regression: bool) -> None:
    name, staged = type(estimator).__name__, "staged_predict" if regression else "staged_predict_proba"
    if not regression and not hasattr(estimator, "predict_proba") and not is_classifier(estimator):
        raise TypeError(f"{_folds.HOOK}: {_no_classifier(estimator)}")
    if not regression and not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{_folds.HOOK}: {name} has no predict_proba: take loss='log_loss' or probability=True where there is a choice, or "
            f"sklearn.calibration.CalibratedClassifierCV({name}(...))"
        )
    if epochs is not None and epochs > 1 and not hasattr(estimator, staged) and not hasattr(estimator, "partial_fit"):
        raise ValueError(f"{_folds.HOOK}: {name} has neither partial_fit nor {staged}: its fit is one epoch, not {epochs}")


def _no_classifier(estimator: Any) -> str:
    """Of an estimator without probabilities that does not say that it is a classifier."""
    name = type(estimator).__name__
    if is_regressor(estimator):
        return f"{name} is a regressor, and has no probabilities: leave task='classification' out"
    return f"{name} has no probabilities, and does not say that it is a classifier: say task='regression', if it predicts numbers"


def _check(estimator: Any, staged: bool, correct_only: bool, first_epoch: int, regression: bool) -> None:
    name = type(estimator).__name__
    if correct_only and regression:
        raise ValueError(f"{_HOOK}: correct_only=True is for classifiers, and {name} is a regressor")
    if staged:
        return
    if not hasattr(estimator, "partial_fit"):
        method = "staged_predict" if regression else "staged_predict_proba"
        such = "SGDRegressor, MLPRegressor, HistGradientBoostingRegressor" if regression else "SGDClassifier, MLPClassifier, HistGradientBoostingClassifier"
        raise TypeError(
            f"{_HOOK}: {name} has neither partial_fit nor {method}, so there are no epochs to record: take an estimator that "
            f"has ({such}, ...); of a Pipeline, its last step, on transformed rows. cross_val_track takes any, and records one epoch, out of fold"
        )
    if not regression and not hasattr(estimator, "predict_proba") and not correct_only:
        if not is_classifier(estimator):
            raise TypeError(f"{_HOOK}: {_no_classifier(estimator)}, or record correctness alone with correct_only=True")
        loss = getattr(estimator, "loss", None)
        given = f"{name}(loss={loss!r})" if isinstance(loss, str) else name
        raise TypeError(
            f"{_HOOK}: {given} has no probabilities (its decision function is no logit): take loss='log_loss' or 'modified_huber' where "
            "there is a choice, or record correctness alone with correct_only=True"
        )
    if first_epoch > 0 and not hasattr(estimator, "n_features_in_" if regression else "classes_"):
        raise ValueError(f"{_HOOK}: first_epoch={first_epoch} is for training that goes on, but this {name} has not been trained")


def _record(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False)
    seed = parameters.get("random_state")
    versions = _hooks.versions_of("sklearn", "numpy")
    return _hooks.record(estimator, versions, int(seed) if isinstance(seed, (int, np.integer)) else None, parameters)


def _train_stages(estimator: Any, rows: _estimators.Rows, epochs: int | None, observations: _estimators.Observations) -> None:
    estimator.fit(rows.X, rows.y, **rows.weights_of(slice(None)))
    if observations.is_off:
        return
    total = _estimators.count_stages(estimator, rows, observations.task)
    stages = _estimators.spread_stages(estimator, rows.X, observations.task, total, total if epochs is None else min(epochs, total))
    for epoch, seen in enumerate(stages):
        observations.add(epoch, slice(None), seen)
        observations.recorder.end_epoch(epoch)
