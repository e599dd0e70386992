"""portolan.lightgbm against the real LightGBM: what models that were trained for fewer rounds, without the hook, say of every row."""

import lightgbm
import numpy as np
import pytest
from scipy.special import expit

import portolan
import portolan.lightgbm
from python_regressors import check_numbers
from python_regressors import data as regression_data
from python_sklearn import check_record, data

ROUNDS = 6


def parameters(classes, **more):
    objective = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
    return {**objective, "num_leaves": 6, "min_data_in_leaf": 5, "learning_rate": 0.3, "seed": 3, "num_threads": 1, "deterministic": True,
            "force_row_wise": True, "verbose": -1, **more}


def rows(X, gold):
    return lightgbm.Dataset(X, gold, weight=np.linspace(0.5, 2, len(gold)))


def by_hand(given, X, gold, rounds=range(1, ROUNDS + 1)):
    """Probabilities after each of these numbers of rounds: of a model trained for as many, that nobody watched."""
    found = [lightgbm.train(given, rows(X, gold), count).predict(X) for count in rounds]
    return [p if p.ndim == 2 else np.stack([1 - p, p], axis=1) for p in found]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("more", [
    {}, {"bagging_fraction": 0.4, "bagging_freq": 1, "feature_fraction": 0.5}, {"data_sample_strategy": "goss", "learning_rate": 0.8},
    {"boosting_type": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}], ids=str)
def test_every_row_after_every_round_and_training_goes_the_same_way(store, classes, more):
    X, gold = data(classes)
    given = parameters(classes, **more)
    booster = lightgbm.train(given, rows(X, gold), ROUNDS, callbacks=[portolan.lightgbm.PortolanCallback("run", store=store)])
    assert booster.model_to_string() == lightgbm.train(given, rows(X, gold), ROUNDS).model_to_string(), "training went another way"
    check_record(store, "run", by_hand(given, X, gold), gold)


def test_names_of_the_objective_and_labels_of_minus_one(store):
    X, gold = data(2)
    given = {**parameters(2), "application": "binary", "sigmoid": 2.0}
    del given["objective"]
    lightgbm.train(given, rows(X, gold * 2 - 1), ROUNDS, callbacks=[portolan.lightgbm.PortolanCallback("run", store=store)])
    check_record(store, "run", by_hand(given, X, gold * 2 - 1), gold)


def test_epochs_of_several_rounds_the_last_one_short_and_training_that_goes_on(store):
    X, gold = data(3)
    callback = lambda: portolan.lightgbm.PortolanCallback("run", every=4, store=store)
    booster = lightgbm.train(parameters(3), rows(X, gold), 10, callbacks=[callback()])
    check_record(store, "run", by_hand(parameters(3), X, gold, (4, 8, 10)), gold)
    on = lightgbm.train(parameters(3), rows(X, gold), 6, init_model=booster, callbacks=[callback()])  # the third epoch is seen again, whole
    alone = lightgbm.train(parameters(3), rows(X, gold), 6, init_model=booster)
    assert on.model_to_string() == alone.model_to_string()
    check_record(store, "run", [alone.predict(X, num_iteration=rounds) for rounds in (4, 8, 12, 16)], gold)
    with pytest.raises(portolan.Refused, match="exists"):
        lightgbm.train(parameters(3), rows(X, gold), 2, callbacks=[callback()])


@pytest.mark.parametrize("first", [False, True])
def test_early_stopping(store, first):
    X, gold = data(2)
    train_set, held_out = rows(X[:180], gold[:180]), rows(X[180:], 1 - gold[180:])  # it can only get worse
    callbacks = [portolan.lightgbm.PortolanCallback("run", store=store)]
    callbacks.insert(len(callbacks) if first else 0, lightgbm.early_stopping(2, verbose=False))
    lightgbm.train(parameters(2), train_set, 50, valid_sets=[held_out], callbacks=callbacks)
    run = callbacks[0 if first else 1].run
    assert run.is_open
    del callbacks
    assert not run.is_open, "the callback was dropped"
    check_record(store, "run", by_hand(parameters(2), X[:180], gold[:180], (1, 2, 3)), gold[:180])
    record = portolan.lightgbm.PortolanCallback("named", store=store)
    lightgbm.train(parameters(2), train_set, 50, valid_sets=[held_out], callbacks=[record, lightgbm.early_stopping(2, verbose=False)])
    record.close()
    assert not record.run.is_open and len(portolan.measures("named", store=store)) == 180


def test_the_classifier_of_scikit_learn(store):
    X, gold = data(3)
    names, weights = np.array(["cat", "dog", "owl"]), np.linspace(0.5, 2, len(X))
    ids = [f"row {i}" for i in range(len(X))]
    make = lambda rounds: lightgbm.LGBMClassifier(
        n_estimators=rounds, num_leaves=6, subsample=0.6, subsample_freq=1, random_state=1, n_jobs=1, verbose=-1, class_weight="balanced")
    record = portolan.lightgbm.PortolanCallback("run", ids, labels=names.tolist(), store=store)
    watched = make(ROUNDS).fit(X, names[gold], sample_weight=weights, callbacks=[record])
    alone = [make(count).fit(X, names[gold], sample_weight=weights) for count in range(1, ROUNDS + 1)]
    assert watched.booster_.model_to_string() == alone[-1].booster_.model_to_string()
    check_record(store, "run", [model.predict_proba(X) for model in alone], gold, ids)
    assert portolan.measures("run", store=store)["label"].tolist() == names[gold[np.argsort(ids)]].tolist()


def test_metrics_and_other_callbacks_are_as_they_were(store):
    X, gold = data(2)
    said = []
    for callbacks in ([], [portolan.lightgbm.PortolanCallback("run", store=store)]):
        train_set, found = rows(X, gold), {}
        given = parameters(2, metric=["auc", "binary_logloss"])
        lightgbm.train(given, train_set, 3, valid_sets=[train_set], callbacks=[*callbacks, lightgbm.record_evaluation(found)])
        said.append(found)
    assert said[0] == said[1] and len(said[0]["training"]["auc"]) == 3


def test_an_objective_of_ones_own(store):
    X, gold = data(2)

    def logistic(margins, train_set):
        p = expit(margins)
        return p - train_set.get_label(), p * (1 - p)

    given = parameters(2, objective=logistic)
    with pytest.raises(ValueError, match="objective of your own gives no probability .* scores='logits'"):
        lightgbm.train(given, lightgbm.Dataset(X, gold), 3, callbacks=[portolan.lightgbm.PortolanCallback(store=store)])
    record = portolan.lightgbm.PortolanCallback("run", scores="logits", store=store)
    booster = lightgbm.train(given, lightgbm.Dataset(X, gold), 3, callbacks=[record])
    p = [expit(booster.predict(X, num_iteration=rounds)) for rounds in (1, 2, 3)]
    check_record(store, "run", [np.stack([1 - one, one], axis=1) for one in p], gold)


def test_what_is_refused(store):
    X, gold = data(3)
    callback = lambda *arguments, **more: portolan.lightgbm.PortolanCallback(*arguments, store=store, **more)
    for objective, name in (("lambdarank", "lambdarank"), ("multiclass_ova", "multiclassova"), ("xentropy", "cross_entropy")):
        given = parameters(3, objective=objective)
        labels = gold / 2 if name == "cross_entropy" else gold
        train_set = lightgbm.Dataset(X, labels, group=[120, 120] if name == "lambdarank" else None)
        if name != "multiclassova":
            del given["num_class"]
        with pytest.raises(ValueError, match=f"objective {name} gives no probability of a gold label, as binary, multiclass do, .*task='regression'"):
            lightgbm.train(given, train_set, 2, callbacks=[callback()])
    for objective in ("regression", "poisson", "xentropy"):
        with pytest.raises(ValueError, match="gives no probability of a gold label, as binary, multiclass do. Of .* say scores='logits', if its raw scores are those$"):
            lightgbm.train(parameters(2, objective=objective), rows(X, gold / 2), 2, callbacks=[callback(task="classification")])
    with pytest.raises(ValueError, match="boosting='dart' changes the weights of earlier trees.*xgboost's"):
        lightgbm.train(parameters(3, boosting_type="dart"), rows(X, gold), 2, callbacks=[callback()])
    with pytest.raises(TypeError, match="lightgbm.cv trains a model for each fold"):
        lightgbm.cv(parameters(3), rows(X, gold), 2, callbacks=[callback()])
    with pytest.raises(ValueError, match="every must be a number of rounds, 1 or more, not 0"):
        callback(every=0)
    with pytest.raises(ValueError, match="rows 0 and 239 have the same id"):
        callback(ids=np.arange(240) % 239)
    with pytest.raises(ValueError, match="2 ids and 240 rows"):
        lightgbm.train(parameters(3), rows(X, gold), 2, callbacks=[callback(ids=[1, 2])])


@pytest.mark.parametrize("objective", ["mse", "l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie", "reg_sqrt"])
def test_regression(store, objective):
    """What was recorded after each round is what a model that was trained for as many predicts."""
    X, y = regression_data()
    y = np.exp(y / 3) if objective in ("poisson", "gamma", "tweedie") else y
    given = parameters(2, **({"objective": "mse", "reg_sqrt": True} if objective == "reg_sqrt" else {"objective": objective}))
    watched = lightgbm.train(given, rows(X, y), ROUNDS, callbacks=[portolan.lightgbm.PortolanCallback("run", every=2, store=store)])
    alone = [lightgbm.train(given, rows(X, y), count) for count in (2, 4, 6)]
    assert watched.model_to_string() == alone[-1].model_to_string(), "training went another way"
    check_numbers(store, "run", [model.predict(X) for model in alone], y)


def test_the_regressor_of_scikit_learn_and_a_function_of_ones_own(store):
    X, y = regression_data()
    make = lambda rounds: lightgbm.LGBMRegressor(n_estimators=rounds, num_leaves=6, random_state=1, n_jobs=1, verbose=-1)
    make(3).fit(X, y, callbacks=[portolan.lightgbm.PortolanCallback("run", store=store)])
    check_numbers(store, "run", [make(rounds).fit(X, y).predict(X) for rounds in (1, 2, 3)], y)
    squares = lambda predicted, train_set: (predicted - train_set.get_label(), np.ones(len(predicted)))
    given = parameters(2, objective=squares)
    booster = lightgbm.train(given, lightgbm.Dataset(X, y), 3, callbacks=[portolan.lightgbm.PortolanCallback("own", task="regression", store=store)])
    check_numbers(store, "own", [booster.predict(X, num_iteration=rounds) for rounds in (1, 2, 3)], y)


def test_the_record(store, opened_with, capfd):
    X, gold = data(2)
    with portolan.Run("mine", store=store) as run:
        lightgbm.train(parameters(2), rows(X, gold), 2, callbacks=[portolan.lightgbm.PortolanCallback(run)])
        assert run.is_open and run.stats()["acknowledged"] == 480
    assert (opened_with["name"], opened_with["model"], opened_with["seed"], opened_with["examples"]) == ("lightgbm", "gbdt", 3, 240)
    assert opened_with["versions"]["lightgbm"] == lightgbm.__version__ and opened_with["parameters"]["learning_rate"] == 0.3
    assert capfd.readouterr().err.count("run mine: 480 observations on disk") == 1
