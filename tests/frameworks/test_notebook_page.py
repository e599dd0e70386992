"""portolan.serve() in JupyterLab, as its user sees it: the page is in the cell's frame, a lasso drawn there is the next cell's, and the frame has the notebook's theme.
Through jupyter-server-proxy, when only the notebook's port is reachable; under a prefix and a foreign name, as on a hub; past `ssh -L`; and where no frame can be."""

import contextlib
import json
import os
import re
import sys

import chromium as browsers
import notebooks
import numpy as np
import pytest
from notebooks import Forwarder, Lab, free_port, jupyterlab, wait
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support import ROOT

import portolan

sys.path.insert(0, str(ROOT / "tests/cli"))
import nginx
import serving

N = 2000
SHOWS = """
import json, portolan
page = portolan.serve("toy/seed1", store="store", data="data.jsonl", id_field="id", text="text", port={port})
page
"""
TELLS = "print(json.dumps([page.selection(), page.ids(), page.url]))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, stores):
    """A store with a run, and the texts of its examples."""
    folder = tmp_path_factory.mktemp("notebook")
    stores.append(folder / "store")
    rng = np.random.default_rng(3)
    gold, level = rng.integers(0, 3, N), rng.beta(1.2, 0.8, N)
    with portolan.Run("toy/seed1", store=folder / "store", examples=N, labels=["cat", "dog", "bird"]) as run:
        for epoch in range(5):
            p = np.clip(level * (1 - np.exp(-(epoch + 1) / 2)) + rng.normal(0, 0.1, N), 0.001, 0.999)
            run.log_gold(epoch, np.arange(N), p, p > 0.5, gold)
            run.end_epoch(epoch)
    with open(folder / "data.jsonl", "w", encoding="utf-8") as file:
        for i in range(N):
            file.write(json.dumps({"id": i, "text": f"text number {i}"}) + "\n")
    return folder


@pytest.fixture(scope="module")
def lab(folder):
    """With jupyter-server-proxy."""
    with jupyterlab(folder, "/user/ada/") as one:
        yield one


@pytest.fixture(scope="module")
def bare_lab(folder):
    """Without it."""
    with jupyterlab(folder, proxies=False) as one:
        yield one


@pytest.fixture
def port(folder):
    """That of the page of a notebook PORT.ipynb, which is written into the folder."""
    port = free_port()
    notebooks.write_notebook(folder / f"{port}.ipynb", SHOWS.format(port=port), TELLS, "page.close()")
    return port


@contextlib.contextmanager
def opened(address, port, *rules, is_reachable=True):
    """The notebook of the page on `port`, in a browser that has rules for names; `is_reachable`: can it reach that port itself? At the end the page is
    closed, and nothing of it may have been refused."""
    if not is_reachable:
        rules = (f"MAP 127.0.0.1:{port} 127.0.0.1:1", f"MAP localhost:{port} 127.0.0.1:1", *rules)
    with browsers.browser(*browsers.WEBGL, f"--host-resolver-rules={', '.join(rules)}") as driver:
        one = Lab(driver, f"{address}/lab/workspaces/w{port}/tree/{port}.ipynb?token=jupyter")
        yield one
        said = [said for said in one.errors() if f"/proxy/{port}" in said or f":{port}/" in said]
        one.run_cell(2)
        assert not said


def selected_by(selection, folder):
    """The ids that a selection means, from what `portolan metrics` prints."""
    rows = serving.metrics(os.environ["PORTOLAN"], folder / "store", "toy/seed1")
    (part,) = selection["parts"]
    return [row["id"] for row in rows if serving.is_inside(part["polygon"], row[selection["x"]], row[selection["y"]])]


def draws_a_lasso(one, folder, origin, path):
    """The cell's frame shows the page, which is at this address; a lasso there is what the next cell has."""
    output = one.run_cell(0)
    one.enter_frame(output)
    one.wait_for(run="toy/seed1", points=N, examples=N)
    assert one.run("return [location.origin, location.pathname]") == [origin, path]
    assert "token" not in one.run("return location.href + document.cookie"), "a script cannot read the token"
    one.drag([(0.15, 0.3), (0.7, 0.1), (0.8, 0.7), (0.3, 0.85)])
    selection = one.selection()
    one.wait(lambda: int(one.data()["selected"]) > 100, "a selection")
    count = int(one.data()["selected"])
    wait(lambda: one.run("return fetch('api/selection?run=toy/seed1').then((answer) => answer.json())")["selection"], "the selection is kept")
    kept, ids, _ = one.json(1)
    assert kept["parts"] == selection["parts"] and ids == selected_by(kept, folder) and len(ids) == count
    assert "ssh" not in output.text, "no advice is needed"
    return output


def fits(one):
    """The map with both axes' names, and a way to the table, without scrolling."""
    for what, count in (("#map .axes text.name", 2), ("#panel-buttons button[data-panel=table]", 1)):
        seen = """return [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect())
            .filter(({ left, top, right, bottom, width }) => width > 0 && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight).length"""
        one.wait(lambda: one.run(seen, what) == count, what)
    assert one.run("return [innerHeight, document.documentElement.scrollHeight]") == [600, 600]
    assert one.plot()["height"] > 200
    if one.run("return document.getElementById('table').classList.contains('closed')"):
        one.find("#panel-buttons button[data-panel=table]").click()
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") > 4, "rows")
    one.find("#panel-buttons button[data-panel=table]").click()


def was_not_forwarded(one, port):
    """The notebook's server was asked for the page, and said that there is no such thing; nothing else was refused."""
    said = [said for said in one.errors() if f"/proxy/{port}" in said]
    return len(said) == 1 and "404" in said[0]


def is_dark(one):
    red, green, blue = one.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    return red + green + blue < 200


def test_through_the_notebooks_own_server(folder, lab, port):
    """jupyter-server-proxy forwards to the page: the notebook's port is all that the browser can reach. The theme is the notebook's."""
    with opened(f"http://localhost:{lab.port}/user/ada", port, is_reachable=False) as one:
        output = draws_a_lasso(one, folder, f"http://localhost:{lab.port}", f"/user/ada/proxy/{port}/")
        for name, dark in (("JupyterLab Dark", True), ("JupyterLab Light", False)):
            one.choose_theme(name)
            one.enter_frame(output)
            wait(lambda dark=dark: is_dark(one) == dark, name)
            fits(one)
        assert one.fragment().get("theme") is None, "it follows, and nothing is chosen"
    said = lab.said.read_text(errors="replace")
    assert "token=[secret]" in said and not re.search(r"token=\w{32}", said), "the notebook's server writes no token down"


def test_forwarded_to_another_port(folder, lab, port):
    """`ssh -L 9999:localhost:8888`: the notebook's server is all that is forwarded, to another number."""
    with Forwarder(lab.port) as forwarder, opened(f"http://127.0.0.1:{forwarder.port}/user/ada", port, is_reachable=False) as one:
        draws_a_lasso(one, folder, f"http://127.0.0.1:{forwarder.port}", f"/user/ada/proxy/{port}/")


def test_forwarded_to_the_same_ports(folder, bare_lab, port):
    """`ssh -L 8888:localhost:8888 -L 5780:127.0.0.1:5780`. To the browser, localhost is an address at which only these two are."""
    with Forwarder(bare_lab.port, bare_lab.port, "127.0.0.2"), Forwarder(port, port, "127.0.0.2"):
        with opened(f"http://localhost:{bare_lab.port}", port, "MAP localhost 127.0.0.2") as one:
            draws_a_lasso(one, folder, f"http://localhost:{port}", "/")
            assert was_not_forwarded(one, port)


def test_the_pages_port_is_not_forwarded(bare_lab, port):
    """Nor does the notebook's server forward to it: in place of the empty frame is what to do."""
    with opened(f"http://localhost:{bare_lab.port}", port, is_reachable=False) as one:
        output = one.run_cell(0)
        wait(lambda: f"ssh -L {port}:127.0.0.1:{port}" in output.text and "jupyter-server-proxy" in output.text, "advice")
        link = output.find_element(By.CSS_SELECTOR, "a")
        assert not output.find_element(By.CSS_SELECTOR, "iframe").is_displayed()
        assert link.is_displayed() and link.get_attribute("href") == json.loads(one.run_cell(1).text)[2]
        assert was_not_forwarded(one, port)


def test_a_foreign_name_without_a_proxy(bare_lab, port):
    """No frame could show the page: the cell has a link, and says what to do."""
    with opened(f"http://lab.example.org:{bare_lab.port}", port, "MAP lab.example.org 127.0.0.1") as one:
        output = one.run_cell(0)
        wait(lambda: f"ssh -L {port}:127.0.0.1:{port}" in output.text, "advice")
        assert output.find_element(By.CSS_SELECTOR, "a").is_displayed() and not output.find_elements(By.CSS_SELECTOR, "iframe")
        assert was_not_forwarded(one, port)


def test_under_a_foreign_name_with_tls(folder, lab, port, tmp_path):
    """nginx before the notebook's server; the cookie is sent over TLS alone. Who names the page's own port by a foreign name gets nothing."""
    proxy = nginx.Nginx(tmp_path / "nginx")
    websockets = "access_log off; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;"
    outside = proxy.add(f"http://127.0.0.1:{lab.port}", "/user/ada", websockets=("access_log off;", websockets))
    with nginx.running(proxy), opened(f"https://{nginx.NAME}:{outside}/user/ada", port, f"MAP {nginx.NAME} 127.0.0.1, MAP evil.example 127.0.0.1") as one:
        draws_a_lasso(one, folder, f"https://{nginx.NAME}:{outside}", f"/user/ada/proxy/{port}/")
        (cookie,) = (cookie for cookie in one.driver.execute_cdp_cmd("Storage.getCookies", {})["cookies"] if cookie["name"].startswith("portolan"))
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, True, "Strict", f"/user/ada/proxy/{port}")
        other = browsers.Page(one.driver, f"http://evil.example:{port}/api/runs")
        assert "this server is not called 'evil.example" in other.run("return document.body.textContent")
        assert any("403" in said for said in other.errors())
        other.close()
        one.driver.switch_to.window(one.handle)


def test_on_a_hub(folder, port):
    """JupyterHub, over http and under a foreign name, asked by its user."""
    with notebooks.jupyterhub(folder) as hub:
        address = f"http://hub.example.org:{hub.port}"
        with opened_on_hub(address, hub, port) as one:
            draws_a_lasso(one, folder, address, f"/user/ada/proxy/{port}/")
            (cookie,) = (cookie for cookie in one.driver.execute_cdp_cmd("Storage.getCookies", {})["cookies"] if cookie["name"].startswith("portolan"))
            assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (False, True, "Strict", f"/user/ada/proxy/{port}")


@contextlib.contextmanager
def opened_on_hub(address, hub, port):
    with browsers.browser(*browsers.WEBGL, "--host-resolver-rules=MAP hub.example.org 127.0.0.1") as driver:
        page = browsers.Page(driver, f"{address}/hub/login?next=/hub/user-redirect/lab/workspaces/w{port}/tree/{port}.ipynb")
        page.find("[name=username]").send_keys("ada")
        page.find("[name=password]").send_keys("ada", Keys.ENTER)
        wait(lambda: "/user/ada/lab" in page.run("return location.href") or not hub.is_running(), "the hub's JupyterLab")
        one = Lab(driver, f"{address}/user/ada/lab/workspaces/w{port}/tree/{port}.ipynb")
        one.errors()
        yield one
        assert not one.errors()
        one.run_cell(2)
