# SPDX-License-Identifier: GPL-2.0-only
"""Pages without scripts, read back: are they whole, what do their tables say, do they fit?"""
import html
import html.parser
import re

from chromium import Browser, NoBrowser, Page
from tap import Skip

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Markup(html.parser.HTMLParser):
    """Its tags are closed in order; what it names outside itself is kept."""

    def __init__(self):
        super().__init__()
        self.open, self.outside, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.outside += [v for k, v in attrs if k in ("src", "href", "xlink:href")]
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if self.open[-1:] != [tag]:
            self.wrong.append(f"</{tag}> in {self.open}")
        else:
            self.open.pop()


def check_still(text):
    """It is whole, has no scripts, no style that its policy forbids, and asks for nothing."""
    markup = Markup()
    markup.feed(text)
    yield from markup.wrong
    if markup.open or markup.outside or "<script" in text or "script-src 'none'" not in text:
        yield f"{markup.open} left open, {markup.outside}, or scripts"
    body = text.split("<body>")[1]
    if re.search(r"\b-?(nan|inf)\b", re.sub(r"<pre.*?</pre>", "", body, flags=re.S)):
        yield "a figure is none"
    if "style=" in body or "<style" in body:
        yield "a style that the policy forbids"


def check_widths(path, drawings):
    """No width scrolls sideways, light or dark, and nothing is asked for or reported."""
    try:
        browser = Browser()
    except NoBrowser as e:
        raise Skip(str(e)) from e
    with browser:
        for width in 390, 700, 1000, 1600:
            page = Page(browser, path, width=width, dark=width == 1000)
            wide = page.run("document.documentElement.scrollWidth")
            if wide > width:
                yield f"{width}: {wide} wide"
            n = page.run("document.querySelectorAll('main svg').length")
            cut = page.run("[...document.querySelectorAll('.plot, .values')].filter(table => table.scrollWidth"
                           " > table.parentNode.clientWidth).map(table => table.ariaLabel)")
            if cut:
                yield f"{width}: {cut} scroll sideways"
            goes_on = page.run("[...document.querySelectorAll('.scroll > svg')].map(svg => ["
                               "svg.parentNode.scrollWidth > svg.parentNode.clientWidth,"
                               "document.querySelector('.goes-on')?.offsetHeight > 0])")
            if any(scrolls != said for scrolls, said in goes_on):
                yield f"{width}: scrolls, and says so: {goes_on}"
            if n < drawings:
                yield f"{n} drawings, not {drawings}"
            yield from page.noticed()
            page.close()


def rows_of(page, title, tag="h2"):
    """[(name, remark, drawing, figures)] of the first table behind a title; the words of its
    axis."""
    table = re.search(rf"<{tag}>{title}</{tag}>.*?<table.*?</table>", page, re.S)[0]
    rows = []
    for name, remark, cells in re.findall(
            r'<tr><th scope="row">(.*?)(?: <small>(.*?)</small>)?</th>(.*?)</tr>', table, re.S):
        drawing = re.search(r"<svg.*?</svg>", cells, re.S)
        rows.append((html.unescape(name), remark, drawing[0] if drawing else "", [
            html.unescape(c) for c in re.findall(r'<td class="(?:number|missing).*?>(.*?)</td>',
                                                 cells)]))
    return rows, re.findall(r"<span>([^<]*)</span>", table)


def rectangles(drawing, kind):
    return [tuple(map(float, r)) for r in re.findall(
        rf'<rect class="{kind}" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/?>', drawing)]


def check_units(title, rows):
    """The times of a column have one unit."""
    for i in range(max((len(cells) for *_, cells in rows), default=0)):
        units = {cells[i].split()[1] for *_, cells in rows if i < len(cells) and re.fullmatch(
            r"<?[\d.]+ [num]?s", cells[i])}
        if len(units) > 1:
            yield f"{title}: {units} in column {i}"


def near(text, ns):
    """A time, of as many decimals as it has, is that one."""
    figure, unit = text.lstrip("<").split()
    last = (0.1 if "." in figure else 1) * UNITS[unit]
    if text.startswith("<"):
        return 0 < ns < last / 2
    return abs(ns_of(text) - ns) <= last / 2 + 1e-6


def ns_of(text):
    value, unit = text.split()
    return float(value) * UNITS[unit]
