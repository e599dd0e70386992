"""portolan.sklearn.track() with CatBoost, whose models have stages as scikit-learn's own boosting has."""

import numpy as np
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor

import portolan.sklearn
from python_regressors import check_numbers
from python_regressors import data as regression_data
from python_sklearn import check_record, data


def make(rounds, **more):
    return CatBoostClassifier(iterations=rounds, depth=3, random_seed=1, thread_count=1, verbose=False, allow_writing_files=False, **more)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("epochs, stages", [(None, range(7)), (3, (2, 4, 6))])
def test_stages(store, classes, epochs, stages):
    X, gold = data(classes)
    weights, ids = np.linspace(0.5, 2, len(X)), [f"row {i}" for i in range(len(X))]
    tracked = portolan.sklearn.track(make(7), X, gold, "run", epochs, ids=ids, sample_weight=weights, store=store)
    alone = make(7).fit(X, gold, sample_weight=weights)
    np.testing.assert_array_equal(tracked.predict_proba(X), alone.predict_proba(X))
    check_record(store, "run", [alone.predict(X, prediction_type="Probability", ntree_end=stage + 1) for stage in stages], gold, ids)


def make_regressor(loss):
    return CatBoostRegressor(iterations=7, depth=3, random_seed=1, thread_count=1, verbose=False, allow_writing_files=False, loss_function=loss)


@pytest.mark.parametrize("loss", ["RMSE", "Poisson", "Tweedie:variance_power=1.5"])
def test_a_regressor(store, loss):
    """What predict() says by the first trees: of Poisson and Tweedie the number, whose logarithm the trees give."""
    X, y = regression_data()
    y = y if loss == "RMSE" else np.exp(y / 3)
    make_one = lambda: make_regressor(loss)
    portolan.sklearn.track(make_one(), X, y, "run", 3, store=store)
    alone = make_one().fit(X, y)
    check_numbers(store, "run", [alone.predict(X, ntree_end=stage + 1) for stage in (2, 4, 6)], y)


def test_a_regressor_that_says_two_numbers(store):
    X, y = regression_data()
    for call in (portolan.sklearn.track, portolan.sklearn.cross_val_track):
        with pytest.raises(ValueError, match=r"CatBoostRegressor predicts numbers of the shape \(\d+, 2\): of a regression one number.*RMSEWithUncertainty.*run.log_loss"):
            call(make_regressor("RMSEWithUncertainty"), X, y, "run", store=store, if_exists="overwrite")
