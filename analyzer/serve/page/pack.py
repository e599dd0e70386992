"""Packs the page into C (page.h), on standard output: pack.py FILE...

Comments that have lines of their own are left out: an eighth of the page. What remains has the line numbers of the sources.
Each file twice, as it is and by gzip; and all of them as one document that opens from disk. There a browser lets no
module load another one from a file, so each becomes a data: URL, which an import map names. Its text stands there as it is, but
for the characters that mean something in a URL, in JSON or in HTML: it compresses better than in base64.
"""

import base64
import gzip
import os
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}
IMPORT = re.compile(r'''(\bfrom\s*|\bimport\s*|\bimport\()(["'])\./([\w-]+\.js)\2''')
COMMENT = re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*$", re.MULTILINE | re.DOTALL)
DATA = "<!-- data -->"


def without_comments(content):
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), content.decode()).encode()


def read(paths):
    files = {}
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        name = os.path.basename(path)
        files[name] = without_comments(content) if name.endswith((".js", ".css")) and name != "d3.min.js" else content
    return files


def array(name, content):
    return f"static const unsigned char {name}[] = {{{','.join(map(str, content))},0}};"


def as_module(content):
    text = IMPORT.sub(r"\1\2portolan/\3\2", content.decode())
    return "data:text/javascript," + "".join(f"%{ord(c):02X}" if c in '%"#<?\\' or c < " " else c for c in text)


def replace(text, old, new):
    if text.count(old) != 1:
        sys.exit(f"pack.py: index.html must have this once: {old}")
    return text.replace(old, new)


def inline(text):
    """A script's text between <script> and </script>."""
    return text.replace("</script", "<\\/script")


def document(files):
    text = files["index.html"].decode()
    modules = {name: content for name, content in files.items() if name.endswith(".js") and name != "d3.min.js"}
    imports = ",".join(f'"portolan/{name}":"{as_module(content)}"' for name, content in modules.items())
    text = replace(text, '<link rel="stylesheet" href="page/style.css">', f"<style>{files['style.css'].decode()}</style>")
    text = replace(text, '<link rel="icon" href="page/icon.svg">', '<link rel="icon" href="data:image/svg+xml;base64,'
                   + base64.b64encode(files["icon.svg"]).decode() + '">')
    text = replace(text, '<script src="page/d3.min.js"></script>', f"<script>{inline(files['d3.min.js'].decode())}</script>")
    text = replace(text, '<script type="module" src="page/main.js"></script>',
                   f'<script type="importmap">{{"imports":{{{imports}}}}}</script>\n'
                   '<script type="module">import "portolan/main.js";</script>')
    text = replace(text, "<meta charset=\"utf-8\">", "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\""
                   "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:\">")
    begin, end = replace(text, DATA, "\0").split("\0")
    return begin.encode(), end.encode()


files = read(sys.argv[1:])
print('#include "serve/page.h"\n')
for number, content in enumerate(files.values()):
    print(array(f"bytes_{number}", content))
    print(array(f"packed_{number}", gzip.compress(content, 9, mtime=0)))
print("\nconst struct page_file page_files[] = {")
for number, name in enumerate(files):
    kind = TYPES[os.path.splitext(name)[1]]
    print(f'\t{{"{name}", "{kind}", bytes_{number}, packed_{number}, sizeof(bytes_{number}) - 1, sizeof(packed_{number}) - 1}},')
print("\t{0},\n};\n")
for name, content in zip(("begin", "end"), document(files)):
    print(array(f"document_{name}", content).replace("static ", "").replace("document_", "page_document_"))
    print(f"const size_t page_document_{name}_size = sizeof(page_document_{name}) - 1;")
