"""Recording: the class Run."""

from __future__ import annotations

import functools
import itertools
import math
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn, SupportsIndex

from portolan import _programs
from portolan._portolan import Error, Forked, Handle, Refused
from portolan._recording import _arrays, _closing, _device, _environment, _options

_MODES = {"epoch-end": 0, "train-forward": 1}
_WHEN_FULL = {"wait": 0, "drop": 1}
_LOGITS, _PROBS, _GOLD_PROBS, _LOSSES = 1, 2, 3, 5

# Waits are cut into pieces, so that Ctrl-C takes effect between them.
_PIECE = 0.2
_CLOSE_AT_EXIT = 60.0

# As client/library/log.c says it of scores that the library sees.
_ARE_PROBS = (
    "the logits are probabilities, within 0 and 1, each row with the sum 1: log them with log_probs, or take the model's scores before its "
    "softmax (said once)"
)
_OTHER_CLASSES = "Another model, or another task, is a run of its own; choices may vary from example to example (said once)"

# The runs that a forked child must give up.
_open_runs: weakref.WeakSet[Run] = weakref.WeakSet()


class Run:
    """One recorded training run.

    Args:
        name: the run's name, for example ``"snli/roberta-large/seed1"``. Default: ``$PORTOLAN_RUN``.
        store: a directory. A collector for it is started, unless one runs already. Default: ``$PORTOLAN_STORE``,
            then ``./portolan-store``.
        endpoint: a running collector instead: ``"tcp://127.0.0.1:5757"`` or ``"ipc://PATH"``.
        keys: a directory with ``client.key`` and ``server.pub``, made by ``portolan keygen``, for a collector that was started
            with ``--keys``: the connection is encrypted, and each side knows the other. With endpoint ``tcp://...`` only.
        mode: ``"epoch-end"`` (observations are taken in a pass of their own after each epoch) or ``"train-forward"`` (as
            the mini-batches pass). The two give different dynamics; the run remembers its mode.
        examples: how many examples there are, when their ids are 0 ... examples-1.
        labels: class names, in the order of the class numbers.
        config: data to keep with the run (seed, model, hyper-parameters): anything JSON can hold. Nothing is added to it.
        group: the ranks of one job give the same group and share the run. A rank that is started again while the others
            go on asks for ``resume`` as well.
        rank: this process's rank; default ``$RANK`` when a group is given, else 0.
        if_exists: what to do if a run of that name exists: ``"error"``, the default: raise Refused; ``"resume"``: continue it
            (observations logged again replace the old ones; while another process seems to record it, this waits for
            ``open_timeout``, and then raises Refused; a Run of this process that still records it is closed first, as when a
            notebook's cell runs again); ``"overwrite"``: remove it first; ``"number"``: record this run as
            NAME/2, NAME/3, ..., the first name that does not exist; scripts that start at the same time get different names.
            ``run.name`` is the name.
        resume: True: the same as ``if_exists="resume"``.
        overwrite: True: the same as ``if_exists="overwrite"``.
        strict: raise instead of printing a line on stderr: RowsRefused for rows that cannot be used (NaN, ...), after the others
            are logged; Closed once the collector has ended the run (it was removed, or is damaged); TimedOut from ``close()``.
        spool: a directory for observations that cannot be sent and do not fit into memory. If it is given, a run for which no
            collector answers is recorded there; a later run with that directory, or ``portolan import``, brings it into the
            store. Default:
            ``spool`` in the store's directory, or ``./portolan-spool``; made when it is needed.
        spool_bytes: limit of this run's spool file (default 16 GiB).
        when_full: ``"wait"`` or ``"drop"``: what a log call does when the collector cannot keep up, and memory and spool are
            used up.
        ring_bytes: memory for observations not yet sent (default 32 MiB).
        open_timeout: seconds to wait for the collector, and for another process to end that records the run.

    A run is closed by ``close()``, by the end of a ``with`` block, when it is garbage-collected, or when the interpreter
    exits; each waits until all observations are on disk. In a forked child the run is inert. Where ``$PORTOLAN_DISABLED`` is set
    (to anything but ``""``, ``0`` and ``false``), nothing is recorded: every call does nothing, and checks nothing.

    Trouble with the collector or the run does not end a training loop, unless the run is ``strict``. While the collector is away,
    observations wait in memory and in a spool file. Once it has ended the run, they are dropped and counted, after one line on
    stderr. Wrong arguments (shapes, types, ids, labels) always raise, and so do calls on a closed run.

    Example::

        with portolan.Run("words", store="demo-store", labels=["de", "en"], config={"seed": 1}) as run:
            run.log_probs(0, ["haus", "gift"], [[0.9, 0.1], [0.4, 0.6]], [0, 0])
            run.end_epoch(0)
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        store: str | os.PathLike[str] | None = None,
        endpoint: str | None = None,
        keys: str | os.PathLike[str] | None = None,
        mode: str = "epoch-end",
        examples: int | None = None,
        labels: Sequence[str] | None = None,
        config: Mapping[str, Any] | None = None,
        group: str | None = None,
        rank: int | None = None,
        if_exists: str | None = None,
        resume: bool = False,
        overwrite: bool = False,
        strict: bool = False,
        spool: str | os.PathLike[str] | None = None,
        spool_bytes: int | None = None,
        when_full: str = "wait",
        ring_bytes: int | None = None,
        open_timeout: float = 10.0,
    ) -> None:
        if _environment.is_disabled():
            from portolan._recording import _off  # which needs this module

            told = {"store": store, "endpoint": endpoint, "mode": mode, "group": group, "rank": rank, "strict": strict}
            _off.switch_off(self, name, told)
            return
        if store is not None and endpoint is not None:
            raise ValueError("give store or endpoint, not both")
        if store is None and endpoint is None:
            store = _programs.default_store()
        policy = _options.if_exists(if_exists, resume, overwrite)
        self._group, self._rank = group, _options.rank(rank, group)
        self._handle = Handle()
        self._name = name = _open(
            self,
            policy,
            _options.name(_environment.run_name() if name is None else name),
            _options.directory("store", store),
            _options.endpoint(endpoint),
            _options.directory("keys", keys),
            _options.choice("mode", mode, _MODES),
            _options.count("examples", examples),
            _options.labels(labels),
            _options.config(config),
            _options.text("group", group),
            self._rank,
            policy == "resume",
            policy == "overwrite",
            _options.flag("strict", strict),
            _options.choice("when_full", when_full, _WHEN_FULL),
            _options.count("ring_bytes", ring_bytes),
            max(1, _options.milliseconds("open_timeout", open_timeout)),
            os.fsencode(_programs.find("portoland") or "") if store is not None else b"",
            _options.directory("spool", spool),
            _options.count("spool_bytes", spool_bytes),
        )
        self._mode, self._strict = mode, strict
        self._store, self._endpoint = None if store is None else os.fsdecode(store), endpoint
        self._closing_line: Callable[[Run], str] | None = None  # set by the hooks
        self._is_whole = False  # once it is closed: everything logged is on the collector's disk
        _open_runs.add(self)
        # The finalizer also runs at Python's exit, while modules still work.
        self._wide: int | None = None  # classes of the first logits of which the library sees the signals only
        self._copies = _device.Copies(functools.partial(_deliver, self._handle, name))
        self._finalizer = weakref.finalize(self, _close_forgotten, self._handle, name, self._copies)
        _close_with_worker(self, self._finalizer)

    @property
    def name(self) -> str:
        return self._name

    @property
    def mode(self) -> str:
        """"epoch-end" or "train-forward"."""
        return self._mode

    @property
    def store(self) -> str | None:
        """The store's directory; None for a run that was given an endpoint."""
        return self._store

    @property
    def is_open(self) -> bool:
        return self._finalizer.alive

    @property
    def is_disabled(self) -> bool:
        """$PORTOLAN_DISABLED was set when it was made: nothing is recorded."""
        return False

    @property
    def is_strict(self) -> bool:
        return self._strict

    @property
    def is_shared(self) -> bool:
        """Opened with a group: other processes log into it too."""
        return self._group is not None

    def log_logits(self, epoch: SupportsIndex, ids: Any, logits: Any, gold: Any, columns: Mapping[str, Any] | None = None) -> None:
        """Log n observations of `epoch` from raw scores.

        Args:
            epoch: number of the epoch, from 0.
            ids: (n,) integers >= 0, or n strings.
            logits: (n, classes); or (n,) or (n, 1): the logit of class 1 against class 0 (sigmoid). -inf is allowed off the
                gold label (masked choices).
            gold: (n,) class numbers, 0 ... classes-1.
            columns: further numbers of each observation, by the names that you give them (a-z, 0-9 and _): (n,) each, at most 16 names
                a run. Their means over the epochs are measures of these names.

        Example: ``run.log_logits(epoch, batch["id"], model(batch["x"]), batch["y"], columns={"grad_norm": norms})``
        """
        if self._copies.waiting and not _device.is_remote(logits):
            self._copies.drain()
        left = NotImplemented if columns else self._handle.log(epoch, _LOGITS, "logits", ids, logits, gold, None, False)
        if left is not None:
            self._finish_log(left, epoch, _LOGITS, "logits", ids, logits, gold, columns=columns)

    def log_probs(self, epoch: SupportsIndex, ids: Any, probs: Any, gold: Any, columns: Mapping[str, Any] | None = None) -> None:
        """Log n observations of `epoch` from probabilities: (n, classes), rows that sum to 1; or (n,), (n, 1): p(class 1). The rest as for
        log_logits().

        Example: ``run.log_probs(epoch, ids, classifier.predict_proba(X), y)``
        """
        if self._copies.waiting:
            self._copies.drain()
        left = NotImplemented if columns else self._handle.log(epoch, _PROBS, "probs", ids, probs, gold, None, False)
        if left is not None:
            self._finish_log(left, epoch, _PROBS, "probs", ids, probs, gold, columns=columns)

    def log_gold(
        self,
        epoch: SupportsIndex,
        ids: Any,
        gold_probs: Any,
        correct: Any,
        gold: Any = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Log n observations of `epoch` of which only the gold label's probability and correctness are known.

        Args:
            gold_probs: (n,) p(gold), in [0, 1].
            correct: (n,) booleans, or 0 and 1: was the gold label predicted?
            gold: (n,) class numbers, if known.
            columns: as for log_logits().

        Example: ``run.log_gold(epoch, ids, p[range(n), y], p.argmax(1) == y, gold=y, columns={"length": lengths})``
        """
        if self._copies.waiting:
            self._copies.drain()
        left = NotImplemented if columns else self._handle.log(epoch, _GOLD_PROBS, "gold_probs", ids, gold_probs, gold, correct, False)
        if left is not None:
            self._finish_log(left, epoch, _GOLD_PROBS, "gold_probs", ids, gold_probs, gold, correct, columns)

    def log_loss(self, epoch: SupportsIndex, ids: Any, loss: Any, columns: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Log n observations of `epoch` from any task that has a loss for each example: regression, detection, ranking, ...

        The run then records losses. Its measures are the mean loss (task_loss), the loss's variability, how fast it fell, ...;
        those that need a gold label, as confidence, do not exist. Losses and labels do not go into one run.

        Args:
            ids: as for log_logits().
            loss: (n,) finite numbers: one for each example (reduction="none"), not the mean of the batch. On an accelerator they are
                copied without waiting, as logits are.
            columns: further numbers of each observation, (n,) each, by names of your own, as for log_logits(). They may be
                arguments by these names, too.

        Example: ``run.log_loss(epoch, batch["id"], F.mse_loss(model(x), y, reduction="none").mean(1), length=lengths)``
        """
        own = {**_arrays.named(columns), **named}
        if self._copies.waiting and not _device.is_remote(loss):
            self._copies.drain()
        left = NotImplemented if own else self._handle.log(epoch, _LOSSES, "loss", ids, loss, None, None, False)
        if left is not None:
            self._finish_log(left, epoch, _LOSSES, "loss", ids, loss, None, columns=own)

    def log_examples(self, ids: Any, /, **fields: Sequence[str]) -> None:
        """Keep texts of n examples in the store, with the run: `portolan show`, `report`, `serve`, ... then need no ``--data``.

        Nothing but this call takes a text out of the program. The texts are as private as the store, and go with the run when it is
        removed; their bytes stay in the store's file until its pages are used again. Once per run is enough, at any time. Texts that are logged again replace those of that example, all fields together.

        Args:
            ids: as for log_logits(): the same ids.
            fields: n strings each, under names of your own (letters, digits and _; not ``id``), by which ``--text`` of the commands
                names them; at most 8 in one call. The texts of an example have at most 61,440 bytes together, as UTF-8.

        Example: ``run.log_examples(range(len(data)), premise=data["premise"], hypothesis=data["hypothesis"])``
        """
        self._handle.log_examples(_arrays.identifiers(ids), {name: _arrays.texts(values, name) for name, values in fields.items()})

    def log_regression(
        self, epoch: SupportsIndex, ids: Any, predicted: Any, target: Any, columns: Mapping[str, Any] | None = None, **named: Any
    ) -> None:
        """Log n observations of `epoch` of a regression of one number: what the model predicted, and what was right.

        The run records losses, the squared errors (see log_loss()), and the columns ``prediction`` and ``target``, from which
        ``portolan triage`` tells over- from under-estimated examples.

        Args:
            ids: as for log_logits().
            predicted, target: (n,) finite numbers, or (n, 1).
            columns: further numbers of each observation, as for log_loss().

        Example: ``run.log_regression(epoch, ids, model.predict(X), y)``
        """
        own = {**_arrays.named(columns), **named}
        if own.keys() & {"prediction", "target"}:
            raise ValueError("columns: prediction and target are those of the regression itself")
        if _device.is_remote(predicted) or _device.is_remote(target):
            self._log_later(_device.Losses(_epoch(epoch), ids, {"predicted": predicted, "target": target}, own))
            return
        predicted, target, squares = _arrays.squared_errors(predicted, target)
        self.log_loss(epoch, ids, squares, {"prediction": predicted, "target": target, **own})

    # After a training step no code is in the caches, and each function call costs some microseconds. So the usual case is a
    # single call into the extension, which returns None. Blocks on their way from an accelerator are logged before what comes after them: of
    # two observations of one example in an epoch the later one is kept.
    def _finish_log(
        self,
        left: Any,
        epoch: SupportsIndex,
        kind: int,
        name: str,
        ids: Any,
        scores: Any,
        gold: Any,
        correct: Any = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """The rest of a log call: converts arguments that the extension cannot read in place, and warns about ids."""
        if left is NotImplemented:
            if kind == _LOGITS and _device.is_remote(scores):
                self._log_remote(epoch, ids, scores, gold, columns=columns)
                return
            if kind == _LOSSES and _device.is_remote(scores):
                self._log_later(_device.Losses(_epoch(epoch), ids, {"loss": scores}, columns))
                return
            scores = _arrays.scores(scores, name)
            gold = None if gold is None and kind in (_GOLD_PROBS, _LOSSES) else _arrays.integers(gold, "gold")
            correct = _arrays.integers(correct, "correct") if kind == _GOLD_PROBS else None
            ids = _arrays.identifiers(ids)
            own = {name: _arrays.column(values, name) for name, values in _arrays.named(columns).items()}
            left = self._handle.log(epoch, kind, name, ids, scores, gold, correct, True, own)
        if left is not None:
            _warn_of_ids(self._name, epoch, ids, gold, *left)

    def _log_remote(
        self, epoch: SupportsIndex, ids: Any, logits: Any, gold: Any, ignored: int | None = None, columns: Mapping[str, Any] | None = None
    ) -> None:
        """Logits on an accelerator: see _device.py."""
        block = _device.Block(_epoch(epoch), ids, logits, gold, ignored, columns, self._wide is None)
        self._log_later(block)
        if block.kind != _device.SIGNALS:
            return
        before, self._wide = self._wide or block.classes, self._wide or block.classes
        if before not in (block.classes, -1):
            self._wide = -1  # said
            _warn(self._name, f"epoch {epoch}: the scores have {block.classes} classes, and had {before} before. {_OTHER_CLASSES}")

    def _log_later(self, block: _device.Waiting) -> None:
        """The blocks on their way from an accelerator."""
        self._handle.is_offline()  # raises Closed, Forked
        self._copies.put(block)

    def end_epoch(self, epoch: SupportsIndex) -> None:
        """Say that everything of `epoch` has been logged. Waits only for blocks on their way from an accelerator."""
        self._copies.drain()
        self._handle.end_epoch(epoch)

    def flush(self, timeout: float | None = 60.0) -> bool:
        """Wait until everything logged so far is on the collector's disk. False: not all of it is, because `timeout` seconds
        (None: no limit) were not enough, or because the run has ended (Closed if it is strict)."""
        self._copies.drain()
        return _in_pieces(self._handle.flush, _deadline(timeout))

    def close(self, timeout: float | None = 60.0) -> bool:
        """Flush and end the run; whether everything logged is on the collector's disk.

        False after `timeout` seconds (None: no limit): observations that were not acknowledged are then in a spool file. Also
        False if the run had ended before. A line on stderr says how many observations are missing, why, and how a spool file is
        imported;
        TimedOut or Closed says it if the run is strict. A second call does nothing, and returns the same."""
        if not self._finalizer.alive:
            return self._is_whole
        try:
            self._copies.drain()
        finally:
            self._is_whole = self._end(_deadline(timeout))
        if self._closing_line is not None:
            print(self._closing_line(self), file=sys.stderr, flush=True)
        else:
            _closing.say_to_people(self)
        return self._is_whole

    def _end(self, deadline: float) -> bool:
        try:
            return _close(self._handle, deadline, self._finalizer.detach)
        except Error as error:
            if self._strict:
                raise
            _warn(self._name, error)
            return False

    def stats(self) -> dict[str, int]:
        """Counters, of observations unless the name says otherwise: logged, acknowledged, refused, replaced, dropped, spooled,
        bytes_sent, reconnects, waits. After close(): as they were at the end. The collector counts `replaced` when it stores an epoch as
        columns, perhaps after close(): `portolan check` counts all that is acknowledged."""
        self._copies.drain()
        return self._handle.stats()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
            return
        try:
            self.close()
        except Error as error:  # the caller must see the exception of the block
            _warn(self._name, error)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a portolan.Run cannot be copied or sent to another process: open one there; those with the same group share a run")

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        where = f"endpoint={self._endpoint!r}" if self._store is None else f"store={self._store!r}"
        return f"<portolan.Run {self._name!r} {state}, {where}>"


def _close_predecessors(run: Run, name: str, store: bytes, endpoint: str) -> None:
    """The collector cannot know that the Run of a notebook's cell that runs again is the same job, and would wait for its end."""
    for other in list(_open_runs):
        if not other.is_open or other.name != name or (run._group and other._group == run._group and other._rank != run._rank):
            continue
        if other._endpoint == endpoint or (other._store and store and os.path.realpath(os.fsencode(other._store)) == os.path.realpath(store)):
            _warn(name, "it was still open in this process: it is closed, and goes on as the Run that resumes it")
            try:
                other.close()
            except Error as error:
                _warn(name, error)


def _open(run: Run, policy: str, name: str, *options: Any) -> str:
    """The name under which it is open."""
    handle = run._handle
    if policy == "resume":
        _close_predecessors(run, name, *options[:2])
    if policy == _options.FOLD:
        return _first_free(handle, (f"{name}/fold{number}" for number in itertools.count()), options)
    if handle.open(name, *options):
        return name
    if policy != "number":
        raise Refused(
            f"run '{name}' exists: give another name, or say what is to become of it: if_exists=\"number\" records this one as {name}/2, "
            '"overwrite" removes it first, "resume" goes on with it'
        )
    numbered = _first_free(handle, (f"{name}/{number}" for number in itertools.count(2)), options)
    _warn(numbered, f"run '{name}' exists: this one is recorded as '{numbered}'")
    return numbered


def _first_free(handle: Handle, names: Iterable[str], options: tuple[Any, ...]) -> str:
    """The collector gives each name once, even to scripts that ask at the same time."""
    return next(name for name in names if handle.open(name, *options))


def _warn(name: str, error: BaseException | str) -> None:
    text = str(error)
    print(f"portolan: {text}" if text.startswith(f"run {name}") else f"portolan: run {name}: {text}", file=sys.stderr, flush=True)


def _deliver(
    handle: Any,
    name: str,
    epoch: int,
    kind: int,
    ids: Any,
    scores: Any,
    gold: Any,
    correct: Any = None,
    columns: Any = None,
    are_probs: bool = False,
) -> None:
    """Logs the blocks that have arrived from an accelerator."""
    if are_probs:
        _warn(name, f"epoch {epoch}: {_ARE_PROBS}")
    ids = _arrays.identifiers(ids)
    own = {name: _arrays.column(values, name) for name, values in _arrays.named(columns).items()}
    what = "loss" if kind == _LOSSES else "logits"
    found = handle.log(epoch, kind, what, ids, _arrays.scores(scores, what), gold, correct, True, own)
    if found is not None:
        _warn_of_ids(name, epoch, ids, gold, *found)


def _warn_of_ids(name: str, epoch: Any, ids: Any, gold: Any, changed: tuple[int, int] | None, returned: int | None) -> None:
    if changed is not None:
        _warn_of_label(name, epoch, ids, gold, *changed)
    if returned is not None:
        _warn(
            name,
            f"epoch {epoch}: id {_arrays.listed(ids)[returned]!r} was logged in this epoch before, and only its latest observation is kept. "
            "Do several examples share an id, or does a batch begin with a feature in its place (portolan.torch.WithIds gives ids), or "
            "does a sampler draw examples more than once? (said once; portolan check counts them)",
        )


def _warn_of_label(name: str, epoch: Any, ids: Any, gold: Any, row: int, before: int) -> None:
    one, label = (values[row] for values in (_arrays.listed(ids), _arrays.listed(gold)))
    _warn(
        name,
        f"epoch {epoch}: id {one!r} has the gold label {label}, and had {before} before. An id must be the same example's in every epoch: "
        "is it a position in a shuffled order? (said once; portolan check counts them)",
    )


def _epoch(epoch: SupportsIndex) -> int:
    if not hasattr(epoch, "__index__"):
        raise TypeError(f"epoch must be an integer, not {epoch!r}")
    return epoch.__index__()


def _deadline(timeout: float | None) -> float:
    return math.inf if timeout is None else time.monotonic() + _options.seconds("timeout", timeout)


def _milliseconds_left(deadline: float, limit: float = math.inf) -> int:
    return _options.milliseconds("timeout", max(0.0, min(deadline - time.monotonic(), limit)))


def _in_pieces(wait: Callable[[int], bool | None], deadline: float) -> bool:
    """Waits in pieces, so that signals take effect; True if it was completed."""
    while (done := wait(_milliseconds_left(deadline, _PIECE))) is False:
        if time.monotonic() >= deadline:
            return False
    return done is True


def _close(handle: Any, deadline: float, ending: Callable[[], Any] = lambda: None) -> bool:
    """Waits in pieces first: if Ctrl-C ends the wait, the run is still open. `ending` is called when the run closes."""
    whole = False
    try:
        _in_pieces(handle.flush, deadline)
        whole = _in_pieces(handle.finish, deadline)
    except Error:
        pass  # the following call raises it again
    ending()
    handle.close(0)
    return whole


def _close_forgotten(handle: Any, name: str, copies: _device.Copies) -> None:
    try:
        try:
            copies.drain()
        except Exception as error:  # errors of a lost device, or of labels: the run is closed nevertheless
            _warn(name, error)
        try:
            _close(handle, _deadline(_CLOSE_AT_EXIT))
        except KeyboardInterrupt:
            _warn(name, "interrupted before everything was acknowledged")
            handle.close(0)
    except Forked:
        pass
    except Error as error:
        _warn(name, error)


def _close_with_worker(run: Run, finalizer: Callable[[], Any]) -> None:
    """Processes of multiprocessing skip the interpreter's exit functions, but have their own."""
    module = sys.modules.get("multiprocessing")
    if module is not None and module.parent_process() is not None:
        sys.modules["multiprocessing.util"].Finalize(run, finalizer, exitpriority=0)


def _abandon_all() -> None:
    for run in list(_open_runs):
        run._copies.abandon()
        run._handle.abandon()
    _open_runs.clear()  # they are the parent's: this process neither closes nor abandons them again


os.register_at_fork(after_in_child=_abandon_all)
