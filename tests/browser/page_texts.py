"""The user's own texts are text, whatever is in them."""

import pytest
from selenium.webdriver.common.keys import Keys

from served import LABELS, LONG, N, TEXTS, metrics


@pytest.mark.parametrize("example", sorted(TEXTS))
def test_text_is_text(page, served, example):
    one = page(served.view(run="a/b", pinned=[str(example)]))
    one.wait_for(points=N)
    shown = one.wait(lambda: one.run("return document.querySelector('#pinned article .text')?.textContent"), "the pinned example")
    begin = TEXTS[example][:500]
    assert begin in shown
    assert len(LONG) == 102400 and (example != 3 or "102400 characters" in shown)
    assert one.run("return window.attacked === undefined && document.querySelectorAll('#pinned script, #pinned img, #pinned b').length === 0")
    label = LABELS[metrics(served.store, "a/b")[example]["gold"]]
    assert one.run("return document.querySelector('#pinned .head').textContent") == f"{example} · {label}"


def test_marks_of_direction_stay_inside(page, served):
    """A text that turns the direction of writing turns nothing beside it."""
    one = page(served.view(run="a/b", pinned=["1"]))
    one.wait_for(points=N)
    one.wait(lambda: one.run("return document.querySelector('#pinned article .text')?.textContent"), "the pinned example")
    assert one.run("return getComputedStyle(document.querySelector('#pinned article .text')).unicodeBidi") in ("isolate", "plaintext", "isolate-override")


def test_search_finds_a_text(page, served):
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    one.find("#filters input[type=search]").send_keys("<script>", Keys.ENTER)
    one.wait_for(points=1, examples=N)
