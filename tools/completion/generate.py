#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the completion of a shell from what the command says of its verbs.

    generate.py HLGUEST TEMPLATE OUTPUT

Runs `HLGUEST help --options`, whose lines tools/cli/argp-run.h describes, and puts what
they say between the lines of hlguest.bash.in, _hlguest.in or hlguest.fish.in.
"""
import collections
import os
import re
import subprocess
import sys

Option = collections.namedtuple("Option", "long short value kind optional files help")
KINDS = {"elf", "recording", "profile", "stream", "file", "pid", "command"}


class Verb:
    def __init__(self, name, args, files, text):
        self.name, self.args, self.files, self.help = name, args, files, text
        self.options = []


def verbs_of(lines):
    """The verbs in their order, each with its options by name."""
    found = {}
    for line in lines:
        what, name, *rest = line.split("\t")
        if what == "verb":
            found[name] = Verb(name, *rest)
        else:
            found[name].options.append(Option(*rest))
    for verb in found.values():
        verb.options.sort()
        for files in [verb.files] + [o.files for o in verb.options]:
            if files[:1] != "=" and not {*files.split()} <= KINDS:
                sys.exit(f"{verb.name}: {files}: no such kind of file")
    return list(found.values())


def words(option):
    """What a value can be, if that is known: words, perhaps several with a comma."""
    if option.kind in ("one", "some"):
        return re.split(r"[|,]", option.value)
    return option.files[1:].split() if option.files[:1] == "=" else []


def short_help(text):
    """The first clause that stands alone: menus are narrow."""
    head, _, rest = text.partition(": ")
    if rest and (len(head.split()) < 3 or head.startswith("with ")):
        return head + ": " + short_help(rest)
    return re.split(r"[;:] | \(", text)[0]


# bash


def bash_value(verb, option):
    names = " | ".join(verb.name + n for n in (option.long, option.short) if n)
    if words(option):
        todo = f"words='{' '.join(words(option))}'"
        if option.kind == "some":
            todo += " && [[ $cur == *,* ]] && done=${cur%,*},"
    elif option.files == "pid":
        todo = "words=$(compgen -G '/proc/[0-9]*') words=${words//\\/proc\\//}"
    elif option.files:
        todo = f'_hlguest_files "$cur" {option.files}'
    else:
        return []
    return [f"\t{names}) {todo} ;;"]


def bash_options(verb):
    short = " ".join(sorted((o.short for o in verb.options if o.short), key=str.lower))
    long = " ".join(o.long + "=" * (o.kind != "flag" and not o.optional)
                    for o in verb.options)
    return [f"\t{verb.name}) short='{short}' files='{verb.files}'", f"\t\tlong='{long}' ;;"]


def bash(verbs):
    every = [(v, o) for v in verbs for o in v.options]
    return {
        "VERBS": [" ".join(v.name for v in verbs)],
        "VALUES": [line for v, o in every for line in bash_value(v, o)],
        "OPTIONS": [line for v in verbs for line in bash_options(v)],
        "VALUED": [" ".join(sorted({o.short for _, o in every if o.short and
                                    o.kind != "flag"}))],
    }


# zsh


def quoted(text):
    return text.replace("'", "'\\''")


def zsh_action(files):
    if files in ("file", "pid"):
        return "_files" if files == "file" else "_pids"
    return f" _hlguest_files {files}" if files else ""


def zsh_option(option):
    names = [n for n in (option.short, option.long) if n]
    takes = {"flag": ""}.get(option.kind, "=-" if option.optional else "=")
    again = "*" if option.kind == "many" else f"({' '.join(names)})" if option.short else ""
    text = re.sub(r"([\[\]])", r"\\\1", quoted(short_help(option.help)))
    if option.kind == "some":
        action = "_values -s , key " + " ".join(words(option))
    elif words(option):
        action = f"({' '.join(words(option))})".replace(":", "\\:")
    else:
        action = zsh_action(option.files)
    value = f"{':' * (1 + bool(option.optional))}{option.long.strip('-')}:{action}" \
        if takes else ""
    head = f"'{again}'{{{option.short},{option.long}{takes}}}'" if option.short else \
        f"'{again}{option.long}{takes}"
    return f"\t\t\t{head}[{text}]{value}'"


def zsh_rest(verb):
    if verb.files == "command":
        return ["\t\t\t'(-):command: _command_names -e'", "\t\t\t'*::argument: _normal'"]
    return [f"\t\t\t'*:file:{zsh_action(verb.files)}'"] if verb.files else []


def zsh(verbs):
    lines = []
    for verb in verbs:
        specs = ["\t\t_arguments -s $common", *map(zsh_option, verb.options), *zsh_rest(verb)]
        lines += [f"\t{verb.name})", " \\\n".join(specs), "\t\t;;"]
    return {"VERBS": [f"\t\t'{v.name}:{quoted(v.help)}'" for v in verbs], "OPTIONS": lines}


# fish


def fish_quoted(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


def fish_files(files):
    known = {"": "", "command": "(__fish_complete_command)", "pid": "(__fish_complete_pids)"}
    return known[files] if files in known else f"(__hlguest_files {files})"


def fish_option(verb, option):
    line = f'complete -c hlguest -n "${verb.name}"'
    line += f" -s {option.short[1]}" if option.short else ""
    line += f" -l {option.long[2:]}"
    if option.files == "file":
        line += " -r -F"
    elif option.kind != "flag":
        proposed = " ".join(words(option))
        if option.kind == "some":
            proposed = f"(__hlguest_some {proposed})"
        proposed = proposed or fish_files(option.files)
        line += " -x" * (not option.optional) + f" -a '{proposed}'" * bool(proposed)
    return line + f" -d '{fish_quoted(short_help(option.help))}'"


def fish(verbs):
    lines = []
    for verb in verbs:
        lines.append(f"set -l {verb.name} '__hlguest_verb {verb.name}'")
        if verb.files:
            lines.append(f'complete -c hlguest -n "${verb.name}" -a \'{fish_files(verb.files)}\'')
        lines += [fish_option(verb, option) for option in verb.options]
    return {
        "NAMES": [" ".join(v.name for v in verbs)],
        "VERBS": [f"complete -c hlguest -n __hlguest_first -a {v.name} "
                  f"-d '{fish_quoted(v.help)}'" for v in verbs],
        "OPTIONS": lines,
    }


SHELLS = {"hlguest.bash.in": bash, "_hlguest.in": zsh, "hlguest.fish.in": fish}


def main():
    hlguest, template, output = sys.argv[1:]
    said = subprocess.run([hlguest, "help", "--options"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    with open(template, encoding="utf-8") as f:
        text = f.read()
    for key, lines in SHELLS[os.path.basename(template)](verbs_of(said.splitlines())).items():
        text = text.replace(f"@{key}@", "\n".join(lines))
    with open(output, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
