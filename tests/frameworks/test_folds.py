"""The tests of portolan.sklearn.cross_val_track once more, against a current scikit-learn; beside cleanlab, and with a net of skorch."""

import copy
import os
import subprocess

import cleanlab
import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier

import portolan
import portolan.sklearn
from python_folds import *  # noqa: F403
from python_sklearn import check_record
from support import softmax


def mislabelled(examples=600, wrong=30):
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, examples)
    X = rng.normal(size=(examples, 6)).astype("f4")
    X[np.arange(examples), gold] += 2.5
    rows = rng.choice(examples, wrong, replace=False)
    gold[rows] = (gold[rows] + rng.integers(1, 3, wrong)) % 3
    return X, gold, set(rows.tolist())


def test_what_cleanlab_ranks_by_is_the_confidence_of_one_epoch(store):
    X, gold, wrong = mislabelled()
    probs = portolan.sklearn.cross_val_track(LogisticRegression(), X, gold, "run", store=store)
    np.testing.assert_array_equal(probs, cross_val_predict(LogisticRegression(), X, gold, cv=5, method="predict_proba"))
    scores = cleanlab.rank.get_label_quality_scores(gold, probs, method="self_confidence")
    np.testing.assert_allclose(portolan.measures("run", store=store).confidence, scores, atol=1e-7)
    ranked = portolan.select("run", by="confidence:asc", fraction=1, store=store).ids()
    assert len(ranked) == len(gold) and (np.diff(scores[ranked]) >= -1e-7).all()
    issues = cleanlab.filter.find_label_issues(gold, probs, return_indices_ranked_by="self_confidence").tolist()
    assert len(issues) > 15 and [row for row in ranked if row in set(issues)] == issues
    assert len(wrong & set(ranked[:30])) > 20


def suspects(store, *words):
    done = subprocess.run([os.environ["PORTOLAN"], "noise", "confident", "run", "--suspects", "--store", store, *words], capture_output=True, text=True, check=True)
    return [int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]], done.stderr


def test_what_cleanlab_calls_is_what_noise_confident_calls(store):
    """Of one epoch, out of fold; ranked alike."""
    X, gold, wrong = mislabelled(900, 90)
    probs = portolan.sklearn.cross_val_track(MLPClassifier((16,), random_state=0), X, gold, "run", epochs=6, store=store)
    issues = cleanlab.filter.find_label_issues(gold, probs, filter_by="confident_learning", return_indices_ranked_by="self_confidence", n_jobs=1)
    called, said = suspects(store, "--epochs", "5:")
    assert called == issues.tolist() and len(called) > 30 and "leaves it open" not in said, said
    thresholds = cleanlab.count.get_confident_thresholds(gold, probs)
    assert f"thresholds of 3 classes: {thresholds.min():.4f} to {thresholds.max():.4f}" in said, (said, thresholds)
    assert len(wrong & set(called)) > 50
    assert len(wrong & set(suspects(store)[0])) > 20  # of all epochs, as far as the record tells


WEIGHTS = []  # of every clone, after each of its epochs


class Keep(Callback):
    def on_epoch_end(self, net, **kwargs):
        WEIGHTS.append([one.detach().numpy().astype(float) for one in copy.deepcopy(net.module_).parameters()])


def test_a_net_of_skorch(store):
    """An epoch of the net for each of ours."""
    X, gold, _ = mislabelled(240)
    net = NeuralNetClassifier(torch.nn.Linear, module__in_features=6, module__out_features=3, criterion=torch.nn.CrossEntropyLoss, lr=0.1,
                              batch_size=32, max_epochs=1, train_split=None, verbose=0)
    torch.manual_seed(0)
    WEIGHTS.clear()
    net.set_params(callbacks=[Keep()])
    probs = portolan.sklearn.cross_val_track(net, X, gold, "run", 2, cv=3, store=store)
    expected = np.zeros((2, 240, 3))
    for number, (_, held_out) in enumerate(StratifiedKFold(3).split(X, gold)):
        for epoch in range(2):
            weight, bias = WEIGHTS[3 * epoch + number]
            expected[epoch, held_out] = softmax(X[held_out] @ weight.T + bias)
    np.testing.assert_allclose(probs, expected[1], atol=1e-6)
    check_record(store, "run", expected, gold)
