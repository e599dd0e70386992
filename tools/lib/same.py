"""same.py FOLDER FOLDER: ends with status 1 unless two folders of packages (.whl, .tar.gz) hold the same files, byte for byte; says which part of a package differs."""

import sys
import tarfile
import zipfile
from pathlib import Path


def parts(path):
    """[(name, what is kept of it, content)] of what a package holds, in its order."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return [(one.filename, (one.date_time, one.external_attr, one.compress_type, one.extra), archive.read(one)) for one in archive.infolist()]
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            return [(one.name, (one.mtime, one.mode, one.uid, one.gid, one.uname, one.gname, one.pax_headers), archive.extractfile(one).read() if one.isfile() else b"")
                    for one in archive.getmembers()]
    return []


def differences(one, other):
    """Yields what differs between two files of packages that are not the same."""
    first, second = parts(one), parts(other)
    if not first:
        yield f"{one.name}: its content"
        return
    if [name for name, _, _ in first] != [name for name, _, _ in second]:
        missing = {name for name, _, _ in first} ^ {name for name, _, _ in second}
        yield f"{one.name}: in one alone: {', '.join(sorted(missing))}" if missing else f"{one.name}: the order of its parts"
        return
    count = 0
    for (name, kept, content), (_, also_kept, also_content) in zip(first, second, strict=True):
        if content != also_content:
            yield f"{one.name}: {name}: its content"
            count += 1
        if kept != also_kept:
            yield f"{one.name}: {name}: {kept} and {also_kept}"
            count += 1
    if not count:
        yield f"{one.name}: how it is packed, not what is in it" + (f" (gzip's headers {header(one)} and {header(other)})" if one.name.endswith(".gz") else "")


def header(path):
    return path.read_bytes()[:10].hex()


def main(first, second):
    first, second = Path(first), Path(second)
    names, others = ({path.name for path in folder.iterdir()} for folder in (first, second))
    said = [f"in one folder alone: {name}" for name in sorted(names ^ others)]
    for name in sorted(names & others):
        if (first / name).read_bytes() != (second / name).read_bytes():
            said += differences(first / name, second / name)
    if said or not names:
        raise SystemExit("\n".join(said) or f"{first} is empty")
    print(f"{len(names)} files are the same, byte for byte: {', '.join(sorted(names))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
