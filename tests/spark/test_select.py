"""portolan.spark.select against portolan select: the same ids in the same order."""

import subprocess
import os

import pytest

import portolan.spark
from portolan._spark import _select

RULES = [
    "ambiguous", "hard-to-learn", "easy-to-learn", "forgettable", "high-confidence", "low-variability", "high-correctness", "low-correctness",
    "forgetting", "region:ambiguous", "region:easy-to-learn", "region:hard-to-learn", "first_learned:asc", "always_wrong_after:desc",
    "epochs:asc",
]  # fmt: skip
SIGNALS = ["uncertainty", "least-confidence", "grad:desc", "aum:asc"]


def chosen_by_portolan(data, *options, run="run"):
    words = [os.environ["PORTOLAN"], "select", run, "--store", str(data.store), "-q", *options]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.fixture(scope="module")
def tables(spark, small, texts, tmp_path_factory):
    """The measures, written, as is advised."""
    made = {}
    for name, data, run in (("small", small, "run"), ("texts", texts, "snli/größe+1%2")):
        path = str(tmp_path_factory.mktemp("measures") / name)
        portolan.spark.measures(portolan.spark.read(spark, run, *data.folders)).write.parquet(path)
        made[name] = spark.read.parquet(path)
    return made


def ids(frame):
    assert frame.columns == ["id"]
    return [str(row["id"]) for row in frame.collect()]


@pytest.mark.parametrize("rule", RULES)
def test_rules_with_ties(tables, small, rule):
    assert ids(portolan.spark.select(tables["small"], rule, fraction=0.145)) == chosen_by_portolan(small, "--by", rule, "--fraction", "0.145")


@pytest.mark.parametrize("rule", ["ambiguous", "forgettable", "region:ambiguous", "first_learned:asc", *SIGNALS])
def test_text_ids_go_bytewise(tables, texts, rule):
    expected = chosen_by_portolan(texts, "--by", rule, "--count", "4000", run="snli/größe+1%2")
    assert ids(portolan.spark.select(tables["texts"], rule, count=4000)) == expected


@pytest.mark.parametrize("rule", ["forgettable", "first_learned:desc", "region:hard-to-learn"])
def test_without_a_size(tables, small, rule):
    assert ids(portolan.spark.select(tables["small"], rule)) == chosen_by_portolan(small, "--by", rule)


@pytest.mark.parametrize("rule, size", [("ambiguous", 700), ("forgetting", 2000), ("first_learned:asc", 2990), ("epochs:desc", 1), ("forgettable", 5000)])
def test_more_than_one_task_can_keep(tables, small, monkeypatch, rule, size):
    """Cut off at the last that gets in, among values, ties, and examples without the measure."""
    monkeypatch.setattr(_select, "FEW", 0)
    assert ids(portolan.spark.select(tables["small"], rule, count=size)) == chosen_by_portolan(small, "--by", rule, "--count", str(size))


def test_thresholds(tables, small):
    for rule, x in (("confidence:asc", "0.4"), ("variability:desc", "0.3")):
        assert ids(portolan.spark.select(tables["small"], rule, threshold=float(x))) == chosen_by_portolan(small, "--by", rule, "--threshold", x)


def test_regions_with_cuts_of_ones_own(tables, small):
    expected = chosen_by_portolan(small, "--by", "region:easy-to-learn", "--regions", "0.3,0.6")
    assert ids(portolan.spark.select(tables["small"], "region:easy-to-learn", regions=(0.3, 0.6))) == expected


def test_the_third_that_cuts_regions_may_be_large(tables, small, monkeypatch):
    monkeypatch.setattr(_select, "FEW", 10)
    assert ids(portolan.spark.select(tables["small"], "region:ambiguous")) == chosen_by_portolan(small, "--by", "region:ambiguous")


def test_random_is_the_same_however_the_data_are_cut(tables):
    drawn = ids(portolan.spark.select(tables["small"], "random", count=500, seed=7))
    assert drawn == ids(portolan.spark.select(tables["small"].repartition(3), "random", count=500, seed=7))
    assert drawn != ids(portolan.spark.select(tables["small"], "random", count=500, seed=8))
    assert len(set(drawn)) == 500
    assert abs(sum(map(int, drawn)) / 500 - 1500) < 6 * 866 / 500**0.5


def test_observations_instead_of_measures(spark, small):
    seen = portolan.spark.read(spark, "run", *small.folders)
    assert ids(portolan.spark.select(seen, "ambiguous", count=20)) == chosen_by_portolan(small, "--by", "ambiguous", "--count", "20")


def test_with_measures(tables):
    frame = portolan.spark.select(tables["small"], "confidence:desc", count=3, with_measures=True)
    assert frame.columns == tables["small"].columns
    assert [row["confidence"] for row in frame.collect()] == sorted((row["confidence"] for row in frame.collect()), reverse=True)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"by": "hardest"}, "is no rule; rules are ambiguous"),
        ({"by": "k-center"}, "portolan select has it"),
        ({"by": "s2l"}, "portolan select has it"),
        ({"by": "aum:asc"}, "there is no measure 'aum'"),
        ({"by": "ambiguous", "fraction": 0.5, "count": 3}, "two sizes"),
        ({"by": "ambiguous", "fraction": 1.5}, "above 0, up to 1"),
        ({"by": "ambiguous", "count": 0}, "from 1 on"),
        ({"by": "forgettable", "threshold": 1.0}, "rank by a measure"),
    ],
)
def test_what_is_wrong_is_said(tables, arguments, message):
    with pytest.raises(ValueError, match=message):
        portolan.spark.select(tables["small"], **arguments)


def test_one_run_at_a_time(tables):
    from pyspark.sql import functions as F

    two = tables["small"].withColumn("run", F.concat(F.lit("r"), F.col("id") % 2))
    with pytest.raises(ValueError, match="more than one run"):
        portolan.spark.select(two, "ambiguous", count=1)


@pytest.mark.parametrize("fraction, examples, size", [(0.145, 100, 15), (0.145, 50_000_100, 7_250_015), (0.5, 5, 3), (0.1, 4, 0), (1, 7, 7)])
def test_sizes_are_rounded_half_up(fraction, examples, size):
    assert _select.size_of(fraction, examples) == size
