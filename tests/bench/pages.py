# SPDX-License-Identifier: GPL-2.0-only
"""What the page of a report costs: to write, and in a browser (see README.md)."""
import os
import statistics

from chromium import Browser, NoBrowser, Page
from cost import interleave

CALLERS_ELF, CALLERS = (os.path.join(os.path.dirname(__file__), "../data/hyperlight", name)
                        for name in ("frames.elf", "callers/callers.data"))
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
IDLE = "new Promise(f => setTimeout(f, 60))"  # what it does later is part of it
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
        "sort by name": ("functions", "document.querySelector('[data-key=name] button').click()"),
        "sort by share": ("functions", "document.querySelector('[data-key=share] button').click()"),
        "select": ("functions", "document.querySelectorAll('tr[data-row]')[3].click()"),
        "closer": ("image", PRESS % 1), "point": ("image", POINT), "whole": ("image", PRESS % 2),
        "range": ("time", KEY % "ArrowRight"), "all": ("time", KEY % "Escape")}


def busy(page):
    """ms that the page's main thread has worked, whoever else wanted the processor."""
    metrics = page.call("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


class Pages:
    """A benchmark of bench.py's Bench, which has the programs and the verdicts."""

    def page(self):
        self.page_of("page", [self.args.elf, self.recording(self.args.samples, 1, 64)])
        self.page_of("page, with callers", [CALLERS_ELF, self.recording(
            self.args.samples, 1, 64, CALLERS)])
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
            page.call("Performance.enable", timeDomain="threadTicks")
            took = {name: [] for name in DONE}
            for _ in range(self.args.rounds):
                for name, (section, what) in DONE.items():
                    page.run(SEEN % section)
                    before = busy(page)
                    wall = page.run(TIMED % what)
                    page.run(IDLE)
                    took[name].append((wall, busy(page) - before))
            page.close()
        print(f"page in a browser: drawn after {ready:.0f} ms; medians of {self.args.rounds}, "
              "and what the main thread does alone")
        self.judge("first paint", painted, PAINT)
        for name, times in took.items():
            wall, cpu = (statistics.median(column) for column in zip(*times))
            self.judge(name, wall, WORK, f", main thread {cpu:.0f} ms")

    def judge(self, name, ms, most, more=""):
        if ms > most:
            self.over.append(f"page in a browser: {name}")
        print(f"  {name:<14} {ms:5.0f} ms  {'FAIL' if ms > most else 'PASS'} (at most {most}){more}")
