"""Builds for two processors meet. A store that one wrote is read by the other, which says of it what is expected, byte for byte (the golden files of the suite cli).
A run that one's client records with the other's collector is the same to both.

crossed.py BUILD OTHER          build folders with portolan, portoland, make_store and log_run
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILDS = [Path(path).resolve() for path in sys.argv[1:3]]
del sys.argv[1:3]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import run_cli  # noqa: E402 (the line above finds it)
import stores  # noqa: E402


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


class Crossed(unittest.TestCase):
    def each_way(self):
        """Yields (build that writes, build that reads), in an empty folder that is the current one."""
        for writer, reader in (BUILDS, BUILDS[::-1]):
            with tempfile.TemporaryDirectory(prefix="crossed-") as folder:
                os.chdir(folder)
                yield writer, reader
                os.chdir("/")

    def test_the_builds_are_for_different_processors(self):
        headers = {(build / "analyzer/portolan").read_bytes()[:20] for build in BUILDS}
        self.assertEqual(len(headers), 2)

    def test_what_the_other_says_of_a_store(self):
        for writer, reader in self.each_way():
            portolan = reader / "analyzer/portolan"
            version = output(portolan, "--version").split()[1]
            stores.make_store(writer / "tests/cli/make_store", "store", run_cli.runs())
            stores.make_store(writer / "tests/cli/make_store", "more", run_cli.more_runs())
            run_cli.write_files()
            for name, line in run_cli.CASES.items():
                expected = run_cli.read_text(os.path.join(run_cli.EXPECTED, f"{name}.txt"))
                with self.subTest(case=name, reader=reader):
                    self.assertEqual(run_cli.execute(portolan, line.split(), version), expected)

    def test_a_client_and_the_collector_of_the_other(self):
        for client, collector in self.each_way():
            output(client / "client/log_run", "store", env={**os.environ, "PORTOLAND": str(collector / "collector/portoland")})
            # Until the collector leaves. Only programs for one processor may have a store open at a time: in LMDB's lock.mdb a mutex has
            # 40 bytes on x86-64 and 48 on aarch64, and the readers stand behind it.
            output("flock", "--timeout", "120", "store/portoland.lock", "true")
            for command in ("dynamics", "metrics"):
                said = {output(build / "analyzer/portolan", command, "example", "--store", "store", "--format", "csv") for build in BUILDS}
                self.assertEqual([len(text.splitlines()) for text in said], [5001 if command == "dynamics" else 1001])


if __name__ == "__main__":
    unittest.main()
