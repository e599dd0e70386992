"""published.py FOLDER [HOME]: makes the sources in FOLDER those of a package that is published: pyproject.toml gets the address HOME (default: what its
[tool.portolan] says), and the links of the page that PyPI shows become absolute. Without an address the names of files stay, as plain text.
"""

import posixpath
import re
import sys
import tomllib
from pathlib import Path

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//", re.IGNORECASE)


def absolute(text, page, home, file):
    """`text`: Markdown; `page`: its path in the sources; `file`: what a file's address is made by, from {home} and {path}."""

    def link(match):
        picture, words, target = match.groups()
        if _ELSEWHERE.match(target):
            return match[0]
        if not home:
            return words
        path, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if path.startswith(".."):
            raise SystemExit(f"{page}: the link {target} leaves the sources")
        return f"{picture}[{words}]({file.format(home=home, path=path)}{mark}{anchor})"

    parts = _FENCE.split(text)  # what stands between, and then a block of code
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def main(folder, home=""):
    project = Path(folder) / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    ours = settings["tool"]["portolan"]
    home = (home or ours["home"]).rstrip("/")
    page = settings["project"]["readme"]
    readme = Path(folder) / page
    readme.write_text(absolute(readme.read_text(encoding="utf-8"), page, home, ours["file"]), encoding="utf-8")
    if home:
        manual = ours["file"].format(home=home, path=page)
        urls = f'[project.urls]\nHomepage = "{home}"\nSource = "{home}"\nDocumentation = "{manual}"\n'
        project.write_text(f"{text}\n{urls}", encoding="utf-8")
    else:
        print("note: no address: pyproject.toml's [tool.portolan] has none, and --home gave none")


if __name__ == "__main__":
    main(*sys.argv[1:])
