# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, driven through its DevTools protocol over a pair of pipes.

Needs nothing but the program (or what $CHROMIUM names) and Python's own library. Messages
are JSON with a NUL behind each: https://chromedevtools.github.io/devtools-protocol/
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 30  # seconds for any answer

# The browser reads commands from descriptor 3 and answers on 4.
LAUNCH = """import os, sys
down, up = (os.dup(os.dup(int(n))) for n in sys.argv[1:3])
os.dup2(down, 3), os.dup2(up, 4)
os.execv(sys.argv[3], sys.argv[3:])"""


class NoBrowser(Exception):
    """Why there is none."""


def find():
    for name in [os.environ.get("CHROMIUM") or "", *NAMES]:
        path = name and shutil.which(name)
        if path:
            return path
    raise NoBrowser("chromium is not installed")


class Browser:
    def __init__(self):
        program = find()
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        theirs_in, self.down = os.pipe()
        self.up, theirs_out = os.pipe()
        self.child = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), program,
             "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--force-device-scale-factor=1", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder})
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.buffer, self.events = 0, b"", []
        try:
            self.call("Browser.getVersion")
        except (OSError, RuntimeError) as e:
            self.close()
            raise NoBrowser(f"{program} does not start: {e}") from e

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.up], [], [], left)[0]:
                raise RuntimeError("no answer")
            more = os.read(self.up, 1 << 20)
            if not more:
                raise RuntimeError("it ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.down, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method, session):
        """The next event of that name that nobody has waited for."""
        until = time.monotonic() + PATIENCE
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session:
                    return self.events.pop(i)["params"]
            self.events.append(self.receive(until))

    def close(self):
        os.close(self.down)
        os.close(self.up)
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    """A tab with a file in it."""

    def __init__(self, browser, path, width=1200, height=700, dark=False, fragment=""):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        self.target = target
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(domain + ".enable")
        self.resize(width, height)
        if dark:
            self.call("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        browser.wait("Page.loadEventFired", self.session)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def run(self, script):
        """The value of an expression, or of what it promises."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)

    def key(self, name, text=""):
        more = {"text": text} if text else {}
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=codes.get(name, 0), **more)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def noticed(self):
        """Exceptions, console lines and requests beyond the page itself."""
        self.run("0")
        found = []
        for event in self.browser.events:
            params = event.get("params", {})
            if event.get("sessionId") != self.session:
                continue
            if event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                                   "Log.entryAdded", "Page.javascriptDialogOpening"):
                found.append(json.dumps(params)[:500])
            elif event["method"] == "Network.requestWillBeSent":
                found.append(params["request"]["url"])
        return found[1:] if found and found[0].startswith("file:") else found

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
