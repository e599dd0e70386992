"""Code that the hooks share: opening a run, its record, the effect of errors on training, the closing line.

A hook makes one Recorder, opens it when training begins, logs through it, and closes it when training ends. Given a
name, the Recorder opens and closes the run; given an open portolan.Run, it leaves that run open.

Training comes first. A run that cannot be opened, or wrong arguments, raise at the beginning. If the collector is lost later,
or the run is removed, a line on stderr says so, and training goes on without being recorded, unless strict=True was given.
"""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Any

from portolan import _portolan
from portolan._recording import _closing, _device, _environment, _options, _regression, _shapes
from portolan._recording._run import Run

Open = Callable[..., Run]


class Recorder:
    """One run, as a hook uses it.

    Args:
        hook: the hook's name, for messages and the record.
        run: an open Run, or the name of one to open, or None for $PORTOLAN_RUN, else the framework's own name of the training.
        mode: "epoch-end" or "train-forward".
        options: further arguments of portolan.Run, for a run that is opened here.
        task: "classification" or "regression", for log_logits(); None: the batches tell.
    """

    def __init__(self, hook: str, run: Run | str | None, mode: str, options: Mapping[str, Any] | None = None, task: str | None = None) -> None:
        _regression.check_task(hook, task)
        self.task = task
        if run is not None and not isinstance(run, (Run, str)):
            raise TypeError(f"{hook}: run must be a name or a portolan.Run, not {run!r}")
        self.hook, self.mode = hook, mode
        self.options = dict(options or {})
        self._given, self.run = run, run if isinstance(run, Run) else None
        self._lost, self._opened, self._rows, self._said_empty = False, 0, 0, False
        if self.run is not None and self.options:
            raise TypeError(f"{hook}: {', '.join(sorted(self.options))} cannot be given with an open run: pass them to portolan.Run")
        if self.run is not None:
            check_mode(self.run, mode, hook)

    @property
    def is_open(self) -> bool:
        return self.run is not None and self.run.is_open

    def open(
        self,
        default_name: str,
        record: Mapping[str, Any],
        *,
        resumed: bool = False,
        trial: bool = False,
        fold: bool = False,
        open_run: Open = Run,
        **more: Any,
    ) -> None:
        """Opens the run, unless it is open.

        Args:
            default_name: if neither the hook nor $PORTOLAN_RUN gives one.
            record: see record(). The caller's config takes precedence.
            resumed: training continues from a checkpoint, and so does the run.
            trial: the training is one of many in a search. Each is a run of its own: NAME/trial0, NAME/trial1, ...
            fold: the same for trainings that do not know of each other, and may run at the same time: NAME/fold0, NAME/fold1, ...
            open_run: portolan.Run, or a function that opens one run for all processes of a job.
            more: options that the hook knows (labels, examples), if the caller did not give them.
        """
        self._lost = False
        if self.is_open:
            return
        if isinstance(self._given, Run):
            raise _portolan.Closed(f"{self.hook}: run {self._given.name} is closed: open it again with resume=True")
        options = {**more, **self.options}
        options["config"] = {"hook": self.hook, **record, **(self.options.get("config") or {})}
        options["mode"] = self.mode
        name = self._given or _environment.run_name() or default_name
        if fold:
            options["if_exists"] = _options.FOLD
        if resumed and not options.get("overwrite") and options.get("if_exists") != "overwrite":
            name = self._resumed_name(name, options.pop("if_exists", None))
            options["resume"] = True
        self.run = open_run(f"{name}/trial{self._opened}" if trial else name, **options)
        self._opened += 1
        say_at_close(self.run)

    def _resumed_name(self, name: str, if_exists: str | None) -> str:
        if if_exists not in ("number", _options.FOLD):
            return name
        if self.run is None:
            said, such = ('if_exists="number"', "2") if if_exists == "number" else ("folds=True", "fold0")
            raise ValueError(
                f"{self.hook}: training goes on from a checkpoint, and {said} does not say with which run: give the name that it has, such as "
                f'{name}/{such}, and if_exists="resume"'
            )
        return self.run.name

    def log_logits(self, epoch: int, ids: Any, logits: Any, gold: Any) -> None:
        """A batch in any of the shapes of _shapes.py. Rows without a label are left out. Of a regression: what is predicted, and the targets."""
        self._rows += len(ids)
        self._guarded(log_batch, self.run, epoch, ids, logits, gold, self.task)

    def log_probs(self, epoch: int, ids: Any, probs: Any, gold: Any) -> None:
        self._rows += len(ids)
        if self.run is not None:
            self._guarded(self.run.log_probs, epoch, *_shapes.without_ignored(*_shapes.as_rows(ids, probs, gold)))

    def log_gold(self, epoch: int, ids: Any, gold_probs: Any, correct: Any, gold: Any) -> None:
        self._rows += len(ids)
        if self.run is not None:
            self._guarded(self.run.log_gold, epoch, ids, gold_probs, correct, gold)

    def log_regression(self, epoch: int, ids: Any, predicted: Any, target: Any) -> None:
        """A number for each example, (n,) or (n, 1)."""
        self.log_with(log_numbers, epoch, ids, predicted, target)

    def log_loss(self, epoch: int, ids: Any, losses: Any, target: Any) -> None:
        """A loss for each example; of several in a row the mean. `target`: what they were computed with."""
        self.log_with(log_losses, epoch, ids, losses, target)

    def log_with(self, log: Callable[..., None], epoch: int, ids: Any, *arguments: Any) -> None:
        """A batch that `log` records: ``log(run, epoch, ids, *arguments)``."""
        self._rows += len(ids)
        self._guarded(log, self.run, epoch, ids, *arguments)

    def end_epoch(self, epoch: int) -> None:
        if self.run is None or self.run.is_disabled:
            return
        if not self.run.is_shared:  # a process may have no share of a shared run
            self.say_if_empty(epoch)
        self._rows = 0
        self._guarded(self.run.end_epoch, epoch)

    def say_if_empty(self, epoch: int, why: str = "no batch came by, or none with outputs") -> None:
        """One line, once, if nothing has been recorded in `epoch` so far. Of a run that is switched off that is meant."""
        if self.run is not None and self.run.is_disabled:
            return
        if self._rows == 0 and not self._said_empty:
            self._said_empty = True
            warn(f"{self.hook}: nothing was recorded in epoch {epoch}: {why}")

    def flush(self) -> None:
        """Call before a checkpoint is written: all observations until then are on disk afterwards."""
        if self.run is not None:
            self._guarded(self.run.flush)

    def close(self) -> None:
        """At the end of training: flushes, and prints the closing line. The caller's own run stays open."""
        if not self.is_open:
            return
        assert self.run is not None
        if isinstance(self._given, Run):
            if self.run.is_disabled:
                return
            self.flush()
            if not self._lost:
                print(_closing.line(self.run), file=sys.stderr, flush=True)
            return
        self.run.close()

    def _guarded(self, call: Callable[..., Any], *arguments: Any) -> None:
        if self._lost or self.run is None:
            return
        try:
            call(*arguments)
        except _portolan.Error as error:
            if self.run.is_strict:
                raise
            self._lost = True
            warn(f"{self.hook}: {error}; training goes on, and is not recorded any more")


def log_batch(run: Run, epoch: int, ids: Any, logits: Any, gold: Any, task: str | None = None) -> None:
    """A batch in any of the shapes of _shapes.py. Rows without a label are left out. `task`: None: the batches tell."""
    if task == "regression" or task is None and _regression.is_one(run, logits, gold):
        log_numbers(run, epoch, ids, logits, gold)
        return
    ids, logits, gold = _shapes.as_rows(ids, logits, gold)
    if _device.is_remote(logits):
        run._log_remote(epoch, ids, logits, gold, _shapes.IGNORED)
    else:
        run.log_logits(epoch, *_shapes.without_ignored(ids, logits, gold))


def log_numbers(run: Run, epoch: int, ids: Any, predicted: Any, target: Any) -> None:
    run.log_regression(epoch, *_regression.as_numbers(ids, predicted, target))


def log_losses(run: Run, epoch: int, ids: Any, losses: Any, target: Any) -> None:
    run.log_loss(epoch, *_regression.as_losses(ids, losses, target))


def check_mode(run: Run, mode: str, hook: str) -> None:
    if run.mode != mode:
        raise ValueError(f"{hook}: run {run.name} was opened with mode={run.mode!r}, but this is {mode!r}: open it with mode={mode!r}")


def record(model: Any, versions: Mapping[str, str], seed: int | None = None, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A run's record: class of the model, seed, versions, hyper-parameters."""
    out: dict[str, Any] = {"model": model if isinstance(model, str) else type(model).__name__}
    if seed is not None:
        out["seed"] = seed
    out["versions"] = {"portolan": _portolan.version, "python": platform.python_version(), **versions}
    if parameters:
        out["parameters"] = {str(name): as_json(value) for name, value in parameters.items()}
    return out


def as_json(value: Any, depth: int = 4) -> Any:
    """The value, or the best description of it that JSON can hold."""
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, str) or len(value) <= 1000 else value[:1000] + "..."
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > 0 and isinstance(value, Mapping):
        return {str(key): as_json(item, depth - 1) for key, item in list(value.items())[:100]}
    if depth > 0 and isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item, depth - 1) for item in list(value)[:100]]
    if callable(getattr(value, "item", None)) and getattr(value, "size", None) == 1:  # a NumPy number
        return as_json(value.item(), 0)
    if isinstance(value, type) or callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = str(value)
    return text if len(text) <= 200 and " at 0x" not in text else type(value).__name__


def versions_of(*modules: str) -> dict[str, str]:
    """Versions of the packages among these that are imported."""
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in modules}
    return {name: str(version) for name, version in found.items() if version is not None}


def say_at_close(run: Run) -> None:
    """When the run is closed, prints the closing line on stderr."""
    run._closing_line = _closing.line


def warn(text: str) -> None:
    """One line on stderr, like the library's own."""
    print(f"portolan: {text}", file=sys.stderr, flush=True)


def warn_once(run: Run, kind: str, text: str) -> None:
    """The same, once for each run and kind."""
    said = run.__dict__.setdefault("_said", set())
    if kind not in said:
        said.add(kind)
        warn(f"run {run.name}: {text}")
