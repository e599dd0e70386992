"""What make.py and the tests share: where the golden files are, packed stores, and what portolan says of a run. No state."""

import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / "1.0"
EXPORTS = FILES / "exports"
SUMS = HERE / "SHA256SUMS"
PATIENCE = 120  # seconds; who waits longer waits for what will not come

STORES = {  # which runs each golden store has
    "recorded": ["words/declared", "words/flipped", "integers", "texts", "given", "losses", "regression", "resumed", "ranks", "explained"],
    "unfolded": ["unfolded", "half"],
    "killed": ["interrupted"],
}
EXPLAINED = "explained", range(6)  # the run that keeps texts, and its ids
LARGE = {"given"}  # of these a checksum stands for the tables


def pack(folder, path):
    """The folder's data.mdb as a .tar.xz that depends on nothing but its content. The other files of a store are locks and sockets of this machine."""
    content = (pathlib.Path(folder) / "data.mdb").read_bytes()
    member = tarfile.TarInfo("data.mdb")
    member.size, member.mode = len(content), 0o600
    with tarfile.open(path, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(content))


def unpack(name, folder):
    """Golden store `name`, as the folder, which must not exist."""
    os.mkdir(folder, 0o700)
    with tarfile.open(FILES / "stores" / f"{name}.tar.xz") as archive:
        (pathlib.Path(folder) / "data.mdb").write_bytes(archive.extractfile("data.mdb").read())
    return folder


def said(portolan, store, *words, status=0):
    """What `portolan WORDS --store STORE` prints on stdout; it must end with `status`."""
    done = subprocess.run([portolan, *words, "--store", str(store)], capture_output=True, text=True, timeout=PATIENCE,
                          env=dict(os.environ, SOURCE_DATE_EPOCH="0", LC_ALL="C.UTF-8"))
    assert done.returncode == status, f"portolan {' '.join(words)}: exit status {done.returncode}, not {status}: {done.stderr}"
    return done.stdout


def texts(portolan, store, run, ids):
    """[the texts that the store keeps of each example, or None], as JSON."""
    shown = json.loads(said(portolan, store, "show", run, *map(str, ids), "--json"))["examples"]
    return json.dumps([one.get("text") for one in shown], ensure_ascii=False, indent=1) + "\n"


def file_name(run):
    return run.replace("/", "-")


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def named():
    """{file: checksum}, as SHA256SUMS has them: files are named from this folder on."""
    return {name: digest for digest, name in (line.split("  ", 1) for line in SUMS.read_text().splitlines())}


def there():
    """The files of which SHA256SUMS must name each: the golden files, and the frames of the wire."""
    frames = sorted((HERE.parent / "wire").glob("*.bin"))
    return [*(path.relative_to(HERE).as_posix() for path in sorted(FILES.rglob("*")) if path.is_file()), *(f"../wire/{path.name}" for path in frames)]
