"""The version is the same everywhere: programs, package, header, pkg-config, soname, the newest part of CHANGELOG.md.

    version.py VERSION BUILD SOURCE    VERSION is that of meson.build, the one place that says it
"""

import os
import pathlib
import re
import subprocess
import sys

VERSION, BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def output(*command, **environment):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout


def stated():
    """What says a version, and which one."""
    yield "portolan --version", output(BUILD / "analyzer" / "portolan", "--version").split()[1]
    yield "portoland --version", output(BUILD / "collector" / "portoland", "--version").split()[1]
    yield "portolan.h", re.search(r'PORTOLAN_VERSION "(.*?)"', (SOURCE / "include" / "portolan" / "portolan.h").read_text())[1]
    yield "portolan.pc", re.search(r"^Version: (.*)$", (BUILD / "meson-private" / "portolan.pc").read_text(), re.M)[1]
    yield "libportolan.so", os.path.basename(os.path.realpath(BUILD / "client" / "libportolan.so")).removeprefix("libportolan.so.")
    yield "CHANGELOG.md", re.search(r"^## (\S+)", (SOURCE / "CHANGELOG.md").read_text(), re.M)[1]
    if (BUILD / "python" / "portolan").exists():
        yield "portolan.__version__", output(sys.executable, "-c", "import portolan; print(portolan.__version__)", PYTHONPATH=str(BUILD / "python")).strip()
    if (SOURCE / "CITATION.cff").exists():
        yield "CITATION.cff", re.search(r"^version: *[\"']?([^\"'\s]+)", (SOURCE / "CITATION.cff").read_text(), re.M)[1]


def main():
    wrong = [f"{what} says {version}, and meson.build {VERSION}" for what, version in stated() if version != VERSION]
    print("\n".join(wrong) or f"all say {VERSION}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
