"""The blocks of client/python/docs/sql.md, run as they stand, against portolan metrics and portolan select."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import datasets
import runs
from test_select import chosen_by_portolan

RUN = "snli/seed1"
PAGE = Path(__file__).resolve().parents[2] / "client/python/docs/sql.md"


def blocks(engine):
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {engine}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sql\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module", params=["integers", "texts"])
def nodes(request, tmp_path_factory):
    """The folders of the page, in a folder of their own."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "integers":
        data = datasets.make(folder, *datasets.two_nodes(np.random.default_rng(4), datasets.EXAMPLES), datasets.scattered, pa.int64(), RUN)
    else:
        data = datasets.make(folder, *datasets.two_nodes(np.random.default_rng(5), 20_000), datasets.names, pa.string(), RUN)
    (folder / "a").rename(folder / "node0")
    (folder / "b").rename(folder / "node1")
    return folder, data


def run_apart(folder, code):
    """In a process of its own: the engines take their folder from it, and give memory back when it ends."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def as_ids(table, expected):
    """ClickHouse writes text as bytes."""
    if expected["id"].dtype.kind == "U" and pa.types.is_binary(table["id"].type):
        return table.set_column(0, "id", table["id"].cast(pa.string()))
    return table


def test_duckdb(nodes):
    folder, data = nodes
    measures, ambiguous = blocks("DuckDB")
    run_apart(folder, f"import duckdb\nduckdb.sql('''SET memory_limit = '2GB' ''')\nduckdb.sql({measures!r})\nduckdb.sql({ambiguous!r})")
    runs.check_same(pq.read_table(folder / "measures-duckdb.parquet"), data.expected, windows=True)
    chosen = (folder / "ambiguous.csv").read_text(encoding="utf-8").split()
    assert chosen == chosen_by_portolan(data, "--by", "ambiguous", "--fraction", "0.33", run=RUN)


def test_clickhouse(nodes):
    folder, data = nodes
    (measures,) = blocks("ClickHouse")
    run_apart(folder, f"import chdb\nchdb.query({measures!r})")
    runs.check_same(as_ids(pq.read_table(folder / "measures-clickhouse.parquet"), data.expected), data.expected, windows=True)


@pytest.mark.parametrize("engine, module, call", [("DuckDB", "duckdb", "sql"), ("ClickHouse", "chdb", "query")])
@pytest.mark.parametrize("nodes", ["texts"], indirect=True)
def test_windows_of_another_length(nodes, engine, module, call):
    """Several windows an example; of ten epochs, one of ten is all that there is."""
    folder, data = nodes
    measures = blocks(engine)[0].replace("9 PRECEDING", "4 PRECEDING").replace("recent = 10", "recent = 5").replace("measures-", "windows-")
    run_apart(folder, f"import {module}\n{module}.{call}({measures!r})")
    expected = runs.metrics(data.store, "--window", "5", run=RUN)
    runs.check_same(as_ids(pq.read_table(folder / f"windows-{engine.lower()}.parquet"), expected), expected, windows=True)


def test_every_block_is_run():
    assert len(blocks("DuckDB")) + len(blocks("ClickHouse")) == PAGE.read_text(encoding="utf-8").count("```") // 2
