"""A store, a running `portolan serve` over it, and what the commands say of it. A plugin for pytest: fixtures `folder`, `served` and `notebook`."""

import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse

import chromium as browsers
import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import serving as portolan_serve
import stores

PORTOLAN, MAKE_STORE = os.environ["PORTOLAN"], os.environ["MAKE_STORE"]
N = 3000
LABELS = ["entailment", "neutral", "contradiction"]
LONG = "long " * 20480  # 100 KB
TEXTS = {
    0: "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>",
    1: "left \u202eright to left\u202c and \u05e9\u05dc\u05d5\u05dd",
    2: "a family \U0001f468\u200d\U0001f469\u200d\U0001f467 and a flag \U0001f1eb\U0001f1ee",
    3: LONG,
    4: "&lt;b&gt; &amp; \"quotes\" </p></main>",
}


def observations(n, epochs, seed=5):
    """(gold_prob by epoch and example, gold by example): the examples differ, and the model learns."""
    random = np.random.default_rng(seed)
    level, gold = random.beta(1.2, 0.8, n), random.integers(0, 3, n)
    probabilities = [np.clip(level * (1 - np.exp(-(e + 1) / 2)) + random.normal(0, 0.1, n), 0.001, 0.999).astype("f4") for e in range(epochs)]
    return probabilities, gold


def batches(n, epochs):
    probabilities, gold = observations(n, epochs)
    return [stores.batch(e, np.arange(n), p, p > 0.5, gold) for e, p in enumerate(probabilities)]


class Served(portolan_serve.Server):
    """A running server over a store, and the addresses of its pages."""

    def __init__(self, portolan, store, *arguments):
        self.store = str(store)
        super().__init__(portolan, "--store", self.store, *arguments)

    def view(self, **state):
        """The address of a page that shows this state."""
        return self.address.split("#")[0] + "#" + urllib.parse.urlencode(
            {name: value if isinstance(value, str) else json.dumps(value) for name, value in state.items()})


@contextlib.contextmanager
def serving(store, *arguments):
    """A server for a test, which ends it. A page that is still open may ask it once more, and the console then says so: that is no error."""
    with portolan_serve.serving(PORTOLAN, store, *arguments, kind=Served) as served:
        origin = f"{served.url.scheme}://{served.url.netloc}/"
        browsers.ended.discard(origin)
        yield served
    browsers.ended.add(origin)


def metrics(store, run, *arguments):
    return portolan_serve.metrics(PORTOLAN, store, run, *arguments)


def select_within(store, run, path):
    """The ids that the command selects."""
    made = subprocess.run([PORTOLAN, "select", run, "--store", str(store), "--within", str(path)], capture_output=True, text=True, check=True)
    assert not made.stderr
    return [int(line) for line in made.stdout.split()]


def selected_by(selection, rows):
    """The ids that a selection means, computed from what `portolan metrics` prints."""
    ids = []
    for row in rows:
        chosen = False
        for part in selection["parts"]:
            if portolan_serve.is_inside(part["polygon"], row[selection["x"]], row[selection["y"]]):
                chosen = part["op"] == "add"
        if chosen:
            ids.append(row["id"])
    return ids


# A page with another one in a frame, whose theme it sets; its title says what it hears, and whether from there.
FRAME = """<!DOCTYPE html><link rel="icon" href="data:,"><title>heard:</title><script>
addEventListener("message", ({ data, source }) => (document.title += ` ${data}, ${source === frames[0]}`))</script>
<iframe src="ADDRESS" style="width: 900px; height: 600px; color-scheme: dark"></iframe>"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def served(folder):
    """A server over a store of two runs: "a/b" with labels and texts, "small"."""
    store, data = folder / "store", folder / "data.jsonl"
    stores.make_store(MAKE_STORE, str(store), [stores.run("small", batches(40, 1)), stores.run("a/b", batches(N, 4), declared=N, labels=LABELS)])
    with open(data, "w", encoding="utf-8") as file:
        for i in range(N):
            file.write(json.dumps({"id": i, "text": TEXTS.get(i, f"text number {i}"), "kind": f"k{i % 4}"}) + "\n")
    with serving(store, "--data", data, "--id-field", "id", "--text", "text", "a/b") as server:
        yield server


@pytest.fixture
def notebook():
    """notebook(text): the address of a page of another port, as a notebook is to the live page."""
    pages = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages[-1].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def address_of(text):
        pages.append(text)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield address_of
    server.shutdown()
    thread.join()
    server.server_close()
