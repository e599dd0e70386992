"""Checks a run's options and brings them into the form the extension takes; every error names the argument."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

# What to do with a run that exists.
IF_EXISTS = ("error", "overwrite", "resume", "number")
# For hooks that cannot tell fits apart: each fit takes the first of NAME/fold0, NAME/fold1, ... that does not exist.
FOLD = "fold"


def flag(argument: str, value: bool) -> bool:
    """Accepts only booleans: any text would count as true, even "no"."""
    if not isinstance(value, bool) and not (hasattr(value, "__index__") and value.__index__() in (0, 1)):
        raise TypeError(f"{argument} must be True or False, not {value!r}")
    return bool(value)


def choice(argument: str, value: str, choices: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{argument} must be {' or '.join(repr(choice) for choice in choices)}, not {value!r}")
    return choices[value]


def if_exists(value: str | None, resume: bool, overwrite: bool) -> str:
    """One of IF_EXISTS, or FOLD. `resume` and `overwrite` are the same as the choices of these names, and must not contradict if_exists."""
    said = [name for name, given in (("resume", flag("resume", resume)), ("overwrite", flag("overwrite", overwrite))) if given]
    if value is None:
        if len(said) > 1:
            raise ValueError("give resume or overwrite, and not both")
        return said[0] if said else "error"
    if not isinstance(value, str) or value not in (*IF_EXISTS, FOLD):
        raise ValueError(f"if_exists must be {' or '.join(map(repr, IF_EXISTS))}, not {value!r}")
    if said and said != [value]:
        raise ValueError(f"if_exists={value!r} and {said[0]}=True do not go together: leave one of them out")
    return value


def text(argument: str, value: str | None) -> str:
    """"" if it was not given."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a string, not {value!r}")
    return _encodable(argument, value)


def name(value: str | None) -> str:
    if value is None:
        raise TypeError("name must be a string, not None: give the run's name, or set $PORTOLAN_RUN")
    return text("name", value)


def endpoint(value: str | None) -> str:
    if value == "":
        raise ValueError("endpoint is empty: give tcp://HOST:PORT or ipc://PATH")
    return text("endpoint", value)


def _encodable(argument: str, value: str) -> str:
    if "\0" in value:
        raise ValueError(f"{argument} holds a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument} is not valid Unicode: {value!r:.100}") from None
    return value


def count(argument: str, value: int | None) -> int:
    if value is None:
        return 0
    if not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be an integer, not {value!r}")
    if not 0 < value.__index__() < 2**63:
        raise ValueError(f"{argument} must be above 0 and fit 63 bits, not {value!r}")
    return value.__index__()


def directory(argument: str, value: str | os.PathLike[str] | None) -> bytes:
    """b"" if it was not given."""
    return b"" if value is None else path(argument, value, "a directory")


def path(argument: str, value: str | bytes | os.PathLike[Any], what: str) -> bytes:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be a path, not {value!r}")
    path = os.fsencode(value)
    if not path:
        raise ValueError(f"{argument} is empty: give {what}")
    if b"\0" in path:
        raise ValueError(f"{argument} holds a NUL character")
    return path


def labels(labels: Sequence[str] | None) -> list[str]:
    if labels is None:
        return []
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels must be a list of class names, not {labels!r}")
    names = list(labels)
    for i, label in enumerate(names):
        if not isinstance(label, str):
            raise TypeError(f"labels[{i}] must be a string, not {label!r}")
        _encodable(f"labels[{i}]", label)
    return names


def config(config: Mapping[str, Any] | None) -> str:
    if config is None:
        return ""
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a dict, not {type(config).__name__}")
    try:
        encoded = json.dumps(dict(config), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"config: {error}") from None
    return _encodable("config", encoded)


def rank(rank: int | None, group: str | None) -> int:
    argument = "rank"
    if rank is None:
        if group is None:
            return 0
        argument, text = "$RANK", os.environ.get("RANK", "0")
        if not text.isdecimal():
            raise ValueError(f"$RANK must be a number, not {text!r}; or give rank=")
        rank = int(text)
    if not hasattr(rank, "__index__"):
        raise TypeError(f"{argument} must be an integer, not {rank!r}")
    if not 0 <= rank.__index__() < 2**32:
        raise ValueError(f"{argument} must be from 0 to 4294967295, not {rank!r}")
    return rank.__index__()


def seconds(argument: str, value: float) -> float:
    if not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise TypeError(f"{argument} must be a number of seconds, not {value!r}")
    if not value >= 0:
        raise ValueError(f"{argument} must be a number of seconds, 0 or more, not {value!r}")
    return value


def milliseconds(argument: str, value: float) -> int:
    """At most what a C int holds: 24 days."""
    return math.ceil(min(seconds(argument, value) * 1000, 2**31 - 1))
