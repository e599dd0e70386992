"""Everything that matters, with the keyboard alone. No test here moves the mouse."""

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


def test_what_has_the_focus_is_seen(page, served):
    """Each thing that Tab comes to is in sight, has a name, and looks different from before."""
    one = open_map(page, served)
    one.press(Keys.TAB)
    seen = 0
    for _ in range(80):
        about = one.run("""
            const at = document.activeElement;
            if (at === document.body) return null;
            const style = getComputedStyle(at), box = at.getBoundingClientRect();
            const name = at.getAttribute('aria-label') ?? at.textContent.trim() ?? '';
            const labelled = at.labels?.length > 0 || at.title || at.placeholder;
            return [at.outerHTML.slice(0, 80), Boolean(name || labelled), box.width > 0 || box.height > 0,
                    (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none' || at.closest('svg') !== null]""")
        if about is None:
            break
        what, named, sized, marked = about
        assert named and sized and marked, f"named {named}, in sight {sized}, marked {marked}: {what}"
        seen += 1
        one.press(Keys.TAB)
    assert seen > 15
