"""The report's panel beside the map: it says what `portolan report` says, follows the run, and opens the suspects in the table as `portolan suspects` lists them."""

import contextlib
import json
import os
import re
import subprocess

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

import chromium as browsers
import served_runs
import stores
from served import MAKE_STORE, PORTOLAN, serving

N = 400
LABELS = ["yes", "no", "<b>maybe</b>"]
EVIL = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>"


def printed(*words):
    return json.loads(subprocess.run([PORTOLAN, *map(str, words), "--json"], capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def labelled(folder):
    """A run with wrong labels, and texts."""
    store, data = folder / "labelled", folder / "labelled.jsonl"
    stores.make_store(MAKE_STORE, str(store), [stores.run("seed", served_runs.wrong_labels(N, 11), declared=N, labels=LABELS), stores.run("plain", [
        stores.batch(e, np.arange(60), np.full(60, 0.9, "f4"), np.ones(60, bool), np.arange(60) % 3) for e in range(2)], declared=60, labels=LABELS)])
    with open(data, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "text": EVIL if i % 40 == 7 else f"text {i}", "kind": f"k{i % 3}"}) + "\n" for i in range(N))
    with serving(store, "--data", data, "--id-field", "id", "--text", "text", "seed") as server:
        server.options = ["--store", str(store), "--data", str(data), "--id-field", "id", "--text", "text"]
        yield server


def report_of(one, state="made"):
    """The panel, opened, once it is in this state."""
    one.open_panel("report")
    one.wait(lambda: one.run("return document.getElementById('report').dataset.state") == state, f"a report that is {state}")
    return one.find("#report")


def section(one, name):
    return one.find(f"#report [data-section={name}]")


def texts(one, selector):
    return one.run("return [...document.querySelectorAll(arguments[0])].map((found) => found.textContent.replace(/\\s+/g, ' ').trim())", selector)


def test_says_what_the_command_says(page, labelled):
    one = page(labelled.view(run="seed"))
    one.wait_for(points=N)
    report_of(one)
    expected = printed("report", "seed", *labelled.options)
    assert texts(one, "#report .report-body h3") == ["What to do next", *(part["title"] for part in expected["sections"])]
    assert texts(one, "#report .next li code") == [step["command"] for step in expected["next"]]
    for part in expected["sections"]:
        at = f"#report [data-section={part['id']}]"
        said = "\n".join(texts(one, f"{at} p, {at} caption"))
        for block in part["blocks"]:
            words = " ".join((block.get("text") or block.get("alt") or block["caption"]).split())
            assert words in said, f"{part['id']}: {words}"
        tables = [block for block in part["blocks"] if block["kind"] == "table"]
        assert len(texts(one, f"{at} table")) == len(tables)
        rows = [row for block in tables for row in block["rows"]]
        shown = one.run("return [...document.querySelectorAll(arguments[0])].map((row) => [...row.cells].map((cell) => cell.textContent))", f"{at} tbody tr")
        columns = [block["columns"] for block in tables for _ in block["rows"]]
        assert len(shown) == len(rows), part["id"]
        for cells, row, described in zip(shown, rows, columns, strict=True):
            for cell, column in zip(cells, described, strict=True):
                value = row[column["name"]]
                if isinstance(value, str):
                    assert cell == value, f"{part['id']}: {cell!r}, not {value!r}"
                elif value is None:
                    assert cell == "–"
                else:
                    number = float(cell.replace(",", "").rstrip("%")) / (100 if column["as"] == "share" else 1)
                    assert number == pytest.approx(value, rel=0.001, abs=0.0006), f"{part['id']} {column['name']}: {cell}, not {value}"
    assert texts(one, "#report .commands code") == [command["command"] for command in expected["commands"]]
    assert one.run("return [window.attacked ?? null, document.querySelectorAll('#report img, #report script').length]") == [None, 0], "a text is a text"
    command = texts(one, "#report > div code")[0]
    again = subprocess.run(["bash", "-c", command.replace("portolan", PORTOLAN, 1) + " --json"], capture_output=True, check=True)
    assert json.loads(again.stdout)["sections"] == expected["sections"], "the command that stands there says the same"


def test_of_the_epochs_that_are_shown(page, labelled):
    one = page(labelled.view(run="seed", epochs="1:4"))
    one.wait_for(epochs="1:4")
    report_of(one)
    assert "--epochs 1:4" in texts(one, "#report > div code")[0]
    assert "of 3 epochs: 1 to 3" in section(one, "record").text
    one.run("location.hash = location.hash.replace(/&?epochs=[^&]*/, '')")
    one.wait_for(epochs="0:6")
    one.wait(lambda: "of 6 epochs: 0 to 5" in one.find("#report").text, "the report of all epochs")


def test_a_number_leads_to_its_command(page, labelled):
    one = page(labelled.view(run="seed"))
    one.wait_for(points=N)
    report_of(one)
    reference = section(one, "hurts").find_element("css selector", "caption .from")
    reference.send_keys(Keys.ENTER)
    line = one.run("const at = document.activeElement; return at.matches('[data-command]') && at.checkVisibility() ? at.textContent : ''")
    assert "portolan groups seed" in line and "--classes" in line
    assert reference.get_attribute("title") in line


def test_an_id_pins_its_example(page, labelled):
    one = page(labelled.view(run="seed"))
    one.wait_for(points=N)
    report_of(one)
    wanted = section(one, "suspects").find_element("css selector", "button.id")
    wanted.click()
    one.wait(lambda: one.fragment().get("pinned") == [int(wanted.text)] or one.fragment().get("pinned") == [wanted.text], "a pinned example")
    one.wait(lambda: texts(one, "#pinned .head strong") == [wanted.text], "its card")


def test_the_map_of_the_report(page, labelled):
    one = page(labelled.view(run="seed", x="aum", colour="gold"))
    one.wait_for(points=N)
    report_of(one)
    section(one, "map").find_element("css selector", "button:not(.from)").click()
    one.wait(lambda: not {"x", "colour"} & set(one.fragment()), "the map that the report speaks of")


def rows_of_table(one):
    return one.run("""return [...document.querySelectorAll('#table tbody tr')].map((row) => Object.fromEntries([["id", row.dataset.id],
        ...[...row.cells].filter((cell) => cell.dataset.name).map((cell) => [cell.dataset.name, cell.textContent])]))""")


def test_suspects_in_the_table(page, labelled):
    """In the order of `portolan suspects`, with its ranks, suggestions and scores; also on the next page, and the other way round."""
    expected = printed("suspects", "seed", "--store", labelled.store)
    listed, called = expected["suspects"], expected["called"]
    assert called == len(listed) > 8 and any(row["suggested"] != row["label"] for row in listed)
    one = page(labelled.view(run="seed"))
    one.wait_for(points=N)
    report_of(one)
    opens = one.find("#report button.suspects")
    assert opens.text == f"Open the {called} suspects in the table"
    opens.click()
    one.wait_for(selected=called)
    one.wait(lambda: rows_of_table(one)[:1] and "rank" in rows_of_table(one)[0], "the table of suspects")

    def check(rows):
        shown = rows_of_table(one)
        assert [row["id"] for row in shown] == [str(row["id"]) for row in rows]
        assert [row["rank"] for row in shown] == [str(row["rank"]) for row in rows]
        assert [row["suggested"] for row in shown] == [row["suggested"] or "–" for row in rows]
        for cells, row in zip(shown, rows, strict=True):
            assert float(cells["score"]) == pytest.approx(row["score"], abs=0.006)

    check(listed[:50])
    one.run("document.querySelector('#table [data-sort=listed]').click()")
    one.wait(lambda: rows_of_table(one)[0]["id"] == str(listed[-1]["id"]), "the other order")
    check(listed[::-1][:50])
    one.run("document.querySelector('#table [data-sort=id]').click()")
    one.wait(lambda: rows_of_table(one)[0]["id"] == str(min(row["id"] for row in listed)), "by id")
    assert {row["id"]: row["rank"] for row in rows_of_table(one)} == {str(row["id"]): str(row["rank"]) for row in sorted(listed, key=lambda row: row["id"])[:50]}
    one.run("document.querySelector('#table [data-sort=listed]').click()")
    one.drag([(0.05, 0.05), (0.95, 0.05), (0.95, 0.95), (0.05, 0.95)])
    one.wait(lambda: rows_of_table(one) and "rank" not in rows_of_table(one)[0], "a table of another selection, without ranks")
    assert not one.run("return document.querySelector('#table > .problem').checkVisibility()")


def test_nothing_is_called(page, labelled):
    one = page(labelled.view(run="plain"))
    one.wait_for(points=60)
    report_of(one)
    assert not one.run("return document.querySelector('#report button.suspects')")


def test_only_when_it_is_open(page, labelled):
    """A panel that nobody looks at asks for no report."""
    one = page(labelled.view(run="seed", panel="table"))
    one.wait_for(points=N)
    one.wait(lambda: rows_of_table(one), "the table")
    asked = "return performance.getEntriesByType('resource').some(({ name }) => name.includes('api/report'))"
    assert not one.run(asked)
    report_of(one)
    assert one.run(asked)


def test_recorded(page, tmp_path):
    """The run grows: the panel says that the report is of an earlier state; made anew, it is of the present one."""
    recorder = served_runs.Recorder(MAKE_STORE, 300)
    try:
        recorder.log(0)
        with serving(recorder.store, "live") as served:
            one = page(served.view(run="live"))
            one.wait_for(epochs="0:1")
            report_of(one)
            assert "What follows is of 1 epoch" in one.find("#report").text or "of 1 epochs" in one.find("#report").text
            for epoch in (1, 2):
                recorder.log(epoch)
                one.wait_for(epochs=f"0:{epoch + 1}")
                one.wait(lambda: one.run("const anew = document.querySelector('#report .report-head button'); return !anew.disabled && (anew.click(), true)"), "a button")
                one.wait(lambda wanted=f"of {epoch + 1} epochs": wanted in one.find("#report").text, "the report of the present state")
            took = float(re.search(r"in ([\d.]+) s\.", one.find("#report").text)[1])
            recorder.log(3)
            one.wait(lambda: "The run has grown since" in one.find("#report .report-head").text, "a line about the state that it is of")
            for _ in range(1 + int(12 * took / browsers.PATIENCE)):  # it is made anew by itself, after a rest of nine times as long as it took
                with contextlib.suppress(AssertionError):
                    one.wait(lambda: "of 4 epochs" in one.find("#report").text, "the report of the present state")
            assert "of 4 epochs" in one.find("#report").text
    finally:
        recorder.end()


def test_fails(page, tmp_path):
    """A report that cannot be made leaves a line that says why; made anew, it is there."""
    store, data = tmp_path / "store", tmp_path / "data.jsonl"
    stores.make_store(MAKE_STORE, str(store), [stores.run("seed", served_runs.wrong_labels(80, 3), declared=80, labels=LABELS)])
    line = '{"id": 1, "text": "one"}\n'
    data.write_text(line)
    with serving(store, "--data", data, "--id-field", "id", "--text", "text", "seed") as served:
        data.rename(tmp_path / "away")
        one = page(served.view(run="seed"))
        one.wait_for(points=80)
        panel = report_of(one, "failed")
        assert str(data) in panel.find_element("css selector", ".problem").text and "There is no report" in panel.text
        (tmp_path / "away").rename(data)
        one.find("#report .report-head button").click()
        report_of(one)
        assert not one.run("return document.querySelector('#report .problem').checkVisibility()")


def test_in_a_file(page, labelled, folder):
    """The page that is one file says how to make a report."""
    path = folder / "report-tab.html"
    subprocess.run([PORTOLAN, "map", "seed", "--store", labelled.store, "-o", str(path)], capture_output=True, check=True)
    one = page(path.as_uri())
    one.wait_for(points=N)
    one.open_panel("report")
    assert texts(one, "#report code") == ["portolan report seed -o report.html"]
    assert "holds no report" in one.find("#report").text


def test_print(page, labelled):
    """What is printed is the open panel, whole."""
    one = page(labelled.view(run="seed"))
    one.wait_for(points=N)
    report_of(one)
    one.here().execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    seen = one.run("return [...document.querySelectorAll('main section')].filter((one) => one.checkVisibility()).map(({ id, dataset }) => id || dataset.section)")
    assert seen[0] == "report" and "map" in seen and "table" not in seen, seen
    assert one.run("const report = document.getElementById('report'); return report.scrollHeight <= report.clientHeight + 1"), "nothing is cut off"
    assert os.path.exists(labelled.store)
    one.here().execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
