"""portolan.measures() against an independent calculation, on random data with every irregularity."""

import numpy as np
import pytest

import portolan

TOLERANCE = 1e-6


def random_run(seed, examples, epochs, classes, missing):
    """Logits and which of them are seen. Example 0 is never learned, 1 is seen once, 2 is always right, 3 only at the end."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (epochs, examples, classes)) + rng.normal(0, 2, (1, examples, classes))
    gold = rng.integers(0, classes, examples)
    seen = rng.random((epochs, examples)) >= missing
    logits[:, 0, gold[0]] = -9
    logits[:, 2, gold[2]] = 30
    seen[:, 1] = False
    seen[epochs // 2, 1] = True
    seen[:, 3] = False
    seen[-1, 3] = True
    seen[:, (0, 2)] = True
    return logits.astype(np.float32), gold, seen


def record(store, ids, logits, gold, seen, seed):
    """In shuffled order and uneven batches."""
    rng = np.random.default_rng(seed + 1)
    with portolan.Run("run", store=store) as run:
        for epoch, here in enumerate(seen):
            order = rng.permutation(np.flatnonzero(here))
            for rows in np.array_split(order, 7):
                run.log_logits(epoch, [ids[i] for i in rows], logits[epoch, rows], gold[rows])
            run.end_epoch(epoch)


def expected(logits, gold, seen):
    """Example by example, in float64, as the definitions read."""
    for i in range(logits.shape[1]):
        epochs = np.flatnonzero(seen[:, i])
        z = logits[epochs, i].astype(np.float64)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gold_prob = p[:, gold[i]]
        correct = z.argmax(axis=1) == gold[i]
        others = np.delete(z, gold[i], axis=1)
        one_hot = np.eye(z.shape[1])[gold[i]]
        c = gold_prob.mean()
        right_after = [e for k, e in enumerate(epochs) if correct[k:].all()]
        wrong_after = [e for k, e in enumerate(epochs) if not correct[k:].any()]
        yield {
            "epochs": len(epochs),
            "gold": gold[i],
            "confidence": c,
            "variability": np.sqrt(((gold_prob - c) ** 2).mean()),
            "correctness": correct.mean(),
            "forgetting_events": int((correct[:-1] & ~correct[1:]).sum()),
            "never_learned": int(not correct.any()),
            "first_learned": epochs[correct][0] if correct.any() else None,
            "threshold_closeness": c * (1 - c),
            "always_right_after": right_after[0] if right_after else None,
            "always_wrong_after": wrong_after[0] if wrong_after else None,
            "aum": (z[:, gold[i]] - others.max(axis=1)).mean(),
            "el2n": np.sqrt(((p - one_hot) ** 2).sum(axis=1)).mean(),
            "aleatoric": (gold_prob * (1 - gold_prob)).mean(),
            "loss": -np.log(gold_prob).mean(),
            "prob_margin": (gold_prob - np.delete(p, gold[i], axis=1).max(axis=1)).mean(),
            "entropy": -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1).mean(),
        }


EXACT = ("epochs", "gold", "correctness", "forgetting_events", "never_learned")
EPOCHS_OR_EMPTY = ("first_learned", "always_right_after", "always_wrong_after")
CLOSE = {"confidence": 1, "variability": 1, "threshold_closeness": 1, "aleatoric": 1, "el2n": 1, "entropy": 1, "prob_margin": 1, "loss": 10, "aum": 10}


def check(m, ids, rows):
    assert m["id"].tolist() == ids
    for name in EXACT:
        assert m[name].tolist() == [row[name] for row in rows], name
    for name in EPOCHS_OR_EMPTY:
        got = [None if np.isnan(x) or x < 0 else int(x) for x in m[name].astype(float)]
        assert got == [row[name] for row in rows], name
    for name, scale in CLOSE.items():
        if name not in m.dtype.names:
            continue
        difference = np.abs(m[name].astype(float) - [row[name] for row in rows]).max()
        assert difference <= TOLERANCE * scale, f"{name} differs by {difference}"


@pytest.mark.parametrize("kind", ["int", "str"])
@pytest.mark.parametrize("examples, epochs, classes, missing", [(700, 9, 4, 0.35), (50, 1, 3, 0.0), (300, 6, 2, 0.0)])
def test_random_runs(store, kind, examples, epochs, classes, missing):
    seed = examples + epochs
    logits, gold, seen = random_run(seed, examples, epochs, classes, missing)
    rng = np.random.default_rng(seed)
    numbers = sorted(rng.choice(2**40, examples, replace=False).tolist())
    ids = numbers if kind == "int" else sorted((f"wört-{n}" for n in numbers), key=str.encode)
    record(store, ids, logits, gold, seen, seed)
    rows = list(expected(logits, gold, seen))
    observed = [i for i in range(examples) if seen[:, i].any()]
    m = portolan.measures("run", store=store)
    assert m["variability_ci"].shape == (len(observed),)
    check(m, [ids[i] for i in observed], [rows[i] for i in observed])


@pytest.mark.parametrize("epochs, first, last", [("2:", 2, 6), ((None, 4), 0, 4), (slice(1, 5), 1, 5), (range(3, 4), 3, 4)])
def test_a_range_of_epochs(store, epochs, first, last):
    logits, gold, seen = random_run(5, 120, 6, 3, 0.3)
    record(store, list(range(120)), logits, gold, seen, 5)
    seen[:first] = seen[last:] = False
    observed = [i for i in range(120) if seen[:, i].any()]
    rows = list(expected(logits[:, observed], gold[observed], seen[:, observed]))
    check(portolan.measures("run", store=store, epochs=epochs), observed, rows)


def test_windows_of_epochs(store):
    """Of two epochs the standard deviation is the difference by the root of two; without `window` six epochs are too few."""
    logits, gold, seen = random_run(3, 60, 6, 3, 0.0)
    seen[:] = True
    record(store, list(range(60)), logits, gold, seen, 3)
    p = portolan.dynamics("run", store=store)["gold_prob"].astype("f8").reshape(6, 60)
    deviations, means = np.abs(p[1:] - p[:-1]) / np.sqrt(2), (p[1:] + p[:-1]) / 2
    m = portolan.measures("run", store=store, window=2)
    np.testing.assert_allclose(m["dyn_unc"], deviations.mean(0), atol=1e-12)
    np.testing.assert_allclose(m["dual"], ((1 - means) * deviations).mean(0), atol=1e-12)
    assert not {"dyn_unc", "dual"} & set(portolan.measures("run", store=store).dtype.names)
    assert portolan.measures("run", store=store, window=6, epochs="1:").dtype.names == portolan.measures("run", store=store).dtype.names
    with pytest.raises(portolan.Error, match="--window 1: a whole number from 2"):
        portolan.measures("run", store=store, window=1)


def test_class_names_come_back_as_text(store):
    with portolan.Run("run", store=store, labels=["neutral", "ähnlich"]) as run:
        run.log_probs(0, [5, 6], [[0.25, 0.75], [0.5, 0.5]], [1, 0])
    assert portolan.measures("run", store=store)["label"].tolist() == ["ähnlich", "neutral"]


def test_a_record_array(store):
    logits, gold, seen = random_run(1, 40, 3, 3, 0.0)
    record(store, list(range(40)), logits, gold, seen, 1)
    m = portolan.measures("run", store=store)
    assert (m.confidence == m["confidence"]).all()
    assert m["id"].dtype == np.uint64
    assert m.dtype.names[:9] == ("id", "gold", "epochs", "confidence", "variability", "correctness", "forgetting_events",
                                 "never_learned", "first_learned")
    with pytest.raises(ValueError, match="step"):
        portolan.measures("run", store=store, epochs=slice(0, 4, 2))


def test_a_name_like_an_option(store):
    with portolan.Run("--strict", store=store) as run:
        run.log_gold(0, [1], [0.5], [True])
    assert portolan.measures("--strict", store=store)["confidence"].tolist() == [0.5]


@pytest.mark.parametrize("of", ["of_probs", "of_logits"])
def test_moves_of_a_hundred_classes(store, of):
    """portolan.TddsMoves: batches in any order, examples that come late or are missing at an epoch."""
    rng = np.random.default_rng(3)
    epochs, n, classes, window = 9, 70, 100, 4
    logits = np.cumsum(rng.normal(0, 1, (epochs, n, classes)), 0).astype("f4")
    probs = np.exp(logits.astype("f8"))
    probs = (probs / probs.sum(2, keepdims=True)).astype("f4")
    seen = rng.random((epochs, n)) < 0.8
    seen[:, 0] = [False] * 7 + [True] * 2
    moves, ids, gold = portolan.TddsMoves(), [f"id-{i:03}" for i in range(n)], np.zeros(n, int)
    with portolan.Run("run", store=store) as run:
        for epoch, here in enumerate(seen):
            for rows in np.array_split(rng.permutation(np.flatnonzero(here)), 3):
                some = [ids[i] for i in rows]
                columns = getattr(moves, of)(some, (probs if of == "of_probs" else logits)[epoch, rows])
                run.log_probs(epoch, some, probs[epoch, rows], gold[rows], columns=columns)
            run.end_epoch(epoch)
    m = portolan.measures("run", store=store, window=window)
    for one, score in zip(m["id"], m["tdds"]):
        i = ids.index(one)
        p = probs[seen[:, i], i].astype("f8")
        steps = np.abs(p[1:] * (np.log(p[1:] + 1e-8) - np.log(p[:-1] + 1e-8))).sum(1)
        expected = 0.0
        for end in range(window - 1, len(steps) + 1):
            part = steps[end - window + 1 : end]
            expected = 0.1 * expected + 0.9 * np.sqrt(((part - part.mean()) ** 2).sum())
        assert np.isnan(score) if len(p) < window else abs(score - expected) <= 1e-5 * expected
    assert np.isnan(m["tdds"]).any()
    for wrong, says in ((([1], np.zeros((2, 100))), "1 ids for 2"), (([1], np.zeros((1, 3))), "3 classes, and 100 before"), (([1], [0.5]), "shape")):
        with pytest.raises(ValueError, match=says):
            moves.of_probs(*wrong)
