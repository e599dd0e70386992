"""Shows the live page in a notebook's output cell.

Only a script in the cell knows under which address the notebook itself was opened. It shows the page in a frame:

1. through the notebook's own server, if that forwards to ports of its machine (jupyter-server-proxy). The script asks for the page
   there first: Portolan alone answers the address with the token by leading to the address without it.
2. else, if the notebook was opened at localhost or 127.0.0.1, at the page's port under the same name. To a browser,
   http://localhost:8888 and http://127.0.0.1:5780 are two sites, and the page's cookie belongs to its own.
3. else not: the cell has a link, and advice.

The page in the frame tells the notebook that it is there (framed.js). If it has not by the time that the frame is loaded, link and
advice stand in the frame's place. The frame's color-scheme is the theme of JupyterLab, and the page follows it.
"""

from __future__ import annotations

import html
import json
import sys
import urllib.parse
import uuid

_CELL = """\
<div id="{cell}">
<style>
body[data-jp-theme-light="true"] #{cell} iframe {{ color-scheme: light; }}
body[data-jp-theme-light="false"] #{cell} iframe {{ color-scheme: dark; }}
</style>
<div><p><a href="{url}" target="_blank" rel="noopener noreferrer">The live page of {run}</a></p>
<p>Only the machine that Python runs on can open it. If your browser runs on another machine, first run
<code>ssh -L {port}:127.0.0.1:{port} THAT_MACHINE</code> there; or install jupyter-server-proxy where the notebook's server is
installed, start that server again, and run this cell again.</p></div>
</div>
<script>
(async () => {{
  const cell = document.getElementById({cell_text});
  if (!cell) return;
  const direct = new URL({url_text});
  const advice = cell.lastElementChild;
  const proxied = async () => {{
    try {{
      const config = document.getElementById("jupyter-config-data");
      const base = config ? JSON.parse(config.textContent).baseUrl : document.body.dataset.baseUrl;
      const address = new URL(`proxy/${{direct.port}}/`, new URL(base, window.location.href));
      if (!base || address.origin !== window.location.origin) return null;
      const answer = await fetch(address.href + direct.search);
      if (!answer.ok || answer.url !== address.href) return null;
      advice.querySelector("a").href = address.href + direct.search + direct.hash;
      return address.href + direct.hash;
    }} catch {{
      return null;
    }}
  }};
  const atThisName = () => {{
    const {{ hostname }} = window.location;
    if (hostname !== "localhost" && hostname !== "127.0.0.1") return null;
    const address = new URL(direct);
    address.hostname = hostname;
    return address.href;
  }};
  advice.hidden = true;
  const address = (await proxied()) ?? atThisName();
  if (!address) {{
    advice.hidden = false;
    return;
  }}
  const frame = document.createElement("iframe");
  let isThere = false;
  const show = () => {{
    frame.style.display = isThere ? "block" : "none";
    advice.hidden = isThere;
  }};
  window.addEventListener("message", ({{ source, data }}) => {{
    if (source !== frame.contentWindow || data !== "portolan is here") return;
    isThere = true;
    show();
  }});
  frame.addEventListener("load", show);
  frame.src = address;
  frame.title = {title_text};
  frame.allow = "clipboard-write";
  Object.assign(frame.style, {{ width: "100%", height: "600px", border: "0" }});
  advice.before(frame);
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
