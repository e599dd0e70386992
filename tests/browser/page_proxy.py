"""The page behind nginx, under a prefix, in a real browser: it opens, follows a run that is recorded meanwhile, and selects; the token is in no address."""

import os
import sys

import pytest

from page_live import N, Recording
from served import metrics, selected_by, serving

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import nginx


@pytest.fixture
def recording(tmp_path):
    made = Recording(tmp_path / "store", "live")
    with made.run:
        made.record()
        yield made


@pytest.fixture
def served(recording, tmp_path):
    """A server whose address is nginx's. It ends after its pages: before `page` among a test's fixtures."""
    proxy, socket = nginx.Nginx(tmp_path / "nginx"), tmp_path / "page.socket"
    port = proxy.add(f"http://unix:{socket}", nginx.PREFIX)
    with nginx.running(proxy), serving(tmp_path / "store", "live", "--listen", f"unix:{socket}", "--public-url", nginx.public_url(port, nginx.PREFIX)) as server:
        yield server


def test_page(recording, served, page):
    base = served.address.split("?")[0]
    one = page(served.view(run="live"))
    one.wait_for(run="live", epochs="0:1", points=N, examples=N)
    assert one.run("return location.href").startswith(base + "#") and served.token not in one.run("return location.href + document.cookie")
    (cookie,) = one.driver.get_cookies()
    assert (cookie["secure"], cookie["httpOnly"], cookie["path"], cookie["sameSite"]) == (True, True, nginx.PREFIX, "Strict")
    one.run("window.stays = true")
    recording.record()
    one.wait_for(epochs="0:2", points=N)
    one.drag([(0.1, 0.1), (0.9, 0.2), (0.8, 0.8), (0.2, 0.9)])
    one.wait_for(selected=len(selected_by(one.selection(), metrics(served.store, "live"))))
    assert one.run("return window.stays")
    again = page(f"{base.removesuffix('/')}#run=live")  # without its last slash; the cookie opens it
    again.wait_for(run="live", points=N)
    assert again.run("return location.href").startswith(base + "#")


def test_led_from_elsewhere(served, page):
    """A link on a page of another site: the browser brings no cookie to what it leads to."""
    one = page("data:text/html,<title>elsewhere</title>")
    one.run("const link = document.createElement('a'); link.href = arguments[0]; document.body.append(link); link.click()", served.view(run="live"))
    one.wait_for(run="live", points=N)
    assert one.run("return location.href").startswith(served.address.split("?")[0] + "#")
