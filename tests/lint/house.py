#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does each file of the product stand where it belongs?

    house.py [ROOT]

Reads the sources of symtab/, filter/ and tools/ as text and fails on
- an include that points the wrong way: FLOORS says which folder may use which;
- a circle of files (FILE.c and FILE.h are one file here);
- a type that is defined twice;
- a function that leaves its file without the file's prefix, and a prefix of two files;
- a folder that CONTRIBUTING.md gives no question;
- a line of a comment whose * has no blank behind it: clang-format takes it when it breaks lines;
- a function of more than LONGEST lines between its braces;
- a size that the fuzzers' build makes small (tests/fuzz/fuzz.ini) and no file has it set;
- a file that was added at the top by mistake: TOP says what is there.

The prefix of tools/windows/pairs.c is hlg_pairs_ or hlg_windows_pairs_; in a folder of tools/,
which is one mechanism, also that of the folder, hlg_windows_, which then no other folder has.
Before that a tree is made up that breaks each rule once: what this program does not notice
there, it would not notice here.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# A folder may use itself and the folders on lines above its own; a verb uses no other verb
# but those on a line of their own, of which top is made.
FLOORS = """
symtab
symtab/name symtab/elf
symtab/image
symtab/code
filter/options filter/output
filter/profile
filter/stats filter/stacks
filter/view
filter/trust
filter/report
filter/write
filter
filter/dlfilter
tools/cli tools/perfdata tools/source tools/svg tools/vm tools/machine
tools/tracepoint tools/pprof tools/beside tools/callers tools/page
tools/feed
tools/inputs
tools/export
tools/listing
tools/annotate tools/record
VERBS
tools
"""
LISTED = os.path.join(ROOT, "tools", "meson.build")  # verbs = ['report', 'annotate' ...]
SMALL = os.path.join(ROOT, "tests", "fuzz", "fuzz.ini")
# What is loaded into perf; the command does not use it.
NOT_BELOW_TOOLS = ("filter/dlfilter",)

# What git has at the top, besides files whose names begin with a dot.
TOP = set('''CONTRIBUTING.md LICENSE NEWS.md README.md SECURITY.md meson.build meson_options.txt
debian filter man symtab tests tools'''.split())

# FUNCTION OR PREFIX: why it is not called as its file.
EXCEPTIONS = {}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
TYPE = re.compile(r"^(?:typedef\s+)?(struct|enum|union) (hlg_\w+) \{", re.M)
# A definition begins its line, as .clang-format has it; `static` alone does not leave the file.
FUNCTION = re.compile(
    r"^(?!static (?!inline)|extern|typedef|#|return|else)(?:[A-Za-z_][\w ]*[ *]+|)(hlg_\w+)"
    r"\([^;{}]*\)\s*\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
UNSPACED = re.compile(r"^\t* \*[A-Za-z].*", re.M)
BODY = re.compile(r"^\{\n(.*?)^\}", re.M | re.S)
LONGEST = 50  # "a function over 50 lines hides a second idea", CONTRIBUTING.md
SOURCE = (".c", ".h")


def verbs():
    with open(LISTED, encoding="utf-8") as f:
        return re.findall(r"'([\w-]+)'", re.search(r"^verbs = \[(.*?)\]", f.read(), re.M | re.S)[1])


def floors():
    """{folder: the folders that it may use}."""
    below, allowed = [], {}
    for line in FLOORS.split("\n"):
        folders = line.split()
        if folders == ["VERBS"]:
            folders = ["tools/" + verb for verb in verbs()]
        for folder in folders:
            allowed[folder] = {folder, *below}
            if folder.startswith("tools"):
                allowed[folder] -= set(NOT_BELOW_TOOLS)
        below += folders
    return allowed


def read(root):
    """{path: text} of the product. Guests of calibrate are programs of their own."""
    texts = {}
    for room in ("symtab", "filter", "tools"):
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(SOURCE) and "/guests/" not in path:
                    with open(os.path.join(root, path), encoding="utf-8") as f:
                        texts[path] = f.read()
    return texts


def includes(texts):
    """(file, file that it includes), for files of the product."""
    for path, text in sorted(texts.items()):
        for name in INCLUDE.findall(text):
            if name in texts:
                yield path, name


def wrong_ways(texts):
    allowed = floors()
    for folder in sorted({os.path.dirname(path) for path in texts} - allowed.keys()):
        yield f"{folder}: on no floor (say in {os.path.basename(__file__)} where it stands)"
    for path, name in includes(texts):
        here, there = os.path.dirname(path), os.path.dirname(name)
        if here in allowed and there not in allowed[here]:
            yield f"{path}: includes {name} ({here} may not use {there})"
    for path, text in sorted(texts.items()):
        for name in INCLUDE.findall(text):
            if name not in texts and os.path.normpath(
                    os.path.join(os.path.dirname(path), name)) in texts:
                yield f"{path}: includes {name} (name it from the root)"


def unasked(texts):
    """Verbs have their manual pages; every other folder of the product has a question."""
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as f:
        asked = set(re.findall(r"^\| `([\w/-]+)/` \|", f.read(), re.M))
    for folder in sorted({os.path.dirname(path) for path in texts} - asked -
                         {"tools/" + verb for verb in verbs()}):
        yield f"{folder}: CONTRIBUTING.md does not say which question it answers"


def circles(texts):
    """Each circle of files once, as the files on it."""
    uses = {}
    for path, name in includes(texts):
        here, there = path[:-2], name[:-2]
        if here != there:
            uses.setdefault(here, set()).add(there)
    state, way = {}, []

    def visit(file):
        state[file] = "open"
        way.append(file)
        for other in sorted(uses.get(file, ())):
            if state.get(other) == "open":
                yield "a circle: " + ", ".join(way[way.index(other):])
            elif other not in state:
                yield from visit(other)
        way.pop()
        state[file] = "done"

    for file in sorted(uses):
        if file not in state:
            yield from visit(file)


def twice(texts):
    found = {}
    for path, text in sorted(texts.items()):
        for kind, name in TYPE.findall(text):
            if name in found:
                yield f"{path}: {kind} {name} is also in {found[name]}"
            found[name] = path


def prefixes(path):
    """The prefixes that a file may give what leaves it."""
    folder, name = os.path.split(path)
    folder, name = os.path.basename(folder), name[:-2].replace("-", "_")
    own = [f"hlg_{name}", f"hlg_{folder}_{name}"]
    return own + [f"hlg_{folder}"] if path.startswith("tools/") else own


def names(texts):
    owners, excepted = {}, set()
    for path, text in sorted(texts.items()):
        for name in FUNCTION.findall(COMMENT.sub("", text)):
            fits = [p for p in prefixes(path) if name == p or name.startswith(p + "_")]
            reason = next((e for e in EXCEPTIONS if name.startswith(e)), None)
            if not fits and reason:
                excepted.add(reason)
            elif not fits:
                yield f"{path}: {name}() leaves it without its prefix ({prefixes(path)[0]}_)"
            else:
                prefix = max(fits, key=len)
                of_folder = prefix == prefixes(path)[-1] and path.startswith("tools/")
                owners.setdefault(prefix, set()).add(
                    os.path.dirname(path) if of_folder else path[:-2])
    for prefix, files in sorted(owners.items()):
        if len(files) > 1:
            yield f"{prefix}_: the prefix of {' and '.join(sorted(files))}"
    for name in sorted(EXCEPTIONS.keys() - excepted):
        if texts and os.path.isdir(os.path.join(ROOT, ".git")):
            yield f"{name}: an exception that nothing needs"


def unspaced(texts):
    for path, text in sorted(texts.items()):
        for line in UNSPACED.findall(text):
            yield f"{path}: {line.strip()}"


def long(texts):
    for path, text in sorted(texts.items()):
        for body in BODY.finditer(text):
            n = body[1].count("\n")
            if n > LONGEST:
                begin = text.count("\n", 0, body.start()) + 1
                yield f"{path}:{begin}: a function of {n} lines (take it apart)"


def unsized(texts):
    """Sizes that the fuzzers' build sets in vain: they are fast no more, and all pass."""
    with open(SMALL, encoding="utf-8") as f:
        sizes = re.findall(r"-D(HLG_\w+)=", f.read())
    set_by_builds = re.findall(r"^#ifndef (HLG_\w+)$", "\n".join(texts.values()), re.M)
    for name in sizes:
        if name not in set_by_builds:
            yield f"tests/fuzz/fuzz.ini: {name}: no file has #ifndef {name}"
    if not sizes:
        yield "tests/fuzz/fuzz.ini: no sizes: has it moved?"


RULES = {"includes point down": wrong_ways, "each folder answers a question": unasked,
         "no circle of files": circles,
         "each type is defined once": twice, "each function has its file's prefix": names,
         "a blank behind the * of comments": unspaced,
         f"no function has more than {LONGEST} lines": long,
         "sizes of fuzzers are set": unsized}

FAULTS = {
    "includes point down": {"symtab/err.c": '#include "filter/run.h"\n', "filter/run.h": ""},
    "includes point down (verbs)": {
        "tools/diff/verb.c": '#include "tools/flame/frame.h"\n', "tools/flame/frame.h": ""},
    "includes point down (a new folder)": {"tools/common/all.c": ""},
    "includes point down (from the root)": {
        "filter/run.c": '#include "run.h"\n', "filter/run.h": ""},
    "each folder answers a question": {"filter/common/all.c": ""},
    "no circle of files": {
        "filter/view/view.c": '#include "filter/view/gap.h"\n', "filter/view/view.h": "",
        "filter/view/gap.h": '#include "filter/view/view.h"\n'},
    "each type is defined once": {
        "symtab/err.h": "struct hlg_range {\n};\n", "filter/run.h": "struct hlg_range {\n};\n"},
    "a blank behind the * of comments": {"filter/run.h": "/*\n * Before, and\n *after.\n */\n"},
    "a blank behind the * of comments (in a function)": {"filter/run.c": "\t/*\n\t *after.\n\t */\n"},
    f"no function has more than {LONGEST} lines": {
        "filter/run.c": "int hlg_run(void)\n{\n" + (LONGEST + 1) * "\t;\n" + "}\n"},
    "sizes of fuzzers are set": {"filter/run.c": "#define HLG_FIRST_BITS 12\n"},
    "each function has its file's prefix": {
        "symtab/err.c": "int hlg_fault(int a,\n\t      int b)\n{\n}\n"},
    "each function has its file's prefix (in a header)": {
        "symtab/err.h": "static inline int *hlg_fault(void)\n{\n}\n"},
    "each function has its file's prefix (of one file)": {
        "filter/view/csv.c": "void hlg_csv_x(void)\n{\n}\n",
        "filter/write/csv.c": "void hlg_csv_y(void)\n{\n}\n"},
}


def unnoticed():
    """What is made up and not noticed by the rule that it breaks."""
    for what, files in FAULTS.items():
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text)
            texts = read(root)
            if not list(RULES[what.split(" (")[0]](texts)):
                yield f"not noticed: {what}"
    if not strays({"a.elf"}):
        yield "not noticed: a file that strays"


def strays(names):
    return [f"{name}: what is it at the top?" for name in sorted(names)
            if name not in TOP and not name.startswith(".")]


def at_top(root):
    """What git has at the top, folders as well; nothing without git or a checkout."""
    if not shutil.which("git"):
        return set()
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True,
                            check=False)
    return {path.split("/")[0] for path in listed.stdout.split("\0") if path}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else ROOT
    texts = read(root)
    checks = {"each fault is noticed": unnoticed(),
              "nothing strays at the top": strays(at_top(root)),
              "there are sources": () if len(texts) > 100 else ["few sources: have they moved?"]}
    checks |= {what: rule(texts) for what, rule in RULES.items()}
    print(f"1..{len(checks)}")
    failed = 0
    for number, (what, wrong) in enumerate(checks.items(), 1):
        wrong = list(wrong)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {what}")
        for line in wrong:
            print("# " + line, file=sys.stderr)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
