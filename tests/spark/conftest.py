pytest_plugins = ["cluster", "datasets"]
