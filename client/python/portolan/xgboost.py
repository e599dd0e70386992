"""Portolan for XGBoost.

    import portolan.xgboost

    record = portolan.xgboost.PortolanCallback(dtrain, run="words", store="portolan-store")
    booster = xgboost.train(parameters, dtrain, 100, callbacks=[record])

records how the trees grown so far see every training row. XGBClassifier takes the same callback, with X and y instead of a DMatrix.
client/python/docs/boosting.md has the details.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from portolan._recording import _boosting, _hooks, _off
from portolan._recording._run import Run

__all__ = ["PortolanCallback"]

_HOOK = "portolan.xgboost.PortolanCallback"
# Objectives whose raw scores are logits.
_OBJECTIVES = ("binary:logistic", "binary:logitraw", "multi:softprob", "multi:softmax")
# Those that predict a number, and XGBoost's own when none is named, or when the objective is a function.
_OF_REGRESSION = (
    *("reg:squarederror", "reg:squaredlogerror", "reg:logistic", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror", "reg:gamma"),
    *("reg:tweedie", "reg:expectileerror", "count:poisson"),
)
_DEFAULT, _OF_EITHER = "reg:squarederror", "reg:logistic"


class PortolanCallback(xgboost.callback.TrainingCallback):
    """Records how the model sees its training examples after each boosting round.

    Args:
        data: the DMatrix of the training; or the X of XGBClassifier.fit(), with y.
        y: (n,) class numbers 0, 1, ..., or the targets of a regression; (n, labels) of 0 and 1 with per_label. A DMatrix has its own labels.
        ids: (n,) ids of the rows; default: 0 ... n-1.
        run: the run's name, or an open portolan.Run. Default: "xgboost".
        every: rounds in an epoch: 10 records after rounds 10, 20, ..., and after the last.
        scores: "logits", for an objective of your own whose raw scores are logits. For any other, the objective decides.
        task: "regression": a number for each row is predicted, and recorded beside its target, with the squared error. Default: so it is with the
            objectives reg:... and count:poisson. An objective that is a function looks like reg:squarederror, and reg:logistic takes classes, too;
            so where there are at most two different labels, it has to be said. "classification": an objective of classes, or `scores`, is required.
        per_label: rows have several labels: True, or the labels' names; each label of each row is recorded as ``"ID#LABEL"``.
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    Every row is recorded, also those that subsampling leaves out of a round. xgb_model= goes on with the run.
    """

    def __init__(
        self,
        data: Any,
        y: Any = None,
        ids: Any = None,
        run: Run | str | None = None,
        *,
        every: int = 1,
        scores: str | None = None,
        task: str | None = None,
        per_label: bool | Sequence[str] = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if _off.is_hook_off(self, PortolanCallback, run):
            return
        _boosting.check_scores(_HOOK, scores, task)
        if y is None and not isinstance(data, xgboost.DMatrix):
            raise TypeError(f"{_HOOK}: without y, the data must be an xgboost.DMatrix with labels, not {type(data).__name__}")
        self._data, self._y, self._scores = data, y, scores
        self._rounds = _boosting.Rounds(_HOOK, run, ids, every, per_label, options, task)

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._rounds.recorder.run

    def before_training(self, model: Any) -> Any:
        if not isinstance(model, xgboost.Booster):
            raise TypeError(f"{_HOOK}: xgboost.cv trains a model for each fold, on other rows: call xgboost.train for each, with a run of its own")
        config = json.loads(model.save_config())["learner"]
        objective = config["objective"]["name"]
        self._regression = _boosting.is_regression(_HOOK, self._rounds.recorder.task, self._scores, objective, _OBJECTIVES, _OF_REGRESSION)
        # One matrix is kept throughout the training: XGBoost then only adds the trees of the new round to its predictions for that matrix.
        self._matrix = self._data if isinstance(self._data, xgboost.DMatrix) else xgboost.DMatrix(self._data, enable_categorical=True)
        labels = _labels(self._matrix, self._y)
        if self._regression and self._rounds.recorder.task is None and objective in (_DEFAULT, _OF_EITHER):
            _check_either(objective, labels)
        self._rounds.begin("xgboost", _record(config, objective), labels, model.num_boosted_rounds(), self._regression)
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        rounds = model.num_boosted_rounds()  # rounds of an earlier training included
        if self._rounds.is_due(rounds):
            self._add(model, rounds)
        return False

    def after_training(self, model: Any) -> Any:
        rounds = model.num_boosted_rounds()
        if self._rounds.is_left_over(rounds):
            self._add(model, rounds)
        self._rounds.recorder.close()
        self._matrix = None
        return model

    def _add(self, model: Any, rounds: int) -> None:
        self._rounds.add(rounds, model.predict(self._matrix, output_margin=not self._regression), logits=True)


def _check_either(objective: str, labels: Any) -> None:
    """The objective of XGBoost's own choice may be a function of the caller's, which XGBoost does not name, and whose labels may be classes;
    reg:logistic is binary:logistic by another name."""
    distinct = np.unique(labels)
    if 0 < len(distinct) <= 2:
        may = "is also what XGBoost calls a function of your own" if objective == _DEFAULT else "is the loss of binary:logistic"
        raise ValueError(
            f"{_HOOK}: the objective {objective} {may}, and the labels are only {' and '.join(f'{one:g}' for one in distinct)}: say scores='logits' if they "
            "are classes (0 and 1), and the raw scores their logits; task='regression' if they are numbers"
        )


def _labels(matrix: Any, y: Any) -> Any:
    labels = matrix.get_label() if y is None else np.asarray(y)
    rows = matrix.num_row()
    if len(labels) == 0 and rows > 0:
        raise ValueError(f"{_HOOK}: the DMatrix has no labels: give y")
    if y is None and len(labels) != rows:  # XGBoost flattens a table of labels
        labels = labels.reshape(rows, -1)
    if len(labels) != rows:
        raise ValueError(f"{_HOOK}: there are {rows} rows and {len(labels)} labels")
    return labels


def _record(config: dict[str, Any], objective: str) -> dict[str, Any]:
    booster = config["gradient_booster"]
    trees = booster.get("gbtree", booster)  # dart has them one level below
    parameters = {"objective": objective, "booster": booster["name"], **trees.get("tree_train_param", {})}
    seed = int(config.get("generic_param", {}).get("seed", 0))
    return _hooks.record(booster["name"], {"xgboost": xgboost.__version__}, seed, parameters)
