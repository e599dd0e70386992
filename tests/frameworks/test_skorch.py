"""portolan.skorch against the real skorch."""

import copy
import pickle

import numpy as np
import pytest
import skorch
import torch
from sklearn.base import clone
from skorch import NeuralNet, NeuralNetBinaryClassifier, NeuralNetClassifier
from torch import nn

import portolan
import portolan.skorch
from support import assert_trajectories, gold_probs, softmax

EXAMPLES, EPOCHS = 150, 3


def data(classes=3):
    rng = np.random.default_rng(0)
    gold = rng.integers(0, classes, EXAMPLES)
    x = rng.normal(size=(EXAMPLES, 5)).astype("f4")
    x[np.arange(EXAMPLES), gold] += 1
    return x, gold


class Module(nn.Module):
    """Linear, with dropout, which only training may feel; it takes ids as well, and does not use them."""

    def __init__(self, outputs=3, softmax=False, squeeze=False):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, outputs))
        self.softmax, self.squeeze = softmax, squeeze

    def forward(self, x, id=None):
        logits = self.layers(x)
        logits = logits.squeeze(-1) if self.squeeze else logits
        return torch.softmax(logits, -1) if self.softmax else logits


class Keep(skorch.callbacks.Callback):
    """A checkpoint of each epoch, and which rows were trained on."""

    def initialize(self):
        self.states_, self.rows_ = [], None
        return self

    def on_epoch_end(self, net, dataset_train=None, **kwargs):
        self.states_.append(copy.deepcopy(net.module_.state_dict()))
        self.rows_ = list(dataset_train.indices) if hasattr(dataset_train, "indices") else list(range(len(dataset_train)))


def net(callback=None, kind=NeuralNetClassifier, criterion=nn.CrossEntropyLoss, spy=None, **more):
    torch.manual_seed(7)
    callbacks = [(name, one) for name, one in (("keep", Keep()), ("portolan", callback), ("spy", spy)) if one is not None]
    return kind(Module, criterion=criterion, max_epochs=EPOCHS, batch_size=32, lr=0.3, iterator_train__shuffle=True, verbose=0,
                callbacks=callbacks, **more)


def kept(trained):
    return dict(trained.callbacks_)["keep"]


def by_hand(trained, x, gold, probabilities):
    """{row: [p(gold)]} of the rows trained on, from the checkpoints; `probabilities` of what the layers return."""
    columns = []
    for state in kept(trained).states_:
        module = copy.deepcopy(trained.module_)
        module.load_state_dict(state)
        module.eval()
        with torch.no_grad():
            columns.append(probabilities(module.layers(torch.from_numpy(x)).numpy()))
    return {row: [p[row, gold[row]] for p in columns] for row in kept(trained).rows_}


def sigmoid(logits):
    p = 1 / (1 + np.exp(-logits.astype(float).reshape(-1)))
    return np.stack([1 - p, p], axis=1)


CASES = {
    "logits": (3, {}, softmax),
    "probabilities": (3, {"criterion": nn.NLLLoss, "module__softmax": True}, softmax),
    "binary": (2, {"kind": NeuralNetBinaryClassifier, "criterion": nn.BCEWithLogitsLoss, "module__outputs": 1, "module__squeeze": True}, sigmoid),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("split", [True, False])
def test_a_pass_of_its_own(store, case, split):
    classes, more, probabilities = CASES[case]
    x, gold = data(classes)
    if not split:
        more = {**more, "train_split": None}
    y = gold.astype("f4") if case == "binary" else gold
    alone = net(**more).fit(x, y)
    callback = portolan.skorch.PortolanCallback("run", store=store)
    trained = net(callback, **more).fit(x, y)
    for a, b in zip(alone.module_.parameters(), trained.module_.parameters()):
        assert torch.equal(a, b), "training went another way"
    rows = kept(trained).rows_
    assert len(rows) == (120 if split else EXAMPLES)
    assert_trajectories(store, EPOCHS, by_hand(trained, x, gold, probabilities))


def test_ids_of_ones_own_and_the_train_mode_of_modules(store):
    x, gold = data()
    ids = [f"row/{i:03}" for i in range(EXAMPLES)]
    trained = net(portolan.skorch.PortolanCallback("run", ids=ids, store=store)).fit(x, gold)
    expected = by_hand(trained, x, gold, softmax)
    assert_trajectories(store, EPOCHS, {ids[row]: trajectory for row, trajectory in expected.items()})


def test_batches_as_they_are_trained_on(store):
    """What the module returned, dropout and all; nothing is computed twice."""
    x, gold = data()
    seen, forwards = [], []

    class Spy(skorch.callbacks.Callback):
        def on_batch_end(self, net, batch=None, training=None, y_pred=None, **kwargs):
            if training:
                seen.append((len(net.history) - 1, batch[0]["id"].tolist(), y_pred.detach().numpy().copy()))

    trained = net(portolan.skorch.PortolanCallback("run", mode="train-forward", store=store), spy=Spy())
    trained.initialize()
    trained.module_.register_forward_hook(lambda *_: forwards.append(1))
    ids = np.arange(EXAMPLES) + 1000
    trained.partial_fit({"x": x, "id": ids}, gold)
    expected = {}
    for _, names, logits in seen:
        for one, p in zip(names, gold_probs(logits, gold[np.array(names) - 1000])):
            expected.setdefault(one, []).append(p)
    assert len(expected) == 120 and {len(values) for values in expected.values()} == {EPOCHS}
    assert_trajectories(store, EPOCHS, expected)
    assert len(forwards) == EPOCHS * (4 + 1), "four batches of training, one of validation"


def test_batches_without_ids_are_refused(store):
    x, gold = data()
    with pytest.raises(ValueError, match=r"batches come shuffled.*'id': ids.*mode='epoch-end'"):
        net(portolan.skorch.PortolanCallback("run", mode="train-forward", store=store)).fit(x, gold)


def test_observations_of_ones_own(store):
    x, gold = data()
    x[:, 4] = np.arange(EXAMPLES)

    def observations(batch, y_pred):
        return batch[0][:, 4].long(), y_pred, batch[1]

    net(portolan.skorch.PortolanCallback("run", mode="train-forward", observations=observations, store=store)).fit(x, gold)
    assert set(portolan.measures("run", store=store)["epochs"]) == {EPOCHS}


def test_a_loss_that_is_not_known(store):
    class Mine(nn.CrossEntropyLoss.__base__):
        def forward(self, logits, gold):
            return nn.functional.cross_entropy(logits, gold)

    x, gold = data()
    with pytest.raises(ValueError, match="Mine is not known: say scores="):
        net(portolan.skorch.PortolanCallback("run", store=store), criterion=Mine).fit(x, gold)
    trained = net(portolan.skorch.PortolanCallback("run", scores="logits", store=store), criterion=Mine).fit(x, gold)
    assert_trajectories(store, EPOCHS, by_hand(trained, x, gold, softmax))


def test_logarithms_of_probabilities(store):
    """NeuralNet takes NLLLoss as torch has it."""
    x, gold = data()

    class LogSoftmax(Module):
        def forward(self, x, id=None):
            return torch.log_softmax(self.layers(x), -1)

    callback = portolan.skorch.PortolanCallback("run", store=store)
    trained = net(callback, kind=NeuralNet, criterion=nn.NLLLoss, train_split=None)
    trained.set_params(module=LogSoftmax)
    assert_trajectories(store, EPOCHS, by_hand(trained.fit(x, gold), x, gold, softmax))


def test_partial_fit_goes_on(store):
    x, gold = data()
    trained = net(portolan.skorch.PortolanCallback("run", store=store), train_split=None)
    trained.fit(x, gold, epochs=2)
    trained.partial_fit(x, gold, epochs=1)
    assert_trajectories(store, 3, by_hand(trained, x, gold, softmax))
    with pytest.raises(portolan.Refused, match="exists"):
        trained.fit(x, gold)


def test_scikit_learns_rules(store):
    callback = portolan.skorch.PortolanCallback("run", ids=[1, 2], store=store, overwrite=True)
    copied = clone(net(callback))
    copy_of_callback = dict(copied.callbacks)["portolan"]
    assert copy_of_callback is not callback and copy_of_callback.get_params()["store"] == store
    copied.set_params(callbacks__portolan__run="other", callbacks__portolan__ids=None)
    copied.initialize()
    x, gold = data()
    copied.fit(x, gold)
    assert len(portolan.measures("other", store=store)) == 120
    again = pickle.loads(pickle.dumps(copied))
    assert again.predict(x).tolist() == copied.predict(x).tolist()
    assert dict(again.callbacks_)["portolan"].run == "other"


def test_a_pass_in_another_order_is_refused(store):
    x, gold = data()
    with pytest.raises(ValueError, match="iterator_valid must not shuffle"):
        net(portolan.skorch.PortolanCallback("run", store=store), iterator_valid__shuffle=True).fit(x, gold)


def test_an_open_run_stays_open_and_the_record_is_the_nets(store, capfd, monkeypatch):
    x, gold = data()
    given = {}
    opened = portolan._recording._hooks.Recorder.open

    def spy(self, name, record, **more):
        given.update(record, name=name)
        return opened(self, name, record, **more)

    monkeypatch.setattr(portolan._recording._hooks.Recorder, "open", spy)
    with portolan.Run("mine", store=store) as run:
        net(portolan.skorch.PortolanCallback(run)).fit(x, gold)
        assert run.is_open and run.stats()["acknowledged"] == 120 * EPOCHS
    assert given["model"] == given["name"] == "Module" and given["versions"]["skorch"] == skorch.__version__
    assert given["parameters"] == {"lr": 0.3, "batch_size": 32, "max_epochs": 3, "optimizer": "SGD", "criterion": "CrossEntropyLoss"}
    assert "run mine: 360 observations on disk" in capfd.readouterr().err
