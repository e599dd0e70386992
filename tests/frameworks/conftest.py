pytest_plugins = ["python_support"]
