"""manual.py HEADER [FUNCTION...]: the manual of the C library, made of the comments in its public header.

With functions, which share one page, prints that page as scdoc reads it; the first of them names it. Without one prints portolan(3), which all others lead to.
manual.py --markdown HEADER prints all of it as one page in Markdown; manual.py --list HEADER the functions, a line for each comment.

A comment belongs to what stands right below it. A function without a comment belongs to the function above it. A page has the types that its functions name, those that
these name, and the macros whose comments name the functions.
"""

import re
import sys
import textwrap

_ITEM = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<macro>#define[^\n/]*)|(?P<other>#[^\n]*)|(?P<declared>\w(?:/\*.*?\*/|\{(?:/\*.*?\*/|[^}])*\}|[^;{/])+;)", re.DOTALL)
_WORD = re.compile(r"\w+")
_OF_EVERY_PAGE = {"enum", "portolan_run", "portolan_error"}  # on portolan(3)


def plain(comment):
    """The lines of a comment without its stars."""
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.removeprefix("/*").removesuffix("*/").strip("\n").split("\n")]


def joined(comment):
    """The paragraphs of a comment."""
    return [" ".join(part.split()) for part in "\n".join(plain(comment)).split("\n\n") if part.strip()]


def members(body, separator):
    """[(declaration, what is said of it)] of the body of a struct (separator ';') or an enum (',')."""
    found, before = [], ""
    for part in re.finditer(rf"(?P<own>(?:^|\n)\s*/\*.*?\*/)|(?P<comment>/\*.*?\*/)|(?P<declared>[^/{separator}]+){separator}?", body.strip("\n") + "\n", re.DOTALL):
        if part["own"]:
            before = " ".join(joined(part["own"].strip()))
        elif part["comment"]:
            found[-1] = (found[-1][0], " ".join([*filter(None, [found[-1][1]]), *joined(part["comment"])]))
        elif part["declared"].strip():
            if separator == "," and found and not found[-1][1]:
                found[-1] = (f"{found[-1][0]}, {' '.join(part['declared'].split())}", before)
            else:
                found.append((" ".join(part["declared"].split()), before))
            before = ""
    return found


class Header:
    """What a header declares: .introduction, .functions, a list of (names, prototypes, comment); .types {name: (title, comment, members)}; .macros [(name, comment, members)]."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.introduction, rest = text.split("*/", 1)
        rest = re.sub(r"^#if.*?^#endif", "", rest.removesuffix("#endif\n"), flags=re.MULTILINE | re.DOTALL)
        self.functions, self.types, self.macros = [], {}, []
        comment, end = "", 0
        for item in _ITEM.finditer(rest):
            above, comment = comment if "\n\n" not in rest[end:item.start()] else "", ""
            end = item.end()
            if item["comment"]:
                if self.macros and self.macros[-1][3] == rest.count("\n", 0, item.start()):
                    name, said, values, line = self.macros.pop()
                    self.macros.append((name, said, [(values[0][0], " ".join(joined(item[0])))], line))
                    comment = above
                else:
                    comment = item[0]
            elif item["macro"]:
                self.macros.append((item[0].split()[1], above, [(item[0].removeprefix("#define ").strip(), "")], rest.count("\n", 0, item.start())))
                comment = above  # which is for the next macro, too
            elif item["declared"]:
                self.declared(item[0].strip(), above)

    def declared(self, text, comment):
        head, brace, body = text.partition("{")
        if text.startswith("PORTOLAN_PUBLIC"):
            name = re.search(r"(\w+)\(", text)[1]
            prototype = " ".join(text.removeprefix("PORTOLAN_PUBLIC").split())
            if comment:
                self.functions.append(([name], [prototype], comment))
            else:
                self.functions[-1][0].append(name)
                self.functions[-1][1].append(prototype)
        elif brace:
            title = head.strip()
            body = body[:body.rindex("}")]
            self.types[title.split()[-1]] = (title, comment, members(body, "," if title.startswith("enum") else ";"))

    def about_types(self, text, names):
        """Blocks about the types that a text names, those that they name, and the macros whose comments name one of the functions `names`."""
        wanted, queue = [], [text]
        while queue:
            for word in _WORD.findall(queue.pop(0)):
                if word in self.types and word not in (*wanted, *_OF_EVERY_PAGE):
                    wanted.append(word)
                    queue.append(" ".join(declaration for declaration, _ in self.types[word][2]))
        for title, comment, fields in (self.types[name] for name in self.types if name in wanted):
            yield "title", title
            yield from (("text", part) for part in joined(comment))
            yield "terms", fields
        yield from self.constants([macro for macro in self.macros if any(re.search(rf"\b{name}\b", macro[1] + macro[2][0][1]) for name in (*names, *wanted))])

    @staticmethod
    def constants(macros):
        """Blocks about macros, each comment once, before those that it stands above."""
        if macros:
            yield "title", "Constants"
        for comment in dict.fromkeys(macro[1] for macro in macros):
            yield from (("text", part) for part in joined(comment))
            yield "terms", [macro[2][0] for macro in macros if macro[1] == comment]

    def overview(self):
        """Blocks of the page portolan(3)."""
        lines = plain(self.introduction)
        middle = lines.index("Conventions")
        code = [line for line in lines[:middle] if line.startswith("    ")]
        yield "head", "Example"
        yield "code", textwrap.dedent("\n".join(code))
        yield "head", "Conventions"
        terms = re.findall(r"^  (\S+)\s+(.*?)(?=^  \S|\Z)", "\n".join(lines[middle + 1:]) + "\n", re.MULTILINE | re.DOTALL)
        yield "terms", [(term, " ".join(text.split())) for term, text in terms]
        yield "head", "Errors"
        yield "terms", self.types["enum"][2]
        title, _, fields = self.types["portolan_error"]
        yield "title", title
        yield "terms", fields
        types = {*self.types} - _OF_EVERY_PAGE
        names = {name for group, _, _ in self.functions for name in group}
        yield from self.constants([macro for macro in self.macros if not {*_WORD.findall(macro[1] + macro[2][0][1])} & (types | names)])

    def group(self, names, comment, prototypes):
        """Blocks of the page of some functions, after their prototypes."""
        yield "head", "Description"
        yield from (("text", part) for part in joined(comment))
        yield "head", "Return value"
        yield "text", "0 on success, else a negative code, PORTOLAN_E…: portolan(3) lists them, and says what holds of every call."
        types = list(self.about_types(" ".join(prototypes), names))
        if types:
            yield "head", "Types"
            yield from types


def sentence(comment):
    """The first sentence of a comment, as what a function does: 'opens a run'."""
    first = re.split(r"\.(?:\s|$)", re.sub(r"\s+\([^)]*\)", "", joined(comment)[0]).replace("`", ""), maxsplit=1)[0]
    return first[0].lower() + first[1:]


def literal(text):
    """A text for scdoc in which nothing is marked."""
    return re.sub(r"([\\*_~<>|#`])", r"\\\1", text)


def escaped(text):
    """A text for scdoc in which the names of functions are marked, and what stands in backquotes."""
    parts = re.split(r"`([^`]*)`|\b(portolan_\w+)\(\)", text)
    return "".join([literal(parts[i]) + (f"_{literal(parts[i + 1])}_" if parts[i + 1] else "") + (f"*{literal(parts[i + 2])}*()" if parts[i + 2] else "")
                    for i in range(0, len(parts) - 1, 3)] + [literal(parts[-1])])


def scdoc(blocks):
    for kind, value in blocks:
        if kind == "head":
            print(f"# {value.upper()}\n")
        elif kind == "title":
            print(f"## {value}\n")
        elif kind == "code":
            print(f"```\n{value}\n```\n")
        elif kind == "text":
            print(f"{escaped(value)}\n")
        else:
            for term, text in value:
                print(f"*{literal(term)}*\n" + (f"\t{escaped(text)}\n" if text else ""))


def markdown(blocks, level):
    for kind, value in blocks:
        if kind in ("head", "title"):
            print(f"{'#' * (level + (kind == 'title'))} {value}\n")
        elif kind == "code":
            print(f"```c\n{value}\n```\n")
        elif kind == "text":
            print(f"{value}\n".replace("*", "\\*"))
        else:
            for term, text in value:
                print(f"- `{term}`" + (": " + text.replace("*", "\\*") if text else ""))
            print()


def broken(prototype):
    """A prototype over lines that fit a page of the manual."""
    kept = re.sub(r"(?<!,) ", "\0", prototype)  # a line ends after a comma
    return textwrap.fill(kept, 68, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def page(header, version, names):
    title, pages = (names or ["portolan"])[0], [group[0][0] for group in header.functions]
    print(f'{title}(3) "Portolan {version}"\n')
    if not names:
        what = joined(header.introduction.split("\n\n")[0].split("\n *\n")[0] + "*/")[0]
        what = re.sub(r"^portolan\.h: ", "", what).rstrip(".")
        print(f"# NAME\n\nportolan - {escaped(what)}\n\n# SYNOPSIS\n\n```\n#include <portolan/portolan.h>\n\n$ cc … $(pkg-config --cflags --libs portolan)\n```\n")
        scdoc(header.overview())
        print("# FUNCTIONS\n")
        scdoc([("terms", [(", ".join(name + "()" for name in group), sentence(comment)) for group, _, comment in header.functions])])
        also = pages
    else:
        group, prototypes, comment = next(found for found in header.functions if found[0] == names)
        prototypes_text = "\n\n".join(broken(one) for one in prototypes)
        print(f"# NAME\n\n{', '.join(literal(name) for name in group)} - {escaped(sentence(comment))}\n")
        print(f"# SYNOPSIS\n\n```\n#include <portolan/portolan.h>\n\n{prototypes_text}\n```\n")
        scdoc(header.group(group, comment, prototypes))
        also = ["portolan", *[name for name in pages if name != title]]
    print("# SEE ALSO\n\n" + ", ".join(f"*{literal(name)}*(3)" for name in also) + ("" if names else ", *portolan*(1), *portoland*(1)"))


def whole(header):
    print("# The C library\n\nMade of the comments in `include/portolan/portolan.h`.\n")
    markdown(header.overview(), 2)
    for group, prototypes, comment in header.functions:
        print(f"## {', '.join(group)}\n\n```c\n" + "\n\n".join(broken(one) for one in prototypes) + "\n```\n")
        markdown([block for block in header.group(group, comment, prototypes) if block[1] not in ("Description",)], 3)


def main(arguments):
    kind = arguments.pop(0) if arguments[0].startswith("--") else ""
    path, *names = arguments
    header = Header(path)
    version = next(values[0][0].split('"')[1] for name, _, values, _ in header.macros if name == "PORTOLAN_VERSION")
    groups = [group for group, _, _ in header.functions]
    if kind == "--list":
        print("\n".join(" ".join(group) for group in groups))
    elif kind == "--markdown":
        whole(header)
    elif names and names not in groups:
        sys.exit(f"{path}: no comment stands above {' '.join(names)} and these alone; there are: {'; '.join(' '.join(group) for group in groups)}")
    else:
        page(header, version, names)


if __name__ == "__main__":
    main(sys.argv[1:])
