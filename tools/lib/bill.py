"""What a wheel is made of, as a CycloneDX bill of materials: the libraries that it carries and those that are linked in, each with its version, licence, and the files that
Debian has its source in, with their checksums; what the compilers link in, gcc and Zig; and d3. licences.py puts it into the wheel.

bill.py WHEEL FILE: takes it out of a wheel, reads it by CycloneDX's schema, and writes it to FILE.
"""

import json
import os
import re
import sys
import uuid
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

NAME = "portolan.cdx.json"
SHARED = {"zeromq3", "libmicrohttpd", "lmdb"}  # files of their own in the wheel
INSIDE = {"libsodium": "libzmq"}  # the rest is linked into the programs
# How Debian's copyright files call the licences of these libraries, and SPDX.
SPDX = {"Expat": "MIT", "MIT": "MIT", "ISC": "ISC", "BSL-1.0": "BSL-1.0", "BSD-2-clause": "BSD-2-Clause", "BSD-2-Clause": "BSD-2-Clause", "LGPL-2.1+": "LGPL-2.1-or-later",
        "LGPL-3+": "LGPL-3.0-or-later", "LGPL-3.0+": "LGPL-3.0-or-later", "OpenLDAP-2.8": "OLDAP-2.8", "Boost-1.0": "BSL-1.0"}


def licence(copyright_file):
    """Debian's name of the licence of most files of a package; '' where it does not say it so that a program can read it."""
    found = re.search(r"^Files: \*\n(?:.*\n)*?License: *(.+)", copyright_file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].strip() if found else ""


def library(folder, name, codename):
    version = (folder / f"{name}.version").read_text(encoding="utf-8").strip()
    said = licence(folder / f"{name}.copyright")
    where = "a shared library in the wheel" if name in SHARED else f"linked into {INSIDE.get(name, 'the programs and the extension')}"
    sources = [line.split() for line in (folder / f"{name}.sha256").read_text(encoding="utf-8").splitlines()]
    known = SPDX.get(said)
    return Component(
        name=name, version=version, type=ComponentType.LIBRARY, bom_ref=name,
        purl=PackageURL("deb", "debian", name, version, {"arch": "source", "distro": codename}),
        licenses=[DisjunctiveLicense(id=known) if known else DisjunctiveLicense(name=said or f"see licenses/libraries/{name}.txt")],
        external_references=[ExternalReference(type=ExternalReferenceType.SOURCE_DISTRIBUTION, url=XsUri(f"https://snapshot.debian.org/package/{name}/{version}/"), comment=file,
                                               hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)]) for checksum, file in sources],
        properties=[Property(name="portolan:linked", value=where)])


def of_compilers(folder, zig, codename):
    """What the compilers of glibc.sh (in `folder`) link in of their own: libgcc, as gcc has -static-libgcc; and of Zig the C++ library and what it rests on."""
    source, source_version, version = (folder / "libgcc").read_text(encoding="utf-8").split()
    yield Component(name="libgcc", version=version, type=ComponentType.LIBRARY, bom_ref="libgcc",
                    purl=PackageURL("deb", "debian", source, source_version, {"arch": "source", "distro": codename}),
                    licenses=[LicenseExpression("GPL-3.0-or-later WITH GCC-exception-3.1")],
                    properties=[Property(name="portolan:linked", value="linked into the programs, the extension, libmicrohttpd and LMDB, as far as they call it")])
    for name in ("libc++", "libc++abi", "libunwind", "compiler-rt"):  # Zig's compiler-rt is written anew, in Zig, after LLVM's
        expression = "MIT AND Apache-2.0 WITH LLVM-exception" if name == "compiler-rt" else "Apache-2.0 WITH LLVM-exception"
        yield Component(name=name, version=zig, type=ComponentType.LIBRARY, bom_ref=name, purl=PackageURL("pypi", None, "ziglang", zig),
                        licenses=[LicenseExpression(expression)], properties=[Property(name="portolan:linked", value="linked into libzmq, as far as it calls it")])


def written(version, page, folder, compilers, zig, codename, processor):
    """The bill as JSON. `page`: d3 as the sources have it; `folder`: what libraries.sh compiled, by `compilers`, glibc.sh's."""
    d3 = re.match(r"// https://d3js\.org v([\d.]+)", page)[1]
    program = Component(name="portolan", version=version, type=ComponentType.APPLICATION, bom_ref="portolan", purl=PackageURL("pypi", None, "portolan", version),
                        licenses=[LicenseExpression("MIT AND BSD-3-Clause AND ISC")])
    parts = [library(folder, path.stem, codename) for path in sorted(folder.glob("*.version"))]
    parts += of_compilers(compilers, zig, codename)
    parts.append(Component(name="d3", version=d3, type=ComponentType.LIBRARY, bom_ref="d3", purl=PackageURL("npm", None, "d3", d3), licenses=[LicenseExpression("BSD-3-Clause AND ISC AND MIT")],
                           properties=[Property(name="portolan:linked", value="a part of the live page")]))
    bill = Bom(components=parts)
    bill.metadata.component = program
    bill.register_dependency(program, parts)
    # The same bill for the same wheel, and another for each other one: no random number, and the time of the commit.
    bill.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    told = [str(program.purl), *sorted(str(part.purl) for part in parts), codename, processor, os.environ["SOURCE_DATE_EPOCH"]]
    bill.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, " ".join(told))
    return JsonV1Dot6(bill).output_as_string(indent=2) + "\n"


def main(wheel, file):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(f".dist-info/sboms/{NAME}"))
        text = archive.read(name).decode()
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault:
        raise SystemExit(f"{name} is not what CycloneDX's schema asks for: {fault}")
    Path(file).write_text(text, encoding="utf-8")
    print(f"{len(json.loads(text)['components'])} parts")


if __name__ == "__main__":
    main(*sys.argv[1:])
