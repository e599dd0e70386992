"""The package's tables in pandas, polars, DuckDB, pyarrow and Hugging Face datasets, and a selection's way back to what trains: value by value."""

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

import portolan
import portolan.torch

IDS = [f"wört, {i:02}" for i in range(20)]


@pytest.fixture(params=["texts", "integers"])
def ids(request):
    return IDS if request.param == "texts" else [3 * i + 2**53 for i in range(20)]


@pytest.fixture
def run(store, ids):
    """Of every example's last epoch nothing but p(gold) is known; one is never learned; of one there is no gold label."""
    with portolan.Run("run", store=store, labels=["cat", "dog"]) as run:
        for epoch in range(3):
            gold = np.arange(19) % 2
            logits = np.random.default_rng(epoch).normal(size=(19, 2)).astype("f4")
            logits[0] = [-9, 9]
            run.log_logits(epoch, ids[:19], logits, gold)
            run.log_gold(epoch, ids[19:], [0.25], [epoch == 0])
            run.end_epoch(epoch)
    return store


def measures(store):
    return portolan.measures("run", store=store)


def expected(table):
    """{column: values, None where there is none}, from the structured array."""
    out = {}
    for name in table.dtype.names:
        values = table.to_numpy()[name].tolist()
        if name in ("never_learned", "correct"):
            out[name] = [bool(value) for value in values]
        elif name != "id":
            out[name] = [None if value in (-1, "") or value != value else value for value in values]
        else:
            out[name] = values
    return out


def test_polars(run, ids):
    m = measures(run)
    wanted = expected(m)
    assert wanted["gold"][-1] is None and wanted["label"][-1] is None and wanted["aum"][-1] is None and wanted["first_learned"][0] is None
    assert wanted["never_learned"][0] is True and wanted["never_learned"][-1] is False
    for frame in (m.to_polars(), pl.DataFrame(m), pl.from_arrow(m.to_arrow())):
        assert frame.to_dict(as_series=False) == wanted
        assert frame.schema["id"] == (pl.String if isinstance(ids[0], str) else pl.UInt64)
        assert frame.schema["never_learned"] == pl.Boolean and frame.schema["first_learned"] == pl.Int64


def test_pandas(run, ids):
    m = measures(run)
    wanted = expected(m)
    for frame in (m.to_pandas(), pd.DataFrame.from_arrow(m)):
        assert list(frame) == list(wanted) and len(frame) == 20
        for name, values in wanted.items():
            assert [None if pd.isna(value) else value for value in frame[name]] == values, name
        assert frame["never_learned"].dtype == bool and frame["id"].tolist() == m["id"].tolist()
    frame = m.to_pandas()
    assert str(frame["first_learned"].dtype) == "Int64" and str(frame["label"].dtype) == "str" and frame["confidence"].dtype == float


def test_what_was_done_with_the_record_array(run):
    m = measures(run)
    frame = pd.DataFrame(m.to_numpy())
    assert list(frame) == list(m.dtype.names) and frame["first_learned"].tolist() == m["first_learned"].tolist()


def test_a_data_frame_of_a_table_has_the_values_of_to_pandas(run):
    m = measures(run)
    for frame in (pd.DataFrame(m), pd.DataFrame(m[m["confidence"] < 2])):
        assert list(frame) == list(m.dtype.names) and frame["never_learned"].dtype == bool
        for name, values in expected(m).items():
            assert [None if pd.isna(value) else value for value in frame[name]] == values, name


def test_one_long_id(store):
    ids = ["a" * 200, *IDS]
    with portolan.Run("run", store=store, labels=["cat", "dog" * 30]) as run:
        run.log_gold(0, ids, np.linspace(0.1, 0.9, 21), np.ones(21, bool), gold=[0] * 20 + [1])
    m = measures(store)
    assert m["id"].dtype == object and m["label"].dtype == object
    wanted = expected(m)
    assert wanted["id"] == sorted(ids)
    for frame in (m.to_pandas(), pd.DataFrame(m), pd.DataFrame.from_arrow(m)):
        assert frame["id"].tolist() == wanted["id"] and frame["label"].tolist() == wanted["label"]
    assert m.to_polars().to_dict(as_series=False) == wanted == pl.DataFrame(m).to_dict(as_series=False)
    assert m.to_arrow().to_pydict() == wanted and duckdb.sql("SELECT max(length(id)) FROM m").fetchall() == [(200,)]


def test_parquet(run, tmp_path):
    m = measures(run)
    m.to_parquet(tmp_path / "m.parquet")
    assert pl.read_parquet(tmp_path / "m.parquet").to_dict(as_series=False) == expected(m)
    portolan.dynamics("run", store=run).to_parquet(tmp_path / "d.parquet")
    assert pl.read_parquet(tmp_path / "d.parquet").height == 60


def test_arrow_block_by_block(run, tmp_path, monkeypatch):
    """A batch of Arrow has room for 2 GiB of text, a table for more."""
    m = measures(run)
    wanted = expected(m)
    monkeypatch.setattr("portolan._reading._table.BATCH", 7)
    assert [batch.num_rows for batch in pa.RecordBatchReader.from_stream(m)] == [7, 7, 6]
    m.to_parquet(tmp_path / "m.parquet")
    for table in (m.to_arrow(), pa.table(m), pl.read_parquet(tmp_path / "m.parquet").to_arrow(), pl.DataFrame(m).to_arrow()):
        assert table.to_pydict() == wanted
    frame = pd.DataFrame.from_arrow(m)
    assert frame["id"].tolist() == wanted["id"] and m.to_csv().count("\n") == 21
    array = pa.array  # which makes several of texts that one has no room for
    monkeypatch.setattr(pa, "array", lambda values, **how: array(values, **how) if len(values) < 3 else pa.chunked_array([array(values, **how)]))
    assert [batch.num_rows for batch in pa.RecordBatchReader.from_stream(m)] == [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 1, 2]
    assert m.to_arrow().to_pydict() == wanted


def test_arrow(run):
    m = measures(run)
    for table in (m.to_arrow(), pa.table(m), pa.RecordBatchReader.from_stream(m).read_all()):
        assert table.to_pydict() == expected(m)
        assert table.schema.field("label").type == pa.string() and table.schema.field("never_learned").type == pa.bool_()
        assert table.schema.field("aum").nullable and not table.schema.field("id").nullable
        table.validate(full=True)
    none = m[:0].to_arrow()
    assert none.num_rows == 0 and none.schema == m.to_arrow().schema, "types do not hang on values"


def test_duckdb(run, ids):
    m = measures(run)
    runs = portolan.runs(run)  # noqa: F841 (DuckDB finds it by its name)
    assert duckdb.sql("SELECT * FROM m").to_arrow_table().to_pydict() == expected(m)
    ((learned, with_gold),) = duckdb.sql("SELECT count(first_learned), count(gold) FROM m WHERE NOT never_learned").fetchall()
    assert learned == (~m["never_learned"].astype(bool)).sum() == with_gold + 1
    assert duckdb.sql("SELECT name, observations FROM runs").fetchall() == [("run", 60)]


def test_datasets(run):
    m = measures(run)
    for dataset in (datasets.Dataset(m.to_arrow()), datasets.Dataset(pa.table(m)), datasets.Dataset.from_polars(m.to_polars()),
                    datasets.Dataset.from_pandas(m.to_pandas())):
        assert dataset.to_dict() == expected(m)


def test_dynamics_in_batches(run, monkeypatch):
    monkeypatch.setattr("portolan._reading._dynamics.BATCH", 7)
    d = portolan.dynamics("run", store=run)
    reader = pa.RecordBatchReader.from_stream(d)
    assert [batch.num_rows for batch in reader] == [7] * 8 + [4]
    wanted = expected(portolan.dynamics("run", store=run))
    assert wanted["entropy"][19] is None and wanted["predicted"][19] is None and wanted["correct"][19] is True
    for table in (portolan.dynamics("run", store=run).to_arrow(), pa.table(d), d.to_arrow()):
        assert table.to_pydict() == wanted
    assert pl.DataFrame(d).to_dict(as_series=False) == wanted == d.to_polars().to_dict(as_series=False)
    assert duckdb.sql("SELECT epoch, count(*) FROM d GROUP BY epoch ORDER BY epoch").fetchall() == [(0, 20), (1, 20), (2, 20)]


def test_a_subset_of_a_torch_dataset(run, ids):
    chosen = portolan.select("run", by="hard-to-learn", count=6, store=run)
    order = np.random.default_rng(0).permutation(20)
    shuffled = [ids[i] for i in order]
    plain = TensorDataset(torch.tensor(order))
    named = portolan.torch.WithIds(plain, ids=shuffled)
    dicts = [{"guid": one, "x": torch.tensor(i)} for i, one in zip(order, shuffled)]
    by_name = portolan.torch.WithIds(dicts, ids="guid")
    part = Subset(named, [i for i in range(20) if i % 2 == 0 or shuffled[i] in chosen.ids()])
    for dataset in (named, by_name, part):
        subset = Subset(dataset, chosen.indices(dataset))
        seen = [example["id"] if isinstance(example, dict) else example[0] for example in subset]
        assert seen == chosen.ids()
    assert [plain[i][0].item() for i in chosen.indices(plain, ids=shuffled)] == [ids.index(one) for one in chosen.ids()]
    batch = next(iter(DataLoader(Subset(by_name, chosen.indices(by_name)), batch_size=6)))
    assert [ids[i] for i in batch["x"].tolist()] == chosen.ids()
    with pytest.raises(ValueError, match="not among the dataset's"):
        chosen.indices(Subset(named, [i for i in range(20) if shuffled[i] not in chosen.ids()]))


def test_positions_in_the_whole_of_a_subset(store):
    """As WithIds hands them out."""
    whole = TensorDataset(torch.arange(100))
    part = Subset(whole, list(range(10, 60)))
    train = portolan.torch.WithIds(part)
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            for ids, _ in DataLoader(train, batch_size=16):
                run.log_gold(epoch, ids, torch.linspace(0.1, 0.9, len(ids)), torch.ones(len(ids), dtype=torch.bool))
            run.end_epoch(epoch)
    chosen = portolan.select("run", by="confidence:asc", count=5, store=store)
    for dataset in (train, part):
        assert [dataset[i][-1].item() for i in chosen.indices(dataset)] == chosen.ids()
    assert [whole[i][0].item() for i in chosen.indices(whole)] == chosen.ids()


def test_a_selection_of_a_dataset(run, ids):
    chosen = portolan.select("run", by="easy-to-learn", count=6, store=run)
    order = np.random.default_rng(1).permutation(20)
    train = datasets.Dataset.from_dict({"guid": [ids[i] for i in order], "x": order.tolist()})
    assert train.select(chosen.indices(train, ids="guid"))["guid"][:] == chosen.ids()
    assert sorted(train.filter(lambda row: row, input_columns=None).select(np.flatnonzero(chosen.mask(train["guid"])))["guid"][:]) == sorted(chosen.ids())
    for frame in (train.to_pandas(), train.to_polars(), train.data.table):
        taken = chosen.indices(frame, ids="guid")
        rows = frame.iloc[taken] if hasattr(frame, "iloc") else frame[taken] if isinstance(frame, pl.DataFrame) else frame.take(taken)
        column = rows["guid"]
        assert (column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()) == chosen.ids()
        assert np.flatnonzero(chosen.mask(frame["guid"])).tolist() == sorted(taken)
    with pytest.raises(ValueError, match="no such column; it has guid, x"):
        chosen.indices(train, ids="id")
