"""The help files of commands: what is missing in one, or stands there for nothing, fails the build and is named.

help_files.py SOURCE_ROOT BUILD_ROOT
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = sys.argv.pop(1), sys.argv.pop(1)
ANALYZER = os.path.join(ROOT, "analyzer")


def run(command):
    return subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)


def compile_command(name):
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return next(shlex.split(entry["command"]) for entry in json.load(file) if entry["file"].endswith("/" + name))


class HelpFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="help-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.analyzer = shutil.copytree(ANALYZER, os.path.join(self.folder, "analyzer"), ignore=lambda folder, names: [
            name for name in names if not name.endswith((".md", ".py")) and not os.path.isdir(os.path.join(folder, name))])

    def change(self, path, old, new):
        with open(os.path.join(self.analyzer, path), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(os.path.join(self.analyzer, path), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))

    def embed(self, path):
        return run([sys.executable, os.path.join(self.analyzer, "embed.py"), os.path.join(self.analyzer, path)])

    def check(self, name, path):
        """Builds the man pages' program with this help in the place of the command's own, and lets it check."""
        source, checked = os.path.join(self.folder, "help.c"), os.path.join(self.folder, "pages")
        with open(source, "w", encoding="utf-8") as file:
            file.write(self.embed(path).stdout)
        command = [word for word in compile_command(f"help_{name}.c") if word not in ("ccache", "-MD")]
        done = run([*command[:command.index("-MQ")], "-o", source + ".o", "-c", source])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        link = shlex.split(run(["/usr/bin/ninja", "-t", "commands", "analyzer/pages"]).stdout.splitlines()[-1])
        link[link.index("-o") + 1] = checked
        link.insert(link.index("-o") + 2, source + ".o")
        done = run(link)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return run([checked, "--check"])

    def test_the_files_as_they_are_pass(self):
        done = self.check("watch", "watch/help.md")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_an_option_without_help_is_named(self):
        self.change("watch/help.md", "### --once\n", "### --onze\n")
        done = self.check("watch", "watch/help.md")
        self.assertEqual((done.returncode, done.stderr), (1, "portolan: the help file of watch has no section '### --once'\n"))

    def test_help_for_no_option_is_named(self):
        self.change("watch/help.md", "### --once\n", "### --never\n\nLook not at all.\n\n### --once\n")
        done = self.check("watch", "watch/help.md")
        self.assertEqual((done.returncode, done.stderr), (
            1, "portolan: the help file of watch, or one that it links to, has a section '### --never', which is no option of it\n"))

    def test_what_a_help_file_lacks_is_named(self):
        for path, old, new, said in (
                ("watch/help.md", "follow a run while it is being recorded\n", "", "summary, examples or description is missing"),
                ("watch/help.md", "## Description\n", "## Discription\n", "'## Discription' is no option with one paragraph of help"),
                ("watch/help.md", "### --once\n", "### --interval\n", "no heading stands there twice"),
                ("watch/help.md", "    portolan watch snli/seed1 --once\n", "", "an example is a line that says what it does, and an indented line"),
                ("selection/select.md", "#--glue)", "#--glu)", "there is no --glu in ../options/help.md")):
            with self.subTest(said=said):
                self.change(path, old, new)
                done = self.embed(path)
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)
                self.assertIn(path, done.stderr)
                shutil.copy(os.path.join(ANALYZER, path), os.path.join(self.analyzer, path))


if __name__ == "__main__":
    unittest.main()
