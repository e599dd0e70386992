"""Portolan for the Trainer of Hugging Face transformers.

    import portolan.transformers

    trainer = Trainer(model, args, train_dataset=train, callbacks=[portolan.transformers.PortolanCallback(train, id_column="id")])
    trainer.train()

records a pass over the training examples at the end of each epoch. To record the training pass itself, without a second one:

    class RecordingTrainer(portolan.transformers.PortolanMixin, Trainer):
        pass

    trainer = RecordingTrainer(model, args, train_dataset=train, portolan={"id_column": "id"})

client/python/docs/transformers.md has the details.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from torch.utils.data import DataLoader
from transformers import TrainerCallback

from portolan._recording import _environment, _hooks, _ids, _off, _seen, _tokens, _trainer
from portolan._recording._run import Run
from portolan.torch import WithIds, evaluating, open_run, to_device

__all__ = ["PortolanCallback", "PortolanMixin"]


class PortolanCallback(TrainerCallback):
    """Records how the model sees every example of `dataset`, in a pass of its own at the end of each epoch.

    Args:
        dataset: the training set (a datasets.Dataset, or a list or torch Dataset of dicts), with an id for each example.
        id_column: the column with the ids, integers or strings; None: the positions in `dataset`.
        run: the run's name, or an open portolan.Run. Default: the Trainer's run_name, or the last part of its output_dir.
        observations: ``f(ids, inputs, outputs) -> (ids, logits, gold)``, for models with several labels, such as spans.
        task: "classification" or "regression", of one number for each example (``observations`` then gives (ids, predicted, target)). Default:
            what the model's problem_type says, and a regression for a sequence classifier with num_labels=1.
        loss: of any other task: ``loss(outputs, labels)``, with what the model returned, gives the loss of each example, (n,); several of an
            example are averaged. Positions that the loss ignores count as 0 in this mean: divide by the number of the others yourself,
            ``l.sum(1) / (y != -100).sum(1)``.
        batch_size: of the pass; default: per_device_eval_batch_size.
        correct_share, tokens: for language models: the share of its target tokens that must be predicted for an example to count as correct;
            True: an observation for each target token instead of each example. See portolan.language.log.
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
        observations: _seen.Observations | None = None,
        task: str | None = None,
        loss: _seen.Loss | None = None,
        batch_size: int | None = None,
        correct_share: float = 1.0,
        tokens: bool = False,
        **options: Any,
    ) -> None:
        self.dataset, self.id_column, self.batch_size = dataset, id_column, batch_size
        if _off.is_hook_off(self, PortolanCallback, run):
            return
        columns = getattr(dataset, "column_names", None)
        if id_column is not None and columns is not None and id_column not in columns:
            has = ", ".join(columns)
            raise ValueError(f"the dataset has no column {id_column!r}; it has {has}. id_column=None takes the positions as ids")
        if not hasattr(dataset, "__len__"):
            raise TypeError("PortolanCallback passes over the dataset, so it needs one with a length: for a stream use PortolanMixin")
        if id_column is not None:
            _ids.check_column("PortolanCallback", dataset, id_column)
        self._what = _seen.What(_tokens.How(correct_share=correct_share, tokens=tokens), observations, task, loss)
        self._recorder = _hooks.Recorder("portolan.transformers.PortolanCallback", run, "epoch-end", options, task)
        self._epochs = _Epochs()

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._recorder.run

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, train_dataloader: Any = None, **kwargs: Any
    ) -> None:
        label = _seen.label_name(args, model, self._what) if self._what.observations is None else None
        if train_dataloader is not None and len(self.dataset) > 0:
            loader = self._loader(args, model, train_dataloader)
            if label is not None:  # a missing label is reported now, not after an epoch
                with evaluating(model):
                    _seen.labels_of(loader.collate_fn([loader.dataset[0]])[1], label)
            if args.process_index == 0:
                _trainer.warn_of_others(loader.dataset.dataset, args, getattr(train_dataloader, "dataset", None))
        _open(self._recorder, args, state, model, self._what.how)
        self._epochs.begin(state)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._epochs.next()

    def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, train_dataloader: Any = None, **kwargs: Any) -> None:
        epoch = self._epochs.current
        loader = self._loader(args, model, train_dataloader)
        seen = _seen.seen_of(args, model, self._what)
        with evaluating(model, None, self._recorder.run):
            for ids, inputs in loader:
                given = to_device(seen.taken(inputs), args.device)
                seen.log(self._recorder, epoch, ids, inputs if isinstance(seen, _seen.Language) else given, model(**given))
        self._recorder.end_epoch(epoch)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._recorder.close()

    def _loader(self, args: Any, model: Any, train_dataloader: Any) -> Any:
        return DataLoader(
            _trainer.share(self.dataset, self.id_column, args, getattr(train_dataloader, "dataset", None), _signature(model, args)),
            batch_size=self.batch_size or args.per_device_eval_batch_size,
            collate_fn=_trainer.Collator(train_dataloader.collate_fn),
            num_workers=args.dataloader_num_workers,
            pin_memory=args.dataloader_pin_memory and args.device.type == "cuda",
        )


class PortolanMixin:
    """A Trainer that records its training pass: ``class RecordingTrainer(PortolanMixin, Trainer): pass``.

    Takes one more argument than the Trainer, `portolan`: a dict with

        id_column: the column of train_dataset with the ids; default "id". None: the positions in it.
        run: the run's name, or an open portolan.Run with mode="train-forward". Default: as for PortolanCallback.
        observations, task, loss, correct_share, tokens: as for PortolanCallback.

    and further arguments of portolan.Run. The id column reaches compute_loss(), and never the model.
    """

    def __init__(self, *args: Any, portolan: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        self._portolan: _TrainForward | None = None  # recording is switched off
        options = dict(portolan or {})
        self._portolan_id_column = options.pop("id_column", "id")
        if _environment.is_disabled():
            super().__init__(*args, **kwargs)
            return
        how = _tokens.How(correct_share=options.pop("correct_share", 1.0), tokens=options.pop("tokens", False))
        what = _seen.What(how, *(options.pop(name, None) for name in ("observations", "task", "loss")))
        recorder = _hooks.Recorder("portolan.transformers.PortolanMixin", options.pop("run", None), "train-forward", options, what.task)
        super().__init__(*args, **kwargs)
        self._portolan = _TrainForward(recorder, what, _why_unheard(type(self)))
        self.add_callback(self._portolan)  # type: ignore[attr-defined]

    def get_train_dataloader(self) -> Any:
        trainer: Any = self
        if self._portolan is None:
            return self._unrecorded_dataloader()
        _trainer.check_packing("PortolanMixin", trainer.args)
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
        trainer.data_collator = _trainer.Collator(_ids.PopIds(collator, column or _trainer.IDS), merge=True)
        trainer._signature_columns = [*signature, column or _trainer.IDS]
        try:
            return super().get_train_dataloader()  # type: ignore[misc]
        finally:
            trainer.train_dataset, trainer.data_collator, trainer._signature_columns = dataset, collator, signature

    def _unrecorded_dataloader(self) -> Any:
        """The Trainer's own, where recording is switched off. The ids reach the model as little as when it is on."""
        trainer: Any = self
        collator = trainer.data_collator
        if self._portolan_id_column is not None:
            trainer.data_collator = _ids.DropIds(collator, self._portolan_id_column)
        try:
            return super().get_train_dataloader()  # type: ignore[misc]
        finally:
            trainer.data_collator = collator

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, *args: Any, **kwargs: Any) -> Any:
        trainer: Any = super()
        ids = inputs.pop(_trainer.IDS, None)
        if ids is None or not model.training:
            return trainer.compute_loss(model, inputs, return_outputs, *args, **kwargs)
        kept = dict(inputs)  # label smoothing takes the labels out
        if any(kind.__module__.startswith("trl.") for kind in type(self).__mro__):
            answer, outputs = _watched(model, lambda: trainer.compute_loss(model, inputs, return_outputs, *args, **kwargs))
        else:
            loss, outputs = trainer.compute_loss(model, inputs, True, *args, **kwargs)
            answer = (loss, outputs) if return_outputs else loss
        assert self._portolan is not None
        self._portolan.log(self.args, self.model, ids, kept, outputs)  # type: ignore[attr-defined]
        return answer


def _why_unheard(kind: type) -> str | None:
    """A method of the trainer's class that stands before the mixin's of the same name, and so may never call it."""
    for name in ("compute_loss", "get_train_dataloader"):
        if getattr(kind, name) is not getattr(PortolanMixin, name):
            return (
                f"{kind.__name__}.{name} stands before the mixin's, and does not call it: let it call super().{name}(...), or put it into a class "
                "behind the mixin: class Recording(PortolanMixin, MyTrainer)"
            )
    return None


def _watched(model: Any, call: Callable[[], Any]) -> tuple[Any, Any]:
    """(the result of `call`, the model's outputs during it). TRL's trainers make no table of scores in training. Asked for the outputs, they
    would pass the batch through the model once more, which costs time and random numbers."""
    seen: list[Any] = []
    with model.register_forward_hook(lambda module, given, outputs: seen.append(outputs)):
        answer = call()
    return answer, next((outputs for outputs in seen if getattr(outputs, "log_probs", None) is not None), seen[-1])


class _TrainForward(TrainerCallback):
    """The work of PortolanMixin between batches: opens the run, ends epochs, closes the run."""

    def __init__(self, recorder: _hooks.Recorder, what: _seen.What, why_unheard: str | None) -> None:
        self.recorder, self.epochs, self.what, self.why_unheard = recorder, _Epochs(), what, why_unheard
        self.seen: _seen.Seen | None = None

    def log(self, args: Any, model: Any, ids: Any, inputs: Any, outputs: Any) -> None:
        self.seen = self.seen or _seen.seen_of(args, model, self.what)
        self.seen.log(self.recorder, self.epochs.current, ids, inputs, outputs)

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        if self.what.observations is None:
            _seen.label_name(args, model, self.what)
        _open(self.recorder, args, state, model, self.what.how)
        self.epochs.begin(state)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.epochs.next()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.why_unheard is not None:
            self.recorder.say_if_empty(self.epochs.current, self.why_unheard)
        if control.should_save:  # the observations behind a checkpoint are on disk before it
            self.recorder.flush()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.recorder.end_epoch(self.epochs.current)
        if control.should_save:
            self.recorder.flush()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.recorder.close()


class _Epochs:
    """The number of the epoch. The state has a fraction, which at the end of an epoch is already the number of the next one."""

    current = 0

    def begin(self, state: Any) -> None:
        self.current = int((state.epoch or 0) + 1e-6) - 1

    def next(self) -> None:
        self.current += 1


class _Positions(WithIds):
    """Examples that are dicts, with their positions as one more entry."""

    def _with_id(self, index: int, example: Any) -> Any:
        return {**example, _trainer.IDS: self.id_of(index)}


def _signature(model: Any, args: Any) -> set[str]:
    """The columns that the Trainer keeps."""
    parameters = inspect.signature(_seen.base_model(model).forward).parameters
    return {*parameters, "label", "label_ids", *_seen.label_names(args, model)}


def _open(recorder: _hooks.Recorder, args: Any, state: Any, model: Any, how: _tokens.How) -> None:
    config = getattr(model, "config", None)
    more: dict[str, Any] = {}
    names = getattr(config, "id2label", None)
    if isinstance(names, Mapping) and len(names) > 1 and sorted(names) == list(range(len(names))):
        if any(name != f"LABEL_{number}" for number, name in names.items()):
            more["labels"] = [str(names[number]) for number in range(len(names))]
    record = _hooks.record(_seen.base_model(model), _hooks.versions_of("torch", "transformers", "accelerate"), args.seed, _chosen(args))
    name = getattr(config, "_name_or_path", None)
    if name:
        record["pretrained"] = str(name)
    if _seen.shifts(model) is not None:
        record["language"] = {"observations": "tokens" if how.tokens else "examples", "correct_share": how.correct_share}
    default = args.run_name or os.path.basename(os.path.normpath(args.output_dir or "trainer"))
    trial = getattr(state, "is_hyper_param_search", False)
    recorder.open(default, record, resumed=state.global_step > 0, trial=trial, open_run=open_run, **more)


def _chosen(args: Any) -> dict[str, Any]:
    """The arguments that differ from their defaults, with secrets masked as by the Trainer itself."""
    shown = args.to_dict()
    chosen = {}
    for field in fields(args):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.init and field.name in shown and getattr(args, field.name, default) != default:
            chosen[field.name] = shown[field.name]
    return chosen
