"""Shows a table's first rows: as aligned text, or as HTML in a notebook."""

from __future__ import annotations

import html
import math
import shutil
from collections.abc import Sequence
from typing import Any

from portolan._reading import _columns

ROWS = 10  # shown


def as_text(title: str, head: Any, rows: int) -> str:
    """The table as text. `head`: a structured array with the first rows of `rows`. Columns that do not fit into the line are named below."""
    columns = _cells(head)
    widths = [max(map(len, [name, *cells])) for name, cells in columns]
    room, shown = min(shutil.get_terminal_size((100, 24)).columns, 140), 0
    while shown < len(columns) and sum(widths[: shown + 1]) + 2 * shown <= room:
        shown += 1
    shown = max(1, shown)
    lines = [title] + [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths[:shown])).rstrip()
        for line in ([name for name, _ in columns[:shown]], *zip(*(cells for _, cells in columns[:shown])))
    ]
    if rows > len(head):
        lines.append(f"... {rows - len(head):,} more rows")
    if shown < len(columns):
        lines.append(f"... and the columns {', '.join(name for name, _ in columns[shown:])}")
    return "\n".join(lines)


def as_html(title: str, head: Any, rows: int) -> str:
    columns = _cells(head)
    names = "".join(f'<th scope="col">{html.escape(name)}</th>' for name, _ in columns)
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>\n" for line in zip(*(cells for _, cells in columns)))
    more = f"<p>{rows - len(head):,} more rows</p>" if rows > len(head) else ""
    # The caption is what a screen reader says of the table.
    return f"<div><table><caption>{html.escape(title)}</caption>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{lines}</tbody></table>{more}</div>"


def _cells(head: Any) -> list[tuple[str, list[str]]]:
    return [(column.name, _texts(column)) for column in _columns.columns_of(head)]


def _texts(column: _columns.Column) -> list[str]:
    absent: Sequence[bool] = column.absent.tolist() if column.absent is not None else [False] * len(column.values)
    return ["-" if missing else _text(value) for value, missing in zip(column.values.tolist(), absent)]


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"
