"""JupyterLab with a notebook in it, opened in Chromium as its user sees it. Used by test_notebook_page.py."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import chromium as browsers
import nbformat
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By

PATIENCE = 60  # seconds; nothing takes this long unless something is wrong


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait(condition, what):
    """Until condition() is true, which it answers."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def listens(port, host="127.0.0.1"):
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5):
        return True
    return False


class Program:
    """A program that serves on a port, until the end of a `with` block. What it says is in a file."""

    def __init__(self, folder, port, words, **environment):
        own = {name: str(folder / name.lower()) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
        for path in own.values():
            os.makedirs(path, mode=0o700, exist_ok=True)
        self.port, self.said = port, folder / f"said-{port}.log"
        with open(self.said, "wb") as file:
            self.process = subprocess.Popen(words, cwd=folder, env=dict(os.environ, **own, **environment), stdout=file, stderr=file, process_group=0)

    def is_running(self):
        return self.process.poll() is None

    def __enter__(self):
        wait(lambda: listens(self.port) or not self.is_running(), f"port {self.port}")
        assert self.is_running(), self.said.read_text(errors="replace")
        return self

    def __exit__(self, *_reason):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def jupyterlab(folder, base_url="/", proxies=True):
    """JupyterLab over a folder, asked with the token "jupyter"; `proxies`: with jupyter-server-proxy."""
    port = free_port()
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
             "--ServerApp.ip=127.0.0.1", "--ServerApp.allow_remote_access=True", "--IdentityProvider.token=jupyter", f"--ServerApp.base_url={base_url}", f"--ServerApp.root_dir={folder}",
             "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if not proxies:
        words.append("--ServerApp.jpserver_extensions=jupyter_server_proxy=False")
    return Program(folder, port, words)


HUB = """\
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.Authenticator.allow_all = True
c.ConfigurableHTTPProxy.command = ["{bin}/configurable-http-proxy"]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}"
c.Spawner.cmd = ["{bin}/jupyterhub-singleuser", "--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.env_keep = ["PATH", "PYTHONPATH", "PORTOLAN", "PORTOLAND", "LANG"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {patience}
"""


def jupyterhub(folder):
    """JupyterHub, where everybody who gives a name may log in, and gets JupyterLab over the folder. Without TLS."""
    port = free_port()
    text = HUB.format(port=port, hub=free_port(), api=free_port(), bin=Path(sys.executable).parent, folder=folder, patience=PATIENCE)
    (folder / "hub.py").write_text(text, encoding="utf-8")
    return Program(folder, port, [Path(sys.executable).parent / "jupyterhub", "-f", "hub.py"])


class Forwarder:
    """What `ssh -L HOST:PORT:127.0.0.1:TO` is to a browser: every connection to the one is a connection to the other. Until the end of a `with` block."""

    def __init__(self, to, port=0, host="127.0.0.1"):
        self.to, self.listening = to, socket.create_server((host, port), backlog=64)
        self.port = self.listening.getsockname()[1]

    def accept(self):
        while True:
            try:
                one, _ = self.listening.accept()
            except OSError:
                return  # the end
            try:
                other = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                one.close()
                continue
            for pair in ((one, other), (other, one)):
                threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    @staticmethod
    def pass_on(one, other):
        with contextlib.suppress(OSError):
            while part := one.recv(1 << 16):
                other.sendall(part)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_reason):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


def write_notebook(path, *cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


class Lab(browsers.Page):
    """JupyterLab in a tab of its own, with a notebook open. Its cells are counted from 0."""

    def __init__(self, driver, address):
        super().__init__(driver, address)
        wait(lambda: self.run("return Boolean(window.jupyterapp)"), "JupyterLab")
        wait(lambda: self.run("return document.querySelectorAll('.jp-Notebook .jp-CodeCell').length"), "the notebook")
        wait(lambda: self.run("return [...jupyterapp.shell.widgets('main')][0]?.sessionContext?.kernelDisplayStatus") == "idle", "the kernel")

    def output(self, cell):
        """What a cell shows: its element; None while it runs."""
        found = self.here().find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell")[cell]
        number = found.find_element(By.CSS_SELECTOR, ".jp-InputPrompt").text
        return found.find_element(By.CSS_SELECTOR, ".jp-Cell-outputArea") if re.fullmatch(r"\[\d+\]:", number.strip()) else None

    def run_cell(self, cell):
        """Its output."""
        self.here().switch_to.default_content()
        self.run("[...jupyterapp.shell.widgets('main')][0].content.activeCellIndex = arguments[0]; jupyterapp.commands.execute('notebook:run-cell')", cell)
        return wait(lambda: self.output(cell), f"cell {cell}")

    def json(self, cell):
        """What the cell prints, as JSON."""
        return json.loads(self.run_cell(cell).text)

    def choose_theme(self, name):
        self.here().switch_to.default_content()
        self.run("jupyterapp.commands.execute('apputils:change-theme', { theme: arguments[0] })", name)
        wait(lambda: self.run("return document.body.dataset.jpThemeName") == name, f"the theme {name}")

    def enter_frame(self, output):
        """Goes into the frame that an output has: what is asked then is asked of the live page."""
        frame = wait(lambda: output.find_elements(By.CSS_SELECTOR, "iframe"), "the frame")[0]
        self.run("arguments[0].scrollIntoView({ block: 'center' })", frame)
        self.here().switch_to.frame(frame)
        return self

    def drag(self, corners, keys=()):
        """As Page.drag, in the frame: a position is told from the middle of the plot, as WebDriver counts those of a frame's window from elsewhere."""
        assert not keys
        plot, size = self.find("#map rect.capture"), self.plot()
        at = [(round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"])) for x, y in corners]
        actions = ActionBuilder(self.driver, duration=20)
        mouse = actions.pointer_action
        mouse.move_to(plot, *at[0])
        mouse.pointer_down()
        for (x0, y0), (x1, y1) in zip(at, at[1:]):
            for share in (0.5, 1):
                mouse.move_to(plot, round(x0 + share * (x1 - x0)), round(y0 + share * (y1 - y0)))
        mouse.pointer_up()
        actions.perform()
        actions.clear_actions()
