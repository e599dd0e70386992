"""choose.py FOLDER SUITE...: the tests of a build folder that are to be run for its processor under qemu, one a line: those of these suites that run a program which was compiled for it.
choose.py --left-out FOLDER SUITE...: the others, with the reasons.

The suite `oracles` is the tests that oracles.txt names: commands beside independent computations, of the suite cli. left-out.txt has suites and tests that are not run, and why.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = "nothing in it is compiled for the processor"


def lines(name):
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line]


def chosen(folder, suites):
    """Yields (name, None or why it is not run) of each test of these suites, and (suite, why) of each suite that is left out."""
    reasons, oracles = dict(line.split(": ", 1) for line in lines("left-out.txt")), set(lines("oracles.txt"))
    for test in json.loads(Path(folder, "meson-info/intro-tests.json").read_text(encoding="utf-8")):
        suite = test["suite"][0].rpartition(":")[2]
        if suite in suites or ("oracles" in suites and test["name"] in oracles):
            yield test["name"], reasons.get(test["name"], None if test["depends"] else SOURCES)
    whole = {name: reasons[name] for name in ("crash", "browser", "integration", "cli") if name in reasons}
    yield from ((name, why) for name, why in whole.items() if name not in suites)


def main(arguments):
    left_out = arguments[0] == "--left-out"
    folder, *suites = arguments[left_out:]
    by_reason = {}
    for name, why in chosen(folder, suites):
        by_reason.setdefault(why, []).append(name)
    if left_out:
        print("\n".join(f"   {', '.join(names)}: {why}" for why, names in by_reason.items() if why))
    else:
        print("\n".join(by_reason.get(None, [])))


if __name__ == "__main__":
    main(sys.argv[1:])
