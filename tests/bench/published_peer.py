"""The steps of the published scripts: theirs, from a checkout, or where there is none, the same steps written here.

Both have log(folder, epoch, ids, logits, gold), read(folder), compute(dynamics) and write(measures, path).
Expert is what somebody writes who knows NumPy and has no record to keep: whole arrays, a file an epoch, measures in memory.
"""

import json
import logging
import os
import sys
import types

import numpy as np

NEVER_LEARNED = 1000


class Own:
    """Record by record: JSON lines, a dictionary of lists, a softmax in float32 for each observation."""

    def log(self, folder, epoch, ids, logits, gold):
        os.makedirs(os.path.join(folder, "training_dynamics"), exist_ok=True)
        with open(os.path.join(folder, "training_dynamics", f"dynamics_epoch_{epoch}.jsonl"), "w", encoding="ascii") as file:
            for guid, row, label in zip(ids.tolist(), logits.tolist(), gold.tolist()):
                file.write(json.dumps({"guid": guid, f"logits_epoch_{epoch}": row, "gold": label}) + "\n")

    def read(self, folder):
        directory = os.path.join(folder, "training_dynamics")
        dynamics = {}
        for epoch in range(len(os.listdir(directory))):
            with open(os.path.join(directory, f"dynamics_epoch_{epoch}.jsonl"), encoding="ascii") as file:
                for line in file:
                    record = json.loads(line)
                    seen = dynamics.setdefault(record["guid"], {"gold": record["gold"], "logits": []})
                    seen["logits"].append(record[f"logits_epoch_{epoch}"])
        return dynamics

    def compute(self, dynamics):
        measures = []
        for guid, seen in dynamics.items():
            probabilities, right = [], []
            for row in seen["logits"]:
                z = np.array(row, dtype=np.float32)
                odds = np.exp(z - z.max())
                probabilities.append(float(odds[seen["gold"]] / odds.sum()))
                right.append(bool(np.argmax(row) == seen["gold"]))
            confidence = np.mean(probabilities)
            forgotten = sum(a and not b for a, b in zip(right, right[1:])) if any(right) else NEVER_LEARNED
            measures.append({"guid": guid, "index": len(measures), "threshold_closeness": confidence * (1 - confidence),
                             "confidence": confidence, "variability": np.std(probabilities), "correctness": sum(right),
                             "forgetfulness": forgotten})
        return measures

    def write(self, measures, path):
        with open(path, "w", encoding="ascii") as file:
            for row in measures:
                file.write(json.dumps(row) + "\n")


class Published:
    """The functions of a checkout. What it imports only to draw, or to write training sets, is not asked for."""

    def __init__(self, directory):
        for name, members in (("matplotlib", ()), ("matplotlib.pyplot", ()), ("seaborn", ()),
                              ("cartography.data_utils", ("read_data", "read_jsonl", "copy_dev_test"))):
            module = types.ModuleType(name)
            for member in members:
                setattr(module, member, None)
            sys.modules[name] = module
        sys.path.insert(0, directory)
        from cartography.selection import selection_utils, train_dy_filtering

        logging.disable(logging.INFO)
        self.logging, self.reading = selection_utils.log_training_dynamics, selection_utils.read_training_dynamics
        self.computing = train_dy_filtering.compute_train_dy_metrics

    def log(self, folder, epoch, ids, logits, gold):
        self.logging(output_dir=folder, epoch=epoch, train_ids=list(ids), train_logits=list(logits), train_golds=list(gold))

    def read(self, folder):
        return self.reading(folder)

    def compute(self, dynamics):
        return self.computing(dynamics, types.SimpleNamespace(include_ci=False, burn_out=100))[0]

    def write(self, measures, path):
        measures.to_json(path, orient="records", lines=True)


class Expert:
    """No ids, no run, no second reader: the order of the rows is the example, and the process must live to the end."""

    def __init__(self):
        self.gold, self.correct = [], []

    def log(self, folder, epoch, logits, gold):
        """Keeps an epoch's p(gold) and correctness, and a file of both is on disk when this returns."""
        exponents = logits - logits.max(axis=1, keepdims=True)
        np.exp(exponents, out=exponents)
        self.gold.append(np.take_along_axis(exponents, gold[:, None], 1)[:, 0] / exponents.sum(axis=1))
        self.correct.append(logits.argmax(axis=1) == gold)
        with open(os.path.join(folder, f"expert_{epoch}.npz"), "wb") as file:
            np.savez(file, gold=self.gold[-1], correct=self.correct[-1])
            os.fsync(file.fileno())

    def write(self, path):
        """The measures of all epochs, into a file of arrays."""
        gold, correct = np.stack(self.gold), np.stack(self.correct)
        confidence = gold.mean(axis=0, dtype=np.float64)
        forgotten = (correct[:-1] & ~correct[1:]).sum(axis=0)
        np.savez(path, confidence=confidence, variability=gold.std(axis=0, dtype=np.float64),
                 threshold_closeness=confidence * (1 - confidence), correctness=correct.sum(axis=0),
                 forgetfulness=np.where(correct.any(axis=0), forgotten, NEVER_LEARNED))
