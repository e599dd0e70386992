"""versions.py [--notes]: the version that the sources have. Ends with status 1 where two files name different ones, or where CHANGELOG.md does not begin with it.

--notes prints what CHANGELOG.md says of it.
"""

import re
import sys
import tomllib
from pathlib import Path

# {file: how its version is written}; the build takes the package's from meson.build.
PLACES = {
    "meson.build": r"^project\('portolan',\s+version: '([^']+)'",
    "include/portolan/portolan.h": r'^#define PORTOLAN_VERSION "([^"]+)"',
    "CITATION.cff": r"^version: \"?([^\s\"]+)",
    "CHANGELOG.md": r"^## (\S+)",
}


def versions(root):
    """{file: version}; '' where there is none."""
    found = {}
    for name, pattern in PLACES.items():
        path = Path(root, name)
        match = re.search(pattern, path.read_text(encoding="utf-8") if path.exists() else "", re.MULTILINE)
        found[name] = match[1] if match else ""
    project = tomllib.loads(Path(root, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "version" in project:
        found["pyproject.toml"] = project["version"]
    return found


def notes(root):
    """What CHANGELOG.md says of the newest version."""
    return re.split(r"^## .*\n", Path(root, "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1].strip() + "\n"


def main(arguments):
    root = Path(__file__).parents[2]
    found = versions(root)
    if len(set(found.values())) != 1 or "" in found.values():
        raise SystemExit("the files disagree on the version: " + ", ".join(f"{name} has {version or 'none'}" for name, version in found.items()))
    print(notes(root) if arguments == ["--notes"] else found["meson.build"], end="" if arguments else "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
