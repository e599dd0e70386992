"""portolan.lightning against the real Lightning."""

from pathlib import Path

import numpy as np
import pytest
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint

import portolan
import portolan.torch
from pl_train import EPOCHS, EXAMPLES, Module, fit, loader
from portolan.lightning import PortolanCallback
from python_regressors import check_numbers
from support import assert_trajectories, counts, gold_probs, kill_at, run_page, run_script, trajectories
from torch_model import Model, data

SCRIPT = Path(__file__).with_name("pl_train.py")


def by_hand(folder, epochs=range(EPOCHS)):
    x, y = data(EXAMPLES).tensors
    columns = []
    for epoch in epochs:
        module = Module.load_from_checkpoint(f"{folder}/epoch={epoch}.ckpt").eval()
        columns.append(gold_probs(module(x).detach().numpy(), y.numpy()))
    return dict(enumerate(np.stack(columns, 1).tolist()))


def checkpoints(folder):
    return ModelCheckpoint(folder, filename="{epoch}", save_top_k=-1, save_on_train_epoch_end=True)


def weights(module):
    return torch.cat([value.detach().float().reshape(-1) for value in module.state_dict().values()])


class Logits(Callback):
    """What the steps gave, by hand."""

    def __init__(self):
        self.seen = {}

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        ids, _, y = batch
        for one, p in zip(ids.tolist(), gold_probs(outputs["logits"].numpy(), y.numpy())):
            self.seen.setdefault(one, []).append(p)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_end_pass_is_what_the_checkpoints_say_and_changes_nothing(store, tmp_path, workers, capfd):
    alone = fit(tmp_path, [], loaders=loader(workers))
    callback = PortolanCallback("run", store=store)
    observed = fit(tmp_path, [callback, checkpoints(tmp_path)], loaders=loader(workers))
    assert torch.equal(weights(alone), weights(observed))
    assert_trajectories(store, EPOCHS, by_hand(tmp_path))
    assert "270 observations on disk" in capfd.readouterr().err and not callback.run.is_open


def test_the_training_pass(store, tmp_path):
    alone, logits = fit(tmp_path, []), Logits()
    recorded = fit(tmp_path, [PortolanCallback("run", mode="train-forward", store=store), logits])
    assert torch.equal(weights(alone), weights(recorded))
    assert_trajectories(store, EPOCHS, logits.seen)


@pytest.mark.parametrize("options", [{"accumulate_grad_batches": 4}, {"limit_train_batches": 3}, {"precision": "bf16-mixed"},
                                     {"val_check_interval": 0.5}, {"num_sanity_val_steps": 0}, {"gradient_clip_val": 0.5}])
def test_what_a_trainer_can_be_asked(store, tmp_path, options):
    fit(tmp_path, [PortolanCallback("pass", store=store), checkpoints(tmp_path)], **options)
    assert set(counts(store, "pass").values()) == {EPOCHS} and len(counts(store, "pass")) == EXAMPLES
    if "precision" not in options:
        assert_trajectories(store, EPOCHS, by_hand(tmp_path), "pass")
    fit(tmp_path, [PortolanCallback("forward", mode="train-forward", store=store)], **options)
    seen = sum(counts(store, "forward").values())
    assert seen == EPOCHS * (48 if "limit_train_batches" in options else EXAMPLES)


@pytest.mark.parametrize("options", [{"drop_last": True}, {"workers": 2, "persistent_workers": True}])
def test_loaders_that_drop_examples_and_workers_that_persist(store, tmp_path, capfd, options):
    alone = fit(tmp_path, [], loaders=loader(**options))
    observed = fit(tmp_path, [PortolanCallback("run", store=store), checkpoints(tmp_path)], loaders=loader(**options))
    assert torch.equal(weights(alone), weights(observed))
    assert_trajectories(store, EPOCHS, by_hand(tmp_path))
    assert "drop_last" not in capfd.readouterr().err


def test_augmentation_in_workers_that_persist_goes_the_same_way(store, tmp_path):
    def augmented():
        dataset = portolan.torch.WithIds(Augmented(*data(EXAMPLES).tensors))
        return torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)

    alone = fit(tmp_path, [], loaders=augmented())
    assert torch.equal(weights(alone), weights(fit(tmp_path, [PortolanCallback("run", store=store)], loaders=augmented())))


class Augmented(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + torch.randn_like(x), y


def test_examples_that_share_an_id_are_refused_before_training(store, tmp_path, capfd):
    ids = np.arange(EXAMPLES) % (EXAMPLES - 1)
    with pytest.raises(ValueError, match="WithIds: rows 0 and 89 have the same id, 0; of the 90 ids 89 differ"):
        portolan.torch.WithIds(data(EXAMPLES), ids)
    with pytest.raises(ValueError, match="rows 0 and 89 of the Subset are the same example, 0 of its dataset"):
        portolan.torch.WithIds(torch.utils.data.Subset(data(EXAMPLES), ids))
    examples = [(one, x, y) for one, (x, y) in zip(ids.tolist(), data(EXAMPLES))]  # that nobody could look at
    fit(tmp_path, [PortolanCallback("run", store=store)], loaders=torch.utils.data.DataLoader(examples, batch_size=16, shuffle=True))
    said = [line for line in capfd.readouterr().err.splitlines() if "id 0 was logged in this epoch before" in line]
    assert len(said) == 1 and said[0].startswith("portolan: run run: epoch 0: ")


def test_a_loader_of_its_own_and_functions_of_ones_own(store, tmp_path):
    own = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(EXAMPLES) + 1000, *data(EXAMPLES).tensors), batch_size=40)
    seen = []

    def observations(module, batch):
        seen.append(module.training)
        return batch[0], module.net(batch[1]), batch[2]

    fit(tmp_path, [PortolanCallback("run", loader=own, observations=observations, store=store), checkpoints(tmp_path)])
    assert_trajectories(store, EPOCHS, {one + 1000: p for one, p in by_hand(tmp_path).items()})
    assert not any(seen)
    fit(tmp_path, [PortolanCallback("forward", mode="train-forward", store=store,
                                    observations=lambda outputs, batch: (batch[0], outputs["logits"], batch[2]))])
    assert set(counts(store, "forward").values()) == {EPOCHS}


@pytest.mark.parametrize("gives, message", [("loss", "training_step returned a dict with loss, without logits"), ("dict", "a dict with loss, other")])
def test_steps_without_logits_are_said_at_the_first_batch(store, tmp_path, gives, message):
    with pytest.raises(ValueError, match=message):
        fit(tmp_path, [PortolanCallback("run", mode="train-forward", store=store)], Module(gives))
    fit(tmp_path, [PortolanCallback("pass", store=store)], Module(gives))
    assert set(counts(store, "pass").values()) == {EPOCHS}, "a pass of its own asks nothing of training_step"


def test_steps_that_skip_a_batch(store, tmp_path):
    fit(tmp_path, [PortolanCallback("run", mode="train-forward", store=store)], Module("nothing"))
    assert sum(counts(store).values()) == EPOCHS * 48


def test_the_default_name_the_record_and_wrong_arguments(store, tmp_path):
    callback = PortolanCallback(store=store)
    fit(tmp_path, [callback])
    assert callback.run.name == "Module"
    with pytest.raises(portolan.Refused):
        fit(tmp_path, [PortolanCallback(store=store)])
    with pytest.raises(ValueError, match="mode must be"):
        PortolanCallback(mode="both")
    with pytest.raises(ValueError, match="loader is for the pass"):
        PortolanCallback(mode="train-forward", loader=loader())
    with pytest.raises(ValueError, match="2 entries.*WithIds"):
        fit(tmp_path, [PortolanCallback("plain", store=store, loader=torch.utils.data.DataLoader(data(EXAMPLES)))])


def test_an_exception_leaves_the_run_usable(store, tmp_path):
    class Fails(Callback):
        def on_train_batch_start(self, trainer, module, batch, batch_idx):
            if trainer.current_epoch == 1 and batch_idx == 2:
                raise ArithmeticError("in the middle")

    callback = PortolanCallback("run", store=store)
    with pytest.raises(ArithmeticError):
        fit(tmp_path, [callback, checkpoints(tmp_path), Fails()])
    assert callback.run.is_open and callback.run.flush()
    fit(tmp_path, [callback, checkpoints(tmp_path)], ckpt_path=f"{tmp_path}/epoch=0.ckpt")
    assert set(counts(store).values()) == {EPOCHS}
    _, values = trajectories(store, EPOCHS)
    expected = by_hand(tmp_path, [0])
    np.testing.assert_allclose(values[:, 0], [expected[i][0] for i in range(EXAMPLES)], atol=1e-6)


@pytest.mark.parametrize("mode", ["train-forward", "epoch-end"])
def test_killed_and_resumed(store, stores, tmp_path, mode):
    """Lightning does not restore the order of a shuffling loader: what a step sees after resuming is another batch, but every example is
    there once, and what the checkpoint had seen is as it was."""
    kill_at(SCRIPT, "step 1 3", store, mode, tmp_path)
    _, before = trajectories(store, 1)
    run_script(SCRIPT, store, mode, tmp_path, "resume")
    ids, values = trajectories(store, EPOCHS)
    assert ids == list(range(EXAMPLES)) and set(counts(store).values()) == {EPOCHS}
    np.testing.assert_array_equal(values[:, 0], before[:, 0])
    if mode == "epoch-end":
        assert_trajectories(store, EPOCHS, by_hand(tmp_path))


@pytest.mark.parametrize("mode", ["train-forward", "epoch-end"])
def test_two_processes(store, tmp_path, mode):
    run_script(SCRIPT, store, mode, tmp_path, ranks=2)
    assert set(counts(store)) == set(range(EXAMPLES)) and set(counts(store).values()) == {EPOCHS}
    if mode == "epoch-end":
        assert_trajectories(store, EPOCHS, by_hand(tmp_path))


def test_the_page(tmp_path, stores):
    stores.append(tmp_path / "portolan-store")
    run_page("lightning.md", tmp_path)
    for run, epochs in {"toy/lightning": 4, "toy/forward": 4}.items():
        assert set(counts(stores[-1], run).values()) == {epochs}, run


class Regression(Module):
    """Its targets are numbers beyond -1 and 1, which its first batch shows."""

    def __init__(self):
        super().__init__()
        self.net = Model(1)

    def training_step(self, batch, batch_idx):
        _, x, y = batch
        predicted = self(x)
        return {"loss": torch.nn.functional.mse_loss(predicted[:, 0], y), "logits": predicted.detach()}


class Predicted(Callback):
    """What the steps gave, by hand."""

    def __init__(self):
        self.epochs = np.zeros((EPOCHS, EXAMPLES))

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.epochs[trainer.current_epoch, batch[0].numpy()] = outputs["logits"].double().numpy()[:, 0]


@pytest.mark.parametrize("task", [None, "regression"])
def test_a_regression(store, tmp_path, task):
    x, gold = data(EXAMPLES).tensors
    y = gold * 2.0 + x[:, 0]
    loaders = lambda: torch.utils.data.DataLoader(portolan.torch.WithIds(torch.utils.data.TensorDataset(x, y)), batch_size=16, shuffle=True)
    callback, steps = PortolanCallback("pass", task=task, store=store), Predicted()
    forward = PortolanCallback("forward", mode="train-forward", task=task, store=store)
    fit(tmp_path, [callback, forward, steps, checkpoints(tmp_path)], Regression(), loaders(), num_sanity_val_steps=0)
    modules = [Regression.load_from_checkpoint(f"{tmp_path}/epoch={epoch}.ckpt").eval() for epoch in range(EPOCHS)]
    check_numbers(store, "pass", [module(x).detach().double().numpy()[:, 0] for module in modules], y.numpy(), rtol=1e-4)
    check_numbers(store, "forward", steps.epochs, y.numpy())
