"""site_checks.py FOLDER: ends with status 1 where a page of a site links to a file or an anchor that is not there, or loads anything from another host; or where nothing can
be searched. The generator checks the links of the pages as they are written; this reads what it made of them.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data"}


class Page(HTMLParser):
    """.anchors, .links (of <a>) and .loaded (by the browser, without a click) of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])
        if values.get(LOADED.get(tag, "")) and not (tag == "link" and values.get("rel") in ("canonical", "prev", "next", "alternate")):
            self.loaded.add(values[LOADED[tag]])


def faults(folder):
    folder = Path(folder)
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    for path, page in sorted(pages.items()):
        name = path.relative_to(folder.resolve())
        for target in sorted(page.loaded | page.links):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    yield f"{name} loads {target}"
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file():
                yield f"{name} leads to {target}, which is not there"
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors and parts.fragment != "__skip":
                yield f"{name} leads to {target}, which has no such anchor"
    for sheet in folder.rglob("*.css"):
        if "url(http" in sheet.read_text(encoding="utf-8") or "url(//" in sheet.read_text(encoding="utf-8"):
            yield f"{sheet.relative_to(folder)} loads something from another host"
    if not any(path.stat().st_size > 10_000 for path in folder.rglob("search_index.js*")):
        yield "there is no index to search"
    if not pages:
        yield "there is no page"


def main(folder):
    said = list(faults(folder))
    if said:
        raise SystemExit("\n".join(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
