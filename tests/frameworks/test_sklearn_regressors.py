"""The tests of portolan.sklearn with regressors once more, against a current scikit-learn: the suite integration has Debian's."""

from python_regressors import *  # noqa: F403
