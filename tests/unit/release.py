"""tools/release, by the steps that need neither network nor minutes: what it refuses, what it says of steps that it did not run, and that two packages are compared byte for byte.
A program of three lines stands for tools/wheel.

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
"""


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
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", self.clone, *identity, *words], check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "all")

    def packages(self, what):
        (self.clone / "tools/wheel").write_text(WHEEL.replace("'{what}'", what), encoding="utf-8")
        (self.clone / "tools/wheel").chmod(0o755)

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
        for line in ("state: proved: nothing is uncommitted", "packages: proved: built twice: 1 files are the same, byte for byte: portolan-1.tar", "notes: proved: ",
                     "sums: proved: 2 files", "citation: left out", "tests: left out", "fresh: left out", "This is no release yet"):
            self.assertIn(line, said)
        self.assertEqual({path.name for path in self.output.iterdir()}, {"portolan-1.tar", "NOTES.md", "SHA256SUMS"})
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
        tools = self.clone / "build-release"
        (tools / "bin").mkdir(parents=True)
        shutil.copy(ROOT / "tools/lib/release.txt", tools)  # as if it had been installed
        for said, verdict in (("echo valid", "citation: proved: valid"), ("true", "citation: FAILED"), ("false", "citation: FAILED")):
            (tools / "bin/cffconvert").write_text(f"#!/bin/sh\n{said}\n", encoding="utf-8")
            (tools / "bin/cffconvert").chmod(0o755)
            self.assertIn(verdict, self.release("citation")[1])

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
