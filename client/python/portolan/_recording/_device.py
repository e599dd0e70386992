"""Logits and losses on an accelerator: copied in one small block, for which no call waits.

The device turns rows of many classes into their six signals (the formulas of client/signals/signals.c, float32, the maximum
subtracted first). Rows that are no larger than their signals are copied unchanged, and so are losses, and the predictions and targets of
regressions. Gold labels, ids and the caller's own columns on the device are in the same block. The copy goes to pinned memory, behind the work
that is queued already. A later call logs it once it has arrived, at the latest at the end of the epoch, so errors in values on the device are
raised by a later call too.

Only called with torch tensors, so torch is imported already.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from portolan._recording import _arrays, _shapes

LOGITS, SIGNALS, LOSSES = 1, 4, 5
NARROW = 6  # classes; a row of logits is then no larger than its signals
_CHUNK = 1 << 24  # scores processed together: deriving takes a few times their memory, for a moment
_MOST_WAITING = 4  # the most copies under way; beyond, a call waits for the oldest
_WITH_STREAMS = ("cuda", "xpu")  # ROCm is torch.cuda too
_LARGEST = 3.4028234663852886e38
_SUM_TOLERANCE = 0.01  # as in client/signals/signals.c

Deliver = Callable[..., None]  # epoch, kind, ids, scores, gold; and correct and columns, if the kind has them


class Waiting(Protocol):
    """Observations on their way from a device."""

    def has_arrived(self) -> bool: ...

    def deliver(self, deliver: Deliver) -> None:
        """Logs them once they have arrived."""


def is_remote(values: Any) -> bool:
    """A torch tensor on an accelerator with streams and events. Tensors on others (mps, xla) are copied whole, which always works."""
    return getattr(getattr(values, "device", None), "type", None) in _WITH_STREAMS


class Copies:
    """Blocks of one run on their way from a device, in the order in which they were logged: `waiting`."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self.waiting: deque[Waiting] = deque()
        self._lock = threading.Lock()

    def put(self, block: Waiting) -> None:
        """Begins to log a batch."""
        with self._lock:
            self.waiting.append(block)
            while self.waiting and (len(self.waiting) > _MOST_WAITING or self.waiting[0].has_arrived()):
                self.waiting.popleft().deliver(self._deliver)

    def drain(self) -> None:
        """Waits for the blocks under way, and logs them."""
        if not self.waiting:
            return
        with self._lock:
            while self.waiting:
                self.waiting.popleft().deliver(self._deliver)

    def abandon(self) -> None:
        """In a forked child: the blocks under way belong to the parent, and so does the lock."""
        self.waiting, self._lock = deque(), threading.Lock()


class _Block:
    """One batch. What lies on the device becomes columns of one table of 32-bit words, and is copied; the rest stays unchanged. `holders`: the
    values by their names, each with a row for each example; those `there` are on the device in any case."""

    def __init__(self, rows: int, holders: Sequence[dict[str, Any]], there: Sequence[Any] = ()) -> None:
        torch = sys.modules["torch"]
        self._layout, table = [], []
        for holder in holders:
            for name, values in holder.items():
                if is_remote(values) or any(values is one for one in there):
                    words = values.reshape(rows, -1 if rows else 1).contiguous().resolve_neg().view(torch.int32)
                    self._layout.append((holder, name, values.dtype, words.shape[1]))
                    table.append(words)
        self._table, self._event = start_copy(torch.cat(table, 1))

    def has_arrived(self) -> bool:
        return self._event is None or self._event.query()

    def _arrive(self) -> None:
        """Waits for the copy, and puts each column into its place."""
        if self._event is not None:
            self._event.synchronize()
        begin = 0
        for holder, name, dtype, width in self._layout:
            part = self._table[:, begin : begin + width]
            values = part.clone(memory_format=sys.modules["torch"].contiguous_format).view(dtype)  # the part may begin at an odd word
            holder[name] = values.reshape(-1) if values.shape[1] == 1 else values
            begin += width


class Block(_Block):
    """One batch of logits. Rows with the label `ignored` are left out, if the batch has no columns of the caller's own. `is_first`: look
    whether the logits are probabilities, where the library sees their signals only."""

    def __init__(
        self,
        epoch: int,
        ids: Any,
        logits: Any,
        gold: Any,
        ignored: int | None,
        columns: Mapping[str, Any] | None = None,
        is_first: bool = False,
    ) -> None:
        torch = sys.modules["torch"]
        self.epoch, self.ignored = epoch, ignored
        with torch.no_grad():
            logits = logits.detach()
            if logits.ndim not in (1, 2):
                raise ValueError(f"logits must have the shape (n, classes), (n, 1) or (n,), not {tuple(logits.shape)}")
            logits = logits.reshape(len(logits), -1)
            rows, self.classes = logits.shape
            _check_rows("ids", ids, "logits", rows)
            _check_rows("gold", gold, "logits", rows)
            if logits.dtype != torch.float64:
                logits = logits.float()
            self.kind = LOGITS if self.classes <= NARROW else SIGNALS
            scores = logits if self.kind == LOGITS else signals(logits, _labels(gold, logits.device))
            self._own = _own_columns(columns, "logits", rows)
            self._batch = {"scores": scores, "gold": _unshared(gold), "ids": _unshared(ids)}
            self._seen = {"like_probs": _like_probs(logits)} if is_first and self.kind == SIGNALS and rows > 1 else {}
            super().__init__(rows, (self._batch, self._own, self._seen), (scores, *self._seen.values()))

    def deliver(self, deliver: Deliver) -> None:
        self._arrive()
        ids, scores, gold = (self._batch[name] for name in ("ids", "scores", "gold"))
        if self.ignored is not None:
            ids, scores, gold = _shapes.without_ignored(ids, scores, gold)
        gold = _arrays.integers(gold, "gold")
        if self.kind == SIGNALS:  # the library sees the number of classes in logits
            _check_labels(_arrays.listed(gold), self.classes)
        deliver(self.epoch, self.kind, ids, scores, gold, None, self._own, bool(self._seen) and bool(self._seen["like_probs"].all()))


class Losses(_Block):
    """One batch of losses (n,); or of a regression, whose losses are the squared errors once predictions and targets have arrived.

    `values`: {"loss": ...}, or {"predicted": ..., "target": ...}, in this order; at least one of them is on the device."""

    def __init__(self, epoch: int, ids: Any, values: Mapping[str, Any], columns: Mapping[str, Any] | None = None) -> None:
        torch = sys.modules["torch"]
        self.epoch = epoch
        first = next(iter(values))
        rows = len(values[first]) if _shapes.shape_of(values[first]) != () else 0
        with torch.no_grad():
            for name, given in values.items():
                shape = _shapes.shape_of(given)
                if shape is not None and len(shape) != 1 and (name == "loss" or len(shape) != 2 or shape[1] != 1):
                    raise ValueError(f"{name} must have the shape (n,){'' if name == 'loss' else ' or (n, 1)'}, not {shape}")
                _check_rows(name, given, first, rows)
            _check_rows("ids", ids, first, rows)
            self._own = _own_columns(columns, first, rows)
            self._ids = {"ids": _unshared(ids)}
            self._values = {name: _unshared(given) for name, given in values.items()}
            there = [self._values[name] for name, given in values.items() if is_remote(given)]
            super().__init__(rows, (self._values, self._ids, self._own), there)

    def deliver(self, deliver: Deliver) -> None:
        self._arrive()
        losses, own = self._values.get("loss"), self._own
        if losses is None:
            predicted, target, losses = _arrays.squared_errors(self._values["predicted"], self._values["target"])
            own = {"prediction": predicted, "target": target, **own}
        deliver(self.epoch, LOSSES, self._ids["ids"], losses, None, None, own)


def _own_columns(columns: Mapping[str, Any] | None, beside: str, rows: int) -> dict[str, Any]:
    """The caller's own columns, each of as many rows as `beside`."""
    columns = _arrays.named(columns)
    for name, values in columns.items():
        _check_rows(name, values, beside, rows)
    return {name: _unshared(values) for name, values in columns.items()}


def _like_probs(logits: Any) -> Any:
    """(n,) 1.0 for each row that log_probs() would take, else 0.0."""
    return ((logits >= 0) & (logits <= 1)).all(1).logical_and((logits.sum(1) - 1).abs() <= _SUM_TOLERANCE).float()


def signals(logits: Any, gold: Any) -> Any:
    """(n, 6): p(gold), margin, sum of p squared over the other classes, entropy, largest p, predicted class; p(gold) is NaN in a row that
    cannot be used. `gold` (n,) is on the same device. A label out of range gives meaningless numbers, and is refused later."""
    torch = sys.modules["torch"]
    logits = logits.reshape(len(logits), -1)
    if logits.shape[1] == 1:
        logits = torch.cat((torch.zeros_like(logits), logits), 1)
    step = max(1, _CHUNK // logits.shape[1])
    if len(logits) <= step:
        return _signals_of(torch, logits, gold)
    return torch.cat([_signals_of(torch, logits[i : i + step], gold[i : i + step]) for i in range(0, len(logits), step)])


def _signals_of(torch: Any, logits: Any, gold: Any) -> Any:
    classes = logits.shape[1]
    gold = gold.clamp(0, classes - 1).unsqueeze(1)
    top, predicted = logits.max(1, keepdim=True)  # the first of equal ones
    below = (top - logits).float()
    e = torch.exp(-below)
    rest = e.scatter(1, predicted, 0).sum(1, keepdim=True)
    share = 1 / (1 + rest)
    gold_logit = logits.gather(1, gold)
    others = logits.scatter(1, gold, -torch.inf).amax(1, keepdim=True)
    weighted = torch.where(e > 0, e * below, 0).sum(1, keepdim=True)
    usable = (top < torch.inf) & (gold_logit > -torch.inf)  # both are false for NaN, which max() returns
    return torch.cat(
        (
            torch.where(usable, e.gather(1, gold) * share, torch.nan),
            (gold_logit - others).float().clamp(-_LARGEST, _LARGEST),
            e.scatter(1, gold, 0).square().sum(1, keepdim=True) * share.square(),
            torch.log1p(rest) + weighted * share,
            share,
            predicted.float(),
        ),
        1,
    )


def _labels(gold: Any, device: Any) -> Any:
    torch = sys.modules["torch"]
    if not callable(getattr(gold, "detach", None)):
        gold = torch.as_tensor(gold)
    return gold.detach().reshape(-1).to(device, torch.int64)


def _unshared(values: Any) -> Any:
    """Copies data that the caller may change before they are logged. Data on the device get a type whose bits fill whole words."""
    if is_remote(values):
        values = values.detach().reshape(-1)
        if not values.is_floating_point():
            return values.long()
        return values if values.dtype == sys.modules["torch"].float64 else values.float()
    if callable(getattr(values, "detach", None)):
        return values.detach().reshape(-1).clone()
    if isinstance(values, (_shapes.TokenIds, tuple)):
        return values
    if callable(getattr(values, "copy", None)):
        return values.copy()
    return list(values)


def _check_rows(name: str, values: Any, beside: str, rows: int) -> None:
    count = len(values)
    if count != rows:
        raise ValueError(f"{name} has {count} {'entry' if count == 1 else 'entries'}, {beside} {rows} {'row' if rows == 1 else 'rows'}")


def _check_labels(gold: list[int], classes: int) -> None:
    if not gold or 0 <= min(gold) <= max(gold) < classes:
        return
    row = next(row for row, label in enumerate(gold) if not 0 <= label < classes)
    raise ValueError(f"gold: row {row} has {gold[row]}, not within 0 and {classes - 1} (classes)")


def start_copy(block: Any) -> tuple[Any, Any]:
    """(the block in this machine's memory, the event after which it is there, or None)."""
    torch = sys.modules["torch"]
    if not is_remote(block):
        return block.cpu(), None
    backend = getattr(torch, block.device.type)
    try:
        host = torch.empty(block.shape, dtype=block.dtype, pin_memory=True)
    except RuntimeError:  # no more memory may be pinned
        return block.cpu(), None
    host.copy_(block, non_blocking=True)
    event = backend.Event()
    event.record(backend.current_stream(block.device))
    return host, event


def send(values: Any, device: Any) -> Any:
    """Values of this machine's memory on `device`, behind the work that is queued there; the call does not wait for it."""
    try:
        values = values.pin_memory()
    except RuntimeError:  # no more memory may be pinned
        pass
    return values.to(device, non_blocking=True)
