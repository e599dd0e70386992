"""Tells regressions from classifications, where a hook sees no more than a batch, and gives their batches one row for each example.

Arrays are recognised by their methods (NumPy arrays and torch tensors alike), so nothing is imported here.
"""

from __future__ import annotations

from typing import Any

from portolan._recording import _shapes
from portolan._recording._run import Run

TASKS = ("classification", "regression")


def check_task(hook: str, task: Any, scores: str | None = None) -> None:
    """ValueError if `task` is none of TASKS (None: the hook is to find it out), or if `scores`, which a classifier returns, says otherwise."""
    if task is not None and task not in TASKS:
        raise ValueError(f"{hook}: task must be 'classification' or 'regression', not {task!r}")
    if task == "regression" and scores is not None:
        raise ValueError(f"{hook}: scores={scores!r} is what a classifier returns, and task='regression': leave one of the two out")


def is_one(run: Run, scores: Any, gold: Any) -> bool:
    """Is this a batch of a regression? The first batch of a run with one score and one floating-point target for each example decides for all."""
    known = run.__dict__.get("_is_regression")
    if known is None:
        known = _tell(scores, gold)
        if known is not None:
            run.__dict__["_is_regression"] = known
    return bool(known)


def _tell(scores: Any, gold: Any) -> bool | None:
    """None: nothing here says it, so it is none. ValueError: it may be either. A label of one logit is 0 or 1, whatever its type (or -100: there is
    none); beyond -1 and 1 there are only targets. What lies between may be a target, but also a smoothed label, or one of -1 and 1."""
    shape, gold_shape = _shapes.shape_of(scores), _shapes.shape_of(gold)
    if shape is None or gold_shape is None or "float" not in str(getattr(gold, "dtype", "")):
        return None
    if len(shape) > 2 or shape[1:] not in ((), (1,)) or gold_shape[1:] not in ((), (1,)) or shape[:1] != gold_shape[:1]:
        return None
    labels = gold != _shapes.IGNORED
    if bool((labels & ~(abs(gold) <= 1)).any()):
        return True
    if not bool((labels & (gold != 0) & (gold != 1)).any()):
        return False
    raise ValueError(
        "gold has values that are no whole numbers from 0 on, and none beyond -1 and 1, so it may hold the targets of a regression, or soft labels. Say "
        "task=\"regression\"; soft labels have no gold probability: pass the class numbers (for binary labels smoothed by the loss, those before smoothing)"
    )


def as_numbers(ids: Any, predicted: Any, target: Any) -> tuple[Any, Any, Any]:
    """(ids, predicted, target), a number for each example."""
    return ids, _numbers("predicted", predicted, len(ids)), _numbers("target", target, len(ids))


def _numbers(name: str, values: Any, count: int) -> Any:
    shape = _shapes.shape_of(values)
    if shape is None:
        return values
    if shape not in ((count,), (count, 1)) and (shape, count) != ((), 1):
        raise ValueError(
            f"{name} has the shape {shape}, and there are {count} ids: of a regression one number for each example is expected, (n,) or (n, 1). A "
            "regression of several numbers has a loss for each example, which run.log_loss() records; of torch and transformers also loss="
        )
    return values.reshape(-1)


def as_losses(ids: Any, losses: Any, target: Any = None) -> tuple[Any, Any]:
    """(ids, losses), one for each example: several in a row, as of pixels, are averaged. `target`: what the losses were computed with. ValueError for
    losses of all pairs of examples, which (n, 1) beside (n,) gives."""
    shape = _shapes.shape_of(losses)
    if shape is None or shape == (len(ids),):
        return ids, losses
    if not shape or shape[0] != len(ids):
        what = f"has the shape {shape}" if shape else "is one number"
        raise ValueError(f"the loss {what}, and there are {len(ids)} ids: a loss for each example is expected, as reduction='none' gives it")
    if shape[0] > 1 and shape == (shape[0],) * 2 and _shapes.shape_of(target) in (shape[:1], (shape[0], 1)):
        raise ValueError(
            f"the loss has the shape {shape}, a number for each pair of examples: an output (n, 1) beside targets (n,)? Give both one shape, as in "
            "loss(output.squeeze(-1), y)"
        )
    return ids, losses.reshape(shape[0], -1).mean(1)
