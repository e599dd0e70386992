"""Adds up what the runners wrote in the build folders, and prints the line 'N passed, N failed, N skipped'.

Meson writes one JUnit file per build folder; a TAP test counts each of its cases. A pytest module is one test to meson, so it
leaves a JUnit file of its own (meson-logs/pytest-NAME.xml), whose cases are counted in its place.
"""

import pathlib
import sys
import xml.etree.ElementTree as ET


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def cases(folder):
    """Yields (name, outcome) of every case that ran in a build folder."""
    logs = pathlib.Path(folder, "meson-logs")
    by_pytest = {}
    for path in logs.glob("pytest-*.xml"):
        by_pytest[path.stem.removeprefix("pytest-")] = [
            (f"{case.get('classname')}.{case.get('name')}", outcome(case)) for case in ET.parse(path).iter("testcase")]
    for case in ET.parse(logs / "testlog.junit.xml").iter("testcase"):
        inner = by_pytest.get(case.get("name").rpartition(" / ")[2], [])
        if outcome(case) == "failed" and not any(result == "failed" for _, result in inner):
            inner = []  # the runner itself failed, before or after its cases
        yield from inner or [(case.get("name"), outcome(case))]


def main():
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for folder in sys.argv[1:]:
        try:
            for name, result in cases(folder):
                count[result] += 1
                if result == "failed":
                    print(f"FAILED {folder}: {name}")
        except (OSError, ET.ParseError) as error:
            print(f"FAILED {folder}: no record of its tests ({error})")
            count["failed"] += 1
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
