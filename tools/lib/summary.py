"""Adds up what the runners wrote in the build folders, and prints the line 'N passed, N failed, N skipped'.

Meson writes two records of a run: testlog.json (one line per test, with its verdict) and testlog.junit.xml (with the
cases of a TAP test). A pytest module is one test to meson, and leaves a JUnit file of its own (meson-logs/pytest-NAME.xml). Cases are counted
where there are any; a test that failed though none of its cases did (it crashed, or a sanitizer spoke) counts as one failure more.
"""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ET

BAD = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}


def short(name):
    """'portolan:unit / ring' is the test 'ring'."""
    return name.rpartition(" / ")[2]


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def cases_of(path):
    return [(case.get("name"), outcome(case)) for case in ET.parse(path).iter("testcase")]


def cases(folder):
    """Yields (name, outcome) of every case that ran in a build folder."""
    logs = pathlib.Path(folder, "meson-logs")
    inner = {path.stem.removeprefix("pytest-"): cases_of(path) for path in logs.glob("pytest-*.xml")}
    for suite in ET.parse(logs / "testlog.junit.xml").iter("testsuite"):
        if " / " in suite.get("name"):  # a TAP test
            inner[short(suite.get("name"))] = [(case.get("name"), outcome(case)) for case in suite.iter("testcase")]
    with open(logs / "testlog.json", encoding="utf-8") as lines:
        for test in map(json.loads, lines):
            name = short(test["name"])
            found = inner.get(name, [])
            if test["result"] in BAD and not any(result == "failed" for _, result in found):
                found = found + [("(as a whole)", "failed")]
            if not found:
                found = [("", "skipped" if test["result"] == "SKIP" else "passed")]
            for case, result in found:
                yield f"{name} {case}".strip(), result


def costs(folder):
    """'unit 97 tests in 62 s' for each suite, the longest first: the time of its tests, several of which run at once."""
    seconds, tests = collections.Counter(), collections.Counter()
    with open(pathlib.Path(folder, "meson-logs/testlog.json"), encoding="utf-8") as lines:
        for test in map(json.loads, lines):
            suite = test["name"].rpartition(" / ")[0].rpartition(":")[2].partition("+")[0]
            seconds[suite] += test["duration"]
            tests[suite] += 1
    return ", ".join(f"{suite} {tests[suite]} tests in {time:.0f} s" for suite, time in seconds.most_common())


def main():
    count = collections.Counter()
    for folder in sys.argv[1:]:
        try:
            print(f"{folder}: {costs(folder)}")
            for name, result in cases(folder):
                count[result] += 1
                if result == "failed":
                    print(f"FAILED {folder}: {name}")
        except (OSError, ValueError, ET.ParseError) as error:
            print(f"FAILED {folder}: no record of its tests ({error})")
            count["failed"] += 1
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
