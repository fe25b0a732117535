#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One hostile ELF through every verb and every format.

    hostile.py --build DIR

Symbols, processes, mappings, events and the files themselves are called by what attacks
terminals, spreadsheets, browsers and parsers (kit/names.py). Whatever is written is UTF-8 with
nothing in it that a terminal acts on, and other people's parsers find in each format what
was put in: Python's csv and json, and, where they are installed, LibreOffice, jq, Chromium,
callgrind_annotate, go tool pprof, perf. Two names that differ are shown differently, but
for what symtab/escape.h and the manual page say.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from place import ABSENT, NAMES, SHOWN, Place, make, path_of

import checks
from chromium import Browser, NoBrowser, Page
from names import shown, unclean
from programs import on_terminal, page_data
from tap import Skip, Tap, filter_of, need, parser


def lacking(out, what, expected):
    said = out.decode("utf-8", "replace")
    return [f"{what}: {name[:80]!r} is not there" for name in expected if name not in said]


def title(argv):
    """A command line without its files."""
    return " ".join(w for w in argv if isinstance(w, str))


# --- each format --------------------------------------------------------------------


def check_text(place):
    # Nothing is longer than the line of a function's name.
    for words in ([], ["--aliases=yes", "--by=event,tid", "--mode=all", "--roots=comm"]):
        out = place.report("--wide", *words)
        yield from checks.text(out, f"report {words}")
        yield from lacking(out, f"report {words}", SHOWN)
    host = place.must("report", "-q", place.image, place.samples, "--mode=host", "--top=0",
                      "--wide")
    yield from checks.text(host, "host")
    yield from lacking(host, "host", [shown(make.short(n)[:100]) for n in NAMES[:120]])
    for argv in (["report", place.image, place.chains, "--stacks=callgraph"],
                 ["report", place.image, place.chains, "--stacks=counters"],
                 ["report", b"map:" + place.map + b"@0x4000", place.samples, "--top=0"],
                 ["report", place.image, place.samples, "--force", "--skid=3"],
                 ["doctor", place.image],
                 ["annotate", "-q", place.image, place.samples, "--top=0"],
                 ["annotate", "-q", place.image, place.samples, b"--function=" + NAMES[4]],
                 ["diff", place.image, place.single, place.single, "--top=0"],
                 ["windows", place.image, place.windows, "--format=text"],
                 ["windows", place.elf + b"@0x4000", place.calls, "--format=text",
                  "--between=port:101..port:101"],
                 ["exits", place.image, place.exits, "--top=0", "--by=tid"]):
        out, err, status = place.run(*argv)
        yield from unclean(out, f"{argv[0]}: stdout")
        yield from unclean(err, f"{argv[0]}: stderr")
        if status not in (0, 1) or not out and not ABSENT.search(err):
            yield f"{argv}: status {status}: {err}"


def check_markdown(place):
    """Each row of the table has five cells, and a name is one span of code."""
    out = place.must("diff", "-q", place.image, place.single, "--after",
                     place.image, place.single, "--format=markdown", "--all", "--top=0",
                     "--demangle=no")
    yield from checks.text(out, "markdown")
    rows = [line for line in out.splitlines() if line.startswith(b"|")]
    if len(rows) < 100:
        yield f"{len(rows)} rows"
    for row in rows[2:]:
        if not re.fullmatch(rb"(\| [-+0-9.% x]+ |\| from 0 ){3}\| [0-9.]+ -> [0-9.]+ \w+ \| "
                            rb"`(?!.*\\\\\|)(?:[^`|]|\\\|)+`"
                            rb"(  \((not significant|label|new|gone|not sampled \w+|"
                            rb"of this name: \d+ before, \d+ after)\))* \|", row):
            yield f"markdown: {row!r}"
    fences = [line for line in out.splitlines() if line.lstrip().startswith(b"```")]
    if len(fences) not in (2, 4):
        yield f"{len(fences)} fences"


def check_csv(place):
    cells = [checks.guarded(n) for n in NAMES]
    for argv in (
            ["report", place.image, place.samples, "--demangle=no",
             "--aliases=yes"],
            ["report", place.image, place.samples, "--by=event,tid", "--mode=all"],
            ["report", place.image, place.chains, "--stacks=callgraph",
             "--mode=all"],
            ["diff", place.image, place.single, place.single, "--demangle=no"],
            ["exits", place.image, place.exits, "--demangle=no"],
            ["windows", place.image, place.windows],
            ["windows", place.image, place.windows, "--summary"],
            ["windows", place.image, place.windows, "--rates"],
            ["windows", place.image, place.calls, "--between=port:101..port:101"]):
        top = [] if argv[0] == "windows" else ["--top=0"]
        out = place.must(argv[0], "-q", *argv[1:], "--format=csv", *top)
        what = title(argv)
        yield from checks.csv(out, what)
        if "--demangle=no" in argv:
            found = {cell for row in checks.cells_of(out) for cell in row}
            yield from (f"{what}: no cell {c[:80]!r}" for c in cells if c not in found)


def check_spreadsheet(place):
    """All tables that have been checked before."""
    if not checks.tables:
        check_csv(place)
    if not checks.program("soffice", "libreoffice"):
        raise Skip("LibreOffice is not installed")
    return checks.spreadsheet(place.folder)


def check_json(place):
    for argv in (["report", place.image, place.samples, "--aliases=yes", "--demangle=no"],
                 ["report", place.image, place.samples, "--by=event,tid", "--mode=all"],
                 ["report", place.image, place.chains, "--stacks=callgraph", "--mode=all"],
                 ["annotate", place.image, place.samples],
                 ["diff", place.image, place.single, place.single, "--demangle=no"],
                 ["windows", place.image, place.windows],
                 ["windows", place.image, place.calls, "--between=port:101..port:101"],
                 ["exits", place.image, place.exits, "--demangle=no"]):
        top = [] if argv[0] == "windows" else ["--top=0"]
        out = place.must(argv[0], "-q", *argv[1:], "--format=json", *top)
        yield from checks.json(out, title(argv))
        if "--demangle=no" in argv:
            yield from (f"{title(argv)}: {d}" for d in absent(out, SHOWN))
    for argv in (["report", place.image, place.chains, "--format=speedscope",
                  "--stacks=callgraph", "--demangle=no"],
                 ["flame", place.image, place.samples, "--format=speedscope",
                  "--demangle=no"]):
        out = place.must(argv[0], "-q", *argv[1:])
        yield from checks.json(out, title(argv))
        yield from absent(out, SHOWN)


def absent(document, expected):
    found = set(checks.strings_of(checks.json_module.loads(document)))
    return [f"{name[:80]!r} is not there" for name in expected if name not in found]


def check_stacks(place):
    frames = [re.sub(r" (\d+(\.\d*)?)$", r"\\x20\1", n.replace(";", ":")) for n in SHOWN]
    for argv in (["report", place.image, place.samples, "--format=folded"],
                 ["report", place.image, place.samples, "--format=folded", "--mode=all",
                  "--roots=comm,tid,image,section"],
                 ["report", place.image, place.chains, "--format=folded", "--mode=all",
                  "--stacks=callgraph"],
                 ["flame", place.image, place.samples, "--format=folded"]):
        out = place.must(argv[0], "-q", *argv[1:], "--demangle=no")
        yield from checks.folded(out, title(argv), frames)


def check_callgrind(place):
    out = place.must("report", "-q", place.image, place.single, "--top=0", "--demangle=no",
                     "--format=callgrind")
    yield from checks.callgrind(out, "callgrind", SHOWN)
    path = os.path.join(place.folder, "plain.callgrind")
    with open(path, "wb") as f:
        f.write(out)
    total = sum(1000 * (1 + i % 3) for i in range(len(NAMES)))
    yield from checks.annotated(path, "callgrind", total)


def check_pprof(place):
    path = path_of(b"q", b".pb.gz")
    place.report("--format=pprof", b"--out=" + path)
    with open(path, "rb") as f:
        data = f.read()
    yield from checks.pprof(data, "pprof", SHOWN)
    os.link(path, "plain.pb.gz")
    yield from checks.go_pprof("plain.pb.gz", "pprof", SHOWN[:60], place.folder)
    again = place.must("report", "-q", place.image, path, "--top=0", "--wide", "--demangle=no")
    yield from checks.text(again, "a saved profile")
    yield from lacking(again, "a saved profile", SHOWN)
    merged = path_of(b"t", b".pb.gz")
    place.must("merge", "-q", "-o", merged, path, path)
    with open(merged, "rb") as f:
        yield from checks.pprof(f.read(), "merged", SHOWN)


def uleb(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + uleb(n >> 7)


def stream_of_names():
    """A stream of sysprof with a sample in a C function of each name (sysprof_decode.py of
    tests/verbs tells the format)."""
    symbols = [b"\1" + uleb(at) + uleb(len(name)) + name for at, name in enumerate(NAMES, 4096)]
    samples = [b"\3\x80" + uleb(at) + b"\0" for at, _ in enumerate(NAMES, 4096)]
    return (b"ljs\3\0\0\0" + b"".join(symbols) + b"\x80"
            b"ljp\2\0\0\0" + b"".join(samples) + b"\x80")


def check_sysprof(place):
    stream = path_of(b"l", b".bin")
    with open(stream, "wb") as f:
        f.write(stream_of_names())
    for form in "text", "folded":
        out = place.must("sysprof", "--format=" + form, stream)
        yield from checks.text(out, form)
        if form == "folded":
            yield from checks.folded(out, form)
    out = place.must("sysprof", "--format=json", stream)
    yield from checks.json(out, "json")


# --- pictures -----------------------------------------------------------------------


def pictures(place):
    """{name: (bytes, scripts of our own)}"""
    nasty = b"--title=</title><script>document.title='ran'</script>\x1b]0;\xe2\x80\xae\xff"
    found = {}
    for name, scripts, argv in (
            ("leaf.svg", 1, ["flame", place.image, place.samples, nasty,
                              "--demangle=no"]),
            ("stacks.svg", 1, ["flame", place.image, place.chains, "--stacks=callgraph",
                               "--mode=all", b"--before=" + place.samples]),
            ("windows.svg", 0, ["windows", place.image, place.windows, "--format=svg"]),
            ("exits.html", 0, ["exits", place.image, place.exits, "--format=html",
                               "--demangle=no"]),
            ("windows.html", 0, ["windows", place.image, place.windows, "--format=html"])):
        found[name] = place.must(argv[0], "-q", *argv[1:]), scripts
    return found


def check_pictures(place):
    for name, (data, scripts) in pictures(place).items():
        yield from checks.drawing(data, name, scripts)
        if name == "leaf.svg":
            root = checks.ElementTree.fromstring(data)
            titles = {(t.text or "").split("\n")[0] for t in root.iter()
                      if str(t.tag).endswith("title")}
            yield from (f"{name}: {n[:80]!r} has no frame" for n in SHOWN if n not in titles)


def check_page(place):
    """The page's own scripts run, and nothing that a name says; all names are there."""
    try:
        browser = Browser()
    except NoBrowser as e:
        raise Skip(str(e)) from e
    with browser:
        for samples in place.samples, place.chains:
            data = place.must("report", "-q", place.image, samples, "--format=html",
                              "--top=0", "--demangle=no")
            yield from unclean(data, "page")
            path = os.path.join(place.folder, "page.html")
            with open(path, "wb") as f:
                f.write(data)
            page = Page(browser, path)
            page.run("new Promise(done => { const look = () => document.documentElement"
                     ".dataset.ready ? done() : setTimeout(look, 10); look(); })")
            title = page.run("document.title")
            # The data, and the scripts.
            n = page.run("document.querySelectorAll('script').length")
            odd = page.run("[...document.querySelectorAll('img, iframe, object, a, form')]"
                           ".filter(e => !/^#[a-z]+$/.test(e.getAttribute('href'))).length")
            if title == "ran" or n != 2 or odd:
                yield f"page: {n} scripts, {odd} odd elements, title {title}"
            names = set(page_data(data.decode())["rows"]["name"])
            yield from (f"page: {name[:80]!r} is not there" for name in SHOWN
                        if name not in names)
            yield from (f"page: {thing}" for thing in page.noticed())
            page.close()


def check_browser(place):
    """Nothing that a name says is done; only what names the picture is its title."""
    try:
        browser = Browser()
    except NoBrowser as e:
        raise Skip(str(e)) from e
    with browser:
        for name, (data, scripts) in pictures(place).items():
            path = os.path.join(place.folder, name)
            with open(path, "wb") as f:
                f.write(data)
            page = Page(browser, path)
            n = page.run("document.querySelectorAll('script').length")
            title = page.run("document.title || document.querySelector('title').textContent")
            if n != scripts or title == "ran":
                yield f"{name}: {n} scripts, title {title}"
            yield from (f"{name}: {thing}" for thing in page.noticed())
            page.close()


# --- what perf reads ----------------------------------------------------------------


def check_kallsyms(place):
    out = place.must("kallsyms", place.image)
    yield from checks.kallsyms(out, "kallsyms", len(NAMES))
    plain = set(re.findall(rb"^\w{16} T (.*)$", out, re.M))
    if len(plain) < len(NAMES) - 1:
        yield f"{len(plain)} names of {len(NAMES)}"
    need("perf")
    with open("table", "wb") as f:
        f.write(out)
    make.kernel("kernel.data", NAMES)
    said, err, status = checks.asked(
        ["perf", "kvm", "--guest", "--guestkallsyms=table", "report", "--stdio", "-i",
         "kernel.data", "-F", "sample,sym"])
    rows = re.findall(rb"^ *(\d+) +\[g\] (\S+)\s*$", said, re.M)
    if status or sum(int(n) for n, _ in rows) != len(NAMES):
        yield f"perf kvm report: status {status}: {err}, {len(rows)} rows"
    found = {name for _, name in rows}
    yield from (f"perf has no {name[:80]}" for name in plain - found
                if name not in (b"_text", b"_stext", b"__gap__"))


def check_lookup(place):
    ips = [f"{make.ip_of(i):#x}" for i in range(len(NAMES))]
    out = place.must("lookup", place.image, "--demangle=no", *ips)
    yield from checks.text(out, "lookup")
    yield from lacking(out, "lookup", SHOWN)
    out = place.must("lookup", place.image, "--format=json", "--demangle=no", *ips)
    yield from checks.json(out, "lookup, json")
    lines = [checks.json_module.loads(line) for line in out.splitlines()]
    found = {s for line in lines for s in checks.strings_of(line)}
    yield from (f"lookup, json: {n[:80]!r}" for n in SHOWN if n not in found)


def check_inject(place):
    out = path_of(b"i", b".data")
    said = place.must("inject", place.image, place.samples, "-o", out)
    yield from checks.text(said, "inject")
    need("perf")
    for argv in (["report", "--stdio", "-F", "overhead,comm,sym"],
                 ["script", "-F", "comm,sym,ip"]):
        text, err, status = checks.asked(["perf", argv[0], "-i", out, *argv[1:]])
        if status:
            yield f"perf {argv}: {err}"
        guests = b"\n".join(line for line in text.split(b"\n") if b"guest:" in line)
        yield from unclean(guests, f"perf {argv}")


def check_filter(place):
    need("perf")
    if "perf" in os.environ.get("HLG_WITHOUT", "").split():
        raise Skip("perf")
    for words in (["format=text"], ["format=csv"], ["format=json"], ["format=folded"],
                  ["emit=lines"]):
        argv = ["perf", "script", "-i", place.samples, "--dlfilter", filter_of(place.build),
                "--dlarg", place.image, "--dlarg", "top=0"]
        for word in words:
            argv += ["--dlarg", word]
        out, err, status = checks.asked(argv)
        if ABSENT.search(err):
            continue
        if status:
            yield f"{words}: status {status}: {err[:500]}"
        if words[0] == "format=csv":
            yield from checks.csv(out, "perf, csv")
        elif words[0] == "format=json":
            yield from checks.json(out, "perf, json")
        elif words[0] == "format=folded":
            yield from checks.folded(out, "perf, folded")
        yield from unclean(out, f"perf, {words}")


# --- what is told -------------------------------------------------------------------

VERBS = ("report", "annotate", "flame", "windows", "merge", "base", "diff", "exits",
         "sysprof", "inject", "calibrate", "kallsyms", "lookup", "doctor", "extract",
         "record")


def check_errors(place):
    """Files that are not there or not good, and options that are none."""
    nasty = path_of(b"n", b"")
    with open(path_of(b"k", b""), "wb") as f:
        f.write(b"\x1b[31mnothing of the kind\n" * 9)
    for verb in VERBS:
        for words in ([nasty], [path_of(b"k", b"")], [place.elf], [place.samples],
                      [place.image, nasty], [place.elf + b"@" + nasty, place.samples],
                      [b"--" + nasty], [b"-\x1b[31m"], [b"-\xc2\x9b"],
                      [b"--format=" + nasty],
                      [b"--out=/dev/null/" + nasty, place.image, place.samples],
                      [b"--by=" + nasty, place.image, place.samples],
                      [b"--event=" + nasty, place.image, place.samples],
                      [b"--help=" + nasty], [b"--top=" + nasty], [b"--time=" + nasty],
                      [place.image, place.samples, nasty, b"--function=" + nasty]):
            if verb in ("calibrate", "record") and not words[0].startswith(b"-"):
                continue
            out, err, status = place.run(verb, *words)
            if verb == "record":  # with what perf says
                err = b"\n".join(re.findall(b"^hlguest.*", err, re.M))
            yield from unclean(err, f"{verb} {words}, stderr")
            if verb not in ("merge",) and b"=/dev/null" not in words[0]:
                yield from unclean(out, f"{verb} {words}")
            if status < 0:
                yield f"{verb} {words}: status {status}"
    for words in ([nasty], [b"help", nasty], [b"--" + nasty]):
        out, err, status = place.run(*words)
        yield from unclean(out + err, f"{words}")
        if status != 2:
            yield f"{words}: status {status}"


def check_terminal(place):
    """On a terminal there is what is in a pipe, and our own colours."""
    for argv in (["report", place.image, place.samples, "--top=0"],
                 ["annotate", place.image, place.samples],
                 ["diff", place.image, place.single, place.single],
                 ["exits", place.image, place.exits], ["doctor", place.image],
                 ["report", place.image, path_of(b"n", b"")]):
        said, _ = on_terminal([place.hlguest, *argv], cwd=place.folder, TERM="xterm",
                              LC_ALL="C.UTF-8")
        rest = re.sub("\x1b\\[[0-9]*m", "", said.replace("\r", "", said.count("\r\x1b[K")))
        yield from unclean(rest.replace("\x1b[K", "").encode(), f"{argv[0]}, on a terminal")


CHECKS = (
    ("text", check_text),
    ("Markdown", check_markdown),
    ("CSV", check_csv),
    ("JSON", check_json),
    ("folded stacks", check_stacks),
    ("callgrind", check_callgrind),
    ("pprof", check_pprof),
    ("sysprof", check_sysprof),
    ("pictures", check_pictures),
    ("pictures in a browser", check_browser),
    ("the page in a browser", check_page),
    ("kallsyms", check_kallsyms),
    ("lookup", check_lookup),
    ("inject", check_inject),
    ("the filter under perf", check_filter),
    ("what is told of mistakes", check_errors),
    ("a terminal", check_terminal),
)


def main():
    p = parser(__doc__)
    p.add_argument("only", nargs="*")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        place = Place(args.build, folder)
        for name, function in CHECKS + (("CSV in a spreadsheet", check_spreadsheet),):
            if not args.only or name in args.only:
                tap.run(name, lambda f=function: list(f(place)))
        os.chdir("/")
    for name in sorted(checks.missing):
        print(f"# {name} is not installed: what it would say is not checked")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
