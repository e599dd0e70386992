"""portolan serve asked by eight threads at once, of a run that is being recorded meanwhile. Under the thread sanitizer it is a test for races.

    run_serve_load.py PORTOLAN MAKE_STORE
"""

import json
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving
from checks import check, finish
from served_runs import Recorder

THREADS, EPOCHS, N = 8, 4, 2000
SQUARE = {"x": "variability", "y": "confidence", "polygon": [[-1, 0.3], [1, 0.3], [1, 2], [-1, 2]]}
OF_FILE = {"filters": {"data:kind": {"in": ["k1", "k2"]}, "data:size": {"max": 5}, "text": {"contains": ["text", "1"]}}}


class Asker(threading.Thread):
    """Asks for all that a page asks for, round after round, until it is told to stop; what is wrong ends it."""

    def __init__(self, server, number):
        super().__init__()
        self.server, self.number = server, number
        self.epochs = 0
        self.wrong = None
        self.stopped = False

    def run(self):
        try:
            while not self.stopped:
                self.ask_all()
        except Exception as wrong:  # it is told by the main thread
            self.wrong = wrong

    def ask(self, path, body=None):
        """None: the version that was asked for is gone."""
        answer, content = self.server.request(path, body and json.dumps(body))
        assert answer.status in (200, 409), f"{path}: {answer.status} {content[:200]}"
        return content if answer.status == 200 else None

    def ask_all(self):
        view = json.loads(self.ask("/api/view?run=live"))
        assert len(view["epochs"]) >= self.epochs and view["points"] <= N, f"{view['epochs']} after {self.epochs} epochs"
        self.epochs = len(view["epochs"])
        at, n = f"run=live&version={view['version']}", view["points"]
        colour = ("gold", "data:kind", "data:size", "confidence")[self.number % 4]
        for path, size in ((f"points?{at}&x=variability&y=confidence&colour={colour}", 5 * n), (f"match?{at}&other=live", 4 * n),
                           (f"bins?{at}&x=variability&y=confidence&box=0,1,0,1&columns=8&rows=8", 256)):
            content = self.ask("/api/" + path)
            assert content is None or len(content) == size, f"{path}: {len(content)} bytes of {n} points"
        for path in (f"legend?{at}&colour={colour}", f"example?{at}&place={self.number}", "progress?run=live", "runs",
                     f"view?run=live&epochs=0:{self.number % 3 + 1}", f"inside?{at}&x=variability&y=confidence&colour={colour}&box=0,1,0,1"):
            self.ask("/api/" + path)
        for form in ("ids", f"mask&version={view['version']}", "rows&sort=confidence&q=1", "csv", "lines", "manifest", "words", "groups&column=data:kind",
                     "keep"):
            self.ask("/api/runs/live/select?as=" + form, SQUARE)
        for form in ("ids", "selection", "rows&sort=id"):
            self.ask("/api/runs/live/select?as=" + form, {**SQUARE, **OF_FILE})
        kept = json.loads(self.ask("/api/selection?run=live"))
        assert kept["serial"] > 0 and kept["selection"] == SQUARE, f"{kept}"
        assert b"portolan_run_examples" in self.ask("/metrics")


def wait_until_seen(askers, epochs):
    """Until each was shown so many epochs, or has failed."""
    for asker in askers:
        while asker.epochs < epochs and asker.is_alive():
            asker.join(0.02)


def main():
    portolan, make_store = sys.argv[1:3]
    recorder = Recorder(make_store, N)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.jsonl")
        with open(data, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": i, "text": f"text {i}", "kind": f"k{i % 3}", "size": i % 7}) + "\n" for i in range(N))
        recorder.log(0)
        with serving.serving(portolan, "--store", recorder.store, "--data", data, "--id-field", "id", "--text", "text", "live") as server:
            askers = [Asker(server, number) for number in range(THREADS)]
            for asker in askers:
                asker.start()
            for epoch in range(1, EPOCHS):
                recorder.log(epoch)
                wait_until_seen(askers, epoch + 1)
            for asker in askers:
                asker.stopped = True
                asker.join()
                check(asker.wrong is None, f"thread {asker.number}: {asker.wrong!r}")
                check(asker.epochs == EPOCHS, f"thread {asker.number} was shown {asker.epochs} epochs")
        recorder.end()
    finish()


main()
