"""portolan.keras against the real Keras 3: on the backend that $KERAS_BACKEND names, and on the others in processes of their own."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch" if find_spec("torch") else "jax")
keras = pytest.importorskip("keras")

import portolan  # noqa: E402
import portolan.keras  # noqa: E402
from python_regressors import check_numbers  # noqa: E402
from support import assert_trajectories, softmax  # noqa: E402

EXAMPLES, EPOCHS = 120, 3


def data(classes=3):
    rng = np.random.default_rng(0)
    gold = rng.integers(0, classes, EXAMPLES)
    x = rng.normal(size=(EXAMPLES, 5)).astype("f4")
    x[np.arange(EXAMPLES), gold] += 1
    return x, gold


def build(units=3, activation=None):
    return keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3),
                             keras.layers.BatchNormalization(), keras.layers.Dense(units, activation=activation)], name="little")


class Keep(keras.callbacks.Callback):
    """A checkpoint of each epoch."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_epoch_end(self, epoch, logs=None):
        self.weights.append([np.array(one) for one in self.model.get_weights()])


def fit(x, y, loss, callbacks=(), units=3, activation=None, **more):
    keras.utils.set_random_seed(5)
    model, keep = build(units, activation), Keep()
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss=loss)
    # Keep first: what it holds is what the pass after it must have seen.
    model.fit(x, y, epochs=more.pop("epochs", EPOCHS), batch_size=32, verbose=0, callbacks=[keep, *callbacks], **more)
    return model, keep


def by_hand(model, keep, x, gold, probabilities):
    """{row: [p(gold)]} from the checkpoints, layer by layer in NumPy."""
    columns = []
    for w1, b1, gamma, beta, mean, variance, w2, b2 in keep.weights:
        hidden = np.maximum(x.astype(float) @ w1 + b1, 0)
        hidden = gamma * (hidden - mean) / np.sqrt(variance + 1e-3) + beta
        columns.append(probabilities(hidden @ w2 + b2)[np.arange(len(gold)), gold])
    return {row: [column[row] for column in columns] for row in range(len(gold))}


def sigmoid(logits):
    p = 1 / (1 + np.exp(-logits.reshape(-1)))
    return np.stack([1 - p, p], axis=1)


SPARSE, DENSE, BINARY = (getattr(keras.losses, name + "Crossentropy") for name in ("SparseCategorical", "Categorical", "Binary"))
CASES = {
    "name": ("sparse_categorical_crossentropy", 3, "softmax"),
    "logits": (SPARSE(from_logits=True), 3, None),
    "probabilities": (SPARSE(), 3, "softmax"),
    "one-hot": (DENSE(from_logits=True), 3, None),
    "binary": (BINARY(from_logits=True), 1, None),
    "binary, probabilities": ("binary_crossentropy", 1, "sigmoid"),
}


@pytest.mark.parametrize("case", CASES)
def test_trajectories_are_those_of_the_checkpoints_and_training_goes_the_same_way(store, case):
    loss, units, activation = CASES[case]
    x, gold = data(max(2, units))
    y = np.eye(3, dtype="f4")[gold] if case == "one-hot" else gold
    _, alone = fit(x, y, loss, units=units, activation=activation)
    model, keep = fit(x, y, loss, [portolan.keras.PortolanCallback(x, y, run="run", store=store)], units, activation)
    for a, b in zip(alone.weights[-1], keep.weights[-1]):
        np.testing.assert_array_equal(a, b, "training went another way")
    assert_trajectories(store, EPOCHS, by_hand(model, keep, x, gold, sigmoid if units == 1 else softmax), tolerance=1e-5)


def test_ids_and_an_open_run(store, capfd):
    x, gold = data()
    ids = [f"row/{i}" for i in range(EXAMPLES)]
    with portolan.Run("mine", store=store) as run:
        model, keep = fit(x, gold, CASES["logits"][0], [portolan.keras.PortolanCallback(x, gold, ids, run)], validation_split=0.25)
        assert run.is_open
    expected = by_hand(model, keep, x, gold, softmax)
    assert_trajectories(store, EPOCHS, {ids[row]: values for row, values in expected.items()}, "mine", 1e-5)
    assert "run mine: 360 observations on disk" in capfd.readouterr().err


def test_batches(store):
    x, gold = data()
    batches = [(np.arange(start, start + 50)[: EXAMPLES - start], x[start : start + 50], gold[start : start + 50]) for start in (0, 50, 100)]
    model, keep = fit(x, gold, CASES["logits"][0], [portolan.keras.PortolanCallback(batches, run="run", store=store)])
    assert_trajectories(store, EPOCHS, by_hand(model, keep, x, gold, softmax), tolerance=1e-5)


def test_training_that_goes_on(store, tmp_path):
    x, gold = data()
    callback = lambda: portolan.keras.PortolanCallback(x, gold, run="run", store=store)
    model, keep = fit(x, gold, CASES["logits"][0], [callback()], epochs=2)
    model.fit(x, gold, epochs=3, initial_epoch=2, verbose=0, callbacks=[keep, callback()])
    assert_trajectories(store, 3, by_hand(model, keep, x, gold, softmax), tolerance=1e-5)
    with pytest.raises(portolan.Refused, match="exists"):
        fit(x, gold, CASES["logits"][0], [callback()])


def test_several_outputs(store):
    x, gold = data()
    inputs = keras.Input((5,), name="x")
    outputs = {"a": keras.layers.Dense(3, name="a")(inputs), "b": keras.layers.Dense(1, name="b")(inputs)}
    model = keras.Model(inputs, outputs)
    model.compile("sgd", {"a": SPARSE(from_logits=True), "b": "mse"})
    y = {"a": gold, "b": np.zeros(EXAMPLES)}
    with pytest.raises(ValueError, match="say "):
        model.fit(x, y, verbose=0, callbacks=[portolan.keras.PortolanCallback(x, gold, run="x", store=store)])
    model.fit(x, y, verbose=0, callbacks=[portolan.keras.PortolanCallback(x, gold, run="run", output="a", store=store)])
    logits = model.predict(x, verbose=0)["a"]
    assert_trajectories(store, 1, {row: [p] for row, p in enumerate(softmax(logits)[np.arange(EXAMPLES), gold])}, tolerance=1e-5)


def test_what_is_refused(store):
    x, gold = data()
    callback = portolan.keras.PortolanCallback
    with pytest.raises(ValueError, match="2 ids and 120 labels"):
        callback(x, gold, [1, 2])
    with pytest.raises(TypeError, match="batches"):
        callback(x)
    with pytest.raises(ValueError, match="mine is not known: say scores="):
        fit(x, gold, mine, [callback(x, gold, run="run", store=store)])
    for loss in ("mse", "MAE", keras.losses.MeanSquaredError(), keras.losses.huber):
        with pytest.raises(ValueError, match="is one of regression, and y holds only 0 and 1. .* say task='regression'. If they are classes: .*scores='probs'"):
            fit(x, gold % 2, loss, [callback(x, gold % 2, run="other", store=store)], units=1)
    with pytest.raises(ValueError, match="y holds only -1 and 1. If these are targets, say task='regression'"):
        fit(x, gold % 2, "mse", [callback(x, gold % 2 * 2.0 - 1, run="other", store=store)], units=1)
    with pytest.raises(ValueError, match="for the loss mse is not known: say scores='logits' or 'probs'$"):
        fit(x, gold % 2, "mse", [callback(x, gold % 2, run="other", task="classification", store=store)], units=1)
    with pytest.raises(ValueError, match=r"the output has the shape \(None, 3\), and the loss mse is one of regression: one number.*If y holds classes: "):
        fit(x, np.eye(3)[gold], "mse", [callback(x, np.eye(3)[gold], run="other", store=store)])
    with pytest.raises(ValueError, match=r"y has the shape \(120, 2\), and the loss mse is one of regression: one number"):
        fit(x, gold, "mse", [callback(x, np.stack([gold, gold], 1), run="other", store=store)], units=1)
    labels, steps = np.ones((EXAMPLES, 3), dtype="f4"), Steps()
    with pytest.raises(ValueError, match=r"gold has the shape \(120, 3\).*multi-label"):
        fit(x, labels, "binary_crossentropy", [callback(x, labels, run="other", store=store), steps], activation="sigmoid")
    with pytest.raises(ValueError, match='the last layer, .*, is linear, so the model returns logits.*from_logits=True.*scores="logits"'):
        fit(x, gold, "sparse_categorical_crossentropy", [callback(x, gold, run="other", store=store), steps])
    with pytest.raises(ValueError, match="rows 3 and 9 have the same id, 3; of the 120 ids 119 differ"):
        callback(x, gold, [3 if row == 9 else row for row in range(EXAMPLES)], run="other", store=store)
    assert steps.count == 0 and not store.exists(), "before training, and before a run is opened"
    model, keep = fit(x, gold, mine, [callback(x, gold, run="again", scores="logits", store=store)])
    assert_trajectories(store, EPOCHS, by_hand(model, keep, x, gold, softmax), "again", 1e-5)


NUMBERS = {"name": ("mse", {}), "class": (keras.losses.Huber(), {}), "function": (keras.losses.mean_absolute_error, {}),
           "of one's own": (lambda y_true, y_pred: keras.ops.mean(keras.ops.square(y_true - y_pred)), {"task": "regression"})}


@pytest.mark.parametrize("case", NUMBERS)
def test_regression_trajectories_are_those_of_the_checkpoints(store, case):
    x, _ = data()
    y = (x @ np.arange(5.0) + 3).astype("f4")
    loss, more = NUMBERS[case]
    _, alone = fit(x, y[:, None], loss, units=1)
    model, keep = fit(x, y[:, None], loss, [portolan.keras.PortolanCallback(x, y, run="run", store=store, **more)], units=1)
    for a, b in zip(alone.weights[-1], keep.weights[-1]):
        np.testing.assert_array_equal(a, b, "training went another way")
    columns = by_hand(model, keep, x, np.zeros(EXAMPLES, int), lambda predicted: predicted)
    check_numbers(store, "run", np.array([columns[row] for row in range(EXAMPLES)]).T, y, rtol=1e-4)


def test_targets_of_0_and_1_by_batches(store):
    """What is asked of y at hand is not asked of batches."""
    x, gold = data(2)
    batches = [(np.arange(start, start + 60), x[start : start + 60], gold[start : start + 60]) for start in (0, 60)]
    model, keep = fit(x, gold, "mse", [portolan.keras.PortolanCallback(batches, run="run", store=store)], units=1, activation="sigmoid")
    columns = by_hand(model, keep, x, np.zeros(EXAMPLES, int), lambda logits: 1 / (1 + np.exp(-logits)))
    check_numbers(store, "run", np.array([columns[row] for row in range(EXAMPLES)]).T, gold, rtol=1e-4)


class Steps(keras.callbacks.Callback):
    count = 0

    def on_train_batch_begin(self, batch, logs=None):
        self.count += 1


def test_a_linear_output_of_logits_and_one_that_nobody_knows(store, capfd):
    """Said to be logits, it is recorded as that; a model whose last layer cannot be told is asked about when its scores are no probabilities."""
    x, gold = data()
    name = "sparse_categorical_crossentropy"
    model, keep = fit(x, gold, name, [portolan.keras.PortolanCallback(x, gold, run="run", scores="logits", store=store)])
    assert_trajectories(store, EPOCHS, by_hand(model, keep, x, gold, softmax), tolerance=1e-5)

    class Unknown(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = keras.layers.Dense(3), keras.layers.Dropout(0.1)

        def call(self, x):
            return self.second(self.first(x))

    unknown = Unknown()
    unknown.compile(optimizer="sgd", loss=name)
    unknown.fit(x, gold, epochs=2, verbose=0, callbacks=[portolan.keras.PortolanCallback(x, gold, run="unknown", store=store)])
    assert capfd.readouterr().err.count("no probabilities: if these are logits, scores='logits'") == 1


def mine(y_true, y_pred):
    return keras.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)


@pytest.mark.skipif("PORTOLAN_OTHER_BACKEND" in os.environ, reason="this is the other backend's process")
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_other_backends(backend):
    if backend == keras.backend.backend():
        pytest.skip("that is this process's")
    if not find_spec(backend):
        pytest.skip(f"no package {backend}")
    environment = dict(os.environ, KERAS_BACKEND=backend, PORTOLAN_OTHER_BACKEND="1")
    cases = "trajectories or goes_on or several"  # the others do not depend on it
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", cases, __file__], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
