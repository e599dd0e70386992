"""Systems that Portolan does not run on: Meson, and so pip with the sdist, says which ones do, and how to have one, in place of a compiler's error.

other_systems.py SOURCE_ROOT MESON...
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, MESON = sys.argv[1], sys.argv[2:]
del sys.argv[1:]
CROSS = """[binaries]
c = {c}
[host_machine]
system = '{system}'
cpu_family = '{processor}'
cpu = '{processor}'
endian = 'little'
"""
# Lines that stand for <features.h>, which says what C library it is.
MUSL = "#define __STDC_ISO_10646__ 201206L\n"
OLDER = "#include_next <features.h>\n#undef __GLIBC_MINOR__\n#define __GLIBC_MINOR__ 17\n"


class OtherSystems(unittest.TestCase):
    def configure(self, system, compiler="['no-such-compiler']", processor="x86_64", features=None):
        with tempfile.TemporaryDirectory(prefix="systems-") as folder:
            if features is not None:
                Path(folder, "features.h").write_text(features, encoding="utf-8")
                compiler = f"['cc', '-isystem{folder}']"
            file = Path(folder, "cross.ini")
            file.write_text(CROSS.format(c=compiler, system=system, processor=processor), encoding="utf-8")
            done = subprocess.run([*MESON, "setup", f"--cross-file={file}", "-Dtests=false", "-Dpython=disabled", f"{folder}/build", ROOT],
                                  capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr

    def refused(self, said, **machine):
        output = self.configure(**machine)
        for words in (said, "Linux with glibc 2.28 or later on x86_64 and aarch64", 'docker run -it -v "$PWD:/work"', "WSL"):
            self.assertIn(words, output)

    def test_macos_and_windows_even_without_a_compiler(self):
        self.refused("this is darwin", system="darwin", processor="aarch64")
        self.refused("this is windows", system="windows")

    def test_musl(self):
        self.refused("another one (musl?)", system="linux", features=MUSL)

    def test_an_older_glibc(self):
        self.refused("this system has an older one", system="linux", features=OLDER)


if __name__ == "__main__":
    unittest.main()
