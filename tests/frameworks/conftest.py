import gc

import pytest

pytest_plugins = ["python_support"]


def pytest_configure(config):
    # What the analyzer remarks on runs so small, or on those whose first session was killed, is not what these tests are about.
    for message in ("still being recorded", "of the variance is", "not observed in all"):
        config.addinivalue_line("filterwarnings", f"ignore:.*{message}")
    config.addinivalue_line("filterwarnings", r"ignore:::(lightning|pytorch_lightning)\.")


@pytest.fixture(scope="session", autouse=True)
def forgotten_runs(stores):
    """Trainers that an exception ended are rings of references, and hold their runs open until they are collected; only then may their
    collectors be asked to have left."""
    yield
    gc.collect()
