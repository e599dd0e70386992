"""What a run has found, where people already look: columns of a Hugging Face data set, tasks of Label Studio.

    train = portolan.bridges.add_columns(train, "snli/seed1", id_column="guid")
    portolan.bridges.label_studio(portolan.suspects("snli/seed1", data="train.csv", id_field="guid"), "tasks.json")

Where one line does without a function (Weights & Biases, MLflow, TensorBoard, cleanlab), client/python/docs/bridges.md has the line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from portolan import _packages
from portolan._reading import _positions, _words
from portolan._reading._measures import measures
from portolan._reading._suspects import Suspects
from portolan._recording._run import Run

__all__ = ["add_columns", "label_studio"]

_NO_MEASURES = ("id", "gold", "label")


def add_columns(
    dataset: Any,
    run: str | Run,
    id_column: str = "id",
    columns: Sequence[str] | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """The data set with a run's measures as further columns, each beside the example that has its id.

    Args:
        dataset: a datasets.Dataset, of n rows.
        run: the run, or an open Run.
        id_column: the column with the ids that were logged.
        columns: which measures; default: all.
        store, options: as for portolan.measures(): epochs, window, ...

    Returns:
        A datasets.Dataset of n rows, in their order. A row whose id the run does not have has null there.

    Raises:
        ValueError: there is no such column; the data set has a column of that name already; the run has none of the ids.

    Example: ``portolan.bridges.add_columns(train, "snli/seed1", "guid").filter(lambda row: row["confidence"] < 0.2)``
    """
    datasets, pyarrow = (_packages.needed(name, "portolan.bridges.add_columns()") for name in ("datasets", "pyarrow"))
    m = measures(run, store, **options)
    names = [name for name in m.columns if name not in _NO_MEASURES] if columns is None else list(columns)
    for name in names:
        if name not in m:
            raise ValueError(f"no measure {name!r}; there are {', '.join(m.columns)}")
        if name in dataset.column_names:
            raise ValueError(f"the dataset has a column {name!r} already: rename it, or choose with columns=[...]")
    if id_column not in dataset.column_names:
        raise ValueError(f"the dataset has no column {id_column!r}; it has {', '.join(dataset.column_names)}")
    known, ids = m["id"].tolist(), _words.id_list(dataset[id_column])
    _positions.check_kind(known, ids)
    place = dict(zip(known, range(len(known))))
    rows = pyarrow.array([place.get(one) for one in ids], pyarrow.int64())
    if len(ids) and rows.null_count == len(ids):
        raise ValueError(f"none of the {len(ids):,} ids in {id_column!r} is among the run's {len(known):,}: are they those that were logged?")
    table = m[names].to_arrow()
    return datasets.concatenate_datasets([dataset, datasets.Dataset(pyarrow.table({name: table[name].take(rows) for name in names}))], axis=1)


def label_studio(
    suspects: Suspects,
    path: str | os.PathLike[str] | None = None,
    *,
    from_name: str = "label",
    to_name: str = "text",
    model_version: str = "portolan",
) -> list[dict[str, Any]]:
    """Suspects as tasks for Label Studio, each with the suggested label as a prediction that a person accepts or changes.

    Args:
        suspects: what portolan.suspects() returned; with its `data` the tasks hold the texts.
        path: a .json file to write, which Label Studio imports. Default: none.
        from_name, to_name: the names in the labelling configuration: of ``<Choices name="label" toName="text">``, and of what is labelled,
            ``<Text name="text" value="$text">``.
        model_version: under which the predictions are listed.

    Returns:
        A list of tasks: ``data`` holds a suspect's columns, its id and its present label among them; ``predictions`` the suggested label, with the
        suspect's score, by which Label Studio can order them. It is empty where nothing is suggested.

    Example: ``portolan.bridges.label_studio(portolan.suspects("words", data="words.csv", id_field="id"), "tasks.json")``
    """
    tasks = []
    for row in suspects:
        data = dict(zip(suspects.columns, row))
        task: dict[str, Any] = {"data": data, "predictions": []}
        if data["suggested"] is not None:
            chosen = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": {"choices": [str(data["suggested"])]}}
            task["predictions"] = [{"model_version": model_version, "score": data["score"], "result": [chosen]}]
        tasks.append(task)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(tasks, file, ensure_ascii=False, indent=1)
    return tasks
