"""The hooks for Keras and skorch against stand-ins: the order of calls, ids, epochs, what is logits and what is probabilities. The real
ones are in tests/frameworks."""

import sys
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import portolan
import standins

N, CLASSES, FEATURES = 25, 3, 4
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(N, FEATURES))
Y = GENERATOR.integers(0, CLASSES, N)
WEIGHTS = GENERATOR.normal(size=(FEATURES, CLASSES))


def softmax(z):
    p = np.exp(z - z.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


EXPECTED = softmax(X @ WEIGHTS)[np.arange(N), Y]


def assert_recorded(store, epochs, ids=range(N), name="run", expected=EXPECTED):
    m = portolan.measures(name, store=store)
    assert m["id"].tolist() == list(ids) and set(m["epochs"]) == {epochs}
    np.testing.assert_allclose(m["confidence"], expected, atol=1e-6)
    for epoch in range(epochs):
        assert len(portolan.measures(name, store=store, epochs=(epoch, epoch + 1))) == N


def keras_stand_in():
    class Callback:
        model, params = None, {"epochs": 2}

    module = types.ModuleType("keras")
    module.__version__ = "0.stand-in"
    module.callbacks = types.SimpleNamespace(Callback=Callback)
    module.backend = types.SimpleNamespace(backend=lambda: "numpy")
    module.ops = types.SimpleNamespace(is_tensor=lambda x: isinstance(x, standins.Tensor), convert_to_numpy=np.asarray)
    return module


def skorch_stand_in():
    class Callback:
        def _get_param_names(self):
            return [name for name in self.__dict__ if not name.endswith("_")]

        def get_params(self, deep=True):
            return BaseEstimator.get_params(self, deep=deep)

    module = types.ModuleType("skorch")
    module.__version__ = "0.stand-in"
    module.NeuralNetClassifier, module.NeuralNetRegressor = (type(name, (), {}) for name in ("NeuralNetClassifier", "NeuralNetRegressor"))
    module.callbacks, module.dataset = types.ModuleType("skorch.callbacks"), types.ModuleType("skorch.dataset")
    module.helper = types.ModuleType("skorch.helper")
    module.callbacks.Callback, module.dataset.unpack_data = Callback, lambda batch: batch
    module.helper.SliceDataset = type("SliceDataset", (), {})
    return {f"skorch{one}": value for one, value in (("", module), (".callbacks", module.callbacks), (".dataset", module.dataset), (".helper", module.helper))}


standins.install()
torch = sys.modules["torch"]
for loss in ("CrossEntropyLoss", "BCEWithLogitsLoss", "NLLLoss", "BCELoss", "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
    setattr(torch.nn, loss, type(loss, (), {}))
torch.utils.data.SequentialSampler = type("SequentialSampler", (), {})
torch.get_rng_state, torch.set_rng_state = lambda: 1, lambda state: None
sys.modules["keras"] = keras_stand_in()
sys.modules.update(skorch_stand_in())

import portolan.keras  # noqa: E402
import portolan.skorch  # noqa: E402


class KerasModel:
    name = "little"

    def __init__(self, loss, output=lambda z: z):
        self.loss, self.output, self.passes = loss, output, []
        self.optimizer = types.SimpleNamespace(learning_rate=0.5)

    def predict(self, x, batch_size, verbose):
        assert verbose == 0
        self.passes.append((len(x), batch_size))
        return self.output(np.asarray(x) @ WEIGHTS)

    def fit(self, callback, epochs=2, initial_epoch=0):
        """The events of fit(), in its order."""
        callback.model = self
        callback.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            callback.on_epoch_begin(epoch)
            callback.on_epoch_end(epoch, {})
        callback.on_train_end()


def from_logits(value):
    return types.SimpleNamespace(from_logits=value, name="sparse_categorical_crossentropy")


@pytest.mark.parametrize("loss, output", [
    (from_logits(True), lambda z: z), (from_logits(False), softmax), ("sparse_categorical_crossentropy", softmax)])
def test_keras(store, loss, output, capfd):
    model = KerasModel(loss, output)
    callback = portolan.keras.PortolanCallback(X, Y, run="run", batch_size=10, store=store)
    model.fit(callback)
    assert model.passes == [(N, 10)] * 2 and not callback.run.is_open
    assert_recorded(store, 2)
    assert "run run: 50 observations on disk" in capfd.readouterr().err
    model.fit(portolan.keras.PortolanCallback(X, np.eye(CLASSES)[Y], run="run", store=store), epochs=3, initial_epoch=2)
    assert_recorded(store, 3)


def check_numbers(store, predicted, target, name="run"):
    d = portolan.dynamics(name, store=store)
    assert len(d) == 2 * N
    for epoch in range(2):
        row = d["id"][d["epoch"] == epoch].astype(int)
        np.testing.assert_allclose(d["task_loss"][d["epoch"] == epoch], (predicted - target)[row] ** 2, rtol=1e-5)
        np.testing.assert_allclose(d["target"][d["epoch"] == epoch], target[row], rtol=1e-6)


def test_keras_regression(store):
    targets = X[:, 0] + 1
    for name, loss, more in (("mse", "mse", {}), ("custom", "mine", {"task": "regression"}), ("two", "Huber", {"task": "regression"})):
        y = targets if name != "two" else np.round(np.clip(targets, 0, 1))
        KerasModel(loss, lambda z: z[:, :1]).fit(portolan.keras.PortolanCallback(X, y[:, None] if name == "mse" else y, run=name, store=store, **more))
        check_numbers(store, (X @ WEIGHTS)[:, 0], y, name)


def test_keras_ids_batches_and_outputs(store):
    names = [f"x{i:02}" for i in range(N)]
    model = KerasModel(None, lambda z: {"a": z, "b": z * 0})
    model.fit(portolan.keras.PortolanCallback(X, Y, names, "run", scores="logits", output="a", store=store))
    assert_recorded(store, 2, names)
    batches = [(names[start : start + 10], X[start : start + 10], Y[start : start + 10]) for start in range(0, N, 10)]
    KerasModel(from_logits(True)).fit(portolan.keras.PortolanCallback(batches, run="batches", store=store))
    assert_recorded(store, 2, names, "batches")
    with pytest.raises(ValueError, match="outputs 'a', 'b': say which"):
        model.fit(portolan.keras.PortolanCallback(X, Y, run="other", scores="logits", store=store))


def test_keras_refuses(store):
    callback = portolan.keras.PortolanCallback
    with pytest.raises(ValueError, match="'logits' or 'probs'"):
        callback(X, Y, scores="softmax")
    with pytest.raises(ValueError, match="2 ids and 25 labels"):
        callback(X, Y, [1, 2])
    with pytest.raises(ValueError, match="keras.PortolanCallback: rows 0 and 24 have the same id, 0; of the 25 ids 24 differ"):
        callback(X, Y, np.arange(N) % (N - 1))
    with pytest.raises(TypeError, match="iterable of batches"):
        callback(X)
    with pytest.raises(ValueError, match=r"predicted has the shape \(25, 3\)"):
        KerasModel("mse").fit(callback(X, Y, run="numbers", store=store))
    with pytest.raises(ValueError, match="the loss mse is one of regression, and y holds only 0 and 1. If these are targets, say task='regression'"):
        KerasModel("mse").fit(callback(X, Y > 0, run="run", store=store))
    with pytest.raises(ValueError, match="task must be 'classification' or 'regression', not 'numbers'"):
        callback(X, Y, task="numbers")
    with pytest.raises(ValueError, match="scores='probs' is what a classifier returns, and task='regression'"):
        callback(X, Y, scores="probs", task="regression")
    with pytest.raises(ValueError, match="multi-label"):
        KerasModel(from_logits(True)).fit(callback(X, np.ones((N, CLASSES), int), run="run", store=store))


class Net:
    """What the callback asks of a net. History: one entry per epoch."""

    lr, batch_size, max_epochs, optimizer = 0.1, 10, 2, None

    def __init__(self, criterion="CrossEntropyLoss", sampler="SequentialSampler"):
        self.module_, self.criterion_ = standins.Module(WEIGHTS), getattr(torch.nn, criterion)()
        self.history, self.sampler = History(), sampler

    def get_iterator(self, dataset, training):
        assert not training
        return standins.Loader(dataset, batch_size=10, sampler=getattr(torch.utils.data, self.sampler)())

    def evaluation_step(self, batch, training):
        assert not training
        return self.module_(batch[0])

    def fit(self, callback, dataset, epochs=2):
        callback.on_train_begin(self)
        for _ in range(epochs):
            self.history.append({"epoch": len(self.history) + 1})
            for x, y in standins.Loader(dataset, batch_size=10):
                callback.on_batch_end(self, batch=(x, y), training=True, y_pred=self.module_(x))
                callback.on_batch_end(self, batch=(x, y), training=False, y_pred=None)
            callback.on_epoch_end(self, dataset_train=dataset)
        callback.on_train_end(self)


class History(list):
    def __getitem__(self, key):
        return list.__getitem__(self, key[0])[key[1]] if isinstance(key, tuple) else list.__getitem__(self, key)


DATASET = list(zip(X, Y))


def test_skorch(store, capfd):
    net, callback = Net(), portolan.skorch.PortolanCallback("run", store=store)
    net.fit(callback, DATASET)
    assert_recorded(store, 2)
    assert "run run: 50 observations on disk" in capfd.readouterr().err
    net.fit(callback, DATASET, epochs=1)
    assert_recorded(store, 3)
    assert net.module_.training and ([False], False) in net.module_.called_in


@pytest.mark.parametrize("how", ["criterion", "net", "said"])
def test_skorch_regression(store, how):
    net = Net("MSELoss" if how == "criterion" else "BCELoss")
    if how == "net":
        net = type("Regressor", (Net, sys.modules["skorch"].NeuralNetRegressor), {})("BCELoss")
    net.module_ = standins.Module(WEIGHTS[:, :1])
    targets = X[:, 0] + 1
    net.fit(portolan.skorch.PortolanCallback("run", task="regression" if how == "said" else None, store=store), list(zip(X, targets)))
    check_numbers(store, (X @ WEIGHTS)[:, 0], targets)


def test_skorch_ids_of_ones_own(store):
    names = [f"x{i:02}" for i in range(N)]
    Net().fit(portolan.skorch.PortolanCallback("run", ids=names, store=store), DATASET)
    assert_recorded(store, 2, names)


def test_skorch_probabilities(store):
    net = Net("BCELoss")
    net.module_.forward = lambda x: standins.tensor(softmax(np.asarray(x) @ WEIGHTS))
    net.fit(portolan.skorch.PortolanCallback("run", store=store), DATASET)
    assert_recorded(store, 2)


def test_skorch_batches(store):
    places = {tuple(x): i + 500 for i, x in enumerate(X)}

    def observations(batch, y_pred):
        return [places[tuple(x)] for x in batch[0]], y_pred, batch[1]

    Net().fit(portolan.skorch.PortolanCallback("run", "train-forward", observations=observations, store=store), DATASET)
    assert_recorded(store, 2, range(500, 500 + N))
    with pytest.raises(ValueError, match="batches come shuffled"):
        Net().fit(portolan.skorch.PortolanCallback("other", "train-forward", store=store), DATASET)


def test_skorch_refuses(store):
    callback = portolan.skorch.PortolanCallback
    for wrong, says in ((callback("a", "forward"), "mode must be"), (callback("a", scores="x"), "scores must be"),
                        (callback("a", scores="logits", task="regression"), "scores='logits' is what a classifier returns"),
                        (callback("a", task="numbers"), "task must be 'classification' or 'regression'"),
                        (callback("a", ids=[f"x{i % 24}" for i in range(N)], store=store), "rows 0 and 24 have the same id, 'x0'"),
                        (callback("a", ids="id", store=store), "names an entry of an X that is a dict, and X has none")):
        with pytest.raises(ValueError, match=says):
            Net().fit(wrong, DATASET)
    with pytest.raises(ValueError, match="must not shuffle"):
        Net(sampler="DistributedSampler").fit(callback("b", store=store), DATASET)
