"""portolan serve, by which name it may be asked: forwarded ports, names of loopback, a public URL, any name with the token; how its address reaches the
browser; connections that never speak; and many ranges of epochs asked for at once.

    run_serve_access.py PORTOLAN MAKE_STORE
"""

import contextlib
import html
import http.client
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

PATIENCE = 120  # seconds; who waits longer waits for what will not come
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


class Server:
    """`portolan serve --no-open ARGUMENTS`, asked on loopback or on its Unix socket."""

    def __init__(self, portolan, *arguments, unix=None, host="127.0.0.1"):
        self.process = subprocess.Popen([portolan, "serve", "--no-open", *arguments], stdout=subprocess.PIPE, text=True)
        self.url = urllib.parse.urlsplit(self.process.stdout.readline().strip().replace(":PORT/", "/"))
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]
        self.unix, self.host = unix, host

    def file_bytes(self):
        """Of temporary files that it has in memory: files without a name."""
        with open(f"/proc/{self.process.pid}/maps") as maps:
            mapped = [line.split() for line in maps if line.endswith("(deleted)\n")]
        return sum(int(end, 16) - int(begin, 16) for begin, end in (one[0].split("-") for one in mapped))

    def anonymous_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return 1024 * next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

    def connect(self):
        one = socket.socket(socket.AF_UNIX if self.unix else socket.AF_INET)
        one.settimeout(PATIENCE)
        one.connect(self.unix or (self.host, self.url.port))
        return one

    def ask(self, path, **headers):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = self.connect()
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def status(self, host):
        return self.ask("/api/runs", Host=host, Authorization="Bearer " + self.token).status

    def cookie(self, host, **headers):
        """The cookie that a browser gets which was led to the address under this host; NULL: none."""
        return (self.ask("/?token=" + self.token, Host=host, **headers).getheader("Set-Cookie") or "").split(";")[0]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.stdout.close()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def serving(portolan, *arguments, **options):
    server = Server(portolan, *arguments, **options)
    try:
        yield server
    finally:
        check(server.end() == 0, "Ctrl-C ends it with status 0")


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def test_cookies(one, other):
    """A browser keeps one jar for all ports of a host: each forwarded port has a cookie of its own."""
    for host, name in (("localhost:7001", "7001"), ("127.0.0.1:65535", "65535"), ("[::1]:7001", "7001"), ("localhost", "80"), ("localhost:", "80")):
        check(one.cookie(host) == f"portolan-{name}={one.token}", f"{host}: {one.cookie(host)}")
    jar = "; ".join([one.cookie("localhost:7001"), other.cookie("localhost:7002")])
    check(one.ask("/", Host="localhost:7001", Cookie=jar).status == other.ask("/", Host="localhost:7002", Cookie=jar).status == 200,
          "two servers, forwarded to two ports of one host")
    check(one.ask("/", Host="localhost:7002", Cookie=jar).status == 401, "another port's cookie opens nothing")
    for host in ("localhost:0", "localhost:65536", "localhost:1x", "localhost:+1", "localhost: 1", "localhost:1:2", "localhost:000080", "[::1]x:1", ":80"):
        check(one.status(host) == 403 and not one.cookie(host), f"Host {host}")


def test_other_loopback(portolan, store):
    """127.0.0.0/8 is loopback: the address that was printed opens the page there, too."""
    with serving(portolan, "--store", store, "--listen", f"127.8.9.10:{free_port()}", host="127.8.9.10") as server:
        check(server.url.hostname == "127.8.9.10" and server.cookie(server.url.netloc), f"{server.url.netloc} opens the page")
        check(server.status("127.8.9.10") == server.status("localhost") == 200 and server.status("128.8.9.10") == 403, "and other names do as elsewhere")


def test_entry_from_elsewhere(server):
    """A page of another site leads here: a browser would not send the cookie to where it is sent on by such an answer."""
    answer = server.ask("/?token=" + server.token, Sec_Fetch_Site="cross-site")
    policy = answer.getheader("Content-Security-Policy", "")
    check(answer.status == 200 and b"location.replace" in answer.content and server.token.encode() not in answer.content, f"a page leads on: {answer.status}")
    check("default-src 'none'" in policy and "unsafe" not in policy and answer.getheader("Referrer-Policy") == "no-referrer", f"a strict policy: {policy}")
    for site in ("none", "same-origin", "same-site"):
        answer = server.ask("/?token=" + server.token, Sec_Fetch_Site=site)
        check(answer.status == 303 and answer.getheader("Referrer-Policy") == "no-referrer", f"{site}: {answer.status}")
    check(server.ask("/?token=" + "0" * 64, Sec_Fetch_Site="cross-site").status == 401, "a wrong token")


def test_public(one):
    """Asked past its proxy: by loopback, or as a proxy asks. run_serve_proxy.py has a real one."""
    check(one.url.geturl().startswith("https://lab.example/a/b/?token="), f"the public address is printed: {one.url.geturl()}")
    check(one.cookie("lab.example") == one.cookie("localhost:7001") == f"portolan-443={one.token}", "one cookie, of the public address")
    entry = one.ask("/a/b/?token=" + one.token, Host="lab.example")
    check(entry.getheader("Location") == "/a/b/" and "; Path=/a/b; Secure" in entry.getheader("Set-Cookie"), f"{entry.getheader('Set-Cookie')}")
    jar = f"portolan-443={one.token}; portolan-443={'0' * 64}"  # a browser names that of the longer path first
    for path, status in (("/a/b/", 200), ("/", 200), ("/a/b/api/runs", 200), ("/api/runs", 200), ("/a/b", 303), ("/a/b?token=" + one.token, 303), ("/a/bc", 404),
                         ("/a/b/a/b/", 404), ("/a/", 404), ("/a/b//", 404), ("/a/b/page/main.js", 200)):
        answer = one.ask(path, Host="lab.example", Cookie=jar)
        check(answer.status == status and answer.getheader("Location") in (None, "/a/b/"), f"{path}: {answer.status}, {answer.getheader('Location')}")
    check(one.ask("/a/b", Host="lab.example").status == 401, "without the token and the last slash")
    for host, origin, status in (("lab.example", "https://lab.example", 200), ("LAB.example:443", "https://LAB.example", 200), ("127.0.0.1:99", "https://lab.example", 200),
                                 ("127.0.0.1:99", "http://127.0.0.1:99", 200), ("127.0.0.1:99", "http://127.0.0.1:98", 403), ("lab.example", "http://lab.example", 403),
                                 ("lab.example:99", "https://lab.example:99", 403), ("lab.example.evil", None, 403), ("evil.example", "https://lab.example", 403)):
        headers = {"Origin": origin} if origin else {}
        answer = one.ask("/api/runs", Host=host, Cookie=jar, **headers)
        check(answer.status == status, f"Host {host}, Origin {origin}: {answer.status}")


def test_any_host(one, other):
    """Behind a proxy that is not known beforehand: the token opens the page under any name, and without it a foreign name is told to open the printed
    address. `other` has another token."""
    hub, bearer = "hub.example.org", "Bearer " + one.token
    entry = one.ask("/?token=" + one.token, Host=hub, Sec_Fetch_Site="same-origin")
    check(entry.status == 303 and entry.getheader("Location") == "./", f"the prefix stays, which the server does not know: {entry.getheader('Location')}")
    name, *attributes = entry.getheader("Set-Cookie").split("; ")
    check(name == f"portolan-80={one.token}" and attributes == ["HttpOnly", "SameSite=Strict", "Secure"], f"the browser's own path: {attributes}")
    for host, headers in ((hub, {}), ("localhost:8888", {"Sec_Fetch_Site": "same-origin"}), ("127.0.0.1:8888", {"Sec_Fetch_Site": "same-origin"})):
        attributes = one.ask("/?token=" + one.token, Host=host, **headers).getheader("Set-Cookie").split("; ")[1:]
        check(attributes == ["HttpOnly", "SameSite=Strict"], f"http://{host} gets a cookie that http sends: {attributes}")
    led = one.ask("/?token=" + one.token, Host=hub, Sec_Fetch_Site="cross-site")
    check(led.status == 200 and b"location.replace" in led.content and "Secure" in led.getheader("Set-Cookie"), "led from another site")
    jar = f"other=1; portolan-80={one.token}"
    for path, status in (("/", 200), ("/api/runs", 200), ("/page/main.js", 200), ("/user/ada/proxy/5780/api/runs", 404), ("/nothing", 404)):
        answer = one.ask(path, Host=hub, Cookie=jar)
        check(answer.status == status, f"{path}: {answer.status}")
    lacking = other.ask("/api/runs", Host="localhost:1").content
    for what, path, headers in (("no token", "/api/runs", {}), ("no token", "/", {}), ("an empty token", "/?token=", {}), ("a wrong token", "/?token=" + "0" * len(one.token), {}),
                                ("another server's token", "/?token=" + other.token, {}), ("a part of it", "/?token=" + one.token[:-1], {}),
                                ("the token beside it", "/api/runs?token=" + one.token, {}), ("another server's cookie", "/api/runs", {"Cookie": f"portolan-80={other.token}"}),
                                ("the cookie of another port", "/api/runs", {"Cookie": f"portolan-8000={one.token}"}),
                                ("a wrong bearer", "/api/runs", {"Authorization": "Bearer " + other.token, "Cookie": jar}),
                                ("a proxy's word", "/api/runs", {"X_Forwarded_Host": "localhost", "X_Forwarded_For": "127.0.0.1", "Forwarded": "host=localhost"})):
        answer = one.ask(path, Host=hub, **headers)
        check(answer.status == 401 and answer.content == lacking and not answer.getheader("Set-Cookie"), f"{what}: {answer.status}, {answer.content}")
    check(one.ask("/api/runs", Host="localhost:1").status == 401, "a name of loopback without the token")
    for host in ("", "hub.example.org:0", "hub.example.org:65536", "hub.example.org:1x", "hub.example.org:1:2", "h" * 300, "[::1]x", ":80"):
        check(one.status(host) == 403 and not one.cookie(host), f"Host {host[:40]}")
    without = http.client.HTTPConnection("localhost")
    without.sock = one.connect()
    without.putrequest("GET", "/api/runs", skip_host=True)
    without.putheader("Authorization", bearer)
    without.endheaders()
    check(without.getresponse().status in (400, 403), "no Host at all")
    without.close()
    for host, origin, status in ((hub, "https://hub.example.org", 200), (hub, "http://hub.example.org", 200), ("HUB.example.org:8443", "https://hub.example.org:8443", 200),
                                 ("localhost:8888", "https://localhost:8888", 200), ("localhost:8888", "http://localhost:8888", 200),
                                 (hub, "https://evil.example", 403), (hub, "https://hub.example.org.evil.example", 403), (hub, "https://hub.example.org:8443", 403),
                                 (hub, "null", 403), (hub, "", 403), (hub, "hub.example.org", 403), (hub, "ftp://hub.example.org", 403), (hub, "https://localhost:8888", 403),
                                 ("localhost:8888", "https://hub.example.org", 403), ("localhost:8888", "http://localhost:8889", 403)):
        for headers in ({"Authorization": bearer}, {"Cookie": f"portolan-80={one.token}; portolan-8443={one.token}; portolan-8888={one.token}"}):
            answer = one.ask("/api/runs", Host=host, Origin=origin, **headers)
            check(answer.status == status, f"Host {host}, Origin {origin}: {answer.status}")
    check(other.ask("/api/runs", Host=hub, Authorization="Bearer " + other.token).status == 403, "a server that was not told knows no foreign name")
    check(not other.cookie(hub) and "; Path=/" in other.ask("/?token=" + other.token).getheader("Set-Cookie"), "nor does its address open under one")


def test_browser(portolan, store, folder):
    """The browser is told a file, which leads to the address; no argument has the token. It can be ended by signals."""
    opener, told, private = os.path.join(folder, "xdg-open"), os.path.join(folder, "opened"), os.path.join(folder, "runtime")
    os.mkdir(private, 0o700)
    with open(opener, "w") as file:
        file.write(f"""#!/bin/sh
echo "$@" >{told}.new
while read -r name value; do # by the shell itself, which blocks signals while it starts another program
	[ "$name" = SigBlk: ] && echo "$name $value" >>{told}.new
done </proc/$$/status
mv {told}.new {told}
""")
    os.chmod(opener, 0o700)
    environment = dict(os.environ, DISPLAY=":99", XDG_RUNTIME_DIR=private, PATH=folder + ":" + os.environ["PATH"])
    terminal, stdout = os.openpty()
    process = subprocess.Popen([portolan, "serve", "--store", store, "a&b"], stdout=stdout, stderr=subprocess.DEVNULL, env=environment)
    address = os.read(terminal, 1000).decode().strip()
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(told) and time.monotonic() < deadline:
        time.sleep(0.05)
    with open(told) as file:
        path, blocked = file.read().splitlines()
    token = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["token"][0]
    with open(path) as file:
        page = file.read()
    with open(f"/proc/{process.pid}/cmdline") as file:
        check(token not in file.read() and token not in path, "no argument has the token")
    check(os.path.dirname(path) == private and stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"a file that its owner alone can read: {path}")
    check(re.search('http-equiv="refresh" content="0; url=([^"]*)"', page)[1] == html.escape(address), f"it leads to {address}")
    check(address.startswith("http://127.0.0.1:") and address.endswith("#run=a%26b"), f"the address is printed: {address}")
    check('name="referrer" content="no-referrer"' in page, "it says nothing of where it was")
    check(int(blocked.split()[1], 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1) == 0, f"the browser's signals: {blocked}")
    process.send_signal(signal.SIGINT)
    check(process.wait(PATIENCE) == 0 and os.listdir(private) == [], "Ctrl-C ends it, and the file has gone")
    os.remove(told)
    without = {name: value for name, value in environment.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    for what, arguments, one in (("no terminal", {"stdout": subprocess.PIPE}, environment), ("no display", {"stdout": stdout}, without)):
        before = os.stat(private).st_mtime_ns
        process = subprocess.Popen([portolan, "serve", "--store", store], stderr=subprocess.PIPE, env=one, **arguments)
        process.stderr.readline()  # that Ctrl-C ends it
        process.send_signal(signal.SIGINT)
        check(process.wait(PATIENCE) == 0 and os.stat(private).st_mtime_ns == before, f"{what}: nothing is opened")
        process.stderr.close()
        if process.stdout:
            process.stdout.close()
    os.close(terminal)
    os.close(stdout)


class Silent(threading.Thread):
    """1,000 connections that begin a request and never end it, a letter at a time; one that is closed is made again."""

    COUNT = 1000

    def __init__(self, server):
        super().__init__()
        self.address, self.sockets, self.rounds, self.stopped = ("127.0.0.1", server.url.port), [], 0, threading.Event()

    def connect(self):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(self.address)
        return one

    def run(self):
        self.sockets = [self.connect() for _ in range(self.COUNT)]
        while not self.stopped.is_set():
            for i, one in enumerate(self.sockets):
                try:
                    one.send(b"G" if self.rounds == 0 else b"a")
                except BlockingIOError:
                    continue
                except OSError:
                    one.close()
                    self.sockets[i] = self.connect()
            self.rounds += 1
            self.stopped.wait(0.5)
        for one in self.sockets:
            one.close()


def test_silent(server):
    """Connections that say nothing of use, more of them than there may be, keep nobody out."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * Silent.COUNT)), hard))
    kept = http.client.HTTPConnection("127.0.0.1", server.url.port, timeout=PATIENCE)
    kept.request("GET", "/api/runs", headers={"Authorization": "Bearer " + server.token})
    check(kept.getresponse().read() and kept.sock, "a connection that has shown the token")
    local = kept.sock.getsockname()
    silent = Silent(server)
    silent.start()
    while silent.rounds < 3:
        time.sleep(0.1)
    try:
        for _ in range(3):
            answer = server.ask("/api/runs", Authorization="Bearer " + server.token)
            check(answer.status == 200, f"answers beside {Silent.COUNT} connections that go on saying nothing: {answer.status}")
            kept.request("GET", "/api/runs", headers={"Authorization": "Bearer " + server.token})
            check(kept.getresponse().read() and kept.sock.getsockname() == local, "a connection that has shown the token stays")
    except OSError as error:
        check(False, f"no answer beside {Silent.COUNT} connections that go on saying nothing: {error!r}")
    silent.stopped.set()
    silent.join()
    kept.close()
    check(server.ask("/api/runs", Authorization="Bearer " + server.token).status == 200, "answers afterwards")


def test_many_ranges(portolan, make_store, folder):
    """Views of many ranges, asked for at once, are loaded one after another: what they need does not grow with their number."""
    store, n, epochs, epoch_ids = os.path.join(folder, "ranges"), 60_000, 8, np.arange(60_000)
    p = np.random.default_rng(5).random((epochs, n)).astype("f4")
    stores.make_store(make_store, store, [stores.run("r", [stores.batch(e, epoch_ids, p[e], p[e] > 0.5, epoch_ids % 3) for e in range(epochs)])])
    ranges = [f"{a}:{b}" for a in range(epochs) for b in range(a + 1, epochs + 1)]
    with serving(portolan, "--store", store, "--max-memory", "16M") as server:
        before = server.anonymous_bytes()
        answers = {}

        def ask(epochs):
            answer = server.ask(f"/api/view?run=r&epochs={epochs}", Authorization="Bearer " + server.token)
            answers[epochs] = json.loads(answer.content) if answer.status == 200 else answer.content

        asking = [threading.Thread(target=ask, args=(one,)) for one in ranges]
        for one in asking:
            one.start()
        most_in_files = most_anonymous = 0
        while any(one.is_alive() for one in asking):
            most_in_files, most_anonymous = max(most_in_files, server.file_bytes()), max(most_anonymous, server.anonymous_bytes())
            time.sleep(0.01)
        check(all(answers[one]["range"] == one and answers[one]["points"] == n for one in ranges), "each range is answered")
        view = 8 * n * len(answers["0:8"]["columns"])
        check(most_in_files < len(ranges) / 2 * view, f"{len(ranges)} ranges: {most_in_files} bytes in files; a view's columns have {view}")
        check(most_anonymous - before < 24 << 20, f"{len(ranges)} ranges: {most_anonymous - before} bytes of memory, of 16 MiB allowed")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store, unix = os.path.join(folder, "store"), os.path.join(folder, "page.socket")
        stores.make_store(make_store, store, [stores.run("a", [stores.batch(0, np.arange(9), np.full(9, 0.5, "f4"), np.ones(9, bool), np.zeros(9, int))])])
        with serving(portolan, "--store", store) as one, serving(portolan, "--store", store, "--listen", "unix:" + unix, unix=unix) as other:
            test_cookies(one, other)
            test_cookies(other, one)
            test_entry_from_elsewhere(one)
            test_silent(one)
        test_other_loopback(portolan, store)
        with serving(portolan, "--store", store, "--any-host") as one, serving(portolan, "--store", store) as other:
            test_any_host(one, other)
        with serving(portolan, "--store", store, "--listen", "unix:" + unix, "--public-url", "https://lab.example/a/b", unix=unix) as behind:
            test_public(behind)
        test_browser(portolan, store, folder)
        test_many_ranges(portolan, make_store, folder)
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


main()
