#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages describe the options that the verbs have, and no others.

    verbs.py --build DIR [--update]

Compares what `hlguest help --options` lists with man/hlguest-VERB.1, option by option:
both spellings and the values. `hlguest help` and `hlguest VERB --help` show the same, and the
examples of --help are run.
What report shares
with the filter is described in hlguest.7 and only listed in its own page, as base's page
lists what it shares with report. Every verb has a page, hlguest.1 names it; every verb has
-o FILE, which gets what standard output would; the guide's commands exist, its job for CI is
run, and README's commands for Hyperlight are those of the guide; the examples of TRANSCRIPTS
print what their pages show (--update writes that anew); and mandoc finds nothing to complain
of, where it is installed.
"""
import json
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import recording
from programs import hlguest_of
from tap import (DATA, ROOT, Skip, Tap, environment, mount_tracefs, must, need, parser,
                 run)

MAN = os.path.join(ROOT, "man")
COMMON = {"--help": "-?", "--usage": ""}
HELPED = re.compile(r"^ {2,6}(?:(-\S), )? *(--[a-z-]+)(?:=(\S+)|\[=(\S+)\])?", re.M)


class Option:
    """One of `hlguest help --options`."""

    def __init__(self, long, short, value, kind, optional, files, text):
        self.long, self.short, self.value, self.kind = long, short, value, kind
        self.optional, self.files, self.help = optional == "optional", files, text


def listed(build):
    """{verb: ((arguments, files, help), [Option])}, in the order of the command."""
    found = {}
    for line in must(hlguest_of(build), "help", "--options").splitlines():
        what, verb, *rest = line.split("\t")
        if what == "verb":
            found[verb] = (rest, [])
        else:
            found[verb][1].append(Option(*rest))
    return found


ORDER = ["doctor", "extract", "record", "report", "annotate", "top", "flame",
         "diff"]  # of use


def check_help(build):
    """`hlguest help` has these verbs in this order."""
    text = must(hlguest_of(build), "help")
    helped = re.findall(r"^  ([a-z]+) +(?:(\S.*?)  +|)(\S.*)$", text, re.M)
    wide = [f"wide: {line}" for line in text.splitlines() if len(line) > 80]
    if not helped or [h[0] for h in helped][:len(ORDER)] != ORDER:
        wide.append(f"not in the order of use: {helped}")
    found = [(verb, how[0], how[2]) for verb, (how, _) in listed(build).items()]
    return [f"help has {h}, the list {f}" for h, f in zip(helped, found) if h != f] + \
        ["one has more"] * (len(helped) != len(found)) + wide


def helped_of(build, verb):
    """{long: (short or "", value or "")} of a verb, as argp prints them."""
    text = must(hlguest_of(build), verb, "--help")
    return {long: (short, value or perhaps)
            for short, long, value, perhaps in HELPED.findall(text)}


def options_of(build, verb):
    """The same as they are listed, and those of every verb."""
    return {**{o.long: (o.short, o.value) for o in listed(build)[verb][1]},
            **{name: (short, "") for name, short in COMMON.items()}}


def check_listed(build, verb):
    """--help shows what is listed, and which values may be left out."""
    text = must(hlguest_of(build), verb, "--help")
    shown = {*re.findall(r"(--[a-z-]+)\[=", text)}
    optional = {o.long for o in listed(build)[verb][1] if o.optional}
    return differences(helped_of(build, verb), options_of(build, verb), "the list") + \
        [f"optional: help has {shown}, the list {optional}"] * (shown != optional)


HEAD = re.compile(r"^(?! |Usage:)(.*):$", re.M)
PERF = """#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
[ $# -gt 1 ] && cat "$RECORDING" >"$2"
exit 0
"""


def check_shape(build, verb):
    """Lines fit, options stand under headings, each once, and there are three examples."""
    text = must(hlguest_of(build), verb, "--help")
    wide = [line for line in text.splitlines() if len(line) > 79]
    heads = HEAD.findall(text)
    wrong = [f"headings {heads}"] * (heads[-1:] != ["Examples"] or len({*heads}) != len(heads))
    wrong += [f"{len(examples(text))} examples"] * (len(examples(text)) != 3)
    return wrong + [f"wide: {line}" for line in wide] + \
        [f"blank at the end: {line}" for line in text.splitlines() if line != line.rstrip()]


def examples(text):
    return re.findall(r"^  (\S.*)\n      \S", text[text.index("\nExamples:\n"):], re.M)


def furnish(build, folder, verb):
    """What the examples name."""
    elf, recording = {"exits": ("hyperlight/guest.elf", "hyperlight/exits.data"),
                      "windows": ("demo.elf", "demo-windows.data")}.get(
                          verb, ("demo.elf", "demo-user.data"))
    files = {elf: ("guest.elf", "old.elf", "new.elf"),
             recording: ("perf.data.guest", "before.data", "a.data"),
             "demo-host.data": ("after.data", "b.data"),
             "sysprof/all-records.bin": ("sysprof.bin",)}
    for source, names in files.items():
        for name in names:
            shutil.copy(os.path.join(DATA, source), os.path.join(folder, name))
    for name, text in (("perf", PERF), ("vmm", "#!/bin/sh\n"), ("jit.map", "900000 10 made\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(os.path.join(folder, name), 0o755)
    with open(os.path.join(folder, "my-host"), "wb") as f, \
            open(os.path.join(DATA, "demo.elf"), "rb") as guest:
        f.write(b"host" + guest.read())
    if verb == "fleet":
        with open(os.path.join(folder, "list"), "w", encoding="utf-8") as f:
            f.write("a.data\nb.data\n")
    if verb == "merge":
        must(os.path.abspath(hlguest_of(build)), "report", "--format=pprof", "-o", "two.pb.gz",
             "guest.elf", cwd=folder)


def check_examples(build, verb):
    """Each is run; those that would measure this machine are parsed."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="examples-") as folder:
        try:
            furnish(build, folder, verb)
        except RuntimeError as e:
            raise Skip(str(e)) from e
        env = environment(PATH=folder + ":" + os.environ["PATH"],
                          RECORDING=os.path.join(DATA, "demo-user.data"))
        for line in examples(must(hlguest_of(build), verb, "--help")):
            words = [str(os.getpid()) if w == "17" else w for w in shlex.split(line)]
            argv = [os.path.abspath(hlguest_of(build)), *words[1:]]
            if verb in ("calibrate", "top"):
                argv.insert(2, "--usage")
            _, err, status = run(*argv, cwd=folder, env=env)
            right = {"doctor": (0, 1), "diff": (0, 4)}.get(verb, (0,))
            if words[0] != "hlguest" or status not in right:
                if "build without" in err or "not in this build" in err:
                    raise Skip(err.strip())
                wrong.append(f"{line}: status {status}: {err}")
    return wrong


def page(name):
    with open(os.path.join(MAN, name), encoding="utf-8") as f:
        return f.read()


def described(text):
    """{long: (short or "", value or "")} of the items of a page."""
    found = {}
    for head in re.findall(r"^\.It (Fl .*)$", text, re.M):
        head = head.replace(" Ns ", "").replace("Ns=", "=").replace("\\&", "")
        head = re.sub(r"\bFl ", "-", re.sub(r"\b(?:Ar|Cm) ", "", head)).replace(" | ", "|")
        names = head.split(" , ")
        long, _, value = names[-1].partition("=")
        short, _, same = names[0].partition(" ") if len(names) > 1 else ("", "", value)
        found[long] = (short, value if same == value else f"{same} and {value}")
    return found


def shared(text):
    """The options that report's page lists and leaves to hlguest.7."""
    begin, end = text.index(".Sh OPTIONS"), text.index("They are described in")
    words = re.findall(r"^\.Cm (.*)$", text[begin:end], re.M)
    return sorted("--" + w for w in " ".join(words).replace(",", " ").split() if w != ".")


def filters():
    """{long: ("", value)} of what hlguest.7 describes."""
    text = page("hlguest.7")
    options = text[text.index(".Sh OPTIONS"):text.index(".Sh FORMATS")]
    found = {}
    for name, value in re.findall(r"^\.It Cm ([a-z-]+) Ns = Ns (.*)$", options, re.M):
        value = re.sub(r"\b(?:Ar|Cm|Ns) ", "", value).replace(" ", "")
        found["--" + name] = ("", value)
    return found


def differences(helped, found, where="the page"):
    return [f"{name}: help has {helped.get(name)}, {where} {found.get(name)}"
            for name in sorted({*helped, *found}) if helped.get(name) != found.get(name)]


def borrowed(text):
    """Those options that a page only lists, since hlguest-report.1 has them."""
    match = re.search(r"^\.Sh OPTIONS\n((?:\.Cm|and\n|\.Fl|.*\n)*?)^\.Sh ", text, re.M)
    listed = match.group(1) if match and "whose\n.Fl" in match.group(1) else ""
    words = " ".join(re.findall(r"^\.Cm (.*)$", listed, re.M)).replace(",", " ").split()
    letters = " ".join(re.findall(r"^\.Fl (.*)$", listed, re.M)).replace(",", " ").split()
    report = described(page("hlguest-report.1"))
    return {**{"--" + word: filters()["--" + word] for word in words},
            **{long: how for long, how in report.items() if how[0].lstrip("-") in letters}}


def check_verb(build, verb):
    helped = options_of(build, verb)
    text = page(f"hlguest-{verb}.1")
    found = dict(described(text), **{name: (short, "") for name, short in COMMON.items()})
    found.update(borrowed(text))
    wrong = []
    if verb == "report":
        table = filters()
        for name in "--emit", "--out", "--strict":  # the filter's only
            table.pop(name)
        table = {name: how for name, how in table.items() if name not in found}
        if shared(text) != sorted(table):
            wrong.append(f"hlguest-report.1 lists {shared(text)}, hlguest.7 {sorted(table)}")
        found.update(table)
    return wrong + differences(helped, found)


# {verb: words}; of the rest, the result depends on the moment or is not for a pipe.
WRITES = {
    "report": ["demo.elf", "demo-user.data"],
    "annotate": ["demo.elf", "demo-user.data", "hash_block"],
    "flame": ["demo.elf", "demo-user.data"],
    "windows": ["demo.elf", "demo-windows.data"],
    "base": ["demo.elf", "demo-user.data"],
    "diff": ["demo.elf", "demo-user.data", "demo-host.data"],
    "exits": ["demo.elf@0x4000", "demo-exits.data"],
    "sysprof": ["sysprof/all-records.bin"],
    "kallsyms": ["demo.elf"],
    "lookup": ["demo.elf", "5280", "53a0"],
}
NOT_COMPARED = {"record", "top", "extract", "merge", "fleet", "inject", "calibrate", "doctor"}


def check_output(build, verb):
    """-o, --output and --out are the same: what would have gone to standard output."""
    option = options_of(build, verb).get("--output")
    if option != ("-o", "FILE"):
        return [f"--output is {option}"]
    must(hlguest_of(build), verb, "--out=x", "--help")
    if verb in NOT_COMPARED:
        return []
    argv = [os.path.abspath(hlguest_of(build)), verb, *WRITES[verb]]
    piped = run(*argv, cwd=DATA)
    if not piped[0]:
        raise Skip(piped[1].strip())
    wrong = []
    for words in (["-o", "{}"], ["--output={}"], ["--out={}"]):
        with tempfile.TemporaryDirectory(prefix="output-") as folder:
            path = os.path.join(folder, "result")
            out, err, status = run(*argv, *(w.format(path) for w in words), cwd=DATA)
            with open(path, encoding="utf-8") as f:
                text = f.read()
        told = f"hlguest: {path}: "  # of a file, what is in it
        err = "".join(line for line in err.splitlines(True) if not line.startswith(told))
        if (text, err, status) != piped or out:
            wrong.append(f"{words}: {status}, {err!r}, {out[:99]!r}, {text[:99]!r}")
    return wrong


def check_synopsis(verb):
    """Options without a value in brackets, those of one letter, are described, too."""
    text = page(f"hlguest-{verb}.1")
    synopsis = text[text.index(".Sh SYNOPSIS"):text.index(".Sh DESCRIPTION")]
    options = {**described(text), **borrowed(text)}
    known = [name for long, (short, _) in options.items() for name in (long, short)]
    used = re.findall(r"\bFl (-?[a-zA-Z][a-zA-Z-]*)", synopsis)
    return [f"the synopsis has -{name}" for name in used if "-" + name not in known]


def check_common():
    found = described(page("hlguest.1"))
    return differences({name: (short, "") for name, short in COMMON.items()},
                       {name: found[name] for name in COMMON if name in found})


def check_named(verbs):
    text = page("hlguest.1")
    wrong = [f"hlguest.1 does not list {v}" for v in verbs if f"\n.It Cm {v}\n" not in text]
    wrong += [f"hlguest.1 does not refer to hlguest-{v}" for v in verbs
              if f"\n.Xr hlguest-{v} 1 ,\n" not in text]
    pages = sorted(n for n in os.listdir(MAN) if re.fullmatch(r"hlguest-.*\.1", n))
    if pages != sorted(f"hlguest-{v}.1" for v in verbs):
        wrong.append(f"pages: {pages}; verbs: {verbs}")
    return wrong


def check_installed(build, verbs):
    plan = os.path.join(build, "meson-info", "intro-install_plan.json")
    with open(plan, encoding="utf-8") as f:
        installed = {os.path.basename(path) for path in json.load(f)["man"]}
    return [f"{n} is not installed"
            for n in ["hlguest.1", "hlguest.7", "hlguest-guest-stacks.7", "hlguest-guide.7",
                      *(f"hlguest-{v}.1" for v in verbs)]
            if n not in installed]


def check_mandoc():
    need("mandoc")
    pages = [os.path.join(MAN, n) for n in os.listdir(MAN) if re.search(r"\.[1-8]$", n)]
    out, err, _ = run("mandoc", "-T", "lint", "-W", "warning", *pages)
    # Examples stand in front of the description, where who opens a page for the first time looks.
    return [line for line in (out + err).splitlines()
            if "sections out of conventional order" not in line]


def blocks(text):
    """The literal blocks of a page, as a reader would copy them."""
    return [block.replace("\\e", "\\") for block in
            re.findall(r"^\.Bd -literal.*\n((?:(?!\.Ed).*\n)*)", text, re.M)]


def check_guide(build):
    """The guide's commands are verbs that there are, with options that they have."""
    verbs, wrong, seen = listed(build), [], 0
    for block in blocks(page("hlguest-guide.7")):
        for line in re.findall(r"^(?:\$ |\t*)hlguest (.*)", block.replace("\\\n", ""), re.M):
            ours, records = re.match(r"(.*?)(?:(?:^| )-- .*)?$", line).group(1), "-- " in line
            words = shlex.split(ours) or ["--"]
            verb = words[0] if words[0] in verbs else "report"
            if verb != words[0] and not records:
                wrong.append(f"no verb: {line}")
            known = {name for o in verbs[verb][1] for name in (o.long, o.short)}
            seen += 1
            wrong += [f"{verb} has no {w}: {line}" for w in words
                      if w[:1] == "-" and w != "--" and w.partition("=")[0] not in known]
    return wrong + ["it has none"] * (not seen)


def check_five():
    """Hyperlight in five minutes: README's commands are the guide's, with another host, and
    the guide's crates are of the versions that the rig has."""
    text = page("hlguest-guide.7")
    part = text[text.index(".Ss Profile your"):text.index(".Ss Where the guest's")]
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    short = re.search(r"^## Profile your .*\n\n((?: {4}.*\n)*)", readme, re.M).group(1)
    ours, theirs = (re.findall(r"^(?:\$| {4}) ?(hlguest .*?)(?: +#.*)?$", commands, re.M)
                    for commands in ("\n".join(blocks(part)), short))
    host = "host/target/release/demo-host"
    wrong = [f"the guide has {ours}, README {theirs}"] * \
        ([words.replace(host, "./my-host") for words in ours] != theirs or len(ours) < 4)
    for side, crate in ("guest", "hyperlight-guest-bin"), ("host", "hyperlight-host"):
        with open(os.path.join(ROOT, "tests/rig/hyperlight", side, "Cargo.toml"),
                  encoding="utf-8") as f:
            version = re.search(crate + r'\b.*?"=(\d+\.\d+)', f.read()).group(1)
        command = f"$ cargo add --manifest-path {side}/Cargo.toml {crate}@{version}\n"
        wrong += [f"the guide has no {command}"] * (command not in part)
    return wrong


# What they print is in their pages; "" is hlguest(1).
TRANSCRIPTS = ["", "extract", "exits", "lookup", "merge", "inject", "base", "diff", "flame",
               "kallsyms", "record", "sysprof"]
LOG = "vmm: exit, ip 0x6095\nvmm: exit, ip 0x52db\n"
HOME = "/home/me"  # where the pages' commands run
BARE = ["", "diff", "record"]  # where commands stand without what they print, too
ELIDED = "\\&..."  # a line that stands for some, or for none
# Other programs', this machine's, and what a recording of the page's own would take.
NOT_RUN = re.compile(r"perf |go |for |hlguest doctor|hlguest diff --children|.*flamegraph\.pl|"
                     r"hlguest record .*(?:-p|-a|-g|--guest-stacks|-W|--host|-F)\b")
RUN = {"hash_block": (60, 13), "unrolled_rounds": (50, -9), "_ZN5guest4json5parseEPKcm": (40, 8),
       "checksum_words": (22, -5), "format_decimal": (15, -4), "collatz_steps": (9, -2),
       "find_byte": (4, 1)}  # samples, and by how many they differ from run to run


def page_of(verb):
    return f"hlguest-{verb}.1" if verb else "hlguest.1"


def transcripts(text, records):
    """The places of (command, what follows it) in the examples of a page; perf's are cut short.
    records: also of hlguest record."""
    begin, end = text.index(".Sh EXAMPLES"), text.index(".Sh DESCRIPTION")
    return [m for m in re.finditer(r"^\$ ((?:.*\\e\n)*.*)\n((?:(?!\$ |\.Ed).*\n)*)", text, re.M)
            if begin < m.start() < end and not NOT_RUN.match(m.group(1)) and
            (records or not m.group(1).startswith("hlguest record "))]


def write_runs(folder, sort_keys):
    """Three runs of demo.elf, each with so many samples in sort_keys."""
    sizes = {name: int(size, 16) for size, name in
             re.findall(r"^\w+ (\w+) \w (\w+)$", must("nm", "-S", os.path.join(DATA, "demo.elf")), re.M)}
    code = {}
    for line in must("objdump", "-d", "--no-show-raw-insn",
                     os.path.join(DATA, "demo.elf")).splitlines():
        head, insn = re.match(r"\w+ <(\w+)>:", line), re.match(r" *(\w+):\t", line)
        if head:
            starts, size = code.setdefault(head[1], []), sizes.get(head[1], 0)
        elif insn and (not starts or 0x4000 + int(insn[1], 16) < starts[0] + size):
            starts.append(0x4000 + int(insn[1], 16))
    os.mkdir(folder)
    shutil.copy(os.path.join(DATA, "demo.elf"), os.path.join(folder, "guest.elf"))
    for run_of in range(3):
        counts = {name: n + by * (run_of - 1) for name, (n, by) in RUN.items()}
        counts["sort_keys"] = sort_keys + 1 - run_of
        recording.write(os.path.join(folder, f"{run_of + 1}.data"), [
            (code[name][i % len(code[name])], 1, 1000000, 0)
            for name, n in counts.items() for i in range(n)])


def furnish_transcripts(build, folder, verb):
    furnish(build, folder, verb if verb == "exits" else "report")
    for source, name in (("demo-far.data", "far.data"), ("demo-host.data", "b.data"),
                         ("demo-user.data", "old.data"), ("demo-host.data", "new.data")):
        shutil.copy(os.path.join(DATA, source), os.path.join(folder, name))
    with open(os.path.join(folder, "vmm.log"), "w", encoding="utf-8") as f:
        f.write(LOG)
    os.symlink(os.path.abspath(hlguest_of(build)), os.path.join(folder, "hlguest"))
    if verb == "diff":
        need("objdump", "nm")
        write_runs(os.path.join(folder, "old"), 23)
        write_runs(os.path.join(folder, "new"), 74)
        for side in "main", "pr":
            os.mkdir(os.path.join(folder, side))
            for i in range(3):
                must(os.path.join(folder, "hlguest"), "report", "--format=pprof", "-o",
                     os.path.join(folder, side, f"{i}.pb.gz"), "old/guest.elf",
                     f"{'old' if side == 'main' else 'new'}/{i + 1}.data", cwd=folder)


def is_shown(shown, now):
    """Is it what a page shows, which leaves lines out? Its numbers are of another recording."""
    plain = [re.sub(r"[0-9]+(?:\.[0-9]+)?", "N", text) for text in (shown, now)]
    parts = [re.escape(part) for part in re.split(r"^\\&\.\.\..*\n", plain[0], flags=re.M)]
    return re.fullmatch("(?:.*\n)*".join(parts), plain[1]) is not None


def check_transcript(build, verb, update):
    """The examples of a page print what stands there."""
    missing = {"libiberty", "zydis"} - {*os.environ.get("HLG_FEATURES", "libiberty zydis").split()}
    if missing:
        raise Skip(f"needs {missing}")
    text = page(page_of(verb))
    wrong, seen, pieces, at = [], 0, [], 0
    with tempfile.TemporaryDirectory(prefix="transcript-") as folder:
        furnish_transcripts(build, folder, verb)
        env = environment(PATH=folder + ":" + os.environ["PATH"],
                          RECORDING=os.path.join(DATA, "demo-user.data"))
        for shown in transcripts(text, verb in ("", "record")):
            command = shown.group(1).replace("\\e\n", "\\\n")
            out, err, status = run("sh", "-c", command, cwd=folder, env=env)
            now, other = (text_of.replace(os.path.realpath(folder), HOME)
                          .replace("\\", "\\e").replace("±", "\\(+-")
                          for text_of in (out + err, err + out))
            seen += bool(now)
            told = re.sub(r"^\[ perf record.*\n", "", shown.group(2), flags=re.M)
            partly = ELIDED in told or verb in ("", "record") or (told == "" and verb in BARE)
            same = told == "" or is_shown(told, now) or is_shown(told, other) if partly else \
                update or now == told
            if status not in ((0, 4) if "--fail-if" in command else (0,)) or not same:
                wrong.append(f"{shown.group()}# now, status {status}:\n{now}")
            pieces += [text[at:shown.start(2)], shown.group(2) if partly else now]
            at = shown.end(2)
    if update:
        with open(os.path.join(MAN, page_of(verb)), "w", encoding="utf-8") as f:
            f.write("".join(pieces) + text[at:])
    return wrong + ["there is none"] * (not seen)


def check_job(build):
    """The guide's job for CI measures, then compares with what it kept."""
    text = page("hlguest-guide.7")
    job = blocks(text[text.index(".Sh CONTINUOUS"):])[0]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="job-") as folder:
        furnish(build, folder, "report")
        os.symlink(os.path.abspath(hlguest_of(build)), os.path.join(folder, "hlguest"))
        env = environment(PATH=folder + ":" + os.environ["PATH"],
                          RECORDING=os.path.join(DATA, "demo-user.data"))
        for base, said in ((False, ""), (True, "0 of 22 functions changed")):
            out, err, status = run("sh", "-c", job, cwd=folder, env=env)
            if "not in this build" in err or "build without" in err:
                raise Skip(err.strip())
            if status or said not in out or (not base and out):
                wrong.append(f"with base: {base}: status {status}: {out} {err}")
            if not base:
                os.rename(os.path.join(folder, "new"), os.path.join(folder, "base"))
    return wrong


def main():
    p = parser(__doc__)
    p.add_argument("--update", action="store_true")
    args = p.parse_args()
    build = args.build
    tap = Tap()
    mount_tracefs()
    verbs = list(listed(build))
    tap.run("hlguest help lists verbs", lambda: check_help(build) if verbs else ["none"])
    for verb in verbs:
        tap.run(f"{verb}: help", check_listed, build, verb)
        tap.run(f"{verb}: shape of its help", check_shape, build, verb)
        tap.run(f"{verb}: examples", check_examples, build, verb)
        tap.run(f"{verb}: options", check_verb, build, verb)
        tap.run(f"{verb}: output", check_output, build, verb)
        tap.run(f"{verb}: synopsis", check_synopsis, verb)
    tap.run("options of every verb", check_common)
    tap.run("every verb has a page", check_named, verbs)
    tap.run("pages are installed", check_installed, build, verbs)
    tap.run("guide", check_guide, build)
    tap.run("Hyperlight in five minutes", check_five)
    tap.run("the guide's job for CI", check_job, build)
    for verb in TRANSCRIPTS:
        tap.run(f"{verb}: what its page shows", check_transcript, build, verb,
                args.update)
    tap.run("mandoc", check_mandoc)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
