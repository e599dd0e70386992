"""Completion in real shells: what bash, zsh and fish make of a command line when the key is pressed.

    run_completion.py PORTOLAN MAKE_STORE

`portolan` on the shells' PATH is a stand-in: it hands `completion` over to the program, and writes down the words of any
other command line. So what a shell makes of the keys is seen in what it then runs.
"""

import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

PORTOLAN = os.path.abspath(sys.argv[1])
PATIENCE = 300  # seconds, of a machine that does much else

STAND_IN = """#!/usr/bin/python3
import json, os, sys
if sys.argv[1:2] == ["completion"]:
    os.execv({program!r}, sys.argv)
with open("words.new", "w") as file:
    json.dump(sys.argv[1:], file)
os.rename("words.new", "words")
"""

# What is typed before the key, and some of what is offered, and some of what is not: of each shell the same.
OFFERED = [
    ("", "metrics serve help version completion", "--format nlp/one"),
    ("met", "metrics", "map"),
    ("help ", "aflite noise help", "nlp/one"),
    ("help noise ", "plan mixture confident", "aflite"),
    ("metrics --fo", "--format", "--by --epochs"),
    ("metrics nlp/one --format ", "cartography npy", "ids"),
    ("metrics nlp/one --format=car", "--format=cartography", "--format=csv"),
    ("select nlp/one -f ", "ids npy", "aum"),
    ("select nlp/one --by ", "ambiguous region:hard-to-learn aum:desc surprise:asc", "csv --by nlp/one max_prob:asc uncertainty least-confidence dual-beta"),
    ("select nlp/one --by confidence:", "confidence:asc confidence:desc", "variability:asc"),
    ("select nlp/one --by=region:am", "--by=region:ambiguous", "--by=ambiguous"),
    ("select nlp/one --with ", "nlp/one nlp/two other", "csv"),
    ("compare nlp/one nlp/", "nlp/one nlp/two", "other"),
    ("groups nlp/one --by amb", "ambiguous", "nlp/one"),
    ("map nlp/one --x var", "variability variability_ci", "confidence"),
    ("map nlp/one --x ", "variability aum surprise", "max_prob gold"),
    ("map nlp/one --colour ", "confidence surprise gold", "max_prob surprise:asc"),
    ("map --colour=", "--colour=confidence --colour=max_prob --colour=gold", "--colour=surprise"),
    ("select nlp/one --by s", "surprise:asc surprise:desc", "surprise"),
    ("select nlp/two --by ", "confidence:asc", "surprise:asc aum:asc"),
    ("select nlp/one --by e", "epochs:desc easy-to-learn", "el2n:asc entropy:asc"),
    ("select nobody --by max_", "max_prob:asc max_prob:desc", "surprise:asc"),
    ("select nobody --by ", "uncertainty least-confidence dual-beta", "surprise:asc"),
    ("map nlp/one --beside ", "nlp/two", "variability"),
    ("noise ", "plan fit apply mixture aum confident", "nlp/one"),
    ("noise plan ", "nlp/one other", "fit"),
    ("noise plan --", "--fraction --seed --method --set", "--model --flips --suspects"),
    ("metrics ", "nlp/one nlp/two other", "--format csv"),
    ("metrics --store elsewhere ", "alone", "nlp/one"),
    ("metrics --store=elsewhere ", "alone", "nlp/one"),
    ("--store elsewhere metrics ", "alone", "nlp/one"),
    ("-q --store=elsewhere metr", "metrics", "map"),
    ("--store elsewhere help noi", "noise", "alone"),
    ("metrics nlp/one ", "", "nlp/two"),
    ("completion ", "bash zsh fish", "nlp/one"),
    ("rm ", "nlp/one", "metrics"),
    ("-", "--store --quiet --verbose --styled --version", "metrics --epochs"),
    ("--sty", "--styled", "--store"),
    ("--styled ", "auto always never", "metrics"),
    ("--styled=n", "--styled=never", "--styled=auto"),
    ("-q --st", "--store --styled", "--quiet"),
    ("metrcs ", "", "metrics nlp/one help"),
    ("help metrcs ", "", "metrics"),
    ("show nlp/one ", "", "nlp/one nlp/two"),
    ("compare nlp/one ", "nlp/two other", ""),
    ("serve nlp/one ", "nlp/two other", ""),
    ("import dynamics ", "", "nlp/one"),
]
FILES = ["select nlp/one --only ", "import ", "map nlp/one --frames ", "--store "]

# What is typed, with the key as a tab, and the words that are run then.
TYPED = [
    ("metr\tnlp/on\t", ["metrics", "nlp/one"]),
    ("select oth\t--by confidence:a\t--thres\t0.5", ["select", "other", "--by", "confidence:asc", "--threshold", "0.5"]),
    ("select other --by region:h\t", ["select", "other", "--by", "region:hard-to-learn"]),
    ("select other --exclude chos\t", ["select", "other", "--exclude", "chosen.txt"]),
    ("noise mi\toth\t--json", ["noise", "mixture", "other", "--json"]),
    ("metrics --store elsewhere al\t--epochs 1: --form\tcart\t", ["metrics", "--store", "elsewhere", "alone", "--epochs", "1:", "--format", "cartography"]),
    ("--sty\tnev\tmetr\tnlp/on\t", ["--styled", "never", "metrics", "nlp/one"]),
    ("metrics --store elsewhere two\t-q", ["metrics", "--store", "elsewhere", "two words", "-q"]),
    ("metrics --store elsewhere two\\ w\t-q", ["metrics", "--store", "elsewhere", "two words", "-q"]),
    ("metrics --store elsewhere two\\ \t-q", ["metrics", "--store", "elsewhere", "two words", "-q"]),
    ("metrics --store elsewhere 'two wo\t-q", ["metrics", "--store", "elsewhere", "two words", "-q"]),
    ("metrics --store elsewhere \"two \t-q", ["metrics", "--store", "elsewhere", "two words", "-q"]),
    ("select other -o chos\t", ["select", "other", "-o", "chosen.txt"]),
    ("select other --output=chos\t", ["select", "other", "--output=chosen.txt"]),
]


def check_offered(shell, offered_by):
    for typed, expected, unexpected in OFFERED:
        offered = offered_by("portolan " + typed)
        assert set(expected.split()) <= set(offered), (shell, typed, offered)
        assert not set(unexpected.split()) & set(offered), (shell, typed, offered)
        assert len(set(offered)) == len(offered), (shell, typed, offered)


def shell_out(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=True, **options)
    assert done.stderr == "", (words, done)
    return done.stdout


def offered_by_bash(line):
    """The function as bash calls it; what stands before the last break of a word is bash's own, and put back here."""
    script = ('source ./bash.sh; COMP_LINE=$1 COMP_POINT=${#1}; _portolan; printf "%s\\n" "${COMPREPLY[@]}"')
    word = "" if line.endswith(" ") else line.split()[-1]
    before = word[:max(word.rfind(":"), word.rfind("=")) + 1]
    return [before + part for part in shell_out("bash", "-c", script, "bash", line).splitlines() if part]


def offered_by_fish(line):
    return [part.split("\t")[0] for part in shell_out("fish", "-c", 'source ./fish.fish; complete -C "$argv[1]"', line).splitlines()]


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, words):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.execvp(words[0], words)

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        return os.read(self.terminal, 65536).decode(errors="replace") if ready else ""

    def until(self, is_there):
        """What the shell shows until is_there() of it."""
        text, end = "", time.monotonic() + PATIENCE
        while not is_there(text):
            assert time.monotonic() < end, text
            text += self.read(0.05)
        return text

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def run(self, line):
        """The words of the command line that the keys made. The keys after a tab are typed when it was answered."""
        parts = line.split("\t")
        for i, part in enumerate(parts):
            self.type(part + ("\t" if i + 1 < len(parts) else "\n"))
        self.until(lambda text: os.path.exists("words"))
        with open("words", encoding="utf-8") as file:
            words = json.load(file)
        os.unlink("words")
        return words

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def check_typed(shell, words, prepare):
    terminal = Terminal(words)
    terminal.type(prepare + "; echo is-${:-ready}\n" if shell == "zsh" else prepare + "; echo is-$(echo ready)\n")
    terminal.until(lambda text: "is-ready" in text)
    for line, expected in TYPED:
        assert (got := terminal.run("portolan " + line)) == expected, (shell, line, got)
    if shell == "zsh":  # the list: candidates with what they are
        terminal.type("portolan select other --by var\t\t")
        terminal.until(lambda text: all(rule in text for rule in ("variability:asc", "variability:desc", "variability_ci:asc")))
        terminal.type("\x15portolan se\t\t")
        terminal.until(lambda text: "show runs in the browser" in text and "choose a subset" in text)
    terminal.close()


def main():
    maker = os.path.abspath(sys.argv[2])
    batch = stores.batch(0, [0, 1], [0.25, 0.5], [0, 1], [0, 1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(PORTOLAN_STORE="store", LC_ALL="C.UTF-8", HOME=folder, XDG_CONFIG_HOME=folder, TERM="xterm",
                          PATH=f"{folder}/bin:{os.environ['PATH']}")
        os.mkdir("bin")
        with open("bin/portolan", "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(program=PORTOLAN))
        os.chmod("bin/portolan", 0o755)
        with open("chosen.txt", "w", encoding="utf-8") as file:
            file.write("0\n")
        own = stores.batch(0, [0, 1], [0.25, 0.5], [0, 1], [0, 1], margin=[-1, 1], surprise=[3, 2])
        stores.make_store(maker, "store", [stores.run("nlp/one", [own])] + [stores.run(name, [batch]) for name in ("nlp/two", "other")])
        stores.make_store(maker, "elsewhere", [stores.run("alone", [batch]), stores.run("two words", [batch])])
        for name in ("bash.sh", "zsh.zsh", "fish.fish"):
            with open(name, "w", encoding="utf-8") as file:
                file.write(shell_out(PORTOLAN, "completion", name.partition(".")[0]))
        check_offered("bash", offered_by_bash)
        check_offered("fish", offered_by_fish)
        for line in FILES:
            assert "chosen.txt" in offered_by_fish("portolan " + line) or "elsewhere/" in offered_by_fish("portolan " + line), line
            assert shell_out(PORTOLAN, "completion", "candidates", "--", *line.split(), "") == "\tfiles\n", line
        for line, wanted in (("metrics --store elsewhere two\\ w", "two words"), ("metrics --store elsewhere 'two ", "two words"), ('metrics --store elsewhere "two w', "two words"),
                             ("select other --output=chos", "--output=chosen.txt"), ("select other -o chos", "chosen.txt")):
            assert offered_by_fish("portolan " + line) == [wanted], (line, offered_by_fish("portolan " + line))
        check_typed("bash", ["bash", "--norc", "--noprofile", "-i"], "source ./bash.sh")
        check_typed("zsh", ["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source ./zsh.zsh")
        # Found in $fpath, as it is installed.
        os.mkdir("functions")
        os.rename("zsh.zsh", "functions/_portolan")
        check_typed("zsh", ["zsh", "-f", "-i"], "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D")
        os.chdir("/")
    print(len(OFFERED), "lines in bash and fish,", len(TYPED), "typed in bash and zsh: completed as they should be")


if __name__ == "__main__":
    main()
