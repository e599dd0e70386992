"""portolan.per_label(): a row for each label of each example, of arrays and of lists."""

import numpy as np
import pytest

import portolan

SCORES = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
GOLD = np.array([[1, 0, 0], [0, 1, 1]])
IDS = ["a#1#red", "a#1#round", "a#1#ripe", "b#red", "b#round", "b#ripe"]
NAMES = ["red", "round", "ripe"]


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, lambda table: table.astype("f4"), lambda table: tuple(map(tuple, table.tolist()))])
def test_rows(kind):
    ids, scores, gold = portolan.per_label(["a#1", "b"], kind(SCORES), kind(GOLD), NAMES)
    assert ids == IDS and gold == [1, 0, 0, 0, 1, 1] and list(scores) == SCORES.reshape(-1).tolist()
    assert [one.rpartition("#")[2] for one in ids] == NAMES * 2


@pytest.mark.parametrize("unknown", [-100, np.nan])
@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist])
def test_labels_that_are_not_known_are_left_out(kind, unknown):
    gold = GOLD.astype(float)
    gold[0, 1] = gold[1, 2] = unknown
    ids, scores, gold = portolan.per_label(np.array([7, 4]), kind(SCORES), kind(gold))
    assert ids == ["7#0", "7#2", "4#0", "4#1"] and gold == [1, 0, 0, 1] and list(scores) == [2.0, 0.5, 0.0, 3.0]


def test_no_label_is_known():
    ids, scores, gold = portolan.per_label([0, 1], SCORES, np.full((2, 3), -100))
    assert (ids, list(scores), gold) == ([], [], [])


def test_what_is_recorded(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, *portolan.per_label(["a#1", "b"], SCORES, GOLD, NAMES))
        run.end_epoch(0)
        run.log_probs(1, *portolan.per_label(["a#1", "b"], 1 / (1 + np.exp(-SCORES)), GOLD.astype(bool), NAMES))
    m = portolan.measures("run", store=store)
    at = [m["id"].tolist().index(one) for one in IDS]
    p = 1 / (1 + np.exp(-SCORES))
    np.testing.assert_allclose(m["confidence"][at], np.where(GOLD == 1, p, 1 - p).reshape(-1), atol=1e-6)
    np.testing.assert_allclose(m["variability"], 0, atol=1e-6)
    assert m["gold"][at].tolist() == GOLD.reshape(-1).tolist() and m["correctness"][at].tolist() == [1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("arguments, says", [
    ((["a"], SCORES, GOLD), "there are 1 ids and 2 rows"),
    ((["a", "b"], SCORES, [0, 1]), r"scores have the shape \(2, 3\), gold \(2,\): both must be \(n, labels\)"),
    ((["a", "b"], SCORES, np.array([0, 1])), r"scores have the shape \(2, 3\), gold \(2,\)"),
    ((["a", "b"], SCORES[:, 0], GOLD), r"scores have the shape \(2,\), gold \(2, 3\)"),
    ((["a", "b"], SCORES, GOLD[:, :2]), r"gold \(2, 2\)"),
    ((["a", "b"], SCORES[None], GOLD), r"scores have the shape \(1, 2, 3\)"),
    ((["a", "b"], SCORES, GOLD, ["red", "round"]), "2 names for 3 labels"),
    ((["a", "b"], SCORES, GOLD, ["red", "red", "ripe"]), "two labels have the same name: red, red, ripe"),
    ((["a", "b"], SCORES, GOLD, ["red", "no #1", "ripe"]), "the name 'no #1' holds '#'"),
    ((["a", "b"], SCORES, GOLD * 2), "gold holds 2: 1 for a label that an example has"),
    ((["a", "b"], SCORES, GOLD * 0.9), "gold holds 0.9"),
])
def test_what_is_refused(arguments, says):
    with pytest.raises(ValueError, match="per_label: .*" + says):
        portolan.per_label(*arguments)
