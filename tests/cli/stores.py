"""Stores for tests: what make_store reads, made from NumPy arrays. Plain functions, no state."""

import subprocess

import numpy as np


def batch(epoch, ids, gold_prob, correct, gold=None, **columns):
    """One batch of observations; ids are integers or strings, columns are float columns by name; `predicted`, of classes, is last."""
    return dict(epoch=epoch, ids=ids, gold_prob=gold_prob, correct=correct, gold=gold, columns=columns)


def run(name, batches, declared=0, labels=(), ended=True):
    return dict(name=name, batches=batches, declared=declared, labels=labels, ended=ended)


def session(started, rank=0):
    """In place of a batch: what follows is logged by another session."""
    return dict(started=started, rank=rank)


def describe_batch(one):
    if "started" in one:
        return f"session {one['started']} {one['rank']}\n".encode()
    ids = one["ids"]
    strings = isinstance(ids[0], str)
    head = ["log", str(one["epoch"]), str(len(ids)), "str" if strings else "int", "0" if one["gold"] is None else "1"]
    parts = [(" ".join(head + list(one["columns"])) + "\n").encode()]
    parts.append("".join(i + "\n" for i in ids).encode() if strings else np.asarray(ids, "<u8").tobytes())
    parts.append(np.asarray(one["gold_prob"], "<f4").tobytes())
    parts.append(np.asarray(one["correct"], "u1").tobytes())
    if one["gold"] is not None:
        parts.append(np.asarray(one["gold"], "<i4").tobytes())
    parts += [np.asarray(values, "<i4" if name == "predicted" else "<f4").tobytes() for name, values in one["columns"].items()]
    return b"".join(parts)


def describe(runs):
    parts = []
    for one in runs:
        parts.append(f"run {one['name']} {one['declared']} {len(one['labels'])}\n".encode())
        parts += [(label + "\n").encode() for label in one["labels"]]
        parts += [describe_batch(b) for b in one["batches"]]
        if one["ended"]:
            parts.append(b"end\n")
    return b"".join(parts)


def make_store(program, directory, runs):
    """Runs the program make_store; `directory` must not exist."""
    subprocess.run([program, directory], input=describe(runs), check=True)
