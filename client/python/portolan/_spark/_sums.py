"""A table of sums, from which measures follow, and to which later epochs are added without reading the earlier ones again.

Mean and M2, the sum of squares about it, are merged as by Chan, Golub and LeVeque (1983): nothing cancels. What asks when an example was right
goes on from its last correctness. The measures are those of measures(), to 1e-12; counts and epochs are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from portolan._spark import _measures
from portolan._spark._measures import name_of

_KEY = ("run", "id")
_STATE = (  # of every example; the columns after these are pairs, NAME_sum and NAME_count
    "gold", "gold_from", "count", "mean", "M2", "right", "forgetting_events", "first_epoch", "last_epoch", "first_correct", "last_correct",
    "correct_since", "first_learned",
)  # fmt: skip
_BEFORE, _AFTER = "portolan_before_", "portolan_after_"


def sums(df: DataFrame, epochs: str | tuple[int | None, int | None] | None = None) -> DataFrame:
    """The sums of every example over some epochs: what add() and measures_of() take.

    Args:
        df: observations of labels, as measures() takes them.
        epochs: which of their epochs, half-open: ``"10:"`` or ``(10, None)``. Default: all.

    Returns:
        A DataFrame, a row for each example that was observed: id (and run), gold, count (of epochs), mean and M2 of p(gold), right (a count),
        forgetting_events, the first and the last epoch, the correctness at both, since when the last one holds, first_learned; and of each
        other measure, and of your own columns, NAME_sum and NAME_count.

    Raises:
        ValueError: the observations are of losses, or a column is missing.
    """
    if _measures.has_losses(df):
        raise ValueError("sums() is of probabilities of labels, and these observations are losses: measures() takes them")
    if epochs is not None:
        first, last = _measures.epoch_range(epochs)
        df = df.where(F.col("epoch").between(first, last))
    example, rows = _measures.kept_of_labels(df)
    p, seen = F.col("gold_prob").cast("double"), F.col("gold_prob").isNotNull()
    observed, away = F.when(seen, F.col("epoch")), p - F.col("portolan_mean")
    from_where = F.struct(*_measures.SOURCE, "epoch")
    has_gold = F.col("gold").isNotNull() if "gold" in rows.columns else F.lit(False)
    table = rows.groupBy(*example).agg(
        F.max_by("gold" if "gold" in rows.columns else F.lit(None).cast("int"), F.when(has_gold, from_where)).alias("gold"),
        F.max(F.when(has_gold, from_where)).alias("gold_from"),
        F.count(p).alias("count"),
        F.avg(p).alias("mean"),
        F.sum(away * away).alias("M2"),
        F.min(observed).alias("first_epoch"),
        F.max(observed).alias("last_epoch"),
        F.min_by("correct", observed).alias("first_correct"),
        F.max_by("correct", observed).alias("last_correct"),
        *_measures.crossings(),
        *(part for name, term in _measures.terms(rows).items() for part in (F.sum(term).alias(f"{name}_sum"), F.count(term).alias(f"{name}_count"))),
    )
    table = table.where("count > 0").withColumn("correct_since", F.greatest("right_since", "wrong_since"))
    return table.select(*example, *_STATE, *(name_of(name) for name in _pairs(table)))


def add(sums: DataFrame, later: DataFrame) -> DataFrame:
    """The sums over the epochs of both.

    Args:
        sums: as sums() returns them, or read again from where they were written.
        later: of epochs that are later, for every example, than those of `sums`. An example that only one of the two has stays as it is.

    Returns:
        A DataFrame as sums() returns it. If an example has an epoch in `later` that is not after all its epochs in `sums`, Spark ends the job
        with an error, whatever is asked of the result. It cannot know of observations that were replaced since: keep_sums() does.

    Raises:
        ValueError: one has the column run, and the other has not.
    """
    key = [name for name in _KEY if name in sums.columns]
    if key != [name for name in _KEY if name in later.columns]:
        raise ValueError("add(): one table of sums has the column run, and the other has not")
    both = _renamed(sums, key, _BEFORE).join(_renamed(later, key, _AFTER), key, "full")

    def before(name: str) -> Column:
        return F.col(_BEFORE + name)

    def after(name: str) -> Column:
        return F.col(_AFTER + name)

    not_later = F.raise_error(F.lit("portolan.spark.add: the epochs are not later than those of the sums")).cast("boolean")
    both = both.where(F.coalesce(F.when(before("last_epoch") >= after("first_epoch"), not_later), F.lit(True)))  # a filter is never left out
    pairs = sorted({*_pairs(sums), *_pairs(later)})
    totals = {
        name: _or_0(both, _BEFORE, name) + _or_0(both, _AFTER, name) for name in ("count", "right", "forgetting_events", "M2", *pairs)
    }
    apart = after("mean") - before("mean")  # null, as is what follows from it, where one side has not the example
    between = apart * apart * before("count") * after("count") / totals["count"]
    forgets = (before("last_correct") & ~after("first_correct")).cast("int")
    goes_on = (after("correct_since") == after("first_epoch")) & (before("last_correct") == after("first_correct"))
    later_gold = after("gold_from").isNotNull() & (before("gold_from").isNull() | (after("gold_from") > before("gold_from")))
    columns = {
        **totals,
        "gold": F.when(later_gold, after("gold")).otherwise(before("gold")),
        "gold_from": F.greatest(before("gold_from"), after("gold_from")),
        "mean": F.coalesce(before("mean") + apart * after("count") / totals["count"], before("mean"), after("mean")),
        "M2": totals["M2"] + F.coalesce(between, F.lit(0.0)),
        "forgetting_events": totals["forgetting_events"] + F.coalesce(forgets, F.lit(0)),
        "correct_since": F.when(goes_on, before("correct_since")).otherwise(F.coalesce(after("correct_since"), before("correct_since"))),
        **{name: F.coalesce(before(name), after(name)) for name in ("first_epoch", "first_correct", "first_learned")},
        **{name: F.coalesce(after(name), before(name)) for name in ("last_epoch", "last_correct")},
    }
    return both.select(*key, *(columns[name].alias(name) for name in (*_STATE, *pairs)))


def measures_of(sums: DataFrame, labels: Sequence[str] | None = None) -> DataFrame:
    """The measures that measures() has without `window`, from a table of sums. `labels`: as there."""
    key = [name for name in _KEY if name in sums.columns]
    right = F.col("last_correct")
    parts = [
        *key, "gold", F.col("count").alias("epochs"), F.col("mean").alias("confidence"), (F.col("M2") / F.col("count")).alias("variance"),
        "right", "forgetting_events", "first_learned", F.when(right, F.col("correct_since")).alias("right_since"),
        F.when(~right, F.col("correct_since")).alias("wrong_since"),
    ]  # fmt: skip
    for name in [name.removesuffix("_sum") for name in _pairs(sums) if name.endswith("_sum")]:
        count = name_of(f"{name}_count")
        parts.append(F.when(count > 0, name_of(f"{name}_sum") / count).alias(name))
    table = sums.select(*parts)
    return table.select(*key, *_measures.columns_of(table, labels))


def _pairs(table: DataFrame) -> list[str]:
    return [name for name in table.columns if name not in (*_KEY, *_STATE) and name.endswith(("_sum", "_count"))]


def _renamed(table: DataFrame, key: list[str], prefix: str) -> DataFrame:
    return table.select(*key, *(name_of(name).alias(prefix + name) for name in table.columns if name not in key))


def _or_0(both: DataFrame, prefix: str, name: str) -> Column:
    """A number of one side; 0 where that side has not the example, or no such column."""
    return F.coalesce(name_of(prefix + name), F.lit(0)) if prefix + name in both.columns else F.lit(0)
