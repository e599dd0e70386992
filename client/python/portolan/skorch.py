"""Portolan for skorch.

    import portolan.skorch

    net = NeuralNetClassifier(Module, callbacks=[portolan.skorch.PortolanCallback("words", store="portolan-store")])

records a pass over the training rows at the end of each epoch; with mode="train-forward" the y_pred of each batch.
client/python/docs/skorch.md has the details.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import skorch
import torch
from skorch.callbacks import Callback
from skorch.dataset import unpack_data
from skorch.helper import SliceDataset
from sklearn.base import ClassifierMixin
from torch.utils.data import SequentialSampler, Subset

from portolan._portolan import Refused
from portolan._recording import _hooks, _ids, _off, _regression
from portolan._recording._run import Run
from portolan.torch import WithIds, evaluating

__all__ = ["PortolanCallback"]

_HOOK = "portolan.skorch.PortolanCallback"
_OWN = ("run", "mode", "ids", "scores", "observations", "folds", "task")
_OF_REGRESSION = (torch.nn.MSELoss, torch.nn.L1Loss, torch.nn.SmoothL1Loss, torch.nn.HuberLoss)
_OF_A_NAME = ("if_exists", "resume", "overwrite")
_said_off = False


class PortolanCallback(Callback):
    """Records how the net sees the rows it is trained on; those held out by train_split are not recorded.

    Args:
        run: the run's name, or an open portolan.Run. Default: the module's class.
        mode: "epoch-end": a pass of its own after each epoch, in eval mode. "train-forward": the module's output for each batch, as it
            is trained on.
        ids: one id per row that fit() gets; default: the number of the row. For a SliceDataset, one per example of its dataset; default:
            the number there. Or, if X is a dict, the name of its entry with the ids (the module's forward() then gets it, and need
            not use it). Train-forward mode, where batches come shuffled, takes only such a name, with the default "id".
        scores: "logits" or "probs": what the module returns. Default: found out from the net's criterion.
        observations: ``f(batch, y_pred) -> (ids, scores, gold)``, for train-forward with batches of other forms.
        folds: True: each fit() is a run of its own, NAME/fold0, NAME/fold1, ..., in the order in which they begin, even at the same
            time: for cross_validate and searches. The X of fit() must then say which rows of the whole it holds: by an entry with
            ids, or as a SliceDataset.
        task: "classification" or "regression", of one number for each row. Default: a NeuralNetRegressor, and a NeuralNet that is no classifier,
            whose criterion is a loss of regression (MSELoss, L1Loss, SmoothL1Loss, HuberLoss), is one, unless `scores` is given.
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    partial_fit(), and a net whose history was loaded, go on with the run.
    """

    def __init__(
        self,
        run: Run | str | None = None,
        mode: str = "epoch-end",
        ids: Sequence[Any] | str | None = None,
        scores: str | None = None,
        observations: Callable[[Any, Any], tuple[Any, Any, Any]] | None = None,
        folds: bool = False,
        task: str | None = None,
        **options: Any,
    ) -> None:
        # scikit-learn's rules: each argument stays unchanged, under its own name. The names of state end in "_".
        self.run, self.mode, self.ids, self.scores, self.observations = run, mode, ids, scores, observations
        self.folds, self.task = folds, task
        for name, value in options.items():
            setattr(self, name, value)
        self.recorder_: _hooks.Recorder | None = None  # None: not in training, or it is not recorded
        self.begun_: tuple[Any, Any] | None = None  # the data sets of an epoch that has not ended
        _off.is_hook_off(self, PortolanCallback, run)

    def on_train_begin(self, net: Any, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        if self.mode not in ("epoch-end", "train-forward"):
            raise ValueError(f"mode must be 'epoch-end' or 'train-forward', not {self.mode!r}")
        if self.scores not in (None, "logits", "probs"):
            raise ValueError(f"scores must be 'logits' or 'probs', not {self.scores!r}")
        if not self.folds and self._told() is None and _is_of_a_validation():
            self.recorder_ = None
            _say_off()
            return
        self._check_ids(X)
        _regression.check_task(_HOOK, self.task, self.scores)
        self.is_regression_ = self.task == "regression" or self.task is None and self.scores is None and _is_regression(net)
        self.logits_ = not self.is_regression_ and (self.scores or _scores_of(net)) == "logits"
        options = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        resumed = len(net.history) > 0
        if not resumed or self.recorder_ is None or self.recorder_.options != options:  # otherwise it knows the run to continue
            self.recorder_ = _hooks.Recorder(_HOOK, self.run, self.mode, options)
        parameters = {name: getattr(net, name, None) for name in ("lr", "batch_size", "max_epochs", "optimizer", "criterion")}
        versions = {"torch": torch.__version__, "skorch": skorch.__version__}
        record = _hooks.record(net.module_, versions, torch.initial_seed(), parameters)
        try:
            self.recorder_.open(type(net.module_).__name__, record, resumed=resumed, fold=self.folds)
        except Refused as error:
            if self.folds or "exists" not in str(error):
                raise
            raise Refused(f"{error}. Several fits of one net, as in cross_validate or a search: {_HOOK}(..., folds=True)") from None

    def _told(self) -> str | None:
        """The argument that says what becomes of a second fit."""
        told = [name for name in _OF_A_NAME if getattr(self, name, None)]
        return told[0] if told else "the open run" if isinstance(self.run, Run) else None

    def _check_ids(self, X: Any) -> None:
        named = isinstance(self.ids, str) and isinstance(X, Mapping) and self.ids in X
        if self.ids is not None and not isinstance(self.ids, str):
            _ids.check_unique(_HOOK, self.ids)
        elif named:
            _ids.check_unique(_HOOK, X[self.ids])
        elif isinstance(self.ids, str) and hasattr(X, "shape") and self.mode == "epoch-end":
            raise ValueError(self._no_entry())
        elif self.ids is None and isinstance(X, SliceDataset):
            _ids.check_unique(_HOOK, X.indices_)
        if not self.folds:
            return
        told = self._told()
        if told is not None:
            raise ValueError(f"{_HOOK}: folds=True opens a run of a new name for each fit: leave {told} out")
        if not named and not isinstance(X, SliceDataset) and self.observations is None and self.mode == "epoch-end":
            raise ValueError(
                f"{_HOOK}: folds=True, and X, a {type(X).__name__}, does not say which rows of the whole it holds: take skorch.helper.SliceDict("
                "x=X, id=ids) and ids='id', or skorch.helper.SliceDataset, or portolan.sklearn.cross_val_track"
            )

    def on_batch_end(self, net: Any, batch: Any = None, training: bool = False, y_pred: Any = None, **kwargs: Any) -> None:
        if training and self.mode == "train-forward" and self.recorder_ is not None:
            self._log(net, *(self.observations(batch, y_pred) if self.observations else self._of_batch(batch, y_pred)))

    def on_epoch_begin(self, net: Any, dataset_train: Any = None, dataset_valid: Any = None, **kwargs: Any) -> None:
        self.begun_ = None if self.recorder_ is None else (dataset_train, dataset_valid)

    def on_epoch_end(self, net: Any, dataset_train: Any = None, **kwargs: Any) -> None:
        self.begun_ = None
        if self.recorder_ is not None:
            self._end_epoch(net, dataset_train)

    def on_train_end(self, net: Any, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        (dataset_train, dataset_valid), self.begun_ = self.begun_ or (None, None), None
        if self.recorder_ is None:
            return
        if dataset_train is not None and _is_whole(net.history[-1], dataset_valid):  # a callback before this one has ended the training
            self._end_epoch(net, dataset_train)
        self.recorder_.close()

    def _end_epoch(self, net: Any, dataset_train: Any) -> None:
        if self.mode == "epoch-end":
            self._observe(net, dataset_train)
        assert self.recorder_ is not None
        self.recorder_.end_epoch(_epoch(net))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "recorder_": None, "begun_": None}  # a pickled net does not take its run along

    def _of_batch(self, batch: Any, y_pred: Any) -> tuple[Any, Any, Any]:
        inputs, gold = unpack_data(batch)
        name = "id" if self.ids is None else self.ids
        if not isinstance(name, str) or not isinstance(inputs, Mapping) or name not in inputs:
            raise ValueError(
                f"{_HOOK}: batches come shuffled, so each has to carry its ids: give fit() a dict, "
                f'{{"x": X, {name if isinstance(name, str) else "id"!r}: ids}}, or give observations=, or record a pass of its own, '
                "mode='epoch-end'"
            )
        return inputs[name], y_pred, gold

    def _observe(self, net: Any, dataset: Any) -> None:
        loader = net.get_iterator(dataset, training=False)
        if not isinstance(getattr(loader, "sampler", None), SequentialSampler):
            raise ValueError(f"{_HOOK}: the pass goes through the rows in their order: iterator_valid must not shuffle")
        places, start = WithIds(dataset), 0
        whole = _whole_of(dataset)
        with evaluating(net.module_, loader):
            for batch in loader:
                y_pred = net.evaluation_step(batch, training=False)
                inputs, gold = unpack_data(batch)
                rows = [places.id_of(start + i) for i in range(len(gold))]
                start += len(rows)
                self._log(net, self._ids_of(inputs, rows if whole is None else [whole[row] for row in rows]), y_pred, gold)

    def _ids_of(self, inputs: Any, rows: list[int]) -> Any:
        if not isinstance(self.ids, str):
            return rows if self.ids is None else [self.ids[row] for row in rows]
        if not isinstance(inputs, Mapping) or self.ids not in inputs:
            raise ValueError(self._no_entry())
        return inputs[self.ids]

    def _no_entry(self) -> str:
        return f"{_HOOK}: ids={self.ids!r} names an entry of an X that is a dict, and X has none: give one id per row"

    def _log(self, net: Any, ids: Any, y_pred: Any, gold: Any) -> None:
        y_pred = y_pred[0] if isinstance(y_pred, tuple) else y_pred  # skorch does the same
        assert self.recorder_ is not None
        logs = self.recorder_
        log = logs.log_regression if self.is_regression_ else logs.log_logits if self.logits_ else logs.log_probs
        log(_epoch(net), ids, y_pred, gold)


def _whole_of(dataset: Any) -> Any:
    """The number in the whole of each row that fit() got, if it is known."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    X = getattr(dataset, "X", None)
    return [int(row) for row in X.indices_] if isinstance(X, SliceDataset) else None


def _is_of_a_validation() -> bool:
    """Is this fit one of those that scikit-learn makes of parts of the rows, for cross_validate, a search, ...? Nothing else says so."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "sklearn.model_selection._validation":
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def _say_off() -> None:
    global _said_off
    if not _said_off:
        _said_off = True
        many = "the fits of a cross-validation or a search are recorded with folds=True"
        _hooks.warn(f"{_HOOK}: {many}; without it, as here, they are not (said once)")


def _is_whole(epoch: Mapping[str, Any], dataset_valid: Any) -> bool:
    """Whether the epoch was trained, and validated, to its end. `epoch`: an entry of the history."""
    return "train_batch_count" in epoch and (dataset_valid is None or "valid_batch_count" in epoch)


def _epoch(net: Any) -> int:
    return int(net.history[-1, "epoch"]) - 1


def _is_regression(net: Any) -> bool:
    if isinstance(net, (skorch.NeuralNetRegressor, skorch.NeuralNetClassifier)):
        return isinstance(net, skorch.NeuralNetRegressor)
    return isinstance(net.criterion_, _OF_REGRESSION) and not isinstance(net, ClassifierMixin)  # such as NeuralNetBinaryClassifier


def _scores_of(net: Any) -> str:
    """"logits" or "probs": what the module returns, by the net's criterion. For NLLLoss, NeuralNetClassifier takes the logarithm itself."""
    criterion = net.criterion_
    if isinstance(criterion, (torch.nn.CrossEntropyLoss, torch.nn.BCEWithLogitsLoss)):
        return "logits"
    if isinstance(criterion, torch.nn.NLLLoss):
        return "probs" if isinstance(net, skorch.NeuralNetClassifier) else "logits"  # a logarithm of probabilities is a logit
    if isinstance(criterion, torch.nn.BCELoss):
        return "probs"
    raise ValueError(f"{_HOOK}: what the module returns for {type(criterion).__name__} is not known: say scores='logits' or 'probs', or task='regression'")
