"""Portolan for language models: an observation for each example, of all its target tokens.

    import portolan.language
    import portolan.torch

    loader = DataLoader(train, batch_size=8, collate_fn=portolan.language.keep_ids(collator))
    run = portolan.torch.open_run("sft/seed1", model, store="portolan-store")
    for epoch in range(3):
        ...train...
        portolan.language.observe(run, model, loader, epoch)
    run.close()

The observation of an example has gold_prob = exp(mean ln p) of its target tokens, the tokens whose label is not -100; correct: whether
all of them (or a share) are the most likely ones, given the tokens before; and the columns tokens, token_accuracy and token_entropy.
client/python/docs/language.md gives the reasons and the details. For the Trainer and TRL's SFTTrainer there is portolan.transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from portolan._recording import _ids, _tokens
from portolan._recording._run import Run
from portolan.torch import Forward, call, logits_of, pass_over, split_batch, to_device

__all__ = ["keep_ids", "log", "observe"]


def log(
    run: Run,
    epoch: int,
    ids: Any,
    logits: Any,
    labels: Any,
    *,
    shift: bool = True,
    position_ids: Any = None,
    seq_idx: Any = None,
    correct_share: float = 1.0,
    tokens: bool = False,
) -> None:
    """Log the examples of one batch.

    Args:
        ids: an id for each example, integers >= 0 or strings.
        logits: (n, length, classes), a tensor on any device, of any type of float.
        labels: (n, length) the target tokens; -100: none (the prompt, padding).
        shift: True: the scores at a token predict the next one, as in causal models. False: they predict the token itself (sequence to
            sequence).
        position_ids: (n, length), for batches that pack several examples into a row: positions begin again at each example. Then there
            are more ids than rows, in the order of the examples, row by row.
        seq_idx: (n, length), for the same purpose: a number that changes from example to example, and is below 0 in padding.
        correct_share: the share of its target tokens that must be the most likely ones for an example to count as correct. 1.0: all.
        tokens: log the tokens instead, each with all signals, as examples "ID/0", "ID/1", ..., which count those with a label.

    If several places of one batch have the same id, they are parts of one example, and their tokens are added up. Of parts in several
    batches only the latest is kept, as for every id. An example without a target token is left out, and a line on stderr says so once.

    Example: ``portolan.language.log(run, epoch, batch["id"], model(batch["input_ids"]).logits, batch["labels"])``
    """
    if run.is_disabled:
        return
    _tokens.log(run, epoch, ids, logits, labels, position_ids, seq_idx, _tokens.How(shift, correct_share, tokens))


def observe(
    run: Run,
    model: Any,
    loader: Iterable[Any],
    epoch: int,
    *,
    forward: Forward | None = None,
    ids: str = "id",
    labels: str = "labels",
    shift: bool = True,
    packed: bool | None = None,
    correct_share: float = 1.0,
    tokens: bool = False,
    end_epoch: bool = True,
) -> int:
    """Records how `model` sees every example of `loader`, in a pass of its own, as portolan.torch.observe does: in eval mode, without gradients.
    Afterwards everything is as it was.

    Args:
        run: opened with mode="epoch-end", the default.
        model: called as ``model(**inputs)``, without ids and labels, so that it computes no loss.
        loader: yields dicts with ids and labels among the inputs, as one with ``collate_fn=keep_ids(collator)`` does; or tuples
            ``(ids, x, ..., labels)``.
        forward: ``forward(model, batch) -> (ids, logits, labels)`` instead, for any other batch or model.
        ids, labels: names of these entries.
        packed: None: position_ids or seq_idx, where a batch has them, tell which tokens belong to one example. False: a row is an example.
        shift, correct_share, tokens: as for log().
        end_epoch: call run.end_epoch(epoch) at the end.

    Returns:
        How many examples were seen, by this process.
    """
    if run.is_disabled:
        return 0
    how = _tokens.How(shift, correct_share, tokens, packed)

    def see(module: Any, batch: Any, device: Any) -> int:
        places = {name: batch[name] for name in ("position_ids", "seq_idx") if isinstance(batch, Mapping) and name in batch}
        if forward is not None:
            names, logits, gold = forward(module, to_device(batch, device))
        else:
            names, inputs, gold = split_batch(batch, ids, labels)
            logits = logits_of(call(module, to_device(inputs, device)))
        _tokens.log(run, epoch, names, logits, gold, **places, how=how)
        return len(names)

    return pass_over(run, model, loader, epoch, see, "portolan.language.observe", end_epoch)


def keep_ids(collator: Callable[[list[Any]], Any], ids: str = "id") -> Callable[[list[Any]], dict[str, Any]]:
    """A collator that takes the ids out of the examples, has the rest collated by `collator`, and puts them into the batch: a list, an id for
    each example, also where `collator` packs them into one row.

    Example: ``DataLoader(train, batch_size=8, collate_fn=keep_ids(DataCollatorWithFlattening()))``
    """
    return _KeepsIds(collator, ids)


class _KeepsIds:
    def __init__(self, collator: Callable[[list[Any]], Any], ids: str) -> None:
        self.collate, self.ids = _ids.PopIds(collator, ids), ids

    def __call__(self, examples: list[Any]) -> dict[str, Any]:
        ids, batch = self.collate(examples)
        return {**batch, self.ids: ids}
