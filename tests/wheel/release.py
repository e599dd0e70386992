"""What tools/wheel makes for PyPI: the sdist, the manylinux wheels with their libraries, and what both say of themselves.

release.py [-v]        needs what tools/wheel needs; build-wheel/ keeps the libraries that it compiles
"""

import email
import importlib.util
import json
import platform
import re
import subprocess
import tarfile
import tempfile
import unittest
import urllib.request
import zipfile
from pathlib import Path

from wheel_support import PROGRAMS, ROOT, Environment, needed, output

HOME = "https://forge.example/portolan/portolan"
# Of the machine: what every Linux has that manylinux is for.
MACHINE = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
LIBRARIES = {"liblmdb", "libmicrohttpd", "libzmq"}
SOURCES = {"zeromq3", "libsodium", "libmicrohttpd", "lmdb", "msgpack-c", "xxhash", "jansson", "libunistring"}  # of Debian
RECORDS = """
import re, portolan
with portolan.Run("toy", store="store") as run:
    for epoch in range(3):
        run.log_gold(epoch, range(30), [(i + epoch) / 40 for i in range(30)], [i + epoch > 20 for i in range(30)])
        run.end_epoch(epoch)
    print(*sorted(set(re.findall(r"(/\\S*(?:zmq|sodium)\\S*)", open("/proc/self/maps").read()))))
portolan.map("toy", store="store").save("map.html")
"""
REMOTE = """
import sys, portolan
with portolan.Run("far", endpoint=sys.argv[1], keys="keys") as run:
    run.log_gold(0, [1, 2, 3], [0.5, 0.25, 1.0], [True, False, True])
print(run.stats()["acknowledged"])
"""


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Links(unittest.TestCase):
    """tools/lib/published.py."""

    def absolute(self, text, home=HOME):
        return load(ROOT / "tools/lib/published.py").absolute(text, "client/python/README.md", home, "{home}/blob/main/{path}")

    def test_links_into_the_sources(self):
        for text, want in (("[a](docs/torch.md)", f"[a]({HOME}/blob/main/client/python/docs/torch.md)"),
                           ("see [`b` [c]](../WIRE.md#frames), d", f"see [`b` [c]]({HOME}/blob/main/client/WIRE.md#frames), d"),
                           ("![e](../../analyzer/data-map.png)", f"![e]({HOME}/blob/main/analyzer/data-map.png)"),
                           ("[f](#hooks) [g](https://h.example/i)", "[f](#hooks) [g](https://h.example/i)"),
                           ("```python\nx = a[0](b)\n```\n[j](k)", f"```python\nx = a[0](b)\n```\n[j]({HOME}/blob/main/client/python/k)")):
            self.assertEqual(self.absolute(text), want)

    def test_without_an_address_their_names_stay(self):
        self.assertEqual(self.absolute("[a](docs/torch.md), [b](#hooks), ![c](d.png)", home=""), "a, [b](#hooks), c")

    def test_a_link_out_of_the_sources_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "leaves the sources"):
            self.absolute("[a](../../../b)")

    def test_every_link_of_the_page_leads_to_a_file(self):
        page = ROOT / "client/python/README.md"
        targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^()\s]+)\)", page.read_text(encoding="utf-8"))]
        missing = [target for target in targets if target and not target.startswith("http") and not (page.parent / target).exists()]
        self.assertEqual(missing, [])
        self.assertGreater(len(targets), 10)


class Symbols(unittest.TestCase):
    """tools/lib/symbols.py."""

    def test_versions_that_are_too_new(self):
        too_new = load(ROOT / "tools/lib/symbols.py").too_new
        self.assertEqual(too_new({"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.28", "GCC_3.0", "GLIBCXX_3.4.24"}), [])
        self.assertEqual(too_new({"GLIBC_2.29", "GLIBC_2.3", "GLIBC_PRIVATE", "GLIBCXX_3.4.25", "OPENSSL_3.0.0"}),
                         ["GLIBCXX_3.4.25", "GLIBC_2.29", "GLIBC_PRIVATE", "OPENSSL_3.0.0"])

    def test_a_program_of_this_system_and_one_for_another_processor(self):
        program, symbols = Path("/usr/bin/python3").resolve(), load(ROOT / "tools/lib/symbols.py")
        other = {"x86_64": "aarch64", "aarch64": "x86_64"}[platform.machine()]
        self.assertTrue(any(fault.startswith("asks for symbols of GLIBC_2.") for fault in symbols.faults(program, platform.machine())))
        self.assertTrue(any(fault.startswith("is for ") for fault in symbols.faults(program, other)))


@unittest.skipUnless(platform.machine() == "x86_64", "Debian's compiler for the other processor is one for x86-64")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="portolan-release-")))
        output(ROOT / "tools/wheel", "--home", HOME, "--output", cls.folder / "dist", cwd=cls.folder)
        (cls.sdist,) = (cls.folder / "dist").glob("*.tar.gz")
        (cls.wheel,) = (cls.folder / "dist").glob("*_x86_64.whl")
        (cls.other,) = (cls.folder / "dist").glob("*_aarch64.whl")
        for wheel, folder in ((cls.wheel, "unpacked"), (cls.other, "other")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(cls.folder / folder)
        cls.unpacked = cls.folder / "unpacked"
        (info,) = cls.unpacked.glob("*.dist-info")
        cls.info = info
        cls.metadata = email.message_from_bytes((info / "METADATA").read_bytes())
        cls.user = Environment(cls.folder / "user", "/usr/bin/python3")  # no NumPy, no index
        cls.user.run("pip", "install", "--quiet", "--no-index", cls.wheel, folder=cls.folder)
        cls.mapped = cls.user.run("python", "-c", RECORDS, folder=cls.folder).split()

    def libraries(self, folder="unpacked"):
        """{libgmp: its file}"""
        return {re.sub(r"-[0-9a-f]{8}\.so.*", "", path.name): path for path in (self.folder / folder / "portolan.libs").iterdir()}

    def test_three_files_are_made(self):
        self.assertEqual(sorted(path.name for path in (self.folder / "dist").iterdir()), sorted([self.sdist.name, self.wheel.name, self.other.name]))

    def test_their_tags_are_those_of_glibc_2_28(self):
        """It is in RHEL 8, Debian 10, Ubuntu 20.04, and later ones."""
        for wheel, processor in ((self.wheel, "x86_64"), (self.other, "aarch64")):
            self.assertRegex(wheel.name, rf"^portolan-[0-9.]+-cp311-abi3-manylinux_2_28_{processor}\.whl$")

    def test_the_other_wheel_has_the_same_files(self):
        def names(folder):
            found = {str(path.relative_to(self.folder / folder)) for path in (self.folder / folder).rglob("*") if path.is_file()}
            return {re.sub(r"-[0-9a-f]{8}\.so", ".so", name) for name in found}

        self.assertEqual(names("unpacked"), names("other"))

    def test_the_libraries_in_it(self):
        """No Kerberos, PGM, NORM or libbsd, which Debian's libzmq would bring, and no GnuTLS, which its libmicrohttpd would."""
        self.assertEqual(set(self.libraries()), LIBRARIES)
        self.assertEqual(set(self.libraries("other")), LIBRARIES)

    def test_nothing_else_is_asked_of_the_machine(self):
        places = {"portolan": "$ORIGIN/../portolan.libs", "bin": "$ORIGIN/../../portolan.libs", "portolan.libs": "$ORIGIN"}
        files = [(path, folder) for folder in ("unpacked", "other")
                 for path in [*(self.folder / folder / name for name in PROGRAMS), *self.libraries(folder).values()]]
        for path, folder in files:
            own = {path.name for path in self.libraries(folder).values()}
            asked, dynamic = needed(path)
            self.assertLessEqual(asked, own | MACHINE, path.name)
            found = set(re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic))
            self.assertLessEqual(found, {places[path.parent.name]}, path.name)
            self.assertTrue(found or not asked & own, path.name)

    def test_the_licence_of_each_library_is_in_it(self):
        texts = {path.stem: path.read_text(encoding="utf-8") for path in (self.info / "licenses/libraries").iterdir()}
        self.assertEqual(set(texts), SOURCES)
        self.assertTrue(all("icense" in text or "ermission" in text for text in texts.values()))
        self.assertIn("MIT License", (self.info / "licenses/LICENSE").read_text(encoding="utf-8"))
        self.assertIn("Mike Bostock", (self.info / "licenses/analyzer/serve/page/d3.LICENSE").read_text(encoding="utf-8"))

    def bill(self, folder="unpacked"):
        (path,) = (self.folder / folder).glob("*.dist-info/sboms/portolan.cdx.json")
        return json.loads(path.read_text(encoding="utf-8"))

    def test_its_bill_of_materials(self):
        """Names every library whose licence is in it, with its version and the checksums of its sources; what the compilers link in; and d3."""
        parts = {part["name"]: part for part in self.bill()["components"]}
        self.assertEqual(set(parts), SOURCES | {"libgcc", "libc++", "libc++abi", "libunwind", "compiler-rt", "d3"})
        self.assertEqual(parts["libgcc"]["licenses"], [{"expression": "GPL-3.0-or-later WITH GCC-exception-3.1"}])
        self.assertRegex(parts["libgcc"]["purl"], r"^pkg:deb/debian/gcc-[0-9]+(-cross)?@[0-9]")
        self.assertNotEqual(self.bill()["serialNumber"], self.bill("other")["serialNumber"])
        for name in SOURCES:
            self.assertRegex(parts[name]["version"], r"^[0-9]")
            self.assertTrue(parts[name]["licenses"])
            sums = [one["hashes"][0]["content"] for one in parts[name]["externalReferences"]]
            self.assertGreaterEqual(len(sums), 2)
            self.assertTrue(all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in sums))

    def test_its_size(self):
        """Of the wheel a quarter is its libraries. The sdist has the tests, too, for who packages it: a third of it."""
        self.assertLess(self.wheel.stat().st_size, 3_000_000)
        self.assertLess(self.other.stat().st_size, 3_000_000)
        self.assertLess(self.sdist.stat().st_size, 4_000_000)

    def test_what_it_says_of_itself(self):
        self.assertIn("Programming Language :: Python :: 3.11", self.metadata.get_all("Classifier"))
        self.assertIn("Operating System :: POSIX :: Linux", self.metadata.get_all("Classifier"))
        self.assertEqual(self.metadata["Author"], "The Portolan developers")
        self.assertEqual(self.metadata["License-Expression"], "MIT AND BSD-3-Clause AND ISC")
        self.assertTrue(self.metadata["Keywords"])
        self.assertEqual(dict(line.split(", ") for line in self.metadata.get_all("Project-URL")),
                         {"Homepage": HOME, "Source": HOME, "Documentation": f"{HOME}/blob/main/client/python/README.md"})

    def test_every_link_of_its_page_is_absolute(self):
        targets = re.findall(r"\]\(([^()\s]+)\)", self.metadata.get_payload())
        self.assertEqual([target for target in targets if not target.startswith(("#", "https://"))], [])
        self.assertIn(f"{HOME}/blob/main/client/python/docs/torch.md", targets)

    def test_the_sdist_has_the_sources_and_says_the_same(self):
        with tarfile.open(self.sdist) as sdist:
            names = {name.partition("/")[2] for name in sdist.getnames()}
            (said,) = (sdist.extractfile(name).read() for name in sdist.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO"))
        tracked = set(output("git", "-C", ROOT, "ls-files").splitlines())
        self.assertLessEqual(tracked, names)
        self.assertEqual([name for name in names if name.startswith((".git/", "build"))], [])
        self.assertEqual(email.message_from_bytes(said).get_payload(), self.metadata.get_payload())

    def test_a_run_and_its_page_without_numpy_and_without_gnuplot(self):
        self.assertTrue((self.folder / "map.html").read_bytes().lower().startswith(b"<!doctype html>"))
        self.assertIn("\ntoy,30,3,90,closed,", self.user.run("portolan", "runs", "--store", "store", folder=self.folder))

    def test_its_own_libraries_are_used(self):
        inside = self.user.bin.parent
        self.assertEqual({Path(path).name.partition("-")[0] for path in self.mapped}, {"libzmq"})
        (package,) = inside.glob("lib/python3*/site-packages")
        for program in PROGRAMS:
            found = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", package / program), re.MULTILINE))
            own = {name: Path(path) for name, path in found.items() if name not in MACHINE}
            self.assertTrue(own)
            self.assertEqual({name for name, path in own.items() if not path.resolve().is_relative_to(inside.resolve())}, set(), program)
        self.assertTrue(all(Path(path).is_relative_to(inside.resolve()) for path in self.mapped), self.mapped)

    def test_encryption(self):
        """CURVE, which is libsodium's in libzmq."""
        self.user.run("portolan", "keygen", "keys", folder=self.folder)
        command = [self.user.bin / "portoland", "--store", "far", "--keys", "keys", "--listen", "tcp://127.0.0.1:*"]
        with subprocess.Popen(command, cwd=self.folder, env=self.user.variables, stderr=subprocess.PIPE, text=True) as collector:
            try:
                endpoint = next(found[1] for line in collector.stderr if (found := re.search(r" serving .*(tcp://[^\s,]*)", line)))
                self.assertEqual(self.user.run("python", "-c", REMOTE, endpoint, folder=self.folder), "3\n")
            finally:
                collector.terminate()
                collector.communicate()

    def test_the_live_page(self):
        """By HTTP, which is libmicrohttpd's, compiled without TLS."""
        command = [self.user.bin / "portolan", "serve", "toy", "--store", "store", "--no-open"]
        with subprocess.Popen(command, cwd=self.folder, env=self.user.variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
            try:
                address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
                with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
                    self.assertIn(b"<html lang=", answer.read())
            finally:
                server.terminate()
                server.communicate()


if __name__ == "__main__":
    unittest.main()
