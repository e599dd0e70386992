"""What tools/site reads the finished site by: a link, an anchor or a picture that is not there, and whatever is loaded from another host, is named.

site.py SOURCE_ROOT
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
INDEX = '<h1 id="top">A</h1><a href="b/index.html#one">b</a><a href="https://h.example/">h</a><a href="#top">up</a><img src="b/p.png">'
OTHER = '<h1 id="one">B</h1><a href="../index.html">a</a>'


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="site-")))
        for name, text in (("index.html", INDEX), ("b/index.html", OTHER), ("b/p.png", ""), ("search/search_index.json", "x" * 20_000), ("s.css", "p { color: red }")):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")

    def check(self):
        done = subprocess.run([sys.executable, ROOT / "tools/lib/site_checks.py", self.folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def test_a_whole_site_passes(self):
        self.assertEqual(self.check(), (0, ""))

    def test_what_is_wrong_is_named(self):
        for name, old, new, said in (("index.html", "b/index.html#one", "b/index.html#two", "index.html leads to b/index.html#two, which has no such anchor"),
                                     ("index.html", "#top", "#bottom", "index.html leads to #bottom, which has no such anchor"),
                                     ("b/index.html", "../index.html", "../none.html", "b/index.html leads to ../none.html, which is not there"),
                                     ("index.html", "b/p.png", "b/q.png", "index.html leads to b/q.png, which is not there"),
                                     ("index.html", "<img ", '<script src="https://h.example/s.js"></script><img ', "index.html loads https://h.example/s.js"),
                                     ("s.css", "red", "url(https://h.example/f)", "s.css loads something from another host"),
                                     ("search/search_index.json", "x" * 20_000, "", "there is no index to search")):
            with self.subTest(said):
                before = (self.folder / name).read_text(encoding="utf-8")
                self.assertIn(old, before)
                (self.folder / name).write_text(before.replace(old, new), encoding="utf-8")
                self.assertEqual(self.check(), (1, said + "\n"))
                (self.folder / name).write_text(before, encoding="utf-8")

    def test_files_that_pages_link_to_are_found(self):
        (self.folder / "a.md").write_text("![p](b/p.png) [c](s.css#x) [page](none.md) [h](https://h.example)\n```\n[no](index.html)\n```\n", encoding="utf-8")
        done = subprocess.run([sys.executable, ROOT / "tools/lib/linked.py", "a.md"], cwd=self.folder, capture_output=True, text=True, check=True, env=os.environ)
        self.assertEqual(done.stdout.split(), ["b/p.png", "s.css"])

    def test_every_page_of_the_sources_that_is_listed_is_there(self):
        """The list stands in tools/lib/site.yml, which this reads without a parser of YAML."""
        listed = [line.rpartition(" ")[2] for line in (ROOT / "tools/lib/site.yml").read_text(encoding="utf-8").partition("\nnav:")[2].splitlines() if line.endswith(".md")]
        self.assertGreater(len(listed), 25)
        self.assertEqual([page for page in listed if not page.startswith("reference/") and not (ROOT / page).is_file()], [])


if __name__ == "__main__":
    unittest.main()
