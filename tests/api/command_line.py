"""The commands and options of portolan and portoland are those of command_line.txt: a script that uses one goes on working. STABILITY.md says what is promised.

    command_line.py PORTOLAN PORTOLAND [--write]

Of an option the list has, a line for each: its name, with that of its argument if it takes one; its short form; its old name; each word that completion offers as its argument
(without a store, so no names of runs). --write writes the list anew, for a new command, option or word. A line that goes away is a new version's first number.
"""

import os
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parent / "command_line.txt"
NO_STORE = {**os.environ, "PORTOLAN_STORE": "/nonexistent"}


def candidates(portolan, *words):
    """What shell completion offers after these words."""
    done = subprocess.run([portolan, "completion", "candidates", "--", *words], capture_output=True, text=True, check=True, env=NO_STORE)
    return sorted(filter(None, (line.split("\t")[0] for line in done.stdout.splitlines())))


def told(shown):
    """{option: (letter or '', argument or '')}, as a help has them."""
    found = re.findall(r"^  (?:-(\w), |    |)(--[a-z][a-z0-9-]*)(?: (\S+(?: \S+)*))?(?:  |$)", shown, re.M)
    return {option: (letter, argument) for letter, option, argument in found}


def forms(program, option, letter, argument):
    yield f"{program} {option} {argument}".rstrip()
    if letter:
        yield f"{program} -{letter}, which is {option}"


def of_command(portolan, command):
    yield f"portolan {command}"
    for action in candidates(portolan, command, ""):
        yield f"portolan {command} {action}"
    shown = subprocess.run([portolan, "help", command], capture_output=True, text=True, check=True).stdout
    known = told(shown)
    for option in candidates(portolan, command, "--"):
        yield from forms(f"portolan {command}", option, *known[option])
        for word in candidates(portolan, command, f"{option}=") if known[option][1] else []:
            yield f"portolan {command} {word}"
    for option in sorted(re.findall(r"\(Also\s+(--[a-z-]+)\.\)", shown)):
        yield f"portolan {command} {option}, an old name"


def lines(portolan, portoland):
    for option in candidates(portolan, "--"):
        yield f"portolan {option}"
    for command in candidates(portolan, ""):
        yield from of_command(portolan, command)
    shown = subprocess.run([portoland, "--help"], capture_output=True, text=True, check=True).stdout
    for option, (letter, argument) in sorted(told(shown).items()):
        yield from forms("portoland", option, letter, argument)
    for command in re.findall(r"^       portoland ([a-z]+)", shown, re.M):
        yield f"portoland {command}"


def main():
    now = list(dict.fromkeys(lines(*sys.argv[1:3])))
    if "--write" in sys.argv[3:]:
        LIST.write_text("".join(line + "\n" for line in now))
        return 0
    listed = LIST.read_text().splitlines()
    for line in sorted(set(listed) - set(now)):
        print(f"gone: {line}: whoever uses it has a script that no longer works (STABILITY.md)")
    for line in sorted(set(now) - set(listed)):
        print(f"new: {line}: command_line.py PORTOLAN PORTOLAND --write makes it a part of what is promised")
    return int(set(listed) != set(now))


if __name__ == "__main__":
    sys.exit(main())
