"""The page in Firefox: it loads, draws, selects exactly and goes on without WebGL; the page as one file too. The other files here have the rest, in Chromium."""

import html
import os
import subprocess

import pytest
from selenium.webdriver.common.keys import Keys

import firefox as browsers
from served import FRAME, N, PORTOLAN, TEXTS, metrics, select_within, selected_by

STAR = [(0.5, 0.1), (0.7, 0.85), (0.2, 0.4), (0.8, 0.4), (0.3, 0.85), (0.5, 0.1)]


@pytest.fixture(scope="module")
def written(served, folder):
    """written(command): the address of what `portolan map` or `report` writes of a/b."""
    def write(command):
        path, data = folder / f"firefox-{command}.html", os.path.join(os.path.dirname(served.store), "data.jsonl")
        subprocess.run([PORTOLAN, command, "a/b", "--store", served.store, "--data", data, "--id-field", "id", "--text", "text", "-o", str(path)], capture_output=True, check=True)
        return path.as_uri()
    return write


def lasso(one, served, shape=STAR):
    """What the page selects is what exact arithmetic and the command select."""
    one.drag(shape)
    selection = dict(one.selection(), run="a/b")
    expected = selected_by(selection, metrics(served.store, "a/b"))
    assert 50 < len(expected) < N / 2
    one.wait_for(selected=len(expected))
    return selection, expected


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (900, 700)], ids=["1440x900", "900x700"])
def test_loads_and_draws(tab, served, size, dark):
    one = tab()
    one.emulate(*size, dark=dark)
    one.driver.get(served.view(run="a/b", colour="gold", panel="table"))
    one.wait_for(run="a/b", epochs="0:4", points=N, examples=N, selected=0)
    assert one.run("return Boolean(document.createElement('canvas').getContext('webgl2'))")
    one.wait(lambda: one.pixels("#map .points")[1] > one.pixels("#map .points")[2] / 100, "coloured points")
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") >= 8, "rows")
    needed = one.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert needed <= list(size), "all is on one screen"
    red, green, blue = one.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    assert (red + green + blue < 200) == dark
    ratio, text = one.least_contrast()
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"


def test_lasso(tab, served, folder):
    one = tab()
    one.emulate(1440, 900)
    one.driver.get(served.view(run="a/b"))
    one.wait_for(points=N)
    selection, expected = lasso(one, served)
    exported = folder / "from-firefox.json"
    exported.write_text(one.run("return JSON.stringify(arguments[0])", selection))
    assert select_within(served.store, "a/b", exported) == expected
    one.zoom_in(0.5, 0.5)
    one.wait(lambda: "box" in one.fragment(), "a part in view")
    one.drag([(0.2, 0.2), (0.7, 0.3), (0.5, 0.7)], keys=[Keys.ALT])
    fewer = selected_by(one.selection(2), metrics(served.store, "a/b"))
    one.wait_for(selected=len(fewer))
    assert 0 < len(fewer) < len(expected)


def test_keys(tab, served):
    one = tab(served.view(run="a/b"))
    one.wait_for(points=N)
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press(Keys.HOME)
    one.wait(lambda: one.run("return document.querySelector('#map .card')?.hidden === false"), "a card")
    one.press(Keys.ENTER)
    one.wait(lambda: len(one.fragment().get("pinned", [])) == 1, "a pinned example")


def test_texts_are_texts(tab, served):
    one = tab(served.view(run="a/b", pinned=["0", "1", "2"]))
    one.wait_for(points=N)
    for i in range(3):
        one.wait(lambda i=i: TEXTS[i] in one.run("return document.getElementById('pinned').textContent"), f"the text of example {i}")
    assert one.run("return window.attacked === undefined")


def test_theme_of_the_page_around_a_frame(tab, served, notebook):
    """As in a notebook's cell."""
    lightness = """
        const [picture, done] = arguments, image = new Image();
        image.onload = () => {
          const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
          pen.drawImage(image, 0, 0);
          const { data } = pen.getImageData(0, 0, image.width, image.height);
          done(data.reduce((sum, part) => sum + part, 0) / data.length);
        };
        image.src = "data:image/png;base64," + picture;"""
    one = tab()
    one.emulate(1000, 700, dark=False)
    one.driver.get(notebook(FRAME.replace("ADDRESS", html.escape(served.view(run="a/b")))))
    one.wait(lambda: one.run("return document.title") == "heard: portolan is here, true", "the page in the frame")
    seen = lambda: one.here().execute_async_script(lightness, one.find("iframe").screenshot_as_base64)
    one.wait(lambda: seen() < 110, "a dark page in a light browser")
    one.run("document.querySelector('iframe').style.colorScheme = 'light'")
    one.wait(lambda: seen() > 200, "a light page")


def test_less_motion(tab, served):
    one = tab()
    one.less_motion()
    try:
        one.driver.get(served.view(run="a/b"))
        one.wait_for(points=N)
        one.find("#fold-side").click()
        assert one.run("return [matchMedia('(prefers-reduced-motion: reduce)').matches, document.getAnimations().length]") == [True, 0]
    finally:
        one.less_motion(False)


def test_page_as_one_file(tab, served, written):
    one = tab()
    one.emulate(1440, 900, dark=False)  # wide: the table is open from the start
    one.driver.get(written("map"))
    one.wait_for(run="a/b", epochs="0:4", points=N, examples=N)
    one.wait(lambda: one.pixels("#map .points")[1] > one.pixels("#map .points")[2] / 100, "coloured points")
    lasso(one, served)
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") >= 8, "rows")


def test_report(tab, written):
    one = tab(written("report"))
    assert one.pixels("#map img")[1] > 500
    assert f"{N:,} examples" in one.find("#record").text


def test_without_webgl(served, written):
    with browsers.browser(**browsers.NO_WEBGL) as driver:
        for address in (served.view(run="a/b"), written("map")):
            one = browsers.Page(driver, address)
            assert not one.run("return Boolean(document.createElement('canvas').getContext('webgl2'))")
            one.wait_for(points=N, examples=N)
            one.wait(lambda one=one: one.pixels("#map .holder canvas")[0] > 2000, "the density picture")
            assert "WebGL2" in one.run("return document.getElementById('map-drawn').textContent")
            lasso(one, served)
        assert not one.errors()


def test_errors_are_heard(firefox):
    """The other tests would else hear none."""
    one = browsers.Page(firefox, "about:blank")
    one.driver.get("data:text/html,<script>throw new Error('meant')</script>")
    one.wait(lambda: any("meant" in said for said in one.errors()), "the error")
    one.close()
