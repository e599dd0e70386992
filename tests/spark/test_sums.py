"""portolan.spark.sums, add and measures_of against measures of all epochs at once: counts exactly, floats to 1e-12."""

import itertools
import math

import numpy as np
import pytest

import portolan.spark

SCHEMA = ("id long, epoch int, gold_prob float, correct boolean, session_started long, rank int, session string, gold int, margin float, "
          "max_prob float, other_sq float, entropy float, `my own` float")  # fmt: skip


def observations(spark, seed):
    """Examples that miss epochs, come late, are seen by two sessions, and lack signals; nearly equal probabilities."""
    random, rows = np.random.default_rng(seed), []
    for epoch in range(9):
        for example in random.permutation(40 + 10 * epoch)[: 30 + 10 * epoch]:
            for session in range(1 + (random.random() < 0.2)):
                p = float(np.float32(0.7 + 6e-8 * random.integers(3)) if example % 5 == 0 else np.float32(random.random()))
                signals = [float(x) for x in random.random(5)] if epoch > 1 else [None] * 5
                gold = int(random.integers(3)) if random.random() < 0.7 else None
                rows.append((int(example), epoch, p, bool(random.random() < 0.5), 100 + session, 0, f"s{session}", gold, *signals))
    return spark.createDataFrame(rows, SCHEMA)


def by_id(frame):
    return {row["id"]: row.asDict() for row in frame.collect()}


def check_same(ours, wanted):
    ours, wanted = by_id(ours), by_id(wanted)
    assert ours.keys() == wanted.keys() and ours
    for example, row in wanted.items():
        assert row.keys() == ours[example].keys()
        for name, value in row.items():
            got = ours[example][name]
            same = math.isclose(got, value, rel_tol=1e-12, abs_tol=1e-12) if isinstance(value, float) and got is not None else got == value
            assert same, (example, name, got, value)


@pytest.mark.parametrize("cuts", [(4,), (1, 2, 7)])
def test_epochs_are_added(spark, cuts):
    seen = observations(spark, len(cuts)).cache()
    parts = [f"{a}:{b}" for a, b in zip((0, *cuts), (*cuts, 9), strict=True)]
    table = portolan.spark.sums(seen, epochs=parts[0])
    for part in parts[1:]:
        table = portolan.spark.add(table, portolan.spark.sums(seen, epochs=part))
    labels = ["a", "b", "c"]
    check_same(portolan.spark.measures_of(table, labels=labels), portolan.spark.measures(seen, labels=labels))


def test_forgetting_across_the_border(spark):
    """Every way to be right or wrong at four epochs, each of which may be missing; and without labels."""
    rows = []
    for example, marks in enumerate(itertools.product("rw-", repeat=4)):
        rows += [(f"wört/{example}", epoch, 0.5, mark == "r", 1, 0, "s") for epoch, mark in enumerate(marks) if mark != "-"]
    seen = spark.createDataFrame(rows, "id string, epoch int, gold_prob float, correct boolean, session_started long, rank int, session string")
    table = portolan.spark.add(portolan.spark.sums(seen, epochs=":2"), portolan.spark.sums(seen, epochs=(2, None)))
    wanted = portolan.spark.measures(seen)
    check_same(portolan.spark.measures_of(table), wanted)
    assert {row["forgetting_events"] for row in wanted.collect()} == {0, 1, 2}


def test_epochs_that_are_not_later(spark):
    """Whatever of the result is asked for."""
    seen = observations(spark, 1)
    table = portolan.spark.add(portolan.spark.sums(seen, epochs=":5"), portolan.spark.sums(seen, epochs="4:"))
    with pytest.raises(Exception, match="not later than those of the sums"):
        portolan.spark.measures_of(table).select("id").collect()


def test_what_is_wrong_is_said(spark):
    losses = spark.createDataFrame([(1, 0, 0.5, 1, 0, "s")], "id long, epoch int, task_loss float, session_started long, rank int, session string")
    with pytest.raises(ValueError, match="sums.. is of probabilities"):
        portolan.spark.sums(losses)
    with pytest.raises(ValueError, match=r"sums.. needs observations, and these lack the columns: epoch"):
        portolan.spark.sums(spark.range(3))
