"""portolan serve behind nginx, whose configuration is the live page's README: over TCP and a Unix socket, at the root and under a prefix. The page loads,
the API answers, who may not ask is refused, the cookie is this page's alone, and what a page asks again and again comes through.

    run_serve_proxy.py PORTOLAN MAKE_STORE
"""

import contextlib
import http.client
import json
import os
import re
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nginx
import served_runs
import serving
from checks import check, finish
from served_runs import N

EVERYTHING = {"filters": {"id": {"in": list(range(300_000))}}}  # 2 MB: nginx takes 1 unless it is told
SOME = {"filters": {"id": {"in": [1, 2, 5]}}}


class Site:
    """A server, and nginx before it: asked as a browser asks it, by its public address."""

    def __init__(self, proxy, port, prefix, server):
        self.proxy, self.port, self.prefix, self.server = proxy, port, prefix, server
        self.token, self.cookie = server.token, None
        self.origin = f"https://{nginx.NAME}:{port}"

    def ask(self, path, body=None, cookie=True, **headers):
        """(the answer's head, its content); `path` stands behind the prefix."""
        connection = http.client.HTTPConnection(nginx.NAME, self.port)
        connection.sock = self.proxy.connect(self.port)
        if cookie and self.cookie:
            headers["Cookie"] = self.cookie
        connection.request("GET" if body is None else "POST", self.prefix + path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def status(self, path, body=None, **headers):
        return self.ask(path, body, **headers)[0].status

    def json(self, path, body=None):
        answer, content = self.ask(path, body and json.dumps(body), Origin=self.origin)
        assert answer.status == 200, f"{self.origin}{self.prefix}{path}: {answer.status} {content[:200]}"
        return json.loads(content)


def test_entry(site):
    """The address that is printed is the public one; it leads to the page, and the token becomes a cookie."""
    check(site.server.address == f"{site.origin}{site.prefix}/?token={site.token}#run=a/b", f"printed: {site.server.address}")
    answer, _ = site.ask(f"/?token={site.token}")
    check(answer.status == 303 and answer.getheader("Location") == site.prefix + "/", f"it leads to {answer.getheader('Location')}")
    name, *attributes = answer.getheader("Set-Cookie").split("; ")
    check(name == f"portolan-{site.port}={site.token}", f"the cookie {name}")
    check(sorted(attributes) == sorted(["HttpOnly", "SameSite=Strict", "Secure", f"Path={site.prefix or '/'}"]), f"the cookie's {attributes}")
    answer, content = site.ask(f"/?token={site.token}", Sec_Fetch_Site="cross-site")
    check(answer.status == 200 and b"location.pathname" in content and answer.getheader("Set-Cookie"), "a page leads on, for who comes from elsewhere")
    site.cookie = name
    if site.prefix:
        answer, _ = site.ask(f"?token={site.token}")
        check(answer.status == 301 and answer.getheader("Location") == f"{site.origin}{site.prefix}/?token={site.token}", "without its last slash")


def test_away(proxy, port, prefix):
    """A server that is not there: nginx says so, and does not write down the token of who opens the page."""
    connection, token = http.client.HTTPConnection(nginx.NAME, port), "5ec2e7" * 8
    connection.sock = proxy.connect(port)
    connection.request("GET", f"{prefix}/?token={token}")
    check(connection.getresponse().status == 502, "there is no server")
    connection.close()
    check(token not in proxy.said(), f"nginx keeps the token to itself: {proxy.said()[:500]}")


def test_page(site):
    """All that the page names lies behind the prefix."""
    answer, content = site.ask("/")
    check(answer.status == 200 and b"<html lang=" in content, "the page")
    check("default-src 'none'" in answer.getheader("Content-Security-Policy", ""), "its policy")
    base, found = f"{site.origin}{site.prefix}/", {}
    waiting = [(base, name) for name in re.findall(r'(?:src|href)="([^"#]+)"', content.decode())]
    while waiting:
        address = urllib.parse.urljoin(*waiting.pop())
        if address in found or address.startswith("data:"):
            continue
        check(address.startswith(base), f"{address} is behind {base}")
        answer, content = site.ask("/" + address.removeprefix(base))
        found[address] = answer.status
        if address.endswith(".js"):
            waiting += [(address, name) for name in re.findall(r'from "(\.[^"]+)"', content.decode())]
    check(len(found) > 40 and set(found.values()) == {200}, f"the page's files: {found}")


def test_answers(site, direct):
    for path in ("/api/runs", "/api/runs/a/b", "/api/runs/a%2Fb"):
        check(site.json(path) == json.loads(direct(path)), path)
    points = []
    for ask in (direct, lambda path: site.ask(path)[1]):
        version = json.loads(ask("/api/view?run=a/b"))["version"]
        points.append(ask(f"/api/points?run=a/b&version={version}&x=variability&y=confidence&colour=gold"))
    check(points[0] == points[1] and len(points[0]) == 5 * N, "points, byte for byte")
    check(site.status("/metrics", cookie=False, Authorization="Bearer " + site.token) == 200, "metrics, with the token as a bearer")
    for path in ("/api/runs/a/b/select", "/api/runs/a%2Fb/select"):
        check(site.json(path, SOME) == {"count": 3, "ids": [1, 2, 5]}, f"POST {path}")
    check(site.json("/api/runs/a/b/select", EVERYTHING)["count"] == N, "a POST of 2 MB")
    check(site.status("/api/runs/a/b/select", b"x" * (33 << 20), Origin=site.origin) == 413, "a POST of 33 MB")
    check(site.status("/api/runs/nobody") == 404 and site.status("/nothing") == 404, "what is not there")


def test_refusals(site):
    for headers in ({"cookie": False}, {"cookie": False, "Authorization": "Bearer " + "0" * 64}, {"cookie": False, "Cookie": site.cookie[:-1]},
                    {"cookie": False, "Cookie": site.cookie.replace(f"-{site.port}", "-443")}):
        check(site.status("/api/runs", **headers) == 401, f"who does not show the token: {headers}")
    for host in ("evil.example", f"evil.example:{site.port}", f"{nginx.NAME}.evil.example", "10.1.2.3"):
        check(site.status("/api/runs", Host=host) == 403 and site.status(f"/?token={site.token}", Host=host) == 403, f"Host {host}")
    for origin in ("https://evil.example", "null", f"http://{nginx.NAME}:{site.port}", f"https://{nginx.NAME}:{site.port}.evil.example", f"https://{nginx.NAME}",
                   f"https://localhost:{site.port}"):
        check(site.status("/api/runs", Origin=origin) == 403, f"Origin {origin}")
        check(site.status("/api/runs/a/b/select?as=keep", json.dumps(SOME), Origin=origin) == 403, f"POST, Origin {origin}")
    check(f"'https://{nginx.NAME}'".encode() in site.ask("/api/runs", Origin=f"https://{nginx.NAME}")[1], "a page at another port than that of --public-url is told so")
    check(site.json("/api/selection?run=a/b")["serial"] == 0, "nothing was kept")


def test_asking_again(site):
    """What a page asks every few seconds: 304 until there is something new."""
    version = site.json("/api/view?run=a/b")["version"]
    check(site.status(f"/api/view?run=a/b&known={version}") == 304, "the view is still this one")
    check(site.status("/api/selection?run=a/b&known=0") == 304, "no selection is kept")
    serial = site.json("/api/runs/a/b/select?as=keep", SOME)["serial"]
    kept = site.json("/api/selection?run=a/b&known=0")
    check(kept["serial"] == serial > 0 and kept["selection"]["filters"] == SOME["filters"], f"the one that was kept: {kept}")
    check(site.status(f"/api/selection?run=a/b&known={serial}") == 304, "no other")


def test_growing(site, recorder):
    version, epochs = None, []
    for epoch in range(3):
        recorder.log(epoch)
        deadline = time.monotonic() + serving.PATIENCE
        while version and site.status(f"/api/view?run=live&known={version}") == 304 and time.monotonic() < deadline:
            time.sleep(0.1)
        view = site.json("/api/view?run=live")
        epochs.append(view["epochs"])
        version = view["version"]
        check(site.status(f"/api/view?run=live&known={version}") == 304, "no more for now")
    check(epochs == [[0], [0, 1], [0, 1, 2]], f"a run that grows: {epochs}")
    check(site.json("/api/progress?run=live")["state"] == "recording", "its progress")


def test_all(proxy, site, direct):
    test_entry(site)
    test_page(site)
    test_answers(site, direct)
    test_refusals(site)
    test_asking_again(site)
    check(site.token not in proxy.said(), f"nginx keeps the token to itself: {proxy.said()[:500]}")


def test_other_manners(proxy, site, prefix):
    """Proxies that cut the prefix off, or do not pass Host on: they are answered all the same."""
    answer, _ = site.ask(f"/?token={site.token}")
    check(answer.status == 303 and answer.getheader("Location") == prefix + "/", f"it leads to {answer.getheader('Location')}")
    site.cookie = answer.getheader("Set-Cookie").split(";")[0]
    test_page(site)
    check(site.json("/api/runs/a/b/select", SOME)["count"] == 3, "a POST")
    check(site.status("/api/runs", Origin="https://evil.example") == 403, "a foreign page")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        store, proxy = served_runs.make_store(make_store, folder), nginx.Nginx(os.path.join(folder, "nginx"))
        planned = []
        for unix in (False, True):
            for prefix in ("", nginx.PREFIX):
                own = nginx.free_port()
                path = os.path.join(folder, f"{own}.socket")
                listen = ["--listen", "unix:" + path] if unix else ["--port", own]
                planned.append((proxy.add(f"http://unix:{path}" if unix else f"http://127.0.0.1:{own}", prefix), prefix, listen))
        own = nginx.free_port()
        other = proxy.add(f"http://127.0.0.1:{own}/", nginx.PREFIX, host=("proxy_set_header Host $http_host;", ""))
        stack.enter_context(nginx.running(proxy))
        for port, prefix, listen in planned:
            test_away(proxy, port, prefix)
            arguments = ["--store", store, *listen, "--public-url", nginx.public_url(port, prefix), "a/b"]
            with serving.serving(portolan, *arguments) as server, serving.serving(portolan, "--store", store) as plain:
                test_all(proxy, Site(proxy, port, prefix, server), plain.ask)
        with serving.serving(portolan, "--store", store, "--port", own, "--public-url", nginx.public_url(other, nginx.PREFIX), "a/b") as server:
            test_other_manners(proxy, Site(proxy, other, nginx.PREFIX, server), nginx.PREFIX)
        recorder = served_runs.Recorder(make_store, 500)
        port, prefix, listen = planned[-1]
        with serving.serving(portolan, "--store", recorder.store, *listen, "--public-url", nginx.public_url(port, prefix)) as server:
            site = Site(proxy, port, prefix, server)
            site.cookie = f"portolan-{port}={server.token}"
            test_growing(site, recorder)
        recorder.end()
    finish()


main()
