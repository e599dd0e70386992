"""The measures as DataFrame operations; definitions in analyzer/measures/measure.h.

The data are shuffled once, by example, and sorted within each example. All further steps (which observation of an epoch stays, the one before
it, sums) go through the sorted rows and hold one example at a time. Sums are added up in the order of the epochs, and the variance in a second
pass, as in the analyzer, so the numbers are the same to the last bit, and ties in a selection are the same ties. The exception is loss: here it
is a sum of logarithms, in the analyzer the logarithm of a product.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

SOURCE = ("session_started", "rank", "session")  # "later" is decided by these, in this order
_NEEDED = ("id", "epoch", "gold_prob", "correct", *SOURCE)
_NEEDED_OF_LOSSES = ("id", "epoch", "task_loss", *SOURCE)
_EMA_ALPHA = 0.001  # LOSS_EMA_ALPHA
_SIGNALS = ("margin", "other_sq", "entropy", "max_prob", "predicted")
_WINDOW_MOST = 256  # MEASURES_WINDOW_MAX
_ADDED = ("portolan_before", "portolan_mean")
_OURS = ("run", *_NEEDED, "task_loss", *_SIGNALS, "gold", *_ADDED)
_RESERVED = (
    "id", "gold", "label", "epochs", "confidence", "variability", "correctness", "forgetting_events", "never_learned", "first_learned",
    "threshold_closeness", "variability_ci", "always_right_after", "always_wrong_after", "aum", "el2n", "aleatoric", "entropy", "max_prob",
    "prob_margin", "loss", "task_loss", "loss_ema", "learning_speed", "detrended_variability", "dyn_unc", "dual", "tdds",
)  # fmt: skip


def measures(
    df: DataFrame,
    epochs: str | tuple[int | None, int | None] | None = None,
    labels: Sequence[str] | None = None,
    window: int | None = None,
    loss_threshold: float | None = None,
) -> DataFrame:
    """The measures of every example: a row each, with the columns of ``portolan metrics``.

    Args:
        df: observations, as read() returns them or ``spark.read.parquet`` of what portolan.export wrote, of probabilities or of losses. With a column ``run`` the
            result has it too, as its first column, and equal ids in two runs are two examples.
        epochs: which epochs, half-open: ``"2:"`` or ``(2, None)``. Default: all. The gold label is the latest of all epochs.
        labels: the names of the classes, for a column ``label``.
        window: with J, from 2 to 256, the columns dyn_unc and dual as well, over windows of J epochs at which the example was observed, as
            ``portolan metrics --window J`` has them. Each example's probabilities are then held together.
        loss_threshold: of losses: an example counts as right at an epoch if its loss is at most this, and the columns correctness,
            forgetting_events, first_learned, ... are there, as with ``portolan metrics --loss-threshold T``.

    Returns:
        A DataFrame, in no order, without tdds, which only ``portolan metrics`` has. Absent values are null. Of several rows with the same
        example and epoch, the latest stays, by session_started, then rank, then session.

    Raises:
        ValueError: a column is missing, or the window is no number from 2 to 256.
    """
    of_losses = has_losses(df)
    check_columns(df, "measures", _NEEDED_OF_LOSSES if of_losses else _NEEDED)
    if window is not None and of_losses:
        raise ValueError("window: dyn_unc and dual need probabilities of labels, and these observations are losses")
    if window is not None:
        if not hasattr(window, "__index__") or not 2 <= window <= _WINDOW_MOST:
            raise ValueError(f"window must be a whole number from 2 to {_WINDOW_MOST}, not {window!r}")
        window = operator.index(window)
    if loss_threshold is not None and not of_losses:
        raise ValueError("loss_threshold: these observations are of labels, which say themselves when an example is right")
    first, last = epoch_range(epochs)
    example = [name for name in ("run", "id") if name in df.columns]
    rows = _kept(df, example, F.col("epoch").between(first, last) if epochs is not None else F.lit(True), of_losses, loss_threshold)
    if of_losses:
        crossed = [] if loss_threshold is None else crossings()
        sums = _with_lines(rows.groupBy(*example).agg(*_loss_sums(rows), *crossed).where("epochs > 0"))
        return sums.select(*example, *_loss_columns(sums))
    sums = rows.groupBy(*example).agg(*_sums(rows), *([] if window is None else [_observed()])).where("epochs > 0")
    if window is not None:
        sums = _with_windows(sums, window)
    return sums.select(*example, *columns_of(sums, labels))


def check_columns(df: DataFrame, function: str, needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in df.columns]
    if missing:
        raise ValueError(f"{function}() needs observations, and these lack the columns: {', '.join(missing)}")


def has_losses(df: DataFrame) -> bool:
    """Are these observations of a run that log_loss() recorded?"""
    if {"task_loss", "gold_prob"} <= set(df.columns):
        raise ValueError("the observations are of losses and of labels: take those of one kind, by run")
    return "task_loss" in df.columns and "epoch" in df.columns


def epoch_range(epochs: str | tuple[int | None, int | None] | None) -> tuple[int, int]:
    """The first and the last epoch, both included."""
    if isinstance(epochs, str):
        parts = epochs.split(":")
        if len(parts) != 2 or not all(part.isdecimal() or part == "" for part in parts):
            raise ValueError(f"epochs must be A:B, half-open, from 0, not {epochs!r}")
        epochs = (int(parts[0] or 0), int(parts[1]) if parts[1] else None)
    first, last = epochs or (None, None)
    return first or 0, 2**31 - 1 if last is None else last - 1


def name_of(column: str) -> Column:
    """A column by its name, whatever characters the name has."""
    return F.col("`" + column.replace("`", "``") + "`")


def _kept(df: DataFrame, example: list[str], in_range: Column, of_losses: bool, threshold: float | None) -> DataFrame:
    """The observations sorted by example and epoch, each with the one before it and with the example's mean. Observations that a later one
    replaces stay for their gold labels; their other columns become null. A loss is right if it is at most the threshold."""
    values = [name for name in df.columns if name not in (*example, "epoch", *SOURCE, "gold", "predicted")]
    rows = df.repartition(*example)
    epoch = Window.partitionBy(*example, "epoch").orderBy(*(F.col(name).desc() for name in SOURCE))
    rows = rows.withColumn("portolan_kept", (F.row_number().over(epoch) == 1) & in_range)
    rows = rows.select(
        *example,
        "epoch",
        *SOURCE,
        *(["gold"] if "gold" in df.columns else []),
        *(F.when(F.col("portolan_kept"), name_of(name)).alias(name) for name in values),
    )
    every = Window.partitionBy(*example)
    if of_losses:
        loss = F.col("task_loss").cast("double")
        rows = rows.withColumn("portolan_mean", F.avg(loss).over(every))
        if threshold is None:
            return rows
        rows = rows.withColumn("correct", F.when(loss.isNotNull(), loss <= F.lit(float(threshold))))
    before = every.orderBy("epoch", *(F.col(name).desc() for name in SOURCE)).rowsBetween(Window.unboundedPreceding, -1)
    rows = rows.withColumn("portolan_before", F.last("correct", ignorenulls=True).over(before))
    if of_losses:
        return rows
    return rows.withColumn("portolan_mean", F.avg(F.col("gold_prob").cast("double")).over(every))


def crossings() -> list[Column]:
    """The aggregates of when an example was right."""
    right, epoch = F.col("correct"), F.col("epoch")
    changed = F.col("portolan_before").isNull() | (F.col("portolan_before") != right)
    return [
        F.count_if(right).alias("right"),
        F.count_if(F.col("portolan_before") & ~right).alias("forgetting_events"),
        F.min(F.when(right, epoch)).alias("first_learned"),
        F.max(F.when(changed & right, epoch)).alias("right_since"),
        F.max(F.when(changed & ~right, epoch)).alias("wrong_since"),
    ]


def kept_of_labels(df: DataFrame) -> tuple[list[str], DataFrame]:
    """The columns that name an example, and the observations of labels as _kept() has them. ValueError: a column is missing."""
    check_columns(df, "sums", _NEEDED)
    example = [name for name in ("run", "id") if name in df.columns]
    return example, _kept(df, example, F.lit(True), False, None)


def _sums(rows: DataFrame) -> list[Column]:
    """The aggregates of one example. An observation that was replaced has nulls, which no aggregate counts."""
    p, mean = F.col("gold_prob").cast("double"), F.col("portolan_mean")
    sums = [
        F.count(p).alias("epochs"),
        F.avg(p).alias("confidence"),
        F.avg((p - mean) * (p - mean)).alias("variance"),
        *crossings(),
    ]
    if "gold" in rows.columns:
        later = F.struct(*SOURCE, "epoch")
        sums.append(F.max_by("gold", F.when(F.col("gold").isNotNull(), later)).alias("gold"))
    return sums + [F.avg(term).alias(name) for name, term in terms(rows).items()]


def terms(rows: DataFrame) -> dict[str, Column]:
    """What is averaged over the epochs for each further measure, and for the user's own columns; null where an epoch lacks it."""
    p = F.col("gold_prob").cast("double")
    found = {"aleatoric": p * (1 - p), "loss": F.when(p.isNotNull(), -F.log(F.greatest(p, F.lit(2.0**-150))))}
    if "margin" in rows.columns:
        found["aum"] = F.col("margin").cast("double")
    if "other_sq" in rows.columns:
        found["el2n"] = F.sqrt((1 - p) * (1 - p) + F.col("other_sq").cast("double"))
    found |= {name: F.col(name).cast("double") for name in ("entropy", "max_prob") if name in rows.columns}
    if {"margin", "max_prob"} <= set(rows.columns):
        margin, most = F.col("margin").cast("double"), F.col("max_prob").cast("double")
        of_both = F.when(margin > 0, -p * F.expm1(-margin)).otherwise(p - most)
        found["prob_margin"] = F.when(margin.isNotNull() & most.isNotNull(), of_both)
    return found | {_name_of_mean(name): name_of(name).cast("double") for name in _own_columns(rows)}


def _loss_sums(rows: DataFrame) -> list[Column]:
    """As _sums(), of losses. The losses of an example are held together, in the order of the epochs."""
    loss, mean = F.col("task_loss").cast("double"), F.col("portolan_mean")
    seen = F.collect_list(F.when(loss.isNotNull(), F.struct(F.col("epoch").cast("double").alias("epoch"), loss.alias("loss"))))
    sums = [
        F.count(loss).alias("epochs"),
        F.avg(loss).alias("task_loss"),
        F.avg((loss - mean) * (loss - mean)).alias("variance"),
        F.array_sort(seen).alias("portolan_observed"),
    ]
    return sums + [_mean(name, _name_of_mean(name)) for name in _own_columns(rows)]


def _with_lines(sums: DataFrame) -> DataFrame:
    """loss_ema, learning_speed and detrended_variability, added up as analyzer/measures/measures_losses.c does."""
    seen, count, nothing = F.col("portolan_observed"), F.size("portolan_observed"), F.lit(0.0)
    mean, slope = F.col("task_loss"), F.col("portolan_slope")

    def summed(what: Callable[[Column], Column]) -> Column:
        return F.aggregate(seen, nothing, lambda total, one: total + what(one))

    def distance(one: Column) -> Column:
        return one["epoch"] - F.col("portolan_epoch")

    def rest(one: Column) -> Column:
        return one["loss"] - (mean + slope * distance(one))

    ema = F.aggregate(seen, nothing, lambda ema, one: ema + F.lit(_EMA_ALPHA) * (one["loss"] - ema))
    sums = sums.withColumns({"loss_ema": ema, "portolan_epoch": summed(lambda one: one["epoch"]) / count})
    both, square = summed(lambda one: distance(one) * (one["loss"] - mean)), summed(lambda one: distance(one) * distance(one))
    sums = sums.withColumn("portolan_slope", F.when(count >= 2, both / square))
    detrended = F.when(count >= 3, F.sqrt(summed(lambda one: rest(one) * rest(one)) / count))
    sums = sums.withColumns({"learning_speed": F.lit(0.0) - slope, "detrended_variability": detrended})
    return sums.drop("portolan_observed", "portolan_epoch", "portolan_slope")


def _loss_columns(sums: DataFrame) -> list[Column]:
    """The measures of losses in the order of ``portolan metrics``."""
    names = ("task_loss", "loss_ema", "learning_speed", "detrended_variability")
    columns = [F.lit(None).cast("int").alias("gold"), F.col("epochs").cast("int").alias("epochs"), F.sqrt("variance").alias("variability")]
    crossed = _crossing_columns() if "right" in sums.columns else {}
    before = [crossed.pop(name) for name in ("correctness", "forgetting_events", "never_learned", "first_learned") if name in crossed]
    used = {"id", "run", "variance", "right", "right_since", "wrong_since", *_RESERVED}
    columns += [*before, *crossed.values(), *(F.col(name) for name in names)]
    return [*columns, *(name_of(name) for name in sums.columns if name not in used)]


def _crossing_columns() -> dict[str, Column]:
    """The measures of when an example was right, from the aggregates of crossings()."""
    right_since, wrong_since = F.col("right_since"), F.col("wrong_since")
    is_right = right_since.isNotNull() & (wrong_since.isNull() | (right_since > wrong_since))
    columns = {
        "correctness": F.col("right") / F.col("epochs"),
        "forgetting_events": F.col("forgetting_events").cast("int"),
        "never_learned": F.col("right") == 0,
        "first_learned": F.col("first_learned").cast("int"),
        "always_right_after": F.when(is_right, right_since).cast("int"),
        "always_wrong_after": F.when(~is_right, wrong_since).cast("int"),
    }
    return {name: column.alias(name) for name, column in columns.items()}


def _observed() -> Column:
    """An example's probabilities in the order of the epochs. Sorted, since Spark may add lists up in parts."""
    p = F.col("gold_prob").cast("double")
    pairs = F.collect_list(F.when(p.isNotNull(), F.struct("epoch", p.alias("p"))))
    return F.array_sort(pairs).getField("p").alias("portolan_observed")


def _with_windows(sums: DataFrame, window: int) -> DataFrame:
    """dyn_unc and dual from the probabilities in the order of the epochs, added up as analyzer/measures/measures_windows.c does."""
    nothing = F.lit(0.0)
    starts = F.sequence(F.lit(1), F.size("portolan_observed") - window + 1)

    def mean_of(start: Column) -> Column:
        part = F.slice("portolan_observed", start, window)
        return F.struct(part.alias("p"), (F.aggregate(part, nothing, lambda total, p: total + p) / window).alias("mean"))

    def deviation_of(part: Column) -> Column:
        squares = F.aggregate(part["p"], nothing, lambda total, p: total + (p - part["mean"]) * (p - part["mean"]))
        return F.struct(part["mean"].alias("mean"), F.sqrt(squares / (window - 1)).alias("deviation"))

    each = F.when(F.size("portolan_observed") >= window, F.transform(F.transform(starts, mean_of), deviation_of))
    sums = sums.withColumn("portolan_windows", each).drop("portolan_observed")
    count = F.size("portolan_windows")
    dyn_unc = F.aggregate("portolan_windows", nothing, lambda total, part: total + part["deviation"])
    dual = F.aggregate("portolan_windows", nothing, lambda total, part: total + (1 - part["mean"]) * part["deviation"])
    return sums.withColumns({"dyn_unc": dyn_unc / count, "dual": dual / count}).drop("portolan_windows")


def _mean(name: str, result: str) -> Column:
    return F.avg(name_of(name).cast("double")).alias(result)


def _own_columns(rows: DataFrame) -> list[str]:
    """The user's own columns: those of floats whose names are not Portolan's."""
    floats = (T.FloatType, T.DoubleType)
    return [field.name for field in rows.schema if field.name not in _OURS and isinstance(field.dataType, floats)]


def _name_of_mean(column: str) -> str:
    return f"mean_{column}" if column in _RESERVED else column


def columns_of(sums: DataFrame, labels: Sequence[str] | None) -> list[Column]:
    """The measures, computed from the aggregates, in the order of ``portolan metrics``."""
    epochs, confidence, variance = F.col("epochs"), F.col("confidence"), F.col("variance")
    crossed = _crossing_columns()
    gold = F.col("gold") if "gold" in sums.columns else F.lit(None)
    columns: list[Any] = [
        gold.cast("int").alias("gold"),
        epochs.cast("int").alias("epochs"),
        confidence,
        F.sqrt(variance).alias("variability"),
        *(crossed[name] for name in ("correctness", "forgetting_events", "never_learned", "first_learned")),
        (confidence * (1 - confidence)).alias("threshold_closeness"),
        F.when(epochs > 1, F.sqrt(variance + variance * variance / (epochs - 1))).alias("variability_ci"),
        crossed["always_right_after"],
        crossed["always_wrong_after"],
        *(name for name in ("aum", "el2n", "aleatoric", "entropy", "max_prob", "prob_margin", "loss", "dyn_unc", "dual") if name in sums.columns),
    ]
    used = {"id", "run", "gold", "right", "variance", "right_since", "wrong_since", *_RESERVED}
    columns += [name_of(name) for name in sums.columns if name not in used]
    if labels is not None:
        names = F.array(*(F.lit(label) for label in labels))
        columns.append(F.get(names, gold).alias("label"))
    return columns
