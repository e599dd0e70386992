"""tools/bench without measuring: the files of figures, what is said of two of them, and the page made from one.

bench_figures.py SOURCE_ROOT
"""
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import compare  # noqa: E402
import figures  # noqa: E402
import harness  # noqa: E402
import machine  # noqa: E402
import page  # noqa: E402
import scale  # noqa: E402


def figure(name, ratio, quartiles=None, repeats=9, better="less", aim=None, benchmark="metrics"):
    return {"benchmark": benchmark, "name": name, "ratio": ratio, "quartiles": quartiles or [ratio, ratio], "repeats": repeats, "better": better,
            "aim": harness.aim_of(aim) if aim else None, "note": ""}


def document(*found, benchmarks=(), **changed):
    where = {"processor": "P", "cores": 2, "memory": "8 GiB", "kernel": "Linux 6.1", "file_system": "ext4", "system": "Debian", "compiler": "GCC", "build_type": "release"}
    return {"machine": where | changed, "commit": "0123456789abcdef", "dirty": False, "date": "2026-01-02T03:04:05+00:00", "load": [0, 0, 0], "busy": 0.01,
            "benchmarks": list(benchmarks), "figures": list(found)}


def state(name, state="done", reason="", remark="", busy=0.0):
    return {"name": name, "state": state, "reason": reason, "remark": remark, "seconds": 1.0, "busy": busy}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bench-figures-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)


class Running(Folder):
    def run_all(self, **benchmarks):
        """Runs these functions as benchmarks; (the document, what the file had after the last of them)."""
        for name, run in benchmarks.items():
            sys.modules["fake_" + name] = types.SimpleNamespace(run=run)
        begun = document()
        with contextlib.redirect_stderr(io.StringIO()):
            figures.run_all(["fake_" + name for name in benchmarks], harness.Report(None), {}, 3, True, begun, self.path("out.json"))
        return begun, figures.load(self.path("out.json"))

    def good(self, report, programs, repeats):
        report.ratio("ours / theirs", [1, 2, 3, 4], aim="≤ 3", note="a note")

    def test_what_is_added_takes_the_place_of_its_own_figures_alone(self):
        before = document(figure("a", 1, benchmark="fake_good"), figure("b", 2, benchmark="other"), benchmarks=[state("fake_good"), state("other")])
        now = document() | {"commit": "fedcba9876543210"}
        sys.modules["fake_good"] = types.SimpleNamespace(run=self.good)
        figures.run_all(["fake_good"], harness.Report(None), {}, 3, True, now, self.path("out.json"), figures.kept_of(before, now))
        kept = figures.load(self.path("out.json"))
        self.assertEqual([(one["benchmark"], one["name"]) for one in kept["figures"]], [("other", "b"), ("fake_good", "ours / theirs")])
        self.assertEqual([(one["name"], one.get("commit")) for one in kept["benchmarks"]], [("other", "0123456789abcdef"), ("fake_good", None)])
        self.assertIn("Measured at another commit: 01234567: `other`.\n", page.made_from(kept))
        again = document(figure("c", 3, benchmark="third"), benchmarks=[state("third")])  # at the first commit: it is no other any more
        both = figures.add_to(figures.kept_of(kept, again), again)
        self.assertEqual([(one["name"], one.get("commit")) for one in both["benchmarks"]], [("other", None), ("fake_good", "fedcba9876543210"), ("third", None)])
        with self.assertRaisesRegex(ValueError, "another machine or build \\(build_type\\)"):
            figures.kept_of(before, document(build_type="debug"))

    def test_what_was_measured_with_changes_stays_marked(self):
        before = document(figure("b", 2, benchmark="other"), benchmarks=[state("other")]) | {"dirty": True}
        for commit in (before["commit"], "fedcba9876543210"):
            now = document(figure("a", 1, benchmark="third"), benchmarks=[state("third")]) | {"commit": commit}
            kept = figures.add_to(figures.kept_of(before, now), now)
            self.assertEqual([one.get("dirty") for one in kept["benchmarks"]], [True, None])
            self.assertIn(" commit: 01234567 and changes that were not committed: `other`.\n", page.made_from(kept))

    def test_what_was_not_done_replaces_no_figures(self):
        before = document(figure("a", 1, benchmark="fake_good"), figure("b", 2, benchmark="other"), benchmarks=[state("fake_good"), state("other")])
        for how in ("interrupted", "busy", "failed", "absent", "not run"):
            now = document(figure("half", 7, benchmark="fake_good"), figure("c", 3, benchmark="new"),
                           benchmarks=[state("fake_good", how, "why"), state("new", how, "why")]) | {"commit": "fedcba9876543210"}
            with self.subTest(how=how):
                made = figures.add_to(figures.kept_of(before, now), now)
                self.assertEqual([(one["benchmark"], one["name"]) for one in made["figures"]], [("fake_good", "a"), ("other", "b"), ("new", "c")])
                self.assertEqual([(one["name"], one["state"], one.get("commit")) for one in made["benchmarks"]],
                                 [("fake_good", "done", "0123456789abcdef"), ("other", "done", "0123456789abcdef"), ("new", how, None)])
        failed = document(figure("half", 7, benchmark="fake_good"), benchmarks=[state("fake_good", "failed")])
        again = document(benchmarks=[state("fake_good", "absent", "it needs torch")])
        self.assertEqual(figures.add_to(figures.kept_of(failed, again), again), again, "nothing was done: the last try is told")

    def test_the_date_of_what_was_kept_stays_unless_it_is_the_same(self):
        before = document(figure("a", 1, benchmark="one"), benchmarks=[state("one")])
        now = document(figure("b", 1, benchmark="two"), benchmarks=[state("two")]) | {"date": "2026-02-03T00:00:00+00:00"}
        made = figures.add_to(figures.kept_of(before, now), now)
        self.assertEqual([(one.get("commit"), one.get("date")) for one in made["benchmarks"]], [(None, before["date"]), (None, None)])
        again = now | {"benchmarks": [state("three")]}  # and when it is added to once more
        made = figures.add_to(figures.kept_of(made, again), again)
        self.assertEqual([(one.get("commit"), one.get("date")) for one in made["benchmarks"]], [(None, before["date"]), (None, None), (None, None)])

    def test_a_failure_loses_no_other_benchmarks_figures(self):
        def bad(report, programs, repeats):
            report.ratio("before it failed / 1", [7])
            raise RuntimeError("the disk is gone")

        def absent(report, programs, repeats):
            raise harness.Absent("it needs torch")

        begun, kept = self.run_all(bad=bad, leaves=lambda *_: sys.exit("wrong"), absent=absent, good=self.good)
        self.assertEqual([(one["name"], one["state"], one["reason"]) for one in kept["benchmarks"]], [
            ("fake_bad", "failed", "RuntimeError: the disk is gone"), ("fake_leaves", "failed", "SystemExit: wrong"),
            ("fake_absent", "absent", "it needs torch"), ("fake_good", "done", "")])
        self.assertEqual(kept, begun)
        self.assertEqual(kept["figures"], [
            figure("before it failed / 1", 7, repeats=1, benchmark="fake_bad"),
            figure("ours / theirs", 2.5, [1.75, 3.25], 4, aim="≤ 3", benchmark="fake_good") | {"note": "a note"}])
        self.assertEqual((figures.status_of(kept, True), figures.status_of(kept, False)), (1, 1))

    def test_what_a_program_said_when_it_failed_is_told(self):
        _, kept = self.run_all(bad=lambda *_: subprocess.run(["sh", "-c", "echo no room >&2; exit 3"], check=True, capture_output=True, text=True))
        self.assertTrue(kept["benchmarks"][0]["reason"].endswith("returned non-zero exit status 3.: no room"), kept)

    def test_what_is_absent_is_no_failure_of_all(self):
        def absent(report, programs, repeats):
            raise harness.Absent("it needs torch")

        kept, _ = self.run_all(absent=absent, good=self.good)
        self.assertEqual((figures.status_of(kept, True), figures.status_of(kept, False)), (0, 1))

    def test_an_interruption_keeps_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            def interrupted(report, programs, repeats, number=number):
                report.remarks("half of it")
                os.kill(os.getpid(), number)
                while True:
                    signal.pause()

            with self.subTest(number=number):
                _, kept = self.run_all(first=self.good, interrupted=interrupted, last=self.good)
                self.assertEqual([(one["state"], one["reason"], one["remark"]) for one in kept["benchmarks"]],
                                 [("done", "", ""), ("interrupted", "", "half of it"), ("not run", "tools/bench was interrupted", "")])
                self.assertEqual(len(kept["figures"]), 1)

    def test_a_busy_machine_gives_no_figures(self):
        def busy(*_):
            raise harness.Busy("the machine is busy")

        sys.modules["fake_good"] = types.SimpleNamespace(run=self.good)
        kept, require_idle = document(), harness.require_idle
        harness.require_idle = busy
        try:
            figures.run_all(["fake_good"], harness.Report(None), {}, 3, False, kept)
        finally:
            harness.require_idle = require_idle
        self.assertEqual((kept["benchmarks"][0]["state"], kept["figures"], figures.status_of(kept, True)), ("busy", [], 1))

    def test_a_benchmark_that_is_named_twice_runs_once(self):
        sys.modules["fake_good"] = types.SimpleNamespace(run=self.good)
        kept = document()
        figures.run_all(["fake_good", "fake_good"], harness.Report(None), {}, 3, True, kept)
        self.assertEqual(([one["state"] for one in kept["benchmarks"]], len(kept["figures"])), (["done"], 1))

    def test_figures_have_names_of_their_own_and_aims_that_can_be_read(self):
        report = harness.Report(None)
        report.ratio("a / b", [1], aim="≥ 0.8")
        self.assertEqual((report.figures[0]["better"], report.figures[0]["aim"]), ("more", {"direction": "≥", "bound": 0.8}))
        for name, aim in (("a / b", None), ("c / d", "1.3"), ("c / d", "< 1.3"), ("c / d", "≤ little")):
            with self.subTest(name=name, aim=aim), self.assertRaises(ValueError):
                report.ratio(name, [1], aim=aim)

    def test_the_build_is_told(self):
        os.makedirs(self.path("meson-info"))
        for options, said in (([("buildtype", "release"), ("b_sanitize", "none")], "release"), ([("buildtype", "debugoptimized")], "debugoptimized"),
                              ([("buildtype", "release"), ("b_sanitize", "address")], "release, sanitizer address")):
            with open(self.path("meson-info", "intro-buildoptions.json"), "w", encoding="utf-8") as file:
                json.dump([{"name": name, "value": value} for name, value in options], file)
            self.assertEqual(machine.build_type(self.folder), said)
        self.assertEqual(machine.build_type(self.path("none")), "unknown")
        self.assertEqual(machine.describe(self.path("none"))["compiler"], "unknown")

    def test_what_is_not_to_be_kept_is_said(self):
        self.assertEqual(figures.warnings(document()), [])
        self.assertEqual(figures.warnings(document(build_type="debugoptimized") | {"busy": 0.5}),
                         ["the build is no release build (debugoptimized)", "the machine was busy (50% of its processor time was taken)"])
        self.assertEqual(figures.warnings(document(benchmarks=[state("map"), state("ingest", busy=0.4)])), ["it was busy when these began: ingest"])
        self.assertEqual(figures.warnings(document(benchmarks=[state("ingest", busy=0.4)])), ["it was busy when these began: ingest"])

    def test_files_that_git_does_not_track_and_figures_are_no_difference(self):
        os.makedirs(self.path("build", "meson-info"))
        with open(self.path("build", "meson-info", "meson-info.json"), "w", encoding="utf-8") as file:
            json.dump({"directories": {"source": self.folder}}, file)
        git = ["git", "-C", self.folder, "-c", "user.name=n", "-c", "user.email=e"]
        with open(self.path("tracked"), "w", encoding="utf-8") as file:
            file.write("1")
        for words in (["init", "-q"], ["add", "tracked"], ["commit", "-q", "-m", "m"]):
            subprocess.run([*git, *words], check=True)
        os.makedirs(self.path("tests", "bench"))
        for name in ("figures.json", "README.md"):
            with open(self.path("tests", "bench", name), "w", encoding="utf-8") as file:
                file.write("1")
        subprocess.run([*git, "add", "tests"], check=True)
        self.assertEqual(machine.commit_of(self.path("build"))[1], False)
        with open(self.path("tracked"), "w", encoding="utf-8") as file:
            file.write("2")
        self.assertEqual(machine.commit_of(self.path("build"))[1], True)


class Comparing(Folder):
    def test_what_lies_beyond_the_spread(self):
        for old, new, said in (
                (figure("f", 1.0, [0.9, 1.1]), figure("f", 1.2, [1.05, 1.3]), "within the spread"),             # the ranges overlap
                (figure("f", 1.0, [0.99, 1.01]), figure("f", 1.04, [1.03, 1.05]), "within the spread"),         # apart, but by less than 5%
                (figure("f", 1.0, [0.9, 1.1]), figure("f", 1.2, [1.15, 1.3]), "worse"),
                (figure("f", 1.0, [0.9, 1.1]), figure("f", 0.8, [0.7, 0.85]), "better"),
                (figure("f", 1.0, [0.9, 1.1], better="more"), figure("f", 1.2, [1.15, 1.3], better="more"), "better"),
                (figure("f", 1.0, [0.9, 1.1], better="more"), figure("f", 0.8, [0.7, 0.85], better="more"), "worse"),
                (figure("f", 1.0), figure("f", 1.1, repeats=1), "too few repeats to tell"),    # no spread: 20%
                (figure("f", 1.0), figure("f", 1.3, repeats=1), "worse"),
                (figure("f", 1.0, better="less"), figure("f", 2.0, better="more"), "what is better differs: less, then more"),
                (figure("f", float("nan")), figure("f", 1.0), "no number"),
                (figure("f", 1.0), figure("f", 1.0, [float("nan"), 1.0]), "no number")):
            with self.subTest(old=old, new=new):
                self.assertEqual(compare.changed(old, new), said)

    def test_lines(self):
        old = document(figure("same / x", 1.0), figure("grew / x", 1.0, [0.9, 1.1], aim="≤ 1.1"), figure("gone / x", 3.0), figure("aim / x", 2.0, aim="≤ 1"),
                       figure("new aim / x", 1.0))
        new = document(figure("same / x", 1.0), figure("grew / x", 2.0, [1.9, 2.1], aim="≤ 1.1"), figure("aim / x", 0.5, aim="≤ 1"), figure("new aim / x", 1.0, aim="≤ 1"),
                       figure("first / x", 4.0, aim="≥ 5"), benchmarks=[state("hooks", "absent", "it needs torch")], build_type="debugoptimized", cores=4)
        lines, worse = compare.compare(old, new)
        self.assertTrue(worse)
        self.assertEqual(lines, [
            "A: commit 01234567",
            "B: commit 01234567",
            "B: not to be relied on: the build is no release build (debugoptimized)",
            "cores differs: 2, then 4",
            "build type differs: release, then debugoptimized",
            "metrics: same / x     1 [1 … 1] → 1 [1 … 1]  +0.0%, within the spread",
            "metrics: grew / x     1 [0.9 … 1.1] → 2 [1.9 … 2.1]  +100.0%, worse; aim ≤ 1.1: missed now",
            "metrics: aim / x      2 [2 … 2] → 0.5 [0.5 … 0.5]  -75.0%, better; aim ≤ 1: met now",
            "metrics: new aim / x  1 [1 … 1] → 1 [1 … 1]  +0.0%, within the spread; aim none, then ≤ 1",
            "only in A: metrics: gone / x  3 [3 … 3]",
            "only in B: metrics: first / x  4 [4 … 4] (aim ≥ 5)",
            "B: hooks: absent: it needs torch",
            "4 figures in both: 1 better, 1 worse beyond the spread"])

    def test_figures_whose_benchmark_was_not_done_are_missed(self):
        old = document(figure("f / x", 1.0), figure("g / x", 1.0))
        for benchmarks, missed in ((["failed"], True), (["absent"], True), (["done"], False), ([], False)):
            lines, worse = compare.compare(old, document(benchmarks=[state("metrics", one) for one in benchmarks]))
            self.assertEqual((worse, "; 2 not measured in B, as their benchmark was not done" in lines[-1]), (missed, missed), benchmarks)

    def test_what_each_file_is_worth_is_told(self):
        dirty = document(benchmarks=[state("map", busy=0.9)]) | {"dirty": True, "commit": "fedcba9876", "busy": 0.9}
        self.assertEqual(compare.compare(document(), dirty, ("a.json", "b.json"))[0][:-1], [
            "a.json: commit 01234567",
            "b.json: commit fedcba98 and changes that were not committed",
            "b.json: not to be relied on: the machine was busy (90% of its processor time was taken)",
            "b.json: not to be relied on: it was busy when these began: map"])

    def bench(self, *words):
        return subprocess.run([sys.executable, os.path.join(ROOT, "tools", "bench"), *words], capture_output=True, text=True, check=False)

    def test_status(self):
        for name, ratio in (("a", 1.0), ("b", 2.0)):
            figures.save(document(figure("f / x", ratio)), self.path(name))
        for names, status in (("ab", 1), ("ba", 0), ("aa", 0)):
            done = self.bench("--compare", *map(self.path, names))
            self.assertEqual((done.returncode, done.stderr), (status, ""), names)
        with open(self.path("lines"), "w", encoding="utf-8") as file:
            file.write('{"name": "f"}\n{"name": "g"}\n')
        with open(self.path("other"), "w", encoding="utf-8") as file:
            file.write("[]")
        for name, said in (("none", "No such file"), ("lines", "is not JSON"), ("other", "is no file of tools/bench --json")):
            done = self.bench("--compare", self.path("a"), self.path(name))
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
            self.assertIn(said, done.stderr)

    def test_a_file_of_other_types_is_refused(self):
        whole = document(figure("f / x", 1.0, aim="≤ 1"), benchmarks=[state("map")])
        self.assertEqual(figures.what_is_wrong(whole), "")
        for changed, said in (
                ({"machine": None}, "it has null as machine"), ({"machine": {}}, "machine needs build_type"), ({"busy": "much"}, 'it has "much" as busy'),
                ({"benchmarks": [7]}, "benchmarks[0] is no object"), ({"benchmarks": [{"name": "map"}]}, "benchmarks[0] needs busy, reason, remark, seconds, state"),
                ({"figures": [figure("f", "1")]}, 'figures[0] has "1" as ratio'), ({"figures": [figure("f", 1, [1])]}, "the quartiles of figures[0] are no two numbers"),
                ({"figures": [figure("f", 1) | {"aim": {"bound": 1}}]}, "the aim of figures[0] needs direction")):
            with self.subTest(changed=changed):
                with open(self.path("file"), "w", encoding="utf-8") as file:
                    json.dump(whole | changed, file)
                done = self.bench("--compare", self.path("file"), self.path("file"))
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(said, done.stderr)

    def test_wrong_usage(self):
        for words, said in ((["--all", "map"], "--all runs every benchmark"), (["nap"], "no benchmark is called 'nap'"), (["--repeats", "0"], "--repeats needs a number from 1")):
            done = self.bench(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)


class Scale(unittest.TestCase):
    def test_what_one_observation_costs_beside_the_reference(self):
        report = harness.Report(None)
        turns = [(({step: scale.Cost(2.0, 4.0, 100.0) for step in scale.STEPS}, 3.0), ({step: scale.Cost(0.1, 0.1, 50.0) for step in scale.STEPS}, 0.5))]
        scale.report_size(report, 10**8, turns)
        found = {one["name"]: one["ratio"] for one in report.figures}
        self.assertEqual(len(found), 1 + 3 * len(scale.STEPS))
        for name, ratio in (("one of 10⁸ observations / of 10⁷: ingest to the last acknowledgement, wall time", 0.6), ("one of 10⁸ observations / of 10⁷: select, processor time", 2),
                            ("one of 10⁸ observations / of 10⁷: select, wall time", 4), ("10⁸ observations / 10⁷: select, memory", 2)):
            self.assertAlmostEqual(found[name], ratio)

    def test_sizes_that_the_disk_has_no_room_for_are_named(self):
        report, usage = harness.Report(None), shutil.disk_usage
        try:
            for most, free, sizes, said in ((1e8, 1e12, scale.SIZES[:4], ""), (1e9, 1e12, scale.SIZES, ""), (1e5, 1e12, scale.SIZES[:3], ""),
                                            (1e9, 1e10, scale.SIZES[:4], "10 GB of free disk are too few for 10⁹ observations")):
                shutil.disk_usage = lambda folder, free=free: types.SimpleNamespace(free=free)
                report.remark = ""
                with contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual((tuple(scale.sizes_for(report, {"most": most}, "/")), report.remark), (sizes, said))
        finally:
            shutil.disk_usage = usage


class Page(unittest.TestCase):
    def test_the_page_is_made_from_the_file(self):
        with open(page.PAGE, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(page.filled(text, figures.load(page.FILE)), text, "run tools/bench --page")
        self.assertLessEqual(len(text.splitlines()), 100)

    def test_the_table(self):
        made = page.made_from(document(figure("a / b", 1.25, [1, 1.5], aim="≤ 1.3"), figure("no aim / b", 1), figure("c | d", 2.0, repeats=1, aim="≤ 1.3"),
                                       figure("first / b", 1, [1, 1], better="more", benchmark="log_call"), figure("second / b", 1, benchmark="log_call"),
                                       benchmarks=[state("metrics", busy=0.5), state("log_call", remark="a peer of our own"), state("hooks", "absent", "it needs torch")]))
        unasked = [name for name in (*figures.BENCHMARKS, *figures.LONG) if name not in ("metrics", "log_call", "hooks")]
        self.assertEqual(len(unasked), 21)
        self.assertEqual(made, (
            "Measured on 2026-01-02 at commit 01234567: 2 × P, 8 GiB of memory, ext4; Debian, Linux 6.1, GCC, build type release.\n"
            "**Not to be relied on: it was busy when these began: metrics.**\n\n"
            "| figure | ratio [quartiles] | aim, or what is better | by |\n|---|---|---|---|\n"
            "| a / b | 1.25 [1 … 1.5] | ≤ 1.3 | `tools/bench metrics` |\n"
            "| c \\| d | 2 | ≤ 1.3, **missed** |  |\n"
            "| first / b | 1 [1 … 1] | more | `tools/bench log_call` |\n\n"
            "Without figures, or not with all:\n\n- `hooks`: absent: it needs torch.\n"
            f"- not in the file: {', '.join(f'`{name}`' for name in unasked)}.\n\n`log_call`: a peer of our own.\n"))
        many = [figure(f"{k} / b", ratio, aim=aim) for k, (ratio, aim) in enumerate(((1, "≤ 2"), (3, "≥ 2"), (2.2, "≥ 2"), (9, "≤ 2"), (0, "≤ 2"), (0.5, "≤ 1")))]
        self.assertEqual([(one["ratio"], of) for one, of in page.shown(document(*many))], [(2.2, 5), (9, 1)])
        self.assertEqual([(one["ratio"], of) for one, of in page.shown(document(*many[1:]))], [(3, 1), (2.2, 1), (9, 1), (0, 1), (0.5, 1)])
        self.assertIn("| 2 / b | 2.2 [2.2 … 2.2] | ≥ 2; the nearest to its aim of 5 that are met |", page.made_from(document(*many)))
        self.assertEqual(page.filled(f"above\n{page.BEGIN}old\n{page.END}below\n", document()).count("old"), 0)
        with self.assertRaises(ValueError):
            page.filled("no marks\n", document())


if __name__ == "__main__":
    unittest.main()
