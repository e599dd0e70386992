"""The data sets that the tests share: each as one store, measured by portolan metrics, and as the exports of two nodes."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import runs

# 1,000,000 examples, 10 epochs; smaller where somebody is in a hurry.
EXAMPLES = int(os.environ.get("SPARK_TEST_EXAMPLES", "1000000"))
EPOCHS = 10


class Data(NamedTuple):
    store: Path
    folders: tuple  # what the two nodes exported
    expected: np.ndarray


def two_nodes(rng, examples, epochs=EPOCHS):
    """Five sessions, in the order in which they come to one store: not that of their beginnings. Two have the same beginning and rank.
    Nodes A and B see examples that overlap; a fifth of the observations is missing; labels change."""
    sessions = [runs.Session(1), runs.Session(2, 500, 3), runs.Session(3, 2000, 0), runs.Session(4, 2000, 1), runs.Session(5, 2000, 1)]

    def some(low, high, share):
        chosen = np.arange(int(low * examples), int(high * examples))
        return rng.permutation(chosen[rng.random(len(chosen)) < share])

    for epoch in range(epochs):
        runs.observe(rng, sessions[0], epoch, some(0, 0.7, 0.8))
        if epoch % 3 == 0:
            runs.observe(rng, sessions[1], epoch, some(0, 0.5, 0.3), gold_of=lambda e: (e + 1) % 4)
        if epoch % 4 == 0:
            runs.observe(rng, sessions[2], epoch, some(0.1, 0.4, 0.5), columns=("margin", "grad"))
        runs.observe(rng, sessions[3], epoch, some(0.3, 1, 0.6), gold_of=lambda e: e % 3)
        if epoch % 2:
            runs.observe(rng, sessions[4], epoch, some(0.6, 0.8, 0.5), gold_of=lambda e: e % 2)
    return sessions[:3], sessions[3:]


def make(folder, sessions_a, sessions_b, id_of, kind, run="run", labels=()):
    store = folder / "store"
    runs.make_store(store, [*sessions_a, *sessions_b], id_of, run, labels)
    for name, sessions in (("a", sessions_a), ("b", sessions_b)):
        if sessions:
            runs.export(folder / name, sessions, id_of, kind, run)
    folders = tuple(str(folder / name) for name, sessions in (("a", sessions_a), ("b", sessions_b)) if sessions)
    return Data(store, folders, runs.metrics(store, run=run))


def scattered(examples):
    """Integer ids that are not in the order of first appearance."""
    return examples * 7919 % 2**33


def names(examples):
    """Text ids, not all of ASCII, whose order as bytes is not that of their numbers."""
    return [f"wört/{e * 7919 % 2**33:x}" for e in examples.tolist()]


@pytest.fixture(scope="session")
def million(tmp_path_factory):
    folder = tmp_path_factory.mktemp("million")
    return make(folder, *two_nodes(np.random.default_rng(1), EXAMPLES), scattered, pa.int64())


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    labels = ["entails", "neutral", "contradicts", "unknown"]
    return make(folder, *two_nodes(np.random.default_rng(2), 20_000), names, pa.string(), "snli/größe+1%2", labels)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """One node, 3,000 examples, many ties, without labels and signals."""
    rng, session = np.random.default_rng(3), runs.Session(1)
    for epoch in range(6):
        examples = np.arange(3000)
        p = (rng.integers(0, 5, 3000) / 4).astype(np.float32)
        session.batches.append((epoch, examples, p, p > 0.5, None, {}))
    return make(tmp_path_factory.mktemp("small"), [session], [], lambda e: e, pa.int64())
