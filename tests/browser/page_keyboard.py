"""Everything with the keyboard alone: what a pointer can do, and how keys do it.

    draw a box, brush a histogram     "Select by numbers": fields that are empty mean everything
    add to it, remove from it         the buttons there; regions, labels and filters have buttons and fields
    zoom, move                        + and -, Shift with arrows, 0 for everything
    point at an example, pin it       arrows on the map, Home, Enter; rows of the table likewise
    drag a cut                        arrows on its line; the fields under "Regions"
    drag the splitter, fold the side  arrows and Enter on it; a button
    open a panel                      arrows, Home and End among the tabs, Enter; Escape closes one that lies over the map
    sort, turn pages                  buttons; Page Up and Page Down on a row

A lasso of any shape is drawn with a pointer alone: several boxes, added and removed, come as close as one likes. No test here moves the mouse.
"""

import pytest
from selenium.webdriver.common.keys import Keys

from served import N, metrics


def open_map(page, served, **state):
    one = page(served.view(run="a/b", **state))
    one.wait_for(points=N)
    return one


def card(one):
    return one.run("const card = document.querySelector('#map .card'); return card && !card.hidden ? card.textContent : ''")


def test_from_point_to_point(page, served):
    one = open_map(page, served)
    one.tab_to("at.closest('#map svg') === at && at.tagName === 'svg'", "the map")
    one.press(Keys.HOME)
    first = one.wait(lambda: card(one), "a point")
    one.press(Keys.ARROW_RIGHT)
    second = one.wait(lambda: card(one) not in ("", first) and card(one), "another point")
    rows = {row["id"]: row for row in metrics(served.store, "a/b")}

    def row(text):
        head = one.run("return document.querySelector('#map .card .head').textContent")
        assert text.startswith(head)
        return rows[int(head.split(" ")[0])]

    here = row(second)
    one.press(Keys.ENTER)
    one.wait(lambda: one.fragment().get("pinned") == [str(here["id"])], "the pinned example in the address")
    spoken = "return document.querySelector('#map [aria-live]').textContent"
    one.wait(lambda: one.run(spoken).startswith(f"Example {here['id']},"), "the example in words")
    one.press(Keys.ESCAPE)
    one.wait(lambda: not card(one), "no card")


def test_zoom_and_move(page, served):
    one = open_map(page, served)
    one.tab_to("at.tagName === 'svg'", "the map")
    one.press("+", "+")
    one.wait(lambda: "box" in one.fragment(), "a box in the address")
    box = one.settled_fragment()["box"]
    one.press(Keys.SHIFT + Keys.ARROW_RIGHT)
    moved = one.wait(lambda: one.fragment()["box"] != box and one.fragment()["box"], "another box")
    assert moved[0] > box[0] and abs((moved[1] - moved[0]) / (box[1] - box[0]) - 1) < 1e-9 and moved[2:] == box[2:]
    one.press("0")
    one.wait(lambda: "box" not in one.fragment(), "everything in view")


def test_select_by_numbers(page, served):
    rows = metrics(served.store, "a/b")
    expected = [row["id"] for row in rows if 0.05 <= row["variability"] <= 0.15 and 0.25 <= row["confidence"] <= 0.75]
    one = open_map(page, served)
    one.tab_to("at.tagName === 'SUMMARY' && at.closest('#select, #board') && at.textContent.includes('numbers')", "\"Select by numbers\"")
    one.press(Keys.ENTER)
    for field, value in (("x from", "0.05"), ("x to", "0.15"), ("y from", "0.25"), ("y to", "0.75")):
        one.tab_to(f"at.getAttribute('aria-label') === '{field}'", field)
        one.press(value)
    one.tab_to("at.tagName === 'BUTTON' && at.textContent === 'Select' && at.closest('details')", "\"Select\"")
    one.press(Keys.ENTER)
    one.wait_for(selected=len(expected))
    assert len(expected) > 50 and served.ids("a/b", one.selection()) == expected


def test_select_a_region(page, served):
    one = open_map(page, served)
    one.tab_to("at.getAttribute('aria-label') === 'Select ambiguous'", "the region's button")
    one.press(Keys.ENTER)
    told = one.wait(lambda: one.run("return document.querySelector('#regions tr:nth-child(2) .count').textContent.replace(',', '')"), "the region's count")
    assert int(told) > 50
    one.wait_for(selected=told)


# What the keyboard should reach, as it stands in the document: all that can be used and is seen. A group in which keys go on (tabs, rows) has one of tabIndex 0.
REACHABLE = """
window.reachable = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((one) =>
  one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ checkVisibilityCSS: true }) && !(one.type === "radio" && !one.checked));
window.nameOf = (one) => one.getAttribute("aria-label") || one.labels?.[0]?.textContent.trim() || one.textContent.trim().slice(0, 40) || one.title || one.placeholder || "";
"""

# Tab goes on from what had the focus last, wherever that was: it begins here, before all else.
BEGIN = "const begin = document.createElement('span'); begin.tabIndex = -1; document.body.prepend(begin); begin.focus(); begin.remove();"

# What has the focus: [number among the reachable, name, is it seen whole where it stands, is it marked, HTML]; null: nothing.
FOCUSED = """
const at = document.activeElement;
if (at === document.body) return null;
const style = getComputedStyle(at);
const box = (at.matches(".cut") ? at.querySelector(".handle") : at.matches(".track input") ? at.parentElement : at).getBoundingClientRect();
const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
const top = document.elementFromPoint(x, y);
const isSeen = box.width > 0 && box.height > 0 && x >= 0 && y >= 0 && x <= innerWidth && y <= innerHeight && Boolean(top) && (at.contains(top) || top.contains(at) || at.parentElement.contains(top));
const isMarked = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || (at.matches(".cut") && getComputedStyle(at.querySelector(".line")).strokeWidth === "2.5px");
return [window.reachable().indexOf(at), window.nameOf(at), isSeen, isMarked, at.outerHTML.slice(0, 120)];
"""


def walk(one, key, ends):
    """What Tab, or Shift and Tab, comes to, in this order, until ends(what) is true."""
    found = []
    for _ in range(250):
        one.press(key)
        what = one.run(FOCUSED)
        if ends(what):
            return found
        place, name, is_seen, is_marked, html = what
        assert place >= 0 and name and is_seen and is_marked, f"named {name!r}, seen {is_seen}, marked {is_marked}: {html}"
        found.append(place)
    raise AssertionError(f"Tab does not come to an end: {html}")


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["1440x900", "390x844"])
def test_tab_reaches_everything(page, served, size):
    """Forth and back: each control once, in the order of the document, with a name, in sight, and marked. So there is no trap."""
    one = page("about:blank")
    one.emulate(*size)
    one.driver.get(served.view(run="a/b", colour="gold", panel="table", pinned=["17"], filters={"gold": {"in": [0, 1]}}))
    one.wait_for(examples=N)
    one.run("document.getElementById('table').scrollIntoView()")  # what is not seen asks for nothing
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") == 50, "the table")
    one.wait(lambda: one.run("return document.querySelectorAll('#pinned article').length") == 1, "the pinned example")
    one.run(REACHABLE + "for (const one of document.querySelectorAll('#side details')) one.open = true; getSelection().removeAllRanges(); scrollTo(0, 0);" + BEGIN)
    wanted = {"Skip to the map", "Data map", "Cut of variability", "Table", "Select ambiguous", "Unpin 17"}
    one.wait(lambda: wanted <= set(one.run("return window.reachable().map(window.nameOf)")), "the controls")
    names = one.run("return window.reachable().map(window.nameOf)")
    assert len(names) > 45
    there = walk(one, Keys.TAB, lambda what: what is None)
    assert there == list(range(len(names))), [names[i] for i in set(range(len(names))) ^ set(there)] or there
    back = walk(one, Keys.SHIFT + Keys.TAB, lambda what: what is None)
    assert back == there[::-1]


def test_what_lies_over_the_map(page, served):
    """In a window of middle width: the focus goes into what is opened; Escape closes it, and so does the way on to the map."""
    one = page("about:blank")
    one.emulate(900, 700)
    one.driver.get(served.view(run="a/b"))
    one.wait_for(points=N)
    one.run(REACHABLE)
    at = "return document.activeElement.dataset.panel ?? document.activeElement.id"
    one.tab_to("at.matches('[role=tab]')", "the tabs")
    one.press(Keys.ENTER)
    assert one.run(at) == "table"
    one.press(Keys.TAB)
    assert one.run(at) == "table-find"
    one.press(Keys.ESCAPE)
    assert one.run(at) == "table" and not one.find("#table").is_displayed(), "the focus is on the tab that opened it"
    one.tab_to("at.id === 'fold-side'", "the side's button")
    one.press(Keys.ENTER)
    assert one.run(at) == "side"
    assert len(walk(one, Keys.TAB, lambda what: what[1] == "Data map")) > 15
    assert not one.find("#side").is_displayed(), "the map is seen whole"
    one.press(Keys.SHIFT + Keys.TAB)
    one.tab_to("at.id === 'fold-side'", "the side's button")
    one.press(Keys.ENTER, Keys.ESCAPE)
    assert one.run(at) == "fold-side" and not one.find("#side").is_displayed()


def test_each_panel(page, served):
    """The tabs: one place for Tab, arrow keys, Home and End; a tab opens its panel, to which a link leads; Tab goes through the panel and leaves it."""
    one = page("about:blank")
    one.emulate(1440, 900)
    one.driver.get(served.view(run="a/b", panel="table"))
    one.wait_for(points=N)
    one.run(REACHABLE)
    tabs = one.run("return [...document.querySelectorAll('[role=tablist] [role=tab]')].map((tab) => tab.dataset.panel)")
    at = "return document.activeElement.dataset.panel"
    one.tab_to("at.matches('[role=tab]')", "the tabs")
    assert one.run(at) == "table"
    one.press(Keys.END)
    assert one.run(at) == tabs[-1]
    one.press(Keys.ARROW_RIGHT)
    assert one.run(at) == tabs[0]
    one.press(Keys.ARROW_LEFT)
    assert one.run(at) == tabs[-1]
    one.press(Keys.HOME)
    assert one.run(at) == tabs[0] and one.run("return document.querySelectorAll('[role=tab][tabindex=\"0\"]').length") == 1
    assert one.run("return document.querySelector('[role=tab][aria-selected=true]').dataset.panel") == "table", "a key does not open yet"
    for name in tabs:
        one.run("document.querySelector('[role=tab][tabindex=\"0\"]').focus()")
        while one.run(at) != name:
            one.press(Keys.ARROW_RIGHT)
        if one.run("return document.activeElement.getAttribute('aria-selected')") != "true":
            one.press(Keys.ENTER)
        assert one.run("return [...document.querySelectorAll('[role=tabpanel]')].filter((one) => one.checkVisibility()).map((one) => one.id)") == [name]
        one.wait(lambda: not one.run("return document.body.classList.contains('busy')"), "the panel")
        one.run("document.activeElement.blur(); document.getElementById('skip-panel').focus()")
        one.press(Keys.ENTER)
        assert one.run("return document.activeElement.id") == name
        assert one.run("return document.querySelectorAll('[role=tabpanel]:focus-visible').length") == 1
        walk(one, Keys.TAB, lambda what: what is None)
    one.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    one.press(Keys.ENTER)
    one.wait(lambda: one.fragment()["panel"] == "none", "no panel")


def test_splitter(page, served):
    one = page("about:blank")
    one.emulate(1440, 900)
    one.driver.get(served.view(run="a/b", panel="table"))
    one.wait_for(points=N)
    width = lambda: one.find("#panels").size["width"]
    usual = width()
    one.tab_to("at.id === 'splitter'", "the splitter")
    told = int(one.find("#splitter").get_attribute("aria-valuenow"))
    one.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    one.wait(lambda: width() == usual + 64, "wider panels")
    assert int(one.find("#splitter").get_attribute("aria-valuenow")) > told
    one.press(Keys.ARROW_RIGHT)
    one.wait(lambda: width() == usual + 32, "panels less wide")
    one.press(*[Keys.ARROW_RIGHT] * 30)
    assert one.plot()["width"] > 200 and width() >= 280
    one.press(Keys.ENTER)
    one.wait(lambda: width() == usual, "the usual width")
    one.run("localStorage.clear()")


def test_brush_a_histogram_by_numbers(page, served):
    """The fields that are left empty mean everything, as the other axis of a brush does."""
    rows = metrics(served.store, "a/b")
    one = open_map(page, served)
    one.tab_to("at.tagName === 'SUMMARY' && at.closest('#select')", "\"Select by numbers\"")
    one.press(Keys.ENTER)
    for field, value in (("y from", "0.25"), ("y to", "0.75")):
        one.tab_to(f"at.getAttribute('aria-label') === '{field}'", field)
        one.press(value)
    one.tab_to("at.tagName === 'BUTTON' && at.textContent === 'Select' && at.closest('details')", "\"Select\"")
    one.press(Keys.SPACE)
    expected = {row["id"] for row in rows if 0.25 <= row["confidence"] <= 0.75}
    one.wait_for(selected=len(expected))
    one.run("document.querySelector('#select details fieldset input').focus()")
    one.press("0.1", Keys.TAB, "0.2")
    one.tab_to("at.textContent === 'Remove' && at.closest('details')", "\"Remove\"")
    one.press(Keys.ENTER)
    expected -= {row["id"] for row in rows if 0.1 <= row["variability"] <= 0.2 and 0.25 <= row["confidence"] <= 0.75}
    one.wait_for(selected=len(expected))
    assert set(served.ids("a/b", one.selection(2))) == expected
    one.run("document.querySelector('#select button').focus()")
    one.press(Keys.ENTER)
    one.wait_for(selected=0)


def test_cuts(page, served):
    one = open_map(page, served)
    one.tab_to("at.getAttribute('aria-label') === 'Cut of variability'", "the cut")
    before = float(one.run("return document.activeElement.getAttribute('aria-valuenow')"))
    one.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    one.wait(lambda: "cuts" in one.fragment(), "cuts in the address")
    cut = one.settled_fragment()["cuts"]["variability"]
    assert cut < before
    expected = sum(row["variability"] >= cut for row in metrics(served.store, "a/b"))
    one.wait(lambda: one.run("return document.querySelector('#regions tr:nth-child(2) .count').textContent") == f"{expected:,}", f"{expected} ambiguous examples")
    one.tab_to("at.textContent === 'Default cuts'", "the way back")
    one.press(Keys.ENTER)
    one.wait(lambda: "cuts" not in one.fragment(), "no cuts")


def test_legend_and_what_drawing_does(page, served):
    one = open_map(page, served, colour="gold")
    labels = [row["label"] for row in metrics(served.store, "a/b")]
    one.tab_to("at.closest('#legend li')", "an entry of the key")
    label = one.run("return document.activeElement.querySelector('.label').textContent")
    one.press(Keys.ENTER)
    one.wait_for(points=labels.count(label))
    one.press(Keys.ENTER)
    one.wait_for(points=N)
    for tool, text in (("box", "Box"), ("pan", "Move")):
        one.run("document.activeElement.blur()")
        one.tab_to(f"at.textContent === '{text}'", text)
        one.press(Keys.SPACE)
        one.wait(lambda tool=tool: one.fragment().get("tool") == tool, tool)


def test_epochs(page, served):
    one = open_map(page, served)
    one.tab_to("at.textContent === 'Up to' && at.closest('#epochs')", "\"Up to\"")
    one.press(Keys.ENTER)
    one.wait_for(epochs="0:4")
    one.tab_to("at.type === 'range' && at.getAttribute('aria-label') === 'Epoch'", "the slider")
    one.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    one.wait_for(epochs="0:2")
    one.press(Keys.END)
    one.wait_for(epochs="0:4")


def test_table(page, served):
    """Sorting, pages, pinning, a long text: each without the mouse."""
    one = open_map(page, served, panel="table")
    rows = metrics(served.store, "a/b")
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length") == 50, "the table")
    first = lambda: one.run("return document.querySelector('#table tbody tr').dataset.id")
    one.tab_to("at.closest('#table thead') && at.textContent.startsWith('confidence')", "the head of confidence")
    one.press(Keys.ENTER)
    by_confidence = [str(row["id"]) for row in sorted(rows, key=lambda row: (row["confidence"], row["id"]))]
    one.wait(lambda: first() in (by_confidence[0], by_confidence[-1]), "sorted rows")
    other = by_confidence[0 if first() == by_confidence[-1] else -1]
    one.press(Keys.ENTER)
    one.wait(lambda: first() == other, "rows sorted the other way")
    one.tab_to("at.closest('#table tbody')", "a row")
    before = first()
    one.press(Keys.PAGE_DOWN)
    one.wait(lambda: first() != before, "the next page")
    one.press(Keys.PAGE_UP)
    one.wait(lambda: first() == before, "the page before")
    one.press(Keys.END, Keys.ENTER)
    last = one.run("return document.activeElement.dataset.id")
    one.wait(lambda: one.fragment().get("pinned") == [last], "a pinned example")
    one.tab_to("at.closest('#table .tools') && at.textContent === 'Last'", "the last page")
    one.press(Keys.ENTER)
    one.wait(lambda: one.find("#table .drawn").text.endswith(f"{N:,} of {N:,}."), "the last page")


def test_what_the_words_mean(page, served):
    one = open_map(page, served)
    one.tab_to("at.getAttribute('aria-label') === 'What the words mean'", "the button")
    one.press(Keys.ENTER)
    assert one.run("return document.activeElement.id") == "words"
    one.press(Keys.ESCAPE)
    assert one.run("return document.activeElement.getAttribute('aria-label')") == "What the words mean" and not one.find("#words").is_displayed()


def test_compare(page, served):
    one = open_map(page, served, panel="compare")
    one.tab_to("at.closest('#compare') && at.tagName === 'SELECT'", "the other run")
    one.press("a")
    one.wait(lambda: one.fragment().get("other"), "another run beside this one")
    one.wait(lambda: one.run("return document.querySelectorAll('svg.over').length") == 2, "a second map")
    one.tab_to("at.closest('#other-map') && at.tagName === 'svg'", "the second map")
    one.press(Keys.HOME)
    one.wait(lambda: one.run("return [...document.querySelectorAll('.card')].some((card) => !card.hidden)"), "a card")
