"""Axes of every kind, as the page shows and selects on them, beside what the commands and the user's file say of the same examples."""

import json
import math
import subprocess

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import serving as portolan_serve
import stores
from served import MAKE_STORE, PORTOLAN, metrics, observations, serving

N = 2000
RUN = "axes"
EPOCHS = 5
CLASSES = [f"class number {k}" for k in range(20)]
GENRES = ["fiction", "government", "slate", "telephone", "travel"]
RARE = "<b>rare</b> & odd"


def gold_of():
    return np.minimum(np.random.default_rng(4).geometric(0.15, N) - 1, 19)


def records():
    """Some lines of the user's file, by id: of every column some examples have no value, and ten have no line."""
    random = np.random.default_rng(5)
    made = {}
    for i in range(N):
        made[i] = {"id": i, "text": f"text number {i}", "genre": GENRES[min(4, int(random.exponential(1.2)))] if i % 9 else None,
                   "size": round(float(np.exp(random.normal(2, 1))), 3) if i % 7 else None, "count": int(random.poisson(2)) if i % 11 else None,
                   "many": RARE if i in (5, 6, 7) else f"a category with a long name, number {int(abs(random.normal(0, 14)))}"}
    for i in range(N - 10, N):
        del made[i]
    return made


DATA = records()


@pytest.fixture(scope="module")
def server(folder):
    """A server over one run: two columns of floats, `gap` around 0 and `cost` with ten values far beyond all others; and a file of five columns."""
    probabilities, _ = observations(N, EPOCHS)
    random = np.random.default_rng(6)
    cost = np.exp(random.normal(0, 0.7, N))
    cost[:10] = random.uniform(200, 400, 10)
    batches = [stores.batch(e, np.arange(N), p, p > 0.5, gold_of(), gap=np.log(p / (1 - p)), cost=(cost * np.exp(random.normal(0, 0.05, N))).astype("f4"))
               for e, p in enumerate(probabilities)]
    stores.make_store(MAKE_STORE, str(folder / "axes"), [stores.run(RUN, batches, declared=N, labels=CLASSES)])
    path = folder / "axes.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in DATA.values()))
    with serving(folder / "axes", "--data", path, "--id-field", "id", "--text", "text", RUN) as served:
        yield served


@pytest.fixture(scope="module")
def rows(server):
    """What `portolan metrics` says, and the user's file; of categories their ranks, which are their values on an axis."""
    found = metrics(server.store, RUN)
    ranks = {name: {value: rank for rank, value in enumerate(sorted({r[name] for r in DATA.values() if r[name] is not None}, key=str.encode))} for name in ("genre", "many")}
    for row in found:
        record = DATA.get(row["id"], {})
        for name in ("size", "count"):
            row[f"data:{name}"] = record.get(name)
        for name, rank in ranks.items():
            row[f"data:{name}"] = rank.get(record.get(name))
    return found


def open_page(page, server, **state):
    one = page(server.view(run=RUN, **state))
    one.wait_for(run=RUN, examples=N)
    one.next_picture()
    return one


def having(rows, *names):
    return [row for row in rows if all(row[name] is not None for name in names)]


def are_inside(polygon, points):
    """Even-odd for many points; where an edge is as near as rounding, in exact arithmetic."""
    x, y = np.array(points, "f8").T
    crossings, near = np.zeros(len(points), int), np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in zip(polygon, polygon[1:] + polygon[:1]):
        left, right = (bx - ax) * (y - ay), (x - ax) * (by - ay)
        near |= np.abs(left - right) <= 1e-12 * (np.abs(left) + np.abs(right))
        crossings += ((ay > y) != (by > y)) & ((left > right) == (by > ay))
    return [portolan_serve.is_inside(polygon, *point) if is_near else odd for point, is_near, odd in zip(points, near, (crossings % 2 == 1).tolist())]


def ids_of(selection, rows):
    """The ids in the parts of a selection."""
    known = having(rows, selection["x"], selection["y"])
    chosen = [False] * len(known)
    for part in selection["parts"]:
        inside = are_inside(part["polygon"], [(row[selection["x"]], row[selection["y"]]) for row in known])
        chosen = [part["op"] == "add" if is_in else before for is_in, before in zip(inside, chosen)]
    return [row["id"] for row, is_chosen in zip(known, chosen) if is_chosen]


def check_selected(one, server, expected, parts=1):
    """The page, and the server by the selection in the page's address, select these ids."""
    selection = dict(one.selection(parts), run=RUN)
    one.wait_for(selected=len(expected))
    assert server.ids(RUN, selection) == expected
    return selection


TICKS = """
const axis = arguments[0];
const plot = document.querySelector('#map rect.capture').getBoundingClientRect();
return [...document.querySelectorAll(`#map g.axes g.${axis} .tick`)].map((tick) => {
  const {left, top, width, height} = tick.querySelector('line').getBoundingClientRect();
  const text = tick.querySelector('text');
  const box = text.getBoundingClientRect();
  const share = axis === 'x' ? (left + width / 2 - 0.5 - plot.left) / plot.width : (plot.bottom - top - height / 2 + 0.5) / plot.height; // d3 draws ticks half a pixel aside, where they are sharp
  return {name: tick.querySelector('title')?.textContent ?? text.textContent, text: text.textContent, share, from: axis === 'x' ? box.left : box.top, to: axis === 'x' ? box.right : box.bottom};
}).filter(({text}) => text)
"""


def ticks(one, axis):
    """What is marked along an axis: {name, text, share of the plot from its left or bottom, from and to (pixels of the text)}."""
    one.next_picture()
    return one.run(TICKS, axis)


def placer(one, axis, t=lambda value: value):
    """A function: the share of the plot at which a number stands, by the ticks as they are seen. t: the scale's."""
    marked = ticks(one, axis)
    known = [(t(float(tick["text"].replace("\u2212", "-").replace(",", ""))), tick["share"]) for tick in marked]
    (t0, share0), (t1, share1) = known[0], known[-1]
    for value, share in known:
        assert abs(share0 + (value - t0) / (t1 - t0) * (share1 - share0) - share) < 0.004, f"ticks are even on the scale: {marked}"
    return lambda value: share0 + (t(value) - t0) / (t1 - t0) * (share1 - share0)


def view_of(one, axis):
    """(low, high): the numbers at the ends of a linear axis."""
    start, size = one.axis(axis)
    return start, start + size


def key(one):
    """The entries of the key: {label: count}."""
    return {label: int(number.replace(",", "")) for label, number in one.run(
        "return [...document.querySelectorAll('#legend li:not(.picks li)')].filter((li) => li.querySelector('.label')).map((li) => [li.querySelector('.label').textContent, li.querySelector('.count').textContent])")}


def in_key(one, column, label):
    """The button in the key for a label of a column."""
    found = [button for heading in one.here().find_elements(By.CSS_SELECTOR, "#legend h2") if heading.text == column
             for button in heading.find_elements(By.XPATH, "following-sibling::ul[1]//button") if button.find_element(By.CSS_SELECTOR, ".label").text == label]
    assert len(found) == 1
    return found[0]


# Categories, and columns of the user's file.

def test_categories_as_axes(page, server, rows):
    """Two axes of categories: names in their order, half of a step more at each end; a box selects by them."""
    one = open_page(page, server, x="gold", y="data:genre", tool="box")
    drawn = having(rows, "gold", "data:genre")
    one.wait_for(points=len(drawn))
    assert [tick["name"] for tick in ticks(one, "y")] == GENRES
    shares = [tick["share"] for tick in ticks(one, "y")]
    step = shares[1] - shares[0]
    assert abs(shares[0] - step / 2) < 0.01 and abs(1 - shares[-1] - step / 2) < 0.01
    names = [tick["name"] for tick in ticks(one, "x")]
    assert set(names) <= set(CLASSES) and names == sorted(names, key=CLASSES.index)
    width = 1 / len(CLASSES)
    assert all(abs(tick["share"] - width * (CLASSES.index(tick["name"]) + 0.5)) < 0.01 for tick in ticks(one, "x"))
    one.drag([(width * 1.02, 1 - step * 2.98), (width * 3.98, 1 - step * 1.02)])  # classes 1 to 3, genre 1 and 2
    expected = [row["id"] for row in drawn if row["gold"] in (1, 2, 3) and row["data:genre"] in (1, 2)]
    assert 20 < len(expected) < N / 2
    check_selected(one, server, expected)
    one.drag([(width * 1.02, 1 - step * 1.98), (width * 1.98, 1 - step * 1.02)], keys=[Keys.ALT])
    check_selected(one, server, [row["id"] for row in drawn if row["id"] in expected and (row["gold"], row["data:genre"]) != (1, 1)], 2)


def test_numbers_of_the_users_file(page, server, rows):
    one = open_page(page, server, x="data:size", y="data:count")
    drawn = having(rows, "data:size", "data:count")
    one.wait_for(points=len(drawn))
    one.drag([(0.1, 0.2), (0.5, 0.3), (0.6, 0.9), (0.2, 0.8)])
    selection = one.selection()
    expected = ids_of(selection, rows)
    assert 20 < len(expected) < len(drawn)
    check_selected(one, server, expected)


def test_hover_on_categories(page, server, rows):
    """The card names the values on both axes."""
    one = open_page(page, server, x="gold", y="data:genre")
    width, step = 1 / len(CLASSES), ticks(one, "y")[1]["share"] - ticks(one, "y")[0]["share"]
    one.point_at(0.5 * width, 1 - 0.5 * step)
    card = one.wait(lambda: one.run("const card = document.querySelector('#map .card:not(.cell)'); return !card.hidden && card.textContent"), "a card")
    row = next(row for row in rows if card.startswith(f"{row['id']} "))
    assert (row["gold"], row["data:genre"]) == (0, 0) and "genrefiction" in card and "gold labelclass number 0" in card


def test_select_by_names_with_keys(page, server, rows):
    """"Select by numbers" has names to choose where an axis has categories."""
    one = open_page(page, server, x="data:genre", y="confidence")
    one.tab_to("at.tagName === 'SUMMARY' && at.textContent.includes('numbers')", "\"Select by numbers\"")
    one.press(Keys.ENTER)
    for field, value in (("x from", "government"), ("x to", "slate"), ("y from", "0.25"), ("y to", "0.75")):
        one.tab_to(f"at.getAttribute('aria-label') === '{field}'", field)
        one.press(value)
    one.tab_to("at.tagName === 'BUTTON' && at.textContent === 'Select' && at.closest('details')", "\"Select\"")
    one.press(Keys.ENTER)
    expected = [row["id"] for row in rows if row["data:genre"] in (1, 2) and 0.25 <= row["confidence"] <= 0.75]
    assert len(expected) > 50
    check_selected(one, server, expected)
    one.tab_to("at.tagName === 'BUTTON' && at.textContent === 'Invert'", "\"Invert\"")
    one.press(Keys.ENTER)
    check_selected(one, server, [row["id"] for row in having(rows, "data:genre") if row["id"] not in expected], 2)


def test_axis_is_chosen_with_keys(page, server, rows):
    """The select boxes list measures, labels and the file's columns in groups; keys on the map work on them."""
    one = open_page(page, server)
    groups = one.run("return Object.fromEntries([...document.querySelectorAll('#choose-y optgroup')].map((group) => [group.label, [...group.children].map((one) => one.value)]))")
    assert groups["Labels"] == ["gold"] and "confidence" in groups["Measures"]
    assert set(groups["Your file's columns"]) >= {f"data:{name}" for name in ("genre", "size", "count", "many")}
    one.tab_to("at.id === 'choose-y'", "the choice of y")
    one.press("genre")
    one.wait(lambda: one.fragment().get("y") == "data:genre", "y in the address")
    one.wait_for(points=len(having(rows, "data:genre")))
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press(Keys.HOME)
    one.wait(lambda: one.run("return document.querySelector('#map [aria-live]').textContent").startswith("Example"), "an example in words")
    assert any(f"genre {genre}" in one.run("return document.querySelector('#map [aria-live]').textContent") for genre in GENRES)
    one.press("+")
    one.wait(lambda: "box" in one.fragment(), "a box")
    one.press("0")
    one.wait(lambda: "box" not in one.fragment(), "everything in view")


def test_names_that_fit(page, server):
    """Of many long names those are shown that fit, shortened; each has its whole name as a title."""
    one = open_page(page, server, x="data:many", y="data:many")
    for axis in ("x", "y"):
        marked = sorted(ticks(one, axis), key=lambda tick: tick["from"])
        assert len(marked) >= 5 and all(tick["name"].startswith("a category with") or tick["name"] == RARE for tick in marked)
        assert all(a["to"] <= b["from"] + 0.5 for a, b in zip(marked, marked[1:])), "no text over another"
        assert len({tick["text"] for tick in marked}) == len(marked), "names that differ only at their end stay apart"
    inner, needed = one.run("return [innerWidth, document.documentElement.scrollWidth]")
    assert needed <= inner


def test_regions_from_other_axes(page, server, rows):
    """A region's button selects by variability and confidence, whatever the axes are."""
    one = open_page(page, server, x="gold", y="data:genre")
    one.find("#regions button[aria-label='Select ambiguous']").click()
    expected = ids_of(one.selection(), rows)
    assert len(expected) > 100
    check_selected(one, server, expected)


# Points that share a value.

PILES = """
const cells = document.querySelector('#map canvas.cells');
const picture = cells.getContext('2d').getImageData(0, 0, cells.width, cells.height);
return arguments[0].map(([x, y, width, height]) => {
  let area = 0;
  const [left, right] = [Math.round((x - width / 2) * cells.width), Math.round((x + width / 2) * cells.width)];
  const [top, bottom] = [Math.round((1 - y - height / 2) * cells.height), Math.round((1 - y + height / 2) * cells.height)];
  for (let row = top; row < bottom; row++) for (let column = left; column < right; column++) area += picture.data[4 * (row * cells.width + column) + 3] / 255;
  const at = 4 * (Math.round((1 - y) * cells.height) * cells.width + Math.round(x * cells.width));
  return {area, colour: [...picture.data.slice(at, at + 4)]};
})
"""


def cell_shares(genre, count, counts):
    """[x, y, width, height] of a cell, in shares of the plot: genre across, count up."""
    return [(genre + 0.5) / len(GENRES), (count - min(counts) + 0.5) / len(counts), 1 / len(GENRES), 1 / len(counts)]


def cells_of(rows):
    """Examples by genre and count, and the counts that occur."""
    drawn = having(rows, "data:genre", "data:count")
    cells = {}
    for row in drawn:
        cells.setdefault((row["data:genre"], row["data:count"]), []).append(row)
    counts = sorted({row["data:count"] for row in drawn})
    return cells, list(range(counts[0], counts[-1] + 1))


def test_choice_of_piles_is_there_where_values_are_few(page, server):
    one = open_page(page, server)
    assert not one.find("#choose-pile").is_displayed()
    Select(one.find("#choose-y")).select_by_value("correctness")
    one.wait(lambda: one.find("#choose-pile").is_displayed(), "the choice")
    one.tab_to("at.id === 'choose-pile'", "the choice, by keys")
    one.press("heat")
    one.wait(lambda: one.fragment().get("pile") == "heat", "it in the address")


def test_discs(page, server, rows):
    """A disc's area is by its number, its colour the mean of its points' colours; the key has the greatest number."""
    cells, counts = cells_of(rows)
    box = [-0.5, len(GENRES) - 0.5, counts[0] - 0.5, counts[-1] + 0.5]
    one = open_page(page, server, x="data:genre", y="data:count", colour="gold", pile="size", box=box)
    one.wait_for(points=len(having(rows, "data:genre", "data:count")))
    one.wait(lambda: one.run("return document.querySelector('#legend .disc-key')"), "the key")
    told = one.run("return [...document.querySelectorAll('#legend .disc-key .count')].map((one) => one.textContent)")
    most = max(map(len, cells.values()))
    assert int(told[0]) == most
    large = [cell for cell, held in cells.items() if len(held) >= most / 6]
    assert len(large) > 4
    seen = dict(zip(large, one.run(PILES, [cell_shares(*cell, counts) for cell in large]), strict=True))
    per = [seen[cell]["area"] / len(cells[cell]) for cell in large]
    assert max(per) / min(per) < 1.15, per
    swatches = {label: [int(part) for part in colour] for label, colour in one.run(
        "return [...document.querySelectorAll('#legend li')].filter((li) => li.querySelector('.label')).map((li) => [li.querySelector('.label').textContent, getComputedStyle(li.querySelector('.swatch')).backgroundColor.match(/[0-9]+/g).slice(0, 3)])")}
    for cell in large:
        mean = np.mean([swatches.get(CLASSES[row["gold"]], swatches["other"]) for row in cells[cell]], axis=0)
        assert np.abs(mean - seen[cell]["colour"][:3]).max() < 4, (cell, mean, seen[cell])


def test_a_click_on_a_disc_selects_its_examples(page, server, rows):
    """By pointer and by keys; what is selected of a disc stays visible within it."""
    cells, counts = cells_of(rows)
    box = [-0.5, len(GENRES) - 0.5, counts[0] - 0.5, counts[-1] + 0.5]
    one = open_page(page, server, x="data:genre", y="data:count", colour="gold", pile="size", box=box)
    wanted = max(cells, key=lambda cell: len(cells[cell]))
    other = sorted(cells, key=lambda cell: len(cells[cell]))[-2]
    x, y, *_ = cell_shares(*other, counts)
    one.point_at(x, 1 - y)
    card = one.wait(lambda: one.run("const card = document.querySelector('#map .card.cell'); return !card.hidden && card.textContent"), "the cell's card")
    assert f"{len(cells[other])} examples" in card and f"genre: {GENRES[other[0]]}" in card
    one.drag([(x, 1 - y)])
    check_selected(one, server, [row["id"] for row in rows if row in cells[other]])
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press(Keys.HOME)
    one.wait(lambda: one.run("return document.querySelector('#map [aria-live]').textContent").startswith("genre"), "the cell in words")
    one.press(Keys.ENTER)
    check_selected(one, server, [row["id"] for row in rows if row in cells[wanted]])
    # of two cells one is selected: the other one is grey
    seen = one.run(PILES, [cell_shares(*cell, counts) for cell in (wanted, other)])
    red, green, blue, _ = seen[1]["colour"]
    assert max(red, green, blue) - min(red, green, blue) < 14 < max(seen[0]["colour"][:3]) - min(seen[0]["colour"][:3])


def test_part_of_a_disc_is_selected(page, server, rows):
    """A selection on other axes: the disc within has the area of those that are selected."""
    polygon = [[0, 0], [1, 0], [1, 0.5], [0, 0.5]]
    selection = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": polygon}]}
    cells, counts = cells_of(rows)
    box = [-0.5, len(GENRES) - 0.5, counts[0] - 0.5, counts[-1] + 0.5]
    one = open_page(page, server, x="data:genre", y="data:count", colour="none", pile="size", box=box, selection=selection)
    chosen = set(ids_of(selection, rows))
    one.wait_for(selected=len(chosen))
    one.next_picture()
    wanted = max(cells, key=lambda cell: len(cells[cell]))
    blue = one.run("""
        const cells = document.querySelector('#map canvas.cells');
        const [x, y, width, height] = arguments[0];
        const [left, top] = [Math.round((x - width / 2) * cells.width), Math.round((1 - y - height / 2) * cells.height)];
        const {data} = cells.getContext('2d').getImageData(left, top, Math.round(width * cells.width), Math.round(height * cells.height));
        let all = 0, inner = 0;
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3] > 127) all++;
          if (data[i + 3] > 127 && Math.max(...data.slice(i, i + 3)) - Math.min(...data.slice(i, i + 3)) > 60) inner++;
        }
        return inner / all""", cell_shares(*wanted, counts))
    share = sum(row["id"] in chosen for row in cells[wanted]) / len(cells[wanted])
    assert 0.1 < share < 0.9 and abs(blue - share) < 0.08


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_heat(page, server, rows, dark):
    """A cell's colour is its number on the key's logarithmic ramp."""
    cells, counts = cells_of(rows)
    box = [-0.5, len(GENRES) - 0.5, counts[0] - 0.5, counts[-1] + 0.5]
    one = page("about:blank")
    one.emulate(1280, 900, dark=dark)
    one.driver.get(server.view(run=RUN, x="data:genre", y="data:count", colour="gold", pile="heat", box=box))
    one.wait_for(points=len(having(rows, "data:genre", "data:count")))
    one.wait(lambda: one.run("return document.querySelector('#legend .ramp')"), "the ramp")
    one.next_picture()
    names = list(cells)
    seen = one.run(PILES, [cell_shares(*cell, counts) for cell in names])
    ramp = one.run("const ramp = document.querySelector('#legend .ramp'); return [...ramp.getContext('2d').getImageData(0, 0, ramp.width, 1).data]")
    most = max(map(len, cells.values()))
    for cell, found in zip(names, seen, strict=True):
        at = round(math.log(len(cells[cell])) / math.log(most) * 127)
        assert np.abs(np.array(ramp[4 * at:4 * at + 3]) - found["colour"][:3]).max() < 8, (cell, len(cells[cell]))
    marks = one.run("return [...document.querySelectorAll('#legend .ramp-ticks span')].map((one) => Number(one.textContent.replace(',', '')))")
    assert 3 <= len(marks) <= 5 and marks == sorted(marks) and marks[-1] <= most


def test_one_axis_of_few_values(page, server, rows):
    """The other axis is cut into bins; a cell selects what is in its bin, by the values themselves."""
    one = open_page(page, server, x="data:genre", y="confidence", pile="heat")
    one.wait_for(points=len(having(rows, "data:genre")))
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press(Keys.HOME)
    said = one.wait(lambda: one.run("return document.querySelector('#map .card.cell:not([hidden])')?.textContent"), "the cell's card")
    one.press(Keys.ENTER)
    selection = one.selection()
    expected = ids_of(selection, rows)
    ys = [y for _, y in selection["parts"][0]["polygon"]]
    low, high = view_of(one, "y")
    assert 40 <= (high - low) / (max(ys) - min(ys)) <= 90 and f"{len(expected)} example" in said
    check_selected(one, server, expected)
    one.press(Keys.ARROW_UP)
    one.wait(lambda: one.run("return document.querySelector('#map .card.cell:not([hidden])')?.textContent") not in (None, said), "the next cell")


# Logarithmic scales.

def symlog(least):
    return lambda value: math.copysign(math.log1p(abs(value) / least), value)


def distance(point, corners):
    """From a point to the nearest edge."""
    best = math.inf
    for a, b in zip(corners, corners[1:] + corners[:1]):
        along = np.subtract(b, a)
        share = np.clip(np.dot(np.subtract(point, a), along) / max(np.dot(along, along), 1e-300), 0, 1)
        best = min(best, float(np.hypot(*(np.subtract(point, a) - share * along))))
    return best


@pytest.mark.parametrize("x,y", [("cost", "loss"), ("gap", "cost"), ("data:size", "gap")])
def test_lasso_on_logarithmic_axes(page, server, rows, x, y):
    """Straight lines on the screen are what is selected, though they are not straight in the values."""
    one = open_page(page, server, x=x, y=y, xScale="log", yScale="log")
    drawn = having(rows, x, y)
    one.wait_for(points=len(drawn))
    scales = {}
    for name in (x, y):
        values = [row[name] for row in having(rows, name)]
        scales[name] = math.log if min(values) > 0 else symlog(min(abs(value) for value in values if value != 0))
    at_x, at_y = placer(one, "x", scales[x]), placer(one, "y", scales[y])
    plot = one.plot()
    corners = [(0.12, 0.1), (0.93, 0.4), (0.3, 0.55), (0.8, 0.95), (0.05, 0.8)]
    one.drag(corners + corners[:1])
    at = [(round(plot["left"] + a * plot["width"]), round(plot["top"] + b * plot["height"])) for a, b in corners]
    moves = [(x0 + share * (x1 - x0), y0 + share * (y1 - y0)) for (x0, y0), (x1, y1) in zip(at, at[1:] + at[:1]) for share in (0, 0.5)]
    edges = [(round(x) - plot["left"], round(y) - plot["top"]) for x, y in moves]  # as drag() moves the mouse
    selection = one.selection()
    expected = ids_of(selection, rows)
    check_selected(one, server, expected)
    assert 50 < len(expected) < len(drawn) and len(selection["parts"][0]["polygon"]) < 2500
    differ = 0
    for row in drawn:
        point = (at_x(row[x]) * plot["width"], (1 - at_y(row[y])) * plot["height"])
        is_seen_inside = portolan_serve.is_inside(edges, *point)
        if is_seen_inside != (row["id"] in expected):
            differ += 1
            assert distance(point, edges) < 0.12, "only at the very line, which is wider"
    assert differ < 3


def test_box_on_a_logarithmic_axis(page, server, rows):
    """A box has four corners, and its sides are where the mouse was."""
    one = open_page(page, server, x="cost", y="confidence", xScale="log", tool="box")
    one.drag([(0.2, 0.2), (0.6, 0.7)])
    selection = one.selection()
    assert len(selection["parts"][0]["polygon"]) == 4
    expected = ids_of(selection, rows)
    assert 100 < len(expected) < N
    check_selected(one, server, expected)
    at = placer(one, "x", math.log)
    xs = [x for x, _ in selection["parts"][0]["polygon"]]
    assert abs(at(min(xs)) - 0.2) < 0.01 and abs(at(max(xs)) - 0.6) < 0.01


def test_scales_are_chosen_with_keys(page, server):
    """A switch beside each choice; there is none for categories; another column begins on a linear scale; a link keeps it."""
    one = open_page(page, server, x="cost", colour="cost")
    for key_of, name in (("x", "xScale"), ("y", "yScale"), ("colour", "colourScale")):
        one.tab_to(f"at.id === 'log-{key_of}'", f"the switch of {key_of}")
        one.press(Keys.ENTER)
        one.wait(lambda name=name: one.fragment().get(name) == "log", f"{name} in the address")
    one.wait_for(points=N)
    placer(one, "x", math.log)
    assert "(log)" in one.run("return document.querySelector('#map g.axes').textContent")
    other = page(one.run("return location.href"))
    other.wait_for(points=N)
    assert other.find("#log-x").get_attribute("aria-pressed") == "true"
    Select(one.find("#choose-x")).select_by_value("gold")
    one.wait(lambda: not one.find("#log-x").is_displayed() and "xScale" not in one.fragment(), "no switch for labels")


def test_zoom_on_a_logarithmic_axis(page, server):
    one = open_page(page, server, x="cost", y="confidence", xScale="log")
    before = [tick["share"] for tick in ticks(one, "x")]
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press("+", "+")
    box = one.settled_fragment()["box"]
    assert 0 < box[0] < box[1]
    placer(one, "x", math.log)
    one.press("0")
    one.wait(lambda: "box" not in one.fragment(), "everything in view")
    assert [tick["share"] for tick in ticks(one, "x")] == before
    wrong = open_page(page, server, x="cost", xScale="log", box=[-1, 3, 0, 1])  # a link from a linear axis
    assert len(ticks(wrong, "x")) >= 2


# Ranges of measures without bounds.

def test_far_values_are_beyond(page, server, rows):
    """Ten examples far beyond all others are counted, not squeezed in; a button, the keys and zooming out show them."""
    one = open_page(page, server, x="cost", y="confidence")
    one.wait_for(points=N)
    values = [row["cost"] for row in rows]
    low, high = view_of(one, "x")
    assert np.quantile(values, 0.995, method="lower") <= high < max(values) / 4 and low <= min(values)
    beyond = sum(value > high or value < low for value in values)
    assert beyond >= 10
    one.wait(lambda: f"{beyond} examples lie beyond." in one.find("#map .beyond").text, "how many lie beyond")
    one.find("#map .beyond button").click()
    one.wait(lambda: view_of(one, "x")[1] > max(values), "all values in view")
    assert not one.find("#map .beyond").is_displayed()
    one.find("#map .unzoom").click()
    one.wait(lambda: abs(view_of(one, "x")[1] - high) < 1e-6 * high, "the usual range")
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press(*"-" * 12)
    one.wait(lambda: view_of(one, "x")[1] > max(values), "all values, by zooming out")
    one.press("0")
    one.wait(lambda: "box" not in one.fragment(), "the usual range")
    one.press("0")
    one.wait(lambda: "box" in one.fragment(), "everything")
    bounded = open_page(page, server, x="confidence", y="correctness")
    assert not bounded.find("#map .beyond").is_displayed()


def test_ranges_stay_while_epochs_change(page, server):
    """An axis widens for what other epochs need, and never moves back."""
    one = open_page(page, server, x="cost", y="gap", epochs="0:1")
    seen = [(view_of(one, "x"), view_of(one, "y"))]
    for epochs in ("1:2", "2:3", "0:1", "1:2"):
        one.run("location.hash = location.hash.replace(/epochs=[^&]*/, 'epochs=' + encodeURIComponent(arguments[0]))", epochs)
        one.wait_for(epochs=epochs)
        seen.append((view_of(one, "x"), view_of(one, "y")))
    for before, after in zip(seen, seen[1:]):
        for (low0, high0), (low1, high1) in zip(before, after):
            slack = 1e-3 * (high0 - low0)
            assert low1 <= low0 + slack and high1 >= high0 - slack
    assert np.allclose(seen[2], seen[3], rtol=1e-3) and np.allclose(seen[3], seen[4], rtol=1e-3)


def test_two_maps_share_their_axes(page, server):
    """Two epochs of a run side by side, on a logarithmic and on a category axis: the same values at the same places; arrows are there."""
    one = open_page(page, server, x="gap", xScale="log", y="data:genre", epochs="0:1", other=f"run={RUN}&epochs=4%3A5", panel="compare",
                    selection={"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[-1, -1], [1, -1], [1, 2], [-1, 2]]}]})
    both = one.run("return ['#map', '#other-map'].map((id) => document.querySelector(id)?.getBoundingClientRect().width)")
    assert all(both)
    marked = """return ['#map', '#other-map'].map((id) => [...document.querySelectorAll(`${id} g.axes .tick`)].map((tick) =>
        [tick.querySelector('title')?.textContent ?? tick.textContent, tick.getAttribute('transform').replace(/[0-9.]+/g, (number) => Math.round(number))]))"""
    one.wait(lambda: len(one.run(marked)[1]) > 5 and one.run(marked)[0] == one.run(marked)[1], "the same ticks")
    one.run("document.querySelector('#compare input[type=checkbox]').click()")
    one.wait(lambda: "move on average by gap" in one.find("#compare").text, "how far they move")


# Colour bars and histograms.

@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("name", ["cost", "gap", "confidence", "forgetting_events", "data:size"])
def test_ticks_on_the_colour_bar(page, server, rows, name, scale):
    one = open_page(page, server, colour=name, colourScale=scale)
    one.wait(lambda: one.run("return document.querySelectorAll('#legend .ramp-ticks span').length > 0"), "ticks")
    found = one.run("""
        const bar = document.querySelector('#legend .ramp').getBoundingClientRect();
        return [...document.querySelectorAll('#legend .ramp-ticks i')].map((line, i) =>
          [Number(line.nextSibling.textContent.replace(',', '')), (line.getBoundingClientRect().left - bar.left) / bar.width, line.nextSibling.getBoundingClientRect().left, line.nextSibling.getBoundingClientRect().right])""")
    values = [row[name] for row in having(rows, name)]
    least = min((abs(value) for value in values if value != 0), default=1)
    t = (lambda value: value) if scale == "linear" else math.log if min(values) > 0 else symlog(least)
    assert (2 if name == "forgetting_events" else 3) <= len(found) <= 5
    for value, share, _, _ in found:
        expected = (t(value) - t(min(values))) / (t(max(values)) - t(min(values)))
        assert abs(expected - share) < 0.02, (value, share, expected)
    assert all(a[3] <= b[2] for a, b in zip(found, found[1:])), "no text over another"


BARS = """
const path = document.querySelector(`#map .margin.${arguments[0]} path.${arguments[1]}`).getAttribute('d') ?? '';
const numbers = path.split('Z').filter(Boolean).map((bar) => bar.match(/-?[0-9.]+(e-?[0-9]+)?/g).map(Number));
return arguments[0] === 'x' ? numbers.map(([from, base, top, to]) => [from, to, base - top]) : numbers.map(([, from, height, to]) => [from, to, height])
"""


def test_histograms(page, server, rows):
    """The greatest count is written; a single selected example has a bar that is seen, on both scales; pointer and keys switch them."""
    one = open_page(page, server, tool="box")
    one.wait_for(points=N)
    values = [row["variability"] for row in rows]
    room = 0.03 * (max(values) - min(values))  # at each end
    counts = np.histogram(values, bins=64, range=(min(values) - room, max(values) + room))[0]
    told = int(one.run("return document.querySelector('#map .margin.x .most').textContent.replace('most: ', '').replace(',', '')"))
    assert abs(told - counts.max()) <= 1  # a value at the very edge of a bar
    alone = max(rows, key=lambda row: row["variability"])
    at_x, at_y = placer(one, "x"), placer(one, "y")
    x, y = at_x(alone["variability"]), 1 - at_y(alone["confidence"])
    one.drag([(x - 0.01, y - 0.01), (x + 0.01, y + 0.01)])
    selected = ids_of(one.selection(), rows)
    assert alone["id"] in selected and len(selected) < 4
    one.wait_for(selected=len(selected))
    for scale in ("linear", "log"):
        one.next_picture()
        bars = {axis: one.run(BARS, axis, "selected") for axis in ("x", "y")}
        assert all(len(found) >= 1 and all(height >= 2 for *_, height in found) for found in bars.values())
        heights = [height for *_, height in one.run(BARS, "x", "all")]
        assert max(heights) > 20 and min(heights) >= 2
        if scale == "linear":
            middle = sorted(heights)[len(heights) // 2]
            one.tab_to("at.classList.contains('bars')", "the switch of the histograms")
            one.press(Keys.ENTER)
            one.wait(lambda: one.fragment().get("bars") == "log", "it in the address")
        else:
            assert sorted(heights)[len(heights) // 2] > middle + 3
    one.find("#map .bars").click()
    one.wait(lambda: "bars" not in one.fragment(), "linear again")


def test_histogram_of_few_values(page, server, rows):
    """A bar for each value."""
    one = open_page(page, server, x="data:genre", y="confidence")
    drawn = having(rows, "data:genre")
    one.wait_for(points=len(drawn))
    one.next_picture()
    bars = one.run(BARS, "x", "all")
    counts = np.bincount([row["data:genre"] for row in drawn])
    assert len(bars) == len(GENRES)
    assert np.allclose([height / bars[0][2] for *_, height in bars], np.maximum(counts / counts[0], 2 / bars[0][2]), atol=0.02)
    assert one.run("return document.querySelector('#map .margin.x .most').textContent") == f"most: {counts.max():,}"


# No value.

def test_strips(page, server, rows):
    """Examples without a value on an axis are counted beside it, and drawn; its label selects exactly them, by pointer and by keys."""
    one = open_page(page, server, x="first_learned", y="data:size")
    drawn = having(rows, "first_learned", "data:size")
    one.wait_for(points=len(drawn))
    without = {name: [row["id"] for row in rows if row[name] is None] for name in ("first_learned", "data:size")}
    assert all(len(ids) > 100 for ids in without.values())
    assert [one.run(f"return document.querySelector('#map .strip.{axis} .n').textContent") for axis in ("x", "y")] == [f"{len(ids):,}" for ids in without.values()]
    ink = one.run("""const strips = document.querySelector('#map canvas.strips'); const {data} = strips.getContext('2d').getImageData(0, 0, strips.width, strips.height);
        let drawn = 0; for (let i = 3; i < data.length; i += 4) drawn += data[i] > 60; return drawn""")
    assert ink > 500

    def check(ids, name):
        one.wait_for(selected=len(ids), points=len(drawn))
        assert server.ids(RUN, {"run": RUN, "filters": {name: {"in": [None]}}}) == ids

    one.find("#map .strip.x .what").click()
    check(without["first_learned"], "first_learned")
    one.tab_to("at.classList.contains('strip') && at.classList.contains('y')", "the label of the strip below")
    assert str(len(without["data:size"])) in one.run("return document.activeElement.getAttribute('aria-label')").replace(",", "")
    one.press(Keys.ENTER)
    check(without["data:size"], "data:size")
    one.run("document.querySelector('#select button').click()")
    one.wait_for(selected=0)


def test_no_value_in_the_key(page, server, rows):
    """x, y and the colour have an entry each, with its count, which shows these examples alone, and all again."""
    one = open_page(page, server, x="first_learned", y="data:size", colour="data:count")
    drawn = having(rows, "first_learned", "data:size")
    one.wait_for(points=len(drawn))
    for column, title in (("first_learned", "first learned"), ("data:size", "size"), ("data:count", "count")):
        button = in_key(one, title, "no value")
        lacking = [row for row in rows if row[column] is None]
        assert button.find_element(By.CSS_SELECTOR, ".count").text == f"{len(lacking):,}"
        assert "ring" in button.find_element(By.CSS_SELECTOR, ".swatch").get_attribute("class")
        for _ in range(2):  # by keys, then the focus is still there
            button = in_key(one, title, "no value")
            one.run("arguments[0].focus()", button)
            one.press(Keys.ENTER)
            filters = one.settled_fragment().get("filters")
            if filters:
                assert filters == {column: {"in": [None]}}
                one.wait_for(points=len(having(lacking, "first_learned", "data:size")))
                assert one.run("return document.querySelector('#map .strip.x .n').textContent") == f"{sum(row['first_learned'] is None for row in lacking):,}"
            else:
                one.wait_for(points=len(drawn))
        assert not one.settled_fragment().get("filters")


# More categories than colours.

def test_a_class_gets_a_colour(page, server, rows):
    """A search finds it with its count; picking it gives it a colour in place of the last; the counts add up; it can be undone; a link shows the same."""
    counts = {label: sum(row["gold"] == k for row in rows) for k, label in enumerate(CLASSES)}
    largest = sorted(CLASSES, key=lambda label: (-counts[label], CLASSES.index(label)))[:12]
    rare = [label for label in CLASSES if label not in largest and counts[label] > 0]
    one = open_page(page, server, colour="gold")
    one.wait(lambda: key(one), "the key")
    assert list(key(one)) == [*largest, "other"] and sum(key(one).values()) == N
    together = "return document.querySelector('#legend .sum .count').textContent"
    assert one.run(together) == f"{N:,}"
    wanted = rare[1]
    one.tab_to("at.matches('#legend .picks input')", "the search")
    one.press(wanted.upper())
    one.wait(lambda: one.run("return [...document.querySelectorAll('#legend .found .label')].map((one) => one.textContent)")[:1] == [wanted], "the match")
    assert one.run("return document.querySelector('#legend .found .count').textContent") == str(counts[wanted])
    one.press(Keys.ENTER)
    one.wait(lambda: wanted in key(one), "its entry")
    assert list(key(one)) == [*largest[:11], wanted, "other"] and sum(key(one).values()) == N and key(one)[wanted] == counts[wanted]
    assert one.fragment()["picked"] == {"gold": [*largest[:11], wanted]}
    one.press("class number")
    one.wait(lambda: one.run("return document.querySelectorAll('#legend .found button:not(:disabled)').length"), "matches")
    button = next(button for button in one.here().find_elements(By.CSS_SELECTOR, "#legend .found button") if button.is_enabled())
    second = button.find_element(By.CSS_SELECTOR, ".label").text
    button.click()
    one.wait(lambda: second in key(one), "the second one")
    assert list(key(one)) == [*largest[:10], second, wanted, "other"] and sum(key(one).values()) == N
    other = page(one.run("return location.href"))
    other.wait_for(points=N)
    other.wait(lambda: key(other) == key(one), "the same in a link")
    one.tab_to("at.textContent === 'Colours for the 12 largest'", "the way back")
    one.press(Keys.ENTER)
    one.wait(lambda: list(key(one)) == [*largest, "other"], "the largest")
    assert "picked" not in one.settled_fragment()


def test_a_value_of_the_file_gets_a_colour(page, server):
    """Also one that looks like HTML. What a link picks without its being there is forgotten."""
    one = open_page(page, server, colour="data:many")
    one.wait(lambda: key(one), "the key")
    one.find("#legend .picks input").send_keys("rare", Keys.ENTER)
    one.wait(lambda: key(one).get(RARE) == 3, "its entry")
    assert sum(key(one).values()) == N
    bad = open_page(page, server, colour="gold", picked={"gold": ["nobody"]})
    bad.wait(lambda: len(key(bad)) == 13 and "picked" not in bad.fragment(), "the largest")
    assert all("status of 400" in said for said in bad.errors())  # the browser says that the server refused them; nothing else is wrong


# The page as one file.

@pytest.fixture(scope="module")
def file(server, folder):
    def make(colour):
        path = folder / f"axes-{colour}.html"
        subprocess.run([PORTOLAN, "map", RUN, "--store", server.store, "-o", str(path), "--data", str(folder / "axes.jsonl"), "--id-field", "id", "--colour", colour],
                       capture_output=True, check=True)
        return path.as_uri()
    return make


def of_state(address, **state):
    return address + "#" + "&".join(f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in state.items())


def test_file(page, file, rows):
    """A file draws and selects on the column that it holds, on labels and on logarithmic axes as the server does."""
    one = page(of_state(file("genre"), x="data:genre", y="cost", yScale="log", colour="data:genre"))
    drawn = having(rows, "data:genre")
    one.wait_for(points=len(drawn), examples=N)
    assert [tick["name"] for tick in ticks(one, "x")] == GENRES
    placer(one, "y", math.log)
    assert one.run("return document.querySelector('#map .strip.x .n').textContent") == f"{N - len(drawn):,}"
    corners = [(0.05, 0.1), (0.7, 0.3), (0.4, 0.9)]
    one.drag(corners + corners[:1])
    expected = ids_of(one.selection(), rows)
    assert 50 < len(expected) < len(drawn)
    one.wait_for(selected=len(expected))
    one.find("#map .strip.x .what").click()
    one.wait_for(selected=N - len(drawn))


def test_file_with_more_classes_than_colours(page, file, rows):
    one = page(of_state(file("size"), x="data:size", y="gold", colour="gold", pile="size"))
    one.wait_for(points=len(having(rows, "data:size")), examples=N)
    one.wait(lambda: key(one), "the key")
    one.find("#legend .picks input").send_keys("number 19", Keys.ENTER)
    one.wait(lambda: "class number 19" in key(one), "its entry")
    assert key(one)["class number 19"] == sum(row["gold"] == 19 for row in rows)
    assert sum(count for label, count in key(one).items()) - (N - len(having(rows, "data:size"))) == N  # and those without a size
    one.wait(lambda: one.run("return document.querySelector('#legend .disc-key')"), "discs in the key")
