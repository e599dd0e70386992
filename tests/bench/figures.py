"""Runs benchmarks one after the other, and keeps what they found in a file: a benchmark that fails or is interrupted loses no other's figures.

The file is one JSON object:

    machine      what machine.describe() says
    commit       of the sources of the build; `dirty`: they differ from it
    date         when it began, UTC
    load         the system's load averages of 1, 5 and 15 minutes at that time
    busy         the share of all processor time that other work took at that time
    benchmarks   [{name, state, reason, remark, seconds, busy}]; state: done; absent (it needs what is not here), busy (the machine was), failed,
                 interrupted, or not run (after that); the reason says more. With commit, date and dirty where these are not the file's
    figures      [{benchmark, name, ratio, quartiles, repeats, better, aim, note}]: `ratio` is the median of the repeats, `better` is less or
                 more, `aim` is null or {direction, bound}, the direction ≤ or ≥
"""

import datetime
import importlib
import json
import os
import signal
import time
import traceback

import harness
import machine

BENCHMARKS = ("aflite", "artifacts", "ingest", "log_call", "log_under_trouble", "map", "measures", "metrics", "report")
LONG = ("aflite_imagenet", "aflite_snli", "browser", "classes", "clients", "export", "hooks", "memory", "overhead", "published", "scale", "sizes", "spark",
        "state", "string_ids")  # some minutes and GB each: only when they are named, or --all

NUMBER = (int, float)
FIELDS = {"machine": dict, "commit": str, "dirty": bool, "date": str, "load": list, "busy": NUMBER, "benchmarks": list, "figures": list}
OF_BENCHMARK = {"name": str, "state": str, "reason": str, "remark": str, "seconds": NUMBER, "busy": NUMBER}
OF_FIGURE = {"benchmark": str, "name": str, "ratio": NUMBER, "quartiles": list, "repeats": int, "better": str, "aim": (dict, type(None)), "note": str}
OF_AIM = {"direction": str, "bound": NUMBER}


def begin(build):
    """A file without figures."""
    commit, dirty = machine.commit_of(build)
    return {"machine": machine.describe(build), "commit": commit, "dirty": dirty,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "load": [round(load, 2) for load in os.getloadavg()],
            "busy": round(harness.busy_share(), 3), "benchmarks": [], "figures": []}


def warnings(document):
    """Why the figures are not to be kept: a list of sentences."""
    found = []
    if document["machine"]["build_type"] != "release":
        found.append(f"the build is no release build ({document['machine']['build_type']})")
    if document["busy"] > harness.BUSY:
        found.append(f"the machine was busy ({document['busy']:.0%} of its processor time was taken)")
    busy = [one["name"] for one in document["benchmarks"] if one["busy"] > harness.BUSY]
    if busy:
        found.append(f"it was busy when these began: {', '.join(busy)}")
    return found


def text_of(document):
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def save(document, path):
    """The file has its name only when it is whole."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text_of(document))
    os.replace(path + ".part", path)


def load(path):
    """What save() wrote; ValueError: it is something else."""
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path} is not JSON: {error}") from error
    wrong = what_is_wrong(document)
    if wrong:
        raise ValueError(f"{path} is no file of tools/bench --json: {wrong}")
    return document


def what_is_wrong(document):
    """Why load() refuses it; '' if it does not."""
    wrong = misfit(document, FIELDS, "it")
    if wrong:
        return wrong
    if not isinstance(document["machine"].get("build_type"), str):
        return "machine needs build_type, a text"
    for name, fields in (("benchmarks", OF_BENCHMARK), ("figures", OF_FIGURE)):
        for place, one in enumerate(document[name]):
            wrong = misfit(one, fields, f"{name}[{place}]")
            if wrong:
                return wrong
    for place, one in enumerate(document["figures"]):
        wrong = misfit(one["aim"], OF_AIM, f"the aim of figures[{place}]") if one["aim"] is not None else ""
        if wrong:
            return wrong
        if len(one["quartiles"]) != 2 or not all(isinstance(value, NUMBER) for value in one["quartiles"]):
            return f"the quartiles of figures[{place}] are no two numbers"
    return ""


def misfit(one, fields, called):
    """'' if `one` is an object with these fields of these types."""
    if not isinstance(one, dict):
        return f"{called} is no object"
    missing = sorted(fields.keys() - one.keys())
    if missing:
        return f"{called} needs {', '.join(missing)}"
    wrong = next((name for name, kind in fields.items() if not isinstance(one[name], kind)), None)
    return f"{called} has {as_json(one[wrong])} as {wrong}" if wrong else ""


def as_json(value):
    return json.dumps(value, ensure_ascii=False)[:40]


def status_of(document, all_of_them):
    """The exit status of a run: 1 where a benchmark failed, was interrupted or, unless all were asked for, could not run."""
    fine = {"done", "absent"} if all_of_them else {"done"}
    return int(any(one["state"] not in fine for one in document["benchmarks"]))


def stop(*_):
    raise KeyboardInterrupt


def run_one(name, report, programs, repeats, even_if_busy):
    """What the document has of one benchmark, whose figures go to the report."""
    one, start = {"name": name, "state": "done", "reason": "", "remark": "", "seconds": 0.0, "busy": 0.0}, time.perf_counter()
    report.benchmark, report.remark = name, ""
    try:
        one["busy"] = round(harness.busy_share() if even_if_busy else harness.require_idle(), 3)
        importlib.import_module(name).run(report, programs, repeats)
    except harness.Absent as error:
        one.update(state="absent", reason=str(error))
    except harness.Busy as error:
        one.update(state="busy", reason=str(error))
    except KeyboardInterrupt:
        one.update(state="interrupted")
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        said = (getattr(error, "stderr", None) or "").strip()  # of a program that failed
        one.update(state="failed", reason=f"{type(error).__name__}: {error}{': ' + said[-500:] if said else ''}")
    return one | {"remark": report.remark, "seconds": round(time.perf_counter() - start, 1)}


def kept_of(before, document):
    """What another document has, so that this one can be added to it: its benchmarks and figures, each benchmark with the commit and date at which it
    was measured, and whether the sources differed from that commit. ValueError: another machine, or another build, measured it."""
    differ = [what for what in before["machine"] if before["machine"][what] != document["machine"].get(what)]
    if differ:
        raise ValueError(f"its figures are of another machine or build ({', '.join(differ)}): write to a file of its own")
    then = {name: before[name] for name in ("commit", "date")} | ({"dirty": True} if before["dirty"] else {})
    return {"benchmarks": [then | one for one in before["benchmarks"]], "figures": before["figures"]}


def add_to(kept, document):
    """The document with what was kept of another. A benchmark that was done there is replaced only by one that is done."""
    done = {one["name"] for one in kept["benchmarks"] if one["state"] == "done"}
    new = [one for one in document["benchmarks"] if one["state"] == "done" or one["name"] not in done]
    named = {one["name"] for one in new}
    others = [{name: one[name] for name in one if name not in ("commit", "date") or one[name] != document[name]}
              for one in kept["benchmarks"] if one["name"] not in named]
    stay = {one["name"] for one in others}
    return document | {"benchmarks": others + new,
                       "figures": [one for one in kept["figures"] if one["benchmark"] not in named] + [one for one in document["figures"] if one["benchmark"] not in stay]}


def run_all(names, report, programs, repeats, even_if_busy, document, path=None, kept=None):
    """Runs them, each once, fills the document, and writes it to `path` after each, where there is one, with what was `kept` of the file that was there.
    SIGTERM interrupts as SIGINT does: the rest is not run."""
    document["figures"], interrupted = report.figures, False
    before = signal.signal(signal.SIGTERM, stop)
    try:
        for name in dict.fromkeys(names):
            if interrupted:
                one = {"name": name, "state": "not run", "reason": "tools/bench was interrupted", "remark": "", "seconds": 0.0, "busy": 0.0}
            else:
                one = run_one(name, report, programs, repeats, even_if_busy)
            interrupted = interrupted or one["state"] == "interrupted"
            document["benchmarks"].append(one)
            if path:
                save(add_to(kept, document) if kept else document, path)
    finally:
        signal.signal(signal.SIGTERM, before)
