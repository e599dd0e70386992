"""A store, a running `portolan serve` over it, and what the commands say of it. A plugin for pytest: fixtures `folder` and `served`."""

import contextlib
import fractions
import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.parse

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import stores  # noqa: E402

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


class Served:
    """A running server: its address, and questions to it as a program asks them."""

    def __init__(self, store, *arguments):
        self.store = str(store)
        self.process = subprocess.Popen([PORTOLAN, "serve", "--no-open", "--store", self.store, *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError("serve did not start: " + self.process.stderr.read())
        url = urllib.parse.urlsplit(self.address)
        self.port, self.token = url.port, urllib.parse.parse_qs(url.query)["token"][0]

    def view(self, **state):
        """The address of a page that shows this state."""
        return self.address.split("#")[0] + "#" + urllib.parse.urlencode(
            {name: value if isinstance(value, str) else json.dumps(value) for name, value in state.items()})

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET" if body is None else "POST", path, body, {"Authorization": "Bearer " + self.token})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status == 200, content[:300]
        return content

    def ids(self, run, selection):
        return json.loads(self.ask(f"/api/runs/{run}/select", json.dumps(selection)))["ids"]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, errors


@contextlib.contextmanager
def serving(store, *arguments):
    server = Served(store, *arguments)
    try:
        yield server
    finally:
        server.end()


def metrics(store, run, *arguments):
    text = subprocess.run([PORTOLAN, "metrics", run, "--store", str(store), "--format", "jsonl", *arguments], capture_output=True,
                          text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def select_within(store, run, path):
    """The ids that the command selects."""
    made = subprocess.run([PORTOLAN, "select", run, "--store", str(store), "--within", str(path)], capture_output=True, text=True, check=True)
    assert not made.stderr
    return [int(line) for line in made.stdout.split()]


def is_inside(polygon, x, y):
    """Even-odd in exact arithmetic; edges are inside."""
    x, y = fractions.Fraction(x), fractions.Fraction(y)
    points = [(fractions.Fraction(a), fractions.Fraction(b)) for a, b in polygon]
    crossings = 0
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        side = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
        if side == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by):
            return True
        crossings += (ay > y) != (by > y) and (side > 0) == (by > ay)
    return crossings % 2 == 1


def selected_by(selection, rows):
    """The ids that a selection means, computed from what `portolan metrics` prints."""
    ids = []
    for row in rows:
        chosen = False
        for part in selection["parts"]:
            if is_inside(part["polygon"], row[selection["x"]], row[selection["y"]]):
                chosen = part["op"] == "add"
        if chosen:
            ids.append(row["id"])
    return ids


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
