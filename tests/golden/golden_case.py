# SPDX-License-Identifier: GPL-2.0-only
"""The file of a golden case:

    # Prose: what this case proves.
    ? need: perf jansson
    $ "$MKELF" stripped guest.elf
    $ "$FAKEPERF" --arg=guest.elf hlguest.so data/few.txt
    > a line of stdout
    ! a line of stderr
    = 1

`$` lines, up to the first line that is none, are one script for one bash; its stdout,
stderr and exit status (0 when not said) are expected right below, with no line
between. More scripts may follow; each is a step of its own, in the same directory.
The mark and one blank are cut off. Other lines are `#` prose or empty.

    > text     a line          >| text   a last line without its newline
    >x te\\x1bt  a line with escapes: \\xHH \\t \\r \\\\, for bytes that are not
               printable text and blanks at the end; >x| text is both

(and `!`, `!|`, `!x`, `!x|` for stderr). `? need:` says what the machine or the build
must have; `!jansson` what it must not.

The status is that of the script's last command, so a program under test comes last and
is not piped: in `prog | grep x` its status, and a crash, would be lost. bash runs
without -e and pipefail: separate what prepares from what is tested by `&&` or by a
step of its own. A death by signal (128 to 192 in bash) is no result a program may
have; only `= signal NAME` accepts it. Statuses above are plain numbers: perf makes 255
of a filter's -1.
"""
import os
import re
import signal

BASH_SIGNALS = range(128, 193)  # 128 + SIGRTMAX
PLAIN = re.compile(rb"(?:[\t\x20-\x7e]|[^\x00-\x7f])*(?<![ \t])", re.S)
# What is text in UTF-8 and yet moves the cursor or reverses the line.
UNSAFE = re.compile("[\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class BadCase(Exception):
    """A case that cannot be run, or a result that cannot be a case's."""


def is_plain(line):
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return PLAIN.fullmatch(line) is not None and not UNSAFE.search(text)


def escape(line):
    names = {0x09: b"\\t", 0x0D: b"\\r", 0x5C: b"\\\\"}
    out = b"".join(
        names.get(c) or (bytes([c]) if 0x20 <= c < 0x7F else b"\\x%02x" % c) for c in line
    )
    return out[:-1] + b"\\x20" if out.endswith(b" ") else out


def unescape(text, where):
    def byte(match):
        code = match.group(1)
        names = {b"t": b"\t", b"r": b"\r", b"\\": b"\\"}
        if len(code) == 3:
            return bytes([int(code[1:], 16)])
        if code not in names:
            raise BadCase(f"{where}: no such escape: \\{code.decode('latin-1')}")
        return names[code]

    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.?)", byte, text, flags=re.S)


def to_lines(mark, data):
    """A stream as lines of a case file."""
    lines = []
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        text = line[:-1] if line.endswith(b"\n") else line
        plain = is_plain(text)
        prefix = mark + (b"" if plain else b"x") + (b"" if line.endswith(b"\n") else b"|")
        lines.append((prefix + b" " + (text if plain else escape(text))).rstrip(b" "))
    return lines


def from_line(line, where):
    """A `>` or `!` line of a case file as the bytes it stands for."""
    match = re.fullmatch(rb"[>!](x?)(\|?)(?: (.*))?", line, re.S)
    if not match:
        raise BadCase(f"{where}: a blank must follow the mark")
    text = match.group(3) or b""
    if match.group(1):
        text = unescape(text, where)
    return text + (b"" if match.group(2) else b"\n")


def append(stream, line, where):
    if stream and not stream.endswith(b"\n"):
        raise BadCase(f"{where}: a line after the one without a newline")
    return stream + from_line(line, where)


def to_status(status):
    if status in BASH_SIGNALS:
        try:
            return [b"= signal " + signal.Signals(status - 128).name[3:].encode()]
        except ValueError:
            pass
    return [b"= %d" % status] if status else []


def from_status(line, where):
    text = line[1:].strip().decode("ascii", "replace")
    if text.startswith("signal "):
        name = "SIG" + text[7:].strip()
        if name not in signal.Signals.__members__:
            raise BadCase(f"{where}: no such signal: {name[3:]}")
        return 128 + signal.Signals[name]
    if not text.isdigit() or int(text) > 255:
        raise BadCase(f"{where}: not an exit status: {text}")
    if int(text) in BASH_SIGNALS:
        raise BadCase(f"{where}: {text} is a death by signal (write = signal NAME)")
    return int(text)


class Step:
    """One script and what is expected of it: lines [first, end) of the file."""

    def __init__(self):
        self.commands = []
        self.first = self.end = 0
        self.out = self.err = b""
        self.status = None
        self.refused = None  # why the actual result must not become the expected one

    def expect(self, line, where):
        if line[:1] == b"=":
            if self.status is not None:
                raise BadCase(f"{where}: a second exit status")
            self.status = from_status(line, where)
        elif line[:1] == b">":
            self.out = append(self.out, line, where)
        else:
            self.err = append(self.err, line, where)

    def expected(self):
        lines = to_lines(b">", self.out) + to_lines(b"!", self.err)
        return lines + to_status(self.status or 0)


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[: -len(".test")]
        with open(path, "rb") as f:
            data = f.read()
        self.lines = data.split(b"\n")
        if self.lines[-1] == b"":
            self.lines.pop()
        self.needs = []
        self.steps = []
        self.parse()

    def parse(self):
        below = None  # what the next line may belong to: None, "$" or "="
        for i, line in enumerate(self.lines):
            where = f"{os.path.basename(self.path)}:{i + 1}"
            mark = line[:1]
            if mark == b"$":
                if below != "$":
                    self.steps.append(Step())
                below = "$"
                self.steps[-1].commands.append(re.sub(rb"^\$ ?", b"", line))
                self.steps[-1].first = self.steps[-1].end = i + 1
            elif mark in (b">", b"!", b"="):
                if below is None:
                    raise BadCase(f"{where}: not right below a command")
                below = "="
                self.steps[-1].expect(line, where)
                self.steps[-1].end = i + 1
            elif mark == b"?":
                self.parse_need(line, where)
                below = None
            elif mark in (b"#", b""):
                below = None
            else:
                raise BadCase(f"{where}: no such line: {line.decode('latin-1')[:40]!r}")
        if not self.steps:
            raise BadCase(f"{os.path.basename(self.path)}: no command")

    def parse_need(self, line, where):
        match = re.fullmatch(rb"\? need:((?: +!?[a-z0-9-]+)+) *", line)
        if not match or self.steps:
            raise BadCase(f"{where}: `? need: WORD...` comes before the first command")
        self.needs += match.group(1).decode().split()

    def rewrite(self, actual):
        """actual: the expected lines of each step, as they should have been."""
        lines = list(self.lines)
        for step, new in reversed(list(zip(self.steps, actual))):
            lines[step.first : step.end] = new
        with open(self.path, "wb") as f:
            f.write(b"\n".join(lines) + b"\n")
