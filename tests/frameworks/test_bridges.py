"""portolan.bridges against the real Hugging Face datasets, and the tasks that Label Studio imports; what client/python/docs/bridges.md leaves in
Weights & Biases, MLflow, TensorBoard and cleanlab is tested with the page (python_docs.py)."""

import json

import datasets
import numpy as np
import pytest

import portolan
import portolan.bridges

IDS = [f"ex-{i}" for i in range(40)]


@pytest.fixture
def run(store):
    """The first two of 40 labels are wrong."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 40)
    logged = np.where(np.arange(40) < 2, (gold + 1) % 3, gold)
    with portolan.Run("run", store=store, labels=["cat", "dog", "bird"]) as run:
        for epoch in range(8):
            logits = rng.normal(size=(40, 3))
            logits[np.arange(40), gold] += 5
            run.log_logits(epoch, IDS, logits, logged)
            run.end_epoch(epoch)
    return store


def test_columns_by_id(run):
    m = portolan.measures("run", store=run)
    wanted = dict(zip(m["id"].tolist(), m["confidence"].tolist()))
    order = np.random.default_rng(1).permutation(40)
    train = datasets.Dataset.from_dict({"guid": [IDS[i] for i in order] + ["other"], "label": [0] * 41}).select(range(40, -1, -1))
    more = portolan.bridges.add_columns(train, "run", "guid", ["confidence", "first_learned"], store=run)
    assert more.column_names == ["guid", "label", "confidence", "first_learned"] and more["guid"][:] == train["guid"][:]
    assert more["confidence"][:] == [wanted.get(one) for one in train["guid"]] and more["confidence"][0] is None
    assert {value for value in m["first_learned"].tolist() if value >= 0} == {value for value in more["first_learned"] if value is not None}
    whole = portolan.bridges.add_columns(train, "run", "guid", store=run, epochs="1:")
    assert whole.column_names == ["guid", "label", *(name for name in m.columns if name not in ("id", "gold", "label"))]
    assert set(whole["epochs"][1:]) == {7}


def test_a_column_of_a_data_set_without_rows(run):
    train = datasets.Dataset.from_dict({"guid": IDS, "label": [0] * 40}).cast_column("label", datasets.ClassLabel(names=["cat", "dog"]))
    none = portolan.bridges.add_columns(train.select([]), "run", "guid", "confidence", store=run)
    some = portolan.bridges.add_columns(train, "run", "guid", "confidence", store=run)
    assert none.column_names == some.column_names == ["guid", "label", "confidence"] and len(none) == 0 and none.features == some.features
    assert len(datasets.concatenate_datasets([none, some])) == 40


def test_the_format_is_kept(run):
    train = datasets.Dataset.from_dict({"guid": IDS, "label": [0] * 40})
    numbers = portolan.bridges.add_columns(train.with_format("numpy"), "run", "guid", "confidence", store=run)
    assert numbers.format["type"] == "numpy" and isinstance(numbers[:2]["confidence"], np.ndarray) and list(numbers[0]) == ["guid", "label", "confidence"]
    some = portolan.bridges.add_columns(train.with_format("numpy", columns=["label"]), "run", "guid", ["confidence"], store=run)
    assert list(some[0]) == ["label", "confidence"] and some.format["type"] == "numpy"
    shown = portolan.bridges.add_columns(train.with_transform(lambda rows: {"seen": rows["confidence"]}), "run", "guid", "confidence", store=run)
    assert list(shown[0]) == ["seen"]
    assert portolan.bridges.add_columns(train, "run", "guid", [], store=run).column_names == ["guid", "label"]


def test_what_is_no_data_set_of_rows(run):
    train = datasets.Dataset.from_dict({"guid": IDS})
    for given, message in ((datasets.DatasetDict(test=train), r"has several data sets \('test'\): add columns to one of them, such as dataset\['test'\]"),
                           (train.to_iterable_dataset(), "is a stream, whose ids are not known before: give a datasets.Dataset"), ([{"guid": "ex-0"}], "not list")):
        with pytest.raises(TypeError, match=message):
            portolan.bridges.add_columns(given, "run", "guid", "confidence", store=run)


def test_columns_that_cannot_be_added(run):
    train = datasets.Dataset.from_dict({"guid": IDS, "label": [0] * 40, "number": range(40), "wrong": ["no"] * 40})
    for words, message in (
        ({"id_column": "id"}, "no column 'id'; it has guid, label"),
        ({"id_column": "number"}, "the run's ids are texts"),
        ({"id_column": "wrong"}, "none of the 40 ids in 'wrong' is among the run's 40"),
        ({"id_column": "guid", "columns": ["label"]}, "has a column 'label' already"),
        ({"id_column": "guid", "columns": ["confidenc"]}, "no measure 'confidenc'"),
        ({"id_column": "guid", "columns": ["confidence", "aum", "confidence"]}, "columns names 'confidence' 2 times"),
    ):
        with pytest.raises(ValueError, match=message):
            portolan.bridges.add_columns(train, "run", store=run, **words)


@pytest.mark.filterwarnings("ignore:.*")
def test_tasks_of_label_studio(run, tmp_path):
    (tmp_path / "data.csv").write_text("id,text\n" + "".join(f"{one},picture of {one}\n" for one in IDS), encoding="utf-8")
    wrong = portolan.suspects("run", data=tmp_path / "data.csv", id_field="id", count=5, store=run)
    tasks = portolan.bridges.label_studio(wrong, tmp_path / "tasks.json", from_name="class", to_name="words", model_version="seed 1")
    assert tasks == json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8")) and len(tasks) == 5
    assert {task["data"]["id"] for task in tasks[:2]} == {"ex-0", "ex-1"}
    first, row = tasks[0], wrong[0]
    assert first["data"]["text"] == f"picture of {row.id}" and first["data"]["label"] == row.label
    (prediction,) = first["predictions"]
    assert prediction["model_version"] == "seed 1" and prediction["score"] == row.score
    assert prediction["result"] == [{"from_name": "class", "to_name": "words", "type": "choices", "value": {"choices": [row.suggested]}}]
    assert [task["data"]["rank"] for task in tasks] == [1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="needs what portolan.suspects.. returns, with the columns suggested and score; this has id, gold"):
        portolan.bridges.label_studio(portolan.measures("run", store=run), tmp_path / "tasks.json")
    assert len(json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))) == 5
