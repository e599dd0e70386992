"""Tags: given with the keyboard in the table, saved by a server with --tags, exported as corrections that `portolan select` and `portolan map` take."""

import json
import subprocess

import pytest
from selenium.webdriver.common.keys import Keys

import stores
from page_axe import find_nothing
from served import LABELS, MAKE_STORE, N, PORTOLAN, observations, serving

WRONG, KEEP, UNSURE = "wrong label", "keep", "unsure"
SOME = {"id": {"in": [str(i) for i in range(20, 40)]}}


@pytest.fixture(scope="module")
def store(folder):
    """A run with labels and predictions, and its data."""
    path, data = folder / "tags-store", folder / "tags-data.tsv"
    probabilities, gold = observations(N, 4)
    random = stores.np.random.default_rng(3)
    batches = []
    for e, p in enumerate(probabilities):
        predicted = stores.np.where(p > 0.5, gold, (gold + random.integers(1, 3, N)) % 3)
        batches.append(stores.batch(e, stores.np.arange(N), p, p > 0.5, gold, max_prob=stores.np.maximum(p, 0.55).astype("f4"), predicted=predicted))
    stores.make_store(MAKE_STORE, str(path), [stores.run("a/b", batches, declared=N, labels=LABELS), stores.run("other", batches[:1], declared=N)])
    data.write_text("id\tlabel\ttext\n" + "".join(f"{i}\t{LABELS[gold[i]]}\ttext {i}\n" for i in range(N)))
    return path, ["--data", data, "--id-field", "id", "--text", "text"], [LABELS[number] for number in gold]


def open_table(page, server, **state):
    one = page(server.view(run="a/b", **{"panel": "table", "filters": SOME, **state}))
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length === 20 && !document.querySelector('.tag-bar button').disabled"), "the rows and the tags")
    return one


def focus(page, i):
    page.run("document.querySelector(`#table tr[data-id='${arguments[0]}']`).focus()", i)


def focused(page):
    return page.run("return document.activeElement.dataset?.id ?? null")


def cells(page):
    """{id: the text of its tag} in the table; with the right label after an arrow."""
    return page.run("""
        return Object.fromEntries([...document.querySelectorAll('#table tbody tr')].map((row) => {
          const cell = row.querySelector('.tag-cell'), field = cell.querySelector('input');
          return [row.dataset.id, [cell.querySelector('.tag bdi')?.textContent, field?.value].filter(Boolean).join(' → ')];
        }).filter(([, text]) => text))""")


def saved(path):
    """What the file says, by id."""
    tags = {}
    for line in open(path, encoding="utf-8"):
        said = json.loads(line)
        for change in said.get("changes", [said]):
            if "id" in change:
                tags[change["id"]] = (change["tag"], change["label"])
    return {i: said for i, said in tags.items() if said[0]}


def wait_for_saved(page, path, expected):
    page.wait(lambda: saved(path) == expected, f"{expected} in the file, which has {saved(path)}")


def corrections(page, folder):
    """The file that the page saves, as text."""
    page.here().execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    path = folder / "corrections.tsv"
    if path.exists():
        path.unlink()
    page.run("document.querySelector('#tags .tools button').click()")
    page.wait(lambda: path.exists() and "downloads" in page.find("#tags").text, "the file")
    return path, path.read_text()


def open_tags(page):
    page.run("document.querySelector('#tags').classList.contains('closed') && document.querySelector('[data-panel=tags]').click()")
    page.wait(lambda: page.find("#tags").is_displayed(), "the panel")


def test_keys(page, store, folder):
    path, data, gold = store
    tags = folder / "keys.jsonl"
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = open_table(page, server)
        one.run("document.activeElement.blur()")
        one.press("j")
        assert focused(one) == "20", "J leads into the table"
        one.press("j", "j", "k")
        assert focused(one) == "21"
        one.press("2")
        one.wait(lambda: cells(one) == {"21": KEEP} and focused(one) == "22", "a tag, and the next row")
        one.press("3", "1", "2", "2")
        assert focused(one) == "26" and cells(one) == {"21": KEEP, "22": UNSURE, "23": WRONG, "24": KEEP, "25": KEEP}
        one.press("k", "2")
        assert focused(one) == "25" and "25" not in cells(one), "the same key again takes the tag away"
        one.press("k", "1", "k", "k", "0")
        assert cells(one) == {"21": KEEP, "22": UNSURE, "24": WRONG} and focused(one) == "23", "another tag takes the place; 0 takes it away"
        one.press("u")
        assert cells(one) == {"21": KEEP, "22": UNSURE, "23": WRONG, "24": WRONG}, "undo"
        one.press("u")
        assert cells(one)["24"] == KEEP and focused(one) == "24", "undo goes to the row that it is about"
        one.press("9", "x")
        assert cells(one)["24"] == KEEP, "a key without a tag does nothing"
        wait_for_saved(one, tags, {21: (KEEP, None), 22: (UNSURE, None), 23: (WRONG, None), 24: (KEEP, None)})
        one.find(".tag-bar input[type=checkbox]").click()
        focus(one, 30)
        one.press("1")
        assert focused(one) == "30", "without going on"
        one.press("1")
        assert "30" not in cells(one)
        for key in (Keys.CONTROL + "2", Keys.ALT + "2"):
            one.press(key)
        one.find("#table-find").send_keys("2u")
        assert "30" not in cells(one), "keys in a field, or with others, are not meant"


def test_right_label(page, store, folder):
    path, data, gold = store
    tags = folder / "label.jsonl"
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = open_table(page, server)
        focus(one, 20)
        one.press("1", "k", "l")
        assert one.run("return document.activeElement.className") == "new-label"
        other = next(label for label in LABELS if label != gold[20])
        one.press(other + Keys.ENTER)
        one.wait(lambda: cells(one) == {"20": f"{WRONG} → {other}"} and focused(one) == "20", "the label, and the row again")
        wait_for_saved(one, tags, {20: (WRONG, other)})
        one.press("l")
        one.press(Keys.CONTROL + "a")
        one.press("no such class" + Keys.ENTER)
        assert saved(tags) == {20: (WRONG, other)} and "no class" in one.run("return document.querySelector('.new-label').validationMessage")
        one.press("l")
        one.press(Keys.CONTROL + "a")
        one.press(gold[20] + Keys.ENTER)
        assert "that it has" in one.run("return document.querySelector('.new-label').validationMessage")
        one.press("l", Keys.ESCAPE)
        assert focused(one) == "20" and cells(one) == {"20": f"{WRONG} → {other}"}, "Escape changes nothing"
        one.press("u")
        wait_for_saved(one, tags, {20: (WRONG, None)})


def test_suggested(page, store, folder):
    """Where the list of suspects is known, the label that the model would give stands there already."""
    path, data, gold = store
    tags = folder / "suggested.jsonl"
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = page(server.view(run="a/b", panel="report"))
        one.wait(lambda: one.run("return [...document.querySelectorAll('#report button')].some((button) => button.className === 'from' || /suspects|table/i.test(button.textContent))"), "the report")
        one.run("[...document.querySelectorAll('#report button')].find((button) => /table/i.test(button.textContent)).click()")
        one.wait(lambda: one.run("return document.querySelector('#table th [data-sort=listed]') !== null && document.querySelectorAll('#table tbody tr').length > 0"), "the suspects in the table")
        listed = json.loads(subprocess.run([PORTOLAN, "suspects", "a/b", "--store", str(path), "--json"], capture_output=True, text=True, check=True).stdout)
        first = listed["suspects"][0]
        one.run("document.querySelector('#table tbody tr').focus()")
        one.press("1")
        wait_for_saved(one, tags, {first["id"]: (WRONG, first["suggested"])})


def test_saved_and_shared(page, store, folder):
    """Another page sees the tags, and what it changes; a server that is started again has them."""
    path, data, _ = store
    tags = folder / "shared.jsonl"
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = open_table(page, server)
        focus(one, 20)
        one.press("1", "2")
        two = open_table(page, server)
        two.wait(lambda: cells(two) == {"20": WRONG, "21": KEEP}, "the tags in another page")
        focus(two, 20)
        two.press("3")
        one.wait(lambda: cells(one) == {"20": UNSURE, "21": KEEP}, "the last one wins")
        subprocess.run(["mv", tags, str(tags) + ".away"], check=True)
        focus(one, 25)
        one.press("1")
        one.wait(lambda: "25" not in cells(one) and "not saved" in one.find(".tag-bar .problem").text, "what is not saved is not shown as if it were")
        subprocess.run(["mv", str(tags) + ".away", tags], check=True)
        focus(one, 26)
        one.press("2")
        one.wait(lambda: cells(one).get("26") == KEEP and one.find(".tag-bar .problem").text == "", "once it can be saved")
        wait_for_saved(one, tags, {20: (UNSURE, None), 21: (KEEP, None), 26: (KEEP, None)})
        two.errors(), one.errors()  # the browser tells of the 503
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = open_table(page, server)
        one.wait(lambda: cells(one) == {"20": UNSURE, "21": KEEP, "26": KEEP}, "after a restart")
        one.run("document.querySelector('#run').value = 'other'; document.querySelector('#run').dispatchEvent(new Event('change'))")
        one.wait_for(run="other")
        one.wait(lambda: cells(one) == {}, "another run has other tags")


def test_cards(page, store, folder):
    path, data, _ = store
    with serving(path, *data, "--tags", folder / "cards.jsonl", "a/b") as server:
        one = open_table(page, server)
        focus(one, 22)
        one.press("2", "k")
        one.wait(lambda: one.run("const card = document.querySelector('#map .card'); return !card.hidden && card.querySelector('.tag')?.textContent") == f"2 {KEEP}", "the tag on the card")
        one.press(Keys.ENTER)
        one.wait(lambda: one.run("return document.querySelector('#pinned .tag')?.textContent") == f"2 {KEEP}", "and on the pinned one")


def test_names(page, store, folder):
    path, data, _ = store
    tags = folder / "names.jsonl"
    with serving(path, *data, "--tags", tags, "a/b") as server:
        one = open_table(page, server)
        focus(one, 20)
        one.press("1", "1", "3")
        open_tags(one)
        field = one.find("[aria-label='Name of tag 1']")
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys("falsch \u202e <b>&" + Keys.ENTER)
        wait_for_saved(one, tags, {20: ("falsch \u202e <b>&", None), 21: ("falsch \u202e <b>&", None), 22: (UNSURE, None)})
        for wrong in (KEEP, " ", "x" * 101):
            field = one.find("[aria-label='Name of tag 3']")
            one.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", field, wrong)
            one.wait(lambda: one.find("#tags .problem").text != "" and one.find("[aria-label='Name of tag 3']").get_attribute("value") == UNSURE, f"'{wrong[:9]}' refused")
        for _ in range(6):
            one.run("[...document.querySelectorAll('#tags button')].find((button) => button.textContent === 'Add a tag').click()")
        assert one.run("return document.querySelectorAll('#tags tbody tr').length") == 9
        assert not one.run("return [...document.querySelectorAll('#tags button')].find((button) => button.textContent === 'Add a tag')").is_enabled()
        one.find("[aria-label='Remove tag 5']").click()
        one.find("[data-panel=table]").click()
        focus(one, 30)
        one.press("5")
        one.wait(lambda: cells(one).get("30") == "tag 6", "the fifth of the tags")
        two = open_table(page, server)
        two.wait(lambda: two.run("return [...document.querySelectorAll('.tag-bar bdi')].map((name) => name.textContent)") == ["falsch \u202e <b>&", KEEP, UNSURE, "tag 4", "tag 6", "tag 7", "tag 8", "tag 9"], "the names in another page")
        open_tags(two)
        two.find("[data-key=select-0]").click()
        two.wait_for(selected=2)
        two.press("")
        two.find("[data-panel=table]").click()
        focus(two, 20)
        two.press("u")
        assert cells(two)["20"] == "falsch \u202e <b>&", "a page takes back what it did itself, and nothing else"
        one.find("[data-panel=table]").click()


def test_corrections(page, store, folder):
    """What the file says is computed from the tags; the commands read it, and say the same."""
    path, data, gold = store
    with serving(path, *data, "--tags", folder / "corrections.jsonl", "a/b") as server:
        other = {i: LABELS[(LABELS.index(gold[i]) + 1) % 3] for i in range(N)}
        changes = [{"id": i, "tag": WRONG, "label": other[i]} for i in range(1500)] + [{"id": i, "tag": WRONG} for i in range(1500, 1520)]
        changes += [{"id": i, "tag": KEEP} for i in range(1520, 1600)] + [{"id": i, "tag": UNSURE} for i in range(1600, 1630)] + [{"id": 999999, "tag": WRONG}]
        server.json("/api/runs/a/b/tags", json.dumps({"changes": changes}))
        one = open_table(page, server, epochs="0:1")
        open_tags(one)
        one.wait(lambda: "(1,500 with the right label; 21 without, which are dropped)" in one.find("#tags").text and "Not in it: 30" in one.find("#tags").text, "the counts")
        file, text = corrections(one, folder)
        expected = [["id", "old", "new", "text"]] + [[str(i), gold[i], other[i] if i < 1500 else "drop" if i < 1520 else "", f"text {i}"] for i in range(1600)]
        assert [line.split("\t") for line in text.splitlines()] == expected
        assert "Left out: 1," in one.find("#tags").text
        shown = one.run("return [...document.querySelectorAll('#tags code')].map((code) => code.textContent)")
    fixed = folder / "fixed.tsv"
    command = [word.replace("FILE", str(data[1])) if word == "FILE" else word for word in shown[0].split()]
    command[command.index("--label-field") + 1] = "label"
    done = subprocess.run([PORTOLAN, *command[1:], "--store", str(path), "-o", str(fixed)], cwd=folder, capture_output=True, text=True, check=True)
    assert not [line for line in done.stderr.splitlines() if "warning" in line], done.stderr
    lines = [line.split("\t")[:2] for line in fixed.read_text().splitlines()[1:]]
    assert lines == [[str(i), other[i] if i < 1500 else gold[i]] for i in range(N) if not 1500 <= i < 1520]
    ids = subprocess.run([PORTOLAN, "select", "a/b", "--by", "all", "--corrections", str(file), "--store", str(path)], capture_output=True, text=True, check=True).stdout.split()
    assert ids == [str(i) for i in range(N) if not 1500 <= i < 1520]
    picture = folder / "corrections.svg"
    subprocess.run([PORTOLAN, "map", "a/b", "--corrections", str(file), "--store", str(path), "-o", str(picture)], capture_output=True, text=True, check=True)
    assert picture.stat().st_size > 1000
    assert shown[1].split()[:5] == ["portolan", "map", "a/b", "--corrections", "corrections.tsv"]


def test_without_tags_option(page, store, folder):
    """In memory alone: this is said, undo and the export work, and nothing is asked of the server."""
    path, data, gold = store
    with serving(path, *data, "a/b") as server:
        one = open_table(page, server)
        assert one.find(".tag-bar .hint").text == ""
        focus(one, 20)
        one.press("1", "2", "3", "k", "u")
        one.wait(lambda: cells(one) == {"20": WRONG, "21": KEEP}, "tags in memory")
        assert "--tags FILE" in one.find(".tag-bar .hint").text and "Not saved" in one.find(".tag-bar .hint").text
        one.run("document.querySelector('#run').value = 'other'; document.querySelector('#run').dispatchEvent(new Event('change'))")
        one.wait_for(run="other")
        one.run("document.querySelector('#run').value = 'a/b'; document.querySelector('#run').dispatchEvent(new Event('change'))")
        one.wait_for(run="a/b")
        open_tags(one)
        one.wait(lambda: "(0 with the right label; 1 without" in one.find("#tags").text, "another run in between loses none")
        _, text = corrections(one, folder)
        assert text.splitlines()[1:] == [f"20\t{gold[20]}\tdrop\ttext 20", f"21\t{gold[21]}\t\ttext 21"]
        assert one.run("return Object.keys(localStorage).every((key) => !localStorage[key].includes('wrong label'))"), "not kept in the browser"


def test_file(page, store, folder):
    """A page that is one file has tags, too, and says that they are not saved."""
    path, data, gold = store
    html = folder / "tags.html"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", str(path), *map(str, data), "-o", str(html)], check=True, capture_output=True)
    one = page(f"file://{html}#panel=table&filters={json.dumps(SOME)}")
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length === 20 && !document.querySelector('.tag-bar button').disabled"), "the rows")
    focus(one, 20)
    one.press("1", "k", "l")
    one.press(next(label for label in LABELS if label != gold[20]) + Keys.ENTER)
    one.press("j", "2")
    assert "Not saved" in one.find(".tag-bar .hint").text
    open_tags(one)
    _, text = corrections(one, folder)
    other = next(label for label in LABELS if label != gold[20])
    assert text.splitlines() == ["id\told\tnew\ttext", f"20\t{gold[20]}\t{other}\ttext 20", f"21\t{gold[21]}\t\ttext 21"]
    file = folder / "corrections.tsv"
    ids = subprocess.run([PORTOLAN, "select", "a/b", "--by", "all", "--corrections", str(file), "--store", str(path)], capture_output=True, text=True, check=True).stdout.split()
    assert len(ids) == N


def test_unnamed_classes(page, store, folder):
    """Classes without names are numbers, in the file too."""
    path, data, gold = store
    with serving(path, *data, "--tags", folder / "unnamed.jsonl", "other") as server:
        one = page(server.view(run="other", panel="table", filters=SOME))
        one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length === 20 && !document.querySelector('.tag-bar button').disabled"), "the rows")
        assert server.json("/api/classes?run=other") == {"classes": ["0", "1", "2"]} and server.json("/api/classes?run=a/b") == {"classes": LABELS}
        old = LABELS.index(gold[20])
        focus(one, 20)
        one.press("1", "k", "l")
        one.press(str((old + 1) % 3) + Keys.ENTER)
        one.wait(lambda: cells(one) == {"20": f"{WRONG} → {(old + 1) % 3}"}, "a number")
        open_tags(one)
        file, text = corrections(one, folder)
        assert text.splitlines()[1] == f"20\t{old}\t{(old + 1) % 3}\ttext 20"
    subprocess.run([PORTOLAN, "select", "other", "--by", "all", "--corrections", str(file), "--store", str(path)], capture_output=True, text=True, check=True)


def test_looks(page, store, folder):
    """Text that can be read in light and dark, and nothing wider than the window."""
    path, data, _ = store
    with serving(path, *data, "--tags", folder / "looks.jsonl", "a/b") as server:
        server.json("/api/runs/a/b/tags", json.dumps({"changes": [{"id": 20 + i, "tag": tag, "label": "neutral"} for i, tag in enumerate((WRONG, KEEP, UNSURE, "a tag with a long name " * 4))]}))
        one = open_table(page, server)
        for dark in (False, True):
            for width, height in ((1440, 900), (900, 700), (390, 800)):
                for panel in ("table", "tags"):
                    one.emulate(width, height, dark)
                    one.run("const state = new URLSearchParams(location.hash.slice(1)); state.set('panel', arguments[0]); location.hash = state", panel)
                    one.wait(lambda: one.find(f"#{panel}").is_displayed(), panel)
                    one.wait(lambda: one.least_contrast()[0] >= 4.5, f"text that can be read: {panel}, {width}, dark {dark}: {one.least_contrast()}")
                    assert one.run("return document.documentElement.scrollWidth <= innerWidth")
                    find_nothing(one)
        one.emulate(1280, 900)


