"""portolan.export() and `python -m portolan` as far as they go without pyarrow. What is written is in tests/frameworks/test_export.py."""

import io
import os
import subprocess
import sys
import threading

import pytest

import portolan
from portolan._exporting import _ahead, _folder, _progress

WITHOUT = "import sys; sys.modules['pyarrow'] = None"  # as if it were not there, also where it is


def run(*words, before="pass", **options):
    code = f"{before}\nimport sys\nfrom portolan._exporting._command import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False, **options)


def test_without_pyarrow(tmp_path):
    done = run("export", "r", "-o", tmp_path / "out", before=WITHOUT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "portolan: portolan.export() needs the package pyarrow: pip install pyarrow\n"
    assert not (tmp_path / "out").exists()


def test_without_numpy(tmp_path):
    done = run("export", "r", "-o", tmp_path / "out", before="import sys; sys.modules['numpy'] = None")
    assert done.returncode == 1 and done.stderr == "portolan: portolan.export() needs the package numpy: pip install numpy\n"


def test_help_and_wrong_usage():
    done = subprocess.run([sys.executable, "-m", "portolan", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "examples:\n  python -m portolan export snli/seed1 -o exported/" in done.stdout and "export  " in done.stdout
    done = run("export", "--help")
    assert done.returncode == 0 and "examples:" in done.stdout and "--epochs A:B" in done.stdout
    for words, message in (([], "required: COMMAND"), (["metrics", "r"], "invalid choice: 'metrics'"), (["export", "r"], "required: -o/--output"),
                           (["export", "r", "-o", "x", "--what", "maps"], "invalid choice: 'maps'")):
        done = run(*words)
        assert done.returncode == 2 and message in done.stderr, done


def test_a_name_as_a_folder(tmp_path):
    folder = _folder.Folder(tmp_path / "out", "a/b=ü %", "5" * 32)
    assert folder.part(3) == tmp_path / "out" / "run=a%2Fb%3D%C3%BC%20%25" / "epoch=3" / f"part-{'5' * 32}.parquet"
    assert _folder.Folder(tmp_path / "out", "..", "5").path == tmp_path / "out" / "run=.."
    assert not (tmp_path / "out").exists()
    folder.mark()
    folder.describe({"run": "ü"})
    assert sorted(os.listdir(tmp_path / "out")) == ["_portolan.json", "run=a%2Fb%3D%C3%BC%20%25"]
    assert os.listdir(folder.path) == [f"_portolan-{'5' * 32}.json"]
    with pytest.raises(portolan.Error, match="cannot write .*run=x{300}.*: File name too long"):
        _folder.Folder(tmp_path / "out", "x" * 300, "5").mark()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress(monkeypatch):
    for file, wanted in ((Terminal(), "\r\x1b[Kexporting r: 25% (5,000 of 20,000 rows)\r\x1b[K"), (io.StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", file)
        with _progress.Progress("exporting r", 20000, "rows") as progress:
            progress.add(5000)
        assert file.getvalue() == wanted


def test_reading_ahead():
    def items(n, end=None):
        yield from range(n)
        if end is not None:
            raise end

    with _ahead.Ahead(items(100), lambda: None) as numbers:
        assert list(numbers) == list(range(100))
    seen = []
    with pytest.raises(EOFError), _ahead.Ahead(items(5, EOFError()), lambda: None) as numbers:
        for number in numbers:
            seen.append(number)
    assert seen == list(range(5))


def test_reading_ahead_that_is_left_before_its_end():
    """What is waited for ends with stop()."""
    read, write = os.pipe()
    with open(read, "rb") as file:
        with pytest.raises(KeyboardInterrupt), _ahead.Ahead(iter(lambda: file.read(1), b""), lambda: os.close(write)) as pieces:
            os.write(write, b"a")
            assert next(pieces) == b"a"
            raise KeyboardInterrupt
    assert not [thread for thread in threading.enumerate() if thread.name == "portolan-ahead"]
