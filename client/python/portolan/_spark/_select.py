"""Selections of a run's measures, by the rules of ``portolan select``, over data that no single machine holds.

A selection is all examples that rank no lower than one of them, the last one in. For a small selection, a top-k finds it. For a large one, the
values are sorted over all nodes and numbered within each part; only the sizes of the parts, and that one example, come to the driver.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from portolan._spark import _measures

FEW = 100_000  # so many examples a single task can keep and sort in memory
_WITHIN_PART = 2**33 - 1  # the bits in which monotonically_increasing_id() counts the rows of a part


class Rule(NamedTuple):
    measure: str
    descending: bool
    kind: str = "measure"  # besides: forgettable, forgetting, random, and the names of the regions


RULES = {
    "ambiguous": Rule("variability", True),
    "hard-to-learn": Rule("confidence", False),
    "easy-to-learn": Rule("confidence", True),
    "forgettable": Rule("", True, "forgettable"),
    "random": Rule("", False, "random"),
    "high-confidence": Rule("confidence", True),
    "low-variability": Rule("variability", False),
    "high-correctness": Rule("correctness", True),
    "low-correctness": Rule("correctness", False),
    "forgetting": Rule("", True, "forgetting"),
    "uncertainty": Rule("entropy", True),
    "least-confidence": Rule("max_prob", False),
    "region:ambiguous": Rule("variability", True, "ambiguous"),
    "region:easy-to-learn": Rule("confidence", True, "easy-to-learn"),
    "region:hard-to-learn": Rule("confidence", False, "hard-to-learn"),
}
_RULES_OF_LOSSES = {"hard-to-learn": Rule("task_loss", True), "easy-to-learn": Rule("task_loss", False)}
_REGIONS = ("ambiguous", "easy-to-learn", "hard-to-learn")


def select(
    df: DataFrame,
    by: str,
    fraction: float | None = None,
    count: int | None = None,
    *,
    threshold: float | None = None,
    regions: tuple[float, float] | None = None,
    seed: int = 0,
    with_measures: bool = False,
    loss_threshold: float | None = None,
) -> DataFrame:
    """The examples that a rule ranks first, in rank order: ties by ascending id, those without the measure last.

    Args:
        df: the measures of one run, as measures() returns them, or its observations. They are read two or three times: with
            much data, write the measures to files, and select from these.
        by: a rule of ``portolan select`` other than k-center, dual-beta and s2l: ambiguous, hard-to-learn, easy-to-learn, forgettable,
            MEASURE:asc, MEASURE:desc, ...
        fraction: take this fraction of the examples, rounded half up.
        count: take this number of examples. Without fraction, count and threshold: all that the rule ranks.
        threshold: take only examples with this value or more; with MEASURE:asc, or less.
        regions: (V, C), the cuts of the rules region:... Default: the top third in variability; confidence 0.5.
        seed: of the rule random. The draw is the same on every cluster, but not the one of ``portolan select``.
        with_measures: return all columns, not the column id alone.
        loss_threshold: of observations of losses; see measures(). It makes forgettable, forgetting and correctness rules of such a run.

    Raises:
        ValueError: no such rule or measure, two sizes, or more than one run.
    """
    rule = check_request(by, fraction, count, threshold)
    table = of_one_run(measured(df, loss_threshold))
    if "task_loss" in table.columns and "confidence" not in table.columns:
        rule = _of_losses(by, rule, "correctness" in table.columns)
    ranked = _in_set(table, rule, regions).withColumn("portolan_value", _value(table, rule, by, seed))
    if threshold is not None:
        ranked = ranked.where(F.col("portolan_value") >= threshold if rule.descending else F.col("portolan_value") <= threshold)
    size = size_of(fraction, table.count()) if fraction is not None else count
    chosen = ranked if size is None else _first(ranked, rule.descending, size)
    return chosen.orderBy(*_order(rule.descending)).select(*(table.columns if with_measures else ["id"]))


def measured(df: DataFrame, loss_threshold: float | None) -> DataFrame:
    """The measures of what are observations; measures as they are."""
    if "gold_prob" in df.columns or _measures.has_losses(df):
        return _measures.measures(df, loss_threshold=loss_threshold)
    if loss_threshold is not None:
        raise ValueError("loss_threshold: these are measures; give it to measures(), which made them")
    return df


def rule_of(by: str) -> Rule:
    measure, _, direction = by.rpartition(":")
    if by in RULES:
        return RULES[by]
    if measure and direction in ("asc", "desc"):
        return Rule(measure, direction == "desc")
    if by in ("k-center", "dual-beta", "s2l"):
        raise ValueError(f"by={by!r} is not for Spark: portolan select has it")
    raise ValueError(f"by={by!r} is no rule; rules are {', '.join(RULES)}, MEASURE:asc and MEASURE:desc")


def _of_losses(by: str, rule: Rule, knows_right: bool) -> Rule:
    """The rule as it is for a run of losses."""
    if knows_right and rule.kind in ("forgettable", "forgetting"):
        return rule
    if rule.kind not in ("measure", "random"):
        raise ValueError(f"by={by!r} needs labels, and the run records losses (log_loss)")
    return _RULES_OF_LOSSES.get(by, rule)


def size_of(fraction: float, examples: int) -> int:
    """fraction × examples, rounded half up. The fraction is the double next to the decimal that was meant, so a
    product that its own rounding error may have kept below a half counts as one: 0.145 × 100 gives 15."""
    product = fraction * examples
    return min(examples, math.floor(product + 0.5 + 2 * sys.float_info.epsilon * product))


def of_one_run(table: DataFrame) -> DataFrame:
    if "run" in table.columns:
        names = [row["run"] for row in table.select("run").distinct().limit(2).collect()]
        if len(names) > 1:
            raise ValueError(f"there is more than one run, as '{names[0]}' and '{names[1]}': filter by the column run first")
    return table


def check_request(by: str, fraction: float | None, count: int | None, threshold: float | None) -> Rule:
    """The rule; ValueError if the arguments contradict one another."""
    rule = rule_of(by)
    if fraction is not None and count is not None:
        raise ValueError("fraction and count are two sizes: give one")
    if fraction is not None and not 0 < fraction <= 1:
        raise ValueError(f"fraction must be above 0, up to 1, not {fraction!r}")
    if count is not None and (not hasattr(count, "__index__") or count < 1):
        raise ValueError(f"count must be a whole number from 1 on, not {count!r}")
    if threshold is not None and rule.kind != "measure":
        raise ValueError("threshold goes with the rules that rank by a measure")
    return rule


def _value(table: DataFrame, rule: Rule, by: str, seed: int) -> Column:
    """The column that the rule sorts by."""
    if rule.kind in ("forgettable", "forgetting"):
        return F.when(F.col("never_learned"), math.inf).otherwise(F.col("forgetting_events").cast("double"))
    if rule.kind == "random":
        return F.xxhash64(F.lit(seed).cast("long"), F.col("id").cast("string"))
    if rule.measure not in table.columns or rule.measure in ("id", "run", "label"):
        raise ValueError(f"by={by!r}: {no_measure(rule.measure, _measures_of(table))}")
    return _measures.name_of(rule.measure).cast("double")


def no_measure(name: str, names: list[str]) -> str:
    where = ": measures(df, window=J) adds it" if name in ("dyn_unc", "dual") else ""
    return f"there is no measure {name!r}{where}; there are {', '.join(names)}"


def _measures_of(table: DataFrame) -> list[str]:
    return [name for name in table.columns if name not in ("id", "run", "label", "gold")]


def _in_set(table: DataFrame, rule: Rule, regions: tuple[float, float] | None) -> DataFrame:
    if rule.kind == "forgettable":
        return table.where("never_learned OR forgetting_events > 0")
    if rule.kind not in _REGIONS:
        return table
    variability, confidence = regions if regions is not None else (_top_third(table), 0.5)
    is_ambiguous = (F.col("variability") >= variability) & (F.col("variability") > 0)
    if rule.kind == "ambiguous":
        return table.where(is_ambiguous)
    is_easy = F.col("confidence") >= confidence
    return table.where(~is_ambiguous & (is_easy if rule.kind == "easy-to-learn" else ~is_easy))


def _top_third(table: DataFrame) -> float:
    """The variability from which on an example is in the top third; with fewer than three examples, none is."""
    third = table.count() // 3
    if third == 0:
        return math.inf
    values = table.select("id", F.col("variability").alias("portolan_value"))
    if third <= FEW:
        return values.orderBy(*_order(True)).limit(third).agg(F.min("portolan_value")).head()[0]
    return _last_of(values, True, third)["portolan_value"]


def _order(descending: bool) -> list[Column]:
    value = F.col("portolan_value")
    return [value.desc_nulls_last() if descending else value.asc_nulls_last(), F.col("id").asc()]


def _first(ranked: DataFrame, descending: bool, size: int) -> DataFrame:
    """The first `size` examples of the ranking, in no order."""
    if size <= FEW:
        return ranked.orderBy(*_order(descending)).limit(size)
    last = _last_of(ranked.select("id", "portolan_value"), descending, size)
    if last is None:
        return ranked
    value, bound = F.col("portolan_value"), last["portolan_value"]
    if bound is None:
        return ranked.where(value.isNotNull() | (F.col("id") <= F.lit(last["id"])))
    better = value > bound if descending else value < bound
    return ranked.where(better | ((value == bound) & (F.col("id") <= F.lit(last["id"]))))


def _last_of(values: DataFrame, descending: bool, size: int) -> Any:
    """The row with the number `size`, from 1, in the sorted order; None if there are no more rows than that."""
    part, place = F.spark_partition_id(), F.monotonically_increasing_id().bitwiseAND(_WITHIN_PART)
    numbered = values.orderBy(*_order(descending)).select("id", "portolan_value", part.alias("part"), place.alias("place"))
    numbered.persist(StorageLevel.DISK_ONLY)
    try:
        counts = sorted(numbered.groupBy("part").count().collect())
        before = 0
        for part_number, examples in counts:
            if before + examples >= size:
                return numbered.where((F.col("part") == part_number) & (F.col("place") == size - before - 1)).head()
            before += examples
        return None
    finally:
        numbered.unpersist()
