"""portolan.skorch against the real skorch."""

import copy
import pickle

import numpy as np
import pytest
import skorch
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from skorch import NeuralNet, NeuralNetBinaryClassifier, NeuralNetClassifier, NeuralNetRegressor
from skorch.helper import SliceDataset, SliceDict
from torch import nn
from torch.utils.data import TensorDataset

import portolan
import portolan.skorch
from python_regressors import check_numbers
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


class Own(nn.Module):
    """A loss that nobody knows."""

    def forward(self, predicted, target):
        return (predicted - target).abs().sqrt().mean()


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
    return kind(more.pop("module", Module), criterion=criterion, max_epochs=EPOCHS, batch_size=32, lr=0.3, iterator_train__shuffle=True, verbose=0,
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


@pytest.mark.parametrize("kind", [NeuralNetClassifier, NeuralNetBinaryClassifier])
def test_a_classifier_with_a_loss_of_regression(store, kind):
    """It says that its targets are classes; what its module returns the loss does not say."""
    x, gold = data(2)
    made = lambda **more: net(portolan.skorch.PortolanCallback("run", store=store, **more), kind, nn.MSELoss, module__outputs=1, module__squeeze=True)
    with pytest.raises(ValueError, match="MSELoss is not known: say scores="):
        made().fit(x, gold.astype("f4"))
    assert not store.exists(), "before a run is opened"


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


def test_an_open_run_stays_open_and_the_record_is_the_nets(store, opened_with, capfd):
    x, gold = data()
    with portolan.Run("mine", store=store) as run:
        net(portolan.skorch.PortolanCallback(run)).fit(x, gold)
        assert run.is_open and run.stats()["acknowledged"] == 120 * EPOCHS
    assert opened_with["model"] == opened_with["name"] == "Module" and opened_with["versions"]["skorch"] == skorch.__version__
    assert opened_with["parameters"] == {"lr": 0.3, "batch_size": 32, "max_epochs": 3, "optimizer": "SGD", "criterion": "CrossEntropyLoss"}
    assert "run mine: 360 observations on disk" in capfd.readouterr().err


def parts(x, gold):
    """Forms of X that say which rows of the whole a part holds, the callback's ids, and the id of each row."""
    names = np.array([f"row/{i:03}" for i in range(EXAMPLES)])
    numbers = np.arange(EXAMPLES) + 1000
    whole = TensorDataset(torch.from_numpy(x), torch.from_numpy(gold))
    return {
        "entry": (SliceDict(x=x, id=numbers), "id", numbers),
        "positions": (SliceDataset(whole), None, np.arange(EXAMPLES)),
        "names by position": (SliceDataset(whole), names.tolist(), names),
    }


@pytest.mark.parametrize("form", ["entry", "positions", "names by position"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_fold_of_cross_validation_is_a_run_with_the_ids_of_the_whole(store, form, n_jobs):
    x, gold = data()
    X, ids, names = parts(x, gold)[form]
    callback = portolan.skorch.PortolanCallback("run", ids=ids, folds=True, store=store)
    crossed = cross_validate(net(callback, train_split=None), X, gold, cv=3, n_jobs=n_jobs, error_score="raise", return_estimator=True)
    assert np.isfinite(crossed["test_score"]).all()
    assert set(portolan.runs(store=store)["name"]) == {"run/fold0", "run/fold1", "run/fold2"}
    # Those that run at the same time get their numbers as they begin: which run is whose, its ids say.
    run_of = {frozenset(portolan.measures(f"run/fold{k}", store=store)["id"].tolist()): f"run/fold{k}" for k in range(3)}
    for number, ((train, _), one) in enumerate(zip(StratifiedKFold(3).split(x, gold), crossed["estimator"])):
        name = run_of[frozenset(names[train].tolist())]
        assert n_jobs > 1 or name == f"run/fold{number}"
        expected = by_hand(one, x[train], gold[train], softmax)
        assert_trajectories(store, EPOCHS, {names[train[row]].item(): values for row, values in expected.items()}, name)


def test_a_search_and_a_split_of_its_own(store):
    """The rows that train_split holds out are not recorded; the fit on the whole, after the search, is a run as well."""
    x, gold = data()
    callback = portolan.skorch.PortolanCallback("run", folds=True, store=store)
    X = SliceDataset(TensorDataset(torch.from_numpy(x), torch.from_numpy(gold)))
    search = GridSearchCV(net(callback), {"lr": [0.1, 0.3]}, cv=2, error_score="raise").fit(X, gold)
    assert portolan.runs(store=store)["name"].tolist() == [f"run/fold{k}" for k in range(5)]
    seen = set(portolan.measures("run/fold0", store=store)["id"].tolist())
    train, held_out = next(StratifiedKFold(2).split(x, gold))
    assert len(seen) == 60 and seen < set(train.tolist()) and not seen & set(held_out.tolist())
    assert_trajectories(store, EPOCHS, by_hand(search.best_estimator_, x, gold, softmax), "run/fold4")
    search.best_estimator_.partial_fit(X, gold, epochs=1)
    assert set(portolan.measures("run/fold4", store=store)["epochs"]) == {EPOCHS + 1}, "goes on with its run"


def test_folds_of_the_training_pass(store):
    x, gold = data()
    callback = portolan.skorch.PortolanCallback("run", mode="train-forward", folds=True, store=store)
    cross_validate(net(callback, train_split=None), SliceDict(x=x, id=np.arange(EXAMPLES)), gold, cv=2, error_score="raise")
    for number, (train, _) in enumerate(StratifiedKFold(2).split(x, gold)):
        m = portolan.measures(f"run/fold{number}", store=store)
        assert m["id"].tolist() == train.tolist() and set(m["epochs"]) == {EPOCHS}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_without_folds_is_scored_and_not_recorded(store, capfd, n_jobs, monkeypatch):
    """A part's row numbers are no ids, and a second fit of one name is refused: so none of them is recorded."""
    monkeypatch.setattr(portolan.skorch, "_said_off", False)
    x, gold = data()
    callback = portolan.skorch.PortolanCallback("run", store=store)
    crossed = cross_validate(net(callback, train_split=None), x, gold, cv=3, n_jobs=n_jobs)
    plain = cross_validate(net(train_split=None), x, gold, cv=3)
    assert np.isfinite(crossed["test_score"]).all()
    assert n_jobs > 1 or crossed["test_score"].tolist() == plain["test_score"].tolist()  # other processes have random numbers of their own
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("portolan: ")]
    said = "portolan: portolan.skorch.PortolanCallback: the fits of a cross-validation or a search are recorded with folds=True"
    if n_jobs == 1:  # joblib's processes may be those of an earlier test, with its stderr
        assert len(lines) == 1 and lines[0].startswith(said), lines
    search = GridSearchCV(net(callback, train_split=None), {"lr": [0.1, 0.3]}, cv=2, error_score="raise").fit(x, gold)
    assert portolan.runs(store=store)["name"].tolist() == ["run"], "the last fit of a search is of all rows"
    assert_trajectories(store, EPOCHS, by_hand(search.best_estimator_, x, gold, softmax))


def stopped_by(callback, store):
    """A net with a callback that stands before Portolan's and ends the training."""
    made = net(portolan.skorch.PortolanCallback("run", store=store))
    made.callbacks = [made.callbacks[0], ("stop", callback), *made.callbacks[1:]]
    return made


def test_the_epoch_at_which_an_earlier_callback_stops_is_recorded(store):
    x, gold = data()
    trained = stopped_by(skorch.callbacks.EarlyStopping(patience=2, threshold=10, threshold_mode="abs"), store)
    trained.set_params(max_epochs=9).fit(x, gold)
    assert 1 < len(trained.history) < 9
    assert_trajectories(store, len(trained.history), by_hand(trained, x, gold, softmax))


@pytest.mark.parametrize("at", ["on_batch_end", "on_epoch_begin"])
def test_an_epoch_that_was_broken_off_is_not_recorded(store, at):
    class Interrupt(skorch.callbacks.Callback):
        def on_batch_end(self, net, **kwargs):
            if at == "on_batch_end" and len(net.history) == 2:
                raise KeyboardInterrupt

        def on_epoch_begin(self, net, **kwargs):
            if at == "on_epoch_begin" and len(net.history) == 2:
                raise KeyboardInterrupt

    x, gold = data()
    trained = stopped_by(Interrupt(), store).fit(x, gold)
    assert_trajectories(store, 1, by_hand(trained, x, gold, softmax))


def test_folds_that_cannot_be_told_apart_are_refused_with_what_to_do(store):
    x, gold = data()
    make = portolan.skorch.PortolanCallback
    made = net(make("run", store=store)).fit(x, gold)
    with pytest.raises(portolan.Refused, match="run 'run' exists.* Several fits of one net, as in cross_validate or a search: .*folds=True"):
        clone(made).fit(x, gold)
    with pytest.raises(ValueError, match="a ndarray, does not say which rows of the whole it holds: .*SliceDict.*SliceDataset.*cross_val_track"):
        net(make("other", folds=True, store=store)).fit(x, gold)
    for options, said in (({"overwrite": True}, "overwrite"), ({"if_exists": "number"}, "if_exists")):
        with pytest.raises(ValueError, match=f"folds=True opens a run of a new name for each fit: leave {said} out"):
            net(make("other", folds=True, store=store, **options)).fit(x, gold)
    with portolan.Run("open", store=store) as run, pytest.raises(ValueError, match="leave the open run out"):
        net(make(run, folds=True)).fit(x, gold)
    assert set(portolan.runs(store=store)["name"]) == {"run", "open"}


def test_ids_by_an_entry_and_ids_that_rows_share(store):
    x, gold = data()
    net(portolan.skorch.PortolanCallback("run", ids="key", store=store), train_split=None, module=Keyed).fit(
        {"x": x, "key": np.arange(EXAMPLES) + 5}, gold)
    assert portolan.measures("run", store=store)["id"].tolist() == [*range(5, EXAMPLES + 5)]
    ids = np.arange(EXAMPLES)
    ids[9] = 3
    whole = SliceDataset(TensorDataset(torch.from_numpy(x), torch.from_numpy(gold)))
    for X, y, given in (({"x": x, "id": ids}, gold, "id"), (x, gold, ids), (whole[ids], gold[ids], None)):
        with pytest.raises(ValueError, match="rows 3 and 9 have the same id, 3; of the 150 ids 149 differ"):
            net(portolan.skorch.PortolanCallback("other", ids=given, store=store)).fit(X, y)
    with pytest.raises(ValueError, match="ids='id' names an entry of an X that is a dict, and X has none"):
        net(portolan.skorch.PortolanCallback("other", ids="id", store=store)).fit(x, gold)
    assert portolan.runs(store=store)["name"].tolist() == ["run"], "all before training"


class Keyed(Module):
    def forward(self, x, key):
        return super().forward(x)


@pytest.mark.parametrize("kind, criterion, more", [
    (NeuralNetRegressor, nn.MSELoss, {}), (NeuralNet, nn.HuberLoss, {}), (NeuralNet, Own, {"task": "regression"})])
@pytest.mark.parametrize("mode", ["epoch-end", "train-forward"])
def test_regression(store, kind, criterion, more, mode):
    """Of every checkpoint; the training pass, whose dropout nobody could repeat, by what the batches gave."""
    x, _ = data()
    y = (x @ np.arange(5, dtype="f4") + 3)[:, None]
    seen = []

    class Spy(skorch.callbacks.Callback):
        def on_batch_end(self, net, batch=None, training=False, y_pred=None, **kwargs):
            seen.append((batch[0]["id"].tolist(), y_pred.detach().double().numpy()[:, 0])) if training else None

    rows = {"x": x, "id": np.arange(EXAMPLES)}
    ids = {"ids": "id"} if mode == "train-forward" else {}
    callback = portolan.skorch.PortolanCallback("run", mode, store=store, **ids, **more)
    trained = net(callback, kind, criterion, Spy(), module__outputs=1, train_split=None).set_params(lr=0.01).fit(rows, y)
    predicted = np.zeros((EPOCHS, EXAMPLES))
    if mode == "train-forward":
        per_epoch = len(seen) // EPOCHS
        for number, (places, values) in enumerate(seen):
            predicted[number // per_epoch, places] = values
    else:
        for epoch, state in enumerate(kept(trained).states_):
            w1, b1, w2, b2 = (value.double().numpy() for value in state.values())
            predicted[epoch] = (np.maximum(x @ w1.T + b1, 0) @ w2.T + b2)[:, 0]
    check_numbers(store, "run", predicted, y[:, 0], rtol=1e-4)
