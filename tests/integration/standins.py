"""Stand-ins for torch, transformers and lightning: as much of each as their hooks touch, on NumPy arrays, so that the hooks' own logic is
tested where none of them is installed. tests/frameworks has the real ones."""

import contextlib
import sys
import types

import numpy as np


class Tensor(np.ndarray):
    """What the hooks ask of a tensor."""

    is_cuda = False

    def is_floating_point(self):
        return self.dtype.kind == "f"

    def to(self, device, non_blocking=False):
        return self


def tensor(values):
    return np.asarray(values).view(Tensor)


class Parameter:
    class device:
        type, index = "cpu", None


class Module:
    """A linear model that notes in which mode it was called."""

    def __init__(self, weights, children=()):
        self.weights, self.training, self._children, self.called_in = weights, True, children, []

    def modules(self):
        return [self, *self._children]

    def parameters(self):
        return iter([Parameter()])

    def buffers(self):
        return iter([])

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def forward(self, input_ids=None, labels=None):
        self.called_in.append(([module.training for module in self.modules()], torch.grad_enabled))
        return tensor(np.asarray(input_ids) @ self.weights)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


@contextlib.contextmanager
def no_grad():
    torch.grad_enabled = False
    try:
        yield
    finally:
        torch.grad_enabled = True


class Loader:
    """DataLoader: batches in order, collated as its collate_fn says, by default column by column."""

    def __init__(self, dataset, batch_size=1, collate_fn=None, sampler=None, **options):
        self.dataset, self.batch_size, self.sampler, self.options = dataset, batch_size, sampler, options
        self.collate_fn = collate_fn or self.columns

    @staticmethod
    def columns(examples):
        return [tensor([np.asarray(value) for value in column]) for column in zip(*examples)]

    def __iter__(self):
        order = range(len(self.dataset))
        for start in range(0, len(order), self.batch_size):
            yield self.collate_fn([self.dataset[i] for i in order[start : start + self.batch_size]])


def _module(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    return module


def _torch():
    empty = type("Empty", (), {})
    data = _module("torch.utils.data", Dataset=type("Dataset", (), {}), IterableDataset=type("IterableDataset", (), {}), DataLoader=Loader,
                   BatchSampler=type("BatchSampler", (), {}), Sampler=type("Sampler", (), {"__class_getitem__": classmethod(lambda cls, item: cls)}), Subset=type("Subset", (), {}), DistributedSampler=type("DistributedSampler", (), {}))
    nn = _module("torch.nn", parallel=types.SimpleNamespace(DistributedDataParallel=type("DistributedDataParallel", (), {})), Module=Module)
    module = _module("torch", __version__="0.stand-in", Tensor=Tensor, tensor=tensor, Generator=empty, no_grad=no_grad, nn=nn, grad_enabled=True,
                     random=types.SimpleNamespace(fork_rng=lambda devices: contextlib.nullcontext()), initial_seed=lambda: 42,
                     is_autocast_enabled=lambda: False, distributed=types.SimpleNamespace(is_available=lambda: False))
    module.utils = _module("torch.utils", data=data)
    return {"torch": module, "torch.nn": nn, "torch.utils": module.utils, "torch.utils.data": data}


class TrainerCallback:
    """Of transformers: every event does nothing."""

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)


def _transformers():
    auto = types.SimpleNamespace(modeling_auto=types.SimpleNamespace(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES={}))
    utils = types.SimpleNamespace(find_labels=lambda model_class: ["labels"])
    return {"transformers": _module("transformers", __version__="0.stand-in", TrainerCallback=TrainerCallback, utils=utils,
                                    models=types.SimpleNamespace(auto=auto))}


def _lightning():
    pytorch = _module("lightning.pytorch", Callback=type("Callback", (), {}))
    return {"lightning": _module("lightning", __version__="0.stand-in", pytorch=pytorch), "lightning.pytorch": pytorch}


def install():
    """Puts them where `import` finds them."""
    for make in (_torch, _transformers, _lightning):
        sys.modules.update(make())


install()
torch = sys.modules["torch"]
