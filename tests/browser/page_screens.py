"""What the page says where there is nothing to see, or not all of it: a notice in the map's place, and what to do; each goes as soon as its reason does."""

import shutil
import subprocess

import numpy as np
import pytest

import chromium as browsers
import stores
from served import MAKE_STORE, N, PORTOLAN, batches, serving

NOTICE = "const one = [...document.querySelectorAll('.notice')].find((notice) => notice.checkVisibility()); return one ? one.dataset.notice : null"
LOSE = "window.taken = document.querySelector('#map canvas.points').getContext('webgl2').getExtension('WEBGL_lose_context'); taken.loseContext()"
NOWHERE = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[-3, -3], [-2, -3], [-2, -2]]}]}


def notice(one, name):
    """The text of the notice, once it is there, over the map's place."""
    one.wait(lambda: one.run(NOTICE) == name, f"the notice {name}, not {one.run(NOTICE)}")
    box = one.find(f".notice[data-notice={name}]")
    inner, place = one.run("return innerWidth"), box.rect
    assert place["width"] > 200 and place["x"] >= 0 and place["x"] + place["width"] <= inner, "it is seen whole"
    assert one.run("return getComputedStyle(document.getElementById('status')).clipPath") != "none" or not one.status(), "it is not said in a corner, too"
    one.wait(lambda: one.least_contrast()[0] >= 4.5, f"texts that can be read, after a button's colour has changed; the hardest is {one.least_contrast()}")
    return box.text


def no_notice(one):
    one.wait(lambda: one.run(NOTICE) is None, "a page without a notice")


def press(one, text):
    one.run("[...document.querySelectorAll('.notice button')].find((button) => button.checkVisibility() && button.textContent === arguments[0]).click()", text)


def one_run(name, n=40, epochs=2, **more):
    return stores.run(name, batches(n, epochs), declared=n, labels=["a", "b", "c"], **more)


@pytest.fixture(scope="module")
def few(folder):
    """Runs with little in them: one example; an axis without values; no epoch."""
    store = folder / "few"
    gold, learned = np.array([0, 1, 2]), np.array([False, False, False])
    never = [stores.batch(e, np.arange(3), np.array([0.1, 0.2, 0.3], "f4"), learned, gold) for e in range(2)]
    single = [stores.batch(0, np.array([7]), np.array([0.5], "f4"), np.array([True]), np.array([1]))]
    stores.make_store(MAKE_STORE, str(store), [stores.run("single", single, labels=["a", "b"]), stores.run("never", never, labels=["a", "b", "c"]), stores.run("blank", [], declared=9, labels=["a"])])
    with serving(store) as server:
        yield server


def test_store_that_comes(page, tmp_path):
    """No store, then an empty one, then a run: the page follows."""
    store = tmp_path / "later"
    with serving(store) as served:
        one = page(served.address)
        said = notice(one, "no-store")
        assert str(store) in said and "portolan serve --store" in said
        assert not one.run("return document.getElementById('desk').checkVisibility()"), "nothing else is there"
        stores.make_store(MAKE_STORE, str(store), [])
        said = notice(one, "no-runs")
        assert "portolan.Run" in said and "portolan import LOGS --run NAME" in said
        shutil.rmtree(store)
        stores.make_store(MAKE_STORE, str(store), [one_run("first")])
        one.wait_for(run="first", points=40)
        no_notice(one)
        assert one.run("return document.getElementById('desk').checkVisibility()") and not one.status()
    one.errors()  # the browser itself says that the server could not answer


def test_run_that_is_not_there(page, served):
    one = page(served.view(run="a/c"))
    said = notice(one, "no-run")
    assert "a/c" in said and "did you mean 'a/b'" in said
    press(one, "Show a/b")
    one.wait_for(run="a/b", points=N)
    no_notice(one)
    one.errors()


def test_run_without_epochs(page, few):
    one = page(few.view(run="blank"))
    said = notice(one, "no-epochs")
    assert "portolan check blank" in said and "no epoch yet" in said
    press(one, "Show single")
    one.wait_for(run="single", points=1)
    one.errors()


def test_epochs_without_observations(page, served):
    one = page(served.view(run="a/b", epochs="20:30"))
    assert "it has epochs 0 to 3" in notice(one, "no-epochs")
    press(one, "Show all epochs")
    one.wait_for(run="a/b", epochs="0:4", points=N)
    no_notice(one)
    one.run("location.hash = location.hash + '&epochs=20%3A30'")  # while the run is shown
    notice(one, "no-epochs")
    assert one.data()["points"] == str(N), "the map stays beneath"
    press(one, "Show all epochs")
    no_notice(one)
    one.errors()


def test_one_example(page, few):
    one = page(few.view(run="single"))
    one.wait_for(run="single", points=1, examples=1)
    assert "one example" in notice(one, "one-example")
    assert one.run("return document.getElementById('map-drawn').textContent") == "The one example is drawn."
    press(one, "Close")
    no_notice(one)


def test_axis_without_values(page, few):
    one = page(few.view(run="never", x="first_learned"))
    said = notice(one, "no-values")
    assert "No example has a value of first learned" in said and "the first epoch at which the model was right" in said
    assert one.data()["points"] == "0"
    press(one, "Show variability and confidence")
    one.wait_for(points=3)
    no_notice(one)
    assert "x" not in one.settled_fragment()


def test_filters_that_let_nothing_through(page, served):
    one = page(served.view(run="a/b", filters={"confidence": {"min": 2}}))
    assert f"{N:,} examples" in notice(one, "filtered-out")
    press(one, "Clear the filters")
    one.wait_for(points=N)
    no_notice(one)
    two = page(served.view(run="a/b", x="first_learned", filters={"never_learned": {"min": 1}}))
    said = notice(two, "no-values")
    assert "of the" in said and "that pass the filters has a value of first learned" in said and "they stand in a strip beside the map" in said
    assert two.run("return document.querySelector('.notice.over').classList.contains('foot')"), "the strip can be read"
    press(two, "Clear the filters")
    no_notice(two)
    three = page(served.view(run="a/b", filters={"data:kind": {"in": ["nowhere"]}}))
    assert "no value 'nowhere'" in notice(three, "failed")
    press(three, "Clear the filters")
    three.wait_for(points=N)
    three.errors()


def test_empty_selection(page, served):
    one = page(served.view(run="a/b", selection=NOWHERE))
    assert "empty" in notice(one, "empty-selection")
    press(one, "Clear the selection")
    no_notice(one)
    assert "selection" not in one.settled_fragment()
    one.drag([(0.01, 0.01), (0.02, 0.01), (0.02, 0.02)])
    one.selection()
    notice(one, "empty-selection")
    press(one, "Close")
    no_notice(one)
    one.drag([(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)])
    one.wait(lambda: int(one.data()["selected"]) > 0, "a selection")
    no_notice(one)


def test_run_that_goes_and_comes_anew(page, tmp_path):
    """Removed: its place says so, and offers another run. Recorded anew: a line says that the record is new."""
    store = tmp_path / "store"
    stores.make_store(MAKE_STORE, str(store), [one_run("here"), one_run("other")])
    with serving(store, "here") as served:
        one = page(served.view(run="here", selection={"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[-1, -1], [2, -1], [2, 2], [-1, 2]]}]}))
        one.wait_for(run="here", points=40, selected=40)
        subprocess.run([PORTOLAN, "rm", "here", "--yes", "--store", str(store)], check=True, capture_output=True)
        said = notice(one, "gone")
        assert "'here' is no longer in the store" in said
        assert not one.run("return document.getElementById('desk').checkVisibility()")
        store.rename(tmp_path / "before")
        stores.make_store(MAKE_STORE, str(store), [one_run("other"), one_run("here", 50)])
        one.wait_for(run="here", points=50, selected=0)
        assert "selection is gone" in notice(one, "overwritten")
        press(one, "Close")
        no_notice(one)
        subprocess.run([PORTOLAN, "rm", "here", "--yes", "--store", str(store)], check=True, capture_output=True)
        notice(one, "gone")
        press(one, "Show other")
        one.wait_for(run="other", points=40)
        no_notice(one)
    one.errors()


def test_server_that_ends(page, tmp_path, served):
    """With the same token the page goes on; with another one it says which address to open."""
    token = tmp_path / "token"
    with serving(served.store, "--token-file", token, "a/b") as first:
        port = first.url.port
        one = page(first.address)
        one.wait_for(run="a/b", points=N)
    said = notice(one, "server-ended")
    assert "portolan serve a/b" in said and one.data()["points"] == str(N)
    press(one, "Close")
    no_notice(one)
    with serving(served.store, "--token-file", token, "--port", port, "a/b"):
        one.wait(lambda: not one.status(), "the server again")
        no_notice(one)
    one.errors()
    notice(one, "server-ended")
    with serving(served.store, "--port", port, "a/b") as other:
        said = notice(one, "token")
        assert "address that portolan serve has printed" in said and "--token-file" in said
        one.here().get(other.address)
        one.wait_for(run="a/b", points=N)
        no_notice(one)
    one.errors()


def test_lost_context(page, served):
    """The points' place is taken by shading, until they come back; if they do not, the page can be loaded again."""
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    one.run(LOSE)
    notice(one, "graphics-lost")
    one.wait(lambda: one.pixels("#map .holder")[1] > 2000, "shading in the points' place")
    assert "without points" in one.run("return document.getElementById('map-drawn').textContent")
    one.run("taken.restoreContext()")
    no_notice(one)
    one.next_picture()
    assert one.run("const canvas = document.querySelector('#map canvas.points'); return getComputedStyle(canvas).visibility") == "visible"
    assert one.pixels("#map canvas.points")[1] > 2000, "the points are there"
    one.run("location.hash += '&colour=gold'")  # what changes meanwhile is drawn, too
    one.wait_for(points=N)
    one.run(LOSE)
    notice(one, "graphics-lost")
    one.run("location.hash = location.hash.replace('gold', 'aleatoric')")
    one.wait(lambda: one.find("#legend h2").text == "aleatoric", "other colours")
    notice(one, "graphics-away")
    press(one, "Load the page again")
    one.wait_for(points=N)
    no_notice(one)
    one.wait(lambda: one.pixels("#map canvas.points")[1] > 2000, "the points")


def test_without_webgl(served, folder):
    path = folder / "screens.html"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(path)], capture_output=True, check=True)
    with browsers.browser(*browsers.NO_WEBGL) as driver:
        for address in (served.view(run="a/b"), path.as_uri()):
            one = browsers.Page(driver, address)
            one.wait_for(points=N)
            assert "WebGL2" in notice(one, "no-webgl")
            press(one, "Close")
            no_notice(one)
            assert not one.errors()


def test_file(page, served, few, folder):
    """The page that is one file has the same notices where they apply, and none that needs a server."""
    path = folder / "one-file.html"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(path)], capture_output=True, check=True)
    one = page(path.as_uri() + "#filters=" + '{"confidence":{"min":2}}')
    notice(one, "filtered-out")
    press(one, "Clear the filters")
    one.wait_for(points=N)
    no_notice(one)
    one.drag([(0.01, 0.01), (0.02, 0.01), (0.02, 0.02)])
    notice(one, "empty-selection")
    press(one, "Clear the selection")
    no_notice(one)
    one.run(LOSE)
    notice(one, "graphics-lost")
    one.run("taken.restoreContext()")
    no_notice(one)
    two = page(path.as_uri() + "#run=other")
    assert "portolan serve" in notice(two, "failed")
    press(two, "Show a/b")
    two.wait_for(points=N)
    three = page(path.as_uri() + "#epochs=1:2")
    notice(three, "failed")
    press(three, "Show all epochs")
    three.wait_for(points=N)
    for run, state, name in (("single", "", "one-example"), ("never", "#x=first_learned", "no-values")):
        other = folder / f"{run}.html"
        subprocess.run([PORTOLAN, "map", run, "--store", few.store, "-o", str(other)], capture_output=True, check=True)
        notice(page(other.as_uri() + state), name)


@pytest.mark.parametrize("size", [(1440, 900), (900, 700), (390, 844)], ids=["1440x900", "900x700", "390x844"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_fits(page, served, few, size, dark):
    one = page("about:blank")
    one.emulate(*size, dark=dark)
    for address, name in ((few.view(run="blank"), "no-epochs"), (served.view(run="a/b", filters={"confidence": {"min": 2}}), "filtered-out"),
                          (served.view(run="a/b", selection=NOWHERE), "empty-selection")):
        one.here().get("about:blank")
        one.here().get(address)
        notice(one, name)
        inner, needed = one.run("return [innerWidth, document.documentElement.scrollWidth]")
        assert needed <= inner, "nothing is beside the screen"
    one.errors()
