"""Who may not ask gets nothing, in a real browser: without the token, under a foreign name, from a foreign page."""

import http.server
import html
import json
import threading

import pytest

from served import N


@pytest.fixture
def foreign():
    """The address of another site's page, on this machine: a browser gives it the cookies of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!DOCTYPE html><title>foreign</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def shows_nothing(one, served):
    source = one.here().page_source
    assert one.data() == {} and "Run <select" not in source and served.token not in source
    assert any("40" in message for message in one.errors())  # 401 or 403


def test_without_token(page, served, chromium):
    chromium.delete_all_cookies()
    base = served.address.split("?")[0]
    for address in (base, base + "?token=", base + "?token=" + "0" * 64, base + "?token=" + served.token[:-1], base + "page/main.js", base + "api/runs"):
        one = page(address)
        one.driver.delete_all_cookies()
        one.driver.get(address)
        shows_nothing(one, served)


def test_token_leaves_the_address(page, served):
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    assert served.token not in one.run("return location.href")
    assert served.token not in one.run("return document.cookie")  # HttpOnly
    again = page(served.address.split("?")[0] + "#run=a/b")
    again.wait_for(points=N)


def test_led_from_elsewhere(page, served, foreign, tmp_path):
    """A file leads to the address, as `serve` has it opened, or a link on another site's page: the page opens, and the token leaves the address."""
    address = served.view(run="a/b")
    leading = tmp_path / "leading.html"
    leading.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    by_file = page(leading.as_uri())
    by_link = page(foreign.replace("127.0.0.1", "localhost"))
    by_link.run("const link = document.createElement('a'); link.href = arguments[0]; document.body.append(link); link.click()", address)
    for one in (by_file, by_link):
        one.wait_for(points=N)
        assert one.run("return location.href").startswith(served.address.split("?")[0] + "#") and "run=a" in one.run("return location.hash")
        assert one.run("return document.referrer") == ""


def test_foreign_host(page, served):
    """A name that its owner makes point here: the token in the address does not help, nor does a page that was allowed."""
    page(served.view(run="a/b")).wait_for(points=N)
    one = page(served.view(run="a/b").replace("127.0.0.1", "evil.example"))
    shows_nothing(one, served)


def test_foreign_page(page, served, foreign):
    page(served.view(run="a/b")).wait_for(points=N)  # the browser has the cookie, and sends it along
    one = page(foreign)
    base = served.address.split("?")[0]
    selection = json.dumps({"x": "variability", "y": "confidence", "polygon": [[0, 0], [1, 0], [1, 1]]})
    ask = """
        const [address, options, done] = arguments;
        fetch(address, {credentials: "include", ...options}).then(async (answer) => done([answer.type, (await answer.text()).length]), () => done("refused"))"""
    for path, options in (("api/runs", {}), ("api/runs", {"mode": "no-cors"}), ("api/view?run=a/b", {}), ("metrics", {"mode": "no-cors"}),
                          ("api/runs/a/b/select", {"method": "POST", "body": selection}),
                          ("api/runs/a/b/select?as=keep", {"method": "POST", "body": selection, "mode": "no-cors"})):
        assert one.here().execute_async_script(ask, base + path, options) in ("refused", ["opaque", 0]), path
    load = """
        const [address, done] = arguments, script = document.createElement("script");
        script.onload = () => done("loaded"); script.onerror = () => done("refused");
        script.src = address; document.head.append(script)"""
    assert one.here().execute_async_script(load, base + "api/runs") == "refused"
    assert json.loads(served.ask("/api/selection?run=a/b"))["serial"] == 0  # nothing was kept
    one.errors()  # the browser says of each that it was refused


def test_foreign_page_cannot_frame_the_api(page, served, foreign):
    page(served.view(run="a/b")).wait_for(points=N)
    one = page(foreign)
    frame = """
        const [address, done] = arguments, frame = document.createElement("iframe");
        frame.onload = () => done(frame.contentDocument === null); frame.src = address; document.body.append(frame)"""
    assert one.here().execute_async_script(frame, served.address.split("?")[0] + "api/runs")  # another origin: an error page, or one it cannot read
    one.errors()
