"""What the tests of wheels share: running programs, and a virtual environment of a user who has nothing else."""

import os
import re
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"portolan/_portolan.abi3.so", "portolan/bin/portoland", "portolan/bin/portolan"}


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def needed(path):
    """The libraries that a program asks for, and what readelf says of it."""
    dynamic = output("readelf", "-d", path)
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)), dynamic


class Environment:
    """A virtual environment, and the environment variables of a user who has nothing else."""

    def __init__(self, folder, python=None):
        if python:
            output(python, "-m", "venv", folder)
        else:
            venv.create(folder, with_pip=True)
        self.bin = folder / "bin"
        self.variables = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
        self.variables |= {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}

    def run(self, program, *words, folder=None):
        return output(self.bin / program, *words, env=self.variables, cwd=folder)
