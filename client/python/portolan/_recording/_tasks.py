"""What scikit-learn's estimators say of rows, and how it is recorded: a classifier's probabilities, a regressor's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portolan._recording import _hooks


class Classification:
    """Classes, in the order of the run's class numbers."""

    staged = "staged_predict_proba"  # the method that gives the stages of a boosting model
    is_classifier = True

    def __init__(self, classes: Any) -> None:
        self.classes = classes
        self.of_run = {"labels": [str(label) for label in classes]}  # options of portolan.Run
        self.of_partial_fit = {"classes": classes}

    def gold(self, y: Any, who: str) -> Any:
        """What is logged as gold."""
        gold = np.searchsorted(self.classes, y)
        unknown = y[self.classes[np.minimum(gold, len(self.classes) - 1)] != y]
        if len(unknown):
            raise ValueError(f"{who}: y holds {unknown[0]!r}, which the estimator did not have among its classes")
        return gold

    def see(self, estimator: Any, X: Any) -> Any:
        """(n, classes) probabilities."""
        return self._by_class(estimator, estimator.predict_proba(X))

    def stages(self, estimator: Any, X: Any) -> Iterator[Any]:
        return (self._by_class(estimator, probs) for probs in estimator.staged_predict_proba(X))

    def nothing(self, count: int) -> Any:
        """Room for what is seen of so many rows."""
        return np.zeros((count, len(self.classes)))

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, probs: Any, gold: Any) -> None:
        if probs.shape[1] == 1:  # with one class alone there is no probability of a class 1
            probs = np.column_stack((probs, np.zeros(len(probs))))
        recorder.log_probs(epoch, ids, probs, gold)

    def _by_class(self, estimator: Any, probs: Any) -> Any:
        """Probabilities (n, classes), with 0 for classes that the estimator has not seen."""
        known = getattr(estimator, "classes_", self.classes)
        if len(known) == len(self.classes):
            return probs
        out = np.zeros((len(probs), len(self.classes)), probs.dtype)
        out[:, np.searchsorted(self.classes, known)] = probs
        return out


class Regression:
    """A number for each row."""

    staged = "staged_predict"
    is_classifier = False
    of_run: dict[str, Any] = {}
    of_partial_fit: dict[str, Any] = {}

    def gold(self, y: Any, who: str) -> Any:
        """What is logged as target."""
        return y

    def see(self, estimator: Any, X: Any) -> Any:
        """(n,) predictions."""
        return _one_each(estimator.predict(X), estimator)

    def stages(self, estimator: Any, X: Any) -> Iterator[Any]:
        """As predict() gives them: CatBoost's staged_predict() alone gives raw scores, of Poisson and Tweedie the logarithms."""
        default = getattr(estimator, "_get_default_prediction_type", None)
        more = {} if default is None else {"prediction_type": default()}
        return (_one_each(predicted, estimator) for predicted in estimator.staged_predict(X, **more))

    def nothing(self, count: int) -> Any:
        """Room for what is seen of so many rows."""
        return np.zeros(count)

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, predicted: Any, target: Any) -> None:
        recorder.log_regression(epoch, ids, predicted, target)


def _one_each(predicted: Any, estimator: Any) -> Any:
    """(n,) predictions. ValueError for several numbers of a row."""
    numbers = np.asarray(predicted)
    if numbers.ndim > 1 and numbers.shape[1:] != (1,):
        raise ValueError(
            f"{type(estimator).__name__} predicts numbers of the shape {numbers.shape}: of a regression one number for each row can be recorded. For one "
            "with an uncertainty (RMSEWithUncertainty), or of several targets, log the loss of each row with run.log_loss() in a loop of your own"
        )
    return numbers.reshape(-1)


Task = Classification | Regression
