"""portolan.sklearn.track() against scikit-learn itself: the same estimator trained by hand, its probabilities epoch by epoch."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier

import portolan
import portolan.sklearn

EXAMPLES, EPOCHS = 240, 4


def data(classes=3, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, classes, EXAMPLES)
    X = rng.normal(size=(EXAMPLES, 6))
    X[np.arange(EXAMPLES), gold] += 1.5
    X[:20] = rng.normal(size=(20, 6))  # noise, so that not everything is learned
    return X, gold


def check_record(store, name, probs, gold, ids=None, atol=1e-6):
    """Each epoch by itself, and all of them, against these probabilities (epochs × examples × classes)."""
    ids = range(len(gold)) if ids is None else ids
    order = np.argsort(np.asarray(ids))
    rows = np.arange(len(gold))
    for epoch, p in enumerate(probs):
        m = portolan.measures(name, store=store, epochs=(epoch, epoch + 1))
        assert m["id"].tolist() == np.asarray(ids)[order].tolist()
        np.testing.assert_allclose(m.confidence, p[rows, gold][order], atol=atol)
        assert m.correctness.tolist() == (p.argmax(axis=1) == gold)[order].tolist()
        others = np.where(np.eye(p.shape[1], dtype=bool)[gold], 0, p)
        np.testing.assert_allclose(m.el2n, np.sqrt((1 - p[rows, gold]) ** 2 + (others**2).sum(axis=1))[order], atol=1e-5)
    m = portolan.measures(name, store=store)
    assert (m.epochs == len(probs)).all()
    assert (m.gold == gold[order]).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", [
    SGDClassifier(loss="log_loss", random_state=3),
    SGDClassifier(loss="modified_huber", random_state=3),
    MLPClassifier((8,), random_state=3),
])
def test_whole_passes(store, estimator, classes):
    X, gold = data(classes)
    estimator, by_hand, probs = clone(estimator), clone(estimator), []
    for _ in range(EPOCHS):
        by_hand.partial_fit(X, gold, classes=np.arange(classes))
        probs.append(by_hand.predict_proba(X))
    tracked = portolan.sklearn.track(estimator, X, gold, "run", EPOCHS, store=store)
    assert tracked is estimator
    np.testing.assert_array_equal(tracked.predict_proba(X), probs[-1])
    check_record(store, "run", probs, gold)


def test_probabilities_are_the_estimators_not_a_softmax(store):
    X, gold = data(3)
    estimator = portolan.sklearn.track(SGDClassifier(loss="log_loss", random_state=1), X, gold, "run", 1, store=store)
    sigmoids = 1 / (1 + np.exp(-estimator.decision_function(X)))
    wanted = (sigmoids / sigmoids.sum(axis=1, keepdims=True))[np.arange(EXAMPLES), gold]
    np.testing.assert_allclose(portolan.measures("run", store=store).confidence, wanted, atol=1e-6)


def test_batches_class_names_ids_weights_and_sparse_rows(store):
    X, gold = data(3)
    names = np.array(["cat", "dog", "wörm"])
    ids = [f"row-{i:04}" for i in range(EXAMPLES)]
    X, weights = sparse.coo_matrix(np.abs(X)), np.linspace(0.5, 2, EXAMPLES)
    by_hand, probs = MultinomialNB(), []
    for _ in range(3):
        by_hand.partial_fit(X.tocsr(), names[gold], classes=names, sample_weight=weights)  # the order of rows changes nothing here
        probs.append(by_hand.predict_proba(X))
    portolan.sklearn.track(MultinomialNB(), X, names[gold], "run", 3, ids=ids, sample_weight=weights, batch_size=50, store=store)
    check_record(store, "run", probs, gold, ids)
    assert portolan.measures("run", store=store)["label"].tolist() == names[gold].tolist()


def test_batches_come_in_another_order_each_epoch_and_again_the_same(store):
    X, gold = data(3)
    seen = []

    class Spy(SGDClassifier):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            seen.append(X[:, 0].tolist())
            return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    for run in ("a", "b"):
        portolan.sklearn.track(Spy(loss="log_loss", random_state=1), X, gold, run, 2, batch_size=100, store=store)
    assert [len(batch) for batch in seen] == [100, 100, 40] * 4
    epochs = [sum(seen[i : i + 3], []) for i in range(0, 12, 3)]
    assert epochs[0] == epochs[2] and epochs[1] == epochs[3] and epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(X[:, 0])


@pytest.mark.parametrize("estimator", [
    GradientBoostingClassifier(n_estimators=7, max_depth=2, random_state=0),
    HistGradientBoostingClassifier(max_iter=7, max_depth=2, min_samples_leaf=5, early_stopping=False, random_state=0),
    AdaBoostClassifier(n_estimators=7, random_state=0),
])
@pytest.mark.parametrize("epochs, stages", [(None, range(7)), (3, (2, 4, 6)), (20, range(7)), (1, (6,))])
def test_stages_of_boosting(store, estimator, epochs, stages):
    X, gold = data(3)
    all_stages = list(clone(estimator).fit(X, gold).staged_predict_proba(X))
    assert len(all_stages) == 7
    portolan.sklearn.track(clone(estimator), X, gold, "run", epochs, store=store)
    check_record(store, "run", [all_stages[stage] for stage in stages], gold)


def test_data_frames_and_lists(store):
    pandas = pytest.importorskip("pandas")
    X, gold = data(3)
    for name, rows in (("frame", pandas.DataFrame(X, columns=list("abcdef"))), ("list", X.tolist())):
        portolan.sklearn.track(SGDClassifier(loss="log_loss", random_state=1), rows, gold.tolist(), name, 2, batch_size=64, store=store)
    same = [portolan.measures(name, store=store).confidence for name in ("frame", "list")]
    np.testing.assert_array_equal(*same)


def test_lists_and_columns(store):
    X, gold = data(2)
    portolan.sklearn.track(MLPClassifier((4,), random_state=1), X.tolist(), gold[:, None].astype(float), "run", 2, batch_size=64, store=store)
    assert (portolan.measures("run", store=store).epochs == 2).all()


def test_a_single_class_is_certain(store):
    portolan.sklearn.track(GaussianNB(), data(2)[0], np.zeros(len(data(2)[1])), "run", 2, store=store)
    assert (portolan.measures("run", store=store).confidence == 1).all()


def test_training_that_goes_on(store):
    X, gold = data(3)
    whole = portolan.sklearn.track(SGDClassifier(loss="log_loss", random_state=1), X, gold, "whole", 4, batch_size=60, store=store)
    parted = SGDClassifier(loss="log_loss", random_state=1)
    portolan.sklearn.track(parted, X, gold, "parted", 2, batch_size=60, store=store)
    portolan.sklearn.track(parted, X, gold, "parted", 2, batch_size=60, store=store, first_epoch=2)
    np.testing.assert_array_equal(whole.coef_, parted.coef_)
    a, b = (portolan.measures(name, store=store) for name in ("whole", "parted"))
    assert a.tolist() == b.tolist()


def test_a_classifier_without_probabilities(store):
    X, gold = data(3)
    for estimator, says in ((SGDClassifier(loss="hinge"), r"SGDClassifier\(loss='hinge'\)"), (Perceptron(), r"Perceptron\(loss=.perceptron.\)")):
        with pytest.raises(TypeError, match=says + " has no probabilities.*log_loss.*correct_only=True"):
            portolan.sklearn.track(estimator, X, gold, "run", store=store)
    by_hand, right = Perceptron(random_state=2), []
    for _ in range(3):
        by_hand.partial_fit(X, gold, classes=range(3))
        right.append(by_hand.predict(X) == gold)
    portolan.sklearn.track(Perceptron(random_state=2), X, gold, "run", 3, store=store, correct_only=True)
    right = np.array(right)
    m = portolan.measures("run", store=store)
    np.testing.assert_allclose(m.correctness, right.mean(axis=0))
    np.testing.assert_allclose(m.confidence, right.mean(axis=0))
    assert m.forgetting_events.tolist() == (right[:-1] & ~right[1:]).sum(axis=0).tolist()


def test_what_is_refused(store):
    X, gold = data(3)
    track, sgd = portolan.sklearn.track, SGDClassifier(loss="log_loss")
    with pytest.raises(TypeError, match="RandomForestClassifier has neither partial_fit nor staged_predict_proba"):
        track(RandomForestClassifier(), X, gold, "run", store=store)
    with pytest.raises(TypeError, match=r"is a class: make one, SGDClassifier\("):
        track(SGDClassifier, X, gold, "run", store=store)
    with pytest.raises(ValueError, match="SGDClassifier has not been trained"):
        track(sgd, X, gold, "run", store=store, first_epoch=3)
    with pytest.raises(ValueError, match=r"y has the shape \(240, 3\): several labels"):
        track(MLPClassifier(), X, np.eye(3, dtype=int)[gold], "run", store=store)
    with pytest.raises(ValueError, match="no classes, such as 0.5"):
        track(sgd, X, gold / 2, "run", store=store)
    with pytest.raises(ValueError, match="X has 10 rows, y 240"):
        track(sgd, X[:10], gold, "run", store=store)
    with pytest.raises(ValueError, match="3 ids and 240 labels"):
        track(sgd, X, gold, "run", ids=[1, 2, 3], store=store)
    with pytest.raises(ValueError, match="sklearn.track: rows 1 and 239 have the same id, 1; of the 240 ids 239 differ"):
        track(sgd, X, gold, "run", ids=np.append(np.arange(239), 1), store=store)
    with pytest.raises(ValueError, match="epochs must be 1 or more"):
        track(sgd, X, gold, "run", 0, store=store)
    with portolan.Run("open", store=store, mode="train-forward") as run, pytest.raises(ValueError, match="epoch-end"):
        track(sgd, X, gold, run)
    assert not hasattr(sgd, "coef_"), "nothing was trained before that was said"


def test_an_error_in_training_leaves_the_run_usable(store):
    X, gold = data(3)

    class Fails(SGDClassifier):
        def partial_fit(self, *arguments, **more):
            if hasattr(self, "coef_"):
                raise KeyboardInterrupt
            return super().partial_fit(*arguments, **more)

    with portolan.Run("open", store=store) as run:
        with pytest.raises(KeyboardInterrupt):
            portolan.sklearn.track(Fails(loss="log_loss"), X, gold, run, 5)
        run.log_gold(1, [0], [0.5], [True])
    m = portolan.measures("open", store=store)
    assert m.epochs.tolist() == [2] + [1] * (EXAMPLES - 1)
    with pytest.raises(KeyboardInterrupt):
        portolan.sklearn.track(Fails(loss="log_loss"), X, gold, "own", 5, store=store)
    assert portolan.report("own", store=store, map=False)["state"] == "closed"


def test_the_record_says_what_was_trained(store, opened_with, capfd):
    X, gold = data(3)
    portolan.sklearn.track(SGDClassifier(loss="log_loss", alpha=0.5, random_state=9), X, gold, epochs=1, store=store)
    assert (opened_with["name"], opened_with["model"], opened_with["seed"]) == ("SGDClassifier", "SGDClassifier", 9)
    assert opened_with["parameters"]["alpha"] == 0.5 and opened_with["versions"]["sklearn"] == sklearn.__version__
    assert opened_with["examples"] == EXAMPLES and opened_with["labels"] == ["0", "1", "2"] and not opened_with["resumed"]
    assert "run SGDClassifier: 240 observations on disk" in capfd.readouterr().err
