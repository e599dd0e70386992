"""What a Run and a hook become where $PORTOLAN_DISABLED is set: objects of the same classes whose methods do nothing.

An object takes the class here when it is made, so the calls of a run that records cost nothing more. The variable is read at that moment.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from portolan import _programs
from portolan._recording import _environment
from portolan._recording._run import Run

_COUNTERS = ("logged", "acknowledged", "refused", "replaced", "dropped", "spooled", "bytes_sent", "reconnects", "waits")


class Off(Run):
    """A run that records nothing. It starts no collector, makes no directory, checks no argument, and prints nothing."""

    _is_open = True

    def __init__(self, name: Any = None, **options: Any) -> None:
        self._name = name or _environment.run_name() or ""
        self._mode, self._strict = options.get("mode") or "epoch-end", bool(options.get("strict"))
        self._group, self._rank = options.get("group"), options.get("rank") or 0
        self._endpoint = options.get("endpoint")
        self._store = None if self._endpoint is not None else os.fsdecode(options.get("store") or _programs.default_store())
        self._closing_line = None

    @property
    def is_disabled(self) -> bool:
        return True

    @property
    def is_open(self) -> bool:
        return self._is_open

    def log_logits(self, *arguments: Any, **named: Any) -> None:
        pass

    log_probs = log_gold = log_loss = log_examples = log_regression = end_epoch = _log_remote = log_logits

    def flush(self, timeout: float | None = None) -> bool:
        return True

    def close(self, timeout: float | None = None) -> bool:
        self._is_open = False
        return True

    def stats(self) -> dict[str, int]:
        return dict.fromkeys(_COUNTERS, 0)

    def __reduce__(self) -> Any:  # hooks that are copied have one with them
        kind = type(self)
        return (Off, (), self.__dict__) if kind is Off else (_off_of, (kind.__bases__[0],), self.__dict__)

    def __repr__(self) -> str:
        return f"<portolan.Run {self._name!r} off: $PORTOLAN_DISABLED is set>"


def switch_off(run: Run, name: Any, options: dict[str, Any]) -> None:
    """Makes an Off of a run that is being made. A class of the caller's that is made from Run keeps its own methods, before those of Off."""
    kind = type(run)
    run.__class__ = Off if kind is Run else _class_of(kind)
    Off.__init__(run, name, **options)  # type: ignore[arg-type]


def _class_of(kind: type[Run]) -> type[Run]:
    return type(kind.__name__, (kind, Off), {})


def _off_of(kind: type[Run]) -> Run:
    """One of a caller's class that was copied or pickled; its __init__() is not called again."""
    made = _class_of(kind)
    return made.__new__(made)


def is_hook_off(hook: Any, kind: type, run: Any = None) -> bool:
    """Whether recording is switched off. If it is, the callback `hook` does nothing from now on.

    Args:
        kind: the hook's class; `hook` may be of one that the caller has made from it.
        run: the run that the hook was given, or its name.
    """
    if not _environment.is_disabled():
        return False
    own: Any = hook.__class__
    if not issubclass(own, _idle(kind)):  # scikit-learn's clone() makes one of an idle hook's class
        hook.__class__ = _idle(kind) if own is kind else _idle_of(own, kind)
    if "run" in vars(kind):  # a property; skorch takes what is set here for one of the hook's own arguments
        hook._off_run = run if isinstance(run, Run) else Off(run)
    return True


@functools.cache
def _idle(kind: type) -> type:
    """The hook's class, with the framework's own methods, which do nothing, in place of the hook's."""
    methods: dict[str, Any] = {"__reduce__": lambda hook: (_made, (kind, kind), hook.__dict__)}
    if "run" in vars(kind):
        methods["run"] = property(lambda hook: hook._off_run)
    for name, value in vars(kind).items():
        if callable(value) and (not name.startswith("_") or name == "__call__"):
            methods[name] = next((vars(base)[name] for base in kind.__mro__[1:] if name in vars(base)), _nothing)
    return type(kind.__name__, (kind,), methods)


@functools.cache
def _idle_of(own: type, kind: type) -> type:
    return type(own.__name__, (own, _idle(kind)), {"__reduce__": lambda hook: (_made, (own, kind), hook.__dict__)})


def _made(own: type, kind: type) -> Any:
    """An idle hook that was copied or pickled."""
    idle: Any = _idle(kind) if own is kind else _idle_of(own, kind)
    return idle.__new__(idle)


def _nothing(hook: Any, *arguments: Any, **named: Any) -> None:
    pass
