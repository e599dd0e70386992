"""portolan serve --tags: what is saved, and when; which files are refused, and left as they are; full disks, servers that are killed, two
pages at once. What the file says is computed here, from its lines.

    run_serve_tags.py PORTOLAN MAKE_STORE
"""

import contextlib
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
import stores
from checks import check, finish
from served_runs import N

WRONG, KEEP = "wrong label", "keep"
MOST, MOST_CHANGES = 100000, 10000


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lines_of(path):
    """Its changes: all lines but the first, which says what the file is."""
    return [line for line in map(json.loads, read(path).decode().splitlines()) if "portolan" not in line]


def replay(lines, run):
    """{id: (tag, label)} as the lines say it: the last one of an id counts."""
    tags = {}
    for line in lines:
        for change in line.get("changes", [line]):
            if line["run"] == run and "id" in change:
                tags[change["id"]] = (change["tag"], change.get("label"))
    return {i: said for i, said in tags.items() if said[0] is not None}


def tags_of(server, run="a/b"):
    return {one["id"]: (one["tag"], one["label"]) for one in server.json(f"/api/tags?run={run}")["tags"]}


def tag(server, i, name, label=None, run="a/b", status=200):
    return server.json(f"/api/runs/{run}/tags", json.dumps({"id": i, "tag": name, "label": label}), status)


def refused(portolan, *arguments):
    """The status and the message of a server that does not start."""
    done = subprocess.run([portolan, "serve", "--no-open", *arguments], capture_output=True, text=True, timeout=serving.PATIENCE)
    return done.returncode, done.stderr


def test_kept(portolan, store, folder):
    path = os.path.join(folder, "kept.jsonl")
    options = ("--store", store, "--tags", path)
    with serving.serving(portolan, *options) as server:
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600 and read(path) == b"", "a new file is its owner's alone, and empty")
        answer = server.json("/api/tags?run=a/b")
        check(answer == {"serial": 0, "saved": True, "names": [], "tags": []}, f"no tags: {answer}")
        serials = [tag(server, 17, WRONG, "maybe")["serial"], tag(server, 18, KEEP)["serial"], tag(server, 17, WRONG, "no")["serial"],
                   tag(server, 19, KEEP)["serial"], tag(server, 19, None)["serial"], tag(server, "n-0001", "sch\u00f6n \U0001f600", run="names")["serial"]]
        check(serials == [1, 2, 3, 4, 5, 1], f"serials by run: {serials}")
        tag(server, 18446744073709551615, KEEP, status=400)  # a number that JSON's readers lose; as a text it is an id
        check(tag(server, "18446744073709551615", KEEP)["serial"] == 6, "an id beyond 2^63")
        wanted = {17: (WRONG, "no"), 18: (KEEP, None), "18446744073709551615": (KEEP, None)}
        check(tags_of(server) == wanted == replay(lines_of(path), "a/b"), f"tags: {tags_of(server)}")
        check(tags_of(server, "names") == {"n-0001": ("sch\u00f6n \U0001f600", None)}, "tags of another run")
        lines = lines_of(path)
        check(all(list(line) == ["run", "id", "tag", "label", "at"] for line in lines) and len(lines) == 7, f"lines: {lines}")
        check(server.request("/api/tags?run=a/b&known=6")[0].status == 304 and server.request("/api/tags?run=a/b&known=5")[0].status == 200, "304")
        server.json("/api/runs/a/b/tags", json.dumps({"names": ["falsch", KEEP]}))
        both = {"changes": [{"id": 17, "tag": "falsch", "label": "no"}, {"id": 20, "tag": KEEP}]}
        check(server.json("/api/runs/a/b/tags", json.dumps(both)) == {"serial": 9}, "several changes")
        check(list(lines_of(path)[-1]) == ["run", "changes", "at"] and lines_of(path)[-1]["changes"] == both["changes"], f"are one line: {lines_of(path)[-1]}")
    before = read(path)
    with serving.serving(portolan, *options) as server:
        answer = server.json("/api/tags?run=a/b")
        wanted.update({17: ("falsch", "no"), 20: (KEEP, None)})
        check(tags_of(server) == wanted and answer["names"] == ["falsch", KEEP] and answer["serial"] == 9, f"after a restart: {answer}")
        check(read(path) == before and "warning" not in server.errors(), "a restart writes nothing")
        code, said = refused(portolan, *options)
        check(code == 1 and path in said and "another portolan serve" in said, f"two servers: {code} {said}")
        tag(server, 21, KEEP)
    with serving.serving(portolan, *options) as server:
        check(len(tags_of(server)) == 5, "the lock goes with its server")


def test_not_kept(portolan, store):
    with serving.serving(portolan, "--store", store) as server:
        check(server.json("/api/tags?run=a/b") == {"serial": 0, "saved": False, "names": [], "tags": []}, "without --tags")
        check("--tags" in tag(server, 1, KEEP, status=409)["error"], "what to do about it")


def test_who_may(server, path):
    before = read(path)
    body = json.dumps({"id": 1, "tag": KEEP})
    for token in (None, "0" * 64, server.token[:-1]):
        check(server.request("/api/runs/a/b/tags", body, token=token)[0].status == 401, f"token {token}")
        check(server.request("/api/tags?run=a/b", token=token)[0].status == 401, f"token {token}, GET")
    check(server.request("/api/runs/a/b/tags", body, Host="evil.example")[0].status == 403, "another Host")
    check(server.request("/api/runs/a/b/tags", body, Origin="http://evil.example")[0].status == 403, "another Origin")
    check(server.request("/api/runs/a/b/tags", body, Origin="null")[0].status == 403, "a sandboxed Origin")
    check(server.request("/api/runs/a/b/tags", body, method="PUT")[0].status == 405, "PUT")
    for path_asked in ("/api/tags", "/api/runs//tags", "/api/tags?run=a/b", "/tags", "/api/runs/a/b/tags/"):
        check(server.request(path_asked, body)[0].status == 405, f"POST {path_asked}")
    tag(server, 1, KEEP, run="nobody", status=404)
    check(server.request("/api/tags")[0].status == 400, "GET without a run")
    check(read(path) == before, "nothing of that is saved")


def test_wrong_bodies(server, path):
    before = read(path)
    change = {"id": 1, "tag": KEEP}
    texts = ("", " ", "\t", "a\nb", "a\u0007", "a\u007f", "a\u0085", "a\u2028b", "x" * 101, "\u00e9" * 51, "x" * (1 << 20), 7, True, [], {})
    wrong = [None, [], 7, "text", {}, {"id": 1}, {"tag": KEEP}, {"id": 1, "tag": KEEP, "more": 1}, {"id": 1, "tag": KEEP, "run": "c"}, {"id": 1, "tag": KEEP, "at": "x"},
             {"changes": []}, {"changes": [change] * (MOST_CHANGES + 1)}, {"changes": change}, {"changes": [change, 7]}, {"changes": [change], "id": 1},
             {"changes": [change, {"id": 2, "tag": "\n"}]}, {"changes": [{"changes": [change]}]}, {"id": 1, "tag": None, "label": "yes"}, {"names": ["a", "a"]},
             {"names": [str(i) for i in range(10)]}, {"names": "a"}, {"names": ["a", "\n"]}, {"names": ["a"], "id": 1, "tag": KEEP}]
    wrong += [{"id": 1, "tag": text} for text in texts] + [{"id": 1, "tag": KEEP, "label": text} for text in texts if text not in ("x" * 101, "\u00e9" * 51)]
    wrong += [{"id": 1, "tag": KEEP, "label": "x" * 256}] + [{"id": i, "tag": KEEP} for i in (None, -1, 1.5, True, "", "x" * 256, [], {}, 1 << 63)]
    bodies = [json.dumps(one).encode() for one in wrong]
    bodies += [b"", b"\0", b"{", b'{"id": 1, "tag": "keep"', b'{"id": 1, "tag": "\xff"}', b'{"id": 1, "tag": "\xed\xa0\x80"}', b'{"id": 1, "tag": "\\ud800"}', b'{"id": 1, "tag": "a\\u0000b"}',
               b'{"id": "a\\u0000b", "tag": "keep"}', b'{"id": 1, "id": 2, "tag": "keep"}', b'{"id": 1, "tag": "a", "tag": "b"}', b"[" * 100000, b'{"id":' * 100000, b'{"id": 1, "tag": "keep"} x',
               b'{"id": 1, "tag": "a\x07"}']
    for body in bodies:
        answer, content = server.request("/api/runs/a/b/tags", body)
        check(answer.status == 400 and len(json.loads(content)["error"]) > 10, f"{body[:80]}: {answer.status} {content[:200]}")
    check(read(path) == before, "nothing of that is saved")
    check(server.json("/api/runs/a/b/tags", json.dumps({"changes": [{"id": i, "tag": "x" * 100, "label": "y" * 255} for i in ("a", "b" * 255, 0, (1 << 63) - 1)]}))["serial"] == 4,
          "what is just not too long")


def test_many(portolan, store, folder):
    path = os.path.join(folder, "many.jsonl")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        for first in range(0, MOST, MOST_CHANGES):
            server.json("/api/runs/a/b/tags", json.dumps({"changes": [{"id": i, "tag": KEEP} for i in range(first, first + MOST_CHANGES)]}))
        check(len(tags_of(server)) == MOST, "as many tags as may be")
        said = tag(server, MOST, KEEP, status=400)["error"]
        check(str(MOST) in said, said)
        said = tag(server, 0, KEEP, run="c", status=400)["error"]
        check(str(MOST) in said, f"of all runs together: {said}")
        tag(server, 5, WRONG)
        tag(server, 6, None)
        tag(server, MOST, WRONG)
        check(len(tags_of(server)) == MOST, "one is exchanged")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        found = tags_of(server)
        check(found == replay(lines_of(path), "a/b") and len(found) == MOST, "all after a restart")
    with open(path, "a") as file:
        file.write(json.dumps({"run": "a/b", "changes": [{"id": i, "tag": KEEP} for i in (6, MOST + 1)]}) + "\n")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        check(len(tags_of(server)) == MOST + 2, "a file may hold more")
        tag(server, 0, KEEP, run="c", status=400)
        tag(server, 6, WRONG)
        for i in (6, MOST + 1, 7):
            tag(server, i, None)  # what is too much can be taken away
        again = {"changes": [{"id": 7, "tag": name} for name in (KEEP, WRONG, KEEP)]}
        server.json("/api/runs/a/b/tags", json.dumps(again))
        check(len(tags_of(server)) == MOST, "an example counts once")
        tag(server, 8, None)
        two = {"changes": [{"id": 8, "tag": KEEP}, {"id": MOST + 9, "tag": KEEP}]}
        server.json("/api/runs/a/b/tags", json.dumps(two), 400)


def test_two_pages(portolan, store, folder):
    """The last one wins: what the server says is what its file says, and each change has a serial of its own."""
    path = os.path.join(folder, "pages.jsonl")
    serials = []
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        def page(number):
            for turn in range(40):
                serials.append(tag(server, turn % 7, f"tag {number}", f"label {turn}")["serial"])
        threads = [threading.Thread(target=page, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(sorted(serials) == list(range(1, 321)), "each change has its serial")
        check(tags_of(server) == replay(lines_of(path), "a/b") and len(lines_of(path)) == 320, "the last change of an id counts")


def test_killed(portolan, store, folder):
    """kill -9 at any moment: what was acknowledged is there, and the file goes on."""
    path = os.path.join(folder, "killed.jsonl")
    dice = random.Random(3)
    told = {}
    for turn in range(6):
        server = serving.Server(portolan, "--store", store, "--tags", path)
        found = tags_of(server)
        lost = {i: (found.get(i), names) for i, names in told.items() if found.get(i, (None, None))[0] not in names}
        check(not lost, f"turn {turn}: what was acknowledged is there: {lost}")
        pending = threading.Event()

        def work():
            with contextlib.suppress(OSError, serving.http.client.HTTPException, AssertionError):
                for i in range(100000):
                    name = f"turn {turn}, {i}"
                    told.setdefault(i % 50, {None}).add(name)  # it may be there, acknowledged or not; so may be what was there before
                    tag(server, i % 50, name)
                    told[i % 50] = {name}
                    pending.set()
        thread = threading.Thread(target=work)
        thread.start()
        pending.wait(serving.PATIENCE)
        threading.Event().wait(dice.random() / 4)
        check(server.end(signal.SIGKILL) == -signal.SIGKILL, "it was killed")
        thread.join()
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        check(all(tags_of(server).get(i, (None, None))[0] in names for i, names in told.items()), "at the end")


def test_torn(portolan, store, folder):
    """A last line that is broken off, at each of its bytes."""
    path = os.path.join(folder, "torn.jsonl")
    whole = b"".join(json.dumps({"run": "a/b", "id": i, "tag": KEEP, "label": None, "at": "x"}, separators=(",", ":")).encode() + b"\n" for i in range(3))
    begin = whole.rindex(b"\n", 0, -1) + 1
    for end in [*range(begin + 1, len(whole), 5), len(whole) - 1]:
        with open(path, "wb") as file:
            file.write(whole[:end])
        is_whole = end == len(whole) - 1
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            check(set(tags_of(server)) == {0, 1, 2} if is_whole else set(tags_of(server)) == {0, 1}, f"cut at {end}: what is whole is there")
            check(("line 3 cannot be read" in server.errors()) != is_whole, f"cut at {end}: said: {server.errors()}")
            tag(server, 9, WRONG)
        check(read(path).startswith(whole[:end] + b"\n"), f"cut at {end}: nothing was changed")
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            check(tags_of(server)[9] == (WRONG, None) and ("line 3 cannot be read" in server.errors()) != is_whole, f"cut at {end}: the next start")


def test_torn_request(portolan, store, folder):
    """A last line of several changes that is broken off, at many of its bytes: none of them is there."""
    path = os.path.join(folder, "torn-request.jsonl")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        tag(server, 1, KEEP)
        before = len(read(path))
        server.json("/api/runs/a/b/tags", json.dumps({"changes": [{"names": [KEEP]}, {"id": 1, "tag": WRONG}, {"id": 2, "tag": WRONG}]}))
    whole = read(path)
    for end in [*range(before + 1, len(whole), 9), len(whole) - 2, len(whole) - 1]:
        with open(path, "wb") as file:
            file.write(whole[:end])
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            wanted = {1: (WRONG, None), 2: (WRONG, None)} if end == len(whole) - 1 else {1: (KEEP, None)}
            check(tags_of(server) == wanted, f"cut at {end}: all or none: {tags_of(server)}")
    lines = whole.splitlines(keepends=True)
    with open(path, "wb") as file:
        file.writelines([*lines[:2], b'{"run": "a/b", "id": 3 "tag": "keep"}\n', lines[2]])
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        said = server.errors()
        check("line 3 cannot be read" in said and "expected near '\"tag\"'" in said and len(tags_of(server)) == 2, f"a whole line that is no JSON: {said}")


def test_version(portolan, store, folder):
    """The first change of a file brings the line that says what it is. A file without it, of before 1.0, is read; one of a later version is refused."""
    path = os.path.join(folder, "version.jsonl")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        tag(server, 1, KEEP)
        tag(server, 2, KEEP)
    lines = read(path).splitlines(keepends=True)
    check(lines[0] == b'{"portolan":"tags","version":1}\n' and len(lines) == 3, f"the first line: {lines}")
    with open(path, "wb") as file:
        file.writelines(lines[1:])
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        tag(server, 3, KEEP)
        check(set(tags_of(server)) == {1, 2, 3} and b"version" not in read(path), "a file without that line goes on as it is")
    for head, wanted in ((b'{"portolan":"tags","version":2}\n', "are of version 2, and this program knows up to version 1: use a newer portolan"),
                         (b'{"portolan":"notes","version":1}\n', "is of no file of tags: it says that it holds something else")):
        with open(path, "wb") as file:
            file.writelines([head, *lines[1:]])
        before = read(path)
        status, said = refused(portolan, "--store", store, "--tags", path)
        check(status == 1 and wanted in said and read(path) == before, f"{head}: {said}")


def test_full_disk(portolan, store, folder):
    """A limit on the size of files, which is a full disk for this file alone; and, where one can be mounted, a disk that is full."""
    path = os.path.join(folder, "limited.jsonl")
    with serving.serving(portolan, "--store", store, "--tags", path) as server:
        tag(server, 1, KEEP)
        before, limits = read(path), resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        for room in (0, 1, 30):
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (len(before) + room, limits[1]))
            said = tag(server, 2, KEEP, status=503)["error"]
            check("not saved" in said and path in said and read(path) == before, f"no room: {said}, {read(path)[len(before):]}")
        check(tags_of(server) == {1: (KEEP, None)}, "what is not saved is not shown as saved")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
        tag(server, 2, WRONG)
        check(tags_of(server) == {1: (KEEP, None), 2: (WRONG, None)} == replay(lines_of(path), "a/b"), "once there is room")
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
        print("a tmpfs cannot be mounted here (that takes root): a full disk is NOT tested, nor one that is read-only")
        return
    path = os.path.join(disk, "tags.jsonl")
    try:
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            said, i = "", 0
            with open(os.path.join(disk, "filler"), "wb") as file:
                file.write(b"x" * (48 << 10))
            while "error" not in said:
                content = server.request("/api/runs/a/b/tags", json.dumps({"id": i, "tag": "x" * 100}))[1]
                said, i = json.loads(content), i + 1
            check("No space left" in said["error"] and "not saved" in said["error"], f"a full disk: {said}")
            check(len(lines_of(path)) == i - 1 == len(tags_of(server)), "no line is broken off")
            os.unlink(os.path.join(disk, "filler"))
            tag(server, i, KEEP)
            check(len(lines_of(path)) == i == len(tags_of(server)), "once there is room")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        code, said = refused(portolan, "--store", store, "--tags", path)
        check(code == 1 and "Read-only" in said and path in said, f"a read-only disk: {said}")
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def test_changed_meanwhile(portolan, store, folder):
    """Another program's doing: nothing is saved any more, that is said, and the server lives."""
    def move(path):
        os.rename(path, path + ".old")

    def replace(path):
        move(path)
        with open(path, "wb") as file:
            file.write(read(path + ".old"))

    def write_more(path):
        with open(path, "ab") as file:
            file.write(b"a line\n")

    def cut(path):
        os.truncate(path, 3)

    for change in (os.unlink, move, replace, write_more, cut):
        path = os.path.join(folder, f"{change.__name__}.jsonl")
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            tag(server, 1, KEEP)
            change(path)
            now = read(path) if os.path.exists(path) else None
            said = tag(server, 2, KEEP, status=503)["error"]
            check("not saved" in said and path in said and tags_of(server) == {1: (KEEP, None)}, f"{change.__name__}: {said}")
            check(now == (read(path) if os.path.exists(path) else None), f"{change.__name__}: nothing is written")


def test_refused_files(portolan, store, folder):
    data, options = served_runs.write_data(folder)
    other = os.path.join(folder, "other-store")
    shape = {name: os.path.join(folder, name) for name in ("text", "json", "html", "binary", "lines", "half", "number", "link", "dangling", "folder", "pipe", "fine", "hard", "large", "several", "none", "nested")}
    os.mkdir(other)
    os.mkdir(os.path.join(store, "below"))
    for path, content in ((os.path.join(other, "data.mdb"), b""), (shape["text"], b"my notes\n"), (shape["json"], b'{"run": "a/b", "loss": 0.5}\n'),
                          (shape["html"], b"<html>"), (shape["binary"], bytes(range(256))), (shape["lines"], b"\n\n"), (shape["half"], b'{"ru: no"}'), (shape["number"], b"7"),
                          (shape["fine"], b'{"run": "a/b", "id": 1, "tag": "keep"}\n{"run": "a/b", "id": 2, "tag": "keep", "more": 1}\n'),
                          (shape["several"], b'{"run": "a/b", "changes": [{"id": 1, "tag": "keep"}], "id": 1}\n'), (shape["none"], b'{"run": "a/b", "changes": []}\n'),
                          (shape["nested"], b'{"run": "a/b", "changes": [{"id": 1, "tag": "keep", "run": "c"}]}\n')):
        with open(path, "wb") as file:
            file.write(content)
    os.symlink(shape["text"], shape["link"])
    os.symlink(os.path.join(folder, "nowhere"), shape["dangling"])
    os.mkdir(shape["folder"])
    os.mkfifo(shape["pipe"])
    os.link(os.path.join(store, "data.mdb"), shape["hard"])
    with open(shape["large"], "wb") as file:
        file.truncate((64 << 20) + 1)
    inputs = [("--store", store, *options, "--tags", options[1]), ("--store", store, "--tags", os.path.join(store, "data.mdb")), ("--store", store, "--tags", shape["hard"]),
              ("--store", store, "--tags", "-"), ("--store", store, "--token-file", os.path.join(folder, "token"), "--tags", os.path.join(folder, "token")),
              ("--store", store, "--tags", os.path.join(folder, "tags.csv"))]
    wrong = [("--store", store, "--tags", path) for path in (*shape.values(), os.path.join(store, "tags.jsonl"), os.path.join(store, "below", "tags.jsonl"), os.path.join(other, "tags.jsonl"),
                                                             os.path.join(folder, "nothing", "tags.jsonl"), "/dev/null", "/dev/full", "/proc/self/mem", store, "/", "") if path != shape["hard"]]
    files = [os.path.join(store, "data.mdb"), options[1], *(shape[name] for name in ("text", "json", "html", "binary", "lines", "half", "number", "fine", "several", "none", "nested"))]
    before = [read(path) for path in files]
    for arguments in inputs + wrong:
        code, said = refused(portolan, *arguments)
        check(code == (2 if arguments in inputs else 1) and said.startswith("portolan: ") and "--tags" in said, f"{arguments[-1]}: {code} {said}")
    check([read(path) for path in files] == before, "no file is changed")
    check(sorted(os.listdir(store)) == ["below", "data.mdb", "lock.mdb"] and os.listdir(other) == ["data.mdb"], f"nothing is made in a store: {os.listdir(store)}")
    check(not os.path.exists(os.path.join(folder, "nowhere")), "no link is followed")
    os.rmdir(os.path.join(store, "below"))


def test_overwritten(portolan, make_store, folder):
    """Tags belong to ids of a run's name."""
    path = os.path.join(folder, "again.jsonl")
    for turn in range(2):
        store = os.path.join(folder, f"again-{turn}")
        stores.make_store(make_store, store, [stores.run("a/b", served_runs.batches(40, 1 + turn))])
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            check(tags_of(server) == ({39: (WRONG, None)} if turn else {}), "another run of the same name has them")
            tag(server, 39, WRONG)


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        test_kept(portolan, store, folder)
        test_not_kept(portolan, store)
        path = os.path.join(folder, "tags.jsonl")
        with serving.serving(portolan, "--store", store, "--tags", path) as server:
            test_who_may(server, path)
            test_wrong_bodies(server, path)
        test_many(portolan, store, folder)
        test_two_pages(portolan, store, folder)
        test_killed(portolan, store, folder)
        test_torn(portolan, store, folder)
        test_torn_request(portolan, store, folder)
        test_version(portolan, store, folder)
        test_full_disk(portolan, store, folder)
        test_changed_meanwhile(portolan, store, folder)
        test_refused_files(portolan, store, folder)
        test_overwritten(portolan, make_store, folder)
    check(N > 50, "the run has the examples that are tagged")
    finish()


main()
