"""Converts the columns of a table to the forms of NumPy, Arrow, pandas and polars.

In the structured arrays that the programs print, absent values are NaN, -1, or an empty text. Here they become nulls. The array's dtype
alone decides about types and nulls, never its values: floats, signed integers, and texts that are no ids or names may be null; unsigned
integers may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

_TRUTHS = ("correct", "never_learned")  # 0 and 1
_NEVER_EMPTY = ("id", "name")


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
    elif values.dtype.kind == "U" and name not in _NEVER_EMPTY:
        absent = values == ""
    if name in _TRUTHS and values.dtype.kind in "iu":
        values = values > 0
    return Column(name, values, absent)


def arrow_reader(dtype: np.dtype[Any], blocks: Iterator[np.ndarray[Any, Any]]) -> Any:
    """A pyarrow.RecordBatchReader: a batch for each block, made when it is asked for."""
    pyarrow = import_module("pyarrow")
    schema = pyarrow.schema(
        [
            pyarrow.field(column.name, _arrow_type(pyarrow, column.values.dtype), nullable=column.absent is not None)
            for column in columns_of(np.empty(0, dtype))
        ]
    )

    def batches() -> Iterator[Any]:
        for block in blocks:
            arrays = [pyarrow.array(column.values, type=field.type, mask=_mask(column)) for column, field in zip(columns_of(block), schema)]
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _mask(column: Column) -> np.ndarray[Any, Any] | None:
    """None if every row has a value: Arrow then uses the values in place."""
    return None if column.absent is None or not column.absent.any() else column.absent


def _arrow_type(pyarrow: Any, dtype: np.dtype[Any]) -> Any:
    return pyarrow.string() if dtype.kind == "U" else pyarrow.from_numpy_dtype(dtype)


def to_pandas(table: np.ndarray[Any, Any]) -> Any:
    """A pandas.DataFrame. An absent float is NaN. Columns of integers and booleans that may lack values are pandas' Int64 and boolean."""
    pandas = import_module("pandas")

    def values_of(column: Column) -> Any:
        values, absent = column.values, column.absent
        if values.dtype.kind == "U":
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
        text = column.values.dtype.kind == "U"
        series = polars.Series(column.name, column.values.tolist() if text else column.values, dtype=polars.String if text else None)
        if column.absent is None or not column.absent.any():
            return series
        return series.set(polars.Series(column.absent), None)

    return polars.DataFrame([series_of(column) for column in columns_of(table)])
