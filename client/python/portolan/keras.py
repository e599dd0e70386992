"""Portolan for Keras 3, on any backend.

    import portolan.keras

    model.fit(x, y, callbacks=[portolan.keras.PortolanCallback(x, y, run="words", store="portolan-store")])

records a pass over (x, y) at the end of each epoch: Keras hands callbacks no outputs of batches. client/python/docs/keras.md
has the details.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from portolan._recording import _hooks, _ids, _off, _regression, _shapes
from portolan._recording._per_label import per_label as flattened
from portolan._recording._run import Run

__all__ = ["PortolanCallback"]

_HOOK = "portolan.keras.PortolanCallback"
_OF_REGRESSION = (
    *("mse", "mae", "mape", "msle", "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error"),
    *("huber", "huber_loss", "log_cosh", "logcosh", "poisson"),
)
_LOGITS_OR_PROBS = ("sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy")


class PortolanCallback(keras.callbacks.Callback):
    """Records how the model sees its training examples at the end of each epoch.

    Args:
        x: the model's inputs, for all examples: an array, or a list or dict of arrays; or an iterable, used once per epoch, of batches
            ``(ids, x, y)``, and then without y and ids.
        y: (n,) class numbers; (n, classes) one-hot; for a single output unit 0 and 1. Of a regression (n,) or (n, 1) targets.
        ids: (n,) ids; default: 0 ... n-1.
        run: the run's name, or an open portolan.Run. Default: the model's name.
        scores: "logits" or "probs": what a classifier returns. Default: found out from the loss.
        task: "regression" or "classification". Default: a model with a loss of regression (mse, ...) is one, unless `scores` is given, which alone
            says what such a model returns if it classifies. A `y` with at most two different values may hold classes, so there one of the two has to
            be given.
        output: the name or number of the output to record, for a model with several.
        per_label: examples have several labels, y is (n, labels) of 0 and 1: True, or the labels' names; each label of each example is
            recorded as ``"ID#LABEL"``.
        batch_size: of the pass.
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    fit(initial_epoch=...) and keras.callbacks.BackupAndRestore go on with the run.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        ids: Any = None,
        run: Run | str | None = None,
        *,
        scores: str | None = None,
        task: str | None = None,
        output: str | int | None = None,
        per_label: bool | Sequence[str] = False,
        batch_size: int = 256,
        **options: Any,
    ) -> None:
        super().__init__()
        if _off.is_hook_off(self, PortolanCallback, run):
            return
        if scores not in (None, "logits", "probs"):
            raise ValueError(f"scores must be 'logits' or 'probs', not {scores!r}")
        _regression.check_task(_HOOK, task, scores)
        labels: Any = None if y is None else _as_numpy(y)
        self._x, self._y = x, labels
        self._ids: Any = None
        self._batches: Any = None
        if y is None:
            if ids is not None or not isinstance(x, Iterable) or isinstance(x, Mapping) or hasattr(x, "shape"):
                raise TypeError(f"{_HOOK}: without y, x must be an iterable of batches (ids, x, y)")
            self._batches = x
        else:
            examples = len(labels)
            self._ids = np.arange(examples) if ids is None else ids
            if len(self._ids) != examples:
                raise ValueError(f"{_HOOK}: there are {len(self._ids)} ids and {examples} labels")
            if ids is not None:
                _ids.check_unique(_HOOK, ids)
        self._known: dict[str, Any] = {"examples": len(labels)} if y is not None and ids is None and per_label is False else {}
        self._per_label, self._names = per_label is not False, None if isinstance(per_label, bool) else per_label
        self._scores, self._batch_size = scores, batch_size
        self._output: Any = output
        self._recorder = _hooks.Recorder(_HOOK, run, "epoch-end", options, task)

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._recorder.run

    def on_train_begin(self, logs: Any = None) -> None:
        self._kind: str | None = None  # "logits", "probs" or "numbers": what the model returns
        self._said = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self._kind is not None:
            return
        self._kind = self._kind_of_outputs()
        if self._kind == "probs" and self._scores is None:
            _check_activation(self.model, self._output)
        if self._y is not None and not self._per_label and self._kind != "numbers":
            _check_labels(self._y, _of_output(getattr(self.model, "output_shape", None), self._output))
        optimizer = self.model.optimizer
        parameters = {"optimizer": type(optimizer).__name__, "loss": _name_of(self.model.loss), "backend": keras.backend.backend()}
        parameters |= {"epochs": (self.params or {}).get("epochs"), "learning_rate": _number(getattr(optimizer, "learning_rate", None))}
        versions = {"keras": keras.__version__, **_hooks.versions_of(keras.backend.backend())}
        self._recorder.open(self.model.name, _hooks.record(self.model, versions, None, parameters), resumed=epoch > 0, **self._known)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        with _random_numbers_kept():
            for ids, x, y in self._batches if self._batches is not None else [(self._ids, self._x, self._y)]:
                self._log(epoch, ids, self.model.predict(x, batch_size=self._batch_size, verbose=0), _as_numpy(y))
        self._recorder.end_epoch(epoch)

    def on_train_end(self, logs: Any = None) -> None:
        self._recorder.close()

    def _kind_of_outputs(self) -> str:
        task, loss = self._recorder.task, _name_of(_loss_of(self.model, self._output))
        if task == "regression" or (task is None and self._scores is None and not self._per_label and loss.lower() in _OF_REGRESSION):
            if self._y is not None:
                _check_targets(self._y, _of_output(getattr(self.model, "output_shape", None), self._output), loss, task)
            return "numbers"
        return self._scores or _scores_of(self.model, self._output, task)

    def _log(self, epoch: int, ids: Any, outputs: Any, gold: Any) -> None:
        if isinstance(outputs, (list, tuple, dict)):
            if self._output is None:
                names = ", ".join(map(repr, outputs if isinstance(outputs, dict) else range(len(outputs))))
                raise ValueError(f"{_HOOK}: the model has the outputs {names}: say which is to be recorded, output=")
            outputs = outputs[self._output]
        outputs = np.asarray(outputs)
        if self._kind == "numbers":
            self._recorder.log_regression(epoch, ids, outputs, gold)
            return
        if self._per_label:
            ids, outputs, gold = flattened(ids, outputs, gold, self._names)
        elif gold.ndim == 2 and gold.shape == outputs.shape and gold.shape[1] > 1 and _is_one_hot(gold):
            gold = gold.argmax(axis=1)
        if self._kind == "probs" and not self._said and ((outputs < 0).any() or (outputs > 1.001).any()):
            self._said = True
            _hooks.warn(f"{_HOOK}: the model returns {outputs.min():.3g} ... {outputs.max():.3g}, no probabilities: if these are logits, scores='logits'")
        (self._recorder.log_logits if self._kind == "logits" else self._recorder.log_probs)(epoch, ids, outputs, gold)


def _check_labels(y: Any, shape: Any) -> None:
    """Checks several labels per example, before training. `shape`: that of the model's output, if it is known."""
    if isinstance(shape, tuple) and len(shape) == y.ndim == 2 and y.shape[1] > 1 and not _is_one_hot(y):
        _shapes.refuse_labels(shape, y.shape)


def _check_targets(y: Any, shape: Any, loss: str, task: str | None) -> None:
    """Checks the targets of a regression, before training. Those of at most two different values may be classes. `shape`: that of the output, if it is known."""
    several = isinstance(shape, tuple) and shape[1:] not in ((), (1,), (None,))
    if several or y.shape[1:] not in ((), (1,)):
        raise ValueError(
            f"{_HOOK}: {'the output' if several else 'y'} has the shape {shape if several else y.shape}, and the loss {loss} is one of regression: one "
            "number for each example can be recorded. Of several, log the loss of each example with run.log_loss(). If y holds classes: compile with a "
            "loss of classification, such as sparse_categorical_crossentropy; or say scores='probs' or 'logits', which records the model as it is"
        )
    distinct = np.unique(y)
    if task is None and len(distinct) <= 2:
        raise ValueError(
            f"{_HOOK}: the loss {loss} is one of regression, and y holds only {' and '.join(f'{float(one):g}' for one in distinct)}. If these are targets, say task='regression'. If they are classes: "
            "compile with a loss of classification, such as binary_crossentropy; or say scores='probs' or 'logits', which records the model as it is"
        )


def _check_activation(model: Any, output: str | int | None) -> None:
    """A linear last layer gives logits, even if the loss, given as a name, takes them for probabilities."""
    layer = _last_layer(model, output)
    activation = getattr(layer, "activation", None)
    if activation is not None and activation is getattr(getattr(keras, "activations", None), "linear", None):
        raise ValueError(
            f"{_HOOK}: the last layer, {layer.name}, is linear, so the model returns logits, and the loss {_name_of(model.loss)} takes them for "
            f"probabilities: compile with a loss that has from_logits=True, or give the layer a softmax or sigmoid; scores=\"logits\" records them as "
            'they are'
        )


def _last_layer(model: Any, output: str | int | None) -> Any:
    """The layer that gives this output; None if it cannot be found."""
    layers = getattr(model, "layers", None) or [None]
    if isinstance(output, str):
        return next((layer for layer in layers if layer.name == output), None)
    return layers[-1] if output is None else None


def _of_output(values: Any, output: str | int | None) -> Any:
    """The entry of `values` for this output of a model with several."""
    if isinstance(values, dict):
        return values.get(output)
    return values[output] if isinstance(values, list) and isinstance(output, int) else values


def _is_one_hot(gold: Any) -> bool:
    return bool(((gold == 0) | (gold == 1)).all() and (gold.sum(axis=1) == 1).all())


def _as_numpy(values: Any) -> Any:
    return keras.ops.convert_to_numpy(values) if keras.ops.is_tensor(values) else np.asarray(values)


def _loss_of(model: Any, output: Any) -> Any:
    loss = model.loss
    if isinstance(loss, (list, tuple, dict)):
        loss = loss[0 if output is None else output] if not isinstance(loss, dict) or output is not None else None
    return loss


def _scores_of(model: Any, output: Any, task: str | None) -> str:
    """"logits" or "probs": what the model returns, by its loss."""
    loss = _loss_of(model, output)
    from_logits = getattr(loss, "from_logits", None)
    if from_logits is not None:
        return "logits" if from_logits else "probs"
    if _name_of(loss) in _LOGITS_OR_PROBS:
        return "probs"  # given as a name or a function, these do not say whether they get logits
    other = "" if task else ", or task='regression'"
    raise ValueError(f"{_HOOK}: what the model returns for the loss {_name_of(loss)} is not known: say scores='logits' or 'probs'{other}")


def _name_of(loss: Any) -> str:
    return loss if isinstance(loss, str) else str(getattr(loss, "name", None) or getattr(loss, "__name__", type(loss).__name__))


def _number(value: Any) -> float | None:
    try:
        return float(_as_numpy(value))
    except (TypeError, ValueError):
        return None


@contextlib.contextmanager
def _random_numbers_kept() -> Iterator[None]:
    """Keeps the random numbers, so that training shuffles as without the pass, which draws seeds for loaders that it does not need."""
    torch = sys.modules.get("torch")
    numpy_state, torch_state = np.random.get_state(), torch.get_rng_state() if torch else None
    try:
        yield
    finally:
        np.random.set_state(numpy_state)
        if torch:
            torch.set_rng_state(torch_state)
