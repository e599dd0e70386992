"""tools/release, by the steps that need neither network nor minutes: what it refuses, what it says of steps that it did not run, and that two packages are compared byte for byte.
Programs of some lines stand for tools/wheel, tools/test and tools/fresh.

release.py SOURCE_ROOT
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
WHEEL = """#!/bin/bash
while [ "$1" != --output ]; do shift; done
mkdir -p "$2"
echo '{what}' >"$2/portolan-1.tar"
for processor in {processors}; do echo wheel >"$2/portolan-1-$processor.whl"; done
"""
PYPI = """
from_pypi() {
	mkdir -p "$2/bin"
	printf '#!/bin/sh\\n%s\\n' '{said}' >"$2/bin/cffconvert"
	chmod +x "$2/bin/cffconvert"
}
"""
# What tools/test says for each suite, as its runners say it: Meson's with tools/lib/summary.py, pytest, unittest twice.
TEST = """#!/bin/bash
case $* in
'') echo '{tests}' ;;
wheel) printf 'Ran 6 tests in 2.0s\\n\\nOK\\nRan 20 tests in 8.1s\\n\\n%s\\n' '{wheel}' ;;
*) printf 'slowest durations\\n%s\\n' '{pytest}' ;;
esac
"""
PROVED = {"tests": "70 passed, 0 failed, 0 skipped", "wheel": "OK", "pytest": "12 passed, 3 warnings in 75.10s (0:01:15)"}


class Release(unittest.TestCase):
    """tools/release in a repository of its own, which has what its cheap steps read."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="release-")))
        self.clone, self.output = self.folder / "clone", self.folder / "out"
        (self.clone / "include/portolan").mkdir(parents=True)
        shutil.copytree(ROOT / "tools/lib", self.clone / "tools/lib", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("tools/release", "meson.build", "pyproject.toml", "CITATION.cff", "CHANGELOG.md", "include/portolan/portolan.h"):
            shutil.copy(ROOT / name, self.clone / name)
        self.packages("the same in every folder")
        self.suites()
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", self.clone, *identity, *words], check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "all")

    def program(self, name, text):
        (self.clone / "tools" / name).write_text(text, encoding="utf-8")
        (self.clone / "tools" / name).chmod(0o755)

    def packages(self, what, processors="x86_64 aarch64"):
        self.program("wheel", WHEEL.replace("'{what}'", what).replace("{processors}", processors))

    def suites(self, **said):
        text = TEST
        for name, line in {**PROVED, **said}.items():
            text = text.replace(f"{{{name}}}", line)
        self.program("test", text)

    def change(self, name, old, new):
        text = (self.clone / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.clone / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    def release(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run([self.clone / "tools/release", "--output", self.output, *words], capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout, done.stderr

    def test_what_is_not_run_is_not_called_proved(self):
        code, said, _ = self.release("state", "packages", "notes", "sums")
        self.assertEqual(code, 3, said)
        for line in ("state: proved: nothing is uncommitted", "notes: proved: ",
                     "packages: proved: built twice: 3 files are the same, byte for byte: portolan-1-aarch64.whl, portolan-1-x86_64.whl, portolan-1.tar\n",
                     "sums: proved: 4 files", "citation: left out", "tests: left out", "fresh: left out", "This is no release yet"):
            self.assertIn(line, said)
        self.assertEqual({path.name for path in self.output.iterdir()}, {"portolan-1.tar", "portolan-1-x86_64.whl", "portolan-1-aarch64.whl", "NOTES.md", "SHA256SUMS"})
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.output, check=True)

    def test_what_is_not_committed_is_refused_and_nothing_else_is_run(self):
        (self.clone / "new").touch()
        code, said, failure = self.release("state", "notes", "sums")
        self.assertEqual(code, 1)
        self.assertIn("not committed: ?? new", failure)
        self.assertIn("state: FAILED\n", said)
        self.assertIn("notes: not run\n", said)
        self.assertEqual([path.name for path in self.output.iterdir()], ["state.log"])

    def test_versions_that_differ_are_refused_by_name(self):
        for name, old, new in (("CITATION.cff", "\nversion: ", "\nversion: 9."), ("meson.build", "version: '", "version: '9."), ("CHANGELOG.md", "\n## ", "\n## 9."),
                               ("include/portolan/portolan.h", 'PORTOLAN_VERSION "', 'PORTOLAN_VERSION "9.')):
            with self.subTest(name):
                self.change(name, old, new)
                self.commit()
                code, _, failure = self.release("state")
                self.assertEqual(code, 1)
                self.assertIn(f"{name} has 9.", failure)
                self.change(name, new, old)

    def test_packages_that_differ_between_two_folders_are_no_release(self):
        self.packages('"$PWD/$0"')
        self.commit()
        code, said, failure = self.release("packages", "sums")
        self.assertEqual(code, 1)
        self.assertIn("portolan-1.tar: its content", failure)
        self.assertIn("packages: FAILED", said)
        self.assertFalse((self.output / "portolan-1.tar").exists())

    def test_a_step_that_says_nothing_has_proved_nothing(self):
        for said, verdict in (("echo valid", "citation: proved: valid"), ("true", "citation: FAILED"), ("false", "citation: FAILED")):
            self.program("lib/pypi.sh", PYPI.replace("{said}", said))
            self.assertIn(verdict, self.release("citation")[1])
        self.assertEqual(list(self.clone.glob("build*")), [])

    def verdict(self, step):
        """What is said of a step that is run alone."""
        code, said, failure = self.release(step)
        (line,) = (line.strip() for line in said.splitlines() if line.startswith(f"   {step}: "))
        self.assertEqual(code, 1 if line.endswith("FAILED") else 3, failure)
        return line.removeprefix(f"{step}: ")

    def test_every_suite_is_run_and_a_skipped_test_is_left_out(self):
        for step, said, verdict in (("tests", PROVED["tests"], PROVED["tests"]), ("tests", "70 passed, 0 failed, 63 skipped", "70 passed, 0 failed, 63 skipped; LEFT OUT: skipped tests: 63"),
                                    ("frameworks", PROVED["pytest"], PROVED["pytest"]), ("spark", "9 passed, 2 skipped in 3.00s", "9 passed, 2 skipped in 3.00s; LEFT OUT: skipped tests: 2"),
                                    ("spark", "2 skipped in 3.00s", None), ("wheel", "OK", "Ran 6 tests in 2.0s; Ran 20 tests in 8.1s"),
                                    ("wheel", "OK (skipped=20)", "Ran 6 tests in 2.0s; Ran 20 tests in 8.1s; LEFT OUT: skipped tests: 20")):
            with self.subTest(step=step, said=said):
                self.suites(**{step if step in PROVED else "pytest": said})
                self.assertEqual(self.verdict(step), f"proved: {verdict}" if verdict else "FAILED")

    def whole(self):
        """All steps; of root, qemu, and the bills that need CycloneDX, others stand there."""
        self.suites()
        self.program("fresh", "#!/bin/sh\necho fresh\n")
        self.program("lib/pypi.sh", PYPI.replace("{said}", "echo valid"))
        self.program("lib/bill.py", "")
        self.change("tools/release", '"$(id -u)"', "0")
        self.change("tools/release", '"$tools/bin/python"', "/usr/bin/python3")
        self.change("tools/release", "/proc/sys/fs/binfmt_misc/qemu-aarch64", str(self.folder / "qemu"))
        (self.folder / "qemu").write_text("enabled\n", encoding="utf-8")
        self.commit()

    def test_all_of_it_is_a_release(self):
        self.whole()
        code, said, failure = self.release()
        self.assertEqual((code, failure), (0, ""), said)
        self.assertNotIn("no release yet", said)
        self.assertIn("fresh: proved: demo and test in bookworm; the wheel in bookworm; demo and test in trixie; the wheel in trixie; the wheel for aarch64 under qemu\n", said)

    def test_a_wheel_that_was_not_tried_is_left_out(self):
        self.whole()
        (self.folder / "qemu").unlink()
        code, said, _ = self.release()
        self.assertEqual(code, 3)
        self.assertIn("the wheel in trixie; LEFT OUT: the wheel for aarch64 was not tried", said)

    def test_a_processor_that_was_not_built_is_left_out(self):
        self.whole()
        self.packages("the same", processors="x86_64")
        self.commit()
        code, said, _ = self.release("--processor", "x86_64")
        self.assertEqual(code, 3)
        self.assertIn("portolan-1.tar; LEFT OUT: no wheel was built for aarch64\n", said)
        self.assertIn("LEFT OUT: no wheel for aarch64 is there to be tried\n", said)

    def test_logs_are_removed_and_not_published(self):
        self.output.mkdir()
        for name in ("fresh.log", "other.log"):
            (self.output / name).touch()
        self.release("notes", "sums")
        self.assertEqual({path.name for path in self.output.iterdir()}, {"other.log", "NOTES.md", "SHA256SUMS"})
        self.assertNotIn("log", (self.output / "SHA256SUMS").read_text(encoding="utf-8"))

    def test_wrong_usage(self):
        for words, said in ((["--skip", "all"], "no step is called 'all'"), (["tidy"], "no step is called 'tidy'"), (["--all"], "unknown option --all")):
            self.assertEqual(self.release(*words)[0], 2)
            self.assertIn(said, self.release(*words)[2])


class Same(unittest.TestCase):
    """tools/lib/same.py."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="same-")))
        for name in ("a", "b"):
            (self.folder / name).mkdir()

    def wheel(self, folder, content=b"x", year=2020, names=("one", "two")):
        with zipfile.ZipFile(self.folder / folder / "p.whl", "w") as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), content)

    def sdist(self, folder, owner=0, mtime=0):
        text = io.BytesIO()
        with tarfile.open(fileobj=text, mode="w") as archive:
            one = tarfile.TarInfo("p/one")
            one.uid = owner
            archive.addfile(one)
        (self.folder / folder / "p.tar.gz").write_bytes(gzip.compress(text.getvalue(), mtime=mtime))

    def compare(self):
        done = subprocess.run([sys.executable, ROOT / "tools/lib/same.py", self.folder / "a", self.folder / "b"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_the_same(self):
        for folder in ("a", "b"):
            self.wheel(folder)
            self.sdist(folder)
        self.assertEqual(self.compare(), (0, "2 files are the same, byte for byte: p.tar.gz, p.whl\n"))

    def test_what_differs_is_said(self):
        for made, said in ((lambda: self.wheel("b", content=b"y"), "p.whl: one: its content\n"), (lambda: self.wheel("b", year=2021), "p.whl: one: ((2020, "),
                           (lambda: self.wheel("b", names=("two", "one")), "p.whl: the order of its parts"), (lambda: self.wheel("b", names=("one",)), "in one alone: two"),
                           (lambda: self.sdist("b", owner=7), "p.tar.gz: p/one: "), (lambda: self.sdist("b", mtime=7), "p.tar.gz: how it is packed"),
                           (lambda: (self.folder / "b/more").touch(), "in one folder alone: more")):
            with self.subTest(said):
                for folder in ("a", "b"):
                    self.wheel(folder)
                    self.sdist(folder)
                made()
                code, output = self.compare()
                self.assertEqual(code, 1)
                self.assertIn(said, output)

    def test_nothing_is_not_the_same(self):
        self.assertEqual(self.compare()[0], 1)


class Recipe(unittest.TestCase):
    """tools/lib/libraries.sh: what it compiled stands for the recipe that it was compiled by."""

    def test_libraries_of_another_recipe_are_compiled_again(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="recipe-")))
        script, prefix = folder / "libraries.sh", folder / "prefix"
        shutil.copy(ROOT / "tools/lib/libraries.sh", script)
        for name in ("compilers", "prefix"):
            (folder / name).mkdir()
        (folder / "compilers/made").write_text("c\n", encoding="utf-8")
        line = subprocess.run(["sh", "-c", '. /etc/os-release; echo "$(sha256sum <"$1") $VERSION_CODENAME c"', "sh", script], capture_output=True, text=True, check=True).stdout
        (prefix / "made").write_text(line, encoding="utf-8")

        def made_again():
            """Without a mirror: what is there is thrown away first, and then no source is found."""
            done = subprocess.run(["bash", script, prefix, "file:///nowhere", "x86_64", folder / "compilers"], capture_output=True, text=True, check=False)
            return done.returncode != 0 and not (prefix / "made").exists()

        self.assertFalse(made_again())
        with open(script, "a", encoding="utf-8") as file:
            file.write("# another option\n")
        self.assertTrue(made_again())


if __name__ == "__main__":
    unittest.main()
