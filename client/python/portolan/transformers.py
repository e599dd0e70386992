"""Portolan for the Trainer of Hugging Face transformers.

    import portolan.transformers

    trainer = Trainer(model, args, train_dataset=train, callbacks=[portolan.transformers.PortolanCallback(train, id_column="id")])
    trainer.train()

records a pass over the training examples at the end of each epoch. To record the training pass itself, without a second one:

    class RecordingTrainer(portolan.transformers.PortolanMixin, Trainer):
        pass

    trainer = RecordingTrainer(model, args, train_dataset=train, portolan={"id_column": "id"})

client/python/docs/transformers.md says the rest.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

import torch
import transformers
from torch.utils.data import DataLoader, Dataset
from transformers import TrainerCallback

from portolan._recording import _hooks, _ids
from portolan._recording._run import Run
from portolan.torch import WithIds, evaluating, logits_of, open_run, to_device

__all__ = ["PortolanCallback", "PortolanMixin"]

# (ids, logits, gold) of a batch: ids, inputs, outputs.
Observations = Callable[[Any, Mapping[str, Any], Any], tuple[Any, Any, Any]]

_IDS = "portolan_ids"


class PortolanCallback(TrainerCallback):
    """Records how the model sees every example of `dataset`, in a pass of its own at the end of each epoch.

    Args:
        dataset: what the model is trained on (a datasets.Dataset, or a list or torch Dataset of dicts), with an id for each example.
        id_column: the column with the ids, integers or strings; None: the positions in `dataset`.
        run: the run's name, or an open portolan.Run. Default: the Trainer's run_name, or the last part of its output_dir.
        observations: ``f(ids, inputs, outputs) -> (ids, logits, gold)``, for models with several labels, such as spans.
        batch_size: of the pass; default: per_device_eval_batch_size.
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    The examples are collated as in training. Every process of the job passes over its share. Training that is resumed from a checkpoint
    continues the run.
    """

    def __init__(
        self,
        dataset: Any,
        id_column: str | None = "id",
        run: Run | str | None = None,
        *,
        observations: Observations | None = None,
        batch_size: int | None = None,
        **options: Any,
    ) -> None:
        columns = getattr(dataset, "column_names", None)
        if id_column is not None and columns is not None and id_column not in columns:
            has = ", ".join(columns)
            raise ValueError(f"the dataset has no column {id_column!r}; it has {has}. id_column=None takes the positions as ids")
        if not hasattr(dataset, "__len__"):
            raise TypeError("PortolanCallback passes over the dataset, so it needs one with a length: for a stream use PortolanMixin")
        if id_column is not None:
            _ids.check_column("PortolanCallback", dataset, id_column)
        self.dataset, self.id_column, self.batch_size, self.observations = dataset, id_column, batch_size, observations
        self._recorder = _hooks.Recorder("portolan.transformers.PortolanCallback", run, "epoch-end", options)
        self._epochs = _Epochs()

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._recorder.run

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, train_dataloader: Any = None, **kwargs: Any
    ) -> None:
        if self.observations is None:
            label = _label_name(args, model)
            if train_dataloader is not None and len(self.dataset) > 0:  # what is missing is said now, not after an epoch
                loader = self._loader(args, model, train_dataloader)
                with evaluating(model):
                    _labels_of(loader.collate_fn([loader.dataset[0]])[1], label)
        _open(self._recorder, args, state, model)
        self._epochs.begin(state)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._epochs.next()

    def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, train_dataloader: Any = None, **kwargs: Any) -> None:
        epoch = self._epochs.current
        loader = self._loader(args, model, train_dataloader)
        observations = self.observations or _Observations(args, model)
        with evaluating(model, None, self._recorder.run):
            for ids, inputs in loader:
                inputs = to_device(inputs, args.device)
                self._recorder.log_logits(epoch, *observations(ids, inputs, model(**inputs)))
        self._recorder.end_epoch(epoch)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._recorder.close()

    def _loader(self, args: Any, model: Any, train_dataloader: Any) -> Any:
        keep = _signature(model, args) if args.remove_unused_columns else None
        rows = _Share(self.dataset, self.id_column, keep, args.process_index, args.world_size)
        return DataLoader(
            rows,
            batch_size=self.batch_size or args.per_device_eval_batch_size,
            collate_fn=_Collator(train_dataloader.collate_fn),
            num_workers=args.dataloader_num_workers,
            pin_memory=args.dataloader_pin_memory and args.device.type == "cuda",
        )


class PortolanMixin:
    """A Trainer that records its training pass: ``class RecordingTrainer(PortolanMixin, Trainer): pass``.

    Takes one more argument than the Trainer, `portolan`: a dict with

        id_column: the column of train_dataset with the ids; default "id". None: the positions in it.
        run: the run's name, or an open portolan.Run with mode="train-forward". Default: as for PortolanCallback.
        observations: as for PortolanCallback.

    and further arguments of portolan.Run. The id column is handed through to compute_loss() and never to the model.
    """

    def __init__(self, *args: Any, portolan: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        options = dict(portolan or {})
        self._portolan_id_column = options.pop("id_column", "id")
        self._portolan_observations = options.pop("observations", None)
        recorder = _hooks.Recorder("portolan.transformers.PortolanMixin", options.pop("run", None), "train-forward", options)
        super().__init__(*args, **kwargs)
        self._portolan = _TrainForward(recorder, checked=self._portolan_observations is None)
        self.add_callback(self._portolan)  # type: ignore[attr-defined]

    def get_train_dataloader(self) -> Any:
        trainer: Any = self
        dataset, column = trainer.train_dataset, self._portolan_id_column
        columns = getattr(dataset, "column_names", None)
        if column is not None and columns is not None and column not in columns:
            has = ", ".join(columns)
            raise ValueError(f"train_dataset has no column {column!r}; it has {has}. id_column=None takes the positions as ids")
        if column is not None:
            _ids.check_column("PortolanMixin", dataset, column)
        trainer._set_signature_columns_if_needed()
        collator, signature = trainer.data_collator, trainer._signature_columns
        trainer.train_dataset = dataset if column is not None else _Positions(dataset)
        trainer.data_collator = _Collator(_PopIds(collator, column or _IDS), merge=True)
        trainer._signature_columns = [*signature, column or _IDS]
        try:
            return super().get_train_dataloader()  # type: ignore[misc]
        finally:
            trainer.train_dataset, trainer.data_collator, trainer._signature_columns = dataset, collator, signature

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, *args: Any, **kwargs: Any) -> Any:
        trainer: Any = super()
        ids = inputs.pop(_IDS, None)
        if ids is None or not model.training:
            return trainer.compute_loss(model, inputs, return_outputs, *args, **kwargs)
        kept = dict(inputs)  # label smoothing takes the labels out
        loss, outputs = trainer.compute_loss(model, inputs, True, *args, **kwargs)
        if self._portolan_observations is None:
            self._portolan_observations = _Observations(self.args, self.model)  # type: ignore[attr-defined]
        self._portolan.log(*self._portolan_observations(ids, kept, outputs))
        return (loss, outputs) if return_outputs else loss


class _TrainForward(TrainerCallback):
    """Opens, ends epochs, closes: what PortolanMixin does between batches."""

    def __init__(self, recorder: _hooks.Recorder, checked: bool) -> None:
        self.recorder, self.epochs, self.checked = recorder, _Epochs(), checked

    def log(self, ids: Any, logits: Any, gold: Any) -> None:
        self.recorder.log_logits(self.epochs.current, ids, logits, gold)

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        if self.checked:
            _label_name(args, model)
        _open(self.recorder, args, state, model)
        self.epochs.begin(state)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.epochs.next()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if control.should_save:  # what a checkpoint has seen is on disk before it is
            self.recorder.flush()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.recorder.end_epoch(self.epochs.current)
        if control.should_save:
            self.recorder.flush()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.recorder.close()


class _Epochs:
    """The number of the epoch. The state's is a fraction, and that of the end of an epoch the next one's beginning."""

    current = 0

    def begin(self, state: Any) -> None:
        self.current = int((state.epoch or 0) + 1e-6) - 1

    def next(self) -> None:
        self.current += 1


class _Share(Dataset):  # type: ignore[type-arg]
    """(id, example) for every world-th example; as many for each process, some seen twice, so that all do the same number of steps."""

    def __init__(self, dataset: Any, id_column: str | None, keep: set[str] | None, process: int, world: int) -> None:
        self.dataset, self.id_column, self.keep = dataset, id_column, keep
        self.process, self.world = process, world

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.world)

    def __getitem__(self, index: int) -> tuple[Any, dict[str, Any]]:
        at = (index * self.world + self.process) % len(self.dataset)
        example = dict(self.dataset[at])
        if self.id_column is not None and self.id_column not in example:
            raise KeyError(f"example {at} has no entry {self.id_column!r}; it has {', '.join(map(str, example))}")
        one = at if self.id_column is None else example.pop(self.id_column)
        return one, {name: value for name, value in example.items() if self.keep is None or name in self.keep}


class _Positions(WithIds):
    """Examples that are dicts, with their positions as one more entry."""

    def _with_id(self, index: int, example: Any) -> Any:
        return {**example, _IDS: self.id_of(index)}


class _PopIds:
    """(ids, batch) of a list of examples that carry their ids."""

    def __init__(self, collator: Callable[[Any], Any], id_column: str) -> None:
        self.collator, self.id_column = collator, id_column

    def __call__(self, examples: list[Any]) -> tuple[list[Any], Any]:
        for example in examples:
            if not isinstance(example, Mapping) or self.id_column not in example:
                has = ", ".join(map(str, example)) if isinstance(example, Mapping) else type(example).__name__
                raise KeyError(f"an example has no entry {self.id_column!r}; it has {has}")
        ids = [example[self.id_column] for example in examples]
        return ids, self.collator([{name: value for name, value in example.items() if name != self.id_column} for example in examples])


class _Collator:
    """Collates apart from the ids, which a collator of the Trainer's could not pad. With `merge` the ids come in the batch, as an entry of
    their own; of a plain dict, since a BatchEncoding loses text on its way to the device."""

    def __init__(self, collator: Callable[[Any], Any], merge: bool = False) -> None:
        self.collator, self.merge = collator, merge

    def __call__(self, examples: list[Any]) -> Any:
        if self.merge:
            ids, batch = self.collator(examples)
        else:
            ids, batch = [one for one, _ in examples], self.collator([example for _, example in examples])
        ids = [one.item() if hasattr(one, "item") else one for one in ids]
        if ids and not isinstance(ids[0], str):
            ids = torch.tensor(ids)
        return {**batch, _IDS: ids} if self.merge else (ids, dict(batch))


class _Observations:
    """(ids, logits, gold) of a batch of a model with one kind of labels."""

    def __init__(self, args: Any, model: Any) -> None:
        self.label = _label_name(args, model)
        names = getattr(transformers.models.auto.modeling_auto, "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", {})
        self.shifts = type(_base_model(model)).__name__ in names.values()

    def __call__(self, ids: Any, inputs: Mapping[str, Any], outputs: Any) -> tuple[Any, Any, Any]:
        gold = _labels_of(inputs, self.label)
        if isinstance(outputs, tuple):  # return_dict=False: the loss comes first
            outputs = outputs[1:]
        logits = logits_of(outputs)
        if self.shifts:  # the scores at a token are of the next one
            return ids, logits[:, :-1], gold[:, 1:]
        return ids, logits, gold


def _labels_of(inputs: Mapping[str, Any], name: str) -> Any:
    gold = inputs.get(name)
    if gold is None:
        raise KeyError(
            f"the batch has no gold labels as {name!r}; it has {', '.join(inputs)}. Labels of another name: TrainingArguments(label_names=[...])"
        )
    return gold


def _base_model(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "peft_config") and hasattr(model, "get_base_model") else model


def _label_names(args: Any, model: Any) -> list[str]:
    found = getattr(args, "label_names", None) or transformers.utils.find_labels(type(_base_model(model)))
    return list(found) or ["labels"]


def _label_name(args: Any, model: Any) -> str:
    names = _label_names(args, model)
    config = getattr(model, "config", None)
    problem, classifies = getattr(config, "problem_type", None), type(_base_model(model)).__name__.endswith("ForSequenceClassification")
    if problem is None and classifies and getattr(config, "num_labels", 0) == 1:
        problem = "regression"  # what such a model takes itself for, at its first batch
    if problem == "regression":
        raise ValueError("the model's problem_type is regression: an example has no gold label, so no gold probability")
    if problem == "multi_label_classification":
        raise ValueError(
            f"the model's problem_type is {problem}: an example has no one gold label, so no gold probability. Give "
            "observations=f(ids, inputs, outputs) -> portolan.per_label(ids, outputs.logits, inputs['labels']): each label of each example "
            "becomes a binary example of its own"
        )
    if len(names) > 1:
        raise ValueError(
            f"the model has the labels {', '.join(names)}: give observations=f(ids, inputs, outputs) -> (ids, logits, gold), for one of "
            "them"
        )
    return names[0]


def _signature(model: Any, args: Any) -> set[str]:
    """The columns that the Trainer keeps."""
    parameters = inspect.signature(_base_model(model).forward).parameters
    return {*parameters, "label", "label_ids", *_label_names(args, model)}


def _open(recorder: _hooks.Recorder, args: Any, state: Any, model: Any) -> None:
    config = getattr(model, "config", None)
    more = {}
    names = getattr(config, "id2label", None)
    if isinstance(names, Mapping) and len(names) > 1 and sorted(names) == list(range(len(names))):
        if any(name != f"LABEL_{number}" for number, name in names.items()):
            more["labels"] = [str(names[number]) for number in range(len(names))]
    record = _hooks.record(_base_model(model), _hooks.versions_of("torch", "transformers", "accelerate"), args.seed, _chosen(args))
    name = getattr(config, "_name_or_path", None)
    if name:
        record["pretrained"] = str(name)
    default = args.run_name or os.path.basename(os.path.normpath(args.output_dir or "trainer"))
    trial = getattr(state, "is_hyper_param_search", False)
    recorder.open(default, record, resumed=state.global_step > 0, trial=trial, open_run=open_run, **more)


def _chosen(args: Any) -> dict[str, Any]:
    """The arguments that are not what they are by default; secrets as the Trainer itself masks them."""
    shown = args.to_dict()
    chosen = {}
    for field in fields(args):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.init and field.name in shown and getattr(args, field.name, default) != default:
            chosen[field.name] = shown[field.name]
    return chosen
