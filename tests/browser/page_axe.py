"""axe (Deque's rules for accessibility) finds nothing: on the page with everything open, on the page as one file, on the report; light and dark. All of the served page on
every size of screen; what is a part of it, or another page, on the largest and on the smallest.

tools/test puts axe's script into build-browser/ (tools/lib/browser.txt has its version).
"""

import os
import pathlib
import subprocess

import pytest

from served import N, PORTOLAN

FOUND = sorted(pathlib.Path(__file__).parents[2].glob("build-browser/lib/python3*/site-packages/axe_playwright_python/axe.min.js"))
SCREENS = [((1440, 900), "light"), ((390, 844), "dark")]
ALL_SCREENS = [(size, scheme) for size in ((1440, 900), (900, 700), (390, 844)) for scheme in ("light", "dark")]
REPORT_PATIENCE = 240  # seconds; the report's commands have the lowest priority, and wait for everybody

# [what axe objects to, in lines; how many of its rules are kept].
RUN = """
const [part, done] = arguments;
const say = ({ id, impact, help, nodes }) => [`${id} (${impact}): ${help}`, ...nodes.map(({ target, html, failureSummary }) => `${target.join(" ")}\n    ${html.slice(0, 160)}\n    ${failureSummary}`)];
axe.run(part, { resultTypes: ["violations"] }).then(({ violations, passes }) => done([violations.flatMap(say), passes.length]), (error) => done([[String(error)], 0]));
"""

OPEN = "for (const one of document.querySelectorAll('details')) one.open = true"


def find_nothing(one, part="html", least=15):
    """No rule of axe is broken, best practices included. Its script comes in by WebDriver, which the page's Content-Security-Policy does not stop."""
    assert FOUND, "axe is not there: tools/test browser installs it from PyPI"
    if not one.run("return Boolean(window.axe)"):
        one.run(FOUND[0].read_text(encoding="utf-8"))
    one.wait(lambda: one.run("return document.getAnimations().length") == 0, "colours that no longer change")
    objections, kept = one.here().execute_async_script(RUN, part)
    assert not objections, "\n".join(objections)
    assert kept > least, "axe looked"


def named(screen):
    (width, height), scheme = screen
    return f"{width}x{height}-{scheme}"


@pytest.fixture(params=SCREENS, ids=named)
def opened(request, page):
    """opened(address): a page of this size, light or dark."""
    def open_page(address):
        one = page("about:blank")
        size, scheme = request.param
        one.emulate(*size, dark=scheme == "dark")
        one.driver.get(address)
        return one
    return open_page


SELECTED = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[0, 0], [0.3, 0], [0.3, 0.6], [0, 0.6]]}]}
SAVED = [{"name": name, "identity": "", "selection": {"run": "a/b", "epochs": "", "filters": {"gold": {"in": [gold]}}}} for gold, name in enumerate(("one", "two"))]


def open_side(one):
    """With all that can be opened in it."""
    if one.find("#fold-side").get_attribute("aria-expanded") == "false":
        one.find("#fold-side").click()
    one.run(OPEN)


def settle(one):
    """A panel has what it asked for."""
    one.wait(lambda: not one.run("return document.body.classList.contains('busy') || document.getElementById('report').dataset.state === 'making'"), "the panel", REPORT_PATIENCE)


@pytest.mark.parametrize("opened", ALL_SCREENS, ids=named, indirect=True)
def test_page(opened, served):
    """All but the panels; then these, one after the other."""
    one = opened(served.view(run="a/b", colour="gold", pinned=["17", "0"], filters={"correctness": {"min": 0.1}, "gold": {"in": [0, 1]}}, selection=SELECTED, saved=SAVED, panel="none"))
    one.wait_for(examples=N)
    one.wait(lambda: one.run("return document.querySelectorAll('#pinned article').length") == 2, "the pinned examples")
    open_side(one)
    find_nothing(one)
    one.find("[aria-controls=words]").click()
    find_nothing(one, "#words", 5)
    names = one.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.dataset.panel)")
    assert len(names) >= 7
    for name in names:
        one.open_panel(name)
        one.run("document.querySelector('#panels').scrollIntoView()")
        settle(one)
        if name == "report":
            one.wait(lambda: one.run("return document.getElementById('report').dataset.state") == "made", "the report", REPORT_PATIENCE)
        one.run(OPEN)
        find_nothing(one, "#panels, #panel-buttons", 10)


def test_page_with_another_run(opened, served):
    one = opened(served.view(run="a/b", other="run=a%2Fb&epochs=%3A2", selection=SELECTED, panel="compare", colour="forgetting_events"))
    one.wait_for(examples=N)
    one.wait(lambda: one.run("return document.querySelectorAll('svg.over').length") == 2, "a second map")
    find_nothing(one)


def test_page_as_one_file(opened, served, folder):
    path = folder / "axe.html"
    if not path.exists():
        data = os.path.join(os.path.dirname(served.store), "data.jsonl")
        subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "--data", data, "--id-field", "id", "--text", "text", "-o", str(path)], capture_output=True, check=True)
    one = opened(path.as_uri())
    one.wait_for(points=N)
    one.run(OPEN)
    find_nothing(one)


def test_saved_panel(opened, served):
    """With selections that are listed, compared, in the colours of the map, and too long for the address; beside the question about another run's file."""
    box = {"run": "a/b", "epochs": "", "x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[0, 0], [0.3, 0], [0.3, 0.6], [0, 0.6]]}]}
    saved = [{"name": name, "identity": "", "selection": dict(box, epochs=epochs)} for name, epochs in (("<b>one</b>", ""), ("two", "0:2"))]
    one = opened(served.view(run="a/b", panel="saved", colour="saved", saved=saved))
    one.wait_for(examples=N)
    one.run("document.getElementById('saved').scrollIntoView(); for (const box of document.querySelectorAll('#saved input[type=checkbox]')) box.click()")
    one.wait(lambda: "Jaccard" in one.find("#saved").text, "the comparison")
    one.run("for (const part of document.querySelectorAll('#saved [hidden]:not(input)')) part.hidden = false")
    find_nothing(one)


def test_notices(opened, served):
    nowhere = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[-3, -3], [-2, -3], [-2, -2]]}]}
    for state, name in (({"run": "a/c"}, "no-run"), ({"run": "a/b", "filters": {"confidence": {"min": 2}}}, "filtered-out"), ({"run": "a/b", "selection": nowhere}, "empty-selection")):
        one = opened(served.view(**state))
        one.wait(lambda one=one, name=name: one.run("return [...document.querySelectorAll('.notice:not([hidden])')].map((box) => box.dataset.notice).join()") == name, name)
        find_nothing(one)
        one.driver.get("about:blank")  # else it asks again
        one.errors()  # the browser itself says that there is no such run


def test_report(opened, served, folder):
    path = folder / "axe-report.html"
    if not path.exists():
        data = os.path.join(os.path.dirname(served.store), "data.jsonl")
        subprocess.run([PORTOLAN, "report", "a/b", "--store", served.store, "--data", data, "--id-field", "id", "--text", "text", "-o", str(path)], capture_output=True, check=True)
    one = opened(path.as_uri())
    one.run(OPEN)
    find_nothing(one)
