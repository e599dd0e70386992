"""A running `portolan serve`, asked as a program asks it, and what the commands say of its store. No state."""

import contextlib
import fractions
import http.client
import json
import signal
import subprocess
import tempfile
import urllib.parse

PATIENCE = 120  # seconds; who waits longer waits for what will not come


class Server:
    """`portolan serve ARGUMENTS`: its address, and questions to it. `errors()` is what it wrote on stderr so far."""

    def __init__(self, portolan, *arguments, host="127.0.0.1", stdin=None):
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # not a pipe: nobody reads it meanwhile
        self.process = subprocess.Popen([portolan, "serve", "--no-open", *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=self.said, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError(f"serve did not start: status {self.process.wait(PATIENCE)}, {self.errors()}")
        self.url = urllib.parse.urlsplit(self.address)
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]
        self.host = host

    def connection(self):
        return http.client.HTTPConnection(self.host, self.url.port, timeout=PATIENCE)

    def request(self, path, body=None, method=None, token=True, **headers):
        """(the answer's head, its content); `token`: True is the server's own, None is none."""
        connection = self.connection()
        if token:
            headers["Authorization"] = "Bearer " + (token if isinstance(token, str) else self.token)
        connection.request(method or ("POST" if body is not None else "GET"), path, body,
                           {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def ask(self, path, body=None, status=200):
        answer, content = self.request(path, body)
        assert answer.status == status, f"{path}: status {answer.status}, not {status}: {content[:300]}"
        return content

    def json(self, path, body=None, status=200):
        return json.loads(self.ask(path, body, status))

    def ids(self, run, selection):
        return self.json(f"/api/runs/{run}/select", json.dumps(selection))["ids"]

    def errors(self):
        self.said.seek(0)
        return self.said.read()

    def end(self, number=signal.SIGINT):
        """Its status."""
        self.process.send_signal(number)
        self.process.stdout.close()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def serving(portolan, *arguments, kind=Server, **options):
    """A server, of a class derived from Server where `kind` says so. Ctrl-C must end it, and nothing but itself speak on its stderr: no sanitizer."""
    server = kind(portolan, *arguments, **options)
    try:
        yield server
    finally:
        status, said = server.end(), server.errors()
        assert status == 0 and all(line.startswith("portolan: ") for line in said.splitlines()), f"Ctrl-C ends it with status {status}: {said}"


def metrics(portolan, store, run, *arguments):
    """What `portolan metrics` says, by example."""
    text = subprocess.run([portolan, "metrics", run, "--store", str(store), "--format", "jsonl", *arguments], capture_output=True,
                          text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


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
