pytest_plugins = ["python_support"]


def pytest_configure(config):
    # What the analyzer remarks on runs so small, or on those whose first session was killed, is not what these tests are about.
    for message in ("still being recorded", "of the variance is", "not observed in all"):
        config.addinivalue_line("filterwarnings", f"ignore:.*{message}")
    config.addinivalue_line("filterwarnings", r"ignore:::(lightning|pytorch_lightning)\.")
