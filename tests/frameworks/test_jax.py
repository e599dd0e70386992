"""The recipes of docs/jax.md against the real JAX: training goes as it did before, and what is recorded is what the model says."""

import os
import runpy

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("flax")

import portolan  # noqa: E402
from python_docs import blocks  # noqa: E402
from support import gold_probs  # noqa: E402

BEFORE, FORWARD, FLAX = range(3)


@pytest.fixture
def run_block(tmp_path, monkeypatch, stores):
    """Runs a block of the page in its folder; its names afterwards."""
    stores.append(tmp_path / "portolan-store")
    monkeypatch.chdir(tmp_path)

    def run(number):
        text = blocks("jax")[number]
        path = tmp_path / f"block{number}.py"
        path.write_text(text, encoding="utf-8")
        return runpy.run_path(str(path))

    return run


def measures(name, epoch):
    return portolan.measures(name, store=os.path.join(os.getcwd(), "portolan-store"), epochs=(epoch, epoch + 1))


def test_logits_of_the_step(run_block):
    before, after = run_block(BEFORE), run_block(FORWARD)
    for name in ("w", "b"):
        np.testing.assert_array_equal(before["params"][name], after["params"][name])
    # The same training by hand, in float64: what each batch saw before its step.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    x = rng.normal(size=(2000, 10)).astype("float32").astype(float)
    x[np.arange(2000), y] += 2
    w, b = np.zeros((10, 3)), np.zeros(3)
    for epoch in range(5):
        expected = np.empty(2000)
        for rows in np.array_split(rng.permutation(2000), 20):
            logits = x[rows] @ w + b
            expected[rows] = gold_probs(logits, y[rows])
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            error = (p / p.sum(axis=1, keepdims=True) - np.eye(3)[y[rows]]) / len(rows)
            w, b = w - 0.1 * x[rows].T @ error, b - 0.1 * error.sum(axis=0)
        m = measures("jax/forward", epoch)
        assert m["id"].tolist() == list(range(2000))
        np.testing.assert_allclose(m["confidence"], expected, atol=1e-4)


def test_a_pass_of_flax(run_block):
    names = run_block(FLAX)
    model, x, y = names["model"], names["x"], names["y"]
    hidden = np.maximum(x.astype(float) @ np.asarray(model.hidden.kernel[...], float) + np.asarray(model.hidden.bias[...], float), 0)
    logits = hidden @ np.asarray(model.out.kernel[...], float) + np.asarray(model.out.bias[...], float)
    np.testing.assert_allclose(measures("jax/flax", 4)["confidence"], gold_probs(logits, y), atol=1e-4)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("bfloat16", 1e-6), ("float16", 1e-6)])
def test_arrays_on_the_device(store, dtype, tolerance):
    logits = jax.random.normal(jax.random.key(0), (100, 4)).astype(dtype)
    gold = jax.random.randint(jax.random.key(1), (100,), 0, 4)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, jax.numpy.arange(100), logits, gold)
    expected = gold_probs(np.asarray(logits.astype("float32")), np.asarray(gold))
    np.testing.assert_allclose(portolan.measures("run", store=store)["confidence"], expected, atol=tolerance)
