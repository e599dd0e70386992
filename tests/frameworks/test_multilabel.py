"""Examples with several labels: portolan.per_label in loops and hooks, against sigmoids by hand."""

import os

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

os.environ.setdefault("KERAS_BACKEND", "torch")

import portolan
import portolan.torch
from support import assert_trajectories

NAMES = ["comedy", "romance", "film noir"]


def data(missing=False):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(90, 5, generator=generator)
    y = (x[:, :3] + torch.randn(90, 3, generator=generator) > 0.5).float()
    if missing:
        y[::7, 1] = -100
    return x, y


def expected(logits, y, names=NAMES, ids=None):
    """{id: [p(gold)]} of the labels that are known."""
    p = 1 / (1 + np.exp(-np.asarray(logits, dtype=np.float64)))
    out = {}
    for row in range(len(y)):
        for k, name in enumerate(names):
            if y[row, k] in (0, 1):
                out[f"{row if ids is None else ids[row]}#{name}"] = [p[row, k] if y[row, k] == 1 else 1 - p[row, k]]
    return out


@pytest.mark.parametrize("missing", [False, True])
def test_observe(store, missing):
    x, y = data(missing)
    model = nn.Linear(5, 3)

    def forward(model, batch):
        ids, xb, yb = batch
        return portolan.per_label(ids, model(xb), yb, NAMES)

    with portolan.torch.open_run("run", model, store=store) as run:
        portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=32, shuffle=True), 0, forward=forward)
    wanted = expected(model(x).detach().numpy(), y)
    assert len(wanted) == (270 - 13 if missing else 270)
    assert_trajectories(store, 1, wanted)


def test_keras(store):
    keras = pytest.importorskip("keras")
    import portolan.keras

    x, y = (values.numpy() for values in data())
    for name, ids, labels, activation in (("named", [f"row {i}" for i in range(90)], NAMES, "sigmoid"), ("numbered", None, True, None)):
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3, activation=activation)])
        model.compile("sgd", keras.losses.BinaryCrossentropy(from_logits=activation is None))
        model.fit(x, y, verbose=0, callbacks=[portolan.keras.PortolanCallback(x, y, ids, name, per_label=labels, store=store)])
        weights, bias = (np.array(one, dtype=np.float64) for one in model.get_weights())
        assert_trajectories(store, 1, expected(x @ weights + bias, y, NAMES if labels is not True else "012", ids), name)


def test_the_trainer(store, tmp_path):
    transformers = pytest.importorskip("transformers")
    import portolan.transformers

    config = transformers.BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=3,
                                     problem_type="multi_label_classification")
    _, y = data()
    words = [[1, 4 + row % 9, 20 + row % 7] for row in range(90)]
    train = [{"id": f"text {row}", "input_ids": words[row], "labels": y[row].tolist()} for row in range(90)]
    model = transformers.BertForSequenceClassification(config)
    args = transformers.TrainingArguments(str(tmp_path / "out"), num_train_epochs=1, report_to=[], save_strategy="no", use_cpu=True)
    record = portolan.transformers.PortolanCallback(
        train, run="run", store=store,
        observations=lambda ids, inputs, outputs: portolan.per_label(ids, outputs.logits, inputs["labels"], NAMES))
    transformers.Trainer(model, args, train_dataset=train, callbacks=[record]).train()
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(words)).logits.numpy()
    assert_trajectories(store, 1, expected(logits, y, ids=[f"text {row}" for row in range(90)]))


def test_skorch(store):
    pytest.importorskip("skorch")
    from skorch import NeuralNet

    import portolan.skorch

    x, y = data()
    batches = []

    class Module(nn.Linear):
        def forward(self, x, id=None):
            return super().forward(x)

    def observations(batch, logits):
        inputs, gold = batch
        batches.append((inputs["id"], logits.detach(), gold))
        return portolan.per_label(inputs["id"], logits, gold, NAMES)

    record = portolan.skorch.PortolanCallback("run", "train-forward", scores="logits", observations=observations, store=store)
    net = NeuralNet(Module, module__in_features=5, module__out_features=3, criterion=nn.BCEWithLogitsLoss, max_epochs=1, train_split=None,
                    batch_size=32, verbose=0, callbacks=[record])
    net.fit({"x": x.numpy(), "id": np.arange(90)}, y)
    wanted = {}
    for ids, logits, gold in batches:
        wanted |= expected(logits.numpy(), gold, ids=ids.tolist())
    assert_trajectories(store, 1, wanted)


def test_where_it_is_refused_the_way_is_named(store):
    x, y = data()
    with portolan.torch.open_run("run", store=store) as run, pytest.raises(ValueError, match=r"multi-label.*portolan.per_label\(ids, logits, gold\)"):
        portolan.torch.observe(run, nn.Linear(5, 3), DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=32), 0)
