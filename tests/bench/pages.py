# SPDX-License-Identifier: GPL-2.0-only
"""What the page of a report costs: to write, and in a browser (see README.md)."""
import os
import statistics

from chromium import Browser, NoBrowser, Page
from cost import interleave

GUEST = (22 << 20, 40000, 200000)  # bytes of code; functions and addresses with samples
BASE = 0x7f1234567000
TIMES, MORE = 1.5, 1  # of the time of JSON, and seconds
LARGEST = 10 << 20    # bytes
PAINT, WORK = 1000, 50  # ms

READY = """new Promise(done => { const look = () => document.documentElement.dataset.ready
    ? done(performance.now()) : setTimeout(look, 5); look(); })"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# Until the next frame is drawn: what is done later in answer to the same counts, too.
TIMED = """(async () => { const t = performance.now(); %s;
    await new Promise(requestAnimationFrame); await new Promise(f => setTimeout(f));
    return performance.now() - t; })()"""
SEEN = "document.getElementById('%s').scrollIntoView(); new Promise(f => setTimeout(f, 200))"
INPUT = ("const i = document.getElementById('search'); i.value = '%s';"
         "i.dispatchEvent(new Event('input'))")
KEY = ("document.querySelector('#time .cells').dispatchEvent(new KeyboardEvent('keydown',"
       "{key: '%s', shiftKey: true}))")
PRESS = "document.querySelectorAll('#image button')[%d].click()"
POINT = ("(() => { const c = document.querySelector('#image .cells'), b = c.getBoundingClientRect();"
         "c.dispatchEvent(new PointerEvent('pointermove', {clientX: b.x + b.width / 2, clientY:"
         "b.y + b.height / 2})); })()")
# What is done, and the section that is in sight then.
DONE = {"filter": ("functions", INPUT % "function_01"), "filter off": ("functions", INPUT % ""),
        "sort by size": ("functions", "document.querySelector('[data-key=size] button').click()"),
        "sort by share": ("functions", "document.querySelector('[data-key=share] button').click()"),
        "select": ("functions", "document.querySelectorAll('tr[data-row]')[3].click()"),
        "closer": ("image", PRESS % 1), "point": ("image", POINT), "whole": ("image", PRESS % 2),
        "range": ("time", KEY % "ArrowRight"), "all": ("time", KEY % "Escape")}


class Pages:
    """A benchmark of bench.py's Bench, which has the programs and the verdicts."""

    def page(self):
        elf = os.path.abspath(self.args.elf)
        self.page_of("page", [f"{elf}", self.recording(self.args.samples, 1, 64)])
        large, short = self.made_up("page", *GUEST)
        self.page_of("page, large", [f"{large}@{BASE:#x}", short])
        self.in_browser(os.path.join(self.cache, "page.html"))

    def page_of(self, name, words):
        """html against json, all rows in both."""
        html, report = os.path.join(self.cache, "page.html"), [self.built("hlguest"), "report",
                                                               "-q", "--top=0"]
        ours, theirs = interleave([*report, "--format=html", "-o", html, *words],
                                  [*report, "--format=json", "-o", "/dev/null", *words],
                                  self.args.rounds)
        wall, json = (statistics.median(run.wall for run in runs) for runs in (ours, theirs))
        size, most = os.path.getsize(html), TIMES * json + MORE
        over = wall > most or size > LARGEST
        if over:
            self.over.append(name)
        print(f"{name}: {wall:.2f} s, JSON {json:.2f} s, {size / 1e6:.1f} MB  "
              f"{'OVER' if over else 'within'} (at most {most:.2f} s, {LARGEST / 1e6:.1f} MB)")

    def in_browser(self, path):
        try:
            browser = Browser()
        except NoBrowser as e:
            print(f"page in a browser: skipped: {e}")
            return
        with browser:
            page = Page(browser, path)
            ready, painted = page.run(READY), page.run(PAINTED)
            took = {name: [] for name in DONE}
            for _ in range(self.args.rounds):
                for name, (section, what) in DONE.items():
                    page.run(SEEN % section)
                    took[name].append(page.run(TIMED % what))
            page.close()
        worst = max(statistics.median(times) for times in took.values())
        over = painted > PAINT or worst > WORK
        if over:
            self.over.append("page in a browser")
        words = ", ".join(f"{name} {statistics.median(times):.0f} (first {times[0]:.0f})"
                          for name, times in took.items())
        print(f"page in a browser, ms: painted {painted:.0f}, drawn {ready:.0f}; {words}  "
              f"{'OVER' if over else 'within'} (at most {PAINT} and {WORK})")
