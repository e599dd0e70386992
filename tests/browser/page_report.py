"""The page of `portolan report`, opened from disk: it fits small and large screens, can be read in light and dark, and asks for nothing."""

import os
import subprocess

import pytest

from served import N, PORTOLAN


@pytest.fixture(scope="module")
def address(served, folder):
    data = os.path.join(os.path.dirname(served.store), "data.jsonl")
    subprocess.run([PORTOLAN, "report", "a/b", "--store", served.store, "--data", data, "--id-field", "id", "--text", "text", "-o", str(folder / "report.html")],
                   capture_output=True, check=True)
    return (folder / "report.html").as_uri()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["1280x800", "390x844"])
def test_fits_and_can_be_read(page, address, size, dark):
    one = page("about:blank")
    one.emulate(*size, dark=dark)
    one.driver.get(address)
    inner, needed = one.run("return [innerWidth, document.documentElement.scrollWidth]")
    assert inner == size[0] and needed <= inner, "nothing is beside the screen"
    ratio, text = one.least_contrast()
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"
    red, green, blue = one.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    assert (red + green + blue < 200) == dark
    drawn, coloured, of = one.pixels("#map img")
    assert coloured > of / 100, "the map is drawn"


def test_asks_for_nothing(page, address):
    one = page(address)
    assert one.run("return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('data:'))") == []
    assert one.run("return [document.scripts.length, window.attacked ?? null]") == [0, None]
    assert f"{N:,} examples" in one.find("#record").text


def test_a_number_leads_to_its_command(page, address):
    one = page(address)
    link = one.find("#hurts caption a")
    link.click()
    assert "groups" in one.find(":target").text and "--classes" in one.find(":target").text
