"""targets.py FOLDER SUITE...: the targets of a build folder that the tests of these suites need, one per line."""

import json
import os
import sys


def read(folder, name):
    with open(os.path.join(folder, "meson-info", name), encoding="utf-8") as file:
        return json.load(file)


def main():
    folder, suites = sys.argv[1], set(sys.argv[2:])
    files = {target["id"]: target["filename"] for target in read(folder, "intro-targets.json")}
    needed = set()
    for test in read(folder, "intro-tests.json"):
        if suites & {suite.rpartition(":")[2] for suite in test["suite"]}:
            needed.update(test["depends"])
    root = os.path.abspath(folder)
    for target in sorted(needed):
        for file in files[target]:
            print(os.path.relpath(file, root))


if __name__ == "__main__":
    main()
