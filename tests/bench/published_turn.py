"""One turn of published.py: all sides on the same arrays; prints the seconds of each step as one JSON object. The published
scripts take minutes and go first, once; ours and the expert's, which take seconds, go on by turns."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

import measures
import published_peer

CLASSES = 3
TURNS = 5
COUNTS, NUMBERS = ("correctness", "forgetfulness"), ("threshold_closeness", "confidence", "variability")
TOLERANCE = 1e-6  # their softmax is float32


def make_logits(examples, epochs):
    """Logits that look like training: what an example is, how hard it is, and an ability that grows."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, CLASSES, examples)
    ease = rng.normal(0.5, 1.5, examples)
    logits = rng.normal(0, 1, (epochs, examples, CLASSES)).astype(np.float32)
    for epoch in range(epochs):
        logits[epoch, np.arange(examples), gold] += (0.5 * epoch + ease).astype(np.float32)
    return rng.permutation(examples), logits, gold


class Clock:
    def __init__(self):
        self.seconds, self.start = {}, time.perf_counter()

    def step(self, name):
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.start
        self.start = time.perf_counter()


def theirs(peer, folder, ids, logits, gold):
    clock = Clock()
    for epoch, rows in enumerate(logits):
        peer.log(folder, epoch, ids, rows, gold)
    clock.step("log")
    dynamics = peer.read(folder)
    clock.step("read")
    measures = peer.compute(dynamics)
    clock.step("compute")
    peer.write(measures, os.path.join(folder, "td_metrics.jsonl"))
    clock.step("write")
    clock.seconds["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return clock.seconds


def write_bytes(path, count):
    with open(path, "wb") as file:
        file.write(bytes(count))
        os.fsync(file.fileno())


def experts(folder, logits, gold, store_bytes, array_bytes):
    """The expert's steps; then what it takes to write as many bytes besides as ours has written: to its store up to the flush, epoch by epoch, and a file of arrays."""
    expert = published_peer.Expert()
    clock = Clock()
    for epoch, rows in enumerate(logits):
        expert.log(folder, epoch, rows, gold)
    clock.step("log")
    expert.write(os.path.join(folder, "expert.npz"))
    clock.step("compute")
    for epoch in range(len(logits)):
        write_bytes(os.path.join(folder, f"bytes_{epoch}"), store_bytes // len(logits))
    write_bytes(os.path.join(folder, "bytes"), array_bytes)
    clock.step("bytes")
    return clock.seconds


def call(portolan, store, *words):
    subprocess.run([portolan, *words, "--store", store], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def log_ours(store, ids, logits, gold):
    """Logs a run to a new store; returns the clock."""
    import portolan as package

    clock = Clock()
    run = package.Run("logged", store=store, mode="train-forward")
    clock.step("start")
    for epoch, rows in enumerate(logits):
        run.log_logits(epoch, ids, rows, gold)
        run.end_epoch(epoch)
    clock.step("log")
    run.flush()
    clock.step("flush")
    clock.seconds["stored"] = os.path.getsize(os.path.join(store, "data.mdb"))  # bytes; columns are made after the close
    run.close()
    clock.step("close")
    return clock


def ours(portolan, folder, store, ids, logits, gold):
    def metrics_words(name):
        return "metrics", name, "--format", "cartography", "-o", os.path.join(folder, f"{name}.jsonl")

    def metrics(name):
        call(portolan, store, *metrics_words(name))

    store = os.path.join(folder, store)
    clock = log_ours(store, ids, logits, gold)
    metrics("logged")
    clock.step("metrics_of_logged")
    call(portolan, store, "import", os.path.join(folder, "training_dynamics"), "--run", "imported")
    clock.step("import")
    metrics("imported")
    clock.step("metrics")
    clock.seconds["peak_mb"] = measures.peak_memory([portolan, *metrics_words("imported"), "--store", store])
    return clock.seconds


def our_arrays(portolan, folder, store, ids, logits, gold):
    """As ours(), but the measures of the run go into a file of arrays, as the expert's do."""
    store = os.path.join(folder, store)
    clock = log_ours(store, ids, logits, gold)
    call(portolan, store, "metrics", "logged", "-o", os.path.join(folder, "logged.npy"))
    clock.step("arrays_of_logged")
    return clock.seconds


def read_arrays(path):
    rows = np.sort(np.load(path), order="id")
    forgetfulness = np.where(rows["never_learned"], published_peer.NEVER_LEARNED, rows["forgetting_events"])
    correctness = np.rint(rows["correctness"] * rows["epochs"])  # theirs counts, ours is the share
    return {"guid": rows["id"], "correctness": correctness, "forgetfulness": forgetfulness, **{name: rows[name] for name in NUMBERS}}


def read_measures(path):
    with open(path, encoding="ascii") as file:
        rows = sorted((json.loads(line) for line in file), key=lambda row: row["guid"])
    return {name: np.array([row[name] for row in rows]) for name in ("guid", *COUNTS, *NUMBERS)}


def largest_difference(folder, ids):
    """Of their measures from ours, from both ways, and from the expert's; stops where they are not the same results."""
    want, worst = read_measures(os.path.join(folder, "td_metrics.jsonl")), 0.0
    order = np.argsort(ids)
    expert = {"guid": ids[order], **{name: values[order] for name, values in np.load(os.path.join(folder, "expert.npz")).items()}}
    for name, have in (("expert", expert), ("arrays", read_arrays(os.path.join(folder, "logged.npy"))), *((name, read_measures(os.path.join(folder, f"{name}.jsonl")))
                                             for name in ("imported", "logged"))):
        for column in ("guid", *COUNTS):
            if not np.array_equal(have[column], want[column]):
                sys.exit(f"{name}: {column} differs")
        worst = max(worst, *(float(np.abs(have[column] - want[column]).max()) for column in NUMBERS))
    if worst > TOLERANCE:
        sys.exit(f"measures differ by {worst}")
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--portolan", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--published")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(os.path.dirname(options.portolan), "..", "python"))
    peer = published_peer.Published(options.published) if options.published else published_peer.Own()
    arrays = make_logits(options.examples, options.epochs)
    their_seconds = theirs(peer, options.folder, *arrays)  # first: what it logged is what ours imports
    our_turns, array_turns, expert_turns = [], [], []
    for turn in range(TURNS):
        our_turns.append(ours(options.portolan, options.folder, f"store{turn}", *arrays))
        array_turns.append(our_arrays(options.portolan, options.folder, f"arrays{turn}", *arrays))
        array_bytes = os.path.getsize(os.path.join(options.folder, "logged.npy"))
        expert_turns.append(experts(options.folder, *arrays[1:], array_turns[-1]["stored"], array_bytes))
    print(json.dumps({"theirs": their_seconds, "ours": our_turns, "arrays": array_turns, "expert": expert_turns,
                      "difference": largest_difference(options.folder, arrays[0])}))


if __name__ == "__main__":
    main()
