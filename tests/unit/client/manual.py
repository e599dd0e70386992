"""The manual of the C library: a page of section 3 for each function of the header, which says all that the header says, and which man draws without a warning.

manual.py SOURCE_ROOT BUILD_ROOT
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
HEADER = ROOT / "include/portolan/portolan.h"
TEXT = HEADER.read_text(encoding="utf-8")
FUNCTIONS = re.findall(r"^PORTOLAN_PUBLIC .*?(\w+)\(", TEXT, re.MULTILINE)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=BUILD / "client")


def made(header, *names):
    return run(sys.executable, ROOT / "client/manual.py", header, *names)


def words(text):
    """What a page must not lose: words, without signs and line ends."""
    return re.findall(r"[^\W_]+", text)


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path.stem: path for path in (BUILD / "client").glob("*.3")}

    def drawn(self, name):
        done = run("groff", "-K", "utf8", "-man", "-Tutf8", "-P-cbou", "-ww", self.pages[name])
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        return re.sub(r"\u2010\n\s*", "", done.stdout)  # words that are parted at the end of a line

    def test_each_function_has_a_page(self):
        self.assertGreater(len(FUNCTIONS), 8)
        self.assertEqual(set(self.pages), {"portolan", *FUNCTIONS})

    def test_pages_are_drawn_without_a_warning_and_links_lead_to_one_that_has_the_function(self):
        for name in FUNCTIONS:
            link = re.fullmatch(r"\.so man3/(\w+)\.3\n", self.pages[name].read_text(encoding="utf-8"))
            page = self.drawn(link[1] if link else name)
            self.assertRegex(page, rf"(?s)NAME\n.*\b{name}\b.*SYNOPSIS.*\bint {name}\(.*DESCRIPTION.*RETURN VALUE")

    def test_nothing_that_the_header_says_is_lost(self):
        """Every comment stands on some page, word by word, and so does every member of a struct and an enum."""
        every = " ".join(" ".join(words(self.drawn(name))) for name, path in self.pages.items() if not path.read_text(encoding="utf-8").startswith(".so"))
        body = TEXT.partition("*/")[2]
        comments = re.findall(r"/\*(.*?)\*/", body, re.DOTALL)
        members = re.findall(r"^\t[^\n/*]*?\b(\w+)(?:\[\d+\])?(?: = -?\d+)?[;,]", body, re.MULTILINE)
        self.assertGreater(min(len(comments), len(members)), 60)
        for said in [*comments, *members]:
            for sentence in re.sub(r"^\s*\* ?", "", said, flags=re.MULTILINE).split("\n\n"):
                self.assertIn(" ".join(words(sentence)), every)

    def test_a_function_that_the_build_does_not_name_fails_it(self):
        with tempfile.NamedTemporaryFile("w", suffix=".h", encoding="utf-8") as header:
            header.write(TEXT.replace("/* Copies to *stats", "PORTOLAN_PUBLIC int portolan_more(int a);\n\n/* Copies to *stats"))
            header.flush()
            self.assertIn("portolan_close portolan_more", run(sys.executable, ROOT / "client/manual.py", "--list", header.name).stdout)
            done = made(header.name, "portolan_close")
            self.assertEqual(done.returncode, 1)
            self.assertIn("no comment stands above portolan_close and these alone", done.stderr)

    def test_one_page_in_markdown_has_every_function(self):
        done = run(sys.executable, ROOT / "client/manual.py", "--markdown", HEADER)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in FUNCTIONS:
            self.assertRegex(done.stdout, rf"(?m)^## .*\b{name}\b")
            self.assertIn(f"int {name}(", done.stdout)


if __name__ == "__main__":
    unittest.main()
