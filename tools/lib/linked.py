"""linked.py PAGE...: the files that these Markdown pages link to and that are no such pages themselves, one a line: pictures, sources."""

import posixpath
import re
import sys
from pathlib import Path

_FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")


def main(pages):
    found = set()
    for page in pages:
        for target in _LINK.findall(_FENCE.sub("", Path(page).read_text(encoding="utf-8"))):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if not path.endswith(".md") and Path(path).is_file():  # a link to nothing is the generator's to refuse
                found.add(path)
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
