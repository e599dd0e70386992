"""The walls of the house: folders include each other one way only, and an #include that points up does not compile.

walls.py SOURCE_ROOT BUILD_ROOT
"""
import collections
import graphlib
import json
import os
import re
import shlex
import subprocess
import sys
import unittest

ROOT, BUILD = sys.argv.pop(1), sys.argv.pop(1)
PARTS = ("include", "client", "collector", "analyzer")
# Where an include that points up is tried: the file, a header of a floor above its own, and one of a floor below.
UPWARDS = [("analyzer/base/number.c", "measures/dynamics.h", None),
           ("analyzer/measures/scan.c", "options/options.h", "base/parallel.h"),
           ("analyzer/regions/regions.c", "serve/http.h", "measures/dynamics.h"),
           ("analyzer/serve/serve.c", "die/memory.h", "regions/regions.h")]  # what goes on running does not die


def sources():
    for part in PARTS:
        for folder, _, names in os.walk(os.path.join(ROOT, part)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                        yield path, file.read()


SOURCES = dict(sources())


def target(source, bracket, name):
    """The file that an #include names: beside the source, below a folder above it, <> in another part, or the only one of that name."""
    if bracket == "<":
        other = [path for path in SOURCES if path.endswith("/" + name) and not path.startswith("analyzer/")]
        return other[0] if len(other) == 1 else None
    folder = os.path.dirname(source)
    while folder:
        path = os.path.normpath(os.path.join(folder, name))
        if path in SOURCES:
            return path
        folder = os.path.dirname(folder)
    same = [path for path in SOURCES if path.endswith("/" + name)]
    near = [path for path in same if path.split("/")[0] == source.split("/")[0]] or same
    return near[0] if len(near) == 1 else None


def compiles(path, line=None):
    """Whether the file compiles as the build compiles it, after `line`; and what the compiler says."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if os.path.normpath(os.path.join(BUILD, entry["file"])) == os.path.join(ROOT, path)]
    command = shlex.split(entries[0]["command"])
    command = [word for word in command if word not in ("ccache", "-MD")]
    for flag in ("-o", "-MF", "-MQ"):
        if flag in command:
            del command[command.index(flag):command.index(flag) + 2]
    command[command.index("-c"):] = ["-fsyntax-only", "-iquote", os.path.join(ROOT, os.path.dirname(path)), "-x", "c", "-"]
    text = (f'#include "{line}"\n' if line else "") + SOURCES[path]
    done = subprocess.run(command, cwd=BUILD, input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


class Walls(unittest.TestCase):
    def includes(self, of):
        """{of(source): {of(file it includes)}}, without those that are the same."""
        below = collections.defaultdict(set)
        for path, text in SOURCES.items():
            for bracket, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, flags=re.M):
                other = target(path, bracket, name)
                if other and of(other) != of(path):
                    below[of(path)].add(of(other))
        return below

    def check_one_way(self, below, least):
        """No circle: otherwise TopologicalSorter raises CycleError, which names it."""
        self.assertGreater(len(below), least)
        self.assertEqual(len(list(graphlib.TopologicalSorter(below).static_order())), len(set(below).union(*below.values())))

    def test_folders_include_each_other_one_way(self):
        self.check_one_way(self.includes(os.path.dirname), 20)

    def test_files_include_each_other_one_way(self):
        """x.c and x.h count as one."""
        self.check_one_way(self.includes(lambda path: os.path.splitext(path)[0]), 300)

    def test_an_include_that_points_up_finds_no_file(self):
        for path, above, lower in UPWARDS:
            with self.subTest(path=path, above=above):
                self.assertTrue(any(name.endswith(f"/{above}") for name in SOURCES))
                self.assertEqual(compiles(path), (True, ""))
                if lower:
                    self.assertEqual(compiles(path, lower), (True, ""))
                done, said = compiles(path, above)
                self.assertFalse(done)
                self.assertIn(f"{above}: No such file or directory", said)

    def test_no_include_leaves_its_folder_by_a_path(self):
        self.assertEqual([path for path, text in SOURCES.items() if re.search(r'^\s*#\s*include\s*[<"](/|[^">]*\.\./)', text, flags=re.M)], [])

    def test_no_name_of_a_static_function_stands_in_five_files(self):
        files = collections.defaultdict(set)
        for path, text in SOURCES.items():
            if path.endswith(".c"):
                for name in re.findall(r"^static [^;={]*?\n?(\w+)\([^;{]*\)\n?\{", text, flags=re.M):
                    files[name].add(path)
        self.assertGreater(len(files), 1000)
        self.assertEqual(sorted(name for name, paths in files.items() if len(paths) >= 5), [])

    def test_heads_say_what_the_file_is_for(self):
        bare = [path for path, text in SOURCES.items() if path.endswith(".c") and
                re.match(r"\s*/\*[^*]{0,40}?\bsee \S+\.h\.?\s*\*/", re.sub(r"\n \*", " ", text[:200]))]
        self.assertEqual(bare, [])


if __name__ == "__main__":
    unittest.main()
