"""The line that is printed when a run is closed: how much was recorded, where, and the command that draws its map."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from portolan import _notebook
from portolan._portolan import Forked

if TYPE_CHECKING:
    from portolan._recording._run import Run


def say_to_people(run: Run) -> None:
    """Prints the line on a terminal or in a notebook, not into files and pipes. A forked child prints nothing: the run is its parent's."""
    in_notebook = _notebook.is_here()
    if not in_notebook and (sys.stderr is None or not sys.stderr.isatty()):
        return
    try:
        if run.stats()["logged"] == 0:
            return
        text = line(run, map_call(run) if in_notebook else None)
    except Forked:
        return
    print(text, file=sys.stdout if in_notebook else sys.stderr, flush=True)


def line(run: Run, drawn_by: str | None = None) -> str:
    """The number of observations and bytes, the store, and, if there are observations, how to see the map."""
    stats = run.stats()
    if stats["logged"] == 0:
        refused = f": {stats['refused']:,} rows could not be used" if stats["refused"] else ""
        return f"portolan: run {run.name}: nothing was recorded{' by this process' if run.is_shared else ''}{refused}"
    notes = [f"{bytes_as_text(stats['bytes_sent'])} sent"]
    notes += [f"{stats[name]:,} {name}" for name in ("replaced", "refused", "dropped") if stats[name]]
    if run.is_shared:
        notes.insert(0, "by this process")
    where = "on disk" if stats["acknowledged"] >= stats["logged"] else f"logged, {stats['acknowledged']:,} of them on disk"
    if stats["acknowledged"] < stats["logged"] and stats["spooled"]:
        where += ", the others in a spool file"
    return f"portolan: run {run.name}: {stats['logged']:,} observations {where} ({', '.join(notes)}); its map: {drawn_by or map_command(run)}"


def map_command(run: Run) -> str:
    command = ["portolan", "map", run.name, "-o", "map.png"]
    if run.store is not None:
        command[3:3] = ["--store", run.store]
    return shlex.join(command) + ("" if run.store is not None else " --store DIR, on the collector's machine")


def map_call(run: Run) -> str | None:
    """The Python call that shows the map; None if this process cannot read the store."""
    return None if run.store is None else f"portolan.map({run.name!r}, store={run.store!r})"


def bytes_as_text(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
