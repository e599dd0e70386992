"""portolan.spark on observations of a run of losses, exported from two stores, against portolan metrics and portolan select."""

import os
import subprocess
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

import portolan
import portolan.spark
import runs
import stores
from test_map import drawn_cells

N, EPOCHS = 3000, 7


def batches(losses, share, rng):
    """Some observations of every epoch; `mine` is a column of the user's."""
    for epoch, row in enumerate(losses):
        ids = np.flatnonzero(rng.random(N) < share)
        yield stores.batch(epoch, ids, np.zeros(len(ids)), np.zeros(len(ids), bool), task_loss=row[ids], mine=row[ids] * 2)


@pytest.fixture(scope="module")
def losses(tmp_path_factory):
    """A store with two sessions, and the exports of two stores that have one each."""
    folder, rng = tmp_path_factory.mktemp("losses"), np.random.default_rng(8)
    values = (rng.gamma(2, 1, (EPOCHS, N)) * np.exp(-np.arange(EPOCHS)[:, None] * rng.uniform(0, 0.4, N)) + rng.normal(0, 0.3, N)).astype("f4")
    first, second = list(batches(values, 0.4, rng)), list(batches(values + np.float32(0.5), 0.3, rng))
    for name, sessions in (("both", [*first, stores.session(2000), *second]), ("a", first), ("b", [stores.session(2000), *second])):
        head = [stores.batch(0, [N + 1], [0], [False], task_loss=np.ones(1, "f4"), mine=np.ones(1, "f4"))] if name == "b" else []
        stores.make_store(os.environ["MAKE_STORE"], str(folder / name), [stores.run("run", [*head, *sessions])])
    for name in ("a", "b"):
        portolan.export("run", folder / f"{name}-out", store=folder / name)
    return folder


def seen(spark, folder):
    return portolan.spark.read(spark, "run", str(folder / "a-out"), str(folder / "b-out")).where(f"id < {N}")


@pytest.mark.parametrize("epochs", [None, "2:6", ":1"])
def test_measures(spark, losses, tmp_path, epochs):
    expected = runs.metrics(losses / "both", *(["--epochs", epochs] if epochs else []))
    portolan.spark.measures(seen(spark, losses), epochs=epochs).write.parquet(str(tmp_path / "out"))
    runs.check_same(pq.read_table(tmp_path / "out"), expected, tolerance=0)


@pytest.mark.parametrize("epochs", [None, "2:6"])
@pytest.mark.parametrize("threshold", [1.0, -0.25])
def test_threshold(spark, losses, tmp_path, epochs, threshold):
    """An example is right where its loss is at most the threshold, as for portolan metrics."""
    expected = runs.metrics(losses / "both", "--loss-threshold", str(threshold), *(["--epochs", epochs] if epochs else []))
    portolan.spark.measures(seen(spark, losses), epochs=epochs, loss_threshold=threshold).write.parquet(str(tmp_path / "out"))
    runs.check_same(pq.read_table(tmp_path / "out"), expected, tolerance=0)


@pytest.mark.parametrize("by", ["forgettable", "forgetting", "low-correctness", "forgetting_events:desc", "hard-to-learn"])
def test_select_by_threshold(spark, losses, by):
    said = subprocess.run([os.environ["PORTOLAN"], "select", "run", "--store", str(losses / "both"), "-q", "--by", by, "--count", "200", "--loss-threshold", "1"], capture_output=True, text=True, check=True)
    frame = portolan.spark.select(seen(spark, losses), by, count=200, loss_threshold=1)
    assert [row["id"] for row in frame.collect()] == [int(line) for line in said.stdout.split()]
    measured = portolan.spark.measures(seen(spark, losses), loss_threshold=1)
    assert portolan.spark.select(measured, by, count=200).collect() == frame.collect()
    with pytest.raises(ValueError, match="loss_threshold: these are measures"):
        portolan.spark.select(measured, by, count=200, loss_threshold=1)


@pytest.mark.parametrize("by", ["hard-to-learn", "easy-to-learn", "ambiguous", "learning_speed:asc", "task_loss:desc"])
def test_select(spark, losses, by):
    said = subprocess.run([os.environ["PORTOLAN"], "select", "run", "--store", str(losses / "both"), "-q", "--by", by, "--count", "200"], capture_output=True, text=True, check=True)
    chosen = [row["id"] for row in portolan.spark.select(seen(spark, losses), by, count=200).collect()]
    assert chosen == [int(line) for line in said.stdout.split()]


@pytest.mark.parametrize("axes", [{}, {"x": "learning_speed", "y": "variability"}])
def test_map(spark, losses, tmp_path, axes):
    """The cells are those that the command draws."""
    data = SimpleNamespace(store=losses / "both")
    across, up, cells, ends = drawn_cells(data, tmp_path, "run", *(word for name, value in axes.items() for word in (f"--{name}", value)))
    rows = portolan.spark.map_counts(seen(spark, losses), **axes).collect()
    assert len(rows) == across * up and [row["count"] for row in rows] == np.nan_to_num(cells).tolist()
    for axis, (low, high) in zip("xy", ends, strict=True):
        assert (rows[0][f"{axis}_low"], rows[-1][f"{axis}_high"]) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


def test_what_needs_labels(spark, losses):
    frame = seen(spark, losses)
    for by in ("forgettable", "forgetting", "region:ambiguous"):
        with pytest.raises(ValueError, match="needs labels, and the run records losses"):
            portolan.spark.select(frame, by, count=3)
    with pytest.raises(ValueError, match="there is no measure 'confidence'"):
        portolan.spark.select(frame, "confidence:asc", count=3)
    with pytest.raises(ValueError, match="y='confidence': there is no such measure"):
        portolan.spark.map_counts(frame, y="confidence")
    with pytest.raises(ValueError, match="these observations are losses"):
        portolan.spark.measures(frame, window=3)
