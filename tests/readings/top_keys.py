# SPDX-License-Identifier: GPL-2.0-only
"""What keys do to what hlguest top shows: hlguest-top(1), "Keys", and tools/top/keys.h."""

NUMBERS = {"up": 0x200, "down": 0x201, "page up": 0x202, "page down": 0x203, "home": 0x204,
           "end": 0x205, "enter": 0x206, "escape": 0x207, "backspace": 0x208}
MOVES = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": "-page", "b": "-page",
         "page down": "page", "f": "page", "home": "home", "g": "home", "end": "end", "G": "end"}
SORTS, FILTER_MAX = 3, 64
ACTIONS = {" ": "pause", "z": "zero", "w": "save", "h": "help", "?": "help", "q": "quit"}


class Keys:
    """n rows, or lines of a text, of which room are on the screen from first, or line, on."""

    def __init__(self):
        self.mode, self.sort, self.filter, self.before = "table", 0, "", ""
        self.cursor = self.first = self.n = self.room = 0
        self.line = self.n_lines = self.room_lines = 0

    @staticmethod
    def number(key):
        return NUMBERS.get(key) or ord(key)

    def fit(self, n, room):
        """The cursor is on a row, if there is one, and is seen; below the last row there is
        nothing only if none is above the first."""
        self.n, self.room = n, room
        self.cursor = min(self.cursor, max(0, n - 1))
        self.first = min(self.first, self.cursor)
        if room:
            self.first = max(self.first, self.cursor - room + 1)
        self.first = min(self.first, max(0, n - room))

    def fit_text(self, n, room):
        self.n_lines, self.room_lines = n, room
        self.line = min(self.line, max(0, n - room))

    @staticmethod
    def moved(key, at, n, room):
        """Page keys leave a line of what was there."""
        by, page = MOVES[key], max(1, room - 1)
        to = {"home": 0, "end": n, "page": at + page, "-page": at - page}
        return max(0, to[by] if by in to else at + by)

    def press(self, key):
        """What is left to do."""
        return {"table": self.in_table, "filter": self.in_filter, "text": self.in_text}[
            self.mode](key)

    def in_table(self, key):
        if key in MOVES:
            self.cursor = self.moved(key, self.cursor, self.n, self.room)
            self.fit(self.n, self.room)
        elif key == "s":
            self.sort = (self.sort + 1) % SORTS
        elif key == "/":
            self.mode, self.before, self.filter = "filter", self.filter, ""
        elif key == "escape":
            self.filter = ""
        elif key in ("enter", "c"):
            return {"enter": "annotate", "c": "callers"}[key] if self.n else None
        return ACTIONS.get(key)

    def in_filter(self, key):
        """What else is no letter does nothing."""
        if key in ("enter", "escape"):
            self.mode = "table"
            self.filter = self.filter if key == "enter" else self.before
        elif key == "backspace":
            self.filter = self.filter[:-1]
        elif len(key) == 1 and len(self.filter) + 1 < FILTER_MAX:
            self.filter += key
        else:
            return
        self.cursor = self.first = 0

    def in_text(self, key):
        if key in ("q", "escape", "enter", "backspace"):
            self.mode, self.line = "table", 0
        elif key in MOVES or key == " ":
            self.line = self.moved("f" if key == " " else key, self.line, self.n_lines,
                                   self.room_lines)
            self.fit_text(self.n_lines, self.room_lines)
