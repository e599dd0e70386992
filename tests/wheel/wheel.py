"""The wheel: pip builds it in an environment of its own; it works in another one, away from the sources,
and asks of its machine libzmq, LMDB and libmicrohttpd alone.

wheel.py [-v]          run by the Python it is to be built with; needs pip's package index, a compiler and the -dev packages
"""

import platform
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from wheel_support import PROGRAMS, ROOT, Environment, needed

LOADER = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}.get(platform.machine(), "libc.so.6")  # glibc's own
BINARIES = {
    "portolan/_portolan.abi3.so": {"libzmq.so.5", "libc.so.6", "libm.so.6"},
    "portolan/bin/portoland": {"libzmq.so.5", "liblmdb.so.0", "libc.so.6", "libm.so.6"},
    "portolan/bin/portolan": {"liblmdb.so.0", "libmicrohttpd.so.12", "libc.so.6", "libm.so.6", LOADER},  # it has a variable of each thread
}
LOOP = """
import numpy as np, portolan
rng = np.random.default_rng(0)
gold = rng.integers(0, 3, 300)
with portolan.Run("toy", store="store", examples=300) as run:
    for epoch in range(4):
        logits = rng.normal(size=(300, 3))
        logits[np.arange(300), gold] += epoch
        run.log_logits(epoch, np.arange(300), logits, gold)
        run.end_epoch(epoch)
m = portolan.measures("toy", store="store")
assert len(m) == 300 and (m.epochs == 4).all(), m
assert len(portolan.dynamics("toy", store="store").to_numpy()) == 1200 and portolan.runs("store")["name"].tolist() == ["toy"]
assert len(portolan.select("toy", by="ambiguous", count=3, store="store").indices()) == 3
print(portolan.__file__)
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="portolan-wheel-")))
        builder = Environment(cls.folder / "builder")
        builder.run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", cls.folder / "out", ROOT, folder=cls.folder)
        (cls.path,) = (cls.folder / "out").iterdir()
        cls.user = Environment(cls.folder / "user")
        cls.user.run("pip", "install", "--quiet", f"{cls.path}[measures]", folder=cls.folder)
        cls.user.run("python", "-c", LOOP, folder=cls.folder)

    def test_one_build_serves_this_python_and_later_ones(self):
        minor = sys.version_info.minor
        self.assertRegex(self.path.name, rf"^portolan-[0-9.]+-cp3{minor}-abi3-linux_\w+\.whl$")

    def test_what_is_in_it(self):
        with zipfile.ZipFile(self.path) as wheel:
            names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        sources = {path.relative_to(ROOT / "client/python").as_posix()
                   for path in (ROOT / "client/python/portolan").rglob("*") if path.suffix in (".py", ".pyi", ".typed")}
        self.assertEqual(names, sources | PROGRAMS)

    def test_the_licences_are_its_own_and_that_of_d3(self):
        with zipfile.ZipFile(self.path) as wheel:
            names = {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name}
        self.assertEqual(names, {"LICENSE", "analyzer/serve/page/d3.LICENSE"})

    def test_its_size(self):
        """Of 2.1 MB, one is the live page, with d3 in it."""
        self.assertLess(self.path.stat().st_size, 2_500_000)

    def test_what_it_asks_of_the_machine(self):
        with zipfile.ZipFile(self.path) as wheel:
            wheel.extractall(self.folder / "unpacked")
        for name, allowed in BINARIES.items():
            asked, dynamic = needed(self.folder / "unpacked" / name)
            self.assertLessEqual(asked, allowed, name)
            self.assertNotRegex(dynamic, "R(UN)?PATH", name)

    def test_it_is_the_wheel_that_is_used(self):
        where = self.user.run("python", "-c", "import portolan._programs as p; print(p.__file__, p.find('portolan'), p.find('portoland'))")
        self.assertEqual([Path(path).is_relative_to(self.folder / "user") for path in where.split()], [True] * 3)

    def test_the_commands(self):
        runs = self.user.run("portolan", "runs", "--store", "store", folder=self.folder)
        self.assertIn("\ntoy,300,4,1200,closed,epoch-end,", runs)
        self.user.run("portolan", "map", "toy", "--store", "store", "-o", "map.png", folder=self.folder)
        self.assertTrue((self.folder / "map.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("--store", self.user.run("portoland", "--help"))

    def test_the_packages_own_command(self):
        self.assertIn("portolan export snli/seed1", self.user.run("python", "-m", "portolan", "--help"))

    def test_the_analyzer_finds_the_collector_beside_it(self):
        self.user.run("portolan", "backup", "copy", "--store", "store", folder=self.folder)
        self.assertIn("\ntoy,300,4,1200,", self.user.run("portolan", "runs", "--store", "copy", folder=self.folder))

    def test_what_a_command_answers_is_handed_on(self):
        done = subprocess.run([self.user.bin / "portolan", "no-such-command"], env=self.user.variables, capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
