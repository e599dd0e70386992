"""Wrong words after the scripts of tools/; which packages they ask a system for; and what tools/fresh says that it has proved.

    run_tools.py TOOLS

The scripts are copied to an empty folder, so that one which goes on in spite of a wrong word has nothing to build: status 2, one line that says
what is wrong, and nothing begun. What asks the system (apt, chroot) is a stand-in that answers as a case has it.
"""

import os
import re
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
    "lint": {
        "--al": "unknown option --al",
        "rufff": "no check is called 'rufff'",
    },
    "wheel": {
        "--home": "--home needs a value",
        "--home example.org/portolan": "an address begins with https://",
        "--outputs dist": "unknown option --outputs",
        "dist": "unknown option dist",
    },
    "fresh": {
        "--suite": "--suite needs a value",
        "--suit trixie": "unknown option --suit",
        "demo no-such-tool": "there is no tools/no-such-tool",
        "--base /no-such-root": "no root of debootstrap's",
    },
}
STAND_INS = {
    "dpkg-query": 'case " $INSTALLED " in *" $4 "*) echo installed ;; esac',
    "apt-cache": 'printf "%s\\n" "$POLICY"',
    "apt-get": 'echo "apt-get $*" >&2; [ "$1" != satisfy ] || exit 9',  # what a script shows when it fails
    "id": "echo 0",
    "mountpoint": "exit 1",
    "mount": "",
    "pgrep": "exit 1",
    "debootstrap": "exit 1",
    "chroot": 'echo "$SAYS"; exit "$ENDS"',
}
TRIXIE = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_CODENAME=trixie\n'


def check(folder, tool, line, message):
    done = subprocess.run([os.path.join(folder, "tools", tool)] + line.split(), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    said = done.stderr.splitlines()
    ok = done.returncode == 2 and len(said) == 1 and said[0].startswith(f"tools/{tool}: ") and message in said[0]
    if ok and not done.stdout and os.listdir(folder) == ["tools"]:
        return []
    return [f"tools/{tool} {line}: {done}, {os.listdir(folder)}"]


def run(folder, line, **variables):
    """Runs a line of bash in the folder, whose stand-ins it sees before the system's own programs."""
    return subprocess.run(["bash", "-c", line, "tools/demo"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          env={**os.environ, "PATH": f"{folder}/stand-ins:{os.environ['PATH']}", **variables})


def lists_of(folder):
    return run(folder, '. tools/lib/packages.sh; echo "${package_lists[@]}"').stdout.split()


def asked_for(folder):
    """A name that a newer release has is asked for first; any of them will do; and a system that is too old is refused by name before anything is installed."""
    problems = []
    rest = [entry for entry in lists_of(folder) if "|" not in entry]
    for more, missing in (["libmsgpack-dev"], ""), (["libmsgpack-c-dev"], ""), ([], "libmsgpack-c-dev|libmsgpack-dev\n"):
        done = run(folder, ". tools/lib/packages.sh; packages_missing build demo test", INSTALLED=" ".join(rest + more))
        problems += [] if (done.stdout, done.returncode) == (missing, 0) else [f"packages_missing with {more}: {done}"]
    done = run(folder, ". tools/lib/packages.sh; install_packages build", INSTALLED=" ".join(rest), POLICY="meson:\n  Candidate: 1.0.1-5")
    problems += [] if "satisfy -q -y --no-install-recommends libmsgpack-c-dev | libmsgpack-dev\n" in done.stderr else [f"install_packages: {done}"]
    old = "meson:\n  Installed: (none)\n  Candidate: 0.56.2-1\npython3:\n  Candidate: 3.9.2-3\nlibjansson-dev:\n  Candidate: 2.14-2\n"
    said = ("tools/demo: this system is too old: meson is 0.56.2-1, and 1.0.1 is needed; python3 is 3.9.2-3, and 3.11 is needed; "
            "Debian 12 and 13 have what is needed\n")
    for installed in rest, [*rest, "libmsgpack-dev"]:
        done = run(folder, ". tools/lib/packages.sh; install_packages build", INSTALLED=" ".join(installed), POLICY=old)
        problems += [] if (done.returncode, done.stderr) == (1, said) else [f"old: {done}"]
    return problems


def floors(folder, sources):
    """What packages.sh takes for too old is what the build takes for too old."""
    with open(os.path.join(sources, "meson.build"), encoding="utf-8") as file:
        build = file.read()
    with open(os.path.join(sources, "pyproject.toml"), encoding="utf-8") as file:
        project = file.read()
    wanted = {"meson": re.search(r"meson_version: '>=(.*)'", build)[1], "python3": re.search(r'requires-python = ">= (.*)"', project)[1],
              "libjansson-dev": re.search(r"'jansson', version: '>=(.*?)'", build)[1],
              "libmicrohttpd-dev": re.search(r"'libmicrohttpd', version: '>=(.*?)'", build)[1]}
    done = run(folder, '. tools/lib/packages.sh; for name in "${!package_floors[@]}"; do echo "$name ${package_floors[$name]}"; done')
    got = dict(line.split() for line in done.stdout.splitlines())
    return [] if got == wanted else [f"package_floors: {got}, not {wanted}"]


def known_here(folder):
    """apt knows every package of every list by one of its names. Asks the lists that are on this machine, not the network."""
    if not shutil.which("apt-get") or "Candidate: (none)" in subprocess.run(["apt-cache", "policy", "fish"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout:
        print("note: apt has no lists of packages here; what packages.sh asks for was not looked up")
        return []
    wanted = ", ".join(lists_of(folder)).replace("|", " | ")
    done = subprocess.run(["apt-get", "satisfy", "--simulate", "--no-install-recommends", wanted], capture_output=True, text=True)
    return [f"apt-get satisfy: {done.stdout}{done.stderr}"] if done.returncode else []


def proved(folder):
    """tools/fresh says "proved" of what ended well, and, of tests, only where it read that some passed and none failed."""
    for command in "git init -q", "git add tools", "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m sources":
        subprocess.run(command.split(), cwd=folder, check=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
    os.makedirs(os.path.join(folder, "base", "etc"))
    for name in "proc", "dev", "root", "usr", "usr/bin":
        os.mkdir(os.path.join(folder, "base", name))
    with open(os.path.join(folder, "base", "etc", "os-release"), "w", encoding="utf-8") as file:
        file.write(TRIXIE)
    done = run(folder, "tools/fresh --base base demo")
    problems = [] if (done.returncode, done.stdout) == (2, "") and "--base base has no git" in done.stderr else [f"a base without git: {done}"]
    with open(os.path.join(folder, "base", "usr", "bin", "git"), "w", encoding="utf-8"):
        pass
    for words, says, ends, wanted in (
            ("demo", "Done in 5 s.", "0", ["demo: proved"]),
            ("test", "12 passed, 0 failed, 1 skipped", "0", ["test: proved: 12 passed, 0 failed, 1 skipped"]),
            ("demo test", "no room", "1", ["demo: NOT proved: ended with status 1", "test: NOT run"]),
            ("test", "12 passed, 1 failed, 0 skipped", "1", ["test: NOT proved: ended with status 1; 12 passed, 1 failed, 0 skipped"]),
            ("test", "12 passed, 1 failed, 0 skipped", "0", ["test: NOT proved: 12 passed, 1 failed, 0 skipped"]),
            ("test", "0 passed, 0 failed, 9 skipped", "0", ["test: NOT proved: 0 passed, 0 failed, 9 skipped"]),
            ("test", "all is well", "0", ["test: NOT proved: it did not say how many tests passed"])):
        done = run(folder, f"tools/fresh --suite trixie --base base {words}", SAYS=says, ENDS=ends)
        got = done.stdout[done.stdout.find("== on "):].splitlines()
        ok = got[:1] == [f"== on Debian GNU/Linux 13 (trixie), as root, at {commit}:"] and len(got) == len(wanted) + 2
        ok = ok and all(re.fullmatch(rf"   tools/{re.escape(want)}( \(in \d+ s\))?", line) for want, line in zip(wanted, got[1:]))
        ok = ok and re.fullmatch(r"   NOT covered: what is not committed, in \d+ files \(git status\)", got[-1])
        problems += [] if ok and done.returncode == ("NOT" in "".join(wanted)) else [f"tools/fresh {words}, {says!r}, {ends}: {done}"]
    done = run(folder, "tools/fresh --suite bookworm --base base demo")
    problems += [] if (done.returncode, done.stdout) == (2, "") and "--suite bookworm, but --base base is trixie" in done.stderr else [f"another suite: {done}"]
    return problems


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(sys.argv[1], os.path.join(folder, "tools"))
        for tool, lines in WRONG.items():
            for line, message in lines.items():
                problems += check(folder, tool, line, message)
        os.mkdir(os.path.join(folder, "stand-ins"))
        for name, line in STAND_INS.items():
            path = os.path.join(folder, "stand-ins", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{line}\n")
            os.chmod(path, 0o755)
        problems += asked_for(folder) + floors(folder, os.path.dirname(sys.argv[1])) + known_here(folder) + proved(folder)
    print("\n".join(problems) if problems else "as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
