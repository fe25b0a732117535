#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings by list and in parts, and profiles merged by list, some of which are bad.

    merge.py --build DIR

Parts of a list, summed and saved again with the ELF, have the bytes of one report of all of
it; which recordings are in is told by every report, also of the sum.
"""
import gzip
import json
import os
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
import recording
from programs import hlguest_of
from tap import DATA, Skip, Tap, environment, must, parser, run

NAMES = ["demo-user", "demo-host", "demo-kernel", "demo-threads"]
HOST, OTHER = b"guest-lab\0", b"other-lab\0"  # in their headers


class Bench:
    def __init__(self, build, folder):
        self.hlguest, self.folder = os.path.abspath(hlguest_of(build)), folder
        self.rec = []
        os.mkdir(self.path("rec"))
        for i, name in enumerate(NAMES * 2):
            path = f"rec/{name}{i}.data"
            with open(os.path.join(DATA, name + ".data"), "rb") as f:
                data = f.read()
            with open(self.path(path), "wb") as f:
                f.write(data.replace(HOST, OTHER) if i > 4 else data)
            self.rec.append(path)
        shutil.copy(os.path.join(DATA, "demo.elf"), self.path("guest.elf"))
        self.write("list", "".join(p + "\n" for p in reversed(self.rec)))
        _, err, _ = self.run("merge", "/dev/null")
        if "not in this build" in err:
            raise Skip(err.strip())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def run(self, *argv, **env):
        return run(self.hlguest, *argv, cwd=self.folder, env=environment(**env))

    def must(self, *argv, **env):
        out, err, status = self.run(*argv, **env)
        if status or err:
            raise RuntimeError(f"{argv}: status {status}: {err}")
        return out

    def save(self, out, *argv, **env):
        self.must("report", "-q", "--format=pprof", "-o", out, "guest.elf", *argv, **env)
        return out

    def json(self, *argv):
        return json.loads(self.must("report", "--format=json", "guest.elf", *argv))


def parts(bench):
    """Each recording is in one part, and all parts together are all."""
    bench.save("all", *bench.rec)
    bench.save("listed", "--input-list=list", "-j0")
    if bench.read("all") != bench.read("listed"):
        yield "a list is not what it names"
    for n in 1, 3, 8:
        names = [bench.save(f"part{i}-{n}", "--input-list=list", f"--shard={i}/{n}")
                 for i in range(n)]
        bench.must("merge", "-o", "sum", *names)
        bench.save("again", "sum")
        if bench.read("again") != bench.read("all"):
            yield f"{n} parts are not all"
    for i in range(3):
        files = bench.json("--input-list=list", f"--shard={i}/3")["files"]
        if [f["path"] for f in files] != sorted(bench.rec)[i::3]:
            yield f"part {i} of 3: {files}"
    slurm = {"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_MIN": "5",
             "SLURM_ARRAY_TASK_MAX": "7", "SLURM_ARRAY_TASK_COUNT": "3"}
    if bench.read(bench.save("slurm", "--input-list=list", "--shard=slurm", **slurm)) != \
            bench.read("part1-3"):
        yield "Slurm's part 1 of 3"
    for most in "9", "6":  # with gaps; more tasks than there are numbers
        slurm["SLURM_ARRAY_TASK_MAX"] = most
        _, err, status = bench.run("report", "guest.elf", "--input-list=list", "--shard=slurm",
                                   **slurm)
        if status != 2 or "has gaps" not in err:
            yield f"tasks 5 to {most}: {status}, {err}"
    for key in sorted(slurm):
        for value in None, "x":
            told = {k: v for k, v in slurm.items() if k != key} | ({key: value} if value else {})
            _, err, status = bench.run("report", "guest.elf", "--input-list=list", "--shard=slurm",
                                       **told)
            if status != 2 or f"{key} is {value or 'not set'} (" not in err:
                yield f"{key}={value}: {status}, {err}"


def lists(bench):
    """Names with line ends, of standard input, twice; a list that has changed."""
    odd = "rec/a\nb.data"
    shutil.copy(bench.path(bench.rec[0]), bench.path(odd))
    bench.write("odd", f"{odd}\0{bench.rec[1]}\0\0")
    bench.save("odd.pb", "-0", "--input-list=odd")
    bench.save("plain.pb", odd, bench.rec[1])
    if bench.read("odd.pb") != bench.read("plain.pb"):
        yield "-0"
    out = must("sh", "-c", f"{bench.hlguest} report -q --format=json guest.elf "
               "--input-list=- <list", cwd=bench.folder)
    if json.loads(out)["recordings"]["read"] != len(bench.rec):
        yield "standard input"
    os.link(bench.path(bench.rec[0]), bench.path("rec/zz.data"))
    bench.write("twice", "\n".join([*bench.rec, bench.rec[0], "rec/zz.data"]))
    told = [bench.run("report", "guest.elf", "--input-list=twice", f"--shard={i}/2",
                      "--format=json") for i in range(2)]
    if sum(json.loads(out)["recordings"]["read"] for out, _, _ in told) != len(bench.rec) or \
            any("it counts once" not in err for _, err, _ in told):
        yield f"named twice: {told[0][1]}{told[1][1]}"
    digest = must("sha256sum", bench.path("list")).split()[0]
    bench.save("known.pb", "--input-list=list", f"--list-digest={digest}")
    if bytes.fromhex(digest) not in gzip.decompress(bench.read("known.pb")):
        yield "the profile does not say of which list it is"
    whole, last = "\n".join(bench.rec[:-1]), bench.rec[-1] + "\n"
    bench.save("all.pb", *bench.rec)
    for size in (1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 17) - 1, 300000:  # with empty lines
        bench.write("long", whole + "\n" * (size - len(whole + last)) + last)
        if bench.read(bench.save("long.pb", "--input-list=long")) != bench.read("all.pb"):
            yield f"a list of {size} bytes"
        told = must("sha256sum", bench.path("long")).split()[0]
        bench.save("long.pb", "--input-list=long", f"--list-digest={told}")
    bench.must("merge", "-o", "sum", "known.pb")
    if bytes.fromhex(digest) in gzip.decompress(bench.read("sum")):
        yield "a sum says that it is of a list"
    bench.write("list2", bench.read("list") + b"x\n")
    for words, status, said in (
            (["--input-list=list2", f"--list-digest={digest}"], 1, "another list than"),
            (["--input-list=nosuch"], 1, "nosuch"), (["-0", "x.data"], 2, "none is given"),
            (["--input-list=list", f"--list-digest={digest[:-1]}"], 2, "is no SHA-256"),
            (["--input-list=/dev/null"], 1, "names nothing"),
            (["--input-list=odd"], 1, "need -0"),
            (["--input-list=list", "--shard=9/10"], 2, "nothing to read, as there are 8 recordings"),
            (["--input-list=list", "--shard=3/3"], 2, "is no part"),
            (["--input-list=list", "-o", "list"], 2, "list")):
        out, err, got = bench.run("report", "guest.elf", *words)
        if got != status or said not in err or out:
            yield f"{words}: {got}, {err}"


def unread(bench):
    """What cannot be read is told, with why, by each report of the sum."""
    bench.write("rec/bad.data", b"PERFILE2")
    bench.write("with-bad", "\n".join([*bench.rec, "rec/bad.data", "rec/none.data"]))
    for i in range(2):
        _, err, status = bench.run("report", "-q", "guest.elf", "--input-list=with-bad",
                                   f"--shard={i}/2", "--format=pprof", "-o", f"p{i}")
        if status != (1 if "data" in err else 0):
            yield f"part {i}: {status}, {err}"
    bench.must("merge", "-o", "sum", "p0", "p1")
    said = bench.json("sum")["recordings"]
    if (said["read"], said["unread"], len(said["problems"])) != (8, 2, 2) or \
            {h["name"]: h["recordings"] for h in said["hosts"]} != \
            {"guest-lab": 5, "other-lab": 3} or said["images"] != \
            [{"name": "guest.elf", "recordings": 8}]:
        yield f"{said}"
    text = bench.must("report", "guest.elf", "sum")
    for wanted in ("8 of 10 recordings", "2 of 10 recordings left out: ",
                   "recordings by host: guest-lab 5, other-lab 3"):
        if wanted not in text:
            yield f"no {wanted}: {text}"
    bench.run("report", "-q", "guest.elf", "--input-list=with-bad", "--format=pprof", "-o",
              "all-bad")
    bench.save("again", "sum")
    if bench.read("again") != bench.read("all-bad"):
        yield "the sum is not what one report saves"
    bench.write("only-bad", "rec/bad.data\n")
    _, err, status = bench.run("report", "-q", "guest.elf", "--input-list=only-bad",
                               "--format=pprof", "-o", "p2")
    bench.must("merge", "-o", "sum2", "p2", "sum")
    if status != 1 or bench.json("sum2")["recordings"]["unread"] != 3:
        yield f"of a list that is all bad: {status}, {err}"
    # Where there are no samples, their check stays what it was.
    checks = [row for row in bench.must(
        "diff", "--format=csv", "sum", "sum2").split("\n") if row.startswith("trust,")]
    if [row.split('"')[1] for row in checks] != ["verified"] * 2:
        yield f"and with it the check is {checks}"


def failures(bench):
    """Profiles that cannot be read: there is no sum, or it is of the others and says so."""
    good = [bench.save(f"g{i}", bench.rec[i]) for i in range(3)]
    bench.write("cut", bench.read("g0")[:-9])
    bench.write("profiles", "\n".join(["g0", "cut", "g1", "nosuch", "g2"]))
    for jobs in "-j1", "-j3":
        _, err, status = bench.run("merge", "-f", "profiles", jobs, "-o", "x")
        if status != 1 or not err.startswith("hlguest: cut: ") or err.count("\n") != 1 or \
                os.path.exists(bench.path("x")):
            yield f"any, {jobs}: {status}, {err}"
        for mode in "all", "warn":
            _, err, status = bench.run("merge", "-f", "profiles", jobs, "-o", mode + jobs,
                                       f"--failures={mode}")
            if status or not re.match("hlguest: cut: .*\nhlguest: nosuch: .*\n"
                                      "hlguest: note: 2 of 5 profiles", err):
                yield f"{mode}, {jobs}: {status}, {err}"
    bench.write("profiles", "\n".join(["g2", "nosuch", "g1", "g0", "cut"]))
    bench.run("merge", "-f", "profiles", "-o", "turned", "--failures=all")
    if {bench.read(n) for n in ("all-j1", "all-j3", "warn-j1", "warn-j3", "turned")} != \
            {bench.read("all-j1")}:
        yield "sums differ"
    said = bench.json("all-j1")["recordings"]
    if (said["read"], said["unread_profiles"], len(said["problems_of_profiles"])) != (3, 2, 2):
        yield f"{said}"
    for mode, status in ("all", 1), ("warn", 0):
        _, err, got = bench.run("merge", "cut", "-o", "none-" + mode, f"--failures={mode}")
        if got != status or os.path.exists(bench.path("none-" + mode)) == bool(status):
            yield f"{mode} of none: {got}, {err}"
    _, err, status = bench.run("report", "guest.elf", "none-warn")
    if status != 1 or "of what was summed 1 were left out" not in err:
        yield f"report of none: {status}, {err}"
    bench.must("merge", "-o", "with", "none-warn", *good)
    if bench.json("with")["recordings"]["unread_profiles"] != 1:
        yield "what is of none is forgotten"
    for split in "g1", "g2":
        bench.save("pid", bench.rec[0], "--by=pid")
        _, err, status = bench.run("merge", "-j2", "--failures=warn", "-o", "y", "g0", split,
                                   "pid")
        if status != 1 or "pid: is split by pid, but g0 by nothing" not in err:
            yield f"split: {status}, {err}"
    for jobs in "-j1", "-j4":  # the first is told, even if it comes last
        _, err, status = run("sh", "-c", '(sleep 0.5; cat cut) | "$@"', "sh", bench.hlguest,
                             "merge", "-q", jobs, "-o", "y", "g0", "g1", "-", "pid",
                             cwd=bench.folder, env=environment())
        if status != 1 or not err.startswith("hlguest: standard input: is cut off"):
            yield f"a slow one is wrong first, {jobs}: {status}, {err}"
    _, err, status = bench.run("merge", "-o", "/dev/full", *good)
    if status != 1 or "No space" not in err:
        yield f"full: {status}, {err}"


def words_are_not_believed(bench):
    """A part that does not fit makes the sum's check worse, whatever the part says."""
    from hostile import blob, fields, number  # pylint: disable=import-outside-toplevel
    _, _, status = bench.run("report", "-q", "--format=pprof", "-o", "bad", "--strict-base",
                             "guest.elf@0x4007", "--force", bench.rec[0])
    data = b""
    for field, value in fields(gzip.decompress(bench.read("bad"))):
        if field == 2000:  # Extra, whose check 38 says in its field 1 how it was
            value = b"".join(
                blob(f, number(1, 1)) if f == 38 else
                blob(f, v) if isinstance(v, bytes) else number(f, v)
                for f, v in fields(value))
        data += blob(field, value) if isinstance(value, bytes) else number(field, value)
    bench.write("forged", gzip.compress(data))
    bench.save("good", bench.rec[0])
    bench.must("merge", "-o", "sum", "forged", "good")
    for words, wanted in ((["guest.elf@0x4007", "forged"], "mismatch"),
                          (["guest.elf", "good"], "verified"),
                          (["guest.elf@0x4007", "sum"], "mismatch")):
        out, err, _ = bench.run("report", "--format=json", "--strict-base", *words)
        verdict = json.loads(out)["trust"]["verdict"]
        if verdict != wanted:
            yield f"{words}: {verdict}, {status}, {err}"


def odd_threads(bench):
    """Threads as only a damaged recording has them are saved, and read again."""
    bench.write("odd.data", forged.recording(b"".join(
        forged.sample(0x52b0, pid, tid, 1000 + i) for i, (pid, tid) in enumerate(
            ((1, 1), (2 ** 32 - 1, 2 ** 32 - 1), (2 ** 31, 2 ** 31), (7, 2 ** 32 - 2))))))
    words = ("--by=pid,tid", "--force")
    bench.save("odd", *words, "odd.data")
    bench.must("merge", "-o", "sum", "odd")
    series = [sorted({name for f in bench.json(*words, name)["functions"] for name in f["series"]})
              for name in ("odd.data", "odd", "sum")]
    if len(series[0]) != 4 or series[1:] != series[:1] * 2:
        yield f"{series}"


def bases_that_overlap(bench):
    """Of a guest whose base is to be found all samples are brought to one: the least that was
    saved, in whatever order."""
    for i, base in enumerate((0x4800, 0x4000, 0x4400)):
        bench.write(f"{i}.data", recording.shifted(bench.read(bench.rec[0]), 0, base - 0x4000))
        bench.must("report", "-q", "--format=pprof", "--border=keep", "-o", f"{i}.pb.gz",
                   f"guest.elf@{base:#x}", f"{i}.data")
    for order in (0, 1, 2), (1, 2, 0), (2, 0, 1):
        bench.must("merge", "-q", "-o", "all.pb.gz", *(f"{i}.pb.gz" for i in order))
        out = bench.must("report", "--top=1", "--region=0", "--border=keep", "guest.elf@auto",
                         "all.pb.gz")
        if "base 0x4000 (found from the samples)" not in out or "3 recordings" not in out or \
                "check     OK: all" not in out:
            yield f"{order}: {out}"


def large(bench):
    """A profile that is read at several times, as the first reading has no room for it."""
    name = random.Random(1).randbytes(1 << 19).hex().encode()
    bench.write("large.elf", forged.Elf().symbols(
        [(1, forged.TEXT, 16)], b"\0" + name + b"\0").build())
    bench.write("large.data", forged.recording(forged.sample()))
    bench.must("report", "-q", "--format=pprof", "-o", "large", "large.elf", "large.data")
    bench.must("merge", "-o", "sum", "large")
    n = len(bench.read("large"))
    if n <= 1 << 18 or bench.read("sum") != bench.read("large"):
        yield f"{n} bytes, and of it alone {len(bench.read('sum'))}"


def main():
    args = parser(__doc__).parse_args()
    sys.path.insert(1, os.path.join(sys.path[0], "../peers/pprof"))
    tap = Tap()
    checks = (("parts of a list", parts), ("lists", lists), ("recordings not read", unread),
              ("profiles not read", failures), ("words of a part", words_are_not_believed), ("odd threads", odd_threads),
              ("bases that overlap", bases_that_overlap), ("a large profile", large))
    for name, check in checks:
        with tempfile.TemporaryDirectory(prefix="merge-") as folder:
            tap.run(name, lambda c=check, f=folder: list(c(Bench(args.build, f))))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
