"""Portolan for PyTorch loops.

    import portolan.torch

    loader = DataLoader(portolan.torch.WithIds(train_set), batch_size=256, shuffle=True)
    run = portolan.torch.open_run("snli/seed1", model, store="portolan-store")
    for epoch in range(6):
        for ids, x, y in loader:
            ...train...
        portolan.torch.observe(run, model, loader, epoch)
    run.close()

client/python/docs/torch.md starts from a usual loop; ddp.md is for several processes.
"""

from __future__ import annotations

import contextlib
import copy
import os
import random
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, Subset

from portolan import _portolan
from portolan._recording import _environment, _hooks, _ids, _regression
from portolan._recording._infobatch import InfoBatchSampler
from portolan._recording._run import Run
from portolan._recording._shapes import pad_choices

__all__ = ["InfoBatchSampler", "WithIds", "describe", "evaluating", "observe", "open_run", "pad_choices"]

# (ids, logits, gold) of a batch.
Observation = tuple[Any, Any, Any]
Forward = Callable[[Any, Any], Observation]
See = Callable[[Any, Any, Any], int]

_OBSERVE = "portolan.torch.observe"
_GOLD_NAMES = ("labels", "label", "gold", "target", "targets", "y")


class WithIds(Dataset):  # type: ignore[type-arg]
    """A dataset whose examples carry their ids, in whatever order a loader asks for them.

    Args:
        dataset: with __len__ and __getitem__.
        ids: one id per example, integers or strings; or, for examples that are dicts, the name of the entry that holds the id.
            Default: the position in the dataset; for a Subset (random_split), the position in the whole. Two examples with one id
            raise ValueError, if the ids can be read without reading the examples.

    An example ``(x, y)`` becomes ``(id, x, y)``; a dict gets the entry ``"id"`` (in the place of the named one, which a model called as
    ``model(**batch)`` does not take); anything else becomes ``(id, example)``.
    """

    def __init__(self, dataset: Any, ids: Sequence[Any] | str | None = None) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise TypeError("WithIds needs a dataset with a length: the examples of a stream have to carry ids of their own")
        if ids is not None and not isinstance(ids, str) and len(ids) != len(dataset):
            raise ValueError(f"there are {len(ids)} ids for {len(dataset)} examples")
        inside = dataset
        while isinstance(inside, Subset):
            inside = inside.dataset
        if isinstance(inside, WithIds) and type(self) is WithIds and not isinstance(ids, str):
            raise TypeError(
                "WithIds: the dataset has a WithIds inside, which gives the ids already: wrap once, the dataset or its Subset, and leave the other "
                "out"
            )
        self.dataset = dataset
        self._ids: Any = ids.tolist() if ids is not None and hasattr(ids, "tolist") else ids
        if _environment.is_disabled():
            return
        if isinstance(ids, str):
            _ids.check_column("WithIds", dataset, ids)
        elif ids is not None:
            _ids.check_unique("WithIds", ids)
        elif isinstance(dataset, Subset):
            _ids.check_positions("WithIds", [self.id_of(row) for row in range(len(dataset))])

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self._with_id(index, self.dataset[index])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """A batch at once, which loaders ask for if this method exists."""
        many = getattr(self.dataset, "__getitems__", None)
        examples = many(indices) if callable(many) else [self.dataset[index] for index in indices]
        return [self._with_id(index, example) for index, example in zip(indices, examples)]

    @property
    def ids_from(self) -> Any:
        """The argument `ids`."""
        return self._ids

    def id_of(self, index: int) -> Any:
        """The id of the example at `index`."""
        if isinstance(self._ids, str):
            return _entry(self.dataset[index], self._ids)
        if self._ids is not None:
            return self._ids[index]
        dataset, index = self.dataset, index % len(self)
        while isinstance(dataset, Subset):
            dataset, index = dataset.dataset, dataset.indices[index]
        return int(index)

    def _with_id(self, index: int, example: Any) -> Any:
        if isinstance(example, Mapping):
            if isinstance(self._ids, str):
                one = _entry(example, self._ids)
                return {**{name: value for name, value in example.items() if name != self._ids}, "id": one}
            if "id" in example:
                raise ValueError('the examples have an entry "id" already: WithIds(dataset, ids="id") uses it')
            return {**example, "id": self.id_of(index)}
        if isinstance(self._ids, str):
            raise TypeError(f"ids={self._ids!r} names an entry of examples that are dicts; these are {type(example).__name__}")
        return (self.id_of(index), *example) if isinstance(example, (tuple, list)) else (self.id_of(index), example)


def _entry(example: Mapping[str, Any], name: str) -> Any:
    if name not in example:
        raise KeyError(f"no entry {name!r} in an example with {', '.join(map(str, example))}")
    return example[name]


def describe(model: Any, **parameters: Any) -> dict[str, Any]:
    """A record for portolan.Run's config: the model's class, torch's seed, versions, and the entries of `config`.

    Example: ``portolan.Run("words", config=portolan.torch.describe(model, lr=1e-3))``
    """
    return _hooks.record(_uncompiled(_unwrapped(model)), _hooks.versions_of("torch"), torch.initial_seed(), parameters)


def open_run(name: str | None = None, model: Any = None, **options: Any) -> Run:
    """portolan.Run, also for the processes of one torch.distributed job: rank 0 opens the run, the others join it.

    Args:
        name: the run's name. Default: ``$PORTOLAN_RUN``.
        model: its class, torch's seed and versions are added to the run's record, beside `config`. Default: nothing is added.
        options: as for portolan.Run.

    Every process of the job has to call it. When the run is closed, a line on stderr says what was recorded.
    """
    if _environment.is_disabled():
        return Run(name, **options)
    if model is not None:
        options["config"] = {**describe(model), **(options.get("config") or {})}
    run = _open_shared(name, options) if "group" not in options and _is_distributed() else Run(name, **options)
    _hooks.say_at_close(run)
    return run


def _is_distributed() -> bool:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size() > 1
    if os.environ.get("WORLD_SIZE", "1").isdecimal() and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise RuntimeError("$WORLD_SIZE says that several processes train: call torch.distributed.init_process_group() before open_run()")
    return False


def _open_shared(name: str | None, options: dict[str, Any]) -> Run:
    rank, run, failure = torch.distributed.get_rank(), None, None
    group = f"torch-{uuid.uuid4().hex}"
    if rank == 0:
        try:
            run = Run(name, group=group, rank=0, **options)
        except Exception as error:  # the other ranks must be told of any error
            failure = error
    message: list[Any] = [(group, None if run is None else run.name, None if failure is None else f"{type(failure).__name__}: {failure}")]
    torch.distributed.broadcast_object_list(message, src=0)
    group, opened, text = message[0]
    if failure is not None:
        raise failure
    if text is not None:
        raise _portolan.Error(f"rank 0 could not open run {name or _environment.run_name()}: {text}")
    if run is None:
        options = {**options, "overwrite": False}  # rank 0 has removed the old run, and has chosen the name
        if options.get("if_exists") != "resume":
            options["if_exists"] = None
        run = Run(opened, group=group, rank=rank, **options)
    return run


def observe(
    run: Run,
    model: Any,
    loader: Iterable[Any],
    epoch: int,
    *,
    forward: Forward | None = None,
    ids: str = "id",
    gold: str | None = None,
    task: str | None = None,
    loss: Callable[[Any, Any], Any] | None = None,
    end_epoch: bool = True,
) -> int:
    """Records how `model` sees every example of `loader`, in a pass of its own: in eval mode, without gradients.

    Afterwards everything is as it was: the mode of every submodule, gradients, the state of all random numbers. Training goes the
    same way with the pass as without.

    Args:
        run: opened with mode="epoch-end", the default.
        model: called as ``model(*inputs)`` or ``model(**inputs)``; it returns the logits, or an object that has them as ``logits``,
            ``["logits"]`` or the first entry of a tuple. The module inside a DistributedDataParallel is called.
        loader: yields ``(ids, x, ..., y)``, as DataLoader(WithIds(dataset)) does, or dicts with ids and labels among the inputs. If
            it augments examples, they are observed augmented: give a loader of the plain examples. The pass ignores the drop_last of a
            DataLoader, and has workers of its own: persistent ones stay with the training.
        epoch: from 0.
        forward: ``forward(model, batch) -> (ids, logits, gold)`` instead, for any other batch or model.
        ids, gold: names of the entries of batches that are dicts. gold=None: the first of labels, label, gold, target, targets, y.
        task: "regression": the model returns a number for each example, which is recorded beside its target (y), with the squared error, as
            run.log_regression() does. "classification": y is a class. Default: a regression where the first batch has one output and one
            floating-point target for each example, and targets beyond -1 and 1.
        loss: of any other task: ``loss(output, y)``, with what the model returned, gives the loss of each example, (n,), as a loss with
            reduction="none" does; of several for an example, as (n, pixels), the mean is recorded, as run.log_loss() does. Positions that the loss
            ignores count as 0 in this mean: divide by the number of the others yourself, ``l.sum(1) / (y != -100).sum(1)``.
        end_epoch: call run.end_epoch(epoch) at the end.

    Returns:
        How many examples were seen, by this process. 0, at once, where $PORTOLAN_DISABLED switches recording off.
    """
    if run.is_disabled:
        return 0
    _regression.check_task(_OBSERVE, task)
    if loss is not None and task is not None:
        raise ValueError(f"{_OBSERVE}: loss= is for any other task than {task}: leave one of the two out")

    def see(module: Any, batch: Any, device: Any) -> int:
        if forward is not None:
            names, output, labels = forward(module, to_device(batch, device))
        else:
            names, inputs, labels = split_batch(batch, ids, gold)
            output = call(module, to_device(inputs, device))
        if loss is not None:
            _hooks.log_losses(run, epoch, names, loss(output, to_device(labels, device)), labels)
        else:
            _hooks.log_batch(run, epoch, names, output if forward is not None else logits_of(output), labels, task)
        return len(names)

    return pass_over(run, model, loader, epoch, see, _OBSERVE, end_epoch)


def pass_over(run: Run, model: Any, loader: Iterable[Any], epoch: int, see: See, hook: str, end_epoch: bool) -> int:
    """Shows `model` every batch of `loader`: ``see(model, batch, device)`` logs one, and returns how many examples it had. The rest is as in
    observe(). `hook`: the name of the calling hook."""
    _hooks.check_mode(run, "epoch-end", hook)
    if not callable(getattr(model, "modules", None)):
        raise TypeError(f"the model must be a torch.nn.Module, not a {type(model).__name__}: give the module, and forward= for what is called")
    model = _unwrapped(model)
    device = _device_of(model)
    seen = 0
    with evaluating(model, loader, run):
        for batch in for_a_pass(loader, run):
            seen += see(model, batch, device)
    if seen == 0 and not run.is_shared:  # a process may have no share of a shared run
        _hooks.warn_once(run, "empty", f"epoch {epoch}: the loader had no examples; is it an iterator, and used up?")
    if end_epoch:
        run.end_epoch(epoch)
    return seen


def for_a_pass(loader: Any, run: Run | None) -> Any:
    """The loader for one pass beside the training: with all examples, and with workers of its own. Persistent workers would draw random
    numbers that the training would then miss."""
    if not isinstance(loader, DataLoader):
        return loader
    persists = getattr(loader, "persistent_workers", False) and getattr(loader, "num_workers", 0) > 0
    drops = bool(getattr(loader, "drop_last", False) or getattr(getattr(loader, "batch_sampler", None), "drop_last", False))
    one = copy.copy(loader)  # a DataLoader refuses to set these attributes; its dict does not
    if persists:
        one.__dict__.update(persistent_workers=False, _iterator=None)
    sampler: Any = getattr(loader, "batch_sampler", None)
    if drops and type(sampler) is BatchSampler:
        batches = BatchSampler(sampler.sampler, sampler.batch_size, drop_last=False)
        one.__dict__.update(batch_sampler=batches, drop_last=False)
    elif drops and run is not None:
        _hooks.warn_once(run, "drop_last", "the loader has drop_last=True: its last examples are not observed in every epoch")
    return one if persists or drops else loader


def split_batch(batch: Any, ids: str = "id", gold: str | None = None) -> tuple[Any, Any, Any]:
    """(ids, inputs, gold) of a batch: `inputs` is a tuple or a dict of the model's arguments."""
    if isinstance(batch, Mapping) or hasattr(batch, "keys"):
        inputs = {name: batch[name] for name in batch.keys()}
        label = gold if gold is not None else next((name for name in _GOLD_NAMES if name in inputs), None)
        if ids not in inputs or label is None or label not in inputs:
            missing = f"ids as {ids!r}" if ids not in inputs else f"gold labels as {gold or ', '.join(_GOLD_NAMES)!r}"
            raise KeyError(f"the batch has no {missing}; it has {', '.join(map(str, inputs))}. Wrap the dataset: WithIds(dataset)")
        return inputs.pop(ids), inputs, inputs.pop(label)
    if not isinstance(batch, (tuple, list)) or len(batch) < 3:
        shape = f"{len(batch)} entries" if isinstance(batch, (tuple, list)) else f"a {type(batch).__name__}"
        raise ValueError(f"a batch must be (ids, x, ..., y), and is {shape}: wrap the dataset, WithIds(dataset), or give forward=")
    names = batch[0]
    if isinstance(names, torch.Tensor) and (names.ndim != 1 or names.is_floating_point()):
        raise ValueError(
            f"a batch must begin with its ids, and begins with a tensor of shape {tuple(names.shape)}, {names.dtype}: wrap the dataset, "
            "WithIds(dataset), or give forward="
        )
    return names, tuple(batch[1:-1]), batch[-1]


def logits_of(output: Any) -> Any:
    """The logits in what a model returned."""
    for name in ("logits",):
        if isinstance(output, Mapping) and name in output:
            return output[name]
        if not isinstance(output, torch.Tensor) and hasattr(output, name):
            return getattr(output, name)
    if isinstance(output, (tuple, list)) and output:
        return output[0]
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"the model returned a {type(output).__name__} without logits: give forward=")
    return output


def to_device(values: Any, device: Any) -> Any:
    """Tensors within tuples, lists and dicts, on `device`."""
    if device is None:
        return values
    if isinstance(values, torch.Tensor):
        return values.to(device, non_blocking=True)
    if isinstance(values, Mapping):
        return {name: to_device(value, device) for name, value in values.items()}
    if isinstance(values, tuple) and hasattr(values, "_fields"):
        return type(values)(*(to_device(value, device) for value in values))
    if isinstance(values, (tuple, list)):
        return type(values)(to_device(value, device) for value in values)
    return values.to(device) if callable(getattr(values, "to", None)) else values


@contextlib.contextmanager
def evaluating(model: Any, loader: Any = None, run: Run | None = None) -> Iterator[None]:
    """Eval mode, and no gradients. At the end every submodule's mode is as it was, and so are the random numbers of torch, of this
    model's device, of NumPy, of Python and of `loader`. (no_grad, not inference_mode: tensors that a module caches meanwhile must be
    usable in training.) All processes of a shared run must call this at the same time: see _buffers_of_rank_0()."""
    training = model.training
    modes = [(module, module.training) for module in model.modules()]
    shared = run is not None and run.is_shared
    with _random_numbers_kept(model, loader), _buffers_of_rank_0(model) if shared else contextlib.nullcontext():
        try:
            model.eval()
            with torch.no_grad():
                yield
        finally:
            model.train(training)  # some modules do more than set a flag
            for module, mode in modes:
                module.training = mode
            if torch.is_autocast_enabled():
                torch.clear_autocast_cache()  # casts made without gradients must not serve training


@contextlib.contextmanager
def _buffers_of_rank_0(model: Any) -> Iterator[None]:
    """Gives all ranks the buffers of rank 0, and at the end their own again. The running averages of batch normalisation differ from rank
    to rank until the next step evens them out. The record is of one model, that of rank 0, which also goes into checkpoints."""
    distributed = torch.distributed
    kinds: dict[Any, list[Any]] = {}
    if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
        for buffer in model.buffers():
            if type(buffer) is torch.Tensor and buffer.numel() > 0:
                kinds.setdefault((buffer.dtype, buffer.device), []).append(buffer)
    own = [buffer.clone() for buffers in kinds.values() for buffer in buffers]
    with torch.no_grad():
        for buffers in kinds.values():
            flat = torch.cat([buffer.reshape(-1) for buffer in buffers])
            distributed.broadcast(flat, src=0)
            for buffer, values in zip(buffers, flat.split([buffer.numel() for buffer in buffers])):
                buffer.copy_(values.view_as(buffer))
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, values in zip((buffer for buffers in kinds.values() for buffer in buffers), own):
                buffer.copy_(values)


@contextlib.contextmanager
def _random_numbers_kept(model: Any, loader: Any) -> Iterator[None]:
    devices = sorted({p.device.index for p in model.parameters() if p.device.type == "cuda"})
    generators = _generators(loader)
    states = [generator.get_state() for generator in generators]
    numpy = sys.modules.get("numpy")
    python_state, numpy_state = random.getstate(), numpy.random.get_state() if numpy else None
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(python_state)
        if numpy:
            numpy.random.set_state(numpy_state)
        for generator, state in zip(generators, states):
            generator.set_state(state)


def _generators(loader: Any) -> list[Any]:
    """The generators that a DataLoader or its samplers have of their own."""
    holders = [loader, *(getattr(loader, name, None) for name in ("sampler", "batch_sampler"))]
    holders.append(getattr(holders[-1], "sampler", None))
    found = {id(g): g for g in (getattr(holder, "generator", None) for holder in holders) if isinstance(g, torch.Generator)}
    return list(found.values())


def _unwrapped(model: Any) -> Any:
    """The module inside a DistributedDataParallel, whose own forward pass may wait for the other ranks; they have other numbers of batches."""
    parallel = torch.nn.parallel.DistributedDataParallel
    inside = _uncompiled(model)
    return inside.module if isinstance(inside, parallel) else model


def _uncompiled(model: Any) -> Any:
    return getattr(model, "_orig_mod", model)  # set by torch.compile


def _device_of(model: Any) -> Any:
    for tensors in (model.parameters(), model.buffers()):
        for tensor in tensors:
            return tensor.device
    return None


def call(model: Any, inputs: Any) -> Any:
    return model(**inputs) if isinstance(inputs, Mapping) else model(*inputs)
