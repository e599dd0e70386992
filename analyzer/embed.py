"""Writes files as C on standard output: the help of commands and of their options (.md) as struct help help_NAME, other files as strings script_NAME.

A help file named help.md is called as its folder. This is what one looks like; paragraphs may be broken anywhere:

    # portolan NAME           The first paragraph is the summary.
    ## Examples               Pairs: what it does, and, indented, the command line.
    ## Description            The text of the help.
    ## Options                A link in the first paragraph leads to a file that has further options.
    ### --NAME                The help of one option. It may begin with a link to an option in another file, in the place of that one's help.
"""

import json
import os
import re
import sys


class Help:
    def __init__(self, path):
        self.path, self.name = path, os.path.splitext(os.path.basename(path))[0]
        if self.name == "help":
            self.name = os.path.basename(os.path.dirname(os.path.abspath(path)))
        with open(path, encoding="utf-8") as file:
            parts = re.split(r"^(#+ .*)\n", file.read(), flags=re.MULTILINE)
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        self.require(len(sections) == len(parts) // 2 and not parts[0].strip(), "it begins with a heading, and no heading stands there twice")
        title = next(iter(sections))
        summary = self.paragraphs(sections.pop(title))
        self.summary = summary[0] if summary else ""
        lines = [line for line in sections.pop("## Examples", "").split("\n") if line]
        self.require(all(line.startswith("    ") == (i % 2 == 1) for i, line in enumerate(lines)) and len(lines) % 2 == 0,
                     "an example is a line that says what it does, and an indented line")
        self.examples = "".join(line.strip() + "\n" for line in lines)
        self.text = "\n\n".join(self.paragraphs(sections.pop("## Description", "")))
        more = re.search(r"\]\((.*?)\)", sections.pop("## Options", ""))
        self.more = Help(self.beside(more[1])) if more else None
        self.options = {}
        for heading, text in sections.items():
            words = self.paragraphs(text)
            self.require(heading.startswith("### --") and len(words) == 1, f"'{heading}' is no option with one paragraph of help")
            self.options[heading.removeprefix("### --")] = re.sub(r"^\[.*?\]\((.*?)#--(.*?)\)", self.borrow, words[0])
        self.require(all((self.summary, self.examples, self.text)) or not title.startswith("# portolan "), "summary, examples or description is missing")

    def require(self, holds, what):
        if not holds:
            sys.exit(f"{self.path}: {what}")

    def beside(self, link):
        return os.path.join(os.path.dirname(self.path), link)

    def borrow(self, link):
        options = Help(self.beside(link[1])).options
        self.require(link[2] in options, f"there is no --{link[2]} in {link[1]}")
        return options[link[2]]

    @staticmethod
    def paragraphs(text):
        return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]

    def write(self):
        string = lambda text: json.dumps(text, ensure_ascii=False)
        options = "".join(f"\t\t{{{string(name)}, {string(text)}}},\n" for name, text in self.options.items())
        if self.more:
            print(f"extern const struct help help_{self.more.name};")
        print(f"const struct help help_{self.name} = {{\n\t{string(self.summary)},\n\t{string(self.examples)},\n\t{string(self.text)},\n"
              f"\t(const struct help_option[]){{\n{options}\t\t{{0}},\n\t}},\n\t{f'&help_{self.more.name}' if self.more else 'NULL'},\n}};")


if any(path.endswith(".md") for path in sys.argv[1:]):
    print('#include "options/command.h"\n')
for path in sys.argv[1:]:
    if path.endswith(".md"):
        Help(path).write()
        continue
    with open(path, "rb") as file:
        content = file.read()
    name = os.path.splitext(os.path.basename(path))[0]
    print(f"const char script_{name}[] = {{{', '.join(str(byte) for byte in content)}, 0}};")
