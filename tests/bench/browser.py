"""The live page in headless Chromium, whose WebGL2 is drawn by software: 1,000,000 points, 10,000,000, and a run that is recorded while
three pages show it. Long. Needs what the tests of the page need: tools/test browser installs it.

A figure with an allowed size is given as its part of that size. The server's part of each time is what a program waits that asks
the same without a browser.
"""

import contextlib
import gzip
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import harness

EXAMPLES, EPOCHS = 1_000_000, 4
MANY = 10_000_000
RECORDED = 40  # epochs, while pages show the run: some seconds
LASSO = [(0.3, 0.2), (0.7, 0.25), (0.65, 0.7), (0.35, 0.75), (0.25, 0.45), (0.3, 0.2)]
FRAMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser_frames.js")


def load_test_modules(programs):
    """The tests' own server and browser."""
    os.environ.update(PORTOLAN=programs["portolan"], MAKE_STORE="")
    sys.path.insert(0, os.path.join(os.path.dirname(FRAMES), "..", "browser"))
    try:
        import chromium
        import served
    except ImportError as error:
        raise harness.Absent(f"it needs what tools/test browser installs ({error}): run that first") from error
    if not shutil.which("chromium"):
        raise harness.Absent("it needs chromium, which tools/test browser installs: run that first")

    return chromium, served


def record(store, name, examples, epochs, overwrite=False):
    """Records epochs of a run; how long that took, until all of it was acknowledged."""
    import portolan

    rng = np.random.default_rng(3)
    level, gold = rng.beta(1.2, 0.8, examples).astype("f4"), rng.integers(0, 3, examples).astype("i4")
    ids = np.arange(examples)
    made = [np.clip(level * (1 - np.exp(-(e + 1) / 2)) + rng.normal(0, 0.1, examples), 0.001, 0.999).astype("f4") for e in range(min(epochs, 6))]
    began = time.perf_counter()
    with portolan.Run(name, store=store, labels=["a", "b", "c"], examples=examples, mode="epoch-end", overwrite=overwrite) as run:
        for epoch in range(epochs):
            p = made[epoch % len(made)]
            for start in range(0, examples, 65536):
                rows = slice(start, start + 65536)
                run.log_gold(epoch, ids[rows], p[rows], p[rows] > 0.5, gold=gold[rows])
            run.end_epoch(epoch)
    return time.perf_counter() - began


def timed(ask):
    began = time.perf_counter()
    answer = ask()
    return time.perf_counter() - began, answer


def in_ms(seconds):
    median, low, high = harness.spread([1000 * s for s in seconds])
    return f"{median:.0f} ms [{low:.0f} … {high:.0f}]"


def open_page(browsers, driver, server, examples, watched=False):
    """`watched`: its frames are timed, which itself takes time."""
    page = browsers.Page(driver, "about:blank")
    if watched:
        with open(FRAMES, encoding="utf-8") as script:
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script.read()})
    driver.get(server.view(run="bench"))
    page.wait_for(run="bench", examples=examples)
    page.run("document.querySelector('#map').scrollIntoView({block: 'center'})")
    return page


def press(page, key):
    """A key, on the map. Answers when, by the page's clock."""
    return page.run("""const map = document.querySelector('#map svg'), now = performance.now();
        map.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true})); return now""", key)


MARKS = "return performance.getEntriesByName(arguments[0]).map(({startTime}) => startTime)"
ASKED = """return performance.getEntriesByType('resource').filter(({name}) => name.includes(arguments[0]))
           .map(({startTime, responseEnd, encodedBodySize}) => [startTime, responseEnd, encodedBodySize])"""


def measure_loading(report, browsers, driver, server, repeats):
    loads, whole, sizes = [], [], []
    for _ in range(repeats + 1):
        page = open_page(browsers, driver, server, EXAMPLES)
        asked = page.run(ASKED, "api/points")[0]
        uploaded = page.run(MARKS, "portolan:points-uploaded")[0]
        loads.append((uploaded - asked[0]) / 1000)
        whole.append(uploaded / 1000)
        sizes.append(asked[2] / EXAMPLES)
        page.close()
    view = json.loads(server.ask("/api/view?run=bench"))
    query = f"/api/points?run=bench&version={view['version']}&x=variability&y=confidence&colour=correctness"
    alone = [timed(lambda: server.ask(query))[0] for _ in range(repeats + 1)][1:]
    report.ratio("1,000,000: request to all points in WebGL / 1 s", loads[1:], aim="≤ 1",
                 note=f"{in_ms(loads[1:])}, from the address on {in_ms(whole[1:])}; the server alone {in_ms(alone)}")
    report.ratio("1,000,000: bytes sent per point / 6", [size / 6 for size in sizes[1:]], aim="≤ 1", note=f"{sizes[-1]:.2f} bytes")


def measure_drawing(report, page, repeats):
    """Frames in turns with the bare draw. Zooming in and out by turns has all of it drawn anew."""
    driver = page.here()
    page.wait(lambda: page.run("return bench.frames.length > 0"), "a frame")
    driver.execute_async_script("bench.prepareBare().then(arguments[0])")
    points, frames, bare = [], [], []
    for turn in range(repeats + 1):
        before = page.run("return bench.frames.length")
        press(page, "-" if turn % 2 else "+")
        page.wait(lambda: page.run("return bench.frames.length") > before, "a frame")
        points.append(page.run("return bench.points.at(-1)"))
        frames.append(page.run("return bench.frames.at(-1)"))
        bare.append(page.run("return bench.drawBare()"))
    report.ratio("1,000,000: drawing the points / a bare draw", [a / b for a, b in zip(points[1:], bare[1:])], aim="≤ 1.3",
                 note=f"the page {in_ms([p / 1000 for p in points[1:]])}, bare {in_ms([b / 1000 for b in bare[1:]])}")
    report.ratio("1,000,000: the whole frame / a bare draw", [a / b for a, b in zip(frames[1:], bare[1:])],
                 note=f"with axes, margins and all else: {in_ms([f / 1000 for f in frames[1:]])}")


def measure_lasso(report, page, server, repeats):
    times, alone = [], []
    for turn in range(repeats + 1):
        page.run("performance.clearMarks()")
        page.drag([(x + 0.01 * turn, y) for x, y in LASSO])
        page.wait(lambda: page.run(MARKS, "portolan:lasso-ended") and len(page.run(MARKS, "portolan:selected")) > 0
                  and page.run(MARKS, "portolan:selected")[-1] > page.run(MARKS, "portolan:lasso-ended")[0], "the selection")
        ended = page.run(MARKS, "portolan:lasso-ended")[0]
        times.append((next(mark for mark in page.run(MARKS, "portolan:selected") if mark > ended) - ended) / 1000)
    selection = json.dumps(page.selection())
    version = server.json("/api/view?run=bench")["version"]
    for _ in range(repeats + 1):
        alone.append([timed(lambda: server.ask(f"/api/runs/bench/select?as={form}", selection))[0] for form in (f"mask&version={version}", "ids")])
    count = len(json.loads(server.ask("/api/runs/bench/select", selection))["ids"])
    mask, ids = ([turn[i] for turn in alone[1:]] for i in (0, 1))
    report.ratio("1,000,000: end of the lasso to what is selected / 200 ms", [t / 0.2 for t in times[1:]], aim="≤ 1",
                 note=f"{in_ms(times[1:])} for {count:,} examples; the server alone {in_ms(mask)}, and their ids {in_ms(ids)}")


def measure_hover(report, page, server, repeats):
    """To examples that were not shown before."""
    times = []
    (left, width), (low, height) = page.axis("x"), page.axis("y")
    for turn in range(repeats + 1):
        measures = json.loads(server.ask(f"/api/example?run=bench&place={EXAMPLES // 20 * turn}"))["measures"]
        page.run("performance.clearMarks()")
        page.point_at((measures["variability"] - left) / width, 1 - (measures["confidence"] - low) / height)
        page.wait(lambda: page.run(MARKS, "portolan:text-shown"), "an example's text")
        shown = page.run(MARKS, "portolan:text-shown")[0]
        times.append((shown - max(mark for mark in page.run(MARKS, "portolan:pointer-moved") if mark < shown)) / 1000)
    alone = [timed(lambda i=i: server.ask(f"/api/example?run=bench&place={1000 * i}"))[0] for i in range(repeats + 1)][1:]
    report.ratio("1,000,000: pointer to text / 50 ms", [t / 0.05 for t in times[1:]], aim="≤ 1",
                 note=f"{in_ms(times[1:])}; the server alone {statistics.median(alone) * 1000:.1f} ms")


def measure_size(report, page, server):
    """The files that the page loads, as they are sent."""
    names = page.run("return performance.getEntriesByType('resource').map(({name}) => name).filter((name) => name.includes('/page/'))")
    paths = ["/", *sorted({"/" + name.split("/", 3)[3] for name in names}), "/page/icon.svg"]
    total = 0
    for path in dict.fromkeys(paths):
        connection = http.client.HTTPConnection("127.0.0.1", server.url.port)
        connection.request("GET", path, headers={"Authorization": "Bearer " + server.token, "Accept-Encoding": "gzip"})
        content = connection.getresponse().read()
        gzip.decompress(content)
        total += len(content)
        connection.close()
    report.ratio("the page without data, compressed / 300 KB", [total / 300_000], aim="≤ 1", note=f"{total / 1000:.0f} KB, {len(set(paths))} files")


def anonymous_mb(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024


def processor_seconds(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def run_million(report, programs, folder, repeats):
    browsers, served = load_test_modules(programs)
    store, data = os.path.join(folder, "million"), os.path.join(folder, "data.jsonl")
    record(store, "bench", EXAMPLES, EPOCHS)
    with open(data, "w", encoding="utf-8") as file:
        file.writelines(f'{{"id": {i}, "text": "the text of example number {i}, as long as a sentence is"}}\n' for i in range(EXAMPLES))
    with served.serving(store, "--data", data, "--id-field", "id", "--text", "text", "bench") as server, browsers.browser(*browsers.WEBGL) as driver:
        driver.set_script_timeout(120)
        measure_loading(report, browsers, driver, server, repeats)
        page = open_page(browsers, driver, server, EXAMPLES)
        measure_size(report, page, server)
        measure_hover(report, page, server, repeats)
        measure_lasso(report, page, server, repeats)
        page.close()
        page = open_page(browsers, driver, server, EXAMPLES, watched=True)
        measure_drawing(report, page, repeats)
        assert not page.errors()


def run_many(report, programs, folder, repeats):
    """10,000,000: the server's memory, and a picture of what is in view."""
    browsers, served = load_test_modules(programs)
    store = os.path.join(folder, "many")
    record(store, "bench", MANY, 2)
    boxes = [(0.02 * i, 0.3 + 0.02 * i, 0.1, 0.9) for i in range(repeats + 1)]
    with served.serving(store, "bench") as server:
        first, view = timed(lambda: json.loads(server.ask("/api/view?run=bench")))
        loaded = anonymous_mb(server.process.pid)
        query = f"run=bench&version={view['version']}&x=variability&y=confidence&colour=correctness&box="
        pictures = []
        for box in boxes:
            where = query + ",".join(map(str, box))
            pictures.append(timed(lambda: (server.ask(f"/api/bins?{where}&columns=256&rows=256"), server.ask(f"/api/inside?{where}&most=100000")))[0])
        report.ratio("10,000,000: a picture by the server / 1 s", pictures[1:], aim="≤ 1",
                     note=f"counts and a sample: {in_ms(pictures[1:])}; the first view took {first:.1f} s")
        with browsers.browser(*browsers.WEBGL) as driver:
            page = open_page(browsers, driver, server, MANY)
            moves = []
            for _ in range(repeats + 1):
                page.wait_for(run="bench")
                page.run("performance.clearMarks()")
                began = press(page, "+")
                page.wait(lambda: page.run(MARKS, "portolan:points-uploaded"), "another picture")
                moves.append((page.run(MARKS, "portolan:points-uploaded")[-1] - began) / 1000)
            report.ratio("10,000,000: zooming in, until its points are in WebGL / 1 s", moves[1:], aim="≤ 1",
                         note=f"{in_ms(moves[1:])}; the page says: {page.run('return document.getElementById(`map-drawn`).textContent')}")
        most = anonymous_mb(server.process.pid)
        report.ratio("10,000,000: the server's anonymous memory / 300 MB", [most / 300], aim="≤ 1",
                     note=f"{most:.0f} MB, {loaded:.0f} MB after the first view; of a run of 2 epochs")


@contextlib.contextmanager
def replayed(server, pages):
    """What so many pages ask, without the pages."""
    program = os.path.join(os.path.dirname(FRAMES), "browser_replay.py")
    with subprocess.Popen([sys.executable, program, str(server.url.port), server.token, "bench", str(pages)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
        assert asking.stdout.readline() == b"ready\n"
        yield
        asking.stdin.close()


@contextlib.contextmanager
def shown(browsers, server, pages):
    """Each page in a browser of its own."""
    with contextlib.ExitStack() as opened:
        for _ in range(pages):
            driver = opened.enter_context(browsers.browser(*browsers.WEBGL))
            browsers.Page(driver, server.view(run="bench")).wait_for(run="bench", points=EXAMPLES)
        yield


def run_recording(report, programs, folder, repeats):
    """Recording with and without three pages open, each in a browser of its own, which draws by software what others draw by a
    GPU: on a machine of few cores the ratio says how much that costs. So what the server itself takes is told apart: its share of a
    core, and the ratio where the pages' requests come from a program that draws nothing."""
    browsers, served = load_test_modules(programs)
    store = os.path.join(folder, "recorded")
    record(store, "bench", EXAMPLES, 1)
    without, with_requests, with_pages, shares = [], [], [], []
    with served.serving(store, "bench") as server:
        for _ in range(repeats + 1):
            without.append(record(store, "bench", EXAMPLES, RECORDED, overwrite=True))
            with replayed(server, 3):
                with_requests.append(record(store, "bench", EXAMPLES, RECORDED, overwrite=True))
            with shown(browsers, server, 3):
                before = processor_seconds(server.process.pid)
                with_pages.append(record(store, "bench", EXAMPLES, RECORDED, overwrite=True))
                shares.append((processor_seconds(server.process.pid) - before) / with_pages[-1])
    report.ratio(f"recording 1,000,000 × {RECORDED} without / with three pages' requests", [a / b for a, b in zip(without[1:], with_requests[1:])], aim="≥ 0.95",
                 note=f"{in_ms(without[1:])} and {in_ms(with_requests[1:])}; the requests of pages, nothing drawn")
    report.ratio(f"recording 1,000,000 × {RECORDED} without / with three pages open", [a / b for a, b in zip(without[1:], with_pages[1:])], aim="≥ 0.95",
                 note=f"{in_ms(without[1:])} and {in_ms(with_pages[1:])}; the server takes {statistics.median(shares[1:]):.2f} of one core meanwhile")


def run(report, programs, repeats):
    folder = tempfile.mkdtemp(prefix="bench-", dir=os.path.dirname(os.path.dirname(programs["portoland"])))
    try:
        for part in (run_million, run_many, run_recording):
            part(report, programs, folder, repeats)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
