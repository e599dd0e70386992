"""What the names on the page mean: each measure has its sentence wherever its name stands, and a button opens all of them."""

import os
import re
import subprocess

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

import stores
from served import MAKE_STORE, N, PORTOLAN, serving

USER = "the mean of {}, a number that the loop logged"


@pytest.fixture(scope="module")
def sentences():
    """The sentences by measure, as the page of documentation has them."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "analyzer", "WORDS.md"), encoding="utf-8") as file:
        table = file.read().split("## Measures")[1].split("\n## ")[0]
    return {name: about.replace("`", "") for name, about in re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)}


@pytest.fixture(scope="module")
def logged(folder):
    """A run with columns of the user's own, one of them called as a measure is."""
    store, ids = folder / "logged", np.arange(30)
    one = [stores.batch(e, ids, np.linspace(0, 1, 30, dtype="f4"), ids % 2 == 0, ids % 2, grad_norm=ids.astype("f4"), loss=ids.astype("f4")) for e in range(3)]
    stores.make_store(MAKE_STORE, str(store), [stores.run("own", one, declared=30, labels=["a", "b"])])
    with serving(store) as server:
        yield server


def titles(one, selector):
    """What hovering says, by the text that stands there."""
    return dict(one.run("return [...document.querySelectorAll(arguments[0])].map((found) => [found.textContent.replace(/[\u00a0 ]*[▲▼]$/, ''), found.title])", selector))


def check_words(one, sentences):
    view = one.run("return [...document.querySelectorAll('#choose-x option')].map((option) => option.value)")
    assert len(view) > 10 and set(view) >= {"confidence", "variability", "first_learned"}
    known = {name.replace("_", " "): sentences[name] for name in view if name in sentences}
    for select in ("#choose-x", "#choose-y", "#choose-colour"):
        said = titles(one, f"{select} option")
        assert {name: said[name] for name in known} == known, select
    said = one.run("return [...document.querySelectorAll('#map g.axes text.name')].map((text) => [text.firstChild.textContent, text.querySelector('title').textContent])")
    assert [list(pair) for pair in said] == [["variability", sentences["variability"]], ["confidence", sentences["confidence"]]]
    assert titles(one, "#legend h2") == {"correctness": sentences["correctness"]}
    said = titles(one, "#table thead button")
    assert {"confidence", "variability", "correctness"} <= set(said)
    assert {name: said[name] for name in said if name in known} == {name: known[name] for name in said if name in known}
    more = titles(one, "#table select option")
    assert len(set(more) & set(known)) > 5 and all(more[name] == known[name] for name in more if name in known)
    assert titles(one, "#filters .range span") == {name: known[name] for name in ("correctness", "forgetting events")}
    assert titles(one, "#select fieldset legend") == {name: known[name] for name in ("variability", "confidence")}


def test_every_measure_has_its_sentence(page, served, sentences):
    one = page(served.view(run="a/b", panel="table"))
    one.wait_for(points=N)
    one.wait(lambda: titles(one, "#table thead button"), "the table")
    check_words(one, sentences)
    assert "your data" in titles(one, "#choose-colour option")["gold label"] and "your data" in titles(one, "#table thead button")["label"]
    one.run("location.hash += '&pinned=' + encodeURIComponent('[\"5\"]')")
    one.wait(lambda: titles(one, "#pinned dt"), "a pinned card")
    assert titles(one, "#pinned dt")["confidence"] == sentences["confidence"]


def test_in_a_file(page, served, sentences, folder):
    path = folder / "words.html"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(path)], capture_output=True, check=True)
    one = page(path.as_uri() + "#panel=table")
    one.wait_for(points=N)
    one.wait(lambda: titles(one, "#table thead button"), "the table")
    check_words(one, sentences)


def test_columns_of_the_users_own(page, logged):
    one = page(logged.view(run="own", x="grad_norm", y="mean_loss"))
    one.wait_for(points=30)
    said = titles(one, "#choose-x option")
    assert said["grad norm"] == USER.format("grad_norm") and said["mean loss"] == USER.format("loss")
    names = "return [...document.querySelectorAll('#map g.axes text.name title')].map((title) => title.textContent)"
    assert one.run(names) == [USER.format("grad_norm"), USER.format("loss")]


def test_by_keyboard(page, served, sentences):
    """A button beside the axes opens the words; the selects are described by those of what they show."""
    one = page(served.view(run="a/b", x="aleatoric"))
    one.wait_for(points=N)
    described = "const select = document.getElementById(`choose-${arguments[0]}`); return document.getElementById(select.getAttribute('aria-describedby')).textContent"
    assert [one.run(described, name) for name in ("x", "y", "colour")] == [sentences[name] for name in ("aleatoric", "confidence", "correctness")]
    one.tab_to("at.matches('#map-controls button.about')", "the button of the words")
    one.press(Keys.ENTER)
    box = one.find("#words")
    assert box.is_displayed() and one.run("return document.activeElement.id") == "words"
    listed = one.run("return [...document.querySelectorAll('#words dt')].map((name) => [name.textContent.replaceAll(' ', '_'), name.nextElementSibling.textContent])")
    assert [name for name, _ in listed[:3]] == ["aleatoric", "confidence", "correctness"], "what is on the map comes first"
    assert all(sentences[name] == about for name, about in listed) and len(listed) == len({name for name, _ in listed}) > 10
    assert "p(gold) is the probability" in box.text
    inner, place = one.run("return innerWidth"), box.rect
    assert place["x"] >= 0 and place["x"] + place["width"] <= inner
    one.press(Keys.ESCAPE)
    assert not box.is_displayed() and one.run("return document.activeElement.matches('button.about')")
    one.find("#map-controls button.about").click()
    assert box.is_displayed()
    one.find("h1").click()
    assert not box.is_displayed(), "a press elsewhere closes it"


@pytest.mark.parametrize("size", [(900, 700), (390, 844)], ids=["900x700", "390x844"])
def test_fits(page, served, size):
    one = page("about:blank")
    one.emulate(*size)
    one.here().get(served.view(run="a/b"))
    one.wait_for(points=N)
    one.run("document.querySelector('#map-controls button.about').click()")
    left, right = one.run("const { left, right } = document.getElementById('words').getBoundingClientRect(); return [left, right]")
    assert left >= 0 and right <= size[0]
