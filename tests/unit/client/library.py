"""The shared library as it ships: what it exports, what it needs, how large it is, and its header in C++.

library.py LIBPORTOLAN.SO INCLUDE_DIRECTORY
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

NEEDED = {"libzmq.so.5", "libmsgpackc.so.2", "libmsgpack-c.so.2", "libc.so.6", "libm.so.6"}
PUBLIC = {"portolan_open", "portolan_log", "portolan_log_logits", "portolan_log_probs", "portolan_log_gold", "portolan_log_loss",
          "portolan_log_examples", "portolan_end_epoch", "portolan_flush", "portolan_close", "portolan_get_stats"}
LIBRARY, INCLUDE = sys.argv.pop(1), sys.argv.pop(1)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Library(unittest.TestCase):
    def test_exports_the_public_calls_alone(self):
        symbols = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
        self.assertEqual({line.split()[2].split("@")[0] for line in symbols}, PUBLIC)

    def test_needs_zmq_and_msgpack_alone(self):
        lines = [line for line in output("readelf", "-d", LIBRARY).splitlines() if "(NEEDED)" in line]
        needed = {line.split("[")[1].rstrip("]") for line in lines}
        self.assertLessEqual(needed, NEEDED)
        self.assertIn("libzmq.so.5", needed)

    def test_soname(self):
        self.assertIn("[libportolan.so.0]", output("readelf", "-d", LIBRARY))

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
