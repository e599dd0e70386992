"""The tests of portolan.sklearn once more, against a current scikit-learn: the suite integration has Debian's."""

from python_sklearn import *  # noqa: F403
