"""Portolan for Lightning.

    import portolan.lightning

    trainer = L.Trainer(callbacks=[portolan.lightning.PortolanCallback("snli/seed1", store="portolan-store")])

records a pass over the training loader at the end of each epoch; with mode="train-forward" the logits that training_step returns.
client/python/docs/lightning.md has the details.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

if "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:  # the package's other name
    import pytorch_lightning as lightning_package
    from pytorch_lightning import Callback
else:
    import lightning as lightning_package
    from lightning.pytorch import Callback

import torch
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset

from portolan._recording import _hooks, _off
from portolan._recording._run import Run
from portolan.torch import evaluating, for_a_pass, logits_of, open_run, split_batch

__all__ = ["PortolanCallback"]

# (ids, logits, gold): of (outputs of training_step, batch), or of (module, batch) in a pass of its own.
Observations = Callable[[Any, Any], tuple[Any, Any, Any]]

_GOLD_KEYS = ("gold", "labels", "label", "target", "targets", "y")


class PortolanCallback(Callback):
    """Records how the module sees its training examples.

    Args:
        run: the run's name, or an open portolan.Run. Default: the module's class.
        mode: "epoch-end": a pass of its own over `loader` after each epoch, in eval mode, with the module's forward().
            "train-forward": what training_step returns, a dict with "loss" and "logits".
        loader: for the pass; default: the trainer's training loader, with the examples that drop_last leaves out.
        observations: ``f(module, batch) -> (ids, logits, gold)``, in train-forward mode ``f(outputs, batch)``, for batches or modules
            of other forms.
        ids, gold: names of the entries of batches that are dicts; batches may also be (ids, x, ..., y).
        task: "classification" or "regression", of one number for each example. Default: the first batch tells, see portolan.torch.observe().
        options: further arguments of portolan.Run: store, endpoint, labels, if_exists, ...

    Every process of the job records its share. Training that is resumed from a checkpoint continues the run.
    """

    def __init__(
        self,
        run: Run | str | None = None,
        *,
        mode: str = "epoch-end",
        loader: Any = None,
        observations: Observations | None = None,
        ids: str = "id",
        gold: str | None = None,
        task: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.mode, self.loader, self.observations, self.ids, self.gold = mode, loader, observations, ids, gold
        if _off.is_hook_off(self, PortolanCallback, run):
            return
        if mode not in ("epoch-end", "train-forward"):
            raise ValueError(f"mode must be 'epoch-end' or 'train-forward', not {mode!r}")
        if loader is not None and mode != "epoch-end":
            raise ValueError("loader is for the pass of its own, mode='epoch-end'")
        self._recorder = _hooks.Recorder("portolan.lightning.PortolanCallback", run, mode, options, task)

    @property
    def run(self) -> Run | None:
        """The run that is recorded; None before training begins."""
        return self._recorder.run

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        seed = os.environ.get("PL_GLOBAL_SEED", "")
        versions = {"torch": torch.__version__, "lightning": lightning_package.__version__}
        parameters = {
            **dict(getattr(pl_module, "hparams", None) or {}),
            "max_epochs": trainer.max_epochs,
            "accumulate_grad_batches": trainer.accumulate_grad_batches,
            "precision": trainer.precision,
        }
        record = _hooks.record(pl_module, versions, int(seed) if seed.isdecimal() else None, parameters)
        resumed = trainer.global_step > 0 or trainer.current_epoch > 0
        self._recorder.open(type(pl_module).__name__, record, resumed=resumed, open_run=open_run)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if isinstance(outputs, Mapping) and not outputs:
            outputs = None  # training_step skipped the batch
        if self.mode == "train-forward" and outputs is not None:
            observed = self.observations(outputs, batch) if self.observations else self._of_outputs(outputs, batch)
            self._recorder.log_logits(trainer.current_epoch, *observed)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if self.mode == "epoch-end":
            self._observe(trainer, pl_module)
        self._recorder.end_epoch(trainer.current_epoch)

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        self._recorder.flush()  # the observations behind a checkpoint are on disk before it

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._recorder.close()

    def _of_outputs(self, outputs: Any, batch: Any) -> tuple[Any, Any, Any]:
        if not isinstance(outputs, Mapping) or "logits" not in outputs:
            has = f"a dict with {', '.join(map(str, outputs))}" if isinstance(outputs, Mapping) else f"a {type(outputs).__name__}"
            raise ValueError(
                f'training_step returned {has}, without logits: return {{"loss": loss, "logits": logits}}, give observations=, or record a '
                "pass of its own, mode='epoch-end'"
            )
        gold = next((outputs[key] for key in _GOLD_KEYS if key in outputs), None)
        ids = outputs.get(self.ids, outputs.get("ids"))
        if ids is None or gold is None:
            batch_ids, _, batch_gold = split_batch(batch, self.ids, self.gold)
            ids, gold = batch_ids if ids is None else ids, batch_gold if gold is None else gold
        return ids, outputs["logits"], gold

    def _observe(self, trainer: Any, module: Any) -> None:
        loader = self._loader(trainer)
        strategy, precision = trainer.strategy, trainer.precision_plugin
        with evaluating(module, loader, self._recorder.run), precision.forward_context():
            for batch in for_a_pass(loader, self._recorder.run):
                batch = strategy.batch_to_device(precision.convert_input(batch))
                observed = self.observations(module, batch) if self.observations else self._of_module(module, batch)
                self._recorder.log_logits(trainer.current_epoch, *observed)

    def _of_module(self, module: Any, batch: Any) -> tuple[Any, Any, Any]:
        ids, inputs, gold = split_batch(batch, self.ids, self.gold)
        return ids, logits_of(module(**inputs) if isinstance(inputs, Mapping) else module(*inputs)), gold

    def _loader(self, trainer: Any) -> Any:
        """The loader that this process passes over."""
        loader = self.loader if self.loader is not None else trainer.train_dataloader
        if not callable(getattr(loader, "__iter__", None)) or isinstance(loader, (Mapping, list, tuple)):
            raise ValueError(f"the training loader is a {type(loader).__name__}: give loader=, one that yields (ids, x, ..., y) or dicts")
        if self.loader is None or trainer.world_size == 1 or not isinstance(loader, DataLoader):
            return loader
        if isinstance(loader.dataset, IterableDataset) or isinstance(loader.sampler, DistributedSampler) or loader.batch_size is None:
            return loader
        return DataLoader(
            loader.dataset,
            batch_size=loader.batch_size,
            sampler=DistributedSampler(loader.dataset, trainer.world_size, trainer.global_rank, shuffle=False),
            num_workers=loader.num_workers,
            collate_fn=loader.collate_fn,
            pin_memory=loader.pin_memory,
        )
