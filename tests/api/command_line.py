"""The commands and options of portolan and portoland are those of command_line.txt: a script that uses one goes on working. STABILITY.md says what is promised.

    command_line.py PORTOLAN PORTOLAND [--write]

--write writes the list anew, for a new command or option. A line that goes away is a new version's first number.
"""

import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parent / "command_line.txt"


def candidates(portolan, *words):
    """What shell completion offers after these words."""
    done = subprocess.run([portolan, "completion", "candidates", "--", *words], capture_output=True, text=True, check=True)
    return sorted(line.split("\t")[0] for line in done.stdout.splitlines())


def lines(portolan, portoland):
    for command in candidates(portolan, ""):
        yield f"portolan {command}"
        for option in candidates(portolan, command, "--"):
            if option.startswith("--"):
                yield f"portolan {command} {option}"
    shown = subprocess.run([portoland, "--help"], capture_output=True, text=True, check=True).stdout
    for option in sorted(set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", shown, re.M))):
        yield f"portoland {option}"


def main():
    now = list(lines(*sys.argv[1:3]))
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
