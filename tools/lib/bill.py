"""What a wheel is made of, as a CycloneDX bill of materials: the libraries that it carries and those that are linked in, each with its version, licence, and the files that
Debian has its source in, with their checksums; the C++ library of Zig's, and d3. licences.py puts it into the wheel.

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


def written(version, page, folder, zig, codename):
    """The bill as JSON. `page`: d3 as the sources have it; `folder`: what libraries.sh compiled."""
    d3 = re.match(r"// https://d3js\.org v([\d.]+)", page)[1]
    program = Component(name="portolan", version=version, type=ComponentType.APPLICATION, bom_ref="portolan", purl=PackageURL("pypi", None, "portolan", version),
                        licenses=[LicenseExpression("MIT AND BSD-3-Clause AND ISC")])
    parts = [library(folder, path.stem, codename) for path in sorted(folder.glob("*.version"))]
    parts.append(Component(name="libc++", version=zig, type=ComponentType.LIBRARY, bom_ref="libc++", purl=PackageURL("pypi", None, "ziglang", zig),
                           licenses=[LicenseExpression("Apache-2.0 WITH LLVM-exception")], properties=[Property(name="portolan:linked", value="linked into libzmq")]))
    parts.append(Component(name="d3", version=d3, type=ComponentType.LIBRARY, bom_ref="d3", purl=PackageURL("npm", None, "d3", d3), licenses=[LicenseExpression("BSD-3-Clause AND ISC AND MIT")],
                           properties=[Property(name="portolan:linked", value="a part of the live page")]))
    bill = Bom(components=parts)
    bill.metadata.component = program
    bill.register_dependency(program, parts)
    # The same bill for the same parts: no random number, and the time of the commit.
    bill.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    bill.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, " ".join([str(program.purl), *sorted(str(part.purl) for part in parts), codename]))
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
