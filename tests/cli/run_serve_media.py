"""portolan serve --media FIELD --media-root DIR: which files are shown, by their content alone, and that no other file of the machine is, whatever
the field names; what becomes of files that change while they are sent; ranges.

    run_serve_media.py PORTOLAN MAKE_STORE
"""

import contextlib
import ctypes
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import media_files
import served_runs
import serving
from checks import check, finish

N = served_runs.N
MOST = 64 << 20
SECRET = media_files.png((1, 2, 3))  # what must not be seen: it would be shown, if only it could be reached


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


class Root:
    """A folder of files, and what --data says of them: example i names the i-th."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "root")
        self.outside = os.path.join(folder, "outside")
        self.cases = []  # (what the field holds, the status expected, the type or a part of the message)
        os.makedirs(self.folder)

    def add(self, name, status, said):
        self.cases.append((name, status, said))

    def file(self, name, content, status, said):
        write(os.path.join(self.folder, name), content)
        self.add(name, status, said)

    def write_data(self, path, ending="jsonl"):
        with open(path, "w", encoding="utf-8") as file:
            if ending == "csv":
                file.write("id,text,media\n")
            for i, (name, _, _) in enumerate(self.cases):
                one = {"id": i, "text": f"text {i}", "media": name}
                if ending == "csv":
                    file.write(f"{i},text {i},\"{str(name).replace(chr(34), 2 * chr(34))}\"\n")
                else:
                    if name is Ellipsis:
                        del one["media"]
                    file.write(json.dumps(one) + "\n")


def fill(root):
    """Every way that the issue's list of attacks names, and what else came to mind."""
    for kind, contents in media_files.BEGINNINGS.items():
        for i, content in enumerate(contents):
            root.file(f"shown/{kind.replace('/', '-')}-{i}", content, 200, kind)
    for kind, contents in media_files.POLYGLOTS.items():
        for i, content in enumerate(contents):
            root.file(f"polyglots/{kind.replace('/', '-')}-{i}.html", content, 200, kind)
    for i, (what, content) in enumerate(media_files.OTHERS.items()):
        root.file(f"others/{i} {what}.png", content, 415, "by its content")
    picture = media_files.png()
    root.file("gr\u00fc\u00dfe \u202e \U0001f600 '\"%2e%2e&?#<b>.png", picture, 200, "image/png")
    root.file("new\nline\ttab.png", picture, 200, "image/png")
    root.file("dir/inner/c.png", picture, 200, "image/png")
    root.add("dir/../dir/./inner//c.png", 200, "image/png")
    root.add("dir/inner/../../dir/inner/c.png", 200, "image/png")
    root.add("dir/inner/c.png/", 404, "no file")
    root.add("dir/inner", 403, "no regular file")
    root.add(".", 403, "no regular file")
    root.add("nothing.png", 404, "no file")
    root.add("x" * 300 + ".png", 404, "no file")
    root.add("x/" * 3000 + "c.png", 404, "no file")
    write(os.path.join(root.outside, "secret.png"), SECRET)
    write(os.path.join(root.folder + "-sibling", "secret.png"), SECRET)
    for name in ("../outside/secret.png", "dir/../../outside/secret.png", "..", "../", "../root-sibling/secret.png", "dir/inner/../../../outside/secret.png", "../root/dir/inner/c.png",
                 os.path.join(root.outside, "secret.png"), os.path.join(root.folder, "dir/inner/c.png"), "/", "/etc/passwd", "//etc/passwd", "/proc/self/environ", "/dev/zero"):
        root.add(name, 403, "leads out of")
    for name in ("file:///etc/passwd", "http://localhost/", "..\\outside\\secret.png", "%2e%2e/outside/secret.png", "....//outside/secret.png", "~/secret.png", "$HOME"):
        root.add(name, 404, "no file")
    links = {"to-file": "../outside/secret.png", "absolute": os.path.join(root.outside, "secret.png"), "within": "dir/inner/c.png", "dangling": "nowhere", "loop": "loop", "to-folder": "../outside",
             "folder-within": "dir", "magic-root": "/proc/self/root", "magic-fd": "/proc/self/fd", "magic-cwd": "/proc/self/cwd"}
    for name, target in links.items():
        os.symlink(target, os.path.join(root.folder, name))
    for name in ("to-file", "absolute", "within", "dangling", "loop", "to-folder/secret.png", "folder-within/inner/c.png", "magic-root", "magic-root/etc/passwd", "magic-fd/0", "magic-cwd/c.png",
                 "to-folder/../dir/inner/c.png"):
        root.add(name, 403, "symbolic link")
    os.mkfifo(os.path.join(root.folder, "pipe.png"))
    root.add("pipe.png", 403, "no regular file")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.join(root.folder, "socket.png"))
    root.add("socket.png", 403, "no regular file")
    try:
        os.mknod(os.path.join(root.folder, "device.png"), 0o20666, os.makedev(1, 5))  # /dev/zero
        root.add("device.png", 403, "no regular file")
    except PermissionError:
        print("a device cannot be made here (that takes root): the page's answer to one is NOT tested")
    os.link(os.path.join(root.folder, "dir/inner/c.png"), os.path.join(root.folder, "hard.png"))
    root.add("hard.png", 200, "image/png")
    for size, status, said in ((MOST, 200, "image/png"), (MOST + 1, 413, "64 MiB"), (1 << 40, 413, "64 MiB")):
        root.file(f"large-{size}.png", picture, status, said)
        os.truncate(os.path.join(root.folder, f"large-{size}.png"), size)
    root.file("private.png", picture, 200 if os.geteuid() == 0 else 403, "image/png" if os.geteuid() == 0 else "may not be read")
    os.chmod(os.path.join(root.folder, "private.png"), 0)
    for nothing in ("", None, 7, 1.5, True, [], ["dir/inner/c.png"], {"path": "dir/inner/c.png"}, Ellipsis, "dir/inner/c.png\0.txt", "\0"):
        root.add(nothing, 404, "names no file")
    return listening


def media(server, i, run="a/b", **headers):
    return server.request("/api/media?" + urllib.parse.urlencode({"run": run, "id": i}), **headers)


def test_cases(server, root):
    for i, (name, status, said) in enumerate(root.cases):
        answer, content = media(server, i)
        if answer.status != status:
            check(False, f"{name!r}: {answer.status} {content[:200]}, not {status}")
            continue
        policy = answer.getheader("Content-Security-Policy")
        check(answer.getheader("X-Content-Type-Options") == "nosniff" and answer.getheader("Cache-Control") == "no-store" and "default-src 'none'" in policy, f"{name!r}: headers")
        check(SECRET not in content, f"{name!r}: it shows what is outside")
        if status != 200:
            check(said in json.loads(content)["error"], f"{name!r}: {content}")
            continue
        check(answer.getheader("Content-Type") == said and answer.getheader("Content-Disposition") == "inline", f"{name!r}: {answer.getheaders()}")
        check("sandbox" in policy and "script" not in policy and answer.getheader("Cross-Origin-Resource-Policy") == "same-origin", f"{name!r}: {policy}")
        with open(os.path.join(root.folder, name), "rb") as file:
            check(content == file.read(), f"{name!r}: its bytes")


def test_who_may(server, root):
    for token in (None, "0" * 64, server.token[:-1]):
        answer, content = media(server, 0, token=token)
        check(answer.status == 401 and b"PNG" not in content, f"token {token}")
    check(media(server, 0, Host="evil.example")[0].status == 403, "another Host")
    check(media(server, 0, Origin="http://evil.example")[0].status == 403, "another Origin")
    check(server.request("/api/media?run=a/b&id=0", body="{}")[0].status == 405, "POST")
    for query, status in (("run=a/b", 400), ("id=0", 400), ("", 400), ("run=a/b&id=99999", 404), ("run=a/b&id=-1", 404), ("run=a/b&id=", 404), ("run=a/b&id=abc", 404), ("run=nobody&id=0", 404),
                          ("run=a/b&id=0%00", 400), ("run=a/b&id=../root/dir", 404), ("run=a/b&id=%ff", 400), ("run=a/b&id=18446744073709551616", 404), (f"run=a/b&id={'9' * 3000}", 404)):
        answer, content = server.request("/api/media?" + query)
        check(answer.status == status and json.loads(content)["error"], f"{query[:60]}: {answer.status} {content[:200]}")
    for query in ("path=../outside/secret.png", "file=/etc/passwd", "media=../outside/secret.png"):
        check(media(server, f"0&{query}")[0].status == 404 and server.request(f"/api/media?run=a/b&id=0&{query}")[0].getheader("Content-Type") == root.cases[0][2], f"{query}: no path comes from a request")
    for path in ("/api/media/../../etc/passwd", "/api/media/0", "/page/../etc/passwd", "/outside/secret.png"):
        check(server.request(path)[0].status == 404, path)


def test_ranges(server, root):
    i = next(i for i, (_, status, said) in enumerate(root.cases) if said == "audio/wav" and status == 200)
    with open(os.path.join(root.folder, root.cases[i][0]), "rb") as file:
        whole = file.read()
    n = len(whole)
    for text, first, last in ((f"bytes=0-{n - 1}", 0, n - 1), ("bytes=0-", 0, n - 1), ("bytes=5-9", 5, 9), ("bytes=5-999999", 5, n - 1), ("bytes=-4", n - 4, n - 1), ("bytes=-999999", 0, n - 1),
                              (f"bytes={n - 1}-", n - 1, n - 1), ("bytes=0-0", 0, 0), ("bytes=7-18446744073709551615", 7, n - 1)):
        answer, content = media(server, i, Range=text)
        check(answer.status == 206 and content == whole[first:last + 1] and answer.getheader("Content-Range") == f"bytes {first}-{last}/{n}", f"{text}: {answer.status} {answer.getheaders()}")
        check(answer.getheader("X-Content-Type-Options") == "nosniff" and answer.getheader("Content-Type") == "audio/wav", f"{text}: headers")
    for text in (f"bytes={n}-", "bytes=-0", "bytes=18446744073709551615-"):
        answer, content = media(server, i, Range=text)
        check(answer.status == 416 and content == b"" and answer.getheader("Content-Range") == f"bytes */{n}", f"{text}: {answer.status}")
    for text in ("bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=0-1,3-4", "bytes=--1", "lines=0-1", "bytes=0-1-2", "bytes=18446744073709551616-", "bytes= 0-1", "", "-", "bytes"):
        answer, content = media(server, i, Range=text)
        check(answer.status == 200 and content == whole and answer.getheader("Accept-Ranges") == "bytes", f"{text!r} asks for all: {answer.status}")
    check(media(server, i, Range="bytes=5-9", If_Range='"x"')[0].status == 200, "If-Range: no answer names a state of the file")
    answer, content = media(server, i, method="HEAD")
    check(answer.status == 200 and answer.getheader("Content-Length") == str(n) and content == b"", "HEAD")


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_changed_while_sent(server, root):
    """A file that becomes shorter ends its connection, and costs nothing else; one that is replaced is sent as it was."""
    i = next(i for i, (name, _, _) in enumerate(root.cases) if name == f"large-{MOST}.png")
    path = os.path.join(root.folder, root.cases[i][0])
    known = open_files(server)

    def begin():
        one = socket.create_connection(("127.0.0.1", server.url.port), timeout=serving.PATIENCE)
        one.sendall(f"GET /api/media?run=a/b&id={i} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        return one, one.recv(2000)

    def rest(one):
        size = 0
        while got := one.recv(1 << 20):
            size += len(got)
        one.close()
        return size

    for change in (lambda: os.truncate(path, 100), lambda: os.truncate(path, 0)):
        one, head = begin()
        check(head.startswith(b"HTTP/1.1 200"), "it begins")
        change()
        began, cost = time.monotonic(), processor_seconds(server)
        check(rest(one) < MOST / 2, "what is gone is not sent")
        check(processor_seconds(server) - cost < 5 and time.monotonic() - began < 15, "the connection ends soon, and nothing turns in circles")
        check(server.request("/api/runs")[0].status == 200, "the server lives")
        write(path, media_files.png())
        os.truncate(path, MOST)
    one, head = begin()
    write(path + ".new", SECRET)
    os.replace(path + ".new", path)
    check(rest(one) + len(head) > MOST, "the file that was opened is sent whole")
    write(path, media_files.png())
    os.truncate(path, MOST)
    one, _ = begin()
    os.truncate(path, 2 * MOST)
    check(rest(one) >= MOST - 2000, "of a file that grows what it had")
    one, _ = begin()
    one.close()
    serving_end = time.monotonic() + 60
    while open_files(server) > known and time.monotonic() < serving_end:
        time.sleep(0.05)
    check(open_files(server) <= known, f"no file stays open: {open_files(server)}, {known} before")
    os.truncate(path, MOST)


def test_memory(server, root):
    """Many large files at once take no memory."""
    i = next(i for i, (name, _, _) in enumerate(root.cases) if name == f"large-{MOST}.png")

    def resident():
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
            return 1024 * next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
    before, sizes = resident(), []
    threads = [threading.Thread(target=lambda: sizes.append(len(media(server, i)[1]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(sizes == [MOST] * 4 and resident() - before < 32 << 20, f"{len(sizes)} files of 64 MiB take {resident() - before >> 20} MiB")


@contextlib.contextmanager
def exchanging(one, other):
    """Two names exchange what they stand for, again and again."""
    done = threading.Event()
    libc = ctypes.CDLL(None)

    def exchange():
        while not done.is_set():
            libc.renameat2(-100, one.encode(), -100, other.encode(), 2)  # RENAME_EXCHANGE
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_moved_folders(server, root):
    """A folder on the way is exchanged for a link to the outside, again and again: what is outside is never seen."""
    i = next(i for i, (name, _, _) in enumerate(root.cases) if name == "race/secret.png")
    real, link = os.path.join(root.folder, "race"), os.path.join(root.folder, "race-link")
    os.symlink("../outside", link)
    found = set()
    with exchanging(real, link):
        for _ in range(400):
            answer, content = media(server, i)
            found.add(answer.status)
            check(SECRET not in content, "what is outside is seen")
    check(found <= {200, 403, 404, 503} and 200 in found, f"answers: {found}")


def test_exchanged_file(server, root):
    """A file is exchanged for a pipe, again and again: what is opened for reading is what was looked at."""
    i = next(i for i, (name, _, _) in enumerate(root.cases) if name == "exchanged.png")
    file, pipe = os.path.join(root.folder, "exchanged.png"), os.path.join(root.folder, "pipe-beside")
    os.mkfifo(pipe)
    found = set()
    with exchanging(file, pipe):
        for _ in range(1500):
            answer, content = media(server, i)
            found.add((answer.status, b"no regular file" in content))
    check(found == {(200, False), (403, True)}, f"answers: {found}")


def refused(portolan, *arguments, **options):
    done = subprocess.run([portolan, "serve", "--no-open", *arguments], capture_output=True, text=True, timeout=serving.PATIENCE, **options)
    return done.returncode, done.stderr


def without_openat2(number=38):
    """For preexec_fn: openat2() fails with ENOSYS, as in an old kernel (or EPERM, 1, as in some containers)."""
    def install():
        libc = ctypes.CDLL(None, use_errno=True)
        program = b"".join(struct.pack("HBBI", *one) for one in ((0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | number), (0x06, 0, 0, 0x7FFF0000)))
        text = ctypes.create_string_buffer(program, len(program))
        head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text)))
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, head, 0, 0) != 0:
            os._exit(99)
    return install


def test_options(portolan, store, root, data):
    base = ("--store", store, "--data", data, "--id-field", "id")
    file = os.path.join(root.folder, "dir/inner/c.png")
    for arguments, status, said in (((*base, "--media", "media"), 2, "--media-root"), ((*base, "--media-root", root.folder), 2, "--media"),
                                    (("--store", store, "--media", "media", "--media-root", root.folder), 2, "--data"), ((*base, "--media", "none", "--media-root", root.folder), 1, "no field 'none'"),
                                    ((*base, "--media", "media", "--media-root", root.folder + "/nothing"), 1, "No such file"), ((*base, "--media", "media", "--media-root", file), 1, "Not a directory")):
        code, message = refused(portolan, *arguments)
        check(code == status and said in message and message.startswith("portolan: "), f"{arguments[6:]}: {code} {message}")
    for number in (38, 1):
        code, message = refused(portolan, *base, "--media", "media", "--media-root", root.folder, preexec_fn=without_openat2(number))
        check(code == 1 and "openat2" in message, f"without openat2: {code} {message}")
    with serving.serving(portolan, *base) as server:
        answer, content = media(server, 0)
        check(answer.status == 404 and "--media" in json.loads(content)["error"], f"without --media: {answer.status} {content}")
        check(server.json("/api/view?run=a/b")["media"] is None and "media" not in server.json("/api/example?run=a/b&id=0"), "the page is told that there are none")


def test_told(server, root):
    """What the page is told, by the name alone: what to try first."""
    view = server.json("/api/view?run=a/b")
    check(view["media"] == "media", "the view names the field")
    names = [name for name, _, _ in root.cases]
    for i, name in enumerate(names):
        expected = None if not isinstance(name, str) or not name or "\0" in name else "audio" if name.lower().endswith((".wav", ".mp3", ".ogg", ".oga", ".opus")) else "image"
        check(server.json(f"/api/example?run=a/b&id={i}")["media"] == expected, f"{name!r}")
    rows = server.json("/api/runs/a/b/select?as=rows&most=1000", json.dumps({"filters": {"id": {"in": list(range(len(names)))}}}))["rows"]
    check([row["media"] for row in rows] == [server.json(f"/api/example?run=a/b&id={row['id']}")["media"] for row in rows], "rows say the same")
    check(server.json(f"/api/example?run=a/b&id={N - 1}")["media"] is None, "an example that --data does not have")


def test_data_changed(portolan, store, root, folder):
    data = os.path.join(folder, "changing.jsonl")
    root.write_data(data)
    with serving.serving(portolan, "--store", store, "--data", data, "--id-field", "id", "--media", "media", "--media-root", root.folder) as server:
        check(media(server, 0)[0].status == 200, "before the change")
        for size in (os.path.getsize(data) // 2, 0):
            os.truncate(data, size)
            answer, content = media(server, 0)
            check(answer.status == 503 and "changed" in json.loads(content)["error"], f"--data was cut: {answer.status} {content}")


def test_csv(portolan, store, folder):
    """Names in CSV are bytes: also those that are no UTF-8."""
    root = os.path.join(folder, "csv")
    write(os.path.join(root, "c.png"), media_files.png())
    write(os.path.join(root.encode(), b"caf\xe9 \"x\".wav").decode(errors="surrogateescape"), media_files.wav())
    data = os.path.join(folder, "media.csv")
    with open(data, "wb") as file:
        file.write(b'id,media\n0,c.png\n1,"caf\xe9 ""x"".wav"\n2,\n3,nothing\xe9\n')
    with serving.serving(portolan, "--store", store, "--data", data, "--id-field", "id", "--media", "media", "--media-root", root) as server:
        check([media(server, i)[0].status for i in range(4)] == [200, 200, 404, 404], f"files of CSV: {[media(server, i)[0].status for i in range(4)]}")
        check(media(server, 1)[1] == media_files.wav() and json.loads(media(server, 3)[1])["error"], "a name that is no UTF-8")
    with serving.serving(portolan, "--store", store, "--data", data, "--id-field", "id", "--media", "media", "--media-root", "/") as server:
        check(media(server, 0)[0].status == 404, "another root, another file")


def main():
    portolan, make_store = sys.argv[1:3]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1024), hard))
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        root, data = Root(folder), os.path.join(folder, "data.jsonl")
        listening = fill(root)
        root.file("race/secret.png", media_files.png(), 200, "image/png")
        root.file("exchanged.png", media_files.png(), 200, "image/png")
        root.file("sound.WAV", media_files.wav(), 200, "audio/wav")
        root.write_data(data)
        with serving.serving(portolan, "--store", store, "--data", data, "--id-field", "id", "--media", "media", "--media-root", root.folder) as server:
            test_cases(server, root)
            test_told(server, root)
            test_who_may(server, root)
            test_ranges(server, root)
            test_changed_while_sent(server, root)
            test_memory(server, root)
            test_moved_folders(server, root)
            test_exchanged_file(server, root)
        test_options(portolan, store, root, data)
        test_data_changed(portolan, store, root, folder)
        test_csv(portolan, store, folder)
        listening.close()
    finish()


main()
