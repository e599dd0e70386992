"""Reads the description of a picture from a map's gnuplot script: its variables, and the data that they name.

The script is the program's own: one variable a line, arrays item by item, blocks of lines between ``$NAME << EOD`` and ``EOD``. The drawing
commands below them are not read."""

from __future__ import annotations

import re
from typing import Any

_DRAWING = "\n# The map itself.\n"  # the drawing commands begin here
_VALUE = r"('[^'\n]*'|[^\s;']+)"
_VARIABLE = re.compile(rf"(\w+) = {_VALUE}$")
_ITEM = re.compile(rf"(\w+)\[(\d+)\] = {_VALUE}(?:; |;?$)")


class Sheet:
    """The variables by name, ``sheet["width"]``; arrays are lists, from 0 on; blocks are lists of lists of rows of numbers."""

    def __init__(self, script: str) -> None:
        self._values: dict[str, Any] = {}
        lines = iter(script.partition(_DRAWING)[0].split("\n"))
        for line in lines:
            if line.endswith(" << EOD"):
                self._values[line.removesuffix(" << EOD")] = _block(lines)
            elif variable := _VARIABLE.match(line):
                self._values[variable[1]] = _value(variable[2])
            else:
                self._items(line)

    def _items(self, line: str) -> None:
        at = 0
        while item := _ITEM.match(line, at):  # match() at the end of the last item, not search(): a text may look like an item
            self._values.setdefault(item[1], {})[int(item[2])] = _value(item[3])
            at = item.end()

    def get(self, name: str, default: Any) -> Any:
        """A variable that the script sets only where it differs from `default`."""
        return self[name] if name in self._values else default

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        return [value[number] for number in sorted(value)] if isinstance(value, dict) else value


def _value(text: str) -> str | float:
    if text.startswith("'"):
        return text[1:-1]
    try:
        return float(int(text, 0))  # a colour: 0x5f7fe8
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text  # an expression


def _block(lines: Any) -> list[list[list[float]]]:
    rows: list[list[list[float]]] = [[]]
    for line in lines:
        if line == "EOD":
            break
        if line:
            rows[-1].append([float(number) for number in line.split()])
        elif rows[-1]:
            rows.append([])
    return rows
