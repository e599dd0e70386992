"""Reads ahead: a thread gets the next item while the caller works on the one before."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_WAITING = 1  # items in the queue, beside the item that the caller uses and the one that the thread reads


class Ahead(Generic[T]):
    """A context manager that gives an iterator over `items`. A thread reads `items`; it has ended when the caller leaves the context.

    Args:
        items: an iterator. An exception that it raises is raised again in the caller, after the items before it.
        stop: is called when the caller leaves the context with an exception; it must end whatever `items` waits for.
    """

    def __init__(self, items: Iterator[T], stop: Callable[[], None]) -> None:
        self._items, self._stop = items, stop
        self._queue: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(_WAITING)
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
