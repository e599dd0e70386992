"""Shows a line of progress on a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_PAUSE = 0.2  # seconds between two lines


class Progress:
    """A context manager; shows nothing if stderr is no terminal.

    Args:
        what: the activity that the line names.
        total: how many units the activity has.
        unit: the unit that is counted, as a word.
    """

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._done, self._next = 0, 0.0
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def add(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _PAUSE
            share = min(1.0, self._done / max(1, self._total))
            self._print(f"{self._what}: {share:.0%} ({self._done:,} of {self._total:,} {self._unit})")

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown and self._next:
            self._print("")

    def _print(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
