# SPDX-License-Identifier: GPL-2.0-only
"""What hlguest says of a recording: its bases, and whether it can be trusted."""
import json
import os
import re

from tap import Skip, run

REFUSED = 3  # exit status


class Base:
    """A line of `hlguest base`."""

    def __init__(self, base, samples):
        self.base, self.samples = int(base, 16), int(samples)

    def __repr__(self):
        return f"{self.base:#x} ({self.samples})"


class Told:
    """A report: its document and the exit status."""

    def __init__(self, document, status, err):
        self.document, self.status, self.err = document, status, err
        self.trust = document["trust"]
        self.verdict = self.trust["verdict"]
        self.base = int(document["images"][0]["base"], 16)

    def __repr__(self):
        on = self.trust["addresses"]
        return (f"{self.verdict} at {self.base:#x}, {on['on']} of {on['on'] + on['off']} "
                f"addresses, status {self.status}")

    def samples(self, kind):
        return self.document["totals"][kind]["samples"]

    def functions(self):
        """Samples by image's own address and name."""
        return {(f["addr"], f["name"]): f["samples"] for f in self.document["functions"]}


def program(build):
    return os.path.join(os.path.abspath(build), "tools", "hlguest")


def bases(build, recording, elf):
    """Those that are found, in the order they are printed; none may have been."""
    out, err, status = run(program(build), "base", "-q", elf, "-i", recording)
    found = re.findall(r"^(0x[0-9a-f]+) +(\d+) ", out, re.M)
    if status not in (0, 1, REFUSED) or (status == 1) == bool(found):
        raise RuntimeError(f"hlguest base {elf}: status {status}: {out}{err}")
    return [Base(*words) for words in found]


def report(build, recording, *args):
    out, err, status = run(program(build), "report", "-q", "--format=json", "--top=0",
                           "-i", recording, *args)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status not in (0, REFUSED) or not out:
        raise RuntimeError(f"hlguest report {' '.join(args)}: status {status}: {err}")
    told = Told(json.loads(out), status, err)
    if (status == REFUSED) != (told.verdict in ("mismatch", "mixed")):
        raise RuntimeError(f"hlguest report {' '.join(args)}: {told}")
    return told


def refused(told):
    """Of what cannot be right: "right" if the report says so."""
    if told.verdict in ("mismatch", "mixed"):
        return "right"
    return "not told" if told.verdict.startswith("too few") else "wrong"
