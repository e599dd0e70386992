"""Many examples in one place: the colour of piles, whatever is drawn last, and the lines of equal density, beside NumPy's counts."""

import re

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates
from selenium.webdriver.support.select import Select

import chromium as browsers
import stores
from served import MAKE_STORE, N, metrics, observations, serving

PILE, SMALL = 30000, 300  # examples of each label in one place
CLOUD = 60000
MANY = 1_050_000  # more than a page draws whole
SIGMA = 4 * np.sqrt(6)  # pixels: counts in cells of 4 pixels, averaged three times over 5 cells
SIGMA_FEW = 4 * np.sqrt(20)  # of fewer than 50,000 examples: over 9 cells
PLACES = {"large": 0.8, "small": 0.3}  # confidence

# The colours of a picture (PNG, base64) around places in it: of each the one that differs the most from the picture's corner.
READ_COLOURS = """
const [picture, places, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const at = (x, y) => [...canvas.getImageData(x, y, 1, 1).data].slice(0, 3);
  const corner = at(0, 0);
  const far = (colour) => colour.reduce((sum, value, i) => sum + Math.abs(value - corner[i]), 0);
  done(places.map(([x, y]) => {
    let best = corner;
    for (let dx = -4; dx <= 4; dx++) for (let dy = -4; dy <= 4; dy++) {
      const found = at(Math.round(x) + dx, Math.round(y) + dy);
      if (far(found) > far(best)) best = found;
    }
    return best;
  }));
};
image.src = "data:image/png;base64," + picture;
"""

WITHOUT_BLENDING = """
const get = WebGL2RenderingContext.prototype.getExtension;
WebGL2RenderingContext.prototype.getExtension = function (name) { return name === "EXT_float_blend" ? null : get.call(this, name); };
"""


def pile_batches(labels):
    """Examples in two places, label after label: those with the last label are drawn last."""
    sizes = [PILE, PILE, SMALL, SMALL]
    level = np.repeat([PLACES["large"], PLACES["large"], PLACES["small"], PLACES["small"]], sizes).astype("f4")
    gold = np.repeat([*labels, *labels], sizes)
    return [stores.batch(epoch, np.arange(len(level)), level, level > 0.5, gold) for epoch in range(2)]


def cloud_batches(n, epochs):
    probabilities, gold = observations(n, epochs)
    return [stores.batch(epoch, np.arange(n), p, p > 0.5, gold) for epoch, p in enumerate(probabilities)]


@pytest.fixture(scope="module")
def dense(folder):
    labels = ["one", "two", "three"]
    runs = [stores.run(name, batches, declared=n, labels=labels) for name, n, batches in (
        ("pile", 2 * (PILE + SMALL), pile_batches([0, 1])), ("turned", 2 * (PILE + SMALL), pile_batches([1, 0])),
        ("cloud", CLOUD, cloud_batches(CLOUD, 3)), ("many", MANY, cloud_batches(MANY, 2)))]
    stores.make_store(MAKE_STORE, str(folder / "dense"), runs)
    with serving(folder / "dense") as server:
        yield server


def text_of(page, selector):
    return page.run("return document.querySelector(arguments[0]).textContent", selector)


def look_at_piles(page):
    plot, (start, size), (x_start, x_size) = page.plot(), page.axis("y"), page.axis("x")
    places = [(-x_start / x_size * plot["width"], plot["height"] * (1 - (level - start) / size)) for level in PLACES.values()]
    page.next_picture()
    return page.here().execute_async_script(READ_COLOURS, page.find("#map canvas.points").screenshot_as_base64, places)


def colours_of_piles(page):
    """By place, as they are seen without what lies over the points; once two looks are the same: as long as parts of the page arrive,
    the map may move between the question where a pile lies and the picture."""
    page.run("document.querySelector('#map svg.over').style.visibility = 'hidden'")
    looks = [look_at_piles(page)]

    def is_still():
        looks.append(look_at_piles(page))
        return looks[-1] == looks[-2]

    page.wait(is_still, "a map that stays as it is")
    return dict(zip(PLACES, map(np.array, looks[-1])))


def label_colours(page):
    """By label; in the order of their counts, labels may change places in the key."""
    return {text: np.array([int(number) for number in re.findall(r"\d+", colour)[:3]]) for text, colour in page.run("""
        return [...document.querySelectorAll("#legend li")].map((item) => [item.querySelector(".label").textContent, getComputedStyle(item.querySelector(".swatch")).backgroundColor])""")}


def assert_mixed(page):
    colours = label_colours(page)
    mean = (colours["one"] + colours["two"]) / 2
    for place, found in colours_of_piles(page).items():
        assert np.abs(found - mean).max() <= 3, f"the {place} pile is {found}, the mean is {mean}"


@pytest.mark.parametrize("run", ["pile", "turned"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_pile_has_the_mean_colour(page, dense, run, dark):
    one = page("about:blank")
    one.emulate(1280, 900, dark)
    one.driver.get(dense.view(run=run, colour="gold"))
    one.wait_for(points=2 * (PILE + SMALL))
    assert_mixed(one)
    assert "mean of their colours" in text_of(one, "#density")
    wait_for_lines(one, f"{2 * (PILE + SMALL):,} in view")


def test_selected_points_over_grey_ones(page, dense):
    one = page(dense.view(run="turned", colour="gold", selection={"x": "variability", "y": "confidence", "epochs": "0:2",
                                                                 "parts": [{"op": "add", "polygon": [[-1, 0], [1, 0], [1, 0.5], [-1, 0.5]]}]}))
    one.wait_for(points=2 * (PILE + SMALL), selected=2 * SMALL)
    colours, found = label_colours(one), colours_of_piles(one)
    assert np.abs(found["small"] - (colours["one"] + colours["two"]) / 2).max() <= 3
    assert np.ptp(found["large"]) < 20, "what is not selected is grey"


def test_a_lost_context(page, dense):
    one = page(dense.view(run="turned", colour="gold"))
    one.wait_for(points=2 * (PILE + SMALL))
    one.next_picture()
    one.run("""
        const canvas = document.querySelector("#map canvas.points");
        canvas.addEventListener("webglcontextlost", () => { window.wasLost = true; });
        canvas.addEventListener("webglcontextrestored", () => { window.isBack = true; });
        window.context = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
        window.context.loseContext()""")
    one.wait(lambda: one.run("return window.wasLost"), "a lost context")
    one.run("window.context.restoreContext()")
    one.wait(lambda: one.run("return window.isBack"), "the context")
    one.next_picture()
    assert_mixed(one)


def test_where_the_gpu_cannot_mix(page, dense):
    one = page("about:blank")
    one.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITHOUT_BLENDING})
    for run, last in (("pile", "two"), ("turned", "one")):
        one.driver.get("about:blank")
        one.driver.get(dense.view(run=run, colour="gold"))
        one.wait_for(points=2 * (PILE + SMALL))
        for found in colours_of_piles(one).values():
            assert np.abs(found - label_colours(one)[last]).max() <= 3
        assert "drawn last is on top" in text_of(one, "#density")


def test_where_the_gpu_fails_to_mix(page, dense):
    """It has all that is needed, and fails later, as the picture becomes another size: the key says so at once."""
    one = page(dense.view(run="pile", colour="gold", contours="off"))
    one.wait_for(points=2 * (PILE + SMALL))
    one.wait(lambda: "the mean of their colours" in text_of(one, "#density"), "the key")
    one.run("WebGL2RenderingContext.prototype.checkFramebufferStatus = () => 0; document.getElementById('map').style.paddingRight = '40px'")
    one.wait(lambda: "drawn last is on top" in text_of(one, "#density"), "words about colours that are not mixed")


def test_examples_of_another_run_are_mixed(page, dense):
    """Those selected there are drawn again, on a canvas of their own."""
    other = {"run": "turned", "epochs": "0:2"}
    one = page(dense.view(run="pile", colour="gold", other="&".join(f"{name}={value}" for name, value in other.items()), selection={
        "x": "variability", "y": "confidence", "epochs": "0:2", "parts": [{"op": "add", "polygon": [[-1, 0], [1, 0], [1, 1], [-1, 1]]}]}))
    one.wait_for(points=2 * (PILE + SMALL), selected=2 * (PILE + SMALL))
    one.wait(lambda: one.run("const linked = document.querySelector('#other-map canvas.linked'); return linked && !linked.hidden"), "the linked points")
    one.run("for (const layer of document.querySelectorAll('#other-map svg.over, #other-map canvas.points')) layer.style.visibility = 'hidden'")
    one.next_picture()
    x, y = one.run("""
        const canvas = document.querySelector("#other-map canvas.linked"), { left, top } = canvas.getBoundingClientRect();
        const line = document.querySelector("#other-map g.axes g.y .tick line").getBoundingClientRect();
        const at = [...document.querySelectorAll("#other-map g.axes g.y .tick")].find((tick) => tick.textContent === "0.8").getBoundingClientRect();
        const zero = [...document.querySelectorAll("#other-map g.axes g.x .tick")].find((tick) => Number(tick.textContent) === 0).querySelector("line").getBoundingClientRect();
        return [zero.left + zero.width / 2 - left, at.top + at.height / 2 - top]""")
    found = np.array(one.here().execute_async_script(READ_COLOURS, one.find("#other-map canvas.linked").screenshot_as_base64, [(x, y)])[0])
    colours = label_colours(one)
    assert np.abs(found - (colours["one"] + colours["two"]) / 2).max() <= 3


def wait_for_lines(page, text=None):
    """Until there are lines, and no longer change: they are counted anew a little after the map was moved, or got another size."""
    known = []

    def are_settled():
        known.append(page.run("return document.querySelector('#map .contours').innerHTML + document.querySelector('#density .lines').textContent"))
        return "<path" in known[-1] and (not text or text in known[-1]) and len(known) > 20 and all(one == known[-1] for one in known[-20:])

    page.wait(are_settled, f"lines, and {text!r}")


def read_lines(page):
    """(levels of the key, share that it says is inside the outermost line, lines: each a list of rings in pixels of the plot)."""
    page.next_picture()
    transform, paths = page.run("""
        const layer = document.querySelector("#map .contours > g");
        return [layer.getAttribute("transform"), [...layer.querySelectorAll("path.line")].map((path) => path.getAttribute("d"))]""")
    a, _, _, d, e, f = map(float, re.findall(r"-?[\d.]+(?:e-?\d+)?", transform))
    lines = [[np.array([[float(number) for number in corner.split(",")] for corner in ring.split("L")]) * [a, d] + [e, f]
              for ring in re.findall(r"M([^Z]*)Z", path)] for path in paths]
    levels = [float(text.replace(",", "")) for text in page.run("return [...document.querySelectorAll('#density .lines li')].map((item) => item.textContent)")]
    share = int(re.search(r"surrounds (\d+)%", text_of(page, "#density .lines"))[1]) / 100
    assert len(levels) == len(lines)
    return levels, share, lines


def counted(page):
    """How many examples in view the key says that the lines count."""
    return int(re.search(r"([\d,]+) in view", text_of(page, "#density .lines"))[1].replace(",", ""))


def pixels_of(page, rows):
    """Examples in pixels of the plot, as the axes say."""
    plot, (x_start, x_size), (y_start, y_size) = page.plot(), page.axis("x"), page.axis("y")
    x, y = (np.array([row[name] for row in rows]) for name in ("variability", "confidence"))
    return plot, np.column_stack([(x - x_start) / x_size * plot["width"], (1 - (y - y_start) / y_size) * plot["height"]])


def are_inside(rings, points):
    """Even-odd, over all rings of a line."""
    odd = np.zeros(len(points), bool)
    x, y = points.T
    for ring in rings:
        for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0)):
            if y0 != y1:
                odd ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return odd


def check_lines(page, rows, sigma=(SIGMA, SIGMA), trim=2):
    """The lines against the smoothed density of these examples, and the examples inside the outermost line. `trim`: lines are not checked so
    near (in pixels) to the plot's edges."""
    levels, share, lines = read_lines(page)
    plot, points = pixels_of(page, rows)
    width, height = plot["width"], plot["height"]
    edge = 80  # pixels: what lies beyond the view is smoothed into it
    histogram, _, _ = np.histogram2d(points[:, 1], points[:, 0], bins=[np.arange(-edge, height + edge), np.arange(-edge, width + edge)])
    density = 100 * gaussian_filter(histogram, sigma, mode="constant")
    checked = 0
    for level, rings in zip(levels, lines):
        corners = np.vstack(rings)
        in_view = corners[(corners > trim).all(axis=1) & (corners[:, 0] < width - trim) & (corners[:, 1] < height - trim)]
        if len(in_view) < 10:  # the line surrounds the whole view
            continue
        checked += 1
        found = map_coordinates(density, [in_view[:, 1] + edge - 0.5, in_view[:, 0] + edge - 0.5], order=1)
        assert abs(np.median(found) / level - 1) < 0.03, f"at the line of {level} lie {np.median(found)}"
        assert np.quantile(np.abs(found / level - 1), 0.95) < 0.2
    assert checked
    seen = points[(points > 0).all(axis=1) & (points[:, 0] < width) & (points[:, 1] < height)]
    assert abs(counted(page) - len(seen)) <= len(seen) / 500
    assert abs(are_inside(lines[0], seen).mean() - share) < 0.02 and share >= 0.95
    factor = levels[1] / levels[0]
    most = density[edge:-edge, edge:-edge].max()
    assert factor in (2, 5, 10, 100) and np.allclose(np.diff(np.log(levels)), np.log(factor))
    assert levels[-1] < 1.05 * most and levels[-1] * factor > 0.95 * most, f"the densest place has {most}, the lines {levels}"


def test_lines(page, dense):
    """All in view, a part from the address, and a part that the wheel comes to."""
    rows = metrics(dense.store, "cloud")
    one = page(dense.view(run="cloud"))
    one.wait_for(points=CLOUD)
    wait_for_lines(one)
    assert counted(one) == CLOUD
    check_lines(one, rows)
    part = page(dense.view(run="cloud", box=[0.05, 0.2, 0.3, 0.7], contours="on"))
    part.wait_for(points=CLOUD)
    wait_for_lines(part)
    check_lines(part, rows)
    before = part.fragment()["box"]
    part.zoom_in(0.5, 0.5)
    part.wait(lambda: part.fragment()["box"] != before, "another box")
    part.settled_fragment()
    wait_for_lines(part)
    check_lines(part, rows)


def test_lines_move_with_the_map_and_are_counted_at_rest(page, dense):
    one = page(dense.view(run="cloud", contours="on"))
    one.wait_for(points=CLOUD)
    wait_for_lines(one)
    counts, transforms = one.here().execute_async_script("""
        const [done] = arguments, make = d3.contours, layer = document.querySelector("#map .contours > g");
        window.counts = 0;
        d3.contours = (...more) => { window.counts++; return make(...more); };
        const transforms = [], map = document.querySelector("#map svg");
        const step = () => {
          transforms.push(layer.getAttribute("transform"));
          if (transforms.length === 12) done([window.counts, transforms]);
          else {
            map.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
            requestAnimationFrame(step);
          }
        };
        step();""")
    assert counts == 0 and len(set(transforms)) > 8, "the lines move in each picture"
    one.wait(lambda: one.run("return window.counts") == 1, "other lines")
    for _ in range(5):
        one.next_picture()
    assert one.run("return window.counts") == 1


def test_filters_and_the_switch(page, dense):
    rows = metrics(dense.store, "cloud")
    of_one = [row for row in rows if row["gold"] == 1]
    one = page(dense.view(run="cloud", filters={"gold": {"in": [1]}}))
    one.wait_for(points=len(of_one))
    one.next_picture()
    assert len(of_one) < 50000 and not one.run("return document.querySelectorAll('#map .contours path').length")
    choice = Select(one.find("#density select"))
    choice.select_by_value("on")
    wait_for_lines(one, f"{len(of_one):,} in view")
    assert one.settled_fragment()["contours"] == "on"
    choice.select_by_value("off")
    one.wait(lambda: not one.run("return document.querySelectorAll('#map .contours path').length"), "no lines")
    assert not one.find("#density .lines").is_displayed()
    assert one.settled_fragment()["contours"] == "off"
    choice.select_by_value("auto")
    assert "contours" not in one.settled_fragment()
    foreign = page(dense.view(run="cloud", contours="<b>"))
    foreign.wait_for(points=CLOUD)
    wait_for_lines(foreign)
    assert foreign.find("#density select").get_property("value") == "auto"


def test_few_examples_have_no_lines_unless_asked_for(page, served):
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    one.next_picture()
    assert not one.run("return document.querySelectorAll('#map .contours path').length")
    Select(one.find("#density select")).select_by_value("on")
    wait_for_lines(one, f"{N:,} in view")


def test_a_sample_counts_all(page, dense):
    """More examples than are drawn: the lines count all of them; with a filter, what the sample stands for."""
    rows = metrics(dense.store, "many")
    one = page(dense.view(run="many"))
    one.wait_for(run="many", examples=MANY)
    wait_for_lines(one, f"{MANY:,} in view")
    assert int(one.data()["points"]) < MANY / 5
    plot = one.plot()
    cells = np.array([plot["height"], plot["width"]]) / 256  # the server's, in pixels
    reach = np.round(8 / cells)
    check_lines(one, rows, sigma=cells * np.sqrt(reach * (reach + 1)))
    assert "counts all examples in view" in text_of(one, "#density")
    of_one = sum(row["gold"] == 1 for row in rows)
    filtered = page(dense.view(run="many", filters={"gold": {"in": [1]}}))
    filtered.wait_for(run="many", examples=MANY)
    wait_for_lines(filtered, "judged by the sample")
    about = int(re.search(r"about ([\d,]+)", text_of(filtered, "#density .lines"))[1].replace(",", ""))
    assert abs(about / of_one - 1) < 0.02
    part = page(dense.view(run="many", box=[0.1, 0.12, 0.4, 0.5], contours="on"))
    part.wait_for(run="many", examples=MANY)
    wait_for_lines(part, "in view")
    assert abs(counted(part) - int(part.data()["points"])) < 50 and counted(part) < 50000
    check_lines(part, rows, sigma=(SIGMA_FEW, SIGMA_FEW), trim=60)


def test_without_webgl(dense):
    with browsers.browser(*browsers.NO_WEBGL) as driver:
        one = browsers.Page(driver, dense.view(run="cloud"))
        one.wait_for(points=CLOUD)
        wait_for_lines(one)
        one.wait(lambda: one.pixels("#map .holder canvas")[0] > 2000, "the density picture")
        assert "The map has no points" in text_of(one, "#density")
        check_lines(one, metrics(dense.store, "cloud"))
        assert not one.errors()
