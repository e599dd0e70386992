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

from portolan import _files, _packages
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
    columns: str | Sequence[str] | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """The data set with a run's measures as further columns, each beside the example that has its id.

    Args:
        dataset: a datasets.Dataset, of n rows.
        run: the run, or an open Run.
        id_column: the column with the ids that were logged.
        columns: which measures, or the one; default: all.
        store, options: as for portolan.measures(): epochs, window, ...

    Returns:
        A datasets.Dataset of n rows, in their order, with the format of the given one. A row whose id the run does not have has null there.

    Raises:
        TypeError: `dataset` is a DatasetDict or a stream.
        ValueError: there is no such column, or it is named twice; the data set has a column of that name already; the run has none of the ids.

    Example: ``portolan.bridges.add_columns(train, "snli/seed1", "guid").filter(lambda row: row["confidence"] < 0.2)``
    """
    datasets, pyarrow = (_packages.needed(name, "portolan.bridges.add_columns()") for name in ("datasets", "pyarrow"))
    _check_whole(dataset, datasets)
    m = measures(run, store, **options)
    if columns is None:
        names = [name for name in m.columns if name not in _NO_MEASURES]
    else:
        names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if name not in m:
            raise ValueError(f"no measure {name!r}; there are {', '.join(m.columns)}")
        if names.count(name) > 1:
            raise ValueError(f"columns names {name!r} {names.count(name)} times")
        if name in dataset.column_names:
            raise ValueError(f"the dataset has a column {name!r} already: rename it, or choose with columns=[...]")
    if id_column not in dataset.column_names:
        raise ValueError(f"the dataset has no column {id_column!r}; it has {', '.join(dataset.column_names)}")
    known, ids = m["id"].tolist(), _words.id_list(dataset.with_format(None)[id_column])
    _positions.check_kind(known, ids)
    place = dict(zip(known, range(len(known))))
    rows = pyarrow.array([place.get(one) for one in ids], pyarrow.int64())
    if len(ids) and rows.null_count == len(ids):
        raise ValueError(f"none of the {len(ids):,} ids in {id_column!r} is among the run's {len(known):,}: are they those that were logged?")
    if not names:
        return dataset
    table = m[names].to_arrow()
    more = pyarrow.table({name: table[name].take(rows) for name in names})
    if len(ids):
        whole = datasets.concatenate_datasets([dataset.with_format(None), datasets.Dataset(more)], axis=1)
    else:  # concatenate_datasets() leaves a data set without rows out, with its columns
        kinds = {**dataset.features, **datasets.Features.from_arrow_schema(more.schema)}
        whole = datasets.Dataset.from_dict({name: [] for name in kinds}, features=datasets.Features(kinds))
    return whole.with_format(**_format_with(dataset, names))


def _check_whole(dataset: Any, datasets: Any) -> None:
    """TypeError unless it is one data set, whose rows can be counted."""
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        parts = ", ".join(map(repr, dataset))
        raise TypeError(f"a {type(dataset).__name__} has several data sets ({parts}): add columns to one of them, such as dataset[{next(iter(dataset), 'train')!r}]")
    if isinstance(dataset, datasets.IterableDataset):
        raise TypeError("an IterableDataset is a stream, whose ids are not known before: give a datasets.Dataset, such as datasets.Dataset.from_generator() makes of it")
    if not isinstance(dataset, datasets.Dataset):
        raise TypeError(f"dataset must be a datasets.Dataset, not {type(dataset).__name__}")


def _format_with(dataset: Any, names: list[str]) -> dict[str, Any]:
    """The data set's format, as with_format() takes it; where it shows all columns it shows these, too."""
    kept = dataset.format
    shown = None if set(kept["columns"]) == set(dataset.column_names) else [*kept["columns"], *names]
    return {"type": kept["type"], "columns": shown, "output_all_columns": kept["output_all_columns"], **kept["format_kwargs"]}


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

    Raises:
        TypeError: the table has no columns ``suggested`` and ``score``, as that of portolan.measures().

    Example: ``portolan.bridges.label_studio(portolan.suspects("words", data="words.csv", id_field="id"), "tasks.json")``
    """
    if not {"suggested", "score"} <= set(suspects.columns):
        raise TypeError(f"label_studio() needs what portolan.suspects() returns, with the columns suggested and score; this has {', '.join(suspects.columns)}")
    tasks = []
    for row in suspects:
        data = dict(zip(suspects.columns, row))
        task: dict[str, Any] = {"data": data, "predictions": []}
        if data["suggested"] is not None:
            chosen = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": {"choices": [str(data["suggested"])]}}
            task["predictions"] = [{"model_version": model_version, "score": data["score"], "result": [chosen]}]
        tasks.append(task)
    if path is not None:
        with _files.whole(path, "w", encoding="utf-8") as file:
            json.dump(tasks, file, ensure_ascii=False, indent=1)
    return tasks
