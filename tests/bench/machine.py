"""What a file of figures says of where they were measured: the machine, the build, the commit. Names of hosts, disks and folders are left out."""

import json
import os
import platform
import re
import subprocess


def first_match(path, pattern):
    """The first group of the pattern in a file; 'unknown' where the file or the pattern is not there."""
    try:
        with open(path, "rb") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return "unknown"
    return found[1].decode("utf-8", "replace").strip() if found else "unknown"


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def build_type(build):
    """As Meson has it: 'release', or another, and the sanitizers that are in."""
    try:
        with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as file:
            options = {option["name"]: option["value"] for option in json.load(file)}
    except OSError:
        return "unknown"
    sanitizers = options.get("b_sanitize", "none")
    return options["buildtype"] + (f", sanitizer {sanitizers}" if sanitizers != "none" else "")


def describe(build):
    """The machine, the compiler of the programs in this build directory, and the build's type."""
    memory = first_match("/proc/meminfo", rb"^MemTotal: *(\d+) kB")
    return {
        "processor": first_match("/proc/cpuinfo", rb"^model name\s*: (.*)$"),
        "cores": os.cpu_count(),
        "memory": "unknown" if memory == "unknown" else f"{int(memory) / 2**20:.0f} GiB",
        "kernel": f"{platform.system()} {re.match('[0-9.]*', platform.release())[0]}",
        "file_system": output_of("findmnt", "-no", "FSTYPE", "-T", build),
        "system": first_match("/etc/os-release", rb'^PRETTY_NAME="(.*)"$'),
        "compiler": first_match(os.path.join(build, "collector", "portoland"), rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)"),
        "build_type": build_type(build),
    }


def commit_of(build):
    """(the commit of the sources that this directory builds, whether they differ from it). A file that git does not track is no difference, nor
    are the figures themselves, to which one benchmark after another adds, and their page."""
    try:
        with open(os.path.join(build, "meson-info", "meson-info.json"), encoding="utf-8") as file:
            sources = json.load(file)["directories"]["source"]
    except OSError:
        return "unknown", True
    return output_of("git", "-C", sources, "rev-parse", "HEAD"), output_of("git", "-C", sources, "status", "--porcelain", "--untracked-files=no", "--", ":/",
                                                                           ":(top,exclude)tests/bench/figures.json", ":(top,exclude)tests/bench/README.md") != ""
