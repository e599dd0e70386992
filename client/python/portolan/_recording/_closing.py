"""The line that is printed when a run is closed: how much was recorded, where, and the commands for its report and its map."""

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
        text = line(run, calls(run) if in_notebook else None)
    except Forked:
        return
    print(text, file=sys.stdout if in_notebook else sys.stderr, flush=True)


def line(run: Run, next_steps: str | None = None) -> str:
    """The number of observations and bytes, the store, and, if there are observations, how to see the report and the map."""
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
    return f"portolan: run {run.name}: {stats['logged']:,} observations {where} ({', '.join(notes)}); {next_steps or commands(run)}"


def commands(run: Run) -> str:
    where = "" if run.store is not None else ", on the collector's machine"
    return f"its report: {command(run, 'report', '-o', 'report.html')}; its map: {command(run, 'map', '--epochs', 'auto', '-o', 'map.png')}{where}"


def command(run: Run, name: str, *options: str) -> str:
    """`portolan NAME RUN ...`, which can be pasted unless the store is elsewhere."""
    if run.store is None:
        return shlex.join(["portolan", name, run.name, *options]) + " --store DIR"
    return shlex.join(["portolan", name, run.name, "--store", run.store, *options])


def calls(run: Run) -> str | None:
    """The Python calls that show the report and the map; None if this process cannot read the store."""
    if run.store is None:
        return None
    at = f"{run.name!r}, store={run.store!r}"
    return f"its report: portolan.report({at}); its map: portolan.map({at}, epochs='auto')"


def bytes_as_text(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
