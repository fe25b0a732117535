# SPDX-License-Identifier: GPL-2.0-only
"""A terminal for programs that draw a screen: a pseudo-terminal, and what a VT100, or a "screen",
shows of what they write. Only what ncurses writes to one is understood; the rest is left out."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from tap import TIMEOUT, environment

CONTROL = re.compile("\x1b\\[([?0-9;]*)([@-~])|\x1b[()][A-Z0-9]|\x1b[=>78cDEHM]|[\x00-\x1f\x7f]|"
                     "\\$<[0-9*/.]+>")


class Terminal:
    def __init__(self, argv, cwd, columns=80, lines=24, kept=None, **env):
        """kept: a file for standard output, which is then no terminal."""
        self.size = columns, lines
        self.raw = b""
        self.taken = 0
        self.rows = [[" "] * columns for _ in range(lines)]
        self.x = self.y = 0
        self.master, slave = os.openpty()
        self.resize(columns, lines, tell=False)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.child = subprocess.Popen(
            argv, cwd=cwd, stdin=slave, stdout=kept or slave, stderr=slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=environment(**{"TERM": "vt100", "LC_ALL": "C.UTF-8", **env}))

    def resize(self, columns, lines, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.size = columns, lines
        self.region = 0, lines - 1
        self.x, self.y = min(self.x, columns - 1), min(self.y, lines - 1)
        self.rows = [(row + [" "] * columns)[:columns] for row in self.rows[:lines]]
        self.rows += [[" "] * columns for _ in range(lines - len(self.rows))]
        if tell:
            self.child.send_signal(signal.SIGWINCH)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds):
        """What comes within that time; False at the end."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            got = os.read(self.master, 65536)
        except OSError:  # nobody has the other end
            return False
        self.raw += got
        self.show()
        return bool(got)

    def show(self):
        text = self.raw[self.taken:].decode("utf-8", "ignore")
        whole = self.raw.rfind(b"\x1b")
        if whole >= len(self.raw) - 8 and not CONTROL.match(
                self.raw[whole:].decode("utf-8", "ignore")):
            return  # a sequence that goes on
        self.taken = len(self.raw)
        at = 0
        while at < len(text):
            found = CONTROL.match(text, at)
            if found:
                self.control(found)
                at = found.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, letter):
        columns, lines = self.size
        if self.x >= columns:
            self.x = 0
            self.feed()
        if self.y < lines:
            self.rows[self.y][self.x] = letter
        self.x += 1

    def feed(self, back=False):
        """A line on, or back; at the edge of the region that scrolls this does."""
        top, bottom = self.region
        blank = [" "] * self.size[0]
        if self.y == (top if back else bottom):
            if back:
                self.rows.insert(top, blank)
                del self.rows[bottom + 1]
            else:
                self.rows.insert(bottom + 1, blank)
                del self.rows[top]
        elif 0 <= self.y + (-1 if back else 1) < self.size[1]:
            self.y += -1 if back else 1

    def control(self, found):
        columns, lines = self.size
        letter = found[2] or found[0][-1:]
        numbers = [int(n) if n.isdigit() else 0 for n in (found[1] or "").split(";")]
        n = max(numbers[0], 1)
        if found[0] == "\r":
            self.x = 0
        elif found[0] == "\n":
            self.feed()
        elif found[0] == "\b":
            self.x = max(self.x - 1, 0)
        elif found[0] == "\x1bD":
            self.feed()
        elif found[0] == "\x1bM":
            self.feed(back=True)
        elif found[2] is None:
            return
        elif letter == "r":
            last = numbers[1] if len(numbers) > 1 and numbers[1] else lines
            self.region = n - 1, min(last, lines) - 1
            self.x = self.y = 0
        elif letter == "H":
            self.y = min(n, lines) - 1
            self.x = min(max((numbers + [1])[1], 1), columns) - 1
        elif letter in "ABCD":
            self.y = min(max(self.y + {"A": -n, "B": n}.get(letter, 0), 0), lines - 1)
            self.x = min(max(self.x + {"D": -n, "C": n}.get(letter, 0), 0), columns - 1)
        elif letter == "K":
            begin, end = {0: (self.x, columns), 1: (0, self.x + 1), 2: (0, columns)}[numbers[0]]
            for x in range(begin, min(end, columns)):
                self.rows[self.y][x] = " "
        elif letter == "G":
            self.x = min(n, columns) - 1
        elif letter == "d":
            self.y = min(n, lines) - 1
        elif letter in "@P":
            row = self.rows[self.y]
            row[self.x:] = [" "] * n + row[self.x:-n] if letter == "@" else \
                row[self.x + n:] + [" "] * n
            del row[columns:]
        elif letter in "LM":
            for _ in range(min(n, self.region[1] + 1 - self.y)):
                self.rows.insert(self.region[1] + 1 if letter == "M" else self.y, [" "] * columns)
                del self.rows[self.y if letter == "M" else self.region[1] + 1]
        elif letter == "J":
            for y in range(self.y if numbers[0] == 0 else 0, lines):
                self.rows[y][(self.x if y == self.y and numbers[0] == 0 else 0):] = \
                    [" "] * (columns - (self.x if y == self.y and numbers[0] == 0 else 0))

    def lines(self):
        return ["".join(row).rstrip() for row in self.rows]

    def text(self):
        return "\n".join(self.lines())

    def wait(self, pattern, seconds=TIMEOUT):
        """Until the screen has it; raises RuntimeError with the screen, if it never has."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > end or not self.read(0.1):
                raise RuntimeError(f"no {pattern!r} on the screen:\n{self.text()}")

    def end(self, seconds=TIMEOUT):
        """Waits for the program's end. Returns its status."""
        end = time.monotonic() + seconds
        while self.child.poll() is None and time.monotonic() < end:
            self.read(0.05)
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
            raise RuntimeError(f"it does not end:\n{self.text()}")
        while select.select([self.master], [], [], 0)[0] and self.read(0):
            pass
        return self.child.returncode

    def is_restored(self):
        return termios.tcgetattr(self.slave) == self.before

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.master)
        os.close(self.slave)
