"""One screen: the map, the selection and the table beside one another; what folds, what is dragged, what the page remembers, and where
the card of the example under the pointer stands."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from served import N, metrics, selected_by

# What is in view, whole: the rectangle of an element within the window, and within all that clips it.
IS_SEEN = """
const seen = (node) => {
  const box = node.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) return false;
  let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
  for (let around = node.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflow === 'visible') continue;
    const clip = around.getBoundingClientRect();
    [left, top, right, bottom] = [Math.max(left, clip.left), Math.max(top, clip.top), Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
  }
  return box.left >= left - 1 && box.top >= top - 1 && box.right <= right + 1 && box.bottom <= bottom + 1;
};
"""


def seen(one, selector):
    """How many of these elements are in view, whole."""
    return one.run(IS_SEEN + "return [...document.querySelectorAll(arguments[0])].filter(seen).length", selector)


def rows_seen(one):
    """How many rows of the table are in view from top to bottom; their ends may be scrolled away."""
    return one.run("""
        const holder = document.querySelector('.table-holder').getBoundingClientRect();
        const head = document.querySelector('.examples thead').getBoundingClientRect();
        const bottom = Math.min(holder.top + document.querySelector('.table-holder').clientHeight, innerHeight);
        return [...document.querySelectorAll('.examples tbody tr')].filter((row) => {
          const box = row.getBoundingClientRect();
          return box.height > 0 && box.top >= head.bottom - 1 && box.bottom <= bottom + 1;
        }).length""")


def scrolls(one):
    return one.run("return document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth")


def open_at(page, served, width, height, dark=False, **state):
    one = page("about:blank")
    one.emulate(width, height, dark)
    one.driver.get(served.view(run="a/b", **state))
    one.wait_for(points=N, examples=N)
    return one


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_on_one_screen(page, served, dark):
    one = open_at(page, served, 1440, 900, dark)
    one.wait(lambda: rows_seen(one) >= 8, "eight rows of the table")
    assert not scrolls(one)
    assert seen(one, "#map .axes text.name") == 2 and seen(one, "#map rect.capture") == 1
    assert seen(one, "#select") == 1 and seen(one, "#select .total") == 1
    assert seen(one, "#epochs") == 1
    assert one.run("return document.getElementById('epochs').getBoundingClientRect().height") <= 40, "the epochs' bar is slim"


def test_middle_window(page, served):
    """The map is whole; the side and each panel are one click away, and Escape closes them."""
    one = open_at(page, served, 900, 700)
    assert not scrolls(one)
    assert seen(one, "#map .axes text.name") == 2 and seen(one, "#map rect.capture") == 1
    assert one.plot()["width"] > 600 and one.plot()["height"] > 300
    one.find("#fold-side").click()
    one.wait(lambda: seen(one, "#select") == 1, "the selection")
    one.find("#select summary").send_keys(Keys.ESCAPE)
    one.wait(lambda: seen(one, "#select") == 0, "no side panel")
    one.find("#panel-buttons [data-panel=table]").click()
    one.wait(lambda: rows_seen(one) >= 5, "the table")
    one.find("#table-find").send_keys(Keys.ESCAPE)
    one.wait(lambda: seen(one, "#table") == 0, "no table")
    assert not scrolls(one)


def test_folding_and_dragging_are_remembered(page, served):
    one = open_at(page, served, 1440, 900)
    plot, table = one.plot(), one.find("#panels").size["width"]
    one.find("#fold-side").click()
    one.wait(lambda: seen(one, "#select") == 0 and one.plot()["width"] > plot["width"] + 100, "a folded side and a wider map")
    splitter = one.find("#splitter")
    one.run("window.writes = 0; const set = Storage.prototype.setItem; Storage.prototype.setItem = function (...words) { window.writes++; set.apply(this, words); }")
    ActionChains(one.here()).click_and_hold(splitter).move_by_offset(-50, 0).move_by_offset(-50, 0).move_by_offset(-50, 0).release().perform()
    one.wait(lambda: abs(one.find("#panels").size["width"] - table - 150) < 8, "wider panels")
    assert one.run("return window.writes") == 1, "it is remembered where the splitter was let go"
    splitter.send_keys(Keys.ARROW_LEFT)
    one.wait(lambda: abs(one.find("#panels").size["width"] - table - 182) < 8, "still wider panels")
    width = one.find("#panels").size["width"]
    one.open_panel("groups")
    one.wait(lambda: seen(one, "#table") == 0 and one.find("#groups").is_displayed(), "groups in the table's place")
    again = open_at(page, served, 1440, 900)
    assert again.find("#panels").size["width"] == width and seen(again, "#select") == 0
    assert again.find("#groups").is_displayed() and not again.find("#table").is_displayed()
    again.find("#panel-buttons [data-panel=groups]").click()
    again.wait(lambda: not again.find("#panels").is_displayed(), "no panel")
    assert again.fragment()["panel"] == "none"
    linked = open_at(page, served, 1440, 900, panel="table")
    assert linked.find("#table").is_displayed(), "a link's panel is opened, whatever the page remembers"
    linked.find("#fold-side").click()
    linked.run("document.getElementById('splitter').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
    assert linked.find("#panels").size["width"] == table
    linked.run("localStorage.clear()")


def test_strange_memory_does_no_harm(page, served):
    one = open_at(page, served, 1440, 900)
    for memory in ("[", "null", "7", '{"side": 3, "width": "wide", "panel": {}}', '{"width": -5000, "panel": "toString"}', '{"width": 1e9}'):
        one.run("localStorage.setItem('portolan-layout', arguments[0])", memory)
        one.here().refresh()
        one.wait_for(points=N)
        assert one.plot()["width"] > 100 and seen(one, "#table") == 1, memory
        assert not scrolls(one)
    one.run("localStorage.clear()")
    other = open_at(page, served, 1440, 900, panel="<img>")
    assert other.find("#table").is_displayed()


def rectangle(one, selector):
    return one.run("const {left, top, right, bottom} = document.querySelector(arguments[0]).getBoundingClientRect(); return [left, top, right, bottom]", selector)


@pytest.mark.parametrize("size", [(1440, 900), (900, 700)], ids=["1440x900", "900x700"])
def test_card_stays_in_the_window_and_off_the_selection(page, served, size):
    one = open_at(page, served, *size, tool="box")
    rows = metrics(served.store, "a/b")
    for corners in ([(0.3, 0.3), (0.6, 0.7)], [(0.02, 0.1), (0.5, 0.98)], [(0.5, 0.05), (0.98, 0.9)]):
        one.drag(corners)
        chosen = selected_by(one.selection(), rows)
        one.wait_for(selected=len(chosen))
        one.next_picture()
        outline = one.wait(lambda: one.run("return document.querySelector('#map .outlines polygon') !== null") and rectangle(one, "#map .outlines polygon"), "an outline")
        (left, width), (low, height) = one.axis("x"), one.axis("y")
        inside = set(chosen)
        for row in sorted((row for row in rows if row["id"] in inside), key=lambda row: row["variability"])[:: max(1, len(chosen) // 4)]:
            one.point_at((row["variability"] - left) / width, 1 - (row["confidence"] - low) / height)
            one.wait(lambda: one.run("const card = document.querySelector('#map .card'); return !card.hidden"), "a card")

            def is_off():
                card = rectangle(one, "#map .card")
                across, down = min(card[2], outline[2]) - max(card[0], outline[0]), min(card[3], outline[3]) - max(card[1], outline[1])
                return card[0] >= 0 and card[1] >= 0 and card[2] <= size[0] and card[3] <= size[1] and (across <= 1 or down <= 1)

            one.wait(is_off, f"a card in the window and off the selection {outline}")
