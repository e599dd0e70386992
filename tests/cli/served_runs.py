"""The store and the user's file that the tests of `portolan serve` ask about: runs of integer and of text ids, which share some."""

import json
import os
import subprocess

import numpy as np

import stores

N = 3000
random = np.random.default_rng(11)


def batches(n, epochs, name=int):
    """Observations of n examples, in another order at each epoch."""
    ids = np.arange(n)
    gold = random.integers(0, 3, n)
    level = random.random(n)
    made = []
    for e in range(epochs):
        order = random.permutation(n)
        p = np.clip(level * (e + 1) / epochs + random.normal(0, 0.1, n), 0, 1).astype("f4")
        these = ids[order] if name is int else [name(i) for i in order]
        made.append(stores.batch(e, these, p[order], p[order] > 0.5, gold[order]))
    return made


def wrong_labels(n, seed, epochs=6):
    """Observations in which some labels are wrong: the model is surer of another class."""
    source = np.random.default_rng(seed)
    ids, gold, level = np.arange(n), source.integers(0, 3, n), source.beta(3, 1, n)
    made = []
    for e in range(epochs):
        p = np.clip(level * (0.6 + 0.08 * e) + source.normal(0, 0.08, n), 0, 1).astype("f4")
        p[ids % 40 == 7] = 0.05
        margin = (8 * p - 3 + source.normal(0, 0.1, n)).astype("f4")
        made.append(stores.batch(e, ids, p, p > 0.5, gold, margin=margin, max_prob=np.maximum(p, 1 - p), predicted=np.where(p > 0.5, gold, (gold + 1) % 3)))
    return made


def make_store(program, folder):
    """Its path. The runs: "a/b" with labels, "c", "names" and "others" of text ids, "odd" whose ids overlap those of "a/b"."""
    store = os.path.join(folder, "store")
    stores.make_store(program, store, [stores.run("a/b", batches(N, 4), declared=N, labels=["yes", "no", "maybe"]), stores.run("c", batches(40, 1)),
                                       stores.run("names", batches(400, 3, lambda i: f"n-{i:04d}")),
                                       stores.run("others", batches(50, 2, lambda i: f"n-{7 * i:04d}")),
                                       stores.run("odd", batches(200, 1, lambda i: 2 * i + 2701) + batches(90, 2, lambda i: 4 * i + 2701)[1:])])
    return store


def write_data(folder):
    """(the file's records, the options of serve that name it)."""
    data = [{"id": i, "text": f"text {i} <script>alert({i})</script> \u202e \U0001f600", "kind": f"k{i % 2}", "size": i % 7,
             "maybe": (None, "odd \u202e one", "other")[i % 3]} for i in range(N)]
    path = os.path.join(folder, "data.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in data)
    return data, ["--data", path, "--id-field", "id", "--text", "text"]


class Recorder:
    """A run "live" of n examples in a store of its own, written while it is read."""

    def __init__(self, make_store, n):
        self.n = n
        self.process = subprocess.Popen([make_store, "record"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.store = self.process.stdout.readline().decode().strip()
        self.write(f"run live {n} 2\nno\nyes\n".encode())

    def write(self, description):
        self.process.stdin.write(description)
        self.process.stdin.flush()
        if self.process.stdout.readline() != b"on disk\n":
            raise RuntimeError("the recorder does not write")

    def log(self, epoch):
        for half in np.array_split(random.permutation(self.n), 2):
            p = random.random(len(half)).astype("f4")
            self.write(stores.describe_batch(stores.batch(epoch, half, p, p > 0.5, half % 2)))

    def end(self):
        self.process.stdin.close()
        self.process.wait()
