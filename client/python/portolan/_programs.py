"""Finds and runs the programs that come with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from portolan._portolan import Error

_PACKAGE = Path(__file__).resolve().parent

# Where each program lies in a build tree, seen from BUILD/python/portolan.
_BUILT = {"portoland": "collector/portoland", "portolan": "analyzer/portolan"}


def find(name: str) -> str | None:
    """The path of `name`, or None: $PORTOLAND or $PORTOLAN, the package's own copy, the build tree, then $PATH."""
    given = os.environ.get(name.upper())
    if given:
        return given
    for path in (_PACKAGE / "bin" / name, _PACKAGE.parent.parent / _BUILT[name]):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return shutil.which(name)


def path_of(name: str) -> str:
    """The path of `name`; Error if it was not found."""
    path = find(name)
    if path is None:
        raise Error(f"the program {name} was not found: build it, or set ${name.upper()} to its path")
    return path


def analyze(
    *words: str,
    warn: bool = True,
    notes: bool = True,
    despite: bool = False,
    environment: dict[str, str] | None = None,
    said: Callable[[str], str] | None = None,
) -> bytes:
    """The output of ``portolan WORDS``. With `warn` its warnings become Python's, at the line that called the package's function; with `notes`
    its other lines, too. With `despite` a failure becomes a warning too, if the program has printed something. `environment`: the program's
    variables. Default: this process's. `said`: turns a line that the program printed into a message. Default: bare()."""
    said = said or bare
    program = path_of("portolan")
    try:
        done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environment)
    except OSError as error:
        raise Error(f"cannot run {program}: {error.strerror}") from None
    messages = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0 and not (despite and done.stdout):
        raise Error(said(messages.splitlines()[-1]) if messages else f"portolan {words[0]} ended with status {done.returncode}")
    for line in messages.splitlines() if warn else ():
        if notes or line.startswith("portolan: warning: "):
            warn_caller(said(line))
    return done.stdout


def bare(line: str) -> str:
    """A line of the program, without the prefix that names the program."""
    return line.removeprefix("portolan: ").removeprefix("warning: ")


def warn_caller(text: str) -> None:
    """A Python warning, of the line that called the package's function."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _PACKAGE in Path(frame.f_code.co_filename).parents:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def portolan() -> None:
    """The command ``portolan`` of an installed package."""
    _become("portolan")


def portoland() -> None:
    """The command ``portoland`` of an installed package."""
    _become("portoland")


def _become(name: str) -> None:
    # The command on $PATH may be this very one, which pip made, so only the package's own copy is started.
    path = _PACKAGE / "bin" / name
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: cannot run {path}: {error.strerror}")


def default_store() -> str:
    """The default store, the same as that of the programs."""
    return os.environ.get("PORTOLAN_STORE") or "./portolan-store"
