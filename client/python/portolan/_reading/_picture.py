"""Runs ``portolan map``, which draws with gnuplot, or, without it, with matplotlib in its place."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from portolan import _programs
from portolan._portolan import Error

_BY_MATPLOTLIB = (".png", ".svg", ".pdf")  # not .gif; .html needs neither


def draw(path: str, *words: str, warn: bool = True) -> None:
    """``portolan map WORDS -o PATH``; the run is the last word."""
    with _painter(path) as environment:
        try:
            _programs.analyze("map", "-o", path, *words, warn=warn, environment=environment)
        except Error as error:
            if str(error).startswith("gnuplot not found"):
                by_matplotlib = "; or pip install matplotlib, which draws .png, .svg and .pdf in its place" if environment is None else ""
                raise Error(f"{error}{by_matplotlib}; .html needs neither") from None
            raise


@contextmanager
def _painter(path: str) -> Iterator[dict[str, str] | None]:
    """The environment in which the program finds gnuplot or its substitute; None: this process's own."""
    if shutil.which("gnuplot") is not None or not path.lower().endswith(_BY_MATPLOTLIB) or find_spec("matplotlib") is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="portolan-painter-") as folder:
        painter = os.path.join(folder, "gnuplot")
        with open(painter, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m portolan._reading._paint "$@"\n')
        os.chmod(painter, 0o700)
        yield {
            **os.environ,
            "PATH": os.pathsep.join([folder, os.environ.get("PATH") or os.defpath]),
            "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),  # the folders in which this process found the packages
        }
