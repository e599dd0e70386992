"""Pages of a run that is being recorded meanwhile: they follow it, without being loaded again."""

import numpy as np
import portolan
import pytest

from served import metrics, observations, selected_by, serving

N = 800


class Recording:
    """A run that is recorded, epoch by epoch."""

    def __init__(self, store, name):
        self.probabilities, self.gold = observations(N, 6)
        self.run = portolan.Run(name, store=str(store), labels=["a", "b", "c"], examples=N)
        self.epoch = 0

    def record(self, end=True):
        p = self.probabilities[self.epoch]
        self.run.log_gold(self.epoch, np.arange(N), p, p > 0.5, gold=self.gold)
        self.run.end_epoch(self.epoch)
        self.epoch += 1


@pytest.fixture
def recording(tmp_path):
    made = Recording(tmp_path / "store", "live")
    with made.run:
        made.record()
        yield made


@pytest.fixture
def served(recording, tmp_path):
    """It ends after its pages: before `page` among a test's fixtures."""
    with serving(tmp_path / "store", "live") as server:
        yield server


def test_epochs_appear(recording, served, page):
    """Two pages follow the run; zoom and selection stay, and the selection holds what is inside now."""
    recording.record()
    one, two = page(served.view(run="live")), page(served.view(run="live", x="correctness"))
    for each in (one, two):
        each.wait_for(run="live", epochs="0:2", points=N, examples=N)
        each.run("window.stays = true")
    one.drag([(0.1, 0.1), (0.9, 0.2), (0.8, 0.8), (0.2, 0.9)])
    one.selection()
    one.zoom_in(0.4, 0.4)
    one.wait(lambda: "box" in one.fragment(), "a box in the address")
    fragment = one.settled_fragment()
    before = one.axis("x")
    for epochs in ("0:3", "0:4"):
        recording.record()
        for each in (one, two):
            each.wait_for(epochs=epochs, points=N)
        rows = metrics(served.store, "live")
        one.wait_for(selected=len(selected_by(fragment["selection"], rows)))
        assert one.fragment() == fragment and one.axis("x") == pytest.approx(before)
    assert one.run("return window.stays") and two.run("return window.stays")
    assert "recording" in one.run("return document.getElementById('run-facts').textContent")


def test_run_appears(served, page):
    one = page(served.address)
    one.wait_for(run="live", points=N)
    one.run("window.stays = true")
    second = Recording(served.store, "second")
    with second.run:
        second.record()
    names = "return [...document.querySelectorAll('#run option')].map((option) => option.value)"
    one.wait(lambda: set(one.run(names)) == {"live", "second"}, "the second run in the list")
    assert one.data()["run"] == "live" and one.run("return window.stays")


def test_server_that_has_ended(recording, page, tmp_path):
    """A page whose server has ended says so, and shows on what it has."""
    with serving(tmp_path / "store", "live") as served:
        one = page(served.address)
        one.wait_for(run="live", points=N)
    one.wait(lambda: "serve" in one.status(), "words about the server")
    assert one.data()["points"] == str(N)
    one.errors()  # the browser itself says that nobody answers
