"""The binned map: the number of examples in each cell. The cells are those of ``portolan map --density`` (analyzer/map/axis.c, map_data.c)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from portolan._spark import _measures, _select

_CELLS_X, _CELLS_Y = 120, 110  # at most
_GRID_MOST = 200  # values; with more, neighbours look the same
_CORRECTNESS_GRID_MOST = 50  # epochs
_CLOSE = 1e-9  # relative: numbers nearer to one another count as equal


class Axis(NamedTuple):
    """The range that is shown, margins included, and the number of cells."""

    low: float
    high: float
    cells: int


def map_counts(
    df: DataFrame, x: str = "variability", y: str | None = None, colour: str | None = None, loss_threshold: float | None = None
) -> DataFrame:
    """How many examples lie in each cell of a map, for ``portolan map --from``.

    Args:
        df: the measures of one run, as measures() returns them, or its observations. They are read twice.
        x, y: the measures on the axes. Default of y: confidence; of a run of losses task_loss.
        colour: a measure whose mean each cell gets as the column ``colour``. Default: none.
        loss_threshold: of observations of losses; see measures().

    Returns:
        A DataFrame of all cells, also empty ones, by y, then x: x_low, x_high, y_low, y_high, count and colour. There
        are at most 120 × 110.

    Raises:
        ValueError: no such measure, no example that has both, or more than one run.
    """
    table = _select.of_one_run(_select.measured(df, loss_threshold))
    of_losses = "task_loss" in table.columns and "confidence" not in table.columns
    if y is None:
        y = "task_loss" if of_losses else "confidence"
    for argument, name in (("x", x), ("y", y), ("colour", colour)):
        if name is not None and name not in table.columns:
            raise ValueError(f"{argument}={name!r}: there is no such measure; there are {', '.join(table.columns)}")
    place_x, place_y = (_measures.name_of(name).cast("double") for name in (x, y))
    there = table.where(_is_finite(place_x) & _is_finite(place_y))
    axis_x, axis_y = _axes(there, x, y, of_losses)
    value = F.lit(None) if colour is None else _measures.name_of(colour).cast("double")
    cells = there.select(
        (_cell(place_y, axis_y) * axis_x.cells + _cell(place_x, axis_x)).alias("cell"),
        F.when(_is_finite(value), value).alias("value"),
    )
    counts = cells.groupBy("cell").agg(F.count("*").alias("count"), F.avg("value").alias("colour"))
    every = df.sparkSession.range(axis_x.cells * axis_y.cells, numPartitions=1).withColumnRenamed("id", "cell")
    grid = every.join(F.broadcast(counts), "cell", "left").orderBy("cell")
    column, row = F.col("cell") % axis_x.cells, F.floor(F.col("cell") / axis_x.cells)
    return grid.select(
        *_edges("x", column, axis_x),
        *_edges("y", row, axis_y),
        F.coalesce("count", F.lit(0)).alias("count"),
        *([] if colour is None else ["colour"]),
    )


def _is_finite(value: Column) -> Column:
    return value.isNotNull() & ~F.isnan(value) & (F.abs(value) != math.inf)


def _cell(value: Column, axis: Axis) -> Column:
    cell = F.floor((value - axis.low) / (axis.high - axis.low) * axis.cells)
    return F.greatest(F.lit(0), F.least(F.lit(axis.cells - 1), cell))


def _edges(name: str, cell: Column, axis: Axis) -> list[Column]:
    def edge(number: Column) -> Column:
        return F.lit(axis.low) + number / axis.cells * (axis.high - axis.low)

    return [edge(cell).alias(f"{name}_low"), edge(cell + 1).alias(f"{name}_high")]


def _axes(there: DataFrame, x: str, y: str, of_losses: bool) -> tuple[Axis, Axis]:
    wanted = [F.count("*").alias("n"), F.min("epochs").alias("fewest"), F.max("epochs").alias("most")]
    for axis, name in (("x", x), ("y", y)):
        value = _measures.name_of(name).cast("double")
        wanted += [F.min(value).alias(f"{axis}_least"), F.max(value).alias(f"{axis}_most")]
    found: Any = there.agg(*wanted).head()
    if found["n"] == 0:
        raise ValueError(f"no example has both {x} and {y}")
    steps = round_half_up(math.sqrt(found["n"]) / 7.5)
    tenths = min(max(steps, 3), 10)  # few enough cells for a few thousand examples to share some
    kinds = {field.name: field.dataType for field in there.schema}

    def axis_of(name: str, least: float, most: float, margin: float, cells: int) -> Axis:
        grid = 1.0 if isinstance(kinds[name], T.IntegralType) else 0.0
        if name == "correctness" and found["fewest"] == found["most"] <= _CORRECTNESS_GRID_MOST:
            grid = 1 / found["most"]
        return axis_between("" if of_losses else name, least, most, grid, margin, cells, tenths)

    return (
        axis_of(x, found["x_least"], found["x_most"], 0.024, _CELLS_X),
        axis_of(y, found["y_least"], found["y_most"], 0.03, _CELLS_Y),
    )


def axis_between(name: str, least: float, most: float, grid: float, margin: float, cells: int, tenths: int) -> Axis:
    """The axis of a measure whose values lie between `least` and `most`, and are multiples of `grid` unless that is 0."""
    grid = grid if most - least <= _GRID_MOST * grid else 0.0
    if name in ("confidence", "correctness"):
        low, high = 0.0, 1.0
    elif name == "variability":
        low, high = 0.0, 0.5 if most > 0.25 else max(0.05, math.ceil(most * 20) / 20)
    elif grid > 0:
        low, high = least, most
    else:
        low, high = _round_ends(least, most)
    if grid > 0:
        low, high = low - grid / 2, high + grid / 2
        values = round_half_up((high - low) / grid)
        return Axis(low, high, values if values <= cells else cells // 10 * tenths)
    margin *= high - low
    return Axis(low - margin, high + margin, cells // 10 * tenths)


def _round_ends(least: float, most: float) -> tuple[float, float]:
    """Extends the range to zero if that costs little room, and to round numbers."""
    size = max(abs(least), abs(most))
    if most - least <= _CLOSE * size or most - least < 1e-300:
        around = 0.05 * size if size > 0 else 0.5
        least, most = least - around, most + around
    elif 0 < least < 0.4 * most:
        least = 0.0
    elif 0.4 * least < most < 0:
        most = 0.0
    step = _round_up((most - least) / 40)
    return math.floor(least / step + _CLOSE) * step, math.ceil(most / step - _CLOSE) * step


def _round_up(rough: float) -> float:
    """The least of 1, 2 and 5 times the powers of ten from `rough` on."""
    unit = 10.0 ** math.floor(math.log10(rough) + _CLOSE)
    part = rough / unit * (1 - _CLOSE)
    return unit * (1 if part <= 1 else 2 if part <= 2 else 5 if part <= 5 else 10)


def round_half_up(value: float) -> int:
    return math.floor(value + 0.5)
