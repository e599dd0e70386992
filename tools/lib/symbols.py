"""symbols.py WHEEL PROCESSOR: ends with status 1 where a program or library in a wheel is for another processor, or asks for a symbol that RHEL 8 has not.

auditwheel looks for the same. This says which symbol it is, and of which file; and that each file has what the tag of the wheel promises, not only that the tag is there.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MOST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (8, 0, 0)}  # manylinux_2_28
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}


def readelf(option, path):
    return subprocess.run(["readelf", option, "-W", path], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}).stdout


def too_new(names):
    """Of `names`, versions of symbols as readelf prints them, those that are later than MOST, or of something that is not there."""
    found = []
    for name in names:
        library, _, version = name.partition("_")
        numbers = tuple(int(part) for part in version.split(".")) if re.fullmatch(r"[0-9.]+", version) else None
        if library not in MOST or numbers is None or numbers > MOST[library]:
            found.append(name)
    return sorted(found)


def faults(path, processor):
    machine = re.search(r"Machine:\s+(.*)", readelf("-h", path))[1]
    if MACHINES[processor] not in machine:
        yield f"is for {machine}"
    asked = readelf("--dyn-syms", path)
    for late in too_new(set(re.findall(r" UND \S+@([A-Z]+_\S+)", asked))):
        yield f"asks for symbols of {late}"
    # What no library had when it was linked, as an extension may; Python's, and those of the libraries in the wheel, have no versions.
    for name in re.findall(r" GLOBAL +DEFAULT +UND (\w+)$", asked, re.MULTILINE):
        if not name.startswith(("Py", "_Py", "zmq_", "mdb_", "MHD_")):
            yield f"asks for {name}, which this C library has not"
    if re.search(r"GNU_STACK.*\bRWE\b", readelf("-l", path)):
        yield "has a stack that may be executed"


def main(wheel, processor):
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        programs = [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        said = [f"{path.relative_to(folder)} {fault}" for path in programs for fault in faults(path, processor)]
    if said or not programs:
        raise SystemExit("\n".join(said) or "no program in the wheel")
    print(f"{len(programs)} files ask for nothing later than glibc 2.28")


if __name__ == "__main__":
    main(*sys.argv[1:])
