"""Language models: an example's observation is derived from its target tokens, the tokens with a label.

Each target token gives ln p(token), whether it is the one with the largest probability, and the entropy of the prediction. Their sums
over an example become gold_prob = exp(mean ln p), correct, and three columns: tokens, token_accuracy, token_entropy. The scores are
processed in slices, so no second table of all tokens and the whole vocabulary is made.

If the labels are in this machine's memory, only the scores of target tokens are read. If they are on an accelerator, finding the
targets would have to wait for it, so all tokens are processed, and those without a label are added to a row that is not used. The sums
arrive in one small copy, which a later call logs (see _device.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from portolan._recording import _device, _hooks, _shapes
from portolan._recording._run import Run

_GOLD_PROBS = 3
_CHUNK, _CHUNK_HERE = 1 << 24, 1 << 20  # scores processed together, on an accelerator and in this machine's memory
_LEAST = -1e4  # the exponential of this is 0, and 0 times this is 0; 0 times -inf would be NaN
_TOLERANCE = 1e-9  # in comparing shares of tokens


@dataclass(frozen=True)
class How:
    """How a language model's batches are recorded.

    Args:
        shift: the scores at a token predict the next one, as in causal models.
        correct_share: the share of its target tokens that must be predicted for an example to count as correct.
        tokens: record an observation for each target token instead.
        packed: None: position_ids or seq_idx, if the batch has them, tell which tokens belong to one example; False: a row is an example.
    """

    shift: bool = True
    correct_share: float = 1.0
    tokens: bool = False
    packed: bool | None = None

    def __post_init__(self) -> None:
        if not 0 < self.correct_share <= 1:
            raise ValueError(f"correct_share must be a share above 0, and at most 1, not {self.correct_share!r}")


class _Targets(NamedTuple):
    """For each token that is processed: the place of its scores, its label, its example. `usable` is None if all are targets."""

    row: Any
    column: Any
    gold: Any
    example: Any
    usable: Any
    examples: Any  # the number of examples, as a tensor without dimensions
    packed: bool


def log(run: Run, epoch: int, ids: Any, logits: Any, labels: Any, position_ids: Any = None, seq_idx: Any = None, how: How | None = None) -> None:
    """A batch: logits (n, t, classes), labels (n, t) with -100 where there is none, an id for each example."""
    how = how or How()
    logits, labels = _checked(logits, labels)
    with torch.no_grad():
        targets = _targets(labels, position_ids, seq_idx, how, len(ids))
        if how.tokens:
            _log_tokens(run, epoch, ids, logits.detach(), targets)
        else:
            run._log_later(Examples(run, epoch, ids, _Scores(logits.detach()), targets, how.correct_share))


def log_derived(
    run: Run, epoch: int, ids: Any, derived: Sequence[Any], labels: Any, position_ids: Any = None, seq_idx: Any = None, how: How | None = None
) -> None:
    """The same for a model that returns (ln p(label), is it predicted, entropy) of each token but the first of a row: (n, t - 1) each."""
    how = how or How()
    if how.tokens:
        raise ValueError("tokens=True needs the scores, and this model tells what it makes of them alone: PortolanCallback asks for the scores")
    with torch.no_grad():
        targets = _targets(labels.detach(), position_ids, seq_idx, how, len(ids))
        run._log_later(Examples(run, epoch, ids, _Derived(*(values.detach() for values in derived)), targets, how.correct_share))


class _Scores:
    """Derives the signals of tokens from scores (n, t, classes)."""

    def __init__(self, logits: Any) -> None:
        self.logits, self.classes, self.device = logits, logits.shape[2], logits.device
        self.step = max(1, (_CHUNK_HERE if self.device.type == "cpu" else _CHUNK) // self.classes)

    def at(self, row: Any, column: Any, gold: Any) -> tuple[Any, Any, Any]:
        return token_signals(self.logits[row, column], gold)


class _Derived:
    """Takes the signals of tokens from the model's own tables, (n, t - 1)."""

    classes, step = 1 << 31, 1 << 24

    def __init__(self, log_prob: Any, hit: Any, entropy: Any) -> None:
        self.tables, self.device = (log_prob, hit, entropy), log_prob.device

    def at(self, row: Any, column: Any, gold: Any) -> tuple[Any, Any, Any]:
        log_prob, hit, entropy = (table[row, column] for table in self.tables)
        return log_prob, hit, entropy


class Examples:
    """The examples of one batch, on their way from an accelerator or here already."""

    def __init__(self, run: Run, epoch: int, ids: Any, source: _Scores | _Derived, targets: _Targets, correct_share: float) -> None:
        self._run, self._epoch, self._share, self._classes = run, epoch, correct_share, source.classes
        self._count, self._packed = len(ids), targets.packed
        copies = [_device.start_copy(_sums(source, targets, self._count))]
        self._ids = ids
        if _device.is_remote(ids):
            copies.append(_device.start_copy(ids.detach().reshape(-1)))
            self._ids = copies[1][0]
        self._table = copies[0][0]
        self._events = [event for _, event in copies if event is not None]

    def has_arrived(self) -> bool:
        return all(event.query() for event in self._events)

    def deliver(self, deliver: _device.Deliver) -> None:
        for event in self._events:
            event.synchronize()
        found, wrong = (int(value) for value in self._table[-1, :2])
        _check_count(found, self._count)
        if wrong > 0:
            raise ValueError(f"labels: {wrong} of them are not within 0 and {self._classes - 1} (classes), nor -100, which stands for no label")
        ids, table = _shapes.plain_ids(self._ids), self._table[:-1]
        if self._packed:
            ids, table = _united(ids, table)
        keep = table[:, 2] > 0
        if not bool(keep.all()):
            ids, table = [one for one, kept in zip(ids, keep.tolist()) if kept], table[keep]
            _hooks.warn_once(self._run, "no-targets", "examples without a target token (all their labels are -100) have no observation (said once)")
        if not ids:
            return
        log_prob, accuracy, entropy = (table[:, column] / table[:, 2] for column in (0, 1, 3))
        correct = accuracy >= self._share - _TOLERANCE
        columns = {"tokens": table[:, 2].contiguous(), "token_accuracy": accuracy, "token_entropy": entropy}
        deliver(self._epoch, _GOLD_PROBS, ids, log_prob.exp(), None, correct.numpy(), {name: values.numpy() for name, values in columns.items()})


def token_signals(logits: Any, gold: Any) -> tuple[Any, Any, Any]:
    """(ln p(gold), is it predicted, entropy) of each row of `logits` (n, classes), in nats; NaN in a row that cannot be used. float32, the maximum
    subtracted first; the first of equal scores counts as predicted."""
    if logits.dtype != torch.float64:
        logits = logits.float()
    gold = gold.unsqueeze(1)
    top, predicted = logits.max(1, keepdim=True)
    gold_logit = logits.gather(1, gold)
    shifted = (logits - top).clamp_(min=_LEAST)
    e = torch.exp(shifted).scatter_(1, predicted, 0)
    rest = e.sum(1, keepdim=True)
    total = torch.log1p(rest)
    entropy = total - e.mul_(shifted).sum(1, keepdim=True) / (1 + rest)
    usable = (top < torch.inf) & (gold_logit > -torch.inf)  # both are false for NaN, which max() returns
    log_prob = torch.where(usable, gold_logit - top - total, torch.nan)
    return log_prob.squeeze(1), (predicted == gold).squeeze(1), entropy.squeeze(1)


def _checked(logits: Any, labels: Any) -> tuple[Any, Any]:
    logits, labels = torch.as_tensor(logits), torch.as_tensor(labels)
    if logits.ndim != 3 or labels.ndim != 2 or logits.shape[:2] != labels.shape:
        raise ValueError(
            f"logits have the shape {tuple(logits.shape)} and labels {tuple(labels.shape)}: of a language model (n, length, classes) and "
            "(n, length) are expected, a score at every token"
        )
    if labels.is_floating_point() or labels.is_complex():
        raise TypeError(f"labels must be integers, not {labels.dtype}")
    return logits, labels.detach()


def _targets(labels: Any, position_ids: Any, seq_idx: Any, how: How, count: int) -> _Targets:
    starts = None if how.packed is False else _starts(labels, position_ids, seq_idx)
    return _find(labels, starts, how.shift, count)


def _starts(labels: Any, position_ids: Any, seq_idx: Any) -> Any:
    """(n, t): is this token the first of a packed example? None: nothing is packed."""
    told = seq_idx if seq_idx is not None else position_ids
    if told is None or getattr(told, "ndim", 2) > 2:  # models that see images have positions of several kinds
        return None
    told = torch.as_tensor(told).to(labels.device)
    told = told.reshape(-1, told.shape[-1]).expand(labels.shape[0], -1)
    if told.shape != labels.shape:
        raise ValueError(f"position_ids and seq_idx must have the shape of labels, {tuple(labels.shape)}, not {tuple(told.shape)}")
    starts = torch.ones_like(labels, dtype=torch.bool)
    starts[:, 1:] = told[:, 1:] != told[:, :-1] + (0 if seq_idx is not None else 1)
    return starts | (told < 0)  # padding is below 0


def _find(labels: Any, starts: Any, shift: bool, count: int) -> _Targets:
    """The places of the targets, each in one of `count` examples. The first token of an example is no target, as no token of the example
    stands before it."""
    rows, length = labels.shape
    packed = starts is not None
    if starts is None:
        starts = torch.zeros_like(labels, dtype=torch.bool)
        starts[:, 0] = True
        example = torch.arange(rows, device=labels.device).unsqueeze(1).expand(rows, length)
        examples = torch.tensor(rows)
    else:
        ends = torch.ones_like(starts)
        ends[:, :-1] = starts[:, 1:]
        whole = starts & ~ends  # a single token is padding, or an example without a target
        example = (whole.reshape(-1).cumsum(0) - 1).reshape(rows, length)
        examples = whole.sum()
    usable = labels != _shapes.IGNORED
    if shift:
        usable = usable & ~starts
    if _device.is_remote(labels):
        at = torch.arange(rows * length, device=labels.device)
        usable, example = usable.reshape(-1), example.reshape(-1)
        example = torch.where(usable & (example >= 0) & (example < count), example, count)
        return _Targets(at // length, (at % length - int(shift)).clamp(min=0), labels.reshape(-1), example, usable, examples, packed)
    _check_count(int(examples), count)
    at = usable.reshape(-1).nonzero().squeeze(1)
    return _Targets(at // length, at % length - int(shift), labels.reshape(-1)[at], example.reshape(-1)[at], None, examples, packed)


def _check_count(found: int, given: int) -> None:
    if found != given:
        raise ValueError(
            f"the batch has {found} {'example' if found == 1 else 'examples'}, and there are {given} ids. Packed examples are told apart by position_ids "
            "that begin again, or by seq_idx, and need an id each; packed=False takes a row for an example"
        )


def _sums(source: _Scores | _Derived, targets: _Targets, count: int) -> Any:
    """(count + 1, 4): for each example the sum of ln p, the number of predicted tokens, the number of tokens, and the sum of entropy. The
    last row has the number of examples found in the batch, and the number of labels that are no class."""
    classes, device = source.classes, source.device
    wide = torch.float32 if device.type == "mps" else torch.float64
    gold = targets.gold.long()
    wrong = (gold < 0) | (gold >= classes)
    if targets.usable is not None:
        wrong = wrong & targets.usable
    row, column, gold, example = (values.to(device, torch.int64) for values in (targets.row, targets.column, gold.clamp(0, classes - 1), targets.example))
    table = torch.zeros(count + 1, 4, dtype=wide, device=device)
    for first in range(0, len(row), source.step):
        part = slice(first, first + source.step)
        log_prob, hit, entropy = source.at(row[part], column[part], gold[part])
        values = torch.stack((log_prob.to(wide), hit.to(wide), torch.ones_like(hit, dtype=wide), entropy.to(wide)), 1)
        table.index_add_(0, example[part], values)
    table[-1] = 0
    table[-1, 0], table[-1, 1] = targets.examples.to(device), wrong.sum().to(device)
    return table


def _united(ids: list[Any], table: Any) -> tuple[list[Any], Any]:
    """Adds up the parts of an example that lie in several places of a batch."""
    place: dict[Any, int] = {}
    at = [place.setdefault(one, len(place)) for one in ids]
    if len(place) == len(ids):
        return ids, table
    return list(place), torch.zeros(len(place), 4, dtype=table.dtype).index_add_(0, torch.tensor(at), table)


def _log_tokens(run: Run, epoch: int, ids: Any, logits: Any, targets: _Targets) -> None:
    """Logs an observation for each target token, "ID/0", "ID/1", ..., with all signals."""
    if targets.usable is not None:
        at = targets.usable.nonzero().squeeze(1)
        targets = targets._replace(**{name: getattr(targets, name)[at] for name in ("row", "column", "gold", "example")}, usable=None)
        _check_count(int(targets.examples), len(ids))
    names = _token_ids(_shapes.plain_ids(ids), targets.example.tolist())
    step = max(1, _CHUNK // logits.shape[2])
    for first in range(0, len(names), step):
        part = slice(first, first + step)
        row, column = (values[part].to(logits.device) for values in (targets.row, targets.column))
        run.log_logits(epoch, names[part], logits[row, column], targets.gold[part])


def _token_ids(ids: Sequence[Any], examples: Sequence[int]) -> list[str]:
    seen: dict[Any, int] = {}
    names = []
    for example in examples:
        number = seen.setdefault(ids[example], 0)
        names.append(f"{ids[example]}/{number}")
        seen[ids[example]] = number + 1
    return names
