"""What pages that show a growing run ask of their server, without a browser: the same requests at the same pace. For browser.py.

    browser_replay.py PORT TOKEN RUN PAGES

One line on stdout when every page has its first picture; it ends when standard input does.
"""

import http.client
import json
import sys
import threading
import time
import urllib.parse

LOOK_S, RUNS_S, REST = 1.0, 5.0, 4  # loader.js, progress.js, runs.js
FILTERS = ({"confidence": {"min": 0}}, {"variability": {"min": 0.1}}, {"confidence": {"min": 0.5}}, {"variability": {"min": 0.1}, "confidence": {"min": 0.5}})


class Page(threading.Thread):
    def __init__(self, port, token, run, ready):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token, self.run_name, self.ready = token, run, ready

    def ask(self, path, body=None, **query):
        request = ("GET" if body is None else "POST", f"/api/{path}?{urllib.parse.urlencode(query)}", body, {"Authorization": f"Bearer {self.token}"})
        try:
            self.connection.request(*request)
            answer = self.connection.getresponse()
        except (ConnectionError, http.client.HTTPException):  # idle for long, the server has closed it: as a browser, again
            self.connection.close()
            self.connection.request(*request)
            answer = self.connection.getresponse()
        return answer.status, answer.read()

    def look(self, known):
        """The view, if it is another one than `known`, and what the page asks for then; its version."""
        status, content = self.ask("view", run=self.run_name, epochs="", **({"known": known} if known else {}))
        if status != http.client.OK:
            return known
        at = {"epochs": "", "version": json.loads(content)["version"]}
        axes = {"x": "variability", "y": "confidence", "colour": "correctness"}
        self.ask("points", run=self.run_name, **at, **axes)
        self.ask("legend", run=self.run_name, **at, colour="correctness")
        for filters in FILTERS:  # the regions' counts
            body = json.dumps({"run": self.run_name, "epochs": "", "filters": filters})
            self.ask(f"runs/{urllib.parse.quote(self.run_name, safe='')}/select", body, **{"as": "rows", "most": 1}, **at)
        return at["version"]

    def run(self):
        known, runs_at = None, 0.0
        while True:
            began = time.monotonic()
            before, known = known, self.look(known)
            took = time.monotonic() - began if known != before else 0.0
            self.ask("progress", run=self.run_name)
            if began >= runs_at:
                self.ask("runs")
                runs_at = began + RUNS_S
            if known and not before:
                self.ready.release()
            time.sleep(max(LOOK_S, REST * took))


def main():
    port, token, run, pages = sys.argv[1:5]
    ready = threading.Semaphore(0)
    threads = [Page(int(port), token, run, ready) for _ in range(int(pages))]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
