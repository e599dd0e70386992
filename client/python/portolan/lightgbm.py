"""Portolan for LightGBM.

    import portolan.lightgbm

    booster = lightgbm.train(parameters, train_set, 100, callbacks=[portolan.lightgbm.PortolanCallback("words", store="portolan-store")])

records how the trees grown so far see every row that is trained on: LightGBM keeps its scores of them, so nothing is predicted. The fit()
of LGBMClassifier takes the same callback. client/python/docs/boosting.md has the details.
"""

from __future__ import annotations

import re
from typing import Any

import lightgbm
import numpy as np

from portolan._recording import _boosting, _hooks, _off
from portolan._recording._run import Run

__all__ = ["PortolanCallback"]

_HOOK = "portolan.lightgbm.PortolanCallback"
_OBJECTIVES = ("binary", "multiclass")
_OF_REGRESSION = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")


class PortolanCallback:
    """Records how the model sees its training examples after each boosting round.

    Args:
        run: the run's name, or an open portolan.Run. Default: "lightgbm".
        ids: (n,) ids of the training set's rows; default: 0 ... n-1.
        every: rounds in an epoch: 10 records after rounds 10, 20, ..., and after the last.
        scores: "logits", for an objective of your own whose raw scores are logits. For any other, the objective decides.
        task: "regression": a number for each row is predicted, and recorded beside its target, with the squared error. Default: so it is with the
            objectives of regression (regression, huber, poisson, ...). "classification": an objective of classes, or `scores`, is required.
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    Every row is recorded, also those that bagging leaves out of a round. init_model= goes on with the run. LightGBM does not tell a callback
    that early stopping has ended the training. The run is then closed by close(), or when the callback is dropped, which happens at the end of
    a call of train() if the callback was made in its arguments.
    """

    order = 15  # before early stopping, which ends the round by an exception
    before_iteration = False
    _is_training = False

    def __init__(
        self,
        run: Run | str | None = None,
        ids: Any = None,
        *,
        every: int = 1,
        scores: str | None = None,
        task: str | None = None,
        **options: Any,
    ) -> None:
        if _off.is_hook_off(self, PortolanCallback, run):
            return
        _boosting.check_scores(_HOOK, scores, task)
        self._scores = scores
        self._rounds = _boosting.Rounds(_HOOK, run, ids, every, False, options, task)

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._rounds.recorder.run

    def __call__(self, env: Any) -> None:
        if env.iteration == env.begin_iteration:
            self._begin(env)
        rounds = env.iteration + 1  # those of an earlier training are among them
        is_last = rounds == env.end_iteration
        if is_last or self._rounds.is_due(rounds):
            env.model.eval_train(lambda scores, data: self._add(rounds, scores))
        if is_last:
            self.close()

    def close(self) -> None:
        """Ends the record after early stopping. In all other cases the callback does so itself."""
        if self._is_training:
            self._is_training = False
            self._rounds.recorder.close()

    def __del__(self) -> None:
        self.close()

    def _begin(self, env: Any) -> None:
        if not isinstance(env.model, lightgbm.Booster):
            raise TypeError(f"{_HOOK}: lightgbm.cv trains a model for each fold, on other rows: call lightgbm.train for each, with a run of its own")
        objective, boosting = _kind(env.model)
        regression = _boosting.is_regression(_HOOK, self._rounds.recorder.task, self._scores, objective, _OBJECTIVES, _OF_REGRESSION)
        if boosting == "dart":
            raise ValueError(
                f"{_HOOK}: boosting='dart' changes the weights of earlier trees, and what LightGBM says of its training rows between two rounds "
                "leaves out those that it drops next: take 'gbdt', or xgboost's booster='dart'"
            )
        gold: list[Any] = []
        env.model.eval_train(lambda scores, data: _keep(gold, data))
        labels = np.asarray(gold[0])
        if self._scores is None and objective == "binary" and not regression:
            labels = labels > 0  # LightGBM, too, accepts labels -1 and 1
        seed = next((env.params[name] for name in ("seed", "random_seed", "random_state") if isinstance(env.params.get(name), int)), None)
        parameters = {**env.params, "objective": objective, "boosting": boosting}
        record = _hooks.record(boosting, {"lightgbm": lightgbm.__version__}, seed, parameters)
        self._rounds.begin("lightgbm", record, labels, env.begin_iteration, regression)
        self._is_training = True

    def _add(self, rounds: int, scores: Any) -> tuple[str, float, bool]:
        self._rounds.add(rounds, scores, logits=self._scores is not None)
        return _NO_METRIC


_NO_METRIC = ("portolan", 0.0, False)


def _keep(gold: list[Any], data: Any) -> tuple[str, float, bool]:
    gold.append(data.get_label())
    return _NO_METRIC


def _kind(booster: Any) -> tuple[str, str]:
    """(objective, boosting) under LightGBM's own names, as in its model files, whatever aliases the user gave."""
    text = booster.model_to_string(num_iteration=1)
    objective = re.search(r"^objective=(\S+)", text, re.MULTILINE)
    boosting = re.search(r"^\[boosting: (\w+)\]$", text, re.MULTILINE)
    return objective[1] if objective else "of your own", boosting[1] if boosting else "gbdt"
