"""Light and dark: as the browser has it, as the page around a frame has it, or as the header's choice says, which the address keeps. And what the page does in a
frame, as in a notebook's cell."""

import html

import pytest

from served import FRAME, N

SMALL = 40  # examples of the run "small", whose points are large

DARK, LIGHT = "#56b4e9", "#0072b2"  # of the first category (palette.js)

# How many pixels of a picture (PNG, base64) are nearly of a colour (#rrggbb).
PIXELS_OF = """
const [picture, colour, done] = arguments;
const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const image = new Image();
image.onload = () => {
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) found += wanted.every((part, at) => Math.abs(part - data[i + at]) < 32);
  done(found);
};
image.onerror = () => done(-1);
image.src = "data:image/png;base64," + picture;
"""


def pixels_of(one, colour):
    """Of the map's points."""
    one.next_picture()
    return one.here().execute_async_script(PIXELS_OF, one.find("#map .holder").screenshot_as_base64, colour)


def is_dark(one):
    red, green, blue = one.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)")
    return red + green + blue < 200


def choose(one, theme):
    """By the header's button, which goes from one to the next."""
    for _ in range(3):
        if one.run("return document.documentElement.dataset.theme") == theme:
            return
        one.find("header .theme").click()
    assert one.run("return document.documentElement.dataset.theme") == theme


def shows(one, dark):
    """Everything is of one theme: what style.css colours, a legend, and the points."""
    one.wait(lambda: is_dark(one) == dark, f"dark: {dark}")
    assert one.run("return getComputedStyle(document.documentElement).colorScheme") in (("dark", "light dark") if dark else ("light", "light dark"))
    mine, other = (DARK, LIGHT) if dark else (LIGHT, DARK)
    red, green, blue = (int(mine[at : at + 2], 16) for at in (1, 3, 5))
    one.wait(lambda: one.run("return getComputedStyle(document.querySelector('#legend .swatch')).backgroundColor") == f"rgb({red}, {green}, {blue})", "the legend's colour")
    one.wait(lambda: pixels_of(one, mine) > 60, f"points of the colour {mine}")
    assert pixels_of(one, mine) > 3 * pixels_of(one, other), "edges are blended with the ground, and there are few of them"
    ratio, text = one.least_contrast()
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"


@pytest.mark.parametrize("browser", [False, True], ids=["light browser", "dark browser"])
def test_chosen_in_the_header_and_kept(page, served, browser):
    one = page("about:blank")
    one.emulate(1280, 900, dark=browser)
    one.driver.get(served.view(run="small", colour="gold"))
    one.wait_for(points=SMALL)
    shows(one, browser)
    assert "theme" not in one.fragment(), "the default is not in the address"
    for chosen, dark in (("dark", True), ("light", False)):
        choose(one, chosen)
        shows(one, dark)
        one.wait(lambda: one.fragment().get("theme") == chosen, "the address keeps it")
        one.driver.refresh()
        one.wait_for(points=SMALL)
        shows(one, dark)
        assert one.find("header .theme").get_attribute("aria-label").startswith(f"Theme: {chosen}.")
    one.emulate(1280, 900, dark=not browser)  # what was chosen stays
    shows(one, False)
    choose(one, "auto")
    shows(one, not browser)
    one.emulate(1280, 900, dark=browser)
    shows(one, browser)


@pytest.mark.parametrize("theme", ["pink", "", "[]", "dark\"></style>"])
def test_a_link_with_another_word_is_as_one_without(page, served, theme):
    one = page("about:blank")
    one.emulate(1280, 900, dark=True)
    one.driver.get(served.view(run="small", colour="gold", theme=theme))
    one.wait_for(points=SMALL)
    shows(one, True)
    one.wait(lambda: one.run("return document.documentElement.dataset.theme") == "auto", "auto")


def test_two_maps_and_the_arrows_between_them(page, served):
    one = page("about:blank")
    one.emulate(1280, 900, dark=False)
    one.driver.get(served.view(run="a/b", colour="gold", tool="box", other="run=a%2Fb&epochs=0%3A2"))
    one.wait_for(points=N)
    one.drag([(0.3, 0.3), (0.7, 0.7)])
    one.wait(lambda: int(one.data()["selected"]) > 0, "a selection")
    one.run("[...document.querySelectorAll('#compare label')].find((label) => label.textContent.includes('Arrows')).querySelector('input').click()")
    # The colour of each pixel of the arrows that is drawn at all, and how light it is on average; null: none is drawn.
    lightness = """
        const canvas = document.querySelector("#map canvas.arrows");
        if (!canvas || canvas.hidden || !canvas.width) return null;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let sum = 0, n = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100) (sum += data[i] + data[i + 1] + data[i + 2]), n++;
        return n > 0 ? sum / n / 3 : null"""
    one.wait(lambda: one.run(lightness) is not None, "arrows")
    assert one.run(lightness) < 60
    choose(one, "dark")
    one.wait(lambda: (one.run(lightness) or 0) > 200, "arrows of the other theme")


def test_in_a_frame(page, served, notebook):
    """The frame's own color-scheme decides, whatever the browser's is; and the page around it hears that the page is there, once and nothing else."""
    one = page("about:blank")
    one.driver.get(notebook(FRAME.replace("ADDRESS", html.escape(served.view(run="a/b", colour="gold", linked=True)))))
    one.driver.switch_to.frame(0)
    one.wait_for(points=N)
    one.wait(lambda: is_dark(one), "the frame's theme")
    one.driver.switch_to.default_content()
    assert not one.run("return matchMedia('(prefers-color-scheme: dark)').matches"), "the browser's own is another one"
    assert one.run("return document.title") == "heard: portolan is here, true"
    one.run("document.querySelector('iframe').style.colorScheme = 'light'")
    one.driver.switch_to.frame(0)
    one.wait(lambda: not is_dark(one), "the frame's other theme")
    one.wait(lambda: one.run("return getComputedStyle(document.querySelector('#legend .swatch')).backgroundColor") == "rgb(0, 114, 178)", "the legend's colour")
    one.run("location.hash += '&x=aum'")
    before = len(one.driver.window_handles)
    one.find("header .out").click()
    one.wait(lambda: len(one.driver.window_handles) > before, "a tab")
    one.driver.switch_to.window(one.driver.window_handles[-1])
    try:
        one.handle, first = one.driver.current_window_handle, one.handle
        one.wait_for(run="a/b", points=N)
        assert one.run("return opener") is None and one.fragment()["colour"] == "gold" and served.token not in one.run("return location.href")
        assert one.run("return document.querySelector('header .out')") is None, "a tab has no such link"
    finally:
        one.driver.close()
        one.handle = first
        one.driver.switch_to.window(first)
