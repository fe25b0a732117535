#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What many commands say, drawn from seeds, kept as digests (kit/seeds.py).

    drawn.py --build DIR [--seed N] [--seeds N] [--update | --against BUILD]

Each seed takes the recordings, ELFs and commands of a reading (tests/readings), and asks some of
these commands again: with other options, any that --help tells of, or by another verb that takes
such files, on another screen. Nobody computed what they are to say: where it changes, somebody
is to look. A change that is to keep all as it is has no difference here.
"""
import functools
import importlib
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
for folder in "../kit", "../readings":
    sys.path.insert(1, os.path.join(sys.path[0], folder))
import said
from programs import hlguest_of
from seeds import seeds
from tap import environment, must, run

READINGS = (
    "annotate_model annotate_text base_model bases_reported calls_model diff_model diff_text "
    "exits_model exits_text exports_model flame_model inject_model lacks_model lookup_model "
    "pprof_model report_model report_text sandboxes_model tasks_model trust_model "
    "windows_model windows_text").split()
COMMANDS = 20  # of a seed
AGE = 1700000000
# Verbs that take the same files.
ALIKE = ("report", "report", "report", "annotate", "flame", "exits", "base", "lookup", "windows",
         "kallsyms", "diff")
# What a placeholder of --help may be. Files, time and other machines are of other tests.
VALUES = {
    "N": "0 1 2 3 5 12 100", "PERCENT": "0 0.5 2 10 30", "SIZE": "0 16 64 1K 4K 1M",
    "LIST": "0 1 0-1 1,3 70 71 80-82 100-150 0x60-0x70", "GLOB": "cycles* *clock* kvm:* *i*",
    "START,STOP": "0%-50% 25%-75% 10%/3 50%/2 +1us, ,+5us +500ns,+20us", "TEXT": "a&b",
    "MS": "1 0.001", "TIME": "1us 50us 1ms", "FROM..TO": "0..1 1..2 100..101 101..100",
    "NAME|ADDR": "f 0x1000 a_1", "GLOB|NUMBER": "101 1* 0x64 io", "D|L|C": "8|0|1 16|1|1",
}
NEVER = {"--usage", "--help", "--input", "--input-list", "--list-digest", "--calibration",
         "--output", "--pager", "--null"}


@functools.cache
def options_of(hlguest, verb):
    """[(option, its values or None)], as --help has them."""
    return list(options_in(said.keep(lambda: must(hlguest, verb, "--help"))[0]))


def options_in(text):
    for option, value in re.findall(r"^ +(?:-\S, )?(--[a-z-]+)(\[?=\S+)?", text, re.M):
        value = value.strip("[]=")
        if option in NEVER or value and not re.search("[a-z]", value) and value not in VALUES:
            continue
        yield option, value or None


def draw(rng, option, value):
    if value is None:
        return option
    if value in VALUES:
        return f"{option}={rng.choice(VALUES[value].split())}"
    if "," in value and "|" not in value:
        some = value.split(",")
        return f"{option}={','.join(rng.sample(some, rng.randint(1, min(3, len(some)))))}"
    return f"{option}={rng.choice(value.split('|'))}"


def again(rng, hlguest, words):
    """A command that was run, in another way."""
    verb, *words = words
    if verb in ALIKE and rng.random() < .25:
        verb = rng.choice(ALIKE)
        words = [word for word in words if not word.startswith("-")]
    elif rng.random() < .5:
        words = [word for word in words if not word.startswith("--") or rng.random() < .6]
    known = options_of(hlguest, verb)
    more = [draw(rng, *option) for option in rng.sample(known, min(len(known), rng.randint(0, 3)))]
    new = {word.partition("=")[0] for word in more}
    if ("--force", "no|yes") in known and "--force" not in new and rng.random() < .7:
        more.append("--force")  # few fit as well as samples do
        new.add("--force")
    return [verb, *more, *(word for word in words if word.partition("=")[0] not in new)]


def surroundings(rng, hlguest):
    """Lines as wide as any, and a command without its folder, which profiles would have in them."""
    columns = rng.choice((40, 80, rng.randint(40, 200), rng.randint(60, 120), 200))
    return environment(PATH=f"{os.path.dirname(hlguest)}:/usr/bin:/bin", COLUMNS=str(columns),
                       LC_ALL=rng.choice(("C", "C.UTF-8")))


def make_old(folder):
    """Saved profiles have the time of their recordings."""
    for here, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(here, name), (AGE, AGE))


def differences(build, folder, seed):
    """Nothing but what the digest tells."""
    hlguest = hlguest_of(build)
    reading = importlib.import_module(READINGS[seed % len(READINGS)])
    _, runs = said.keep(lambda: list(reading.differences(build, folder, 1000 + seed)))
    for i in range(COMMANDS if runs else 0):
        rng = random.Random(f"{seed} {i}")  # its own: an option more changes few commands
        one = rng.choice(runs)
        make_old(folder)
        run(said.COMMAND, *again(rng, hlguest, one.words), cwd=one.cwd,
            env=surroundings(rng, hlguest))
    return []


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 600, differences, computes=False))
