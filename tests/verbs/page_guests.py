#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest report --format=html of large guests, in a browser: what it shows is JSON's.

    page_guests.py [--all] --build DIR

The guests are made up (bench/guest.py): one whose names are as long as Rust's; with --all it is
larger, and there are one of 6,000 symbols and one of 100,000 with a million samples. Of each page
one clicks, types, drags over time, zooms, prints, turns scripts off, and narrows it: rows, sums and
ranges are those of --format=json. Skipped where there is no Chromium.
"""
import base64
import math
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], "../kit"), os.path.join(sys.path[0], "../bench")]
import chromium
import guest
import page as pages
from page import CELLS, READY, SELECTED, bounds_of, report_of
from tap import DATA, Skip, Tap, parser

BASE, SECONDS = 0x7f1234567000, 20
SETTLED = "new Promise(requestAnimationFrame).then(() => new Promise(f => setTimeout(f)))"
PLAIN = b"function_%06d"
# Parts with their lengths, as Rust mangles: some 300 characters for people.
RUST = b"_ZN" + b"".join(b"%d%s" % (len(part), part) for part in (
    b"hyperlight_guest_bin", b"guest_function_definition", b"_$LT$impl$u20$core..ops..function..FnOnce"
    b"$LT$$LP$alloc..vec..Vec$LT$u8$GT$$C$alloc..string..String$RP$$GT$$u20$for$u20$serde_json..value..Value$GT$",
    b"deserialize_internally_tagged_enumeration_of_requests", b"visit_sequence_of_struct_fields",
    b"closure_that_reads_one_field_of_them", b"number_")).replace(b"7number_", b"13number_%06d") + \
    b"17h0123456789abcdefE"
GUESTS = {  # name: bytes of code, functions and addresses with samples, samples, names
    "Rust's names": (150 << 10, 300, 2000, 8000, RUST),
    "6,000 symbols": (1470 << 10, 4000, 20000, 100000, PLAIN),
    "Rust's names, many": (1470 << 10, 3000, 20000, 100000, RUST),
    "100,000 symbols": (24 << 20, 40000, 200000, 1000000, PLAIN),
}


class Opened:
    """A guest, its page in a browser, and what JSON says."""

    def __init__(self, build, browser, folder, size, functions, addresses, samples, name):
        elf, data, self.path = (os.path.join(folder, f"large.{end}") for end in ("elf", "data", "html"))
        rng, made = random.Random(5), guest.Guest(elf, size, name=name)
        pool = made.spread(functions, addresses)
        self.ips, self.symbols = list(pool), len(made.starts)
        for part in (pool, pool[:len(pool) // 3], pool[len(pool) // 2:]):  # phases
            weights = [rng.paretovariate(1.1) for _ in part]
            self.ips += rng.choices(part, weights, k=max(0, (samples - len(pool)) // 3))
        guest.record(f"{DATA}/demo-user.data", [BASE + ip for ip in self.ips], data,
                     SECONDS * 10 ** 9 // len(self.ips))
        self.build, self.words = build, (f"{elf}@{BASE:#x}", data)
        html, self.report = pages.page_of(build, *self.words)
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(html)
        self.data = pages.page_data(html)
        self.page = chromium.Page(browser, self.path)
        self.page.run(READY)

    def cells(self):
        return [[cell.replace("\u202f", "") for cell in row] for row in self.page.run(CELLS)]


def percent(n, o):
    """Of all: half a hundredth is rounded up."""
    return f"{math.floor(10000 * n / o.data['total'] + .5) / 100:.2f} %"


def check_first(o):
    """Sums, and the first rows: share, interval, name."""
    functions, kept = o.report["functions"], sum(f["period"] for f in o.report["functions"])
    if o.data["total"] != kept or sum(f["samples"] for f in functions) != len(o.ips):
        yield f"total {o.data['total']}, not {kept}; {len(o.ips)} samples"
    if len(o.data["rows"]["name"]) != len(functions):
        yield f"{len(o.data['rows']['name'])} rows, not {len(functions)}"
    cells = o.cells()
    for row, f in zip(cells, functions):
        if row[0] != f"{f['percent']:.2f} %" or f"{f['low']:.2f}–{f['high']:.2f}" not in row or \
                f["name"] not in row or f["addr"] not in row:
            yield f"{row}, not {f}"
    if len(cells) < 20:
        yield f"{len(cells)} rows"


def check_typed(o):
    """A filter by keys: how many rows are left, and what they have together."""
    o.page.key("/", "/")
    o.page.write("0_0" if "0_0" in o.report["functions"][0]["name"] else "_0001")
    o.page.run(SETTLED)
    words = o.page.run("document.getElementById('search').value")
    left = [f for f in o.report["functions"] if words in f["name"]]
    said = o.page.run("document.querySelector('output[for=search]').textContent").replace("\u202f", "")
    right = f"{len(left)} of {len(o.report['functions'])} rows, {percent(sum(f['period'] for f in left), o)}"
    if said != right or not left:
        yield f"{words}: {said}, not {right}"
    if [row[0] for row in o.cells()][:10] != [f"{f['percent']:.2f} %" for f in left[:10]]:
        yield f"{words}: {o.cells()[:3]}"
    o.page.key("Escape")
    o.page.run(SETTLED)


def place_of(o, element):
    """The middle of an element, in sight."""
    return o.page.run(f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}});"
                      "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2,"
                      "b.width, b.height]; })()")


def check_clicked(o):
    """Headings sort, rows are selected; the picture and the address follow."""
    for key, value, column in (("size", lambda f: -f["size"], -3), ("address", lambda f: int(f["addr"], 16), -1),
                              ("share", lambda f: -f["period"], 0)):
        o.page.click(*place_of(o, f"document.querySelector('th[data-key={key}] button')")[:2])
        o.page.run(SETTLED)
        right = sorted(o.report["functions"], key=value)[:15]
        shown = {"size": lambda f: str(f["size"]), "address": lambda f: f["addr"],
                 "share": lambda f: f"{f['percent']:.2f} %"}[key]
        if [row[column] for row in o.cells()[:15]] != [shown(f) for f in right]:
            yield f"by {key}: {o.cells()[:3]}, not {right[:3]}"
    third = o.report["functions"][2]["name"]
    o.page.click(*place_of(o, "document.querySelectorAll('tr[data-row] th')[2]")[:2])
    o.page.run(SETTLED)
    kept = o.page.run("new URLSearchParams(location.hash.slice(1)).get('function')")
    if o.page.run(SELECTED) != third or kept != third:
        yield f"{o.page.run(SELECTED)} is selected, not {third}"


def check_zoomed(o):
    """What is said of the part of the code that is shown."""
    said = "document.querySelector('#image .said').textContent"
    for press in range(4):
        words = o.page.run(said)
        start, last, share = re.match(r"Shown: (\w+) to (\w+), .* with ([\d.]+) % of", words).groups()
        inside = sum(int(start, 16) <= ip <= int(last, 16) for ip in o.ips)
        if abs(100 * inside / len(o.ips) - float(share)) > .006:
            yield f"{words}: {inside} of {len(o.ips)}"
        if press and share == "100.00":
            yield f"nothing was zoomed: {words}"
        o.page.click(*place_of(o, "document.querySelectorAll('#image button')[1]")[:2])
        o.page.run(SETTLED)
    x, y, *_ = place_of(o, "document.querySelector('#image canvas.cells')")
    o.page.move(x, y)
    o.page.run(SETTLED)
    if not o.page.run("document.querySelector('#image .tip b')?.textContent"):
        yield "nothing is told of what is pointed at"


def check_dragged(o):
    """A range of time has what --time= has: rows and sums."""
    x, y, wide, high = place_of(o, "document.querySelector('#time canvas.cells')")
    for kind, part in (("mousePressed", .2), ("mouseMoved", .3), ("mouseMoved", .45), ("mouseReleased", .45)):
        o.page.call("Input.dispatchMouseEvent", type=kind, x=x + wide * (part - .5), y=y - high / 6,
                    button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)
    o.page.run(SETTLED)
    start, stop = (int(n) for n in re.search(r"range=(\d+)-(\d+)", o.page.run("location.hash")).groups())
    there = report_of(o.build, *o.words, "--border=keep", bounds_of(o.report, o.data, start, stop))
    functions, total = there["functions"], sum(f["period"] for f in there["functions"])
    if not 0 < total < o.data["total"]:
        yield f"slices {start} to {stop} have {total}"
    shown = [row[0] for row in o.cells()[:20]]
    if shown != [f"{f['percent']:.2f} %" for f in functions[:20]]:
        yield f"slices {start} to {stop}: {shown}, not {[f['percent'] for f in functions[:20]]}"
    names = {f["name"] for f in functions if f["period"] >= functions[10]["period"]}
    if not {row[5] for row in o.cells()[:10]} <= names:
        yield f"{[row[5] for row in o.cells()[:10]]}"
    said = o.page.run("document.querySelector('#time .said').textContent")
    if f"{percent(total, o)} of all" not in said:
        yield f"{said}, not {total}"
    # What is out of sight is drawn when it is seen.
    said, late = "document.querySelector('#image .said').textContent", "new Promise(f => setTimeout(f, 200))"
    o.page.run("scrollTo(0, document.documentElement.scrollHeight);" + late)
    o.page.run(f"location.hash = 'range=0-{o.data['time']['n']}';" + late)
    place_of(o, "document.querySelector('#image canvas.cells')")
    o.page.run(late)
    if "selected" in o.page.run(said):
        yield f"the picture of the code is of the time before: {o.page.run(said)}"
    o.page.run("document.querySelector('#time .cells').focus()")
    o.page.key("Escape")
    o.page.run(SETTLED)
    if o.cells()[0][0] != f"{o.report['functions'][0]['percent']:.2f} %":
        yield "Escape does not choose all"


def check_printed(o):
    o.page.run("addEventListener('beforeprint', () => window.printed = document.querySelectorAll("
               "'tr[data-row]').length); 1")
    pdf = base64.b64decode(o.page.call("Page.printToPDF")["data"])
    if not pdf.startswith(b"%PDF") or len(pdf) < 30000:
        yield f"a PDF of {len(pdf)} bytes"
    if o.page.run("window.printed") != min(200, len(o.report["functions"])):
        yield f"{o.page.run('window.printed')} rows"


def check_narrow(o):
    o.page.resize(390, 800)
    o.page.run(SETTLED)
    if o.page.run("document.documentElement.scrollWidth") > 390:
        yield f"{o.page.run('document.documentElement.scrollWidth')} wide"
    cut = o.page.run("[...document.querySelectorAll('tr[data-row] .ends')].filter(box =>"
                     "box.getBoundingClientRect().right > 390).length")
    if cut:
        yield f"{cut} names go on beyond the edge"
    o.page.resize(1200, 700)
    yield from o.page.noticed()


def check_without_scripts(o):
    o.page.call("Emulation.setScriptExecutionDisabled", value=True)
    o.page.call("Page.reload")
    o.page.browser.wait("Page.loadEventFired", o.page.session)
    o.page.call("Emulation.setScriptExecutionDisabled", value=False)
    cells, functions = o.cells(), o.report["functions"]
    if [row[0] for row in cells] != [f"{f['percent']:.2f} %" for f in functions[:200]]:
        yield f"{len(cells)} rows, {cells[:1]}"
    if "OK" not in o.page.run("document.querySelector('#answer .good').innerText"):
        yield "no answer"


CHECKS = {"shown": check_first, "typed": check_typed, "clicked": check_clicked, "zoomed": check_zoomed,
          "dragged": check_dragged, "printed": check_printed, "narrow": check_narrow,
          "without scripts": check_without_scripts}


def main():
    args = parser(__doc__)
    args.add_argument("--all", action="store_true", help="guests that take long, too")
    args = args.parse_args()
    names = list(GUESTS)[1:] if args.all else list(GUESTS)[:1]
    chromium.PATIENCE = 120
    tap = Tap()
    try:
        browser = chromium.Browser()
    except chromium.NoBrowser as e:
        reason = str(e)

        def skip():
            raise Skip(reason)

        tap.run("pages of guests", skip)
        return tap.finish()
    with browser:
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                opened = []
                tap.run(f"{name}: drawn", lambda n=name, f=folder, to=opened: to.append(
                    Opened(args.build, browser, f, *GUESTS[n])))
                for what, check in CHECKS.items() if opened else ():
                    tap.run(f"{name}: {what}", lambda c=check, o=opened: list(c(o[0])))
                if opened:
                    opened[0].page.close()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
