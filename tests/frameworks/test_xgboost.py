"""portolan.xgboost against the real XGBoost: what models that were trained for fewer rounds, without the hook, say of every row."""

import numpy as np
import pytest
import xgboost
from scipy.special import expit, softmax

import portolan
import portolan.xgboost
from python_regressors import check_numbers
from python_regressors import data as regression_data
from python_sklearn import check_record, data

ROUNDS = 6


def parameters(classes, **more):
    objective = {"objective": "binary:logistic"} if classes == 2 else {"objective": "multi:softprob", "num_class": classes}
    return {**objective, "max_depth": 3, "eta": 0.5, "seed": 3, "nthread": 1, **more}


def matrix(X, gold):
    return xgboost.DMatrix(X, gold, weight=np.linspace(0.5, 2, len(gold)))


def by_hand(given, X, gold, rounds=range(1, ROUNDS + 1)):
    """Probabilities after each of these numbers of rounds: of a model trained for as many, that nobody watched."""
    found = []
    for count in rounds:
        margins = xgboost.train(given, matrix(X, gold), count).predict(xgboost.DMatrix(X), output_margin=True).astype(float)
        found.append(softmax(margins, axis=1) if margins.ndim == 2 else np.stack([expit(-margins), expit(margins)], axis=1))
    return found


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("more", [
    {}, {"subsample": 0.4, "colsample_bytree": 0.5}, {"booster": "dart", "rate_drop": 0.5}, {"booster": "gblinear", "updater": "coord_descent"},
    {"tree_method": "exact"}, {"num_parallel_tree": 3, "subsample": 0.5}], ids=str)
def test_every_row_after_every_round_and_training_goes_the_same_way(store, classes, more):
    X, gold = data(classes)
    given = parameters(classes, **more)
    train_set = matrix(X, gold)
    booster = xgboost.train(given, train_set, ROUNDS, callbacks=[portolan.xgboost.PortolanCallback(train_set, run="run", store=store)])
    assert booster.save_raw("json") == xgboost.train(given, matrix(X, gold), ROUNDS).save_raw("json"), "training went another way"
    check_record(store, "run", by_hand(given, X, gold), gold, atol=2e-6)


@pytest.mark.parametrize("objective", ["binary:logitraw", "multi:softmax"])
def test_objectives_whose_predictions_are_no_probabilities(store, objective):
    X, gold = data(3 if objective.startswith("multi") else 2)
    given = parameters(3 if objective.startswith("multi") else 2, objective=objective)
    train_set = matrix(X, gold)
    xgboost.train(given, train_set, ROUNDS, callbacks=[portolan.xgboost.PortolanCallback(train_set, run="run", store=store)])
    check_record(store, "run", by_hand(given, X, gold), gold, atol=2e-6)


def test_epochs_of_several_rounds_the_last_one_short_and_training_that_goes_on(store):
    X, gold = data(3)
    train_set = matrix(X, gold)
    callback = lambda: portolan.xgboost.PortolanCallback(train_set, run="run", every=4, store=store)
    booster = xgboost.train(parameters(3), train_set, 10, callbacks=[callback()])
    check_record(store, "run", by_hand(parameters(3), X, gold, (4, 8, 10)), gold, atol=2e-6)
    xgboost.train(parameters(3), train_set, 6, xgb_model=booster, callbacks=[callback()])  # the third epoch is seen again, whole
    check_record(store, "run", by_hand(parameters(3), X, gold, (4, 8, 12, 16)), gold, atol=2e-6)
    with pytest.raises(portolan.Refused, match="exists"):
        xgboost.train(parameters(3), train_set, 2, callbacks=[callback()])


@pytest.mark.parametrize("first", [False, True])
def test_early_stopping(store, first):
    X, gold = data(2)
    train_set, held_out = matrix(X[:180], gold[:180]), matrix(X[180:], 1 - gold[180:])  # it can only get worse
    callbacks = [portolan.xgboost.PortolanCallback(train_set, run="run", store=store)]
    callbacks.insert(len(callbacks) if first else 0, xgboost.callback.EarlyStopping(rounds=2))
    booster = xgboost.train(parameters(2), train_set, 50, evals=[(held_out, "validation")], callbacks=callbacks, verbose_eval=False)
    assert booster.num_boosted_rounds() == 3 and not callbacks[0 if first else 1].run.is_open
    check_record(store, "run", by_hand(parameters(2), X[:180], gold[:180], (1, 2, 3)), gold[:180], atol=2e-6)


def test_the_classifier_of_scikit_learn(store):
    pandas = pytest.importorskip("pandas")
    X, gold = data(3)
    X = pandas.DataFrame(X, columns=list("abcdef"))
    X["kind"] = pandas.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    ids = [f"row {i}" for i in range(len(X))]
    weights = np.linspace(0.5, 2, len(X))
    make = lambda rounds, **more: xgboost.XGBClassifier(
        n_estimators=rounds, max_depth=3, subsample=0.6, random_state=1, n_jobs=1, enable_categorical=True, **more)
    record = portolan.xgboost.PortolanCallback(X, gold, ids, "run", labels=["cat", "dog", "owl"], store=store)
    watched = make(ROUNDS, callbacks=[record]).fit(X, gold, sample_weight=weights)
    alone = [make(rounds).fit(X, gold, sample_weight=weights) for rounds in range(1, ROUNDS + 1)]
    assert watched.get_booster().save_raw("json") == alone[-1].get_booster().save_raw("json")
    check_record(store, "run", [model.predict_proba(X) for model in alone], gold, ids, atol=2e-6)
    assert portolan.measures("run", store=store)["label"].tolist() == np.array(["cat", "dog", "owl"])[gold[np.argsort(ids)]].tolist()


@pytest.mark.parametrize("names, labels", [(True, ["0", "1", "2"]), (["red", "round", "ripe"], ["red", "round", "ripe"])])
def test_rows_with_several_labels(store, names, labels):
    X, gold = data(3)
    table = np.eye(3, dtype=int)[gold] | (X[:, 3:] > 1)
    given = {"objective": "binary:logistic", "max_depth": 2, "seed": 1}
    train_set = xgboost.DMatrix(X, table)
    with pytest.raises(ValueError, match=r"shape \(240, 3\).*multi-label.*per_label=True"):
        xgboost.train(given, train_set, 2, callbacks=[portolan.xgboost.PortolanCallback(train_set, run="run", store=store)])
    xgboost.train(given, train_set, 2, callbacks=[portolan.xgboost.PortolanCallback(train_set, run="run", per_label=names, store=store)])
    for epoch in range(2):
        p = xgboost.train(given, xgboost.DMatrix(X, table), epoch + 1).predict(xgboost.DMatrix(X))
        m = portolan.measures("run", store=store, epochs=(epoch, epoch + 1))
        wanted = {f"{row}#{labels[k]}": p[row, k] if table[row, k] else 1 - p[row, k] for row in range(len(X)) for k in range(3)}
        assert set(m["id"]) == set(wanted)
        np.testing.assert_allclose(m["confidence"], [wanted[one] for one in m["id"]], atol=2e-6)


def test_an_objective_of_ones_own(store):
    X, gold = data(2)
    train_set = xgboost.DMatrix(X, gold)

    def logistic(margins, matrix):
        p = expit(margins)
        return p - matrix.get_label(), p * (1 - p)

    with pytest.raises(ValueError, match="reg:squarederror is also what XGBoost calls a function of your own, and the labels are only 0 and 1: .*scores='logits'"):
        xgboost.train({}, train_set, 2, obj=logistic, callbacks=[portolan.xgboost.PortolanCallback(train_set, store=store)])
    signs = xgboost.DMatrix(X, 2 * gold - 1)
    with pytest.raises(ValueError, match="the labels are only -1 and 1: .*scores='logits' if they are classes .0 and 1."):
        xgboost.train({}, signs, 2, obj=logistic, callbacks=[portolan.xgboost.PortolanCallback(signs, store=store)])
    record = portolan.xgboost.PortolanCallback(train_set, run="run", scores="logits", store=store)
    booster = xgboost.train({"base_score": 0}, train_set, 3, obj=logistic, callbacks=[record])
    p = [expit(booster.predict(train_set, output_margin=True, iteration_range=(0, rounds))) for rounds in (1, 2, 3)]
    check_record(store, "run", [np.stack([1 - one, one], axis=1) for one in p], gold, atol=2e-6)


def test_reg_logistic_of_classes(store):
    """It is binary:logistic by another name: with two labels the caller says which is meant."""
    X, gold = data(2)
    train_set, given = xgboost.DMatrix(X, gold), parameters(2, objective="reg:logistic")
    callback = lambda **more: [portolan.xgboost.PortolanCallback(train_set, store=store, **more)]
    with pytest.raises(ValueError, match="reg:logistic is the loss of binary:logistic, and the labels are only 0 and 1: say scores='logits'.*task='regression'"):
        xgboost.train(given, train_set, 2, callbacks=callback())
    booster = xgboost.train(given, train_set, 3, callbacks=callback(run="classes", scores="logits"))
    xgboost.train(given, train_set, 3, callbacks=callback(run="numbers", task="regression"))
    p = [booster.predict(train_set, iteration_range=(0, rounds)) for rounds in (1, 2, 3)]
    check_record(store, "classes", [np.stack([1 - one, one], axis=1) for one in p], gold, atol=2e-6)
    check_numbers(store, "numbers", p, gold.astype(float))
    named = xgboost.train(parameters(2), train_set, 3, callbacks=callback(run="said", task="classification"))
    check_record(store, "said", [np.stack([1 - one, one], axis=1) for one in (named.predict(train_set, iteration_range=(0, k)) for k in (1, 2, 3))], gold, atol=2e-6)


def test_what_is_refused(store):
    X, gold = data(3)
    train_set = xgboost.DMatrix(X, gold)
    callback = lambda *arguments, **more: portolan.xgboost.PortolanCallback(*arguments, store=store, **more)
    ranked = xgboost.DMatrix(X, gold, group=[120, 120])
    with pytest.raises(ValueError, match="objective rank:ndcg gives no probability of a gold label, as binary:logistic.*predicts no number, as reg:squarederror"):
        xgboost.train({"objective": "rank:ndcg"}, ranked, 2, callbacks=[callback(ranked)])
    with pytest.raises(ValueError, match="task must be 'classification' or 'regression', not 'x'"):
        callback(train_set, task="x")
    with pytest.raises(ValueError, match="scores='logits' is what a classifier returns, and task='regression'"):
        callback(train_set, scores="logits", task="regression")
    for objective in ("reg:squarederror", "count:poisson", "rank:ndcg"):
        given = ranked if objective == "rank:ndcg" else train_set
        with pytest.raises(ValueError, match=f"objective {objective} gives no probability of a gold label, as [a-z:, ]+ do. Of .* say scores='logits', if its raw scores are those$"):
            xgboost.train({"objective": objective}, given, 2, callbacks=[callback(given, task="classification")])
    several = xgboost.DMatrix(X, X[:, :2])
    with pytest.raises(ValueError, match=r"the targets have the shape \(240, 2\).*run.log_loss"):
        xgboost.train({"objective": "reg:squarederror"}, several, 2, callbacks=[callback(several)])
    with pytest.raises(TypeError, match="xgboost.cv trains a model for each fold"):
        xgboost.cv(parameters(3), train_set, 2, callbacks=[callback(train_set)])
    with pytest.raises(TypeError, match="must be an xgboost.DMatrix with labels, not ndarray"):
        callback(X)
    with pytest.raises(ValueError, match="every must be a number of rounds, 1 or more, not 0"):
        callback(train_set, every=0)
    with pytest.raises(ValueError, match="scores must be 'logits'"):
        callback(train_set, scores="probs")
    with pytest.raises(ValueError, match="rows 0 and 239 have the same id"):
        callback(train_set, ids=np.arange(240) % 239)
    for wrong, says in ((callback(train_set, ids=[1, 2]), "2 ids and 240 rows"), (callback(X, gold[:9]), "240 rows and 9 labels"),
                        (callback(xgboost.DMatrix(X)), "has no labels: give y")):
        with pytest.raises(ValueError, match=says):
            xgboost.train(parameters(3), train_set, 2, callbacks=[wrong])


@pytest.mark.parametrize("objective", ["reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "count:poisson", "reg:gamma", "reg:logistic"])
def test_regression(store, objective):
    """What was recorded after each round is what a model that was trained for as many predicts."""
    X, y = regression_data()
    y = 1 / (1 + np.exp(-y)) if objective == "reg:logistic" else np.exp(y / 3) if objective in ("count:poisson", "reg:gamma") else y
    given = {"objective": objective, "max_depth": 3, "eta": 0.3, "seed": 3, "nthread": 1, "subsample": 0.6}
    train_set = matrix(X, y)
    booster = xgboost.train(given, train_set, ROUNDS, callbacks=[portolan.xgboost.PortolanCallback(train_set, run="run", every=2, store=store)])
    alone = [xgboost.train(given, matrix(X, y), count) for count in (2, 4, 6)]
    assert booster.save_raw("json") == alone[-1].save_raw("json"), "training went another way"
    check_numbers(store, "run", [model.predict(xgboost.DMatrix(X)) for model in alone], y)


def test_the_regressor_of_scikit_learn_and_a_function_of_ones_own(store):
    X, y = regression_data()
    ids = [f"row {i}" for i in range(len(X))]
    make = lambda rounds, **more: xgboost.XGBRegressor(n_estimators=rounds, max_depth=3, random_state=1, n_jobs=1, **more)
    make(3, callbacks=[portolan.xgboost.PortolanCallback(X, y, ids, "run", store=store)]).fit(X, y)
    check_numbers(store, "run", [make(rounds).fit(X, y).predict(X) for rounds in (1, 2, 3)], y, ids)
    squares = lambda predicted, matrix: (predicted - matrix.get_label(), np.ones(len(predicted)))
    two = (y > y.mean()).astype(float)
    for name, target, more in (("own", y, {}), ("two", two, {"task": "regression"})):
        train_set = xgboost.DMatrix(X, target)
        booster = xgboost.train({"base_score": 0}, train_set, 3, obj=squares, callbacks=[portolan.xgboost.PortolanCallback(train_set, run=name, store=store, **more)])
        check_numbers(store, name, [booster.predict(train_set, iteration_range=(0, rounds)) for rounds in (1, 2, 3)], target)


def test_the_record(store, opened_with, capfd):
    X, gold = data(2)
    train_set = matrix(X, gold)
    with portolan.Run("mine", store=store) as run:
        xgboost.train(parameters(2), train_set, 2, callbacks=[portolan.xgboost.PortolanCallback(train_set, run=run)])
        assert run.is_open and run.stats()["acknowledged"] == 480
    assert (opened_with["name"], opened_with["model"], opened_with["seed"], opened_with["examples"]) == ("xgboost", "gbtree", 3, 240)
    assert opened_with["versions"]["xgboost"] == xgboost.__version__ and opened_with["parameters"]["objective"] == "binary:logistic"
    assert float(opened_with["parameters"]["eta"]) == 0.5
    assert capfd.readouterr().err.count("run mine: 480 observations on disk") == 1
