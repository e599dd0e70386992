"""portolan serve while its file of --data is changed: it lives on, shows no text that may be another record's, and says which file was changed.

    run_serve_changed.py PORTOLAN MAKE_STORE
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
from checks import check, finish
from served_runs import N

SOME = {"filters": {"id": {"in": [1, N - 1]}}}
BY_KIND = {"filters": {"data:kind": {"in": ["k1"]}}}
BY_SIZE = {"filters": {"data:size": {"max": 3}}}
BY_TEXT = {"filters": {"text": {"contains": ["text 12"]}}}


def cut_short(path):
    os.truncate(path, 100)


def empty(path):
    os.truncate(path, 0)


def grow(path):
    with open(path, "a") as file:
        file.write('{"id": 999999, "text": "new"}\n')


def write_again(path):
    """Of the same size; each text is another's."""
    with open(path, "r+b") as file:
        lines = file.read().splitlines(keepends=True)
        file.seek(0)
        file.writelines(reversed(lines))


def replace(path):
    with open(path + ".new", "w") as file:
        file.write('{"id": 1, "text": "another file"}\n')
    os.replace(path + ".new", path)


def select(server, form, selection, status=200):
    return server.ask(f"/api/runs/a/b/select?as={form}", json.dumps(selection), status)


def test_change(portolan, store, change):
    with tempfile.TemporaryDirectory() as folder:
        data, options = served_runs.write_data(folder)
        with serving.serving(portolan, "--store", store, *options, "a/b") as server:
            view = server.json("/api/view?run=a/b")
            by_kind = select(server, "ids", BY_KIND)
            check(server.json("/api/example?run=a/b&id=1")["text"] == {"text": data[1]["text"]}, "a text")
            change(options[1])
            what = change.__name__
            for form, selection in (("ids", BY_TEXT), ("ids", BY_SIZE), ("rows", SOME), ("rows&q=text", SOME), ("lines", SOME), ("words", SOME), ("ids", BY_TEXT)):
                said = json.loads(select(server, form, selection, 503))["error"]
                check(options[1] in said and "changed" in said and "store" not in said.replace(folder, ""), f"{what}: {form} {selection}: {said}")
            said = server.json("/api/example?run=a/b&id=1", status=503)["error"]
            check(options[1] in said and "changed" in said, f"{what}: an example: {said}")
            check(server.json("/api/view?run=a/b") == view and view["data_columns"] == ["kind", "size", "maybe"], f"{what}: the view stays")
            check(select(server, "ids", BY_KIND) == by_kind, f"{what}: a column that was read stays")
            check(server.process.poll() is None, f"{what}: the server lives")


def test_replaced(portolan, store):
    with tempfile.TemporaryDirectory() as folder:
        data, options = served_runs.write_data(folder)
        with serving.serving(portolan, "--store", store, *options, "a/b") as server:
            replace(options[1])
            check(server.json("/api/example?run=a/b&id=1")["text"] == {"text": data[1]["text"]}, "the text of the file that was opened")
            found = json.loads(select(server, "ids", BY_TEXT))["ids"]
            check(found == [i for i in range(N) if f"text {i}".startswith("text 12")], f"texts of the file that was opened: {len(found)}")
            check(select(server, "lines", SOME).decode() == "".join(json.dumps(data[i]) + "\n" for i in (1, N - 1)), "its lines")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        for change in (cut_short, empty, grow, write_again):
            test_change(portolan, store, change)
        test_replaced(portolan, store)
    finish()


main()
