#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Both feeds give the same report.

    parity.py --build DIR [--seeds N]

`hlguest report` and `perf script --dlfilter hlguest.so` on every recording of tests/data,
in every format, with a spread of options, and with images that do not fit or are to be
found (the gate tries a third of that with each recording): the same bytes, the same status (the filter is strict, as the command always is),
nothing on the command's standard error (of a format without notes the same lines there);
or, where there is nothing to report, the same line there, status 1, and in formats for
programs still the same bytes.
Then several recordings at once: the same bytes in any order and with any -j, and one that
cannot be read among them is named, the rest reported, with status 1.
Recordings made up (kit/made.py) are reported alike, too; with --seeds, N of them and
nothing else.
"""
import concurrent.futures
import itertools
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], "..", place) for place in ("kit", "harm/hostile")]
import made
import recordings as hostile
from programs import hlguest_of
from tap import DATA, Skip, Tap, but_banner, but_sandboxes, environment, filter_argv, must, \
    names_in, need, parser, run, some

MISFIT = 3  # the status when samples do not fit
NOTHING = re.compile(r"hlguest: .*(no (guest|host) samples|: selects none of \d+ sample|no samples:).*\n")
FORMATS = ["text", "csv", "json", "folded"]
# Images are named as from tests/data. {map} is a perf map, {tid} a thread, {time} a
# second of the recording.
SPREAD = [
    ("gaps=drop",), ("gaps=stretch",), ("weight=samples",), ("region=0",), ("region=64",),
    ("region=1M",), ("by=event",), ("by=pid,tid",), ("by=cpu",), ("by=event,pid,tid,cpu",),
    ("event=cpu-clock",), ("event=*-clock*",), ("event=nosuch",), ("pid=1-99999999",),
    ("pid=1",), ("tid=1-99999999",), ("tid=1",), ("cpu=0",), ("cpu=1-7",), ("time=,1",),
    ("time=0.5,",), ("time=+0,+1",), ("time=+1500ms,",),
    ("time=+99,",), ("top=3",), ("top=0", "min=1.5"), ("demangle=no",), ("aliases=yes",),
    ("mode=host",), ("mode=all",), ("mode=all", "by=event,tid", "weight=samples"),
    ("skid=1",), ("skid=4", "by=tid"), ("skid=1000000",), ("force=yes",), ("force=no",),
    ("strict-base=yes",),
    ("stacks=counters", "by=tid", "weight=samples"), ("stacks=counters", "event=nosuch"),
    ("stacks=counters", "time=0.5,", "cpu=0"), ("stacks=leaf",),
    ("stacks=callgraph", "roots=comm,tid,image,section", "format=folded"),
    ("gaps=stretch", "weight=samples", "by=tid", "aliases=yes", "demangle=no", "top=5"),
]
IMAGES = [
    ("demo.elf", "rusty.elf@0x7000000"), ("rusty.elf@0x7000000", "demo.elf"),
    ("demo.elf@0x4000", "map:{map}"), ("map:{map}",), ("demo.elf@0x7f3a51c26000",),
    ("demo.elf@auto", "map:{map}@0x900000"), ("rusty.elf",), ("rusty.elf@auto",),
    ("rusty.elf@0x7000000", "demo.elf@auto", "by=tid"),
]
# A page off, 8 bytes off, and wherever the samples say.
BASES = ["@0x5000", "@0x4008", "@auto"]
MAP = "5000 100 jit_one\n5100 80 jit<two>\nnonsense\n900000 10 three\n"


def image_of(recording):
    return recording.split("-")[0] + ".elf"


def as_option(word):
    """A word of the filter as one of the command."""
    return "--" + word if "=" in word else word


def middle_of(recording):
    """The second in the middle of a recording, as perf writes it."""
    out, _, _ = run("perf", "script", "-i", recording, "-F", "time", cwd=DATA)
    times = [float(line.strip().rstrip(":")) for line in out.split()]
    return f"{(min(times) + max(times)) / 2:.6f}"


def compare(build, recording, words):
    """The differences between both feeds, as lines."""
    mine, complaint, status = run(
        hlguest_of(build), "report", *map(as_option, words), recording, cwd=DATA)
    theirs, their_complaint, their_status = run(
        *filter_argv(build, recording, *words, "strict=yes"), cwd=DATA)
    if "not in this build" in complaint and "not in this build" in their_complaint:
        raise Skip(complaint.strip())
    mine = but_sandboxes(mine)  # of which a filter knows nothing
    wrong = []
    nothing = NOTHING.fullmatch(complaint) and status == 1
    # Each names what selects as it was given.
    if re.sub("--(?=[a-z]+=.*: )", "", complaint) not in their_complaint:
        wrong.append(f"perf says: {their_complaint.strip()}")
    if status != their_status or status not in (0, MISFIT) and not nothing:
        wrong.append(f"status: hlguest {status}, perf {their_status}")
        wrong.append(their_complaint.strip())
    if but_banner(complaint) and not nothing and "format=folded" not in words:
        wrong.append(f"hlguest says: {complaint.strip()}")
    if nothing and mine and not any(word.startswith("format=") for word in words):
        wrong.append("there is nothing, but a report")
    if not mine and not (wrong or nothing or "format=folded" in words):
        wrong.append("both are empty")
    if mine != theirs:
        pairs = itertools.zip_longest(mine.splitlines(), theirs.splitlines())
        wrong += [f"hlguest: {a!r}\nperf:    {b!r}" for a, b in pairs if a != b][:8]
    return wrong


def word_sets(recording, a_map):
    """What a recording is tried with."""
    elf = image_of(recording)
    middle = middle_of(recording)
    for style in FORMATS:
        yield (elf, "format=" + style)
        yield (elf, "format=" + style, "mode=all")
        yield (elf, "format=" + style, "by=event,tid", "gaps=drop", f"time=,{middle}")
        yield (elf, "format=" + style, "skid=2")
        yield (elf, "format=" + style, "stacks=counters")
        yield (elf, "format=" + style, "stacks=callgraph")  # host frames: live/stacks.py
        for base in BASES:
            yield (elf + base, "format=" + style)
            yield (elf + base, "format=" + style, "force=yes", "skid=2")
    yield (elf, f"time={middle},")
    for words in SPREAD:
        yield (elf,) + words
    if elf == "demo.elf":
        for images in IMAGES:
            yield tuple(word.format(map=a_map) for word in images)


def check_status(build):
    """0 where samples fit, 3 where not, 0 again for a filter that is not strict."""
    wrong = []
    for words, expected in (
        (["demo.elf", "demo-user.data"], 0), (["demo.elf@0x5000", "demo-user.data"], MISFIT),
        (["demo.elf", "demo-far.data"], 0), (["demo.elf@auto", "demo-far.data"], 0),
        (["demo.elf@0x4008", "demo-user.data"], MISFIT),
        (["rusty.elf", "demo-user.data"], MISFIT),
        (["demo.elf@0x4000", "demo-far.data"], MISFIT),
    ):
        image, recording = words
        for argv, status in (
            ([hlguest_of(build), "report", *words], expected),
            (filter_argv(build, recording, image, "strict=yes"), expected),
            (filter_argv(build, recording, image), 0),
            (filter_argv(build, recording, image, "strict=no"), 0),
        ):
            got = run(*argv, cwd=DATA)[2]
            if got != status:
                wrong.append(f"{' '.join(argv)}: status {got}, not {status}")
    return wrong


def check_out(build, recording, folder):
    """out=FILE: the same file, and nothing on standard output."""
    place = os.path.join(folder, "out")
    found = []
    for argv in ([hlguest_of(build), "report", "--out=" + place, "demo.elf", recording],
                 filter_argv(build, recording, "demo.elf", "out=" + place)):
        out, _, status = run(*argv, cwd=DATA)
        with open(place, encoding="utf-8") as f:
            found.append((out, status, f.read()))
        os.unlink(place)
    if found[0] != found[1] or found[0][0] or not found[0][2]:
        return [f"hlguest: {found[0]!r}", f"perf:    {found[1]!r}"]
    return []


def many(build, recordings, *options):
    return run(hlguest_of(build), "report", "demo.elf", *options, *recordings, cwd=DATA)


def check_order(build, recordings, style):
    """Some orders, each with some -j: all as the first."""
    first = many(build, recordings, "--format=" + style)
    if "not in this build" in first[1]:
        raise Skip(first[1].strip())
    # That one lies elsewhere is warned of where the format has no room for it.
    if first[2] or not first[0]:
        return [f"status {first[2]}", first[1]]
    wrong = []
    orders = list(itertools.permutations(recordings))
    for order in orders[:: len(orders) // 7]:
        for threads in "1", "2", "4":
            if many(build, order, "--format=" + style, "-j", threads) != first:
                wrong.append(f"-j {threads} {' '.join(order)}: another report")
    return wrong


def check_one_thread(build, recording):
    """One file, several threads."""
    if many(build, [recording], "-j4") != many(build, [recording], "-j1"):
        return ["another report with -j4 than with -j1"]
    return []


def check_sum(build, recordings):
    """The totals of several are the sums of each; what is of the border is decided anew."""
    def totals(files):
        out, err, status = many(build, files, "--format=csv", "--strict-base", "--border=keep")
        # One recording is of another base, and some have no guest samples.
        if status not in (0, MISFIT) and not NOTHING.fullmatch(err):
            raise RuntimeError(err)
        rows = [line.split(",") for line in out.splitlines()]
        places = [rows[0].index(name) for name in ("name", "samples", "period")]
        return {row[places[0]]: [int(row[i]) for i in places[1:]]
                for row in rows if row[0] == "total"}

    whole = totals(recordings)
    parts = [totals([recording]) for recording in recordings]
    return [f"{name}: {count}, but the files' {[part[name] for part in parts]}"
            for name, count in whole.items()
            if count != [sum(part[name][i] for part in parts) for i in (0, 1)]]


def bad_files(folder):
    """(what is wrong, path) of files that are no recordings."""
    garbage = os.path.join(folder, "garbage.data")
    with open(garbage, "wb") as f:
        f.write(b"PERFILE2" + bytes(range(256)) * 16)
    text = os.path.join(folder, "text.data")
    with open(text, "w", encoding="utf-8") as f:
        f.write("no recording\n")
    empty = os.path.join(folder, "empty.data")
    with open(empty, "wb"):
        pass
    secret = os.path.join(folder, "secret.data")
    with open(secret, "wb"):
        pass
    os.chmod(secret, 0)
    found = [("missing", os.path.join(folder, "missing.data")), ("garbage", garbage),
             ("text", text), ("empty", empty), ("directory", folder)]
    if not os.access(secret, os.R_OK):
        found.append(("unreadable", secret))
    return found


def check_bad(build, bad, good):
    """The rest as without the bad one, but for a note that says so."""
    found = set()
    wrong = []
    for place in range(len(good) + 1):
        for threads in "1", "4":
            argv = []
            for i, path in enumerate(good[:place] + [bad] + good[place:]):
                argv += ["-i", path]
            found.add(many(build, argv, "--format=csv", "-j", threads))
    if len(found) != 1:
        return [f"{len(found)} different results"]
    out, err, status = found.pop()
    if status != 1:
        wrong.append(f"status {status}")
    if err.count("\n") != 1 or not err.startswith(f"hlguest: {bad}: "):
        wrong.append(f"standard error: {err!r}")
    lines = out.splitlines(keepends=True)
    notes = [line for line in lines if " recordings left out: " in line]
    if len(notes) != 1 or not notes[0].startswith(f'note,,,"1 of {len(good) + 1} '):
        wrong.append(f"notes: {notes}")
    if "".join(x for x in lines if x not in notes) != many(build, good, "--format=csv")[0]:
        wrong.append("the others are not reported as without it")
    return wrong


def check_all_bad(build, bad):
    out, err, status = many(build, ["-i", bad, "-i", bad + "2"])
    if out or status != 1 or err.count("\n") != 2:
        return [f"status {status}", f"stdout {out!r}", f"stderr {err!r}"]
    return []


def check_made(build, seed, folder):
    """A recording made up, with a format and words of its own."""
    rng, path = random.Random(seed), os.path.join(folder, f"made-{seed}.data")
    with open(path, "wb") as f:
        f.write(made.make(seed, lossy=False))
    words = ["demo.elf@0x400000", "force=yes", "format=" + rng.choice(FORMATS)]
    words += rng.choice([more for more in SPREAD if not any(
        word.startswith(("force", "format")) for word in more)])
    wrong = compare(build, path, words)
    os.unlink(path)
    return wrong and [" ".join(words)] + wrong


# Of a recording of two events: how many samples of each its events have, one after the other.
RATES = [[(0, 2000), (1, 1600), (0, 600)], [(0, 10), (1, 5)], [(1, 7), (0, 3)]]
NAMES = [("cpu-clock/freq=997/", "cpu-clock/freq=4999/"), ("cpu-clock:HG", "cpu-clock/freq=9/HG"),
         ("cpu-clock/freq=9/", "task-clock/freq=9/")]
CALLED = [NAMES[0], ("cpu-clock//HG", "cpu-clock/freq=9/HG"), ("cpu-clock", "task-clock")]


def events_of(build, words):
    out = must(hlguest_of(build), "report", "demo.elf@0x4000", "--force", "--format=csv", *words,
               cwd=DATA)
    rows = re.findall(r'^event,,,"(.*?)",.*?(\d+),\d+,,,,,$', out, re.M)
    return {name: int(n) for name, n in rows if n != "0"}


def check_rates(build, folder):
    """Events that differ in how often they are sampled stay two: in both feeds, with any -j,
    in one recording and several, whichever comes first; --event= selects one of them."""
    for names, called in zip(NAMES, CALLED):
        paths, sums = [], dict.fromkeys(called, 0)
        for k, parts in enumerate(RATES):
            r = hostile.Hostile([name.encode() for name in names])
            for event, n in parts:
                for _ in range(n):
                    r.sample(hostile.GUEST_USER, hostile.ip_of(0), 7, event)
                sums[called[event]] += n
            paths.append(os.path.join(folder, f"rates-{k}.data"))
            r.write(paths[-1])
            for words in ["format=csv"], ["format=csv", "event=" + names[1]]:
                yield from compare(build, paths[-1], ["demo.elf@0x4000", "force=yes", *words])
        for words in ["-j1"], ["-j2"], ["-j3", *paths[:0:-1]]:
            found = events_of(build, [*words, paths[0]])
            of = sums if len(words) > 1 else {called[0]: 2600, called[1]: 1600}
            if found != of:
                yield f"{names} {words[0]}: {found}, not {of}"
        for name in called:
            found = events_of(build, ["--event=" + name, *paths])
            if list(found.values()) != [sums[name]]:
                yield f"{names} --event={name}: {found} of {sums}"
        both = events_of(build, ["--event=cpu-clock*", *paths])
        if list(both) != sorted(name for name in called if name.startswith("cpu-clock")):
            yield f"{names} --event=cpu-clock*: {both}"


def check_seeds(build, seeds, folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda seed: check_made(build, seed, folder), seeds)
        return [f"seed {seed}: {line}" for seed, lines in zip(seeds, found)
                for line in lines]


def main():
    words = parser(__doc__)
    words.add_argument("--seeds", type=int, default=0)
    args = words.parse_args()
    build = args.build
    tap = Tap()
    try:
        need("perf")
    except Skip as e:
        print(f"1..0 # SKIP {e}")
        return 0
    os.environ.update(environment())
    made.as_by(must("perf", "--version"))
    if args.seeds:
        with tempfile.TemporaryDirectory(prefix="parity-") as folder:
            tap.run("made up", check_seeds, build, range(args.seeds), folder)
        return tap.finish()
    recordings = names_in(DATA, ".data")
    demos = [name for name in recordings if name.startswith("demo-")]
    with tempfile.TemporaryDirectory(prefix="parity-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        a_map = os.path.join(folder, "perf-1.map")
        with open(a_map, "w", encoding="utf-8") as f:
            f.write(MAP)
        for i, recording in enumerate(recordings):
            tries = some(word_sets(recording, a_map), 3, i)
            runs = [pool.submit(compare, build, recording, words) for words in tries]
            for words, done in zip(tries, runs):
                named = " ".join(words).replace(folder + os.sep, "")
                tap.run(f"{recording}: {named}", done.result)
        if "zydis" in os.environ.get("HLG_FEATURES", "zydis").split():
            tap.run("statuses", check_status, build)
        tap.run("out=FILE", check_out, build, "demo-user.data", folder)
        for style in FORMATS:
            tap.run(f"any order, any -j: {style}", check_order, build, demos, style)
        for recording in demos:
            tap.run(f"{recording}: -j4 as -j1", check_one_thread, build, recording)
        tap.run("several add up", check_sum, build, demos)
        for what, path in bad_files(folder):
            tap.run(f"one is bad: {what}", check_bad, build, path, demos[:2])
        tap.run("made up", check_seeds, build, range(40), folder)
        tap.run("events at two rates", lambda: list(check_rates(build, folder)))
        tap.run("all are bad", check_all_bad, build, os.path.join(folder, "missing"))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
