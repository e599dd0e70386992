"""Shows the live page in a notebook's output cell.

The page's cookie belongs to its own site, and to a browser http://localhost:8888 and http://127.0.0.1:5780 are two sites. So the
frame uses the host name under which the notebook itself was opened; only a script in the cell knows it. If the notebook comes
from another machine, or is no web page, the cell has a link instead.
"""

from __future__ import annotations

import html
import json
import sys
import urllib.parse
import uuid

_CELL = """\
<div id="{cell}"><p><a href="{url}" target="_blank" rel="noopener noreferrer">The live page of {run}</a></p>
<p>Only the machine that Python runs on can open it. If your browser runs on another machine, first run
<code>ssh -L {port}:127.0.0.1:{port} THAT_MACHINE</code> there.</p></div>
<script>
(() => {{
  const host = window.location.hostname;
  const cell = document.getElementById({cell_text});
  if (!cell || (host !== "localhost" && host !== "127.0.0.1")) return;
  const address = new URL({url_text});
  address.hostname = host;
  const frame = document.createElement("iframe");
  frame.src = address.href;
  frame.title = {title_text};
  Object.assign(frame.style, {{ width: "100%", height: "720px", border: "0" }});
  cell.replaceChildren(frame);
}})();
</script>
"""


def is_here() -> bool:
    """Does this process answer the cells of a notebook?"""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def frame(run: str, url: str) -> str:
    """The cell's HTML. Each cell gets another id: the same page may be shown in several cells."""
    cell = f"portolan-{uuid.uuid4().hex}"
    return _CELL.format(
        cell=cell,
        cell_text=_in_script(cell),
        url=html.escape(url),
        url_text=_in_script(url),
        run=html.escape(run),
        title_text=_in_script(f"The live page of {run}"),
        port=urllib.parse.urlsplit(url).port,
    )


def closed(run: str) -> str:
    return f"<p>The live page of {html.escape(run)} was closed.</p>"


def _in_script(text: str) -> str:
    """A JavaScript string in which no text can end the script."""
    return json.dumps(text).replace("<", "\\u003c")
