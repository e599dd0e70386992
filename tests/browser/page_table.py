"""The table of the selection, what is exported, groups and words: beside what the commands say of the same run."""

import csv
import json
import shlex
import subprocess

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from served import LABELS, LONG, N, PORTOLAN, TEXTS, metrics, selected_by, serving

SQUARE = [[0.05, 0.2], [0.18, 0.2], [0.18, 0.6], [0.05, 0.6]]
SELECTION = {"x": "variability", "y": "confidence", "parts": [{"op": "add", "polygon": SQUARE}]}
PAGE = 50


def rows_of(page):
    """The ids in the table, from top to bottom."""
    return page.run("return [...document.querySelectorAll('#table tbody tr')].map((row) => Number(row.dataset.id))")


def wait_for_rows(page, ids, what):
    page.wait(lambda: rows_of(page) == ids[:PAGE], what)


def text_of(page, selector):
    return page.run("return document.querySelector(arguments[0]).textContent", selector)


def open_table(page, served, ids, **state):
    one = page(served.view(run="a/b", **state))
    one.wait(lambda: one.data().get("run") == "a/b", "the run")
    one.open_panel("table")
    wait_for_rows(one, ids, "the first rows")
    return one


@pytest.fixture(scope="module")
def rows(served):
    return metrics(served.store, "a/b")


@pytest.fixture(scope="module")
def chosen(rows):
    ids = selected_by(SELECTION, rows)
    assert 3 * PAGE < len(ids) < N / 2
    return ids


def ranked(rows, ids, measure, descending=True):
    kept = [row for row in rows if row["id"] in set(ids)]
    return [row["id"] for row in sorted(kept, key=lambda row: (-row[measure] if descending else row[measure], row["id"]))]


def test_rows_are_the_selection(page, served, rows, chosen):
    one = open_table(page, served, chosen, selection=SELECTION)
    assert text_of(one, "#table caption").startswith(f"{len(chosen):,} selected")
    cells = one.run("return [...document.querySelector('#table tbody tr').cells].map((cell) => cell.textContent)")
    first = next(row for row in rows if row["id"] == chosen[0])
    assert cells[1] == str(chosen[0]) and LABELS[first["gold"]] in cells
    assert any(abs(float(cell) - first["confidence"]) < 0.001 for cell in cells[6:])
    dots = one.run("return [...document.querySelectorAll('#table tbody tr:first-child circle')].map((dot) => dot.getAttribute('class'))")
    assert len(dots) == 4 and dots.count("right") == round(4 * first["correctness"])
    assert one.run("return [...document.querySelectorAll('#table th')].every((head) => head.scope)")


def test_all_examples_without_a_selection(page, served, rows):
    one = open_table(page, served, [row["id"] for row in rows])
    assert text_of(one, "#table caption").startswith(f"{N:,} examples")
    filters = {"gold": {"in": [2]}}
    open_table(page, served, [row["id"] for row in rows if row["gold"] == 2], filters=filters)


def test_sorting_and_pages(page, served, rows, chosen):
    one = open_table(page, served, chosen, selection=SELECTION)
    one.find("#table [data-sort=gold]").click()
    wait_for_rows(one, ranked(rows, chosen, "gold", False), "rows by label")
    one.find("#table [data-sort=variability]").click()
    wait_for_rows(one, ranked(rows, chosen, "variability", False), "rows by variability")
    one.find("#table [data-sort=variability]").click()
    expected = ranked(rows, chosen, "variability")
    wait_for_rows(one, expected, "rows by falling variability")
    assert one.run("return document.activeElement.dataset.sort") == "variability", "the focus stays on the column"
    assert one.find("#table [data-sort=variability]").find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    one.wait(lambda: one.fragment().get("sort") == "-variability", "the order in the address")
    last = PAGE * ((len(expected) - 1) // PAGE)
    for name, begin in (("Next", PAGE), ("Last", last), ("Back", last - PAGE), ("First", 0)):
        one.here().find_element(By.XPATH, f"//section[@id='table']//button[.='{name}']").click()
        wait_for_rows(one, expected[begin:begin + PAGE], name)


def test_search(page, served, chosen):
    one = open_table(page, served, chosen, selection=SELECTION)
    one.find("#table-find").send_keys("NUMBER 12")
    wait_for_rows(one, [i for i in chosen if i not in TEXTS and str(i).startswith("12")], "rows with a text")
    one.wait(lambda: one.fragment().get("find") == "NUMBER 12", "the text in the address")
    one.find("#table-find").clear()
    one.find("#table-find").send_keys("nowhere")
    wait_for_rows(one, [], "no rows")


def pointed_at(page):
    """The id on the map's card."""
    return page.run("const card = document.querySelector('#map .card'); return card.hidden ? null : card.querySelector('strong').textContent")


def test_rows_and_points(page, served, rows, chosen):
    """A row under the mouse, or with the focus, is marked on the map; a pinned example is brought into view, from another page too."""
    expected = ranked(rows, chosen, "variability")
    one = open_table(page, served, expected, selection=SELECTION, sort="-variability")
    ActionChains(one.here()).move_to_element(one.find(f"#table tr[data-id='{expected[2]}'] th")).perform()
    one.wait(lambda: pointed_at(one) == str(expected[2]) and one.run("return Boolean(document.querySelector('.hovered circle'))"), "the point")
    one.wait(lambda: one.find(f"#table tr[data-id='{expected[2]}']").get_attribute("class") == "pointed", "the row marked")
    one.run("document.querySelector('#table tbody tr').focus()")
    one.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    one.wait(lambda: pointed_at(one) == str(expected[3]), "the point of the row with the focus")
    one.press(Keys.ENTER)
    one.wait(lambda: one.fragment().get("pinned") == [str(expected[3])], "the row pinned")
    one.press(Keys.PAGE_DOWN)
    wait_for_rows(one, expected[PAGE:], "the next page")
    far = expected[2 * PAGE + 20]
    one.run("""
        const state = new URLSearchParams(location.hash.slice(1));
        state.set("pinned", JSON.stringify(arguments[0]));
        location.hash = state""", [str(expected[3]), str(far)])
    wait_for_rows(one, expected[2 * PAGE:], "the page of what was pinned")
    one.wait(lambda: one.run("""
        const row = document.querySelector(`#table tr[data-id="${arguments[0]}"]`).getBoundingClientRect();
        const holder = document.querySelector('.table-holder').getBoundingClientRect();
        return row.top >= holder.top && row.bottom <= holder.bottom""", far), "its row in view")


def test_texts_are_text(page, served, rows):
    """Markup, directions, emoji stand as they are; what is long is cut, and shown whole on demand."""
    one = open_table(page, served, [row["id"] for row in rows])
    for i, text in TEXTS.items():
        shown = one.run("return document.querySelector(`#table tr[data-id='${arguments[0]}'] .user-text`).textContent", i)
        assert shown == text if text != LONG else shown == text[:160] + "…"
    assert one.run("return window.attacked ?? null") is None
    more = one.find("#table tr[data-id='3'] .more")
    assert more.text == f"All {len(LONG):,} characters"
    more.click()
    assert text_of(one, "#table tr[data-id='3'] .user-text") == LONG
    assert one.run("return document.documentElement.scrollWidth <= innerWidth")


def save(page, folder, selector, name):
    """The file that the button saves. Chromium makes it empty, writes beside it, and moves that into its place."""
    path = folder / name
    path.unlink(missing_ok=True)
    page.find(selector).click()
    page.wait(lambda: path.exists() and path.stat().st_size > 0 and not any(folder.glob("*.crdownload")), name)
    return path.read_bytes()


def test_export(page, served, folder, rows, chosen):
    filters = {"correctness": {"min": 0.25}, "gold": {"in": [0, 2]}}
    correct = {row["id"] for row in rows if row["correctness"] >= 0.25 and row["gold"] in (0, 2)}
    expected = [i for i in chosen if i in correct]
    downloads = folder / "downloads"
    one = open_table(page, served, expected, selection=SELECTION, filters=filters)
    one.wait_for(selected=len(expected))
    one.here().execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    one.open_panel("export")
    assert [int(line) for line in save(one, downloads, "[data-as=list]", "selection.txt").split()] == expected
    assert [json.loads(line)["id"] for line in save(one, downloads, "[data-as=lines]", "selection.jsonl").splitlines()] == expected
    table = list(csv.DictReader(save(one, downloads, "[data-as=csv]", "selection.csv").decode().splitlines()))
    assert [int(row["id"]) for row in table] == expected
    assert float(table[0]["confidence"]) == rows[expected[0]]["confidence"] and table[0]["label"] == LABELS[rows[expected[0]]["gold"]]
    assert json.loads(save(one, downloads, "[data-as=manifest]", "selection.manifest.json"))["chosen"] == len(expected)
    selection = json.loads(save(one, downloads, "#export [data-as=selection]", "selection.json"))
    assert selection["epochs"] == "0:4" and set(selection["digests"]) == {"variability", "confidence", "correctness", "gold"}
    one.wait(lambda: "--store" in text_of(one, "#select-command"), "the command with the store")
    program, *arguments = shlex.split(text_of(one, "#select-command"))
    made = subprocess.run([PORTOLAN, *arguments], cwd=downloads, capture_output=True, text=True, check=True)
    assert program == "portolan" and not made.stderr and [int(line) for line in made.stdout.split()] == expected


def shares(page, which):
    """{head: [chosen, examples]} of a table of groups or words."""
    found = page.run("return [...document.querySelectorAll(`#groups .${arguments[0]} tbody tr`)].map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent))", which)
    return {name: [int(number.replace(",", "")) for number in numbers] for name, *numbers in found}


def test_groups_and_words(page, served, rows, chosen):
    one = open_table(page, served, chosen, selection=SELECTION)
    one.open_panel("groups")
    inside = [rows[i]["gold"] for i in chosen]
    of = [row["gold"] for row in rows]
    expected = {label: [inside.count(g), of.count(g)] for g, label in enumerate(LABELS)}
    one.wait(lambda: shares(one, "groups") == expected, "groups by label")
    one.run("const select = document.querySelector('#groups select'); select.value = 'data:kind'; select.dispatchEvent(new Event('change'))")
    one.wait(lambda: shares(one, "groups") == {f"k{k}": [sum(i % 4 == k for i in chosen), N // 4] for k in range(4)}, "groups by a column")
    one = open_table(page, served, list(range(5)), filters={"id": {"in": ["0", "1", "2", "3", "4"]}})
    one.open_panel("groups")
    one.wait(lambda: "No word is more frequent" in text_of(one, "#groups"), "that no word stands out")


def test_what_needs_data_says_so(page, served, rows):
    with serving(served.store, "a/b") as server:
        one = open_table(page, server, selected_by(SELECTION, rows), selection=SELECTION)
        assert "--data" in text_of(one, "#table .find")
        one.open_panel("export")
        assert not one.find("[data-as=lines]").is_enabled() and "--data" in text_of(one, "#export .reasons")
        one.open_panel("groups")
        one.wait(lambda: "--text" in text_of(one, "#groups"), "why there are no words")
