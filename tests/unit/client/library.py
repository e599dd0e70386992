"""The shared library as it ships: what it exports and under which versions, what it needs, how large it is, and its header in C++.

library.py LIBPORTOLAN.SO INCLUDE_DIRECTORY SYMBOLS

SYMBOLS lists what it exports, a `NAME@@VERSION` a line (tests/api/libportolan.txt). A line of it never goes away, nor changes, while the library is version 1.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NEEDED = {"libzmq.so.5", "libmsgpackc.so.2", "libmsgpack-c.so.2", "libc.so.6", "libm.so.6"}
LIBRARY, INCLUDE = sys.argv.pop(1), sys.argv.pop(1)
LISTED = pathlib.Path(sys.argv.pop(1)).read_text().split()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Library(unittest.TestCase):
    def test_exports_what_is_listed(self):
        symbols = [line.split()[1:] for line in output("nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY).splitlines()]
        self.assertEqual(sorted(name for kind, name in symbols if kind != "A"), sorted(LISTED))  # A: the versions themselves
        self.assertTrue(all(re.fullmatch(r"portolan_[a-z_]+@@PORTOLAN_1\.\d+", name) for name in LISTED), LISTED)

    def test_the_header_declares_what_is_listed(self):
        header = pathlib.Path(INCLUDE, "portolan", "portolan.h").read_text()
        declared = re.findall(r"^PORTOLAN_PUBLIC\b[^;(]*?\b(\w+)\(", header, re.M)
        self.assertEqual(sorted(declared), sorted(name.split("@")[0] for name in LISTED))

    def test_needs_zmq_and_msgpack_alone(self):
        lines = [line for line in output("readelf", "-d", LIBRARY).splitlines() if "(NEEDED)" in line]
        needed = {line.split("[")[1].rstrip("]") for line in lines}
        self.assertLessEqual(needed, NEEDED)
        self.assertIn("libzmq.so.5", needed)

    def test_soname(self):
        self.assertIn("[libportolan.so.1]", output("readelf", "-d", LIBRARY))

    def test_is_under_100_kibibytes(self):
        with tempfile.TemporaryDirectory() as directory:
            stripped = os.path.join(directory, "stripped")
            subprocess.run(["strip", "-o", stripped, LIBRARY], check=True)
            self.assertLess(os.path.getsize(stripped), 100 << 10)

    def test_header_alone_in_c_and_cpp(self):
        for compiler, language, standard in (("cc", "c", "c11"), ("c++", "c++", "c++11")):
            if not shutil.which(compiler):
                self.skipTest(f"no {compiler}")
            subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror",
                            "-fsyntax-only", f"-I{INCLUDE}", "-"],
                           input="#include <portolan/portolan.h>\n", text=True, check=True)


if __name__ == "__main__":
    unittest.main()
