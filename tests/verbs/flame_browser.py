#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Flame graphs in a real browser: clicked, searched, gone through by keys.

    flame_browser.py --build DIR

Chromium opens pictures of a real recording and of stacks made by hand, by its DevTools
protocol, and gets real mouse and key events. Names that are scripts must stay text; the
page must ask for nothing, report no error, and work where a content security policy lets
its own script run and nothing else. Skipped, with the reason, where there is no Chromium.
"""
import base64
import hashlib
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from chromium import Browser, NoBrowser, Page
from graph import Graph, draw_of
from programs import feed, hlguest_of
from tap import DATA, Tap, must, parser

ELF = os.path.join(DATA, "demo.elf")
HOSTILE = "</title><script>document.title='ran'</script><img src=x onerror=alert(1)>"
STACKS = (f"40 uvmm\037kvm_run\037galpha\037gbeta\n10 uvmm\037kvm_run\037galpha\n"
          f"20 uvmm\037kvm_run\037gbeta\n20 uvmm\037gbeta(int)\n8 uother\037g{HOSTILE}\n"
          "2 uother\037p__gap__ after a_function_whose_name_is_long\n")
# Frames that are shown: {name: [x, width] in pixels, label}
SHOWN = """(() => { const found = {};
    for (const g of document.querySelectorAll('.f')) {
        if (g.getAttribute('display') === 'none') continue;
        const box = g.querySelector('rect').getBoundingClientRect();
        const text = g.querySelector('text');
        found[g.querySelector('title').textContent.split('\\n')[0]] =
            [box.x, box.width, box.y, text ? text.textContent : ''];
    }
    return found; })()"""
HITS = "[...document.querySelectorAll('.hit title')].map(t => t.textContent.split('\\n')[0])"
FOCUS = "document.activeElement.querySelector('title')?.textContent.split('\\n')[0]"


class Pictures:
    def __init__(self, build, folder):
        self.folder = folder
        self.draw = draw_of(build)
        self.hand = self.write("hand.svg", feed([self.draw], STACKS)[0])
        self.icicle = self.write("icicle.svg", feed([self.draw, "--inverted"], STACKS)[0])
        self.real = self.write("real.svg", must(
            hlguest_of(build), "flame", ELF, os.path.join(DATA, "demo-host.data")))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as f:
            return f.read()


def click(page, name):
    x, width, y, _ = page.run(SHOWN)[name]
    page.click(x + width / 2, y + 9)


def near(a, b):
    return abs(a - b) < 1.5


def check_places(browser, pictures):
    """What is drawn is what the file says, at any width."""
    graph = Graph(pictures.read(pictures.real))
    page = Page(browser, pictures.real)
    for width in 1200, 500, 2000:
        page.resize(width, 700)
        page.run("new Promise(requestAnimationFrame).then(() => 0)")
        shown = page.run(SHOWN)
        if len(shown) != len(graph.frames):
            yield f"{width}: {len(shown)} frames, not {len(graph.frames)}"
        for f in graph.frames:
            x, w, _, label = shown[f.name]
            if not near(x, width * (0.01 + 0.0098 * f.left)) or \
                    not near(w, width * 0.0098 * f.width):
                yield f"{width}: {f.name} at {x}, {w} wide"
            share = f" {100 * f.n / graph.frames[0].n:.1f} %"
            if label and label not in (f.name, f.name + share) and not (
                    label.endswith("…") and f.name.startswith(label[:-1])):
                yield f"{width}: {f.name} is labelled {label}"
        wider = page.run("""[...document.querySelectorAll('.f')].filter(g =>
            g.querySelector('text')?.getBBox().width >
            g.querySelector('rect').getBBox().width).length""")
        if wider:
            yield f"{width}: {wider} labels are wider than their frames"
    yield from page.noticed()
    page.close()


def check_zoom(browser, pictures):
    page = Page(browser, pictures.hand)
    whole = page.run(SHOWN)
    click(page, "vm_run")
    shown = page.run(SHOWN)
    page.close()
    if "other" not in whole or "other" in shown:
        yield f"before {whole}, after {shown}"
    # vm_run has 70 of 100: alpha 50, beta 20 of it.
    for name, left, width in (("all", 0, 1), ("vmm", 0, 1), ("vm_run", 0, 1),
                              ("alpha", 0, 5 / 7)):
        x, w, _, _ = shown.get(name, (0, 0, 0, 0))
        if not near(x, 12 + 1176 * left) or not near(w, 1176 * width):
            yield f"{name}: at {x}, {w} wide"


def check_reset(browser, pictures):
    page = Page(browser, pictures.hand)
    whole = page.run(SHOWN)
    disabled = "document.querySelector('button').disabled"
    for reset in ("all", "button", "Escape"):
        if not page.run(disabled):
            yield "reset can be pressed without a zoom"
        click(page, "alpha")
        if page.run(SHOWN) == whole or page.run(disabled):
            yield "a click does not zoom"
        if reset == "all":
            click(page, "all")
        elif reset == "button":
            box = page.run("(() => { const b = document.querySelector('button')"
                           ".getBoundingClientRect(); return [b.x, b.y]; })()")
            page.click(box[0] + 5, box[1] + 5)
        else:
            page.key("Escape")
        if page.run(SHOWN) != whole:
            yield f"{reset} does not reset"
    page.close()


def check_search(browser, pictures):
    """Shares: a stack counts once, whichever of its frames match."""
    page = Page(browser, pictures.hand)
    for words, share, names in (
        ("beta", "80.00", ["beta", "beta", "beta(int)"]),
        ("alpha|beta", "90.00", ["alpha", "beta", "beta", "beta(int)"]),
        ("^BETA$", "60.00", ["beta", "beta"]),
        ("vm", "90.00", ["vmm", "vm_run"]),
        ("beta(", "20.00", ["beta(int)"]),  # no regular expression
        ("<script>", "8.00", [HOSTILE]),
        ("nothing", "0.00", []),
        ("", None, []),
    ):
        page.key("Escape")
        page.key("/", "/")
        page.write(words)
        said = page.run("document.querySelector('output').textContent")
        right = f"matched {share} % in {len(names)} frame{'s' * (len(names) != 1)}"
        if said != (right if share else "") or sorted(page.run(HITS)) != sorted(names):
            yield f"{words}: {said}, {page.run(HITS)}"
    page.close()


def check_keys(browser, pictures):
    for path, above, below in ((pictures.hand, "ArrowUp", "ArrowDown"),
                               (pictures.icicle, "ArrowDown", "ArrowUp")):
        page = Page(browser, path)
        click(page, "all")
        for key, name in ((above, "vmm"), (above, "vm_run"), (below, "vmm"),
                          ("ArrowRight", "other"), ("ArrowRight", "other"),
                          ("ArrowLeft", "vmm"), (above, "vm_run"), (above, "alpha")):
            page.key(key)
            if page.run(FOCUS) != name:
                yield f"{key}: {page.run(FOCUS)}, not {name}"
        page.key("Enter")
        if "other" in page.run(SHOWN) or not near(page.run(SHOWN)["alpha"][1], 1176):
            yield "Enter does not zoom"
        page.close()


def check_flip(browser, pictures):
    """Callers go above and back; the same way round in any window."""
    deep = pictures.write("deep.svg", feed([pictures.draw], STACKS + "5 " + "\037".join(
        f"kf{i}" for i in range(100)) + "\n")[0])
    for path, above in (pictures.hand, False), (pictures.icicle, True), (deep, False):
        page = Page(browser, path)
        for right in above, not above, above:
            rows = {name: place[2] for name, place in page.run(SHOWN).items()}
            if (rows["all"] < rows["vmm"] < rows["vm_run"]) is not right or \
                    (rows["all"] > rows["vmm"] > rows["vm_run"]) is right:
                yield f"{path}, {right}: {rows}"
            if abs(rows["all"] - rows["vmm"]) != 18:
                yield f"{path}: {rows}"
            labels = page.run("""[...document.querySelectorAll('.f text')].filter(t => {
                const a = t.getBoundingClientRect(), b =
                    t.parentNode.querySelector('rect').getBoundingClientRect();
                return t.textContent && (a.top < b.top - 1 || a.bottom > b.bottom + 1);
                }).length""")
            if labels:
                yield f"{path}: {labels} labels beside their frames"
            box = page.run("(() => { const b = document.querySelectorAll('button')[1]"
                           ".getBoundingClientRect(); return [b.x, b.y]; })()")
            page.click(box[0] + 5, box[1] + 5)
        page.close()


def check_link(browser, pictures):
    """The address keeps zoom, search and flip, and opens the same view again."""
    page = Page(browser, pictures.hand)
    if page.run("location.hash"):
        yield f"at first: {page.run('location.hash')}"
    click(page, "vm_run")
    page.key("/", "/")
    page.write("be(t)a")
    box = page.run("(() => { const b = document.querySelectorAll('button')[1]"
                   ".getBoundingClientRect(); return [b.x, b.y]; })()")
    page.click(box[0] + 5, box[1] + 5)
    link, shown, hits = page.run("location.hash"), page.run(SHOWN), page.run(HITS)
    page.close()
    if link != "#zoom=2&search=be%28t%29a&flip=1" and link != "#zoom=3&search=be%28t%29a&flip=1":
        yield link
    page = Page(browser, pictures.hand, fragment=link)
    if page.run(SHOWN) != shown or page.run(HITS) != hits or "other" in shown or not hits or \
            page.run("document.querySelector('input').value") != "be(t)a":
        yield f"{link} opens {page.run(SHOWN)}, {page.run(HITS)}, not {shown}, {hits}"
    for _ in range(2):
        box = page.run("(() => { const b = document.querySelectorAll('button')[1]"
                       ".getBoundingClientRect(); return [b.x, b.y]; })()")
        page.key("Escape")
        page.click(box[0] + 5, box[1] + 5)
    if page.run("location.hash") != "#flip=1":
        yield f"after Escape: {page.run('location.hash')}"
    page.run("location.hash = '#zoom=99999&search=%E0&flip=2&x'")
    page.run("new Promise(done => setTimeout(done, 50))")
    if "other" not in page.run(SHOWN):
        yield "what is no view changes the view"
    yield from page.noticed()
    page.close()


def check_telling(browser, pictures):
    """A tooltip has what the file says, and the line above the graph as well."""
    graph = Graph(pictures.read(pictures.real))
    page = Page(browser, pictures.real)
    x, width, y, _ = page.run(SHOWN)["sort_keys"]
    page.move(x + width / 2, y + 9)
    frame = graph.of("sort_keys")
    said = page.run("document.querySelector('.detail').textContent")
    if said != f"sort_keys — {'; '.join(frame.said)}":
        yield f"{said}, not {frame.said}"
    title = page.run(f"""[...document.querySelectorAll('.f title')].find(t =>
        t.textContent.startsWith('sort_keys\\n')).textContent""")
    if title != "\n".join(["sort_keys", *frame.said]) or \
            not re.search(r"^guest, \d+ samples, \d+\.\d ms$", frame.said[0]):
        yield f"{title}"
    page.close()


def check_hostile(browser, pictures):
    page = Page(browser, pictures.hand)
    title = page.run("document.title || document.querySelector('title').textContent")
    for name in "other", HOSTILE:
        click(page, name)
    said = page.run("document.querySelector('.detail').textContent")
    if not said.startswith(HOSTILE):
        yield f"{said}"
    found = page.run("[document.querySelectorAll('script').length, "
                     "document.querySelectorAll('img').length]")
    after = page.run("document.title || document.querySelector('title').textContent")
    if found != [1, 0] or title != after or "ran" in after:
        yield f"{found} scripts and images, title {title}, then {after}"
    yield from page.noticed()
    page.close()


def check_policy(browser, pictures):
    """Inside a page that lets this script run and nothing else: no eval, no handlers."""
    svg = pictures.read(pictures.hand)
    script = re.search(r"<script><!\[CDATA\[(.*)\]\]></script>", svg, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for allowed in True, False:
        policy = f"'sha256-{digest}'" if allowed else "'none'"
        page = Page(browser, pictures.write("policy.html", (
            "<!doctype html><meta charset=utf-8><meta http-equiv=Content-Security-Policy "
            f"content=\"default-src 'none'; style-src 'unsafe-inline'; script-src {policy}\">"
            + svg)))
        if len(page.run(SHOWN)) != 9:  # of ten, beta twice
            yield f"{allowed}: {page.run(SHOWN)}"
        click(page, "alpha")
        if near(page.run(SHOWN)["alpha"][1], 50 * 11.76) is allowed:
            yield f"script {'does not run' if allowed else 'runs'}"
        if allowed:
            yield from page.noticed()
        page.close()


def check_colours(browser, pictures):
    """Each kind has a colour of its own, and text on it can be read, by day and night."""
    kinds = ("guest", "gap", "border", "user", "kernel", "group", "note")
    stacks = "".join(f"9 {letter}{kind}\n" for letter, kind in zip("gpbukrn", kinds))
    path = pictures.write("kinds.svg", feed([pictures.draw], stacks)[0])
    for dark in False, True:
        page = Page(browser, path, dark=dark)
        colours = page.run("""[...document.querySelectorAll('.f')].slice(1).map(g =>
            [g.getAttribute('class'), getComputedStyle(g.querySelector('rect')).fill,
             getComputedStyle(g.querySelector('text')).fill])""")
        back = page.run("getComputedStyle(document.querySelector('.back')).fill")
        if len({fill for _, fill, _ in colours}) != len(kinds):
            yield f"{colours}"
        for kind, fill, ink in colours:
            if fill.startswith("rgb") and contrast(fill, ink) < 4.5:
                yield f"dark {dark}: {kind}: {ink} on {fill}: {contrast(fill, ink):.1f}"
        shades = page.run("""['guest', 'user', 'kernel'].flatMap(kind =>
            [0, 1, 2, 3, 4, 5, 6, 7].map(n => { const g = document.querySelector('.f');
            g.setAttribute('class', `f ${kind} s${n}`);
            const style = getComputedStyle(g.querySelector('rect'));
            return [kind, style.fill, style.fillOpacity,
                    getComputedStyle(g.querySelector('text')).fill]; }))""")
        for kind, least in ("guest", 8), ("user", 4), ("kernel", 4):
            found = {mixed(fill, back, opacity) for k, fill, opacity, _ in shades if k == kind}
            if len(found) != least:
                yield f"dark {dark}: {kind} has {len(found)} shades"
        yield from (f"dark {dark}: {kind}: {ink} on {fill}, {opacity}"
                    for kind, fill, opacity, ink in shades
                    if contrast(mixed(fill, back, opacity), ink) < 4.5)
        colours = page.run("""['same', 'grew1', 'grew2', 'grew3', 'shrank1', 'shrank2',
            'shrank3', 'hit'].map(name => { const g = document.querySelector('.f');
            g.setAttribute('class', 'f ' + name);
            return [name, getComputedStyle(g.querySelector('rect')).fill,
                    getComputedStyle(g.querySelector('text')).fill]; })""")
        yield from (f"dark {dark}: {name}: {ink} on {fill}: {contrast(fill, ink):.1f}"
                    for name, fill, ink in colours if contrast(fill, ink) < 4.5)
        if (luminance(back) < 0.5) is not dark:
            yield f"dark {dark}: background {back}"
        page.close()


def mixed(fill, back, opacity):
    """What is seen of a colour that lets some of the background through."""
    pairs = zip(*([int(n) for n in re.findall(r"\d+", colour)[:3]] for colour in (fill, back)))
    return "rgb({}, {}, {})".format(
        *(round(a * float(opacity) + b * (1 - float(opacity))) for a, b in pairs))


def luminance(colour):
    """WCAG 2.1, relative luminance."""
    parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


CHECKS = (
    ("frames lie where they should", check_places),
    ("a click zooms", check_zoom),
    ("reset", check_reset),
    ("search", check_search),
    ("keys", check_keys),
    ("flip", check_flip),
    ("a link opens the same view", check_link),
    ("what is told of a frame", check_telling),
    ("hostile names", check_hostile),
    ("content security policy", check_policy),
    ("colours", check_colours),
)


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="browser-") as folder:
        pictures = Pictures(build, folder)
        try:
            with Browser() as browser:
                for name, function in CHECKS:
                    tap.run(name, lambda f=function: list(f(browser, pictures)))
        except NoBrowser as e:
            tap.skip("flame graphs in a browser", e)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
