"""portolan.serve(): the page's server starts with the call and ends with the process, and the selection goes both ways."""

import html
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import types
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest

import portolan
import python_support

EXAMPLES = 200
LARGE = 2**63 + 1  # an id that neither JavaScript nor a signed integer holds


@pytest.fixture
def recorded(store):
    """A store with the run words/seed1 of integer ids, and the run names of strings."""
    rng = np.random.default_rng(5)
    for name, ids in (("words/seed1", np.arange(EXAMPLES, dtype="u8")), ("names", [f"näme {i:03d}" for i in range(EXAMPLES)])):
        if name == "words/seed1":
            ids[-1] = LARGE
        with portolan.Run(name, store=store) as run:
            for epoch in range(4):
                p = rng.random(EXAMPLES)
                run.log_gold(epoch, ids, p, p > 0.5)
                run.end_epoch(epoch)
    return store


@pytest.fixture
def page(recorded):
    with portolan.serve("words/seed1", store=recorded) as served:
        yield served


def ask(page, path, body=None, **headers):
    """As a browser that was given page.url asks."""
    address = urllib.parse.urlsplit(page.url)
    token = urllib.parse.parse_qs(address.query)["token"][0]
    request = urllib.request.Request(
        f"http://{address.netloc}/{path}", None if body is None else json.dumps(body).encode(), {"Authorization": f"Bearer {token}", **headers})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        return answer.read()


def refused(page, **headers):
    """The status of an answer that is an error."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(page, "", **headers)
    caught.value.close()
    return caught.value.code


def keep(page, selection):
    """As the page does when somebody selects."""
    ask(page, "api/runs/words/seed1/select?as=keep", selection)


def has_ended(pid):
    try:
        ends = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready, _, _ = select.select([ends], [], [], 20)
    os.close(ends)
    return bool(ready)


def in_box(measures, left, right, low, high):
    held = (measures.variability >= left) & (measures.variability <= right) & (measures.confidence >= low) & (measures.confidence <= high)
    return measures["id"][held].tolist()


def box(left, right, low, high):
    return {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": [[left, low], [right, low], [right, high], [left, high]]}]}


def test_the_page_is_served_at_its_address_and_the_address_is_printed_once(recorded, capfd):
    with portolan.serve("words/seed1", store=recorded) as page:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\w{32,}#run=words/seed1&linked=true", page.url)
        assert b"<html lang=" in ask(page, "")
        assert portolan.serve("words/seed1", store=str(recorded)) is page, "the same arguments are the same page"
        with portolan.serve("names", store=recorded) as other:
            assert other is not page and other.url != page.url
        assert page.is_open and not other.is_open
        assert urllib.parse.urlsplit(page.url).query not in repr(page), "a notebook keeps what repr() says"
    said = capfd.readouterr()
    assert said.out.splitlines() == [page.url, other.url] and not said.err


def test_the_selection_made_in_the_page_is_the_programs(page, recorded, tmp_path):
    measures = portolan.measures("words/seed1", store=recorded)
    assert page.selection() is None and page.ids() == []
    keep(page, box(0, 1, 0, 0.5))
    expected = in_box(measures, 0, 1, 0, 0.5)
    assert page.ids() == expected and 0 < len(expected) < EXAMPLES
    (tmp_path / "selection.json").write_text(json.dumps(page.selection()), encoding="utf-8")
    words = ["select", "words/seed1", "--store", recorded, "--within", tmp_path / "selection.json"]
    told = subprocess.run([os.environ["PORTOLAN"], *words], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [str(one) for one in expected] and not told.stderr
    assert (page.selection()["run"], page.selection()["epochs"]) == ("words/seed1", "0:4")
    keep(page, box(0, 1, 0, 1))
    assert page.ids() == measures["id"].tolist() and page.ids()[-1] == LARGE
    keep(page, {**box(0, 1, 0, 1), "parts": []})  # what the page keeps when the selection is cleared
    assert page.selection() is None and page.ids() == []


def test_a_selection_that_the_program_sets_is_the_pages(page, recorded):
    measures = portolan.measures("words/seed1", store=recorded)
    for ids in ([3, 5, LARGE], (5, LARGE, 3), np.array([3, 5, LARGE], dtype="u8"), [3, 5, LARGE, 123456]):
        assert page.select(ids=ids) == 3 and page.ids() == [3, 5, LARGE]
    assert page.select(ids=measures["id"][measures.confidence < 0.4]) == (measures.confidence < 0.4).sum()
    kept = json.loads(ask(page, "api/selection?run=words/seed1"))
    assert kept["serial"] == 5 and kept["selection"]["filters"]["id"]["in"] == [
        one if one < 2**53 else str(one) for one in measures["id"][measures.confidence < 0.4].tolist()]
    assert page.select(selection=box(0, 1, 0.5, 1)) == len(in_box(measures, 0, 1, 0.5, 1))
    assert page.select(selection=page.selection()) == len(page.ids()) == len(in_box(measures, 0, 1, 0.5, 1))
    assert page.select(ids=[]) == 0 and page.ids() == []
    with portolan.serve("names", store=recorded) as names:
        assert names.select(ids=["näme 007", "näme 003", "nobody"]) == 2 and names.ids() == ["näme 003", "näme 007"]


def test_a_run_in_progress_and_texts(store, tmp_path):
    (tmp_path / "data.jsonl").write_text('{"n": 0, "words": "zero", "more": "0"}\n{"n": 1, "words": "one", "more": "1"}\n', encoding="utf-8")
    with portolan.Run("live", store=store) as run:
        run.log_gold(0, [0, 1], [0.2, 0.9], [False, True])
        run.end_epoch(0)
        with portolan.serve(run, data=tmp_path / "data.jsonl", id_field="n", text=["words", "more"]) as page:
            assert page.select(ids=[0, 1]) == 2
            assert json.loads(ask(page, "api/example?run=live&id=1"))["text"] == {"words": "one", "more": "1"}
            (tmp_path / "glue.jsonl").write_text('{"pairID": "e", "words": "zero"}\n{"pairID": "c", "words": "one"}\n', encoding="utf-8")
            with portolan.serve(run, data=tmp_path / "glue.jsonl", id_field="pairID", text="words", glue=True) as glued:  # 0 and 1, by their letters
                assert json.loads(ask(glued, "api/example?run=live&id=1"))["text"] == {"words": "one"}
            keep_all = {"x": "epochs", "y": "confidence", "polygon": [[-1, 0], [9, 0], [9, 0.5], [-1, 0.5]]}
            assert page.select(selection=keep_all) == 1 and page.ids() == [0]
            run.log_gold(1, [0, 1], [1.0, 0.0], [True, False])
            run.end_epoch(1)
            assert run.flush()
            deadline = time.monotonic() + python_support.PATIENCE
            while page.ids() != [1]:  # the server looks now and then whether the run has grown
                assert time.monotonic() < deadline
            assert page.selection()["epochs"] == "0:2"


def test_errors_say_what_is_wrong(page, recorded, tmp_path):
    calls = (
        (dict(run="nobody"), portolan.Error, "no run 'nobody'"),
        (dict(run=None), TypeError, "name must be a string"),
        (dict(run="names", data=tmp_path / "none.csv", id_field="id"), portolan.Error, "none.csv: No such file"),
        (dict(run="names", data=tmp_path), ValueError, "data and id_field go together"),
        (dict(run="names", text="words", id_field="id"), ValueError, "data and id_field go together"),
            (dict(run="names", text=["words", 1]), TypeError, "text must be a string"),
        (dict(run="names", glue=True), ValueError, "and glue with them"),
        (dict(run="names", data=tmp_path, id_field=True), TypeError, "id_field must be a string"),
        (dict(run="names", data="", id_field="id"), ValueError, "data is empty: give a file"),
        (dict(run="names", port=0), ValueError, "port must be from 1 to 65535"),
        (dict(run="names", port="80"), TypeError, "port must be an integer"),
        (dict(run="names", port=urllib.parse.urlsplit(page.url).port), portolan.Error, "another program does"),
    )
    for arguments, kind, message in calls:
        with pytest.raises(kind, match=re.escape(message)):
            portolan.serve(store=recorded, **arguments)
    with pytest.raises(TypeError, match="one of them"):
        page.select()
    with pytest.raises(TypeError, match="one of them"):
        page.select(ids=[1], selection={})
    with pytest.raises(portolan.Error, match="neither 'polygon' nor 'parts' nor 'filters'"):
        page.select(selection={"x": "confidence"})
    with pytest.raises(TypeError, match="ids must be an array"):
        page.select(ids="12")


def test_closing(recorded):
    page = portolan.serve("words/seed1", store=recorded)
    pid = page._process.pid
    assert not has_been_reaped(pid)
    page.close()
    page.close()
    assert has_been_reaped(pid) and not page.is_open
    with pytest.raises(portolan.Closed, match="the page of words/seed1 is closed"):
        page.ids()
    assert "was closed" in page._repr_html_()
    with portolan.serve("words/seed1", store=recorded) as again:
        assert again is not page and again.ids() == []


def has_been_reaped(pid):
    try:
        os.kill(pid, 0)
        return False
    except ProcessLookupError:
        return True


def test_a_server_that_was_killed(recorded):
    with portolan.serve("words/seed1", store=recorded) as page:
        os.kill(page._process.pid, signal.SIGKILL)
        with pytest.raises(portolan.Error, match="the server of words/seed1 has ended: status -9; call portolan.serve"):
            page.ids()
        assert not page.is_open
        with portolan.serve("words/seed1", store=recorded) as again:
            assert again is not page and again.ids() == []
            page.close()
            assert portolan.serve("words/seed1", store=recorded) is again


SERVING = """
import os, sys, portolan
page = portolan.serve("words/seed1", store=sys.argv[1])
print("pid", page._process.pid, flush=True)
"""


@pytest.mark.parametrize("end", ["exit", "exception", "kill", "terminate", "os._exit", "forked"])
def test_no_server_outlives_its_program(recorded, script, end):
    """`forked`: a child that goes on must not keep the pipe open."""
    rest = {"exit": "pass", "exception": "raise OSError('on purpose')", "os._exit": "os._exit(3)",
            "forked": "child = os.fork()\nif child == 0:\n    sys.stdin.read()\n    os._exit(0)\nos._exit(3)"}
    program = script(SERVING + rest.get(end, "sys.stdin.read()"), recorded)
    pid = int(next(line for line in program.process.stdout if line.startswith("pid")).split()[1])
    if end == "kill":
        program.process.kill()
    if end == "terminate":
        program.process.terminate()
    assert has_ended(pid)


def test_an_interrupt_is_not_the_servers(recorded, script):
    """Ctrl-C, and a notebook's Interrupt, go to the whole process group."""
    program = script(
        "import os; os.setpgid(0, 0)" + SERVING + """
try:
    print("reading", flush=True)
    sys.stdin.read()
except KeyboardInterrupt:
    print("heard", page.ids(), flush=True)
""", recorded)
    next(line for line in program.process.stdout if line == "reading\n")
    os.killpg(program.process.pid, signal.SIGINT)
    assert program.process.stdout.readline() == "heard []\n"


def test_a_forked_child_leaves_the_page_to_its_parent(page):
    child = os.fork()
    if child == 0:
        try:
            page.ids()
        except portolan.Closed:
            page.close()
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert page.is_open and page.ids() == []


def test_in_a_notebook_it_shows_itself(recorded, monkeypatch, capfd):
    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    with portolan.serve("words/seed1", store=recorded) as page:
        assert capfd.readouterr().out == "", "the cell shows the page"
        first, second = page._repr_html_(), page._repr_html_()
        assert json.dumps(page.url) in first and f'href="{html.escape(page.url)}"' in first
        ids = [re.findall(r"portolan-\w{32}", cell) for cell in (first, second)]
        assert [len(set(of_one)) for of_one in ids] == [1, 1] and ids[0] != ids[1], "cells have ids of their own"
        browser = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        answer = browser.open(page.url.partition("#")[0].replace("127.0.0.1", "localhost"))
        assert "http://localhost:*" in answer.headers["Content-Security-Policy"], "a notebook may have it in a frame"
        assert b"<html lang=" in ask(page, "", Host="hub.example.org"), "the notebook's server may forward to it, under any name"
        assert refused(page, Host="hub.example.org", Authorization="Bearer no") == 401, "to who has the token"
        assert "height: \"600px\"" in first, "it fits a cell"
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    with portolan.serve("words/seed1", store=recorded) as page:
        assert capfd.readouterr().out == page.url + "\n"
        assert refused(page, Host="hub.example.org") == 403, "no proxy is to be expected elsewhere"


def test_names_stay_text_in_the_cell(store):
    name = "</script><script>alert('x')</script>&\"<b>"
    with portolan.Run(name, store=store) as run:
        run.log_gold(0, [0], [0.5], [True])
    with portolan.serve(name, store=store) as page:
        cell = page._repr_html_()
        assert page.select(ids=[0]) == 1
    assert cell.count("</script>") == 1 and cell.count("<script>") == 1 and "<b>" not in cell
