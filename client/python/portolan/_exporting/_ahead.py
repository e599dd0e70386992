"""Reading ahead: what comes next is got while what came before is worked on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
_WAITING = 1  # beside the one that is worked on, and the one that is being got


class Ahead(Generic[T]):
    """An iterator over what `items` gives, which a thread of its own asks for. A context manager: on leaving it the thread has ended.

    Args:
        items: an iterator. What it raises is raised here, in its turn.
        stop: called when this is left before the end: whatever `items` waits for ends then.
    """

    def __init__(self, items: Iterator[T], stop: Callable[[], None]) -> None:
        self._items, self._stop = items, stop
        self._queue: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(_WAITING)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._get, name="portolan-ahead", daemon=True)

    def __enter__(self) -> Iterator[T]:
        self._thread.start()
        return self._taken()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._left.set()
        if kind is not None:
            self._stop()
        while self._thread.is_alive():
            try:
                self._queue.get(timeout=0.05)
            except queue.Empty:
                pass
        self._thread.join()

    def _get(self) -> None:
        try:
            for item in self._items:
                self._queue.put((item, None))
                if self._left.is_set():
                    return
            self._queue.put((None, StopIteration()))
        except BaseException as error:
            self._queue.put((None, error))

    def _taken(self) -> Iterator[T]:
        while True:
            item, error = self._queue.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item
