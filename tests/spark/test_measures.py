"""portolan.spark.measures on a cluster against portolan metrics: every column, counts exactly, floats to 1e-9 and, here, to the last bit (loss: to
1e-14)."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import portolan.spark
import runs


def measured(frame, folder):
    """Written by the workers; nothing comes to the driver."""
    frame.write.parquet(str(folder))
    return pq.read_table(folder)


def test_two_nodes_a_million_examples(spark, million, tmp_path):
    seen = portolan.spark.read(spark, "run", *million.folders)
    runs.check_same(measured(portolan.spark.measures(seen), tmp_path / "out"), million.expected, tolerance=0)


def test_text_ids_labels_and_a_name_to_be_encoded(spark, texts, tmp_path):
    seen = portolan.spark.read(spark, "snli/größe+1%2", *texts.folders)
    labels = ["entails", "neutral", "contradicts", "unknown"]
    runs.check_same(measured(portolan.spark.measures(seen, labels=labels), tmp_path / "out"), texts.expected)


@pytest.mark.parametrize("epochs", ["2:7", "9:", ":1"])
def test_a_range_of_epochs(spark, texts, tmp_path, epochs):
    seen = portolan.spark.read(spark, "snli/größe+1%2", *texts.folders)
    expected = runs.metrics(texts.store, "--epochs", epochs, run="snli/größe+1%2")
    table = measured(portolan.spark.measures(seen, epochs=epochs, labels=["entails", "neutral", "contradicts", "unknown"]), tmp_path / "out")
    runs.check_same(table, expected)


@pytest.mark.parametrize("window", [2, 5, 10, 11])
def test_windows(spark, texts, tmp_path, window):
    """dyn_unc and dual, also where Spark adds up in parts; null for examples that were observed less often."""
    seen = portolan.spark.read(spark, "snli/größe+1%2", *texts.folders)
    expected = runs.metrics(texts.store, "--window", str(window), run="snli/größe+1%2")
    if window == 5:  # lists that Spark adds up in parts
        spark.conf.set("spark.sql.execution.replaceHashWithSortAgg", "false")
    table = measured(portolan.spark.measures(seen, window=np.int64(window), labels=["entails", "neutral", "contradicts", "unknown"]), tmp_path / "out")
    spark.conf.unset("spark.sql.execution.replaceHashWithSortAgg")
    if window > 10:  # of ten epochs, no example has a window
        assert table["dyn_unc"].null_count == table["dual"].null_count == len(expected)
        table = table.drop_columns(["dyn_unc", "dual"])
    else:
        assert 0 < np.isnan(expected["dual"]).sum() < len(expected) or window == 2
    runs.check_same(table, expected, tolerance=1e-15 if window == 5 else 0, windows=window <= 10)


def test_gold_probabilities_alone(spark, small, tmp_path):
    seen = portolan.spark.read(spark, "run", *small.folders)
    runs.check_same(measured(portolan.spark.measures(seen), tmp_path / "out"), small.expected)


def sessions_with_ids(rng, ids):
    session = runs.Session(1)
    for epoch in range(3):
        runs.observe(rng, session, epoch, np.arange(len(ids)))
    return session


def test_ids_above_the_signed_ones(spark, tmp_path):
    """One node has only small ids, and wrote them signed."""
    ids = np.array([3, 2**63 + 5, 17, 2**64 - 1], dtype=np.uint64)
    small = np.array([1, 3, 99], dtype=np.uint64)
    first, second = (sessions_with_ids(np.random.default_rng(n), x) for n, x in ((1, ids), (2, small)))
    second.started = 2000
    second.id = (2).to_bytes(16, "little").hex()
    runs.export(tmp_path / "a", [first], lambda e: ids[e], pa.uint64())
    runs.export(tmp_path / "b", [second], lambda e: small[e].astype(np.int64), pa.int64())
    every = np.concatenate([ids, small])
    for batch in range(3):
        epoch, examples, *rest = second.batches[batch]
        second.batches[batch] = (epoch, examples + len(ids), *rest)
    runs.make_store(tmp_path / "store", [first, second], lambda e: every[e])
    seen = portolan.spark.read(spark, "run", str(tmp_path / "a"), str(tmp_path / "b"))
    assert dict(seen.dtypes)["id"] == "decimal(20,0)"
    runs.check_same(measured(portolan.spark.measures(seen), tmp_path / "out"), runs.metrics(tmp_path / "store"))


def test_ids_that_became_unsigned_within_one_run(spark, tmp_path):
    """A run in progress was exported before its first id of 2^63 came."""
    ids = np.array([5, 7, 2**63 + 5], dtype=np.uint64)
    early, late = runs.Session(1), runs.Session(1)
    runs.observe(np.random.default_rng(1), early, 0, np.arange(2))
    runs.observe(np.random.default_rng(2), late, 1, np.arange(3))
    runs.export(tmp_path / "a", [early], lambda e: ids[e].astype(np.int64), pa.int64())
    runs.export(tmp_path / "later", [late], lambda e: ids[e], pa.uint64())
    (tmp_path / "later/run=run/epoch=1").rename(tmp_path / "a/run=run/epoch=1")
    rows = portolan.spark.measures(portolan.spark.read(spark, "run", str(tmp_path / "a"))).collect()
    assert {int(row["id"]): row["epochs"] for row in rows} == {5: 2, 7: 2, 2**63 + 5: 1}


def test_parquet_files_of_others_are_not_read(spark, tmp_path):
    session = runs.Session(1)
    runs.observe(np.random.default_rng(1), session, 0, np.arange(2))
    runs.export(tmp_path, [session], lambda e: e, pa.int64())
    folder = tmp_path / "run=run/epoch=0"
    for place, ids in ((folder, [0, 9]), (tmp_path / "run=run", [8])):
        pq.write_table(pq.read_table(folder / "part-0.parquet", partitioning=None).slice(0, len(ids)).set_column(0, "id", pa.array(ids)), place / "mine.parquet")
    seen = portolan.spark.read(spark, "run", str(tmp_path))
    assert sorted(row["id"] for row in seen.collect()) == [0, 1]


def test_several_runs_at_once(spark, small, texts, tmp_path):
    """As spark.read.parquet() gives them, with a column run."""
    rng = np.random.default_rng(5)
    for run in ("one", "two"):
        session = runs.Session(1)
        for epoch in range(4):
            runs.observe(rng, session, epoch, np.arange(50), columns=())
        runs.export(tmp_path / "runs", [session], lambda e: e, pa.int64(), run)
        runs.make_store(tmp_path / run, [session], lambda e: e, run)
    table = measured(portolan.spark.measures(spark.read.parquet(str(tmp_path / "runs"))), tmp_path / "out")
    for run in ("one", "two"):
        mine = table.filter(pa.compute.equal(table["run"], run)).drop_columns("run")
        runs.check_same(mine, runs.metrics(tmp_path / run, run=run))


def test_what_is_wrong_is_said(spark, small, texts, tmp_path):
    with pytest.raises(ValueError, match="lack the columns: epoch, gold_prob"):
        portolan.spark.measures(spark.range(3))
    for window in (1, 257, 2.0):
        with pytest.raises(ValueError, match="window must be a whole number from 2 to 256, not"):
            portolan.spark.measures(portolan.spark.read(spark, "run", *small.folders), window=window)
    with pytest.raises(ValueError, match=r"no measure 'dual': measures\(df, window=J\) adds it"):
        portolan.spark.select(portolan.spark.read(spark, "run", *small.folders), by="dual:desc", count=1)
    with pytest.raises(ValueError, match="run=other is not there"):
        portolan.spark.read(spark, "other", *small.folders)
    with pytest.raises(ValueError, match="A:B"):
        portolan.spark.measures(portolan.spark.read(spark, "run", *small.folders), epochs="3")
    session = runs.Session(1)
    runs.observe(np.random.default_rng(1), session, 0, np.arange(2))
    runs.export(tmp_path / "text", [session], lambda e: [f"x{n}" for n in e], pa.string())
    with pytest.raises(ValueError, match="the column id is bigint in .*string in"):
        portolan.spark.read(spark, "run", small.folders[0], str(tmp_path / "text"))
