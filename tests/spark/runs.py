"""Runs for the tests: what several sessions logged, as one store, and as the Parquet that each node would export from its own."""

import json
import os
import subprocess
import sys
import urllib.parse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import stores

from portolan._exporting import _parquet

COLUMNS = ("margin", "other_sq", "entropy", "max_prob", "grad", "predicted")


class Session:
    """A session of make_store's: the k-th of a store has the id k, as 16 bytes, the first of a run begins at 1000 with rank 0."""

    def __init__(self, number, started=1000, rank=0):
        self.started, self.rank = started, rank
        self.id = number.to_bytes(16, "little").hex()
        self.batches = []  # (epoch, examples, gold_prob, correct, gold or None, {column: values})

    def order(self):
        return (self.started, self.rank, self.id)


def observe(rng, session, epoch, examples, classes=4, columns=COLUMNS, gold_of=lambda examples: examples % 4, labelled=True):
    """Logs what a model that learns might say of these examples."""
    n = len(examples)
    ability = rng.normal(0.4 * epoch - 1, 1.5, n)
    p = (1 / (1 + np.exp(-ability))).astype(np.float32)
    correct = p + rng.normal(0, 0.2, n) > 0.5
    logs = {
        "margin": rng.normal(0, 5, n).astype(np.float32),
        "other_sq": ((1 - p) ** 2 * rng.random(n)).astype(np.float32),
        "entropy": rng.random(n).astype(np.float32),
        "max_prob": np.maximum(p, rng.random(n)).astype(np.float32),
        "grad": rng.lognormal(3, 2, n).astype(np.float32),
        "predicted": rng.integers(0, classes, n).astype(np.int32),
    }
    gold = gold_of(examples).astype(np.int32) if labelled else None
    session.batches.append((epoch, examples, p, correct, gold, {name: logs[name] for name in columns}))


def make_store(directory, sessions, id_of, run="run", labels=()):
    """Everything in one store, in the order in which the sessions are given."""
    batches = []
    for number, session in enumerate(sessions):
        assert number > 0 or session.order()[:2] == (1000, 0), "make_store begins a run so"
        if number > 0:
            batches.append(stores.session(session.started, session.rank))
        for epoch, examples, p, correct, gold, columns in session.batches:
            batches.append(stores.batch(epoch, id_of(examples), p, correct, gold, **columns))
    stores.make_store(os.environ["MAKE_STORE"], str(directory), [stores.run(run, batches, labels=labels)])


def metrics(directory, *options, run="run"):
    """What portolan metrics says, as a structured array."""
    path = f"{directory}.npy"
    subprocess.run([os.environ["PORTOLAN"], "metrics", run, "--store", str(directory), "-q", "-o", path, *options], check=True)
    return np.load(path)


def export(folder, sessions, id_of, kind, run="run"):
    """What portolan.export would write of a store that has these sessions: of each epoch and example the later observation,
    with the latest label."""
    number, session_of, epoch, example, p, correct, gold, columns = _concatenated(sessions)
    rank_of = np.argsort(np.argsort([f"{s.started:020d} {s.rank:010d} {s.id}" for s in sessions]))[session_of]
    last = np.lexsort((number, rank_of, epoch, example))
    winner = last[np.r_[(np.diff(example[last]) != 0) | (np.diff(epoch[last]) != 0), True]]
    labelled = np.flatnonzero(gold >= 0)
    by_label = labelled[np.lexsort((number[labelled], epoch[labelled], rank_of[labelled], example[labelled]))]
    labels = np.full(example.max() + 1, -1, dtype=np.int32)
    labels[example[by_label]] = gold[by_label]
    path = Path(folder) / f"run={urllib.parse.quote(run, safe='')}"
    form = _parquet.Form(str(kind), ("gold_prob", "correct", *columns))
    for e in np.unique(epoch):
        rows = winner[epoch[winner] == e]
        rows = rows[np.argsort(np.asarray(id_of(example[rows])), kind="stable")]
        (path / f"epoch={e}").mkdir(parents=True)
        table = {
            "id": pa.array(id_of(example[rows]), kind),
            "gold_prob": p[rows],
            "correct": correct[rows],
            **{name: _nullable(values[rows]) for name, values in columns.items()},
            "gold": pa.array(labels[example[rows]], mask=labels[example[rows]] < 0),
            "session_started": pa.array([sessions[s].started for s in session_of[rows]], pa.int64()),
            "rank": pa.array([sessions[s].rank for s in session_of[rows]], pa.int64()),
            "session": pa.array([sessions[s].id for s in session_of[rows]]).dictionary_encode(),
        }
        pq.write_table(pa.table(table, schema=form.schema()), path / f"epoch={e}" / "part-0.parquet", **_parquet.options(form))
    (path / "_portolan.json").write_text(json.dumps({"run": run}), encoding="utf-8")


def _concatenated(sessions):
    batches = [(k, *batch) for k, session in enumerate(sessions) for batch in session.batches]
    names = [name for name in COLUMNS if any(name in batch[-1] for batch in batches)]
    sizes = [len(batch[2]) for batch in batches]
    columns = {}
    for name in names:
        absent = -1 if name == "predicted" else np.nan
        columns[name] = np.concatenate([b[-1].get(name, np.full(n, absent, np.float32)) for b, n in zip(batches, sizes, strict=True)])
        if name == "predicted":
            columns[name] = columns[name].astype(np.int32)
    return (
        np.arange(sum(sizes)),
        np.repeat([b[0] for b in batches], sizes),
        np.repeat([b[1] for b in batches], sizes),
        np.concatenate([b[2] for b in batches]),
        np.concatenate([b[3] for b in batches]),
        np.concatenate([b[4] for b in batches]),
        np.concatenate([np.full(n, -1, np.int32) if b[5] is None else b[5] for b, n in zip(batches, sizes, strict=True)]),
        columns,
    )


def _nullable(values):
    return pa.array(values, mask=values < 0 if values.dtype.kind == "i" else np.isnan(values))


def check_same(table, expected, tolerance=1e-9, windows=False):
    """A pyarrow table of measures, in any order, against portolan metrics: counts exactly, floats to the tolerance; but loss and
    prob_margin, which take logarithms and powers, to 1e-14 at best. The columns are the same ones, dyn_unc and dual only with `windows`."""
    ids = np.array(table["id"].to_pylist(), dtype=expected["id"].dtype)
    order = np.argsort(ids)
    assert (ids[order] == expected["id"]).all(), "other examples"
    names = [name for name in expected.dtype.names if windows or name not in ("dyn_unc", "dual")]
    assert table.column_names == names
    for name in names[1:]:
        wanted, column = expected[name], table[name].combine_chunks()
        if wanted.dtype.kind == "U":
            assert (np.array(column.to_pylist())[order] == wanted).all(), name
        elif wanted.dtype.kind == "b":
            assert pa.types.is_boolean(column.type) and (np.array(column.to_pylist())[order] == wanted).all(), name
        elif wanted.dtype.kind == "i":
            got = column.fill_null(-1).to_numpy(zero_copy_only=False)[order]
            assert (got == wanted).all(), f"{name}: {got[got != wanted][:5]} for {wanted[got != wanted][:5]}"
        else:
            got = column.cast(pa.float64()).to_numpy(zero_copy_only=False)[order]
            assert (np.isnan(got) == np.isnan(wanted)).all(), f"{name}: empty elsewhere"
            worst = np.nanmax(np.abs(got - wanted), initial=0) if not np.isnan(wanted).all() else 0
            scale = max(1, np.nanmax(np.abs(wanted), initial=0))
            assert worst <= max(tolerance, 1e-14 if name in ("loss", "prob_margin") else 0) * scale, f"{name} differs by {worst}"
