#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shells complete the verbs, options and values that the command has, and no others.

    completion.py --build DIR

The three files that tools/completion makes of `hlguest help --options` are compared with it
(verbs.py compares that with --help), and the values that report shares with the
filter with `--dlarg help`. Then each
file is used in its shell where that is installed: bash by calling the function as readline
does, fish by `complete -C`, zsh by its parser only. $ZSH and $FISH name other programs.
"""
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import doc
from tap import DATA, Skip, Tap, must, parser, run
from verbs import listed

NAMES = {"bash": "hlguest", "zsh": "_hlguest", "fish": "hlguest.fish"}
FOLDER = ""  # where they are: main() says
# Words in the place of one that readline completes: bash cuts at these.
BREAKS = " \t\n\"'@><=;|&(:"


def path(shell):
    return os.path.join(FOLDER, NAMES[shell])


def read(shell):
    with open(path(shell), encoding="utf-8") as f:
        return f.read()


def choices(option):
    """The words that a value is made of, or none: yes|no, event,pid,tid,cpu,sandbox, D|L|C."""
    return sorted(re.split(r"[|,]", option.value)) if option.kind in ("one", "some") else []


def differences(expected, found, where):
    return [f"{where}: {name}: {found.get(name)!r}, but the command has "
            f"{expected.get(name)!r}"
            for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)]


class Command:
    """What the command itself tells of its verbs and options."""

    def __init__(self, build):
        found = listed(build)
        self.verbs = list(found)
        self.options = {verb: {o.long: o for o in options}
                        for verb, (_, options) in found.items()}

    def takes(self, verb, long):
        """Whether an option takes a value: True, False or "perhaps"."""
        option = self.options[verb][long]
        return "perhaps" if option.optional else option.kind != "flag"

    def shape(self, verb):
        """{long: (short, takes a value, its choices)}."""
        return {long: (option.short, self.takes(verb, long), choices(option))
                for long, option in self.options[verb].items()}


def check_table(build, command):
    """The values of report's own help are the filter's; format= has more."""
    helped = {long: option.value for long, option in command.options["report"].items()}
    more = {"format": "|pprof|callgrind|speedscope|html"}
    return [f"--{name}={value}: report has {helped.get('--' + name)}"
            for name, value, _ in doc.helped(build) if name not in ("emit", "strict", "out")
            and helped.get("--" + name) != value + more.get(name, "")]


# zsh


def zsh_verb(command, verb):
    text = read("zsh")
    match = re.search(rf"^\t{verb}\)\n(.*?)^\t\t;;", text, re.M | re.S)
    if not match:
        return [f"_hlguest: no {verb}"]
    found = {}
    for names, rest in re.findall(
            r"^\t\t\t'(?:\([^)]*\)|\*)?'?\{?(-[^\['}]*)\}?'?\[[^\]]*\](.*?)'"
            r"(?: \\)?$", match.group(1), re.M):
        *short, long = names.split(",")
        action = rest.split(":")[-1]
        words = re.sub(r"^_values -s , key ", "(", action)
        values = sorted(words.strip("()").split()) if words.startswith("(") else []
        takes = "perhaps" if long.endswith("=-") else long.endswith("=")
        found[long.rstrip("=-")] = ("".join(short), takes,
                                    values if "\\" not in rest else [])
    return differences(command.shape(verb), found, "_hlguest")


def zsh_verbs(command):
    text = read("zsh")
    found = re.findall(r"^\t\t'([a-z]+):", text, re.M)
    return [] if found == command.verbs else [f"_hlguest has {found}"]


# fish


def fish_lines(text):
    for line in re.findall(r"^complete -c hlguest (.*)$", text, re.M):
        words = shlex.split(line.replace("\\'", ""))
        yield {"flags": [w for w in words if w in ("-x", "-r", "-F", "-f")],
               **{words[i]: words[i + 1] for i in range(len(words) - 1)
                  if words[i] in ("-n", "-s", "-l", "-a", "-d")}}


def fish_verb(command, verb):
    found = {}
    for line in fish_lines(read("fish")):
        if line.get("-n") != "$" + verb or "-l" not in line:
            continue
        words = line.get("-a", "")
        values = sorted(words.split()) if words and words[0] != "(" else []
        if words.startswith("(__hlguest_some "):
            values = sorted(words.strip("()").split()[1:])
        if ":" in words:  # proposals, not choices
            values = []
        short = "-" + line["-s"] if "-s" in line else ""
        takes = bool({"-x", "-r"} & {*line["flags"]}) or ("perhaps" if values else False)
        found["--" + line["-l"]] = (short, takes, values)
    return differences(command.shape(verb), found, "hlguest.fish")


def fish_verbs(command):
    found = [line["-a"] for line in fish_lines(read("fish"))
             if line.get("-n") == "__hlguest_first" and "-a" in line]
    return [] if found == command.verbs + ["help"] else [f"hlguest.fish has {found}"]


# bash


def split_like_readline(line, breaks):
    """The words of a line as bash gives them to a completion function."""
    words = []
    for part in line.split(" "):
        cuts = "".join(c for c in breaks if c not in " \t\n\"'")
        pieces = [p for p in re.split(rf"([{re.escape(cuts)}]+)", part) if p] if cuts else [part]
        words += pieces or [""]
    return words


def bash(line, breaks=BREAKS, cwd=DATA):
    """What bash proposes for the end of a line."""
    words = split_like_readline(line, breaks)
    script = (f"COMP_WORDBREAKS={shlex.quote(breaks)}\n. {shlex.quote(path('bash'))}\n"
              f"COMP_WORDS=({' '.join(map(shlex.quote, words))})\n"
              f"COMP_CWORD={len(words) - 1}\n_hlguest\n"
              'printf "%s\\n" "${COMPREPLY[@]}"')
    out, err, status = run("bash", "--noprofile", "--norc", "-c", script, cwd=cwd)
    if err:
        raise RuntimeError(f"{line!r}: status {status}: {err}")
    return sorted(word for word in out.split("\n") if word)


def bash_verb(command, verb):
    expected = sorted(
        ["--help", "--usage"] + [
            word for long, (short, takes, _) in command.shape(verb).items()
            for word in (long + "=" * (takes is True), short) if word])
    found = bash(f"hlguest {verb} -")
    wrong = [] if found == expected else [f"{found}, but the command has {expected}"]
    for long, (_, _, words) in command.shape(verb).items():
        if not words:
            continue
        for line, breaks in ((f"hlguest {verb} {long}=", BREAKS),
                             (f"hlguest {verb} {long}=", BREAKS.replace("=", ""))):
            found = [word.split("=")[-1] for word in bash(line, breaks)]
            if sorted(found) != words:
                wrong.append(f"{line}: {found}, but the command has {words}")
    return wrong


# line, what is proposed in tests/data (folders aside)
CASES = [
    ("hlguest rep", ["report"]),
    ("hlguest help re", ["record", "report"]),
    ("hlguest annotate demo.", ["demo.elf"]),
    ("hlguest annotate --syntax=i", ["intel"]),
    ("hlguest --v", ["--version"]),
    ("hlguest nosuch ", []),
    ("hlguest kallsyms ", ["demo.elf", "rusty.elf"]),
    ("hlguest doctor d", ["demo.elf"]),
    ("hlguest kallsyms demo.elf r", ["rusty.elf"]),
    ("hlguest lookup --inlines demo.elf r", ["rusty-user.data", "rusty.elf"]),
    ("hlguest report demo-t", ["demo-threads.data"]),
    ("hlguest report demo.", ["demo.elf"]),
    ("hlguest report -i d", ["demo-calls.data", "demo-events.data", "demo-exits.data", "demo-far.data",
                             "demo-host.data", "demo-kernel.data", "demo-threads.data",
                             "demo-user.data", "demo-windows.data"]),
    ("hlguest flame --before=demo-t", ["demo-threads.data"]),
    ("hlguest flame -o demo.", ["demo.elf"]),
    ("hlguest windows demo-w", ["demo-windows.data"]),
    ("hlguest windows --format=s", ["svg"]),
    ("hlguest sysprof sysprof/a", ["sysprof/all-records.bin"]),
    ("hlguest sysprof --format=f", ["folded"]),
    ("hlguest report --input=r", ["rusty-user.data"]),
    ("hlguest report --gaps=s", ["stretch"]),
    ("hlguest report --gaps=x", []),
    ("hlguest report --by=event,t", ["event,tid"]),
    ("hlguest report --output=REA", ["README.md"]),
    ("hlguest annotate -o REA", ["README.md"]),
    ("hlguest report --force", ["--force"]),
    ("hlguest report --force=", ["no", "yes"]),
    ("hlguest base demo.", ["demo.elf"]),
    ("hlguest base demo.elf -i r", ["rusty-user.data"]),
    ("hlguest base demo.elf rusty-", ["rusty-user.data"]),
    ("hlguest report demo.elf@", ["auto"]),
    ("hlguest report map:REA", ["README.md"]),
    ("hlguest record -e cy", ["cycles:G"]),
    ("hlguest record -o x -e cpu", ["cpu-clock"]),
    ("hlguest record -- bas", ["bash"]),
    ("hlguest record -F 97 --output=x bas", ["bash"]),
    ("hlguest record -a -- bash REA", ["README.md"]),
    ("hlguest record -- bash -", []),
    ("hlguest -- bas", ["bash"]),
    ("hlguest -- bash REA", ["README.md"]),
]


def bash_case(line, expected):
    found = [word for word in bash(line) if not os.path.isdir(os.path.join(DATA, word))]
    if expected and line.split()[-1] == "bas":
        found = [word for word in found if word in expected]
    return [] if sorted({*found}) == sorted(expected) else [f"proposes {found}"]


def bash_odd_files():
    """Names with blanks, folders, and files that cannot be read harm nobody."""
    with tempfile.TemporaryDirectory(prefix="completion-") as folder:
        for name in "a guest.elf", "a$(echo x).elf", "a*.elf":
            shutil.copyfile(os.path.join(DATA, "demo.elf"), os.path.join(folder, name))
        os.mkdir(os.path.join(folder, "a folder"))
        os.mkfifo(os.path.join(folder, "a fifo"))
        with open(os.path.join(folder, "a short"), "w", encoding="utf-8") as f:
            f.write("x")
        os.symlink("nowhere", os.path.join(folder, "a link"))
        found = bash("hlguest kallsyms a", cwd=folder)
        expected = ["a folder", "a guest.elf", "a$(echo x).elf", "a*.elf"]
        return [] if found == sorted(expected) else [f"proposes {found}"]


# The others in their shells


def find(variable, program):
    found = os.environ.get(variable) or shutil.which(program)
    if not found:
        raise Skip(f"{program} is not installed")
    return found


def check_zsh():
    must(find("ZSH", "zsh"), "-f", "-n", path("zsh"))


def fish(line):
    source = f"source {shlex.quote(path('fish'))}; "
    script = source + f"complete -C {shlex.quote(line)}"
    with tempfile.TemporaryDirectory(prefix="completion-") as home:
        env = dict(os.environ, HOME=home, LC_ALL="C.UTF-8")
        out, err, status = run(find("FISH", "fish"), "--no-config", "-c", script,
                               cwd=DATA, env=env)
    if status or err:
        raise RuntimeError(f"fish: status {status}: {err.strip()}")
    return sorted(l.split("\t")[0] for l in out.splitlines())


FISH_CASES = [
    ("hlguest rep", ["report"]),
    ("hlguest kallsyms ", ["demo.elf", "rusty.elf"]),
    ("hlguest report demo-t", ["demo-threads.data"]),
    ("hlguest report -i r", ["rusty-user.data"]),
    ("hlguest report --gaps=s", ["--gaps=stretch"]),
    ("hlguest report --gaps s", ["stretch"]),
    ("hlguest report --by=event,t", ["--by=event,tid"]),
    ("hlguest report --force", ["--force", "--force="]),
    ("hlguest report --force=", ["--force=no", "--force=yes"]),
    ("hlguest base demo.elf -i r", ["rusty-user.data"]),
    ("hlguest lookup --format ", ["json", "text"]),
    ("hlguest lookup --inl", ["--inlines"]),
    ("hlguest help lo", ["lookup"]),
    ("hlguest -- cat REA", ["README.md"]),
    ("hlguest -- hlguest help lo", ["lookup"]),
]


def fish_case(line, expected):
    found = [word for word in fish(line) if not word.endswith("/")]
    return [] if found == sorted(expected) else [f"proposes {found}"]


def main():
    global FOLDER
    build = parser(__doc__).parse_args().build
    FOLDER = os.path.join(os.path.abspath(build), "tools", "completion")
    tap = Tap()
    command = Command(build)
    tap.run("report's values are the filter's", check_table, build, command)
    tap.run("bash: verbs", lambda: [] if bash("hlguest ") == sorted(
        command.verbs + ["help", "--help", "--version"]) else bash("hlguest "))
    tap.run("zsh: verbs", zsh_verbs, command)
    tap.run("fish: verbs", fish_verbs, command)
    for verb in command.verbs:
        tap.run(f"bash: {verb}", bash_verb, command, verb)
        tap.run(f"zsh: {verb}", zsh_verb, command, verb)
        tap.run(f"fish: {verb}", fish_verb, command, verb)
    for line, expected in CASES:
        tap.run(f"bash: {line!r}", bash_case, line, expected)
    tap.run("bash: odd files", bash_odd_files)
    tap.run("zsh parses it", check_zsh)
    for line, expected in FISH_CASES:
        tap.run(f"fish: {line!r}", fish_case, line, expected)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
