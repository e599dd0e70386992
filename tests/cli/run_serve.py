"""portolan serve as strangers ask it: who may ask, by which address, how it ends, and what it survives.

    run_serve.py PORTOLAN MAKE_STORE
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
from checks import check, finish


def test_who_may_ask(server):
    for path in ("/", "/api/runs", "/page/main.js", "/metrics", "/nothing"):
        for token in (None, "0" * 64, server.token[:-1], server.token + "0", ""):
            answer, content = server.request(path, token=token)
            check(answer.status == 401 and server.token.encode() not in content, f"{path} with token {token}: {answer.status}")
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil", "[::1", ""):
        check(server.request("/api/runs", Host=host)[0].status == 403, f"Host {host}")
        check(server.request("/?token=" + server.token, token=None, Host=host)[0].status == 403, f"Host {host}, with the token in the address")
    for host in ("localhost", "LOCALHOST:99", "127.0.0.1:1234", "[::1]:5780"):
        check(server.request("/api/runs", Host=host)[0].status == 200, f"Host {host}")
    for origin in ("http://evil.example", "null", "http://localhost:1", f"https://127.0.0.1:{server.url.port}"):
        check(server.request("/api/runs", Origin=origin)[0].status == 403, f"Origin {origin}")
    check(server.request("/api/runs", Origin=f"http://127.0.0.1:{server.url.port}")[0].status == 200, "its own Origin")
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        check(server.request("/api/runs", method=method)[0].status == 405, method)
    check(server.request("/api/runs", body="{}")[0].status == 405, "POST elsewhere")


def test_cookie(server):
    check(server.url.fragment == "run=a/b", "the address names the run")
    answer, content = server.request("/?token=" + server.token, token=None)
    cookie = answer.getheader("Set-Cookie")
    check(answer.status == 303 and answer.getheader("Location") == "/", "the address that was printed leads to the page")
    check("HttpOnly" in cookie and "SameSite=Strict" in cookie, "the cookie is HttpOnly, SameSite=Strict")
    answer, content = server.request("/", token=None, Cookie=cookie.split(";")[0])
    check(answer.status == 200 and b"<html lang=" in content, "the cookie opens the page")
    policy = answer.getheader("Content-Security-Policy")
    check("default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, "a strict policy")


def test_survival(server):
    silent = [socket.create_connection(("127.0.0.1", server.url.port)) for _ in range(200)]
    check(server.request("/api/runs")[0].status == 200, "answers beside 200 connections that never speak")
    for body in (b"x" * (10 << 20), b"[" * (10 << 20)):
        check(server.request("/api/runs/a/b/select", body)[0].status == 400, "a body of 10 MB")
    with contextlib.suppress(OSError):
        answer = server.request("/api/runs/a/b/select", b"x" * (33 << 20))[0]
        check(answer.status == 413, "a body of 33 MB")
    for head in (b"GET / HTTP/1.1\r\n" + b"a: " + b"b" * (10 << 20), b"GET /" + b"a" * (10 << 20), b"\0" * 100000, b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000):
        one = socket.create_connection(("127.0.0.1", server.url.port))
        with contextlib.suppress(OSError):
            one.sendall(head)
        one.close()
    for target in (b"runs", b"*", b"http://localhost/", b"?token=" + server.token.encode()):  # none begins with a slash
        with socket.create_connection(("127.0.0.1", server.url.port)) as one:
            one.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            check(one.recv(100).split(b" ")[1:2] == [b"401"], f"GET {target.decode()}")
    for one in silent:
        one.close()
    check(server.request("/api/runs")[0].status == 200, "answers after all that")


def test_unix(portolan, store, folder):
    path = os.path.join(folder, "page.socket")
    with serving.serving(portolan, "--store", store, "--listen", "unix:" + path) as server:
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the socket is its owner's alone")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(path)
        connection.request("GET", "/api/runs", headers={"Authorization": "Bearer " + server.token})
        check(connection.getresponse().status == 200, "answers on a Unix socket")
    check(not os.path.exists(path), "the socket is gone afterwards")


def test_tokens(portolan, store, folder):
    path = os.path.join(folder, "token")
    tokens = []
    for _ in range(2):
        with serving.serving(portolan, "--store", store, "--token-file", path) as server:
            tokens.append(server.token)
    check(tokens[0] == tokens[1] and stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the token is kept")
    with open(path, "w") as file:
        file.write("a" * 200 + "\n")
    refused = subprocess.run([portolan, "serve", "--store", store, "--token-file", path], capture_output=True, text=True, timeout=serving.PATIENCE)
    check(refused.returncode == 1 and "holds no token" in refused.stderr, f"a token that is too long: {refused.stderr}")
    os.chmod(path, 0o640)
    refused = subprocess.run([portolan, "serve", "--store", store, "--token-file", path], capture_output=True, text=True)
    check(refused.returncode == 1 and "chmod 600" in refused.stderr, f"a token that others can read: {refused.stderr}")


def test_second_signal(portolan, store):
    """Ctrl-C waits for answers under way; pressed again, it does not."""
    server = serving.Server(portolan, "--store", store)
    body = json.dumps({"filters": {"confidence": {"in": list(range(3000000))}}}, separators=(",", ":"))
    asked = []
    for _ in range(4):
        connection = server.connection()
        connection.request("POST", "/api/runs/a/b/select", body, {"Authorization": "Bearer " + server.token})
        asked.append(connection)
    while server.process.poll() is None:  # the first may not be heard yet: two that wait are one
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    server.process.stdout.close()
    check(server.process.returncode == -signal.SIGINT, f"a second Ctrl-C ends it at once: {server.process.returncode}")
    for connection in asked:
        connection.close()


def test_usage(portolan, store):
    for arguments, why in ((["--listen", "0.0.0.0:9999"], "ssh -L"), (["--listen", "[::]:9999"], "--public-url"), (["--listen", "10.1.2.3:9999"], "reverse proxy"),
                           (["--listen", "box.example:9999", "--public-url", "https://box.example"], "other machines can reach box.example"),
                           (["--listen", "nonsense"], "unix:PATH"), (["--port", "0"], "--port"), (["--data", "/dev/null"], "id-field"), (["--text", "a"], "data"),
                           (["--public-url", "http://lab.example"], "https://HOST"), (["--tls-cert", "/dev/null"], "no option --tls-cert")):
        made = subprocess.run([portolan, "serve", "--store", store, *arguments], capture_output=True, text=True, timeout=serving.PATIENCE)
        check(made.returncode == 2 and why in made.stderr, f"{arguments}: {made.returncode} {made.stderr}")
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    made = subprocess.run([portolan, "serve", "--store", store, "--port", str(taken.getsockname()[1])], capture_output=True, text=True, timeout=serving.PATIENCE)
    check(made.returncode == 1 and "another" in made.stderr, f"a port that is taken: {made.stderr}")


def test_two_named(portolan, store):
    """The address has both: the page begins with them side by side."""
    for names, fragment in ((["a/b", "c"], {"run": "a/b", "other": "run=c"}), (["c", "a/b", "odd"], {"run": "c", "other": "run=a/b"}), (["c", "c"], {"run": "c"}),
                            ([], {}), (["a/b", "no & run=?"], {"run": "a/b", "other": "run=no%20%26%20run%3D%3F"})):
        with serving.serving(portolan, "--store", store, *names) as server:
            check(dict(urllib.parse.parse_qsl(server.url.fragment)) == fragment, f"{names}: {server.url.fragment}")


def test_end_with_stdin(portolan, store):
    server = serving.Server(portolan, "--store", store, "--end-with-stdin", stdin=subprocess.PIPE)
    server.process.stdin.write("what is written there is read and forgotten\n" * 1000)
    server.process.stdin.flush()
    check(server.request("/api/runs")[0].status == 200, "it serves while standard input is open")
    server.process.stdin.close()
    check(server.process.wait(serving.PATIENCE) == 0, "it ends with standard input")
    server = serving.Server(portolan, "--store", store, "--end-with-stdin", stdin=subprocess.PIPE)
    check(server.end() == 0, "or by Ctrl-C")
    with serving.serving(portolan, "--store", store, stdin=subprocess.DEVNULL) as server:
        check(server.request("/api/runs")[0].status == 200, "an empty standard input is none that ends it, unless it was asked for")


class Nonsense(threading.Thread):
    """Sends what is refused, over and over, until nobody listens any more."""

    def __init__(self, port):
        super().__init__()
        self.port = port

    def run(self):
        with contextlib.suppress(ConnectionRefusedError):
            while True:
                with contextlib.suppress(ConnectionResetError, BrokenPipeError), socket.create_connection(("127.0.0.1", self.port)) as one:
                    one.sendall(b"GET / HTTP/9.9\r\n\r\n")
                    while one.recv(1000):
                        pass


def test_end_while_refusing(portolan, store):
    """libmicrohttpd 0.9.75 crashes when it is stopped while it refuses a request: without peers_end() one turn in three."""
    for _ in range(20):
        server = serving.Server(portolan, "--store", store)
        senders = [Nonsense(server.url.port) for _ in range(30)]
        for one in senders:
            one.start()
        time.sleep(0.1)
        check(server.end() == 0, f"Ctrl-C while requests are refused: {server.errors()}")
        for one in senders:
            one.join()


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        with serving.serving(portolan, "--store", store, "a/b") as server:
            test_who_may_ask(server)
            test_cookie(server)
            test_survival(server)
        test_unix(portolan, store, folder)
        test_tokens(portolan, store, folder)
        test_two_named(portolan, store)
        test_end_with_stdin(portolan, store)
        test_end_while_refusing(portolan, store)
        test_second_signal(portolan, store)
        test_usage(portolan, store)
    finish()


main()
