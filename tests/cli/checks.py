"""Checks that are counted: a test program goes on after one that failed, and ends with how many there were."""

import sys

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def finish():
    """Ends the program: status 1 where a check failed."""
    sys.exit(f"{len(failures)} checks failed" if failures else 0)
