"""$PORTOLAN_DISABLED=1: each hook trains the same model as without it, makes no pass, starts no collector, leaves no file, and says nothing.
Each framework is asked for alone, so that one that is not there leaves the others."""

import copy
import os
import pickle

import numpy as np
import pytest
import torch
from torch import nn

import portolan
import portolan.language
import portolan.torch

os.environ.setdefault("KERAS_BACKEND", "torch")


@pytest.fixture(autouse=True)
def off(monkeypatch, tmp_path, capfd):
    """The working directory. Afterwards it holds no store, and the hook has said nothing."""
    monkeypatch.setenv("PORTOLAN_DISABLED", "1")
    monkeypatch.setenv("PORTOLAND", "/nonexistent/portoland")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not (tmp_path / "store").exists() and not (tmp_path / "portolan-store").exists()
    assert "portolan" not in "".join(capfd.readouterr())


def data():
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 120)
    x = rng.normal(size=(120, 5)).astype("f4")
    x[np.arange(120), gold] += 1
    return x, gold


def check_hook(hook):
    """What a hook is when recording is off: of its class, also after it was copied, with a run that counts nothing."""
    for one in (hook, copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        assert isinstance(one, type(hook).__mro__[1])
    if "run" in dir(hook) and isinstance(hook.run, portolan.Run):
        assert hook.run.is_disabled and hook.run.stats()["logged"] == 0


class Refusing(nn.Module):
    """A model that no pass may call in eval mode."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 3)

    def forward(self, x):
        assert self.training, "a pass of its own"
        return self.layer(x)


def test_torch(off):
    x, gold = data()
    train = portolan.torch.WithIds(torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(gold)), ids=[7] * 120)
    loader = torch.utils.data.DataLoader(train, batch_size=32)
    model = Refusing()
    with portolan.torch.open_run("run", model, store=off / "store") as run:
        assert portolan.torch.observe(run, model, loader, 0) == 0
        assert portolan.torch.observe(run, model, loader, 0, loss=nn.functional.mse_loss, task="neither") == 0
        assert portolan.language.observe(run, model, loader, 0) == 0
        portolan.language.log(run, 0, [1], None, None)
        run.log_logits(0, *next(iter(loader)))
    assert len(next(iter(loader))) == 3, "the loop takes the ids as before"


def test_trainer(off):
    transformers = pytest.importorskip("transformers")
    import portolan.transformers
    from hf import RecordingTrainer, arguments, collate, make_model, rows

    class Mine(portolan.transformers.PortolanCallback):
        seen = 0

        def on_epoch_end(self, *arguments, **more):
            self.seen += 1
            super().on_epoch_end(*arguments, **more)

    def trained(kind=transformers.Trainer, **more):
        model = make_model()
        kind(model, arguments(off / "out"), train_dataset=rows(), data_collator=collate, **more).train()
        return torch.cat([p.detach().reshape(-1) for p in model.parameters()])

    alone = trained()
    hook = portolan.transformers.PortolanCallback(rows(), "no such column", "run", store=off / "store")
    mine = Mine(rows(), "guid", store=off / "store")
    assert torch.equal(trained(callbacks=[hook, mine]), alone) and mine.seen == 3
    check_hook(hook)
    assert hook.dataset == rows() and type(hook).__name__ == "PortolanCallback"
    assert torch.equal(trained(RecordingTrainer, portolan={"id_column": "guid", "run": "run", "store": off / "store"}), alone)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("ids", [int, str])
def test_trainer_keeps_ids_from_the_model(off, ids, listed):
    """remove_unused_columns=False leaves all columns in the batch: recording takes the ids out, and so must a trainer that does not record."""
    transformers = pytest.importorskip("transformers")
    datasets = pytest.importorskip("datasets")
    import portolan.transformers
    from hf import arguments

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(5, 3)

        def forward(self, x, labels=None):
            scores = self.layer(x)
            return {"loss": nn.functional.cross_entropy(scores, labels), "logits": scores}

    class Recording(portolan.transformers.PortolanMixin, transformers.Trainer):
        pass

    x, gold = data()
    columns = {"x": x.tolist(), "labels": gold.tolist()}

    def trained(kind, columns, **more):
        torch.manual_seed(0)
        model = Model()
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())] if listed else datasets.Dataset.from_dict(columns)
        kind(model, arguments(off / "out", remove_unused_columns=False, num_train_epochs=1, save_strategy="no"), train_dataset=rows, **more).train()
        return model.layer.weight

    alone = trained(transformers.Trainer, columns)
    given = {"id_column": "guid", "run": "run", "store": off / "store"}
    assert torch.equal(trained(Recording, {**columns, "guid": [ids(i) for i in range(120)]}, portolan=given), alone)
    assert torch.equal(trained(Recording, columns, portolan=given), alone), "no such column"
    assert torch.equal(trained(Recording, columns, portolan={**given, "id_column": None}), alone)


def test_lightning(off):
    pytest.importorskip("lightning")
    import lightning as L
    import portolan.lightning

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.inner = Refusing()

        def training_step(self, batch):
            return nn.functional.cross_entropy(self.inner(batch[1]), batch[2])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    x, gold = data()
    loader = torch.utils.data.DataLoader(portolan.torch.WithIds(torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(gold))), batch_size=32)
    hook = portolan.lightning.PortolanCallback("run", mode="neither", store=off / "store")
    check_hook(hook)
    L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu", callbacks=[hook]).fit(Module(), loader)


def test_keras(off):
    keras = pytest.importorskip("keras")
    import portolan.keras

    x, gold = data()

    def trained(callbacks):
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.predict = None
        model.fit(x, gold, epochs=2, verbose=0, callbacks=callbacks)
        return model.get_weights()

    hook = portolan.keras.PortolanCallback(x, gold, ids=[1, 1], run="run", scores="neither", store=off / "store")
    for alone, beside in zip(trained([]), trained([hook])):
        np.testing.assert_array_equal(alone, beside)
    check_hook(hook)


def test_skorch(off):
    skorch = pytest.importorskip("skorch")
    import portolan.skorch
    from sklearn.base import clone

    x, gold = data()
    hook = portolan.skorch.PortolanCallback("run", mode="neither", store=off / "store")
    net = skorch.NeuralNetClassifier(Refusing, criterion=nn.CrossEntropyLoss, max_epochs=2, train_split=None, verbose=0, callbacks=[("record", hook)])
    net.set_params(callbacks__record__run="other")
    clone(net).fit(x, gold.astype("i8"))
    net.fit(x, gold.astype("i8"))
    pickle.loads(pickle.dumps(net))
    check_hook(hook)


def test_xgboost(off):
    xgboost = pytest.importorskip("xgboost")
    import portolan.xgboost

    x, gold = data()
    train = xgboost.DMatrix(x, gold)
    given = {"objective": "multi:softprob", "num_class": 3, "seed": 3, "nthread": 1}
    hook = portolan.xgboost.PortolanCallback(train, ids=[1], every=0, run="run", store=off / "store")
    booster = xgboost.train(given, train, 4, callbacks=[hook])
    assert booster.save_raw("json") == xgboost.train(given, train, 4).save_raw("json")
    check_hook(hook)


def test_lightgbm(off):
    lightgbm = pytest.importorskip("lightgbm")
    import portolan.lightgbm

    x, gold = data()
    given = {"objective": "multiclass", "num_class": 3, "seed": 3, "num_threads": 1, "deterministic": True, "verbose": -1}
    hook = portolan.lightgbm.PortolanCallback("run", every=0, store=off / "store")
    booster = lightgbm.train(given, lightgbm.Dataset(x, gold), 4, callbacks=[hook])
    assert booster.model_to_string() == lightgbm.train(given, lightgbm.Dataset(x, gold), 4).model_to_string()
    hook.close()
    check_hook(hook)
