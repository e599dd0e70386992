"""Shared by the hooks of boosting libraries: rounds become epochs, and the rows of the training set the examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from portolan._recording import _hooks, _ids, _regression, _shapes
from portolan._recording._per_label import per_label as flattened
from portolan._recording._run import Run


class Rounds:
    """Records a model that grows by rounds, after every `every`-th round.

    Args:
        hook: its name, for messages and the record.
        run: an open Run, a name, or None.
        ids: (n,) ids of the rows, or None: 0 ... n-1.
        every: rounds in an epoch.
        per_label: names of the labels, or True for their numbers, where rows have several.
        options: of portolan.Run.
        task: "classification", "regression", or None: the objective tells.
    """

    def __init__(
        self,
        hook: str,
        run: Run | str | None,
        ids: Any,
        every: int,
        per_label: bool | Sequence[str],
        options: Mapping[str, Any],
        task: str | None = None,
    ) -> None:
        if not hasattr(every, "__index__") or every < 1:
            raise ValueError(f"{hook}: every must be a number of rounds, 1 or more, not {every!r}")
        if ids is not None:
            _ids.check_unique(hook, ids)
        self.hook, self.every = hook, int(every)
        self.recorder = _hooks.Recorder(hook, run, "epoch-end", options, task)
        self._given_ids, self._seen = ids, 0
        self._per_label, self._names = per_label is not False, None if isinstance(per_label, bool) else per_label

    def begin(self, name: str, record: Mapping[str, Any], gold: Any, rounds: int, regression: bool = False) -> None:
        """Opens the run. `gold` is (n,), or (n, labels), or the targets of a `regression`; `rounds` is how many the model has from an earlier
        training."""
        self._regression = regression
        self._gold = np.asarray(gold) if regression or np.ndim(gold) != 1 else _shapes.as_integers(np.asarray(gold))
        count = len(self._gold)
        if self._gold.ndim == 2 and self._gold.shape[1] == 1 and regression:
            self._gold = self._gold.reshape(-1)
        if self._gold.ndim == 2 and regression:
            raise ValueError(
                f"{self.hook}: the targets have the shape {self._gold.shape}: of a regression one number for each row can be recorded. Of several, "
                "log the loss of each row with run.log_loss()"
            )
        if self._gold.ndim == 2 and not self._per_label:
            raise ValueError(
                f"{self.hook}: the labels have the shape {self._gold.shape}: with several labels per row (multi-label), each label of each "
                "row becomes an example: per_label=True, or per_label=[the labels' names]"
            )
        self._ids = np.arange(count) if self._given_ids is None else self._given_ids
        if len(self._ids) != count:
            raise ValueError(f"{self.hook}: there are {len(self._ids)} ids and {count} rows")
        known: dict[str, Any] = {"examples": count} if self._given_ids is None and self._gold.ndim == 1 else {}
        self.recorder.open(name, record, resumed=rounds > 0, **known)
        self._seen = rounds

    def is_due(self, rounds: int) -> bool:
        """Does the model's round number `rounds` end an epoch?"""
        return rounds % self.every == 0

    def is_left_over(self, rounds: int) -> bool:
        """At the end of training: has the model rounds that are in no epoch yet?"""
        return rounds > self._seen

    def add(self, rounds: int, scores: Any, logits: bool) -> None:
        """Logs the model's scores after so many rounds. If training continues later, an epoch that was cut short is replaced."""
        epoch = -(-rounds // self.every) - 1
        if self._regression:
            self.recorder.log_regression(epoch, self._ids, scores, self._gold)
            self._end(epoch, rounds)
            return
        log = self.recorder.log_logits if logits else self.recorder.log_probs
        if self._gold.ndim == 2:
            log(epoch, *flattened(self._ids, scores.reshape(self._gold.shape), self._gold, self._names))
        else:
            log(epoch, self._ids, scores, self._gold)
        self._end(epoch, rounds)

    def _end(self, epoch: int, rounds: int) -> None:
        self.recorder.end_epoch(epoch)
        self._seen = rounds


def is_regression(hook: str, task: str | None, scores: str | None, objective: str, of_labels: Sequence[str], of_numbers: Sequence[str]) -> bool:
    """Does the objective predict numbers? ValueError if neither that nor the probability of a gold label. `of_labels`, `of_numbers`: the names of
    those that do."""
    if task == "regression" or task is None and scores is None and objective in of_numbers:
        return True
    if scores is None and objective not in of_labels:
        other = "" if task else ", or task='regression'"
        no_number = "" if task else f", and predicts no number, as {', '.join(of_numbers)} do"
        raise ValueError(
            f"{hook}: the objective {objective} gives no probability of a gold label, as {', '.join(of_labels)} do{no_number}. Of an objective of your own "
            f"say scores='logits', if its raw scores are those{other}"
        )
    return False


def check_scores(hook: str, scores: str | None, task: str | None) -> None:
    if scores not in (None, "logits"):
        raise ValueError(f"{hook}: scores must be 'logits', for an objective of your own, not {scores!r}")
    _regression.check_task(hook, task, scores)
