"""Converts the columns of a table to the forms of NumPy, Arrow, pandas and polars.

In the structured arrays that the programs print, absent values are NaN, -1, or an empty text. Here they become nulls. The array's dtype
alone decides about types and nulls, never its values: floats, signed integers, and texts that are no ids or names may be null; unsigned
integers may not.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import numpy as np

_NEVER_EMPTY = ("id", "name")
_TEXTS = "UO"  # NumPy's, and those of columns of wide texts, which are Python's


class Column(NamedTuple):
    """`values`: (n,) contiguous. `absent`: (n,) booleans; where one is true, the row has no value, and `values` means nothing there. None: every
    row has a value."""

    name: str
    values: np.ndarray[Any, Any]
    absent: np.ndarray[Any, Any] | None


def columns_of(table: np.ndarray[Any, Any]) -> Iterator[Column]:
    """The columns of a structured array, (n,)."""
    for name in table.dtype.names or ():
        yield _column(name, np.ascontiguousarray(table[name]).view(np.ndarray))


def _column(name: str, values: np.ndarray[Any, Any]) -> Column:
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    absent = None
    if values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "i":
        absent = values < 0
    elif values.dtype.kind in _TEXTS and name not in _NEVER_EMPTY:
        absent = values == ""
    return Column(name, values, absent)


def rows_of(table: np.ndarray[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows as tuples of Python's values; None where there is none."""

    def values_of(column: Column) -> list[Any]:
        values = column.values.tolist()
        for row in np.flatnonzero(column.absent).tolist() if column.absent is not None else ():
            values[row] = None
        return values

    return zip(*(values_of(column) for column in columns_of(table)))


def order_of(table: np.ndarray[Any, Any], names: Sequence[str], ascending: Sequence[bool]) -> np.ndarray[Any, Any]:
    """The row numbers in the order of these columns, the first one first. Absent values come last, rows that agree stay in their order."""
    keys = []
    for name, rises in zip(names, ascending):
        column = _column(name, np.ascontiguousarray(table[name]).view(np.ndarray))
        distinct, ranks = np.unique(column.values, return_inverse=True)
        ranks = ranks if rises else len(distinct) - 1 - ranks
        keys.append(ranks if column.absent is None else np.where(column.absent, len(distinct), ranks))
    return np.lexsort(keys[::-1])


class _Lines:
    """Takes what csv.writer writes, a row a call, and ends each with a line feed. The writer itself ends rows as ``\\r\\n``: it quotes the characters
    that end a row, and a carriage return has to be quoted, too, to be read back."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> None:
        self._file.write(f"{row[:-2]}\n")


def write_csv(file: TextIO, names: Sequence[str], blocks: Iterator[np.ndarray[Any, Any]]) -> None:
    """CSV as ``portolan metrics`` prints it: absent values are empty, truths 0 and 1, and numbers read back exactly."""
    writer = csv.writer(_Lines(file), lineterminator="\r\n")
    writer.writerow(names)
    for block in blocks:
        columns = [_of_csv(column) for column in columns_of(block)]
        writer.writerows(zip(*columns))


def _of_csv(column: Column) -> list[Any]:
    values = column.values.astype("u1").tolist() if column.values.dtype.kind == "b" else column.values.tolist()
    if column.values.dtype.kind == "f":  # 0 and not 0.0, as the program prints it
        values = [int(one) if one.is_integer() and abs(one) < 2**53 else one for one in values]
    for row in np.flatnonzero(column.absent).tolist() if column.absent is not None else ():
        values[row] = ""
    return values


def arrow_reader(dtype: np.dtype[Any], blocks: Iterator[np.ndarray[Any, Any]]) -> Any:
    """A pyarrow.RecordBatchReader: a batch for each block, made when it is asked for. A block is halved until its texts fit an array of Arrow, which
    holds 2 GiB."""
    pyarrow = import_module("pyarrow")
    schema = pyarrow.schema(
        [
            pyarrow.field(column.name, _arrow_type(pyarrow, column.values.dtype), nullable=column.absent is not None)
            for column in columns_of(np.empty(0, dtype))
        ]
    )

    def batches_of(block: np.ndarray[Any, Any]) -> Iterator[Any]:
        arrays = [pyarrow.array(column.values, type=field.type, mask=_mask(column)) for column, field in zip(columns_of(block), schema)]
        if any(isinstance(array, pyarrow.ChunkedArray) for array in arrays):
            half = len(block) // 2
            yield from batches_of(block[:half])
            yield from batches_of(block[half:])
        else:
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    return pyarrow.RecordBatchReader.from_batches(schema, (batch for block in blocks for batch in batches_of(block)))


def _mask(column: Column) -> np.ndarray[Any, Any] | None:
    """None if every row has a value: Arrow then uses the values in place."""
    return None if column.absent is None or not column.absent.any() else column.absent


def _arrow_type(pyarrow: Any, dtype: np.dtype[Any]) -> Any:
    return pyarrow.string() if dtype.kind in _TEXTS else pyarrow.from_numpy_dtype(dtype)


def to_pandas(table: np.ndarray[Any, Any]) -> Any:
    """A pandas.DataFrame. An absent float is NaN. Columns of integers and booleans that may lack values are pandas' Int64 and boolean."""
    pandas = import_module("pandas")

    def values_of(column: Column) -> Any:
        values, absent = column.values, column.absent
        if values.dtype.kind in _TEXTS:
            values = values.astype(object)
            if absent is not None:
                values[absent] = None
        elif absent is not None and values.dtype.kind == "i":
            return pandas.arrays.IntegerArray(values, absent)
        elif absent is not None and values.dtype.kind == "b":
            return pandas.arrays.BooleanArray(values, absent)
        return values

    return pandas.DataFrame({column.name: values_of(column) for column in columns_of(table)})


def to_polars(table: np.ndarray[Any, Any]) -> Any:
    """A polars.DataFrame. It is made without pyarrow, which polars does not need."""
    polars = import_module("polars")

    def series_of(column: Column) -> Any:
        text = column.values.dtype.kind in _TEXTS
        series = polars.Series(column.name, column.values.tolist() if text else column.values, dtype=polars.String if text else None)
        if column.absent is None or not column.absent.any():
            return series
        return series.set(polars.Series(column.absent), None)

    return polars.DataFrame([series_of(column) for column in columns_of(table)])
