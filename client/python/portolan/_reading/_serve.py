"""The live page from Python: the function serve()."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import subprocess
import tempfile
import urllib.parse
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Any, NoReturn

from portolan import _notebook, _programs
from portolan._portolan import Closed, Error
from portolan._reading import _measures, _words
from portolan._recording import _arrays, _options
from portolan._recording._run import Run

_PATIENCE = 10.0  # seconds that a server gets to end
_EXACT_IN_JSON = 2**53  # integers up to here are the same in JavaScript

# The pages that this process has opened and not closed, by the words that started their servers.
_open_pages: dict[tuple[str, ...], Page] = {}


def serve(
    run: str | Run,
    store: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    id_field: str | None = None,
    text: str | Sequence[str] | None = None,
    port: int | None = None,
    glue: bool = False,
    *,
    loss_threshold: float | None = None,
) -> Page:
    """Start ``portolan serve`` for a run, also one in progress. A notebook shows the result as the live page; elsewhere serve() prints
    the page's address.

    Args:
        run: the name of a run; or an open Run: its observations are flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        data: the file that the model was trained on (JSON lines, CSV or TSV). The page shows its texts beside the points. Default: the texts
            that the run keeps (run.log_examples()); ``"@none"`` shows none.
        id_field: the field of `data` that holds the ids.
        text: the field of `data`, or of the texts that the run keeps, that is shown as text, or several.
        port: the port to serve on. Default: 5780, or the next one that is free.
        glue: read `data` as ``--glue`` does: a file of SNLI, MNLI or QNLI, for logs made by the code of Swayamdipta et al. 2020.
        loss_threshold: of a run of losses; see measures().

    Returns:
        A Page. It is served until ``close()``, or until Python ends. A second call with the same arguments returns the same page.

    Example::

        page = portolan.serve("snli/seed1", data="train.jsonl", id_field="id", text=["premise", "hypothesis"])
        page                        # the last line of a notebook's cell: the page is shown; select something in it
        page.ids()                  # the ids of the selection, as a list
    """
    name, folder = _measures.locate(run, store)
    here = _notebook.is_here()
    words = ["--store", os.path.abspath(folder), *_data_options(data, id_field, text, glue), *_port_option(port), *_threshold_option(loss_threshold), *(["--any-host"] if here else []), "--", name]
    page = _open_pages.get(tuple(words))
    if page is None or not page.is_open:
        page = _open_pages[tuple(words)] = Page(name, words)
        if not here:
            print(page.url, flush=True)
    return page


def _data_options(data: str | os.PathLike[str] | None, id_field: str | None, text: str | Sequence[str] | None, glue: bool) -> list[str]:
    kept = data is None or (isinstance(data, str) and data in _words.KEPT_TEXTS)
    if (data is None and (id_field is not None or _options.flag("glue", glue))) or (id_field is None and not kept):
        raise ValueError("data and id_field go together, and glue with them: a file, and the field of it that holds the ids")
    texts = [_options.text("text", field) for field in ([text] if isinstance(text, str) else text or ()) if field]
    words = _words.Words()
    if data is not None or texts:
        words.add_data("data", _words.KEPT_TEXTS[0] if data is None else data, may_be_none=True)
    if id_field is not None:
        words += ["--id-field", _options.text("id_field", id_field)]
    if _options.flag("glue", glue):
        words.append("--glue")
    for field in texts:
        words += ["--text", field]
    return words


def _threshold_option(threshold: float | None) -> list[str]:
    return [] if threshold is None else ["--loss-threshold", repr(float(threshold))]


def _port_option(port: int | None) -> list[str]:
    if port is None:
        return []
    if not hasattr(port, "__index__"):
        raise TypeError(f"port must be an integer, not {port!r}")
    if not 0 < port.__index__() < 65536:
        raise ValueError(f"port must be from 1 to 65535, not {port!r}")
    return ["--port", str(port.__index__())]


class Page:
    """A run's live page, and the selection made there. Made by ``portolan.serve()``. As a context manager it closes the page at the end."""

    def __init__(self, run: str, words: list[str]) -> None:
        self._run = run
        self._words = tuple(words)
        self._process: subprocess.Popen[bytes] | None
        self._process, self._messages, address = _start(words)
        parts = urllib.parse.urlsplit(address)
        self._port = parts.port or 0
        self._token = urllib.parse.parse_qs(parts.query)["token"][0]
        self._url = f"{address}&linked=true"  # after "#run=": kept.js says what it means
        try:
            self._ask(f"api/runs/{urllib.parse.quote(run, safe='')}")
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The page's address. It holds a token: every user of this machine who knows the address can see the run."""
        return self._url

    @property
    def is_open(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def selection(self) -> dict[str, Any] | None:
        """The selection last made in the page, or by select(), in the form that ``portolan select --within FILE.json`` takes. Its epochs
        are those that the run has now. None: nothing is selected.

        Example: ``json.dump(page.selection(), open("selection.json", "w"))``"""
        kept = self._kept()
        return None if kept is None else self._select(kept, "selection")

    def ids(self) -> list[int] | list[str]:
        """The ids of the selected examples, ascending; [] if nothing is selected. For a run in progress the answer may be some
        seconds old."""
        kept = self._kept()
        return [] if kept is None else self._select(kept, "ids")["ids"]

    def select(self, *, ids: Any = None, selection: dict[str, Any] | None = None) -> int:
        """Select examples in the page, and return how many are selected. The page shows the selection within a second or two.

        Args:
            ids: (n,) integers or strings, as they were logged. Ids that the run does not have are left out; [] selects nothing.
            selection: instead of `ids`, a selection as selection() returns it.

        Example: ``page.select(ids=m["id"][m["confidence"] < 0.2])``
        """
        if (ids is None) == (selection is None):
            raise TypeError("give ids or selection, one of them")
        if selection is None:
            selection = {"filters": {"id": {"in": [_id_in_json(one) for one in _arrays.listed(_arrays.identifiers(ids))]}}}
        return self._select(selection, "keep")["count"]

    def close(self) -> None:
        """End the server. A second call does nothing."""
        process, self._process = self._process, None
        if _open_pages.get(self._words) is self:
            del _open_pages[self._words]
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._messages.close()

    def _kept(self) -> dict[str, Any] | None:
        kept = self._ask(f"api/selection?run={urllib.parse.quote(self._run, safe='')}")["selection"]
        return None if kept is None or kept.get("parts") == [] else kept

    def _select(self, selection: dict[str, Any], form: str) -> Any:
        path = f"api/runs/{urllib.parse.quote(self._run, safe='')}/select?as={form}"
        return self._ask(path, json.dumps(selection, allow_nan=False))

    def _ask(self, path: str, body: str | None = None) -> Any:
        if self._process is None:
            raise Closed(f"the page of {self._run} is closed")
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            connection.request("GET" if body is None else "POST", f"/{path}", body, {"Authorization": f"Bearer {self._token}"})
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._say_why_not(error)
        finally:
            connection.close()
        told = json.loads(content)
        if answer.status != http.client.OK:
            raise Error(told["error"])
        return told

    def _say_why_not(self, error: Exception) -> NoReturn:
        try:
            status = self._process.wait(1) if self._process else None
        except subprocess.TimeoutExpired:
            raise Error(f"the page of {self._run} does not answer: {error}") from None
        said = _messages_of(self._messages)
        raise Error(f"the server of {self._run} has ended: {said[-1] if said else f'status {status}'}; call portolan.serve() again") from None

    def _repr_html_(self) -> str:
        return _notebook.frame(self._run, self._url) if self.is_open else _notebook.closed(self._run)

    def __repr__(self) -> str:
        return f"<portolan.Page {self._run!r} {f'open, port {self._port}' if self.is_open else 'closed'}>"

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a portolan.Page cannot be copied or sent to another process")

    def _abandon(self) -> None:
        """Lets go of the server in a forked child, without ending it: it belongs to the parent."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.returncode = 0  # only the parent can wait for the server
        self._process = None


def _start(words: list[str]) -> tuple[subprocess.Popen[bytes], IO[bytes], str]:
    """The server's process, the file of its messages, and the address that it printed."""
    program = _programs.path_of("portolan")
    messages = tempfile.TemporaryFile()
    try:
        # The server gets its own process group: Ctrl-C, and a notebook's Interrupt, signal the whole group of Python's process.
        process = subprocess.Popen(
            [program, "serve", "--no-open", "--end-with-stdin", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages, bufsize=0, process_group=0)  # fmt: skip
    except OSError as error:
        messages.close()
        raise Error(f"cannot run {program}: {error.strerror}") from None
    assert process.stdin is not None and process.stdout is not None
    try:
        address = process.stdout.readline().decode().strip()
    except BaseException:  # Ctrl-C while the server reads a large file
        process.kill()
        process.communicate()
        raise
    process.stdout.close()
    said = _messages_of(messages)
    if not address:
        process.stdin.close()
        status = process.wait()
        said = _messages_of(messages)
        messages.close()
        raise Error(said[-1] if said else f"portolan serve ended with status {status}")
    for line in said:
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), stacklevel=4)
    return process, messages, address


def _messages_of(file: IO[bytes]) -> list[str]:
    """The lines that the server has written to stderr so far."""
    text = os.pread(file.fileno(), 1 << 16, 0).decode(errors="replace")  # not read(): it would move the offset at which the server writes
    return [line.removeprefix("portolan: ") for line in text.splitlines()]


def _id_in_json(one: int | str | bytes) -> int | str:
    """The id as JSON holds it. Integers that a number of JavaScript cannot hold exactly become texts."""
    if isinstance(one, bytes):
        return one.decode()
    return one if isinstance(one, str) or one < _EXACT_IN_JSON else str(one)


def _close_all() -> None:
    for page in list(_open_pages.values()):
        page.close()


def _abandon_all() -> None:
    for page in list(_open_pages.values()):
        page._abandon()
    _open_pages.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_abandon_all)
