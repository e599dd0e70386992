"""A sampler that leaves out well-learned examples at random, and weighs the others so that gradients stay as they are on average."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import Sampler

from portolan._recording import _device

_MOST_ARRIVING = 4  # batches of losses on their way from a device; beyond, a call waits for the oldest


class InfoBatchSampler(Sampler[int]):
    """InfoBatch (Qin et al. 2024): of the examples whose last loss is below the mean, each epoch leaves the share `ratio` out, at random; the
    others of them count more, so that the expected sum of the losses is that of all examples.

    Args:
        dataset: what is trained on, or how many examples that has. The sampler yields positions in it.
        epochs: for how many epochs is trained. Each ``iter()``, which a DataLoader calls once an epoch, begins the next one.
        ratio: the share of the well-learned examples that is left out, from 0 to below 1.
        until: after this share of the epochs nothing is left out any more.
        seed: of the draws. An epoch's draw depends on it, on the epoch, and on the losses.

    An example whose loss is not known, or is not finite, is never left out, and does not count for the mean. The loss may be that of any task.
    ``len()`` is that of the epoch drawn last. It is for one process; a loader that has it is for training alone: observe() takes another one.

    Example::

        sampler = portolan.torch.InfoBatchSampler(train_set, epochs=6)
        loader = DataLoader(portolan.torch.WithIds(train_set), batch_size=256, sampler=sampler)
        for epoch in range(6):
            for ids, x, y in loader:
                loss = sampler.loss(ids, nn.functional.cross_entropy(model(x), y, reduction="none"))
                ...
    """

    def __init__(self, dataset: Any, epochs: int, ratio: float = 0.5, until: float = 0.875, seed: int = 0) -> None:
        size = dataset if isinstance(dataset, int) else len(dataset)
        for name, wrong, says in (
            ("dataset", size < 1, "it has no examples"),
            ("epochs", epochs < 1, "at least 1"),
            ("ratio", not 0 <= ratio < 1, "a share from 0 to below 1"),
            ("until", not 0 <= until <= 1, "a share from 0 to 1"),
        ):
            if wrong:
                raise ValueError(f"InfoBatchSampler: {name}: {says}")
        if torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            raise RuntimeError("InfoBatchSampler is for one process: in several, each would know the losses of its own share alone")
        self.epochs, self.ratio, self.until, self.seed = epochs, ratio, until, seed
        self.epoch = 0  # how many have begun
        self._losses = torch.full((size,), torch.nan, dtype=torch.float64)
        self._arriving: deque[_device.Losses] = deque()  # from a device, in the order in which they were given
        self.weights = torch.ones(size)
        self._size = size

    @property
    def losses(self) -> torch.Tensor:
        """(examples,) the last loss of each, NaN where it is not known."""
        self._arrive(0)
        return self._losses

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        draws = torch.Generator().manual_seed((self.seed << 20) + self.epoch)
        self.epoch += 1
        losses = self.losses
        self.weights = torch.ones(len(losses))
        known = torch.isfinite(losses)
        if self.epoch <= self.until * self.epochs and known.any():
            learned = torch.nonzero(known & (losses < losses[known].mean())).flatten()
            learned = learned[torch.randperm(len(learned), generator=draws)]
            kept = max(1, int((1 - self.ratio) * len(learned) + 1e-9))
            self.weights[learned[:kept]] = len(learned) / kept
            self.weights[learned[kept:]] = 0
        taken = torch.nonzero(self.weights).flatten()
        self._size = len(taken)
        return iter(taken[torch.randperm(len(taken), generator=draws)].tolist())

    def loss(self, indices: Any, losses: torch.Tensor) -> torch.Tensor:
        """Keeps the losses of a batch's examples, and returns their weighted mean, to go backward from. Losses on an accelerator are
        copied behind the work that is queued, and nothing here waits for it.

        Args:
            indices: the examples' positions in the dataset, as ids from WithIds are.
            losses: one for each, as ``reduction="none"`` gives them.
        """
        places = torch.as_tensor(indices, device="cpu")
        if losses.ndim != 1 or losses.shape != places.shape:
            raise ValueError(f"one loss for each of {len(places)} examples, not a tensor of shape {tuple(losses.shape)}: reduction='none'")
        weights = self.weights[places]
        if _device.is_remote(losses):
            self._arriving.append(_device.Losses(self.epoch, places, {"loss": losses}))
            self._arrive(_MOST_ARRIVING)
            weights = _device.send(weights, losses.device)
        else:
            self.losses[places] = losses.detach().to("cpu", torch.float64)
        return (losses * weights.to(losses)).mean()

    def _arrive(self, most: int) -> None:
        """Keeps the losses that have arrived, and waits while more than `most` batches are on their way."""
        while self._arriving and (len(self._arriving) > most or self._arriving[0].has_arrived()):
            self._arriving.popleft().deliver(self._keep)

    def _keep(self, epoch: int, kind: int, places: Any, losses: Any, *others: Any) -> None:
        self._losses[places] = losses.to(torch.float64)

    def columns(self, indices: Any) -> dict[str, Any]:
        """The weights of examples at the present epoch, for ``columns=`` of run.log_logits(): 0 is left out, 1 as it is."""
        return {"infobatch_weight": self.weights[torch.as_tensor(indices, device="cpu")].numpy()}

    def state_dict(self) -> dict[str, Any]:
        """What load_state_dict() goes on from after the epochs that have begun; for a checkpoint between two epochs."""
        return {"epoch": self.epoch, "losses": self.losses.clone(), "weights": self.weights.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if len(state["losses"]) != len(self.losses):
            raise ValueError(f"the state is that of {len(state['losses']):,} examples, and there are {len(self.losses):,}")
        self.epoch, self._losses, self.weights = int(state["epoch"]), state["losses"].clone(), state["weights"].clone()
        self._size = int((self.weights > 0).sum())
