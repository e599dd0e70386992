"""What happens when a command is interrupted, its disk is full, gnuplot is missing, or a title is meant to do harm.

Each function takes the program, runs in the folder of run_cli.py's store, and answers with a list of problems.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np


def environment(**more):
    return dict(os.environ, PORTOLAN_STORE="store", LC_ALL="C.UTF-8", **more)


def run(portolan, *words, **options):
    options.setdefault("env", environment())
    return subprocess.run([portolan, *words], capture_output=True, text=True, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def closed_pipe(portolan):
    """A closed pipe ends the program as it ends any filter, wherever it is met."""
    problems = []
    for words in (["metrics", "bell"], ["--help"], ["select", "bell", "--by", "random"], ["check", "bell"], ["runs"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([portolan] + words, stdout=write_end, stderr=subprocess.PIPE, env=environment())
        os.close(write_end)
        if done.returncode != -signal.SIGPIPE or done.stderr:
            problems.append(f"closed pipe: {words}: status {done.returncode}, {done.stderr!r}")
    return problems


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"  # which waits for the first process here to take note
    except (FileNotFoundError, ProcessLookupError):
        return False


def interrupted_map(portolan):
    """A signal while gnuplot draws, to the whole group (Ctrl-C) or to portolan alone: no unfinished picture is left, nor gnuplot, and
    the program ends by its signal."""
    os.mkdir("slow")
    with open("slow/gnuplot", "w") as file:  # draws half a picture, and takes its time
        file.write('#!/bin/sh\necho half; echo $$ > slow/pid; mv slow/pid slow/drawing; exec sleep 60\n')
    os.chmod("slow/gnuplot", 0o755)
    path = os.path.abspath("slow") + ":" + os.environ["PATH"]
    problems = []
    for send, number, words in ((os.killpg, signal.SIGINT, ["map", "bell"]), (os.kill, signal.SIGINT, ["map", "bell"]), (os.kill, signal.SIGTERM, ["map", "bell"]),
                                (os.kill, signal.SIGKILL, ["map", "bell"]), (os.kill, signal.SIGINT, ["groups", "bell", "--forgetting", "--plot"])):
        output = ["slow/half.png"] if words[-1] == "--plot" else ["-o", "slow/half.png"]
        child = subprocess.Popen([portolan, *words, *output, "--script"], start_new_session=True, env=environment(PATH=path),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists("slow/drawing"))
        drawing = int(read("slow/drawing"))
        send(child.pid, number)
        child.wait(timeout=30)
        left = set(os.listdir("slow")) - {"gnuplot", "drawing"}
        ended = wait_until(lambda: not is_running(drawing))
        if child.returncode != -number or left or not ended:
            problems.append(f"interrupted map: {words}, {number}: {child.returncode}, {left}, {'gnuplot goes on' * (not ended)}")
            subprocess.run(["kill", "-9", str(drawing)], stderr=subprocess.DEVNULL)
        os.unlink("slow/drawing")
    return problems


def interrupted_output(portolan):
    """Ctrl-C while a file is being written: it has no name yet, so there is nothing that could be left."""
    os.mkdir("writing")
    child = subprocess.Popen([portolan, "metrics", "bell", "-o", "writing/out.csv"], env=environment(),
                             preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.002), stderr=subprocess.PIPE)
    child.communicate(timeout=30)
    names = os.listdir("writing")
    whole = child.returncode == 0 and names == ["out.csv"]
    return [] if whole or (child.returncode == -signal.SIGALRM and names in ([], ["out.csv"])) else \
        [f"interrupted output: {child.returncode}, {names}"]


def failed_map(portolan):
    """A map that fails while gnuplot gets ready leaves no process to the one that collects orphans, here the caller."""
    orphans = """if True:
        import ctypes, os, subprocess, sys, time
        assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
        for words in (["none"], ["small", "--x", "none"], ["small", "--data", "missing.csv", "--colour", "c"]):
            done = subprocess.run([sys.argv[1], "map", *words, "-o", "failed.png"], capture_output=True)
            assert done.returncode in (1, 2), done
            try:
                print(words, os.waitpid(-1, 0))
            except ChildProcessError:
                pass
    """
    done = subprocess.run([sys.executable, "-c", orphans, portolan], capture_output=True, text=True, env=environment())
    return [f"failed map: {done}"] if done.returncode != 0 or done.stdout or done.stderr or os.path.exists("failed.png") else []


def full_disk_map(portolan):
    """Neither a picture nor its parts pass for whole when there is no room; an old picture stays."""
    with open("full.png", "w") as file:
        file.write("old")
    problems = []
    for kilobytes in (1, 20):  # too little for the data; for the picture
        done = limited(kilobytes, portolan, "map", "long", "-o", "full.png", "--script")
        left = [name for name in os.listdir(".") if name.startswith("full.") and name != "full.png"]
        if done.returncode != 1 or not done.stderr.startswith("portolan: ") or read("full.png") != b"old" or left:
            problems.append(f"full disk at {kilobytes} KB: {done} {left}")
    return problems


def limited(kilobytes, *words):
    """With a limit on the size of files. The signal that comes with it would end the program without a word."""
    return subprocess.run(["bash", "-c", f"ulimit -f {kilobytes}; exec \"$0\" \"$@\"", *words], capture_output=True, text=True, env=environment())


def full_disk_files(portolan):
    """Every command that writes files says which one it could not write, and leaves none behind."""
    os.mkdir("limited")
    problems = []
    for line in ("metrics long -o limited/m.csv", "dynamics long -o limited/d.npy", "select long --by ambiguous --fraction 1 -o limited/ids",
                 "map long -o limited/m.html"):
        done = limited(1, portolan, *line.split())
        if done.returncode != 1 or "File too large" not in done.stderr or os.listdir("limited"):
            problems.append(f"file size limit: {line}: {done} {os.listdir('limited')}")
    return problems


def closed_streams(portolan):
    """Descriptors that the caller has closed become no files of the program: nothing hangs, and a lost result is no success."""
    problems = []
    os.mkdir("closed")
    for line, redirections, status in (
            ("map small -o closed/x.png", "2>&-", 0), ("map small -o closed/x.svg", "<&- >&- 2>&-", 0), ("groups small --forgetting --plot closed/x.pdf -o closed/g.csv", "<&- 2>&-", 0),
            ("metrics small -o closed/m.csv", "<&- >&- 2>&-", 0), ("metrics small", ">&-", 1), ("runs", ">&-", 1), ("check small", ">&- 2>&-", 1), ("help", ">&-", 1),
            ("select small --by ambiguous --only -", "<&-", 1), ("metrics small -o /dev/stdout", ">&-", 1), ("select small --by ambiguous --only /dev/stdin", "<&-", 1)):
        try:
            done = subprocess.run(["bash", "-c", f"exec timeout 20 \"$0\" {line} {redirections}", portolan], capture_output=True, text=True, env=environment())
        except UnicodeDecodeError as error:
            done = error
        said = "2>&-" in redirections or status == 0 or any(why in getattr(done, "stderr", "") for why in ("Bad file descriptor", "Is a directory"))
        if getattr(done, "returncode", None) != status or not said:
            problems.append(f"closed streams: {line} {redirections}: {done}")
    whole = {"x.png": b"IEND", "x.svg": b"</svg>", "x.pdf": b"%%EOF", "m.csv": b"\n", "g.csv": b"\n"}
    for name, end in whole.items():
        if not os.path.exists("closed/" + name) or end not in read("closed/" + name)[-20:]:
            problems.append(f"closed streams: closed/{name} is not whole")
    return problems


def missing_gnuplot(portolan):
    """Not on PATH; and on PATH, but as under qemu, where the process that should become gnuplot ends with status 127."""
    problems = []
    os.mkdir("empty")
    os.mkdir("emulated")
    with open("emulated/gnuplot", "w") as file:
        file.write("#!/bin/sh\nexit 127\n")
    os.chmod("emulated/gnuplot", 0o755)
    for path in ("empty", "emulated"):
        done = run(portolan, "map", "small", "-o", "empty/none.png", "--script", env=environment(PATH=os.path.abspath(path)))
        if (done.returncode != 1 or os.listdir("empty")
                or "gnuplot not found: apt-get install gnuplot-nox, or conda install -c conda-forge gnuplot\n" not in done.stderr):
            problems.append(f"no gnuplot, {path}: {done}, {os.listdir('empty')}")
    return problems


def linked_picture(portolan):
    """A symbolic link stays, and what it points to is replaced."""
    with open("real.png", "w") as file:
        file.write("old")
    os.symlink("real.png", "link.png")
    done = run(portolan, "map", "small", "-o", "link.png")
    return [] if done.returncode == 0 and os.path.islink("link.png") and len(read("real.png")) > 1000 else [f"link: {done}"]


def foreign_files(portolan):
    """Without --script there is the picture and nothing else, and files that are named like its parts are not touched."""
    os.mkdir("foreign")
    for ending in ("gp", "map-data", "chart-data", "bin"):
        with open(f"foreign/train.{ending}", "w") as file:
            file.write("precious")
    problems = []
    for words in (["map", "small", "-o"], ["groups", "small", "--forgetting", "--plot"], ["map", "small", "--frames"]):
        done = run(portolan, *words, "foreign/frames" if "--frames" in words else "foreign/train.png")
        if done.returncode != 0 or any(read(f"foreign/train.{e}") != b"precious" for e in ("gp", "map-data", "chart-data", "bin")):
            problems.append(f"foreign data: {words}: {done}")
    left = set(os.listdir("foreign")) | set(os.listdir("foreign/frames"))
    wanted = {"frames", "train.png", "train.gp", "train.map-data", "train.chart-data", "train.bin"}
    wanted |= {f"epoch-00{e}.png" for e in range(3)}
    return problems + ([] if left == wanted else [f"foreign data: left {left}"])


def planted_link(portolan):
    """Whatever name a temporary file may have: a link that somebody put there is not followed."""
    def plant():
        for ending in ("", ".png"):
            os.symlink("../precious.map-data", f"planted/p.{os.getpid()}{ending}")
            os.symlink("../precious.map-data", f"planted/p.png.{os.getpid()}-0{ending}")
    os.mkdir("planted")
    done = run(portolan, "map", "small", "-o", "planted/p.png", "--script", preexec_fn=plant)
    ok = done.returncode == 0 and read("precious.map-data") == b"precious" and read("planted/p.png")[:4] == b"\x89PNG"
    return [] if ok else [f"planted link: {done}"]


def kept_modes(portolan):
    """What only its owner may read stays so when it is replaced."""
    problems = []
    for path, words in (("private.csv", ["metrics", "small", "-o"]), ("private.png", ["map", "small", "-o"]),
                        ("private.svg", ["groups", "small", "--forgetting", "--plot"])):
        open(path, "w").close()
        os.chmod(path, 0o600)
        done = run(portolan, *words, path)
        if done.returncode != 0 or os.stat(path).st_mode & 0o777 != 0o600 or not os.path.getsize(path):
            problems.append(f"mode of {path}: {os.stat(path).st_mode:o} {done}")
    return problems


def rare_characters(portolan):
    """The fonts are asked about once for a picture, whatever the characters; what fc-list complains about is its own affair."""
    os.mkdir("fonts")
    with open("fonts/fc-list", "w") as file:
        file.write("#!/bin/sh\necho called >> fonts/calls; echo complaint >&2; echo '20-7e 4e00-4e05'\n")
    os.chmod("fonts/fc-list", 0o755)
    path = os.path.abspath("fonts") + ":" + os.environ["PATH"]
    title = "".join(chr(0x4E00 + i) for i in range(30))
    done = run(portolan, "map", "small", "-o", "fonts/rare.svg", "--script", "--title", title, env=environment(PATH=path))
    shown = read("fonts/rare.gp").decode().split("map_title = '")[1].split("'")[0] if done.returncode == 0 else ""
    ok = read("fonts/calls") == b"called\n" and shown == title[:6] + "\ufffd" * 24 and "complaint" not in done.stderr
    ok = ok and done.stderr.count("no font") == 1 and "fonts/rare.svg: no font here has '丆' (U+4E06)" in done.stderr
    moving = run(portolan, "map", "small", "-o", "fonts/rare.gif", "--title", title, env=environment(PATH=path))
    ok = ok and moving.returncode == 0 and "fonts/rare.gif: a gif cannot show '一' (U+4E00)" in moving.stderr
    os.unlink("fonts/fc-list")
    os.symlink(shutil.which("gnuplot"), "fonts/gnuplot")
    alone = run(portolan, "map", "small", "-o", "fonts/rare.svg", "--title", title, env=environment(PATH=os.path.abspath("fonts")))
    ok = ok and alone.returncode == 0 and alone.stderr == done.stderr.replace("丆' (U+4E06)", "一' (U+4E00)")
    return [] if ok else [f"rare characters: {done} {read('fonts/calls')} {shown} {alone}"]


def odd_path(portolan):
    """JSON is UTF-8, and a path need not be: it is in the report nevertheless."""
    done = run(portolan, "map", "small", "--json", "-o", b"caf\xe9.png", "--script")
    ok = done.returncode == 0 and json.loads(done.stdout)["files"] == ["café.png", "caf_.gp", "caf_.map-data"]
    return [] if ok else [f"path that is not UTF-8: {done}"]


def titles(portolan):
    """Whatever a title holds, gnuplot takes it, and nothing of it is executed."""
    problems = []
    for title in ("'", "''", "'''90s' `touch hit`", "a''b", "'a'", "\\", "\\'", '"$(touch hit)"', '"', "{/=50 x}", "@a", "%d",
                  "a\n!touch hit", "🙂 \U00010348"):
        done = run(portolan, "map", "small", "--compact", "-o", "title.svg", "--title", title)
        if done.returncode != 0 or os.path.exists("hit"):
            problems.append(f"title {title!r}: {done}")
    return problems


def latin_names(portolan):
    """Paths that are not UTF-8: what is written about them is JSON all the same, and names them."""
    os.mkdir(b"caf\xe9")
    with open("pairs.csv", "rb") as file, open(b"caf\xe9/p.csv", "wb") as copy:
        copy.write(file.read())
    with open(b"x\xe9.npy", "wb") as file:
        np.save(file, np.arange(80.0).reshape(40, 2) % 7)
    with open(b"\xe9.txt", "wb") as file:
        file.write(20 * b"\xe9\n\xe8\n")
    with open(b"\xe9.csv", "wb") as file:
        file.write(b"id,t\xe9,l\xe9\n" + 2 * b"0,a b,1\n1,a,0\n2,a c,1\n")
    with open("colours.csv", "wb") as file:
        file.write(b"id,\xe9\n0,1.5\n1,2.5\n")
    problems = []
    calls = [([b"select", b"small", b"--by", b"random", b"-o", b"caf\xe9/\xe9.txt"], b"caf\xe9/\xe9.txt.manifest.json",
              lambda report: report["output"]["file"], "\u00e9.txt"),
             ([b"groups", b"small", b"--attributes", b"caf\xe9/p.csv", b"--id-field", b"id", b"--json", b"-o", b"groups.json"],
              b"groups.json", lambda report: report["attributes"]["file"], "caf\u00e9/p.csv"),
             ([b"aflite", b"--features", b"x\xe9.npy", b"--labels", b"\xe9.txt", b"--partitions", b"2", b"--train-size", b"20", b"-o", b"kept"],
              b"kept.manifest.json", lambda report: (report["parameters"]["features"], [c["label"] for c in report["classes"]]),
              ("x\u00e9.npy", ["\u00e8", "\u00e9"])),
             ([b"upsample", b"\xe9.csv", b"--text", b"t\xe9", b"--label", b"l\xe9", b"--min-count", b"1", b"-o", b"more.csv"],
              b"more.csv.manifest.json", lambda report: (report["request"]["data"], report["request"]["text"], report["request"]["label"]),
              ("\u00e9.csv", ["t\u00e9"], "l\u00e9")),
             ([b"map", b"small", b"--colour-file", b"colours.csv", b"--id-field", b"id", b"--colour", b"\xe9", b"--json", b"-o", b"e.svg"],
              None, lambda report: report["colour"]["measure"], "\u00e9")]
    for words, path, name_in, want in calls:
        done = subprocess.run([portolan.encode(), *words], capture_output=True, env=environment())
        got = name_in(json.loads(read(path) if path else done.stdout)) if done.returncode == 0 else done.stderr
        if got != want:
            problems.append(f"text that is not UTF-8: {words}: {got!r}")
    return problems


ALL = (closed_pipe, interrupted_map, interrupted_output, failed_map, full_disk_map, full_disk_files, closed_streams, missing_gnuplot, linked_picture, foreign_files, planted_link,
       kept_modes, rare_characters, odd_path, latin_names, titles)
