"""Filters on columns of the user's file, and on text: what the page draws and selects, what it exports, and what the command makes of that."""

import json
import subprocess

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import stores
from served import MAKE_STORE, N, PORTOLAN, metrics, select_within, selected_by, serving

STAR = [(0.5, 0.1), (0.7, 0.85), (0.2, 0.4), (0.8, 0.4), (0.3, 0.85)]

# Downloads are kept in the page, by name.
KEEP_DOWNLOADS = """
window.saved = {};
const blobs = new Map();
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { const address = make.call(URL, blob); blobs.set(address, blob); return address; };
HTMLAnchorElement.prototype.click = function () { blobs.get(this.href).text().then((text) => { window.saved[this.download] = text; }); };
"""


def record(i):
    """Of a few examples there is none; of some, a column has no value."""
    return {"id": i, "text": f"Text number {i}", "kind": f"k{i % 4}", "size": i % 9, "many": f"m{i % 40}", "part": None if i % 3 == 0 else "b<i>d</i>"}


@pytest.fixture(scope="module")
def data(folder):
    path = folder / "columns.jsonl"
    path.write_text("".join(json.dumps(record(i)) + "\n" for i in range(N) if i % 100 != 99))
    return path


@pytest.fixture(scope="module")
def columns(served, data):
    with serving(served.store, "--data", data, "--id-field", "id", "--text", "text", "a/b") as server:
        yield server


def passing(served, passes):
    return [row for row in metrics(served.store, "a/b") if row["id"] % 100 != 99 and passes(record(row["id"]))]


def add_column(page, name):
    chooser = page.find("#column-filters select")
    page.wait(lambda: name in [option.get_attribute("value") for option in chooser.find_elements(By.TAG_NAME, "option")], f"column {name}")
    Select(chooser).select_by_value(name)


def exported(page, name="selection.json"):
    """What the page saves."""
    page.run(KEEP_DOWNLOADS)
    page.open_panel("export")
    page.wait(lambda: page.find("#export [data-as=selection]").is_enabled(), "something to export")
    page.find("#export [data-as=selection]").click()
    return page.wait(lambda: page.run("return window.saved[arguments[0]]", name), name)


def check_lasso(page, server, folder, rows):
    """A lasso takes of the rows that pass what is in it; the page's count, the server, and the command on what the page saves say the same."""
    page.drag(STAR + STAR[:1])
    selection = dict(page.selection(), run="a/b", filters=page.fragment()["filters"])
    expected = selected_by(selection, rows)
    assert 0 < len(expected) < len(rows)
    page.wait_for(selected=len(expected), points=len(rows))
    asked = json.dumps(selection)
    if server:
        assert server.ids("a/b", selection) == expected
    path = folder / "page-selection.json"
    path.write_text(exported(page))
    told = json.loads(path.read_text())
    assert set(told["filters"]) == {"id"} and told["epochs"] == page.data()["epochs"], asked
    assert sorted(map(int, told["filters"]["id"]["in"])) == [row["id"] for row in rows]
    store = page.run("return document.getElementById('select-command').textContent")
    assert store.startswith("portolan select a/b --within selection.json")
    return path, expected


def test_values_of_a_column(page, served, columns, folder):
    one = page(columns.view(run="a/b"))
    one.wait_for(points=N)
    add_column(one, "kind")
    boxes = one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#column-filters fieldset input[type=checkbox]"), "the column's values")
    assert {box.get_attribute("value") for box in boxes} == {'"k0"', '"k1"', '"k2"', '"k3"', "null"}  # some examples have no record
    for box in boxes:
        if box.get_attribute("value") in ('"k1"', '"k2"'):
            box.click()
    rows = passing(served, lambda r: r["kind"] in ("k1", "k2"))
    one.wait_for(points=len(rows), examples=N)
    path, expected = check_lasso(one, columns, folder, rows)
    assert select_within(served.store, "a/b", path) == expected
    other = page(one.run("return location.href"))  # a link shows the same
    other.wait_for(points=len(rows), selected=len(expected))
    assert len(other.here().find_elements(By.CSS_SELECTOR, "#column-filters input:checked")) == 2


def test_range_of_a_column(page, served, columns, folder):
    one = page(columns.view(run="a/b"))
    one.wait_for(points=N)
    add_column(one, "size")
    one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#column-filters .range input"), "two fields")
    low, high = one.here().find_elements(By.CSS_SELECTOR, "#column-filters .range input")
    assert (low.get_attribute("placeholder"), high.get_attribute("placeholder")) == ("0", "8")
    low.send_keys("3", Keys.TAB)
    one.wait_for(points=len(passing(served, lambda r: r["size"] >= 3)))
    assert one.here().switch_to.active_element == high  # the row is not made anew under the keys
    high.send_keys("5.5", Keys.TAB)
    rows = passing(served, lambda r: 3 <= r["size"] <= 5.5)
    one.wait_for(points=len(rows))
    path, expected = check_lasso(one, columns, folder, rows)
    assert select_within(served.store, "a/b", path) == expected


def test_range_of_a_measure_by_keys(page, served, columns):
    one = page(columns.view(run="a/b"))
    one.wait_for(points=N)
    low = one.find("#filters input[aria-label='correctness, from']")
    low.send_keys("0.5", Keys.TAB)
    one.wait_for(points=sum(row["correctness"] >= 0.5 for row in metrics(served.store, "a/b")))
    assert one.here().switch_to.active_element == one.find("#filters input[aria-label='correctness, to']")


def test_value_that_is_typed(page, served, columns):
    """Of forty values, twelve can be ticked; any other is typed. A value that is not there is said to be none."""
    one = page(columns.view(run="a/b", filters={"data:part": {"in": [None]}}))
    without = sum(row["id"] % 100 == 99 or record(row["id"])["part"] is None for row in metrics(served.store, "a/b"))
    one.wait_for(points=without)
    one.wait(lambda: "no value" in one.find("#column-filters").text and "b<i>d</i>" in one.find("#column-filters").text, "no value as a value")
    one.find("#column-filters input:checked").click()
    one.wait_for(points=N)
    one = page(columns.view(run="a/b"))
    one.wait_for(points=N)
    add_column(one, "many")
    field = one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#column-filters input[type=text]"), "a field for a value")[0]
    ticks = {box.get_attribute("value") for box in one.here().find_elements(By.CSS_SELECTOR, "#column-filters input[type=checkbox]")}
    assert len(ticks) == 13 and "null" in ticks
    hidden = next(f"m{i}" for i in range(40) if f'"m{i}"' not in ticks)
    field.send_keys(hidden, Keys.ENTER)
    one.wait_for(points=len(passing(served, lambda r: r["many"] == hidden)))
    field = one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#column-filters input[type=text]"), "a field for a value")[0]
    field.send_keys("nowhere", Keys.ENTER)
    one.wait(lambda: "no value 'nowhere'" in one.status(), "what is wrong")
    assert "status of 400" in one.errors()[0]  # the browser says so too; nothing else is wrong


def test_legend_by_keys(page, served, columns):
    """An entry of the legend shows its value alone, and all again; the focus stays on it."""
    one = page(columns.view(run="a/b", colour="data:kind"))
    one.wait_for(points=N)
    first = "document.querySelector('#legend button')"
    value = one.run(f"return {first}.querySelector('.label').textContent")
    one.run(f"{first}.focus()")
    for passes in (lambda r: r["kind"] == value, None):
        one.press(Keys.ENTER)
        one.wait_for(points=len(passing(served, passes)) if passes else N)
        assert one.run(f"return document.activeElement === {first} && document.activeElement.dataset.key") == value
    gold = page(columns.view(run="a/b", colour="gold"))
    gold.wait_for(points=N)
    gold.find("#legend button").click()
    label = gold.run("return document.querySelector('#legend button .label').textContent")
    gold.wait_for(points=sum(row["label"] == label for row in metrics(served.store, "a/b")))


KEY = """return [...document.querySelectorAll('#legend li')].map((entry) => [entry.querySelector('.label').textContent, Number(entry.querySelector('.count').textContent.replace(',', '')),
    JSON.stringify([getComputedStyle(entry.querySelector('.swatch')).backgroundColor, getComputedStyle(entry.querySelector('.swatch')).borderTopColor])])"""


def test_key_of_no_value(page, served, columns):
    """Examples without a value have a look and an entry of their own: the key adds up to all that are drawn."""
    for colour, label, count in (("many", "other", sum(i % 40 >= 12 and i % 100 != 99 for i in range(N))), ("part", None, 0), ("size", None, 0)):
        one = page(columns.view(run="a/b", colour=f"data:{colour}"))
        one.wait_for(points=N)
        key = {name: (number, look) for name, number, look in one.run(KEY)}
        missing = sum(i % 100 == 99 or record(i)[colour] is None for i in range(N))
        assert key["no value"][0] == missing, key
        assert len({look for _, look in key.values()}) == len(key), f"two entries look the same: {key}"
        assert colour == "size" or sum(number for number, _ in key.values()) == N
        assert not label or key[label][0] == count
    one = page(columns.view(run="a/b", colour="data:part"))
    one.wait_for(points=N)
    one.run("[...document.querySelectorAll('#legend button')].at(-1).click()")
    one.wait_for(points=sum(i % 100 == 99 or i % 3 == 0 for i in range(N)))


@pytest.fixture(scope="module")
def many(folder):
    """A server over run "many": twenty labels, label k on 10 + k examples; and thirty examples without one."""
    gold = np.repeat(np.arange(20), 10 + np.arange(20))
    p = np.random.default_rng(3).random(len(gold) + 30).astype("f4")
    ids = np.arange(len(p))
    known = slice(0, len(gold))
    rest = slice(len(gold), None)
    batches = [one for e in range(2) for one in (stores.batch(e, ids[known], p[known], p[known] > 0.5, gold), stores.batch(e, ids[rest], p[rest], p[rest] > 0.5))]
    stores.make_store(MAKE_STORE, str(folder / "many"), [stores.run("many", batches, labels=[f"class {k}" for k in range(20)])])
    with serving(folder / "many", "many") as server:
        yield server


def tick(page, name):
    """Clicks the box of a label."""
    page.wait(lambda: page.run("""const label = [...document.querySelectorAll("#filters fieldset.labels label")].find((one) => one.textContent.trim() === arguments[0]);
        label?.click(); return Boolean(label);""", name), f"label {name}")


def check_labels(page, server, passes):
    """The page draws those that pass, and the server makes the same of the filters in its address."""
    rows = metrics(server.store, "many")
    expected = [row["id"] for row in rows if passes(row["gold"])]
    page.wait_for(points=len(expected))

    def told():
        filters = page.fragment().get("filters")
        return server.ids("many", {"filters": filters}) if filters else [row["id"] for row in rows]

    page.wait(lambda: told() == expected, "the same in the address")


def test_more_labels_than_boxes(page, many):
    """Twelve labels have a box; all others one together, and those without a label one. One that is unticked takes no other away."""
    one = page(many.view(run="many"))
    one.wait_for(points=sum(range(10, 30)) + 30)
    rare = range(8)
    boxes = [label.text for label in one.here().find_elements(By.CSS_SELECTOR, "#filters fieldset.labels label")]
    assert boxes == [f"class {k}" for k in range(19, 7, -1)] + ["all others", "no label"]
    tick(one, "class 19")
    check_labels(one, many, lambda gold: gold != 19)
    tick(one, "all others")
    check_labels(one, many, lambda gold: gold != 19 and gold not in rare)
    tick(one, "no label")
    check_labels(one, many, lambda gold: gold not in (19, None) and gold not in rare)
    tick(one, "all others")
    check_labels(one, many, lambda gold: gold not in (19, None))
    other = page(one.run("return location.href"))  # a link shows the same
    check_labels(other, many, lambda gold: gold not in (19, None))
    assert [label.text for label in other.here().find_elements(By.CSS_SELECTOR, "#filters fieldset.labels label:not(:has(:checked))")] == ["class 19", "no label"]
    tick(other, "class 19")
    tick(other, "no label")
    check_labels(other, many, lambda gold: True)
    assert not other.fragment().get("filters")
    chosen = page(many.view(run="many", filters={"gold": {"in": [3, "class 5", 18]}}))  # some of the others: they stay as they were chosen
    tick(chosen, "class 17")
    check_labels(chosen, many, lambda gold: gold in (3, 5, 17, 18))


def test_more_labels_in_one_file(page, many, folder):
    path = folder / "many.html"
    subprocess.run([PORTOLAN, "map", "many", "--store", many.store, "-o", str(path)], capture_output=True, check=True)
    one = page(path.as_uri())
    one.wait_for(points=sum(range(10, 30)) + 30)
    tick(one, "class 10")
    check_labels(one, many, lambda gold: gold != 10)


def test_search_is_a_filter(page, served, columns, folder):
    one = page(columns.view(run="a/b"))
    one.wait_for(points=N)
    one.find("#filters input[type=search]").send_keys("NUMBER 1", Keys.ENTER)
    rows = passing(served, lambda r: "number 1" in r["text"].lower())
    one.wait_for(points=len(rows))
    assert one.fragment()["filters"] == {"text": {"contains": ["NUMBER 1"]}}
    one.wait(lambda: f"{len(rows):,} pass" in one.find("#filters").text, "how many were found")
    path, expected = check_lasso(one, columns, folder, rows)
    assert select_within(served.store, "a/b", path) == expected
    one.here().refresh()
    one.wait_for(points=len(rows), selected=len(expected))
    assert one.find("#filters input[type=search]").get_attribute("value") == "NUMBER 1"
    next(button for button in one.here().find_elements(By.CSS_SELECTOR, "#filters button") if button.text == "Show all").click()
    one.wait_for(points=N)


def test_page_as_one_file(page, served, data, folder):
    """The column that the file holds, and its texts, are filtered as the server does it, and exported as the same ids."""
    path = folder / "filtered.html"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", served.store, "-o", str(path), "--data", str(data), "--id-field", "id", "--text", "text", "--colour", "kind"],
                   capture_output=True, check=True)
    one = page(path.as_uri())
    one.wait_for(points=N)
    add_column(one, "kind")
    one.wait(lambda: one.here().find_elements(By.CSS_SELECTOR, "#column-filters input[value='\"k3\"']"), "the column's values")[0].click()
    one.wait_for(points=len(passing(served, lambda r: r["kind"] == "k3")))
    one.find("#filters input[type=search]").send_keys("number 2", Keys.ENTER)
    rows = passing(served, lambda r: r["kind"] == "k3" and "number 2" in r["text"].lower())
    one.wait_for(points=len(rows))
    exported_path, expected = check_lasso(one, None, folder, rows)
    assert select_within(served.store, "a/b", exported_path) == expected
    other = page(f"{path.as_uri()}#filters={json.dumps({'data:size': {'min': 1}})}")
    other.wait(lambda: "--colour" in other.status(), "the reason why there is no such column")
