"""The page without data stays small: the files that the server sends, and the page as one file, both compressed.

    run_page_size.py PORTOLAN MAKE_STORE
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving
import stores
from checks import check, finish

MOST = 250_000  # bytes
REFERENCES = re.compile(r'(?:src|href)="(page/[^"]+)"')
IMPORTS = re.compile(r'(?:\bfrom|\bimport)\s*\(?\s*"\./([\w-]+\.js)"')
DATA = re.compile(r'<script[^>]*id="file-.*?</script>', re.S)


def sent(server, path):
    """(the bytes of the body as they are sent, the text that they mean)."""
    answer, content = server.request(path, Accept_Encoding="gzip")
    check(answer.status == 200 and answer.getheader("Content-Encoding") == "gzip", f"{path}: {answer.status}, {answer.getheader('Content-Encoding')}")
    return len(content), gzip.decompress(content).decode()


def test_files(portolan, store):
    """All that a browser loads: what the page names, and what its modules import."""
    with serving.serving(portolan, "--store", store) as server:
        sizes, waiting = {}, ["/"]
        while waiting:
            path = waiting.pop()
            if path in sizes:
                continue
            sizes[path], text = sent(server, path)
            waiting += [f"/{found}" for found in REFERENCES.findall(text)] if path == "/" else []
            waiting += [f"/page/{found}" for found in IMPORTS.findall(text)] if path.endswith(".js") and "d3" not in path else []
    check(len(sizes) > 50, f"only {len(sizes)} files")
    print(f"{len(sizes)} files, compressed: {sum(sizes.values()):,} bytes")
    check(sum(sizes.values()) <= MOST, f"the page without data is {sum(sizes.values()):,} bytes, compressed; the largest: {sorted(sizes, key=sizes.get)[-5:]}")


def test_document(portolan, store, folder):
    path = os.path.join(folder, "map.html")
    subprocess.run([portolan, "map", "small", "--store", store, "-o", path], capture_output=True, check=True)
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    page, blocks = DATA.subn("", text)
    check(blocks >= 5 and len(page) < len(text), f"{blocks} elements of data")
    size = len(gzip.compress(page.encode(), 9, mtime=0))
    print(f"the page as one file without its data, compressed: {size:,} bytes")
    check(size <= MOST, f"the page as one file without its data is {size:,} bytes, compressed")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store, random = os.path.join(folder, "store"), np.random.default_rng(3)
        p = random.random(40).astype("f4")
        stores.make_store(make_store, store, [stores.run("small", [stores.batch(0, np.arange(40), p, p > 0.5, random.integers(0, 2, 40))])])
        test_files(portolan, store)
        test_document(portolan, store, folder)
    finish()


main()
