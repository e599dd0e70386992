"""Pages of a run that is being recorded meanwhile: they follow it, without being loaded again."""

import subprocess

import numpy as np
import portolan
import pytest

from served import PORTOLAN, metrics, observations, selected_by, serving

N = 800


class Recording:
    """A run that is recorded, epoch by epoch."""

    def __init__(self, store, name):
        self.probabilities, self.gold = observations(N, 6)
        self.run = portolan.Run(name, store=str(store), labels=["a", "b", "c"], examples=N, open_timeout=60)
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


def test_texts_appear(recording, served, page):
    """Texts that are logged after the page was opened stand on the pinned card and in the table, and the filter on texts finds them."""
    one, two = page(served.view(run="live", pinned=["7"])), page(served.view(run="live", filters={"text": {"contains": ["word 77"]}}))
    one.wait_for(run="live", points=N)
    two.wait_for(run="live", points=0, examples=N)
    one.open_panel("table")
    card = "return [...document.querySelectorAll('#pinned article .text')].map((text) => text.textContent).join()"
    table = "return document.querySelector('#table tbody').textContent"
    one.wait(lambda: one.run("return document.querySelector('#pinned article') && document.querySelector('#table tbody tr')"), "a card and the table")
    one.run("window.stays = true")
    assert one.run(card) == "" and "word" not in one.run(table)
    for word in ("word", "drow"):
        recording.run.log_examples(range(N), text=[f"{word} {i}" for i in range(N)])
        assert recording.run.flush()
        one.wait(lambda word=word: one.run(card).endswith(f"{word} 7"), "the text on the card")
        one.wait(lambda word=word: word in one.run(table), "texts in the table")
        two.wait_for(points=11 if word == "word" else 0, examples=N)
    assert one.run("return window.stays")


# A loader whose source is slow, and answers in another order than it was asked. SLOW holds answers of `inside` by the box's left side.
LOADER = """
const [slow, ask, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
const wait = (ms) => new Promise((then) => setTimeout(then, ms));
(async () => {
  const { createLoader } = await import("/page/loader.js");
  const { createState } = await import("/page/state.js");
  const log = [];
  const columns = [{ name: "variability", low: 0, high: 0.5 }, { name: "confidence", low: 0, high: 1 }];
  let version = 0;
  const source = {
    live: ask.live,
    view: async () => (log.push(["view", performance.now()]), { run: "r", state: "recording", version: `v${ask.live ? ++version : 1}`, range: "", points: 2000000, columns, data_columns: [] }),
    bins: async () => new Uint32Array(65536),
    inside: async (at, { box }) => {
      await wait(slow[box[0]] ?? 0);
      log.push(["inside", performance.now()]);
      return { inside: 10, n: 1, places: new Uint32Array(1), bytes: new ArrayBuffer(5) };
    },
  };
  const state = createState();
  createLoader(state, source);
  state.set({ run: "r", colour: "none" });
  for (const [ms, box] of ask.boxes) {
    await wait(ms);
    state.set({ box });
  }
  await wait(ask.rest);
  while (log.filter(([what]) => what === "view").length < ask.views) await wait(50);
  return { box: state.points.density.box, shown: state.box, busy: state.busy, log };
})().then(done, (error) => done({ error: String(error) }));
"""


@pytest.mark.parametrize("last", [[0.2, 0.3, 0, 1], None], ids=["another part", "everything"])
def test_answers_that_overtake_each_other(served, page, last):
    """Above 1,000,000 points each part that is looked at is asked for: the points are of the last one, whichever answer comes last."""
    one = page(served.view(run="live"))
    one.wait_for(points=N)
    boxes = [[50, [0.1, 0.2, 0, 1]], [300, last]]
    told = one.driver.execute_async_script(LOADER, {"0.1": 1500, "0.2": 50}, {"live": False, "boxes": boxes, "rest": 2500, "views": 1})
    assert "error" not in told and not told["busy"]
    assert told["shown"] == last and told["box"] == (last or [-0.015, 0.515, -0.03, 1.03])  # with the room around all
    assert len([what for what, _ in told["log"] if what == "inside"]) == 3, "all three were answered"


def test_a_slow_answer_is_not_asked_for_at_once(served, page):
    """Where a growing run takes long to load and draw, the page rests four times as long before it asks again."""
    one = page(served.view(run="live"))
    one.wait_for(points=N)
    told = one.driver.execute_async_script(LOADER, {"-0.015": 700}, {"live": True, "boxes": [], "rest": 0, "views": 3})
    views = [at for what, at in told["log"] if what == "view"]
    answers = [at for what, at in told["log"] if what == "inside"]
    assert views[2] - answers[1] >= 4 * 700


def record_anew(store, name):
    """Overwrites a run: the same ids, other values."""
    with portolan.Run(name, store=str(store), labels=["a", "b", "c"], overwrite=True, open_timeout=60) as run:
        p = observations(N, 1, seed=9)[0][0]
        run.log_gold(0, np.arange(N - 100), p[100:], p[100:] > 0.5, gold=np.zeros(N - 100, "i4"))
        run.end_epoch(0)


@pytest.fixture
def stored(tmp_path):
    """A store of one run that has ended."""
    made = Recording(tmp_path / "store", "live")
    with made.run:
        made.record()
    return tmp_path / "store"


def test_run_that_is_overwritten(stored, page):
    """What was selected on the old data is not selected on the new; the page says so, and a link to the old selection too. Pinned ids stay, if the run has them."""
    with serving(stored, "live") as served:
        one = page(served.view(run="live", pinned=["5", "750"]))
        one.wait_for(run="live", points=N)
        one.wait(lambda: one.run("return document.querySelectorAll('#pinned article').length") == 2, "pinned examples")
        one.drag([(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)])
        one.wait_for(selected=len(selected_by(one.selection(), metrics(stored, "live"))))
        assert "of" in one.settled_fragment()  # which data the selection is of: it comes into the address after the selection
        link = one.run("return location.href")
        record_anew(stored, "live")
        one.wait_for(points=N - 100, selected=0)
        assert "selection" not in one.settled_fragment()
        assert "recorded anew" in one.find("#select").text
        one.wait(lambda: one.run("return document.querySelectorAll('#pinned article').length") == 1, "the pinned example that is there")
        two = page(link)
        two.wait_for(points=N - 100, selected=0)
        assert "recorded anew" in two.find("#select").text and "selection" not in two.settled_fragment()
        two.drag([(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)])
        two.wait_for(selected=len(selected_by(two.selection(), metrics(stored, "live"))))
        assert "recorded anew" not in two.find("#select").text
        two.settled_fragment()
        three = page(two.run("return location.href"))
        three.wait_for(selected=two.data()["selected"])
    # a question that was under way is answered with 409, after which the page loads the view again; ids that are gone are no error
    assert not [said for said in one.errors() if "status of 409" not in said]


def seen(one):
    return one.run("return [...document.querySelectorAll('main section')].filter((section) => section.checkVisibility()).map(({ id }) => id)")


def test_run_that_is_removed(stored, page):
    """Its map goes, with a line that says what happened, and comes back with the run."""
    with serving(stored, "live") as served:
        one = page(served.view(run="live"))
        one.wait_for(run="live", points=N)
        record_anew(stored, "other")
        subprocess.run([PORTOLAN, "rm", "live", "--yes", "--store", str(stored)], check=True, capture_output=True)
        one.wait(lambda: "no longer" in one.status() and "'live'" in one.status(), "words about the run")
        one.wait_for(points=0, run="", selected=0)
        assert not seen(one)
        record_anew(stored, "live")
        one.wait_for(run="live", points=N - 100)
        assert seen(one) and not one.status()
    one.errors()  # the browser itself may say that the progress of such a run is not found


def test_store_that_is_moved(stored, page):
    with serving(stored, "live") as served:
        one = page(served.view(run="live"))
        one.wait_for(run="live", points=N)
        stored.rename(stored.parent / "moved")
        one.wait(lambda: "no store" in one.status(), "words about the store")
        one.wait_for(points=0, run="")
        assert not seen(one)
        (stored.parent / "moved").rename(stored)
        one.wait_for(run="live", points=N)
        assert seen(one) and not one.status()
    one.errors()  # the browser itself says that the server could not answer


def test_server_that_has_ended(recording, page, tmp_path):
    """A page whose server has ended says so, and shows on what it has."""
    with serving(tmp_path / "store", "live") as served:
        one = page(served.address)
        one.wait_for(run="live", points=N)
    one.wait(lambda: "serve" in one.status(), "words about the server")
    assert one.data()["points"] == str(N)
    one.errors()  # the browser itself says that nobody answers
