"""The report and the suspects of the live page: they are what the commands print, made one at a time, at low priority, by children that know no secret and outlive nothing.

    run_serve_report.py PORTOLAN MAKE_STORE
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
import stores
from checks import check, finish

PORTOLAN, MAKE_STORE = os.path.abspath(sys.argv[1]), sys.argv[2]
N = 600
ODD = "-o it's"  # looks like an option, and needs quotes
WAITING = """#!/bin/sh
# In the place of gnuplot: waits until it may begin.
: > "$GATE.reached"
while [ ! -e "$GATE" ]; do sleep 0.02; done
exec "$REAL_GNUPLOT" "$@"
"""


def make_store(folder, names=("a/b", ODD)):
    path = os.path.join(folder, "store")
    stores.make_store(MAKE_STORE, path, [stores.run(name, served_runs.wrong_labels(N, 11 + i), declared=N, labels=["yes", "no", "maybe"]) for i, name in enumerate(names)])
    return path


def ask(server, what, query="run=a/b"):
    """(status, what it answers)."""
    answer, content = server.request(f"/api/{what}?{query}")
    return answer.status, json.loads(content)


def wait(condition, what):
    end = time.monotonic() + serving.PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)
    return found


def made(server, what, query="run=a/b"):
    """The answer, once it is there; with status 202 until then."""
    def look():
        status, answer = ask(server, what, query)
        check((status, answer["state"] == "making") in ((202, True), (200, False)), f"{what}: {status} {answer['state']}")
        return answer if status == 200 else None

    return wait(look, f"{what} of {query}")


def printed(*words):
    done = subprocess.run([PORTOLAN, *words, "--json"], capture_output=True)
    check(done.returncode in (0, 3), f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def lasting(report):
    """The report without the moment at which it was made."""
    return {name: value for name, value in report.items() if name not in ("created", "about")}


class Gate:
    """A gnuplot that waits: a report comes to its map, and no further until open()."""

    def __init__(self, folder):
        self.folder = folder  # for what a killed report leaves, too
        self.path = os.path.join(folder, "gate")
        self.programs = os.path.join(folder, "programs")
        os.makedirs(self.programs)
        path = os.path.join(self.programs, "gnuplot")
        with open(path, "w") as file:
            file.write(WAITING)
        os.chmod(path, 0o755)
        self.mark = f"GATE={self.path}"

    @contextlib.contextmanager
    def environment(self):
        before = dict(os.environ)
        os.environ.update(TMPDIR=self.folder, GATE=self.path, REAL_GNUPLOT=shutil.which("gnuplot"), PATH=f"{self.programs}:{os.environ['PATH']}")
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def is_reached(self):
        return os.path.exists(self.path + ".reached")

    def open(self):
        with open(self.path, "w"):
            pass

    def close(self):
        for path in (self.path, self.path + ".reached"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def processes(self):
        """{number: command line} of all that has the gate in its environment, as the server and what it has started have."""
        found = {}
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and self.mark.encode() in open(f"/proc/{name}/environ", "rb").read().split(b"\0"):
                    line = open(f"/proc/{name}/cmdline", "rb").read().decode().split("\0")[:-1]
                    if line:
                        found[int(name)] = line
        return found

    def children(self, server):
        return {number: line for number, line in self.processes().items() if number != server.process.pid}

    def told(self, server, name):
        """What /proc/NUMBER/NAME holds, of each child that is still there; the gate is a shell whose sleeps come and go."""
        found = []
        for number in self.children(server):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{number}/{name}", "rb") as file:
                found.append(file.read())
        check(len(found) >= 3, f"the report, the map, gnuplot: {name} of {len(found)}")
        return found

    def child(self, server):
        """The number of the process that the server itself has started."""
        def find():
            for number in self.children(server):
                with contextlib.suppress(OSError):
                    if int(open(f"/proc/{number}/stat").read().rpartition(")")[2].split()[1]) == server.process.pid:
                        return number
            return None

        return wait(find, "the server's child")


def test_equal(folder, store):
    data = os.path.join(folder, "data.jsonl")
    with open(data, "w") as file:
        for i in range(N):
            file.write(json.dumps({"id": i, "text": f"text number {i} of {i % 7}", "kind": f"k{i % 4}", "label": ["yes", "no", "maybe"][i % 3]}) + "\n")
    with serving.serving(PORTOLAN, "--store", store, "--data", data, "--id-field", "id", "--text", "text,kind") as server:
        for query, run, epochs in (("run=a/b", ["a/b"], []), ("run=a/b&epochs=1:4", ["a/b"], ["--epochs", "1:4"]), ("run=-o%20it%27s", [], [])):
            after = [] if run else ["--", ODD]
            words = [*run, "--store", store, *epochs]
            with_data = ["--data", data, "--id-field", "id", "--text", "text,kind"]
            report = made(server, "report", query)
            check(report["state"] == "made" and report["command"] == ["portolan", "report", *words, *with_data, *after], f"{query}: {report['command']}")
            expected = json.loads(subprocess.run([PORTOLAN, *report["command"][1:2], "--json", *report["command"][2:]], capture_output=True, check=True).stdout)
            check(lasting(report["answer"]) == lasting(expected), f"{query}: the report is that of the command")
            check(report["current"] and report["version"] == server.json(f"/api/view?{query}")["version"], f"{query}: of the version that is shown")
            suspects = made(server, "suspects", query)
            check(suspects["command"] == ["portolan", "suspects", *words, *after], f"{query}: {suspects['command']}")
            there = subprocess.run([PORTOLAN, "suspects", "--json", *words, *after], capture_output=True, check=True).stdout
            raw = server.ask(f"/api/suspects?{query}").partition(b'"answer":')[2]
            check(raw.startswith(there) and raw[len(there):].strip() == b"}", f"{query}: the suspects are those of the command, byte for byte")
            check(suspects["answer"]["called"] > 5 and suspects["answer"]["suspects"][0]["suggested"], f"{query}: {suspects['answer']['called']} suspects")
        before = made(server, "report")
        check(made(server, "report") == before, "what was made is kept")
        status, again = ask(server, "report", "run=a/b&anew=1")
        check(status == 202 and again["state"] == "making", f"made anew: {status} {again}")
        check(lasting(made(server, "report")["answer"]) == lasting(before["answer"]), "made anew, it says the same")
        for query, status in (("run=nothing", 404), ("run=a/b&version=0", 409), ("run=a/b&epochs=x", 400), ("run=a/b&anew=2", 400), ("", 400)):
            check(ask(server, "report", query)[0] == status, f"{query}: {status}")
    with open(data) as file, serving.serving(PORTOLAN, "--store", store, "--data", "-", "--id-field", "id", "--text", "text", stdin=file) as server:
        report = made(server, "report")
        check(report["state"] == "made" and report["command"] == ["portolan", "report", "a/b", "--store", store], f"standard input is the server's alone: {report}")
    with contextlib.ExitStack() as stack:
        os.environ["PORTOLAN_STORE"] = store
        stack.callback(os.environ.pop, "PORTOLAN_STORE")
        with serving.serving(PORTOLAN) as server:
            check(made(server, "suspects")["command"] == ["portolan", "suspects", "a/b"], "a store that was not named is not named")


def test_one_at_a_time(folder, store):
    gate = Gate(os.path.join(folder, "one"))
    with gate.environment(), serving.serving(PORTOLAN, "--store", store) as server:
        answers = []
        askers = [threading.Thread(target=lambda: answers.append(ask(server, "report"))) for _ in range(8)]
        for one in askers:
            one.start()
        for one in askers:
            one.join()
        check(len(answers) == 8 and all(status == 202 and answer["waits_for"] is None for status, answer in answers), f"eight pages at once: {answers}")
        wait(gate.is_reached, "the map")
        reports = [line for line in gate.children(server).values() if line[1:2] == ["report"]]
        check(len(reports) == 1, f"one report for all: {reports}")
        check("--threads" in reports[0] and len([line for line in gate.children(server).values() if line[1:2] not in (["report"], ["map"]) and "portolan" in line[0]]) == 0,
              f"its commands run one after another: {gate.children(server)}")
        status, other = ask(server, "suspects")
        check(status == 202 and other["waits_for"] == "report", f"another command waits: {other}")
        check(len(server.json("/api/runs")) == 2, "the server answers meanwhile")
        child = gate.child(server)
        held = {os.readlink(f"/proc/{child}/fd/{fd}").split(" ")[0].partition(":")[0] for fd in ("0", "1", "2")}
        check(held == {"/dev/null", "/memfd"}, f"its standard files: {held}")
        here = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd") if int(fd) > 2]
        check(all(one.startswith("/memfd:") for one in here), f"no file of the server's: {here}")
        spoken = b"".join(gate.told(server, "cmdline") + gate.told(server, "environ"))
        check(server.token.encode() not in spoken, "it does not know the token")
        status = dict(line.split(":", 1) for line in open(f"/proc/{child}/status").read().splitlines())
        check(int(status["SigBlk"], 16) == 0, f"no signal is blocked in it: {status['SigBlk']}")
        niceness = {int(stat.rpartition(b")")[2].split()[16]) for stat in gate.told(server, "stat")}
        check(niceness == {19}, f"of the lowest priority: {niceness}")
        gate.open()
        check(made(server, "report")["state"] == "made" and made(server, "suspects")["state"] == "made", "both are made then")
        wait(lambda: not gate.children(server), "the end of all children")
        gate.close()
        check(ask(server, "report", "run=a/b&anew=1")[0] == 202, "once more")
        wait(gate.is_reached, "the map")
        check(ask(server, "suspects", "run=a/b&anew=1")[1]["waits_for"] == "report", "what is asked for anew waits")
        gate.open()
        made(server, "report")
        check(made(server, "suspects")["state"] == "made", "and is made")


def test_ends_with_server(folder, store, number):
    gate = Gate(os.path.join(folder, f"end-{number}"))
    with gate.environment():
        server = serving.Server(PORTOLAN, "--store", store)
        check(ask(server, "report")[0] == 202, "it begins")
        wait(gate.is_reached, "the map")
        check(len(gate.children(server)) >= 3, f"the report, the map, gnuplot: {gate.children(server)}")
        began = time.monotonic()
        status = server.end(number)
        check(status == (-number if number == signal.SIGKILL else 0), f"signal {number} ends it: {status}")
        wait(lambda: not gate.processes(), f"no process after signal {number}: {gate.processes()}")
        check(time.monotonic() - began < 10, "soon")


def test_fails(folder, store):
    gate = Gate(os.path.join(folder, "fails"))
    with gate.environment(), serving.serving(PORTOLAN, "--store", store) as server:
        for number, said in ((signal.SIGABRT, "ended by a signal: Aborted"), (signal.SIGKILL, "ended by a signal: Killed")):
            gate.close()
            ask(server, "report", "run=a/b&anew=1")
            wait(gate.is_reached, "the map")
            os.kill(gate.child(server), number)
            answer = made(server, "report")
            check(answer["state"] == "failed" and said in answer["error"] and "answer" not in answer, f"{number}: {answer}")
            check(made(server, "report") == answer, "it is not made again unasked")
            wait(lambda: not gate.children(server), "no child of a child is left")
        gate.open()
        ask(server, "report", "run=a/b&anew=1")
        check(made(server, "report")["state"] == "made", "made anew, it is there")
    path = os.path.join(folder, "data-in-use.jsonl")
    with open(path, "w") as file:
        file.write('{"id": 1, "text": "one"}\n')
    with serving.serving(PORTOLAN, "--store", store, "--data", path, "--id-field", "id", "--text", "text") as server:
        server.json("/api/view?run=a/b")
        os.unlink(path)
        answer = made(server, "report")
        check(answer["state"] == "failed" and path in answer["error"] and answer["error"].startswith("portolan report: "), f"a file that is gone: {answer}")


def test_without_sigchld(folder, store):
    """A server that was started by a program which ignores SIGCHLD."""
    program = os.path.join(folder, "ignoring")
    with open(program, "w") as file:
        file.write(f"#!/bin/bash\ntrap '' CHLD\nexec '{os.path.abspath(PORTOLAN)}' \"$@\"\n")
    os.chmod(program, 0o755)
    path = os.path.join(folder, "data-ignoring.jsonl")
    with open(path, "w") as file:
        file.write('{"id": 1, "text": "one"}\n')
    with serving.serving(program, "--store", store, "--data", path, "--id-field", "id", "--text", "text") as server:
        check(made(server, "report")["answer"]["sections"] and made(server, "suspects")["state"] == "made", "both are made")
        os.unlink(path)
        ask(server, "report", "run=a/b&anew=1")
        answer = made(server, "report")
        check(answer["state"] == "failed" and path in answer["error"], f"what fails is told: {answer}")


def test_run_goes(folder):
    gate = Gate(os.path.join(folder, "goes"))
    parent = os.path.join(folder, "going")
    os.makedirs(parent)
    store = make_store(parent, ("a/b",))
    os.makedirs(os.path.join(folder, "other"))
    other = make_store(os.path.join(folder, "other"), ("c",))
    with gate.environment(), serving.serving(PORTOLAN, "--store", store) as server:
        ask(server, "report")
        wait(gate.is_reached, "the map")
        os.rename(store, store + "-before")
        os.rename(other, store)
        answer = made(server, "report")
        said = answer.get("error", "")  # the server's, or that of the command, which may have been faster
        check(answer["state"] == "failed" and ("no longer in the store" in said or "no run 'a/b'" in said), f"a run that is gone: {answer}")
        wait(lambda: not gate.children(server), "no child is left")


def test_overwritten(folder):
    """What was said of a run is forgotten when another one takes its name: nobody sees the old report, nor waits for the new one."""
    parent = os.path.join(folder, "anew")
    os.makedirs(os.path.join(parent, "training_dynamics"))
    store = make_store(parent, ("a/b",))
    with open(os.path.join(parent, "training_dynamics", "dynamics_epoch_0.jsonl"), "w") as file:
        file.writelines(json.dumps({"guid": i, "logits_epoch_0": [i % 5, 1.5], "gold": i % 2}) + "\n" for i in range(50))
    with serving.serving(PORTOLAN, "--store", store) as server:
        before = made(server, "report")
        check(f"{N} examples" in json.dumps(before["answer"]), "of the first run")
        subprocess.run([PORTOLAN, "import", parent, "--run", "a/b", "--store", store, "--overwrite"], capture_output=True, check=True)
        status, answer = ask(server, "report")
        check(status == 202 and "answer" not in answer, f"the old report is gone at once: {status} {answer['state']}")
        after = made(server, "report")
        check(after["current"] and "50 examples" in json.dumps(after["answer"]), "of the second run")


def test_recorded():
    """A run that grows: the report is of a version; a later one makes it again, but not all the time."""
    recorder = served_runs.Recorder(MAKE_STORE, 400)
    try:
        recorder.log(0)
        with serving.serving(PORTOLAN, "--store", recorder.store) as server:
            first = made(server, "report", "run=live")
            check(first["current"] and first["state"] == "made", "of one epoch")
            recorder.log(1)
            view = wait(lambda: (now := server.json("/api/view?run=live"))["version"] != first["version"] and now, "the second epoch")
            status, old = ask(server, "report", "run=live")
            check(status == 200 and not old["current"] and old["version"] == first["version"], f"it says of which state it is: {status} {old['state']}")
            began = time.monotonic()
            wait(lambda: ask(server, "report", "run=live")[0] == 202, "it is made again by itself")
            check(time.monotonic() - began > 4 * first["took"], "after a rest")
            second = made(server, "report", "run=live")
            check(second["current"] and second["version"] == view["version"] and "of 2 epochs" in json.dumps(second["answer"]), "of two epochs")
            recorder.log(2)
            wait(lambda: server.json("/api/view?run=live")["version"] != second["version"], "the third epoch")
            check(ask(server, "report", "run=live&anew=1")[0] == 202, "asked for anew, it does not rest")
            check("of 3 epochs" in json.dumps(made(server, "report", "run=live")["answer"]), "of three epochs")
    finally:
        recorder.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(folder)
        test_equal(folder, store)
        test_one_at_a_time(folder, store)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            test_ends_with_server(folder, store, number)
        test_fails(folder, store)
        test_without_sigchld(folder, store)
        test_run_goes(folder)
        test_overwritten(folder)
        test_recorded()
    finish()


main()
