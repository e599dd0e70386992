"""The Parquet files that portolan.export() of version 1.0 wrote: read by today's portolan.spark, and kept by today's export()."""

import csv
import math
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import portolan
import portolan.spark

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "golden"))
import packed

FOLDER = packed.EXPORTS / "parquet"


def rows_of(run, command):
    with open(packed.FILES / "expected" / "recorded" / f"{packed.file_name(run)}.{command}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("run", ["words/declared", "texts", "losses"])
def test_read(spark, run):
    observed = rows_of(run, "dynamics")
    value = "task_loss" if run == "losses" else "gold_prob"
    seen = portolan.spark.read(spark, run, str(FOLDER)).select("id", "epoch", value).collect()
    assert {(str(one["id"]), one["epoch"]): one[value] for one in seen} == {(one["id"], int(one["epoch"])): pytest.approx(float(one[value]), rel=1e-7) for one in observed}
    assert len(seen) == len(observed)


@pytest.mark.parametrize("run", ["words/declared", "texts"])
def test_measures(spark, run):
    ours = {str(one["id"]): one for one in portolan.spark.measures(portolan.spark.read(spark, run, str(FOLDER))).collect()}
    wanted = rows_of(run, "metrics")
    assert len(ours) == len(wanted)
    for one in wanted:
        for name in ("confidence", "variability", "correctness", "aum"):
            assert math.isclose(ours[one["id"]][name], float(one[name]), rel_tol=1e-12, abs_tol=1e-12), (one["id"], name)


def test_export_keeps_it(tmp_path):
    """The same store exported again: its files agree, so none is written."""
    store = packed.unpack("recorded", tmp_path / "store")
    shutil.copytree(FOLDER, tmp_path / "exported")
    done = portolan.export("words/declared", tmp_path / "exported", store=store)
    assert (done.kept, done.epochs) == (5, ())


def test_columns_of_measures():
    """The file of measures has the columns that the CSV of 1.0 has."""
    assert pq.read_schema(packed.EXPORTS / "measures.parquet").names == list(rows_of("words/declared", "metrics")[0])
