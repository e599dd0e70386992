"""Chromium, headless, and a page in it as its user sees it. A plugin for pytest: fixtures `chromium` and `page`.

A browser that does not start is a failure, never a reason to skip.
"""

import contextlib
import json
import time
import urllib.parse

import pytest
from selenium import webdriver
from selenium.common.exceptions import ElementNotInteractableException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 30  # seconds; nothing takes this long unless something is wrong
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
NO_WEBGL = ("--disable-gpu", "--disable-3d-apis")

ended = set()  # the origins of servers that a test has ended

# The colour of each text that is seen, and of what it stands on: [text, red, green, blue, red, green, blue].
TEXT_COLOURS = """
const parse = (colour) => (colour.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const [red, green, blue, alpha = 1] = parse(getComputedStyle(node).backgroundColor);
    if (alpha > 0.9) return [red, green, blue];
  }
  const schemes = getComputedStyle(document.documentElement).colorScheme;
  return parse(schemes.includes("dark") && (!schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches) ? "18, 18, 18" : "255, 255, 255");
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  const text = walker.currentNode.textContent.trim();
  if (!text || !parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || parent.closest(":disabled, .unseen, .skip, script, option")) continue;
  const style = getComputedStyle(parent);
  const colour = parse(parent instanceof SVGElement ? style.fill : style.color);
  if ((colour[3] ?? 1) > 0) found.push([text.slice(0, 40), ...colour.slice(0, 3), ...ground(parent)]);
}
return found;
"""

# How many pixels of a picture (PNG, base64) differ from its corner, and how many of these have a hue.
COUNT_PIXELS = """
const [picture, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let drawn = 0, coloured = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [red, green, blue] = [data[i], data[i + 1], data[i + 2]];
    if (Math.abs(red - data[0]) + Math.abs(green - data[1]) + Math.abs(blue - data[2]) > 24) {
      drawn++;
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 40) coloured++;
    }
  }
  done([drawn, coloured, data.length / 4]);
};
image.onerror = () => done(null);
image.src = "data:image/png;base64," + picture;
"""


class Page:
    """A tab. Several may be open: each question goes to this one."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.switch_to.new_window("tab")
        self.handle = driver.current_window_handle
        driver.get(address)

    def here(self):
        if self.driver.current_window_handle != self.handle:
            self.driver.switch_to.window(self.handle)
        return self.driver

    def run(self, script, *arguments):
        return self.here().execute_script(script, *arguments)

    def find(self, selector):
        return self.here().find_element(By.CSS_SELECTOR, selector)

    def wait(self, condition, what, patience=PATIENCE):
        """Until condition() is true, which it answers."""
        end = time.monotonic() + patience
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; the page has {self.data()}, {self.status()!r}; console: {self.errors()}")
            time.sleep(0.03)

    def data(self):
        """<main>'s data-… attributes; {}: there is no such page."""
        return self.run("const main = document.querySelector('main'); return main ? {...main.dataset} : {}")

    def status(self):
        return self.run("return document.getElementById('status')?.textContent ?? ''")

    def wait_for(self, **expected):
        """Until <main> has these data-… attributes, and nothing is being loaded."""
        expected = {name: str(value) for name, value in expected.items()}

        def is_there():
            data = self.data()
            return all(data.get(name) == value for name, value in expected.items()) and not self.run("return document.body.classList.contains('busy')")

        self.wait(is_there, f"{expected}")

    def fragment(self):
        """The state in the address; what is JSON as what it means."""
        parts = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.run("return location.href")).fragment))
        return {name: json.loads(text) if text[:1] in "[{" else text for name, text in parts.items()}

    def selection(self, parts=1):
        """The selection in the address, once it has so many parts."""
        self.wait(lambda: len(self.fragment().get("selection", {}).get("parts", [])) == parts, f"a selection of {parts} parts")
        return self.fragment()["selection"]

    def settled_fragment(self):
        """The state, once it no longer changes: the address follows a gesture a little later."""
        known = []

        def is_settled():
            known.append(self.fragment())
            return len(known) > 20 and all(one == known[-1] for one in known[-20:])

        self.wait(is_settled, "an address that stays")
        return known[-1]

    def errors(self):
        """What the browser's console has said is wrong since the last time. Where a server has ended, nobody answers, or another test's server, which refuses."""
        severe = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [said for said in severe if not said.startswith(tuple(ended)) or not ("net::ERR_" in said or "status of 401" in said)]

    def plot(self):
        """Where points are drawn, in pixels of the window: {left, top, width, height}."""
        return self.run("const {left, top, width, height} = document.querySelector('#map rect.capture').getBoundingClientRect(); return {left, top, width, height}")

    def drag(self, corners, keys=()):
        """Draws with the mouse through these corners of the plot, from 0, 0 at its top left to 1, 1."""
        self.run("document.querySelector('#map').scrollIntoView({block: 'center'})")
        plot = self.plot()
        at = [(round(plot["left"] + x * plot["width"]), round(plot["top"] + y * plot["height"])) for x, y in corners]
        actions = ActionBuilder(self.driver, duration=20)
        for key in keys:
            actions.key_action.key_down(key)
        mouse = actions.pointer_action
        mouse.move_to_location(*at[0])
        mouse.pointer_down()
        for (x0, y0), (x1, y1) in zip(at, at[1:]):
            for share in (0.5, 1):
                mouse.move_to_location(round(x0 + share * (x1 - x0)), round(y0 + share * (y1 - y0)))
        mouse.pointer_up()
        actions.perform()
        actions.clear_actions()

    def open_panel(self, name):
        """Opens a panel beside the map, as its button does, unless it is open."""
        self.run("const made = document.querySelector(`#panel-buttons [data-panel=${arguments[0]}]`); if (made.getAttribute('aria-selected') !== 'true') made.click()", name)

    def point_at(self, x, y):
        plot = self.plot()
        actions = ActionBuilder(self.driver, duration=20)
        actions.pointer_action.move_to_location(round(plot["left"] + x * plot["width"]), round(plot["top"] + y * plot["height"]))
        actions.perform()

    def zoom_in(self, x, y, turns=3):
        plot = self.plot()
        actions = ActionBuilder(self.driver, duration=20)
        for _ in range(turns):
            actions.wheel_action.scroll(round(plot["left"] + x * plot["width"]), round(plot["top"] + y * plot["height"]), 0, -120)
        actions.perform()

    def press(self, *keys):
        """Keys, to whatever has the focus, once it can be seen, also if the page puts another element in its place meanwhile."""
        def is_sent(key):
            with contextlib.suppress(ElementNotInteractableException, StaleElementReferenceException):
                self.here().switch_to.active_element.send_keys(key)
                return True

        for key in keys:
            self.wait(lambda key=key: is_sent(key), "what has the focus")

    def tab_to(self, condition, what):
        """Tab, until the focus is where the condition (JavaScript on `at`) holds."""
        for _ in range(150):
            if self.run(f"const at = document.activeElement; return Boolean({condition})"):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"Tab does not come to {what}")

    def next_picture(self):
        """Until the page has drawn what its state is now: it draws before each picture, which a script may come ahead of."""
        self.here().execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0]))")

    def axis(self, name):
        """(start, size) so that a share s of the plot, from its left or bottom, is start + s·size: read off the axis as it is seen."""
        self.next_picture()
        ticks = self.run("""
            const plot = document.querySelector('#map rect.capture').getBoundingClientRect();
            return [...document.querySelectorAll(`#map g.axes g.${arguments[0]} .tick`)].filter((tick) => tick.textContent).map((tick) => {
              const {left, top, width, height} = tick.querySelector('line').getBoundingClientRect();
              return [Number(tick.textContent.replace('\u2212', '-')), arguments[0] === 'x' ? (left + width / 2 - plot.left) / plot.width : (plot.bottom - top - height / 2) / plot.height];
            })""", name)
        (value0, share0), (value1, share1) = ticks[0], ticks[-1]
        size = (value1 - value0) / (share1 - share0)
        return value0 - share0 * size, size

    def emulate(self, width, height, dark=False):
        driver = self.here()
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def pixels(self, selector):
        """(drawn, coloured, all) pixels of what is seen where this element is."""
        picture = self.find(selector).screenshot_as_base64
        return self.here().execute_async_script(COUNT_PIXELS, picture)

    def least_contrast(self):
        """(ratio, text) of the text that is the hardest to read."""
        def luminance(colour):
            linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        found = []
        for text, *colours in self.run(TEXT_COLOURS):
            light, dark = sorted((luminance(colours[:3]), luminance(colours[3:])), reverse=True)
            found.append(((light + 0.05) / (dark + 0.05), text))
        return min(found)

    def close(self):
        self.here().close()
        self.driver.switch_to.window(self.driver.window_handles[0])


@contextlib.contextmanager
def browser(*arguments):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # As root, Chromium's sandbox does not start; in a bare Debian, /dev/shm may be missing.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900", "--no-first-run", "--lang=en-US",
                     "--disable-background-networking", "--disable-component-update", *arguments):
        options.add_argument(argument)
    options.accept_insecure_certs = True  # a test's own certificate
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def chromium():
    with browser(*WEBGL, "--host-resolver-rules=MAP evil.example 127.0.0.1, MAP lab.example.org 127.0.0.1") as driver:
        yield driver


@pytest.fixture
def page(chromium):
    """page(address) opens one; at the end all are closed, and none may have said an error."""
    opened = []

    def open_page(address):
        opened.append(Page(chromium, address))
        return opened[-1]

    chromium.get_log("browser")
    yield open_page
    errors = opened[0].errors() if opened else []
    for one in opened:
        one.close()
    assert not errors, errors
