"""Optional packages: imported when they are used; the error for a missing one has the command that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(name: str, by: str) -> Any:
    """The package `name`; ModuleNotFoundError, with pip's command, if it is not there. `by`: the function that needs it, as users know it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the package is there, and a package that it needs is missing
            raise
    raise ModuleNotFoundError(f"{by} needs the package {name}: pip install {name}", name=name)
