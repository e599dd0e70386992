"""client/python/docs/spark.md: its Python as it stands, and its commands, with the cluster and the folders of the test in place of the page's."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cluster as cluster_module
import datasets

TEXT = (Path(__file__).resolve().parents[2] / "client/python/docs/spark.md").read_text(encoding="utf-8")
RUN = "web/seed1"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What two nodes exported, and the file that the model was trained on."""
    folder = tmp_path_factory.mktemp("page")
    data = datasets.make(folder, *datasets.two_nodes(np.random.default_rng(6), 2000), datasets.scattered, pa.int64(), RUN)
    (folder / "runs").mkdir()
    for node, name in enumerate("ab"):
        (folder / name).rename(folder / "runs" / f"node{node}")
    keys = data.expected["id"].tolist()
    (folder / "train.jsonl").write_text("".join(json.dumps({"key": key, "text": f"text {key}"}) + "\n" for key in keys), encoding="utf-8")
    return folder, data


def submit_arguments(cluster):
    words = ["--master", cluster.url]
    for name, value in cluster_module.SETTINGS.items():
        words += ["--conf", f"{name}={value}"]
    return dict(os.environ, PYSPARK_SUBMIT_ARGS=shlex.join([*words, "pyspark-shell"]))


def test_python(cluster, folder):
    folder, data = folder
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks("python"))], cwd=folder, env=submit_arguments(cluster), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for part in (folder / "hardest").glob("part-*") for line in part.read_text(encoding="utf-8").splitlines()]
    hardest = data.expected[np.lexsort((data.expected["id"], data.expected["confidence"]))][:100]
    assert sorted(row["key"] for row in rows) == sorted(hardest["id"].tolist())
    assert all(row["text"] == f"text {row['key']}" for row in rows)


def test_commands(cluster, folder):
    folder, data = folder
    commands = [line for block in blocks("sh") for line in block.splitlines() if "portolan.spark" in line]
    assert [re.search(r"spark://head:7077 (\S+)", line)[1] for line in commands] == ["measures", "measures", "select", "map-counts"]
    (folder / "shared").mkdir()
    (folder / "shared/runs").symlink_to(folder / "runs")
    for line in commands:
        line = line.replace("spark://head:7077", cluster.url).replace("/shared", str(folder / "shared")).replace("python ", f"{sys.executable} ", 1)
        done = subprocess.run(line, shell=True, cwd=folder, env=submit_arguments(cluster), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    chosen = [int(line) for part in sorted((folder / "shared/ambiguous").glob("part-*")) for line in part.read_text().splitlines()]
    order = np.lexsort((data.expected["id"], -data.expected["variability"]))
    assert chosen == data.expected["id"][order][: int(0.33 * len(order) + 0.5)].tolist()
    counts = [int(line.split(",")[4]) for line in (folder / "map.csv").read_text().splitlines()[1:]]
    assert sum(counts) == len(order)
