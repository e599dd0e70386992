"""The tables that measures(), runs(), dynamics() and select() return, and their conversions.

A table wraps a structured NumPy array and behaves as a record array, with two differences. A table is no subclass of an array: DuckDB and
polars test for a NumPy array before they test for Arrow, and would see -1 for absent values. And a table has ``__array_interface__`` instead of
``__array__``, from which pandas.DataFrame() would make one column. Its rows are named tuples, from which pandas makes columns; they have None
where there is no value.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from portolan import _files, _packages
from portolan._recording import _options

if TYPE_CHECKING:
    import numpy as np

BATCH = 1 << 17  # rows handed on at a time
_BLOCK = 1 << 14  # rows made into tuples at a time


class Row(tuple[Any, ...]):
    """One row: ``row["id"]``, ``row.id`` and ``row[0]`` are its values."""

    _fields: tuple[str, ...] = ()

    def __getitem__(self, which: Any) -> Any:
        return tuple.__getitem__(self, self._place(which) if isinstance(which, str) else which)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"no column or attribute {name!r}; the columns: {', '.join(self._fields)}")
        return self[name]

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"

    def __reduce__(self) -> Any:
        return _row_of, (self._fields, tuple(self))

    def _place(self, name: str) -> int:
        if name not in self._fields:
            raise KeyError(f"no column {name!r}; the columns: {', '.join(self._fields)}")
        return self._fields.index(name)


def _row_type(names: tuple[str, ...]) -> type[Row]:
    return type("Row", (Row,), {"_fields": names})


def _row_of(names: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return _row_type(names)(values)


class Table:
    """A table by columns and rows: ``t["name"]`` and ``t.name`` are a column, a NumPy array; ``t[0]`` is a row; ``t[mask]``, ``t[2:9]``
    and ``t[["id", "gold"]]`` are tables; len(), iteration over rows, NumPy's functions; ``"id" in t``, ``t.columns``, ``t.head()``,
    ``t.sort_values("gold")``. A row has None where there is no value."""

    _unit = "row"

    def __init__(self, name: str, rows: np.ndarray[Any, Any]) -> None:
        """`name`: the table's contents, for its heading."""
        self._name, self._rows = name, rows

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A structured NumPy array, (n,). An absent number is NaN, an absent integer -1, an absent text empty.

        Example: ``portolan.measures("words").to_numpy()["confidence"].mean()``"""
        return self._table()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. An absent number is NaN, and NA in a column of integers (Int64). ``correct`` and ``never_learned`` are booleans.

        Example: ``portolan.measures("words").to_pandas().sort_values("variability")``"""
        _packages.needed("pandas", "to_pandas()")
        from portolan._reading import _columns

        return _columns.to_pandas(self._table())

    def to_polars(self) -> Any:
        """A polars.DataFrame. Absent values are null.

        Example: ``portolan.measures("words").to_polars().filter(pl.col("never_learned"))``"""
        _packages.needed("polars", "to_polars()")
        from portolan._reading import _columns

        return _columns.to_polars(self._table())

    def to_arrow(self) -> Any:
        """A pyarrow.Table. Absent values are null.

        Example: ``pyarrow.parquet.write_table(portolan.measures("words").to_arrow(), "measures.parquet")``"""
        return self._arrow_reader("to_arrow()").read_all()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._names())

    def head(self, rows: int = 5) -> Table:
        """A table of the first rows.

        Example: ``portolan.measures("words").head(20)``"""
        return self._of(self._head(rows) if rows >= 0 else self._table()[:rows])

    def sort_values(self, by: str | Sequence[str], ascending: bool | Sequence[bool] = True) -> Table:
        """A table in the order of one column, or of several, the first one first. Absent values come last, whatever the order.

        Example: ``portolan.measures("words").sort_values("variability", ascending=False).head()``"""
        from portolan._reading import _columns

        names = [by] if isinstance(by, str) else list(by)
        each: Any = ascending.tolist() if hasattr(ascending, "tolist") else ascending  # of NumPy
        if isinstance(each, str) or not isinstance(each, Iterable):
            each = [each] * len(names)
        rising = [_options.flag("ascending", one) for one in each]
        if not names:
            raise ValueError(f"by names no column; the columns: {', '.join(self._names())}")
        self._check_names(names)
        if len(rising) != len(names):
            raise ValueError(f"ascending has {len(rising)} entries for {len(names)} columns")
        return self._of(self._table()[_columns.order_of(self._table(), names, rising)])

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Writes a CSV file, as the program does: absent values are empty, truths 0 and 1. None: returns the text.

        Example: ``portolan.measures("words").to_csv("measures.csv")``"""
        from portolan._reading import _columns

        if path is None:
            text = io.StringIO()
            _columns.write_csv(text, self._names(), self._blocks())
            return text.getvalue()
        with _files.whole(path, "w", encoding="utf-8", newline="") as file:
            _columns.write_csv(file, self._names(), self._blocks())
        return None

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, block by block. Absent values are null. It needs pyarrow.

        Example: ``portolan.measures("words").to_parquet("measures.parquet")``"""
        parquet = _packages.needed("pyarrow.parquet", "to_parquet()")
        reader = self._arrow_reader("to_parquet()")
        with _files.whole(path, "wb") as file, parquet.ParquetWriter(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule protocol: DuckDB, polars, pandas 3 and pyarrow read the table directly."""
        return self._arrow_reader("handing a table over as Arrow").__arrow_c_stream__(requested_schema)

    def _arrow_reader(self, by: str) -> Any:
        _packages.needed("pyarrow", by)
        from portolan._reading import _columns

        return _columns.arrow_reader(self._dtype(), self._blocks())

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._table().__array_interface__

    def __getitem__(self, which: Any) -> Any:
        self._check_names(which)
        found = self._table()[which]
        if getattr(found, "ndim", 0) == 0:
            import numpy

            from portolan._reading import _columns

            (row,) = _columns.rows_of(numpy.array([found], self._dtype()))
            return _row_of(self._names(), row)
        return found if found.dtype.names is None else self._of(_packed(found))

    def __setitem__(self, which: Any, values: Any) -> None:
        self._check_names(which)
        self._table()[which] = values

    def _check_names(self, which: Any) -> None:
        for name in which if isinstance(which, list) else [which]:
            if isinstance(name, str) and name not in self._names():
                raise ValueError(f"no column {name!r}; the columns: {', '.join(self._names())}")

    def __getattr__(self, name: str) -> Any:
        """Columns; then what an array has: dtype, shape, argsort(), tolist(), ..."""
        if not name.startswith("_"):
            if name in self._names():
                return self._table()[name]
            import numpy

            if hasattr(numpy.recarray, name):
                return getattr(self._table().view(numpy.recarray), name)
        raise AttributeError(f"{type(self).__name__} has no column or attribute {name!r}")

    def __len__(self) -> int:
        return self._count()

    def __iter__(self) -> Iterator[Row]:
        from portolan._reading import _columns

        row = _row_type(self._names())
        for block in self._blocks(_BLOCK):
            yield from map(row, _columns.rows_of(block))

    def __contains__(self, one: Any) -> bool:
        """Whether there is a column of this name, or such a row."""
        return one in self._names() if isinstance(one, str) else any(row == one for row in self)

    def __eq__(self, other: Any) -> Any:
        return self._table() == (other._table() if isinstance(other, Table) else other)

    def __ne__(self, other: Any) -> Any:
        return self._table() != (other._table() if isinstance(other, Table) else other)

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names()]

    def __repr__(self) -> str:
        from portolan._reading import _shown

        return _shown.as_text(self._heading(), self._head(_shown.ROWS), self._count())

    def _repr_html_(self) -> str:
        from portolan._reading import _shown

        return _shown.as_html(self._heading(), self._head(_shown.ROWS), self._count())

    def _heading(self) -> str:
        count = self._count()
        return f"{self._name}: {count:,} {self._unit}{'' if count == 1 else 's'}"

    def _of(self, rows: np.ndarray[Any, Any]) -> Table:
        """A table of the same kind and name with these rows."""
        made = type(self).__new__(type(self))  # not copy(), which asks for what pickle keeps
        made.__dict__.update(self.__dict__, _rows=rows)
        return made

    # A table that is read lazily overrides these.

    def _table(self) -> np.ndarray[Any, Any]:
        return self._rows

    def _blocks(self, rows: int | None = None) -> Iterator[np.ndarray[Any, Any]]:
        """All rows, in arrays of at most `rows` rows. None: BATCH."""
        table = self._table()
        step = rows or BATCH
        for begin in range(0, len(table), step):
            yield table[begin : begin + step]

    def _head(self, rows: int) -> np.ndarray[Any, Any]:
        return self._table()[:rows]

    def _count(self) -> int:
        return len(self._table())

    def _dtype(self) -> np.dtype[Any]:
        return self._table().dtype

    def _names(self) -> tuple[str, ...]:
        return self._dtype().names or ()


def _packed(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`rows` without gaps. NumPy leaves a gap in place of a column that was not chosen, and ``__array_interface__`` would name it as a column."""
    from numpy.lib import recfunctions

    names = rows.dtype.names or ()
    return rows if sum(rows.dtype[name].itemsize for name in names) == rows.dtype.itemsize else recfunctions.repack_fields(rows)
