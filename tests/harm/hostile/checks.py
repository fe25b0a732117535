# SPDX-License-Identifier: GPL-2.0-only
"""Each format read by somebody else's parser; differences come as lines.

Where a parser is not installed, its check is left out; `missing` knows of which.
"""
import csv as csv_module
import gzip
import io
import json as json_module
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter

from names import shown, unclean
from tap import TIMEOUT, environment

missing = set()
# To a spreadsheet (1) is -1, as accountants write it.
NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?|\([0-9]+\)")
FORMULA = re.compile("[=+@\t\r＝＋－＠-]")
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def program(*names):
    """The first that is there, or what an environment variable calls it."""
    path = os.environ.get(names[0].upper().replace("-", "_")) or \
        next((shutil.which(n) for n in names if shutil.which(n)), None)
    if not path:
        missing.add(names[0])
    return path


def asked(argv, data=None, **more):
    """(stdout, stderr, status) of a parser, bytes."""
    done = subprocess.run(argv, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(**more), timeout=TIMEOUT, check=False)
    return done.stdout, done.stderr, done.returncode


def text(data, what):
    return unclean(data, what)


# --- CSV ----------------------------------------------------------------------------


def guarded(name):
    """A name as a cell has it."""
    cell = shown(name)
    return ("'" if FORMULA.match(cell) else "") + cell


def cells_of(data):
    text_of = io.StringIO(data.decode("utf-8"), newline="")
    return list(csv_module.reader(text_of, strict=True))


tables = []  # (what, bytes, rows) of all that csv() has seen


def csv(data, what):
    """A table, the same to everybody."""
    wrong = unclean(data, what)
    try:
        rows = cells_of(data)
    except csv_module.Error as e:
        return wrong + [f"{what}: {e}"]
    widths = {len(r) for r in rows}
    if len(widths) != 1:
        wrong.append(f"{what}: rows of {sorted(widths)} cells")
    wrong += [f"{what}: a formula: {cell[:80]!r}" for row in rows for cell in row
              if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]
    if len(rows) != data.count(b"\n"):
        wrong.append(f"{what}: {len(rows)} rows in {data.count(bytes([10]))} lines")
    tables.append((what, data, rows))
    return wrong


def spreadsheet(place):
    """LibreOffice finds the same cells, and nothing to compute."""
    paths = []
    for i, (_, data, _) in enumerate(tables):
        paths.append(os.path.join(place, f"cells{i}.csv"))
        with open(paths[-1], "wb") as f:
            f.write(data)
    # Comma, quote, UTF-8 (76), from line 1, no types, US English, not all as text
    said = asked([program("soffice", "libreoffice"), "--headless",
                  f"-env:UserInstallation=file://{place}/office",
                  "--infilter=CSV:44,34,76,1,,1033,false", "--convert-to",
                  "fods", "--outdir", place, *paths], HOME=place)
    wrong = []
    for path, (what, _, rows) in zip(paths, tables):
        path = path[:-3] + "fods"
        if not os.path.exists(path):
            return [f"{what}: soffice: {said}"]
        wrong += same_cells(ElementTree.parse(path).getroot(), rows, what)
    return wrong


def same_cells(root, rows, what):
    wrong = [f"{what}: soffice computes {cell.get(TABLE + 'formula')}"
             for cell in root.iter(TABLE + "table-cell") if cell.get(TABLE + "formula")]
    wrong += [f"{what}: a link: {list(a.attrib.values())}" for a in root.iter(TEXT + "a")]
    lines = []
    for row in root.iter(TABLE + "table-row"):
        line = []
        for cell in row.iter(TABLE + "table-cell"):
            words = [spaced(p) for p in cell.iter(TEXT + "p")]
            n = int(cell.get(TABLE + "number-columns-repeated", 1))
            line += ["\n".join(words)] * min(n, 100)
        lines += [line] * min(int(row.get(TABLE + "number-rows-repeated", 1)), 100)
    for number, (row, line) in enumerate(zip(rows, lines)):
        for cell, other in zip(row, line):
            if cell != other and not NUMBER.fullmatch(cell):
                return wrong + [f"{what}: row {number}: {cell[:80]!r} is {other[:80]!r} to "
                                "soffice"]
    if len(lines) < len(rows):
        wrong.append(f"{what}: {len(lines)} rows of {len(rows)} to soffice")
    return wrong


def spaced(paragraph):
    """Text of a paragraph in which runs of blanks are elements."""
    out = paragraph.text or ""
    for child in paragraph:
        if child.tag == TEXT + "s":
            out += " " * int(child.get(TEXT + "c", 1))
        else:
            out += spaced(child)
        out += child.tail or ""
    return out


# --- JSON ---------------------------------------------------------------------------


def no_twins(pairs):
    keys = Counter(key for key, _ in pairs)
    if keys and max(keys.values()) > 1:
        raise ValueError(f"twice in an object: {keys.most_common(1)}")
    return dict(pairs)


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings_of(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings_of(one)


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def json(data, what):
    wrong = unclean(data, what)
    for line in data.splitlines() if data.count(b"\n{") else [data]:
        try:
            document = json_module.loads(line.decode("utf-8"), object_pairs_hook=no_twins,
                                         parse_constant=no_constant)
        except ValueError as e:
            return wrong + [f"{what}: {e}"]
        for s in strings_of(document):
            wrong += unclean(s.replace("\n", "U+000A").encode("utf-8", "surrogatepass"),
                             what + ", a string")[:1]
    jq = program("jq")
    if jq:
        out, err, status = asked([jq, "-c", "."], data)
        if status or not out:
            wrong.append(f"{what}: jq: {err}")
    return wrong


# --- SVG and HTML -------------------------------------------------------------------

REFERENCES = ("href", "src", "action", "formaction", "data", "poster", "srcset")


def drawing(data, what, scripts=0):
    """XML of known elements, without handlers or anything from elsewhere; HTML as well."""
    wrong = unclean(data, what)
    body = re.sub(rb"^<!doctype html>\s*", b"", data, flags=re.I)
    try:
        root = ElementTree.fromstring(re.sub(rb"<(meta|br|hr|col|link)\b([^>]*[^/])?>",
                                             rb"<\1\2/>", body))
    except ElementTree.ParseError as e:
        return wrong + [f"{what}: {e}"]
    found = 0
    for element in root.iter():
        tag = element.tag.rsplit("}", 1)[-1].lower() if isinstance(element.tag, str) else ""
        found += tag == "script"
        if tag in ("iframe", "object", "embed", "foreignobject", "img", "image", "a", "use",
                   "animate", "set", "base", "form"):
            wrong.append(f"{what}: an element {tag}")
        for key, value in element.attrib.items():
            key = key.rsplit("}", 1)[-1].lower()
            if key.startswith("on") or key in REFERENCES or "javascript:" in value.lower():
                wrong.append(f"{what}: {key}={value[:80]!r}")
    if found != scripts:
        wrong.append(f"{what}: {found} scripts, not {scripts}")
    wrong += [f"{what}: {word[:80]}" for word in re.findall(rb"@import.*|url\([^#].*", data)]
    return wrong


# --- stacks -------------------------------------------------------------------------


def folded(data, what, names=None):
    """{frames: count} by a strict reader, what flamegraph.pl makes of it, and names."""
    wrong, stacks = unclean(data, what), Counter()
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        match = re.fullmatch(r"(.*) ([0-9]+)", line)
        # flamegraph.pl 1.0: the count, and a second one of differential graphs
        perl = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line)
        if not match or "\t" in line:
            wrong.append(f"{what}: no stack: {line[:80]!r}")
            continue
        again = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", perl[1])
        if perl[1] != match[1] or again:
            wrong.append(f"{what}: flamegraph.pl reads {line[:80]!r} otherwise")
        if "" in match[1].split(";"):
            wrong.append(f"{what}: a frame without a name: {line[:80]!r}")
        if match[1] in stacks:
            wrong.append(f"{what}: twice: {match[1][:80]!r}")
        stacks[match[1]] += int(match[2])
    frames = {frame for stack in stacks for frame in stack.split(";")}
    for name in names or ():
        if name not in frames:
            wrong.append(f"{what}: {name[:80]!r} is not there")
    return wrong


def callgrind(data, what, names):
    wrong = unclean(data, what)
    found = set(re.findall(r"^fn=\(\d+\) (.*)$", data.decode("utf-8", "replace"), re.M))
    wrong += [f"{what}: {name[:80]!r} is not there" for name in names
              if name not in found and not any(f.startswith(name + " [") for f in found)]
    lines = data.decode("utf-8", "replace").split("\n")
    wrong += [f"{what}: {line[:80]!r}" for line in lines
              if not re.match(r"(version|creator|cmd|desc|positions|events|summary|totals): |"
                              r"# |(ob|fl|fi|fe|fn|cfi|cfn|cob|calls)=|0x|[+-]?\d|\*|$", line)]
    return wrong


def annotated(path, what, total):
    """callgrind_annotate reads the sum."""
    tool = program("callgrind_annotate")
    if not tool:
        return []
    out, err, status = asked([tool, "--threshold=100", path])
    sums = re.search(rb"^ *([\d,]+) .*PROGRAM TOTALS", out, re.M)
    if status or not sums or int(sums[1].replace(b",", b"")) != total:
        return [f"{what}: callgrind_annotate: status {status}: {err[:300]} "
                f"{sums and sums[1]}"]
    return []


def kallsyms(data, what, count):
    """Lines of three words, as symbol names of all kinds have to fit into."""
    wrong = unclean(data, what)
    lines = data.decode("utf-8", "replace").split("\n")[:-1]
    wrong += [f"{what}: {line[:80]!r}" for line in lines
              if not re.fullmatch(r"[0-9a-f]{16} T [!-Z\\-~]{1,255}", line)]
    if len(lines) < count:
        wrong.append(f"{what}: {len(lines)} lines for {count} names")
    return wrong


# --- pprof --------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def pprof(data, what, names):
    """The strings of a profile, by a reader of the outermost message."""
    raw, at, found = gzip.decompress(data), 0, set()
    while at < len(raw):
        key, at = varint(raw, at)
        size, at = varint(raw, at)
        if key & 7 == 2:
            if key >> 3 == 6:
                found.add(raw[at:at + size])
            at += size
    wrong = []
    for s in found:
        wrong += unclean(s.replace(b"\n", b"U+000A"), what)
    return wrong + [f"{what}: {name[:80]!r} is not there" for name in names
                    if name.encode() not in found]


def go_cache(place):
    """Go 1.25 and later build pprof where it is not yet: once for this user, then."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    found = os.environ.get("GOCACHE") or os.path.join(caches, "go-build")
    return found if os.access(found, os.W_OK) else place


def go_pprof(path, what, names, place):
    go = program("go")
    if not go:
        return []
    out, err, status = asked([go, "tool", "pprof", "-raw", path], HOME=place,
                             GOCACHE=go_cache(place),
                             GOFLAGS="-mod=mod", GOPROXY="off", GOTOOLCHAIN="local",
                             PPROF_TMPDIR=place)
    if b"no such tool" in err:
        missing.add("go tool pprof")
        return []
    text_of = out.decode("utf-8", "replace")
    wrong = [] if status == 0 else [f"{what}: go tool pprof: {status}: {err[:300]}"]
    return wrong + [f"{what}: go: {name[:80]!r} is not there" for name in names
                    if name not in text_of]
