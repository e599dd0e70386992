"""The examples in C and C++: what they log is what NumPy says that such a model sees.

examples.py SOFTMAX_REGRESSION PORTOLAN LIBPORTOLAN.SO SOURCES
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

SOFTMAX_REGRESSION, PORTOLAN, LIBRARY, SOURCES = (sys.argv.pop(1) for _ in range(4))
EXAMPLES, FEATURES, CLASSES, EPOCHS, BATCH, STEP = 203, 4, 3, 6, 16, 0.1


def softmax(logits):
    p = np.exp(logits)
    return p / p.sum(axis=1, keepdims=True)


def trajectories(x, gold):
    """p(gold) and correctness, epochs × examples, of softmax regression trained line after line."""
    weights, bias, one_hot = np.zeros((CLASSES, FEATURES)), np.zeros(CLASSES), np.eye(CLASSES)
    for _ in range(EPOCHS):
        for start in range(0, len(x), BATCH):
            rows = slice(start, start + BATCH)
            error = softmax(x[rows] @ weights.T + bias) - one_hot[gold[rows]]
            weights = weights - STEP * error.T @ x[rows] / len(error)
            bias = bias - STEP * error.mean(axis=0)
        p = softmax(x @ weights.T + bias)
        yield p[np.arange(len(x)), gold], p.argmax(axis=1) == gold


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.store = self.folder / "store"
        # The collector leaves by itself; until then the directory is its. (Before the directory is removed: last in, first out.)
        self.addCleanup(lambda: subprocess.run(["flock", "--timeout", "30", self.store / "portoland.lock", "true"], check=True))

    def metrics(self, run, *words):
        table = self.folder / "measures.npy"
        subprocess.run([PORTOLAN, "metrics", run, "--store", self.store, "-o", table, *words], check=True, stderr=subprocess.DEVNULL)
        return np.load(table)

    def test_softmax_regression_in_c(self):
        rng = np.random.default_rng(2)
        gold = rng.integers(0, CLASSES, EXAMPLES)
        x = rng.normal(size=(EXAMPLES, FEATURES))
        x[np.arange(EXAMPLES), gold] += 1
        np.savetxt(self.folder / "data.txt", np.column_stack([gold, x]), fmt=["%d"] + ["%.17g"] * FEATURES)
        subprocess.run([SOFTMAX_REGRESSION, self.folder / "data.txt", self.store], check=True)
        expected = list(trajectories(x, gold))
        for epoch, (p, right) in enumerate(expected):
            m = self.metrics("softmax", "--epochs", f"{epoch}:{epoch + 1}")
            self.assertEqual(m["id"].tolist(), list(range(EXAMPLES)))
            np.testing.assert_allclose(m["confidence"], p, atol=1e-6)
            self.assertEqual(m["correctness"].tolist(), right.astype(float).tolist())
        m, p = self.metrics("softmax"), np.array([p for p, _ in expected])
        np.testing.assert_allclose(m["variability"], p.std(axis=0), atol=1e-6)
        self.assertGreater(m["correctness"].mean(), 0.6, "it learns something")

    def test_softmax_regression_says_what_is_wrong(self):
        for text, says in (("7 1 2 3 4\n", "class 7"), ("0 1 2 three 4\n", "not a class and 4 numbers")):
            (self.folder / "wrong.txt").write_text(text, encoding="ascii")
            done = subprocess.run([SOFTMAX_REGRESSION, self.folder / "wrong.txt", self.store], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
        self.store.mkdir()
        (self.store / "portoland.lock").touch()

    def test_cpp(self):
        if not shutil.which("c++"):
            self.skipTest("no c++")
        program, library = self.folder / "log_run", Path(LIBRARY).resolve()
        subprocess.run(["c++", "-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{SOURCES}/include",
                        f"{SOURCES}/client/examples/log_run.cpp", str(library), f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        subprocess.run([program, self.store], check=True, env=dict(os.environ))
        m = self.metrics("example")
        self.assertEqual(m["epochs"].tolist(), [3] * 4)
        self.assertEqual(m["confidence"].tolist(), [0.5, 0.25, 1, 1])
        self.assertEqual(m["correctness"].tolist(), [1, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
