"""portolan.spark.keep_sums: what it reads, and when a state is made anew. test_command.py has measures --state."""

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import portolan.spark
import runs
from test_sums import check_same

EPOCHS = 6


@pytest.fixture
def exported(tmp_path):
    """What two nodes exported, in later/; epochs_came() brings the next epochs to now/."""
    rng, a, b = np.random.default_rng(7), runs.Session(1), runs.Session(2, 2000, 1)
    for epoch in range(EPOCHS):
        runs.observe(rng, a, epoch, rng.permutation(60 + 10 * epoch)[:60])
        runs.observe(rng, b, epoch, rng.permutation(80 + 10 * epoch)[:40])
    for name, session in (("a", a), ("b", b)):
        runs.export(tmp_path / "later" / name, [session], lambda e: [f"wört/{n}" for n in e], pa.string())
        (tmp_path / "now" / name / "run=run").mkdir(parents=True)
    return tmp_path


def epochs_came(folder, *epochs):
    for name in ("a", "b"):
        for epoch in epochs:
            shutil.move(folder / f"later/{name}/run=run/epoch={epoch}", folder / f"now/{name}/run=run")


def sums_and_measures(spark, folder):
    """What the state makes of the epochs that came must be what measures() makes of them. Returns the state's folder."""
    folders = [str(folder / "now" / name) for name in ("a", "b")]
    kept = portolan.spark.measures_of(portolan.spark.keep_sums(spark, folder / "state", "run", *folders))
    check_same(kept, portolan.spark.measures(portolan.spark.read(spark, "run", *folders)))
    return sorted(path.name for path in (folder / "state").iterdir()) if (folder / "state").exists() else []


def part_of(folder, epoch):
    return folder / f"now/a/run=run/epoch={epoch}/part-0.parquet"


def test_only_new_epochs_are_read(spark, exported, capfd):
    epochs_came(exported, 0)
    assert sums_and_measures(spark, exported) == [], "one epoch, which may be under way"
    epochs_came(exported, 1, 2)
    assert sums_and_measures(spark, exported) == ["1"]
    notes = pq.read_table(exported / "state/1/epochs").sort_by("epoch")
    assert (notes["epoch"].to_pylist(), notes["rows"].to_pylist()) == ([0, 1], [100, 100])
    held, when = part_of(exported, 0), os.stat(part_of(exported, 0))
    rows = pq.read_table(held, partitioning=None)
    pq.write_table(rows.set_column(rows.column_names.index("gold_prob"), "gold_prob", pa.array(np.zeros(60, np.float32))), held)
    os.utime(held, ns=(when.st_atime_ns, when.st_mtime_ns))
    (exported / "state/new/sums").mkdir(parents=True)
    epochs_came(exported, 4, 5)
    folders = [str(exported / "now" / name) for name in ("a", "b")]
    kept = portolan.spark.keep_sums(spark, exported / "state", "run", *folders)
    confidence = kept.selectExpr("sum(mean * count)").collect()[0][0]
    seen = portolan.spark.read(spark, "run", *folders)
    everything = portolan.spark.measures(seen).selectExpr("sum(confidence * epochs)").collect()[0][0]
    assert confidence > everything + 1, "epoch 0 was not read again"
    assert sorted(path.name for path in (exported / "state").iterdir()) == ["2"]
    assert "made anew" not in capfd.readouterr().err


def test_a_state_is_made_anew(spark, exported, capfd):
    epochs_came(exported, 0, 1, 3, 4)
    assert sums_and_measures(spark, exported) == ["1"]
    pq.write_table(pq.read_table(part_of(exported, 1), partitioning=None).slice(3), part_of(exported, 1))
    assert sums_and_measures(spark, exported) == ["2"]
    assert "is made anew from all epochs: epoch 1 has 97 rows, and had 100" in capfd.readouterr().err
    os.utime(part_of(exported, 0))
    assert sums_and_measures(spark, exported) == ["3"]
    assert "epoch 0 was written again" in capfd.readouterr().err
    epochs_came(exported, 2)
    assert sums_and_measures(spark, exported) == ["4"]
    assert "epoch 2 came after epoch 3" in capfd.readouterr().err
    assert sums_and_measures(spark, exported) == ["4"], "nothing is new"
    assert "made anew" not in capfd.readouterr().err


def test_another_folder_is_refused(spark, exported):
    epochs_came(exported, 0, 1)
    sums_and_measures(spark, exported)
    shutil.copytree(exported / "now/a/run=run", exported / "now/a/run=other")
    with pytest.raises(ValueError, match="is the state of run 'run', not of 'other'"):
        portolan.spark.keep_sums(spark, exported / "state", "other", exported / "now/a")
    (exported / "state/notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds 'notes.txt', which is not of a state"):
        portolan.spark.keep_sums(spark, exported / "state", "run", exported / "now/a")
    assert Path(exported / "state/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("change", [lambda notes: notes.drop_columns(["version"]), lambda notes: notes.set_column(4, "version", pa.array([2] * len(notes), pa.int32()))])
def test_a_state_of_another_version_is_made_anew(spark, exported, capsys, change):
    epochs_came(exported, 0, 1, 2)
    assert sums_and_measures(spark, exported) == ["1"]
    [path] = (exported / "state/1/epochs").glob("*.parquet")
    notes = change(pq.read_table(path))
    (path.parent / f".{path.name}.crc").unlink()
    pq.write_table(notes, path)
    assert sums_and_measures(spark, exported) == ["2"]
    assert "is made anew from all epochs: another version of portolan made it" in capsys.readouterr().err
    assert sums_and_measures(spark, exported) == ["2"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("change", [lambda notes: notes.drop_columns(["version"]), lambda notes: notes.set_column(4, "version", pa.array([2] * len(notes), pa.int32()))])
def test_a_state_of_another_version_and_run_is_refused(spark, exported, change):
    epochs_came(exported, 0, 1, 2)
    sums_and_measures(spark, exported)
    [path] = (exported / "state/1/epochs").glob("*.parquet")
    notes = change(pq.read_table(path))
    (path.parent / f".{path.name}.crc").unlink()
    pq.write_table(notes, path)
    shutil.copytree(exported / "now/a/run=run", exported / "now/a/run=other")
    with pytest.raises(ValueError, match="is the state of run 'run', not of 'other'"):
        portolan.spark.keep_sums(spark, exported / "state", "other", exported / "now/a")
    assert pq.read_table(path).equals(notes)


def test_what_an_ended_call_left_goes(spark, exported):
    """A call that was ended between the renaming and the deleting leaves two states, of which the later one holds."""
    epochs_came(exported, 0, 1)
    assert sums_and_measures(spark, exported) == ["1"]
    shutil.copytree(exported / "state/1", exported / "state/9")
    epochs_came(exported, 2)
    assert sums_and_measures(spark, exported) == ["10"]
