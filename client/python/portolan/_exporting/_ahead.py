"""Reading ahead: a thread gets the next item while the caller works on the one before."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
_WAITING = 1  # in addition to the item in use, and the one being read


class Ahead(Generic[T]):
    """An iterator over `items`, which a thread of its own reads. A context manager: the thread has ended when it is left.

    Args:
        items: an iterator. Its exceptions are raised here, in their turn.
        stop: called when this is left before the end; it must end what `items` waits for.
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
