"""The page on small and large screens, light and dark, and where there is no WebGL2."""

import pytest

import chromium as browsers
from served import N, metrics, selected_by

SCREENS = [(1280, 800), (390, 844)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SCREENS, ids=["1280x800", "390x844"])
def test_fits_and_can_be_read(page, served, size, dark):
    one = page("about:blank")
    one.emulate(*size, dark=dark)
    one.driver.get(served.view(run="a/b", pinned=["17"], colour="gold"))
    one.wait_for(points=N, examples=N)
    one.wait(lambda: one.run("return document.querySelector('#pinned article .text')?.textContent"), "the pinned example")
    inner, needed = one.run("return [innerWidth, document.documentElement.scrollWidth]")
    assert inner == size[0] and needed <= inner, "nothing is beside the screen"
    ratio, text = one.least_contrast()
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"
    red, green, blue = one.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    assert (red + green + blue < 200) == dark
    drawn, coloured, of = one.pixels("#map .points")
    assert coloured > of / 100
    plot = one.plot()
    assert plot["width"] > 0.6 * min(size[0], 800) and plot["height"] > 200


def test_touch_on_a_small_screen(page, served):
    one = page("about:blank")
    one.emulate(390, 844)
    one.driver.get(served.view(run="a/b", tool="box"))
    one.wait_for(points=N)
    one.drag([(0.2, 0.2), (0.7, 0.7)])
    one.wait_for(selected=len(selected_by(one.selection(), metrics(served.store, "a/b"))))


def test_less_motion(page, served):
    """Who asks for less motion gets none."""
    one = page("about:blank")
    one.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    one.driver.get(served.view(run="a/b"))
    one.wait_for(points=N)
    assert one.run("return document.getAnimations().length") == 0


def test_without_webgl(served):
    with browsers.browser(*browsers.NO_WEBGL) as driver:
        one = browsers.Page(driver, served.view(run="a/b", tool="box"))
        assert not one.run("return Boolean(document.createElement('canvas').getContext('webgl2'))")
        one.wait_for(points=N, examples=N)
        one.wait(lambda: one.pixels("#map .holder canvas")[0] > 2000, "the density picture")
        assert "WebGL2" in one.run("return document.getElementById('map-drawn').textContent")
        one.drag([(0.2, 0.2), (0.7, 0.7)])
        one.wait_for(selected=len(selected_by(one.selection(), metrics(served.store, "a/b"))))
        assert not one.errors()
