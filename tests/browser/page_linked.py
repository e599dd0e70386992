"""The selection between the page and programs: it is kept with the server, and a linked page shows one that a program sets."""

import json
import time

from served import N, metrics


def keep(served, selection):
    served.ask("/api/runs/a/b/select?as=keep", json.dumps(selection))


def kept_ids(served):
    kept = json.loads(served.ask("/api/selection?run=a/b"))["selection"]
    return None if kept is None else served.ids("a/b", kept)


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline


def test_both_ways(page, served):
    linked = page(served.view(run="a/b", linked=True))
    linked.wait_for(run="a/b", points=N, selected=0)
    ids = [1, 5, 7, 700, N - 1]
    keep(served, {"filters": {"id": {"in": [1, "5", 7, 700, N - 1, 99999999]}}})
    linked.wait_for(points=N, selected=len(ids))  # the others stay, in grey
    linked.run("document.querySelector('#select button').click()")  # Clear
    linked.wait_for(selected=0)
    wait_until(lambda: kept_ids(served) == [])
    linked.drag([(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.3)])
    wait_until(lambda: kept_ids(served))
    linked.wait_for(selected=len(kept_ids(served)))
    rows = metrics(served.store, "a/b")
    sure = [row["id"] for row in rows if row["confidence"] > 0.5 and row["gold"] == 1]
    confident = min(row["confidence"] for row in rows if row["confidence"] > 0.5)
    keep(served, {"filters": {"gold": {"in": ["neutral"]}, "confidence": {"min": confident}}})
    linked.wait_for(points=N, selected=len(sure))
    assert "selection" not in linked.fragment(), "what a program selected is the server's to keep"
    again = page(served.view(run="a/b", linked=True))
    again.wait_for(points=N, selected=len(sure))


def test_the_address_is_not_behind_what_is_shown(page, served):
    keep(served, {"filters": {"id": {"in": [3]}}})
    linked = page(served.view(run="a/b", linked=True))
    linked.wait_for(points=N, selected=1)
    linked.drag([(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.3)])
    linked.selection()
    wait_until(lambda: len(kept_ids(served)) > 1)
    linked.run("""
        const { dataset } = document.querySelector("main");
        new MutationObserver(() => {
          if (dataset.selected === "2") window.addressThen ??= location.hash;
        }).observe(document.querySelector("main"), { attributes: true })""")
    keep(served, {"filters": {"id": {"in": [3, 4]}}})
    linked.wait_for(points=N, selected=2)
    address = linked.run("return window.addressThen")
    assert "linked=true" in address and "selection=" not in address


def test_a_page_that_is_not_linked_keeps_its_own(page, served):
    keep(served, {"filters": {"id": {"in": [3]}}})
    page(served.view(run="a/b", linked=True)).wait_for(selected=1)
    other = page(served.view(run="a/b"))
    other.wait_for(points=N, selected=0)
    time.sleep(2.5)  # a linked page looks every second
    other.wait_for(points=N, selected=0)
