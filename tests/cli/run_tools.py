"""Wrong words after tools/demo, tools/test and tools/wheel: status 2, one line that says what is wrong, and nothing begun.

    run_tools.py TOOLS

The scripts are copied to an empty folder, so that one which goes on in spite of a wrong word has nothing to build.
"""

import os
import shutil
import subprocess
import sys
import tempfile

WRONG = {
    "demo": {
        "--per-language 0": "at least 100 words",
        "--per-language 99": "at least 100 words",
        "--per-language 099": "at least 100 words",
        "--per-language": "--per-language needs a number",
        "--per-language 1e5": "--per-language needs a number",
        "--epochs 3": "at least 4 epochs",
        "--epochs 08 --burn-in 07": "at least 4 epochs, and 2 of them after the burn-in",
        "--epochs 010 --burn-in 9": "2 of them after the burn-in",
        "--epochs -5": "--epochs needs a number",
        "--burn-in x": "--burn-in needs a number",
        "--epoch 5": "unknown option --epoch",
        "out": "unknown option out",
    },
    "test": {
        "--lst": "unknown option --lst",
        "units": "no suite is called 'units'",
    },
    "wheel": {
        "--home": "--home needs a value",
        "--home example.org/portolan": "an address begins with https://",
        "--outputs dist": "unknown option --outputs",
        "dist": "unknown option dist",
    },
}


def check(folder, tool, line, message):
    done = subprocess.run([os.path.join(folder, "tools", tool)] + line.split(), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    said = done.stderr.splitlines()
    ok = done.returncode == 2 and len(said) == 1 and said[0].startswith(f"tools/{tool}: ") and message in said[0]
    if ok and not done.stdout and os.listdir(folder) == ["tools"]:
        return []
    return [f"tools/{tool} {line}: {done}, {os.listdir(folder)}"]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(sys.argv[1], os.path.join(folder, "tools"))
        for tool, lines in WRONG.items():
            for line, message in lines.items():
                problems += check(folder, tool, line, message)
    print("\n".join(problems) if problems else "all refused")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
