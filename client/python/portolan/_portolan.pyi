from collections.abc import Sequence
from typing import Any, SupportsIndex

version: str

def is_ready(object: object, /) -> bool: ...

class Error(RuntimeError): ...
class NoCollector(Error): ...
class Refused(Error): ...
class TimedOut(Error): ...
class Forked(Error): ...
class Closed(Error): ...
class RowsRefused(Error, ValueError): ...

class Handle:
    def open(
        self,
        name: str,
        store: bytes,
        endpoint: str,
        keys: bytes,
        mode: int,
        examples: int,
        labels: list[str],
        config: str,
        group: str,
        rank: int,
        resume: bool,
        overwrite: bool,
        strict: bool,
        when_full: int,
        ring_bytes: int,
        open_timeout_ms: int,
        collector_program: bytes,
        spool: bytes,
        spool_bytes: int,
        /,
    ) -> bool: ...
    def log(
        self,
        epoch: SupportsIndex,
        kind: int,
        scores_name: str,
        ids: object | Sequence[str] | Sequence[bytes],
        scores: object,
        gold: object | None,
        correct: object | None,
        converted: bool,
        columns: dict[str, object] = ...,
        /,
    ) -> Any: ...  # NotImplemented, or tuple[tuple[int, int] | None, int | None] | None
    def log_examples(self, ids: object | Sequence[str] | Sequence[bytes], fields: dict[str, list[str]], /) -> None: ...
    def end_epoch(self, epoch: SupportsIndex, /) -> None: ...
    def flush(self, timeout_ms: int, /) -> bool | None: ...
    def finish(self, timeout_ms: int, /) -> bool | None: ...
    def is_offline(self) -> bool: ...
    def close(self, timeout_ms: int, /) -> None: ...
    def stats(self) -> dict[str, int]: ...
    def abandon(self) -> None: ...
