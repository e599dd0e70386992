"""python -m portolan.spark, as its help says, on the cluster and by spark-submit.

No test here has a session of its own: it would hold all cores of the cluster, and the command would wait for them.
"""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.sql import SparkSession

import cluster as cluster_module
import portolan.spark
import runs
from test_select import chosen_by_portolan

CONFIGURATION = [word for name, value in cluster_module.SETTINGS.items() for word in ("--conf", f"{name}={value}")]


def run_command(cluster, *words, status=0):
    assert SparkSession.getActiveSession() is None, "this module's session holds all cores: the command would wait for ever"
    environment = dict(os.environ, PYSPARK_SUBMIT_ARGS=" ".join([*CONFIGURATION, "pyspark-shell"]))
    done = subprocess.run([sys.executable, "-m", "portolan.spark", "--master", cluster.url, *words], env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, done.stderr
    return done


def test_from_observations_to_a_selection_and_a_map(cluster, small, tmp_path):
    measures, ids, counts = (str(tmp_path / name) for name in ("measures", "ids", "map.csv"))
    run_command(cluster, "measures", "run", *small.folders, "-o", measures)
    table = pq.read_table(measures)
    assert table["id"].to_pylist() == sorted(table["id"].to_pylist())
    runs.check_same(table, small.expected)
    run_command(cluster, "select", "--measures", measures, "--by", "ambiguous", "--fraction", "0.33", "-o", ids)
    lines = [line for part in sorted(Path(ids).glob("part-*")) for line in part.read_text().splitlines()]
    assert lines == chosen_by_portolan(small, "--by", "ambiguous", "--fraction", "0.33")
    run_command(cluster, "map-counts", "--measures", measures, "--colour", "correctness", "-o", counts)
    head, *rows = Path(counts).read_text().splitlines()
    assert head == "x_low,x_high,y_low,y_high,count,colour"
    assert sum(int(row.split(",")[4]) for row in rows) == 3000
    before = Path(counts).read_bytes()
    said = run_command(cluster, "map-counts", "--measures", measures, "-o", counts, status=1).stderr
    assert f"portolan.spark: {counts} is there already" in said
    assert Path(counts).read_bytes() == before


def test_measures_with_a_state(cluster, small, tmp_path):
    out = tmp_path / "out"
    run_command(cluster, "measures", "run", *small.folders, "-o", str(out), "--state", str(tmp_path / "state"))
    table = pq.read_table(out)
    assert table["id"].to_pylist() == sorted(table["id"].to_pylist())
    runs.check_same(table, small.expected, tolerance=1e-12)
    said = run_command(cluster, "measures", "run", "x", "-o", str(out), "--state", "state", "--window", "3", status=2).stderr
    assert "--state keeps sums of all epochs, of labels, without windows: leave --window out" in said


@pytest.mark.parametrize(
    "words, said",
    [
        (["measures", "run"], "{}/run=run is not there, or holds no Parquet file: has run 'run' been exported to it?"),
        (["select", "--by", "ambiguous", "--count", "3", "--measures"], "{} is not there: portolan.spark measures writes it"),
    ],
)
def test_a_folder_that_is_missing_is_one_line(cluster, tmp_path, words, said):
    missing = str(tmp_path / "nowhere")
    lines = run_command(cluster, *words, missing, "-o", str(tmp_path / "out"), status=1).stderr.splitlines()
    assert [line for line in lines if "nowhere" in line] == [f"portolan.spark: {said.format(missing)}"]
    assert not [line for line in lines if line.startswith("\tat ")], "no trace of Java"


def test_spark_submit(cluster, small, tmp_path):
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = ["measures", "run", *small.folders, "--epochs", "1:", "--format", "csv", "-o", str(tmp_path / "out")]
    done = subprocess.run([submit, "--master", cluster.url, *CONFIGURATION, portolan.spark.__file__, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for part in sorted((tmp_path / "out").glob("part-*")) for line in part.read_text().splitlines()]
    assert lines[0] == ",".join(small.expected.dtype.names)
    assert [int(line.partition(",")[0]) for line in lines if line != lines[0]] == list(range(3000))


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "required: COMMAND"),
        (["measures", "run", "-o", "x"], "required: DIR"),
        (["select", "--by", "ambiguous", "-o", "x"], "say RUN and the folders"),
        (["select", "run", "--by", "ambiguous", "-o", "x"], "say which folders hold run 'run'"),
        (["select", "--measures", "m", "--by", "hardest", "-o", "x"], "is no rule"),
        (["select", "--measures", "m", "--by", "ambiguous", "--fraction", "2", "-o", "x"], "above 0, up to 1"),
    ],
)
def test_wrong_usage(words, message):
    done = subprocess.run([sys.executable, "-m", "portolan.spark", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_help_has_examples():
    for words in ([], ["measures"], ["select"], ["map-counts"]):
        done = subprocess.run([sys.executable, "-m", "portolan.spark", *words, "--help"], capture_output=True, text=True, check=True)
        assert "spark://head:7077" in done.stdout
