# SPDX-License-Identifier: GPL-2.0-only
"""What is made large, and what is done with it.

A case has a name, the size it is called by, and make(tools, folder, n): writes its inputs
of that size and gives (label, command, exit status or statuses) of each run.
"""
import os
import random
import struct
import subprocess

import grow
import large
from large import BASE, CODE, PAGE, samples
from tap import DATA

FORMATS = ("text", "csv", "json", "folded", "pprof", "callgrind", "speedscope")
START = BASE + PAGE
HOST = 0x400000  # where the VMM's ELF lies
VMM = 10000  # functions in it


class Tools:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.hlguest = os.path.join(self.build, "tools/hlguest")
        self.filter = os.path.join(self.build, "filter/hlguest.so")

    def verb(self, verb, *words):
        return [self.hlguest, verb, *words]

    def perf(self, data, *dlargs):
        return ["perf", "script", "-i", data, "--dlfilter", self.filter,
                *(word for arg in dlargs for word in ("--dlarg", arg))]


class Case:
    def __init__(self, name, n, make, parts=(4, 2, 1)):
        self.name, self.n, self.make, self.parts = name, n, make, parts


def at(path):
    return f"{path}@{BASE:#x}"


def guest_of(folder, n):
    path = os.path.join(folder, "guest.elf")
    return at(large.elf(path, large.functions(n)))


def all_formats(tools, words, folder, formats=FORMATS, more=()):
    for form in formats:
        out = os.path.join(folder, "out." + form)
        yield f"report {form}", tools.verb("report", "-q", f"--format={form}", f"--out={out}",
                                           *more, *words), 0
        if os.path.exists(out):
            os.unlink(out)


def make_symbols(tools, folder, n):
    """n functions, 10,000 samples anywhere."""
    guest, rng = guest_of(folder, n), random.Random(1)
    data = samples(os.path.join(folder, "a.data"),
                   (START + rng.randrange(n * CODE) for _ in range(10000)))
    yield "report", tools.verb("report", "-q", guest, data), 0
    yield "report csv, all rows", tools.verb("report", "-q", "--format=csv", "--top=0",
                                             guest, data), 0
    yield "lookup", tools.verb("lookup", guest, hex(START + n * CODE // 2)), 0
    yield "kallsyms", tools.verb("kallsyms", guest), 0
    yield "base", tools.verb("base", "-q", guest, data), (0, 1)  # none stands out
    yield "inject", tools.verb("inject", "-q", guest, data, "-o",
                               os.path.join(folder, "o.data")), 0
    yield "perf script with the filter", tools.perf(data, guest), 0


def make_ips(tools, folder, n):
    """n addresses with a sample, in a tenth as many functions."""
    symbols = [(large.name_of(i), PAGE + i * 160, 160) for i in range(n // 10 + 1)]
    guest = at(large.elf(os.path.join(folder, "guest.elf"), symbols))
    data, other = (samples(os.path.join(folder, name), (
        START + ip * 16 + 15 for ip in random.Random(seed).sample(range(n), n)))
        for name, seed in (("a.data", 1), ("b.data", 2)))
    yield from all_formats(tools, [guest, data], folder)
    yield "diff", tools.verb("diff", "-q", guest, data, other), 0
    yield "annotate", tools.verb("annotate", "-q", guest, data), 0
    yield "flame", tools.verb("flame", "-q", "-o", os.path.join(folder, "f.svg"), guest,
                              data), 0
    yield "perf script with the filter", tools.perf(data, guest), 0


def make_tids(tools, folder, n):
    """n threads with samples, then with a stack of their own each."""
    guest = guest_of(folder, 100)
    data = samples_of_tids(os.path.join(folder, "a.data"), n)
    for form in ("text", "csv", "json", "pprof"):
        yield f"report by=tid {form}", tools.verb("report", "-q", "--by=tid", "--force",
                                                  f"--format={form}", guest, data), 0
    yield "annotate by=tid", tools.verb("annotate", "-q", "--by=tid", "--force", guest,
                                        data), 0
    yield "perf script with the filter, by=tid", tools.perf(data, guest, "by=tid",
                                                            "force=yes"), 0
    data = marked(os.path.join(folder, "b.data"), n, lambda i: [i % 100], n)
    for form in ("text", "folded", "json"):
        yield f"report callgraph by thread {form}", tools.verb(
            "report", "-q", "--stacks=callgraph", "--roots=tid", "--force",
            f"--format={form}", guest, data), 0


def samples_of_tids(path, n):
    with large.Recording(path) as r:
        for i in range(2 * n):
            r.sample(START + i * 7 % 100 * CODE, tid=100 + i % n)
    return path


def frame(i):
    """The host's address of a function of marked()'s VMM, one of VMM."""
    return HOST + PAGE + i % VMM * CODE + 1


def marked(path, n, chain, tids=1):
    """n entries of a VMM with callchains, a guest sample behind each."""
    vmm = large.elf(path + ".vmm", large.functions(VMM, lambda i: b"vmm_%d" % i))
    with large.Recording(path, (large.CLOCK, large.ENTRY), chains=True) as r:
        r.map(vmm, HOST, PAGE + VMM * CODE)
        for i in range(n):
            tid = 71 + i % tids
            r.sample(frame(0), tid=tid, event=1, mode=large.HOST_USER,
                     chain=[large.CONTEXT_USER, *map(frame, chain(i))])
            r.sample(START + i % 100 * CODE, tid=tid)
    return path


def callgraphs(tools, guest, data, folder):
    for form in ("text", "folded", "json", "speedscope"):
        yield f"report callgraph {form}", tools.verb(
            "report", "-q", "--stacks=callgraph", "--force", f"--format={form}", guest,
            data), 0
    yield "flame", tools.verb("flame", "-q", "--force", "--stacks=callgraph", "-o",
                              os.path.join(folder, "f.svg"), guest, data), 0


def make_stacks(tools, folder, n):
    """n distinct stacks of 10 frames, of 4,096 functions."""
    data = marked(os.path.join(folder, "a.data"), n, lambda i: [
        i >> k & 0xfff for k in (0, 4, 8, 12, 16, 3, 7, 11, 15, 19)])
    yield from callgraphs(tools, guest_of(folder, 100), data, folder)


def make_deep(tools, folder, n):
    """Stacks of n frames, 64 of them that differ at the bottom: nothing is shared."""
    data = marked(os.path.join(folder, "a.data"), 64, lambda i: [
        *range(n - 1), VMM - 1 - i])
    yield from callgraphs(tools, guest_of(folder, 100), data, folder)


def make_files(tools, folder, n):
    """n recordings in one command, of 20 samples each, and as many saved profiles."""
    guest, rng, data, saved = guest_of(folder, 1000), random.Random(1), [], []
    for i in range(n):
        data.append(samples(os.path.join(folder, f"{i}.data"), (
            START + rng.randrange(1000 * CODE) for _ in range(20))))
    one = os.path.join(folder, "one.pb.gz")
    yield "report pprof of one", tools.verb("report", "-q", "--force", "--format=pprof",
                                            f"--out={one}", guest, data[0]), (0, 3)
    yield "report", tools.verb("report", "-q", guest, *data), 0
    yield "report -j2", tools.verb("report", "-q", "-j2", guest, *data), 0
    yield "flame", tools.verb("flame", "-q", "-o", os.path.join(folder, "f.svg"), guest,
                              *data), 0
    yield "diff", tools.verb("diff", "-q", guest, *data[::2], "--after", *data[1::2]), 0
    for i in range(n if os.path.exists(one) else 0):
        saved.append(os.path.join(folder, f"{i}.pb.gz"))
        os.link(one, saved[-1])
    yield "merge", tools.verb("merge", "-q", "-o", os.path.join(folder, "sum.pb.gz"),
                              *saved), 0


def long_name(i):
    return (b"long_%07d_" % i).ljust(65535, b"x")


def mangled_name(i):
    """Some that are read, and some that would be for long."""
    kinds = (b"_ZN" + b"3abc" * 200 + b"7f%06dEv" % (i % 1000000),
             b"_ZN" + b"3abc" * 12000 + b"7f%06dEv" % (i % 1000000),
             b"_ZN" + b"3abc" * 9000 + b"17h%016xE" % i,
             b"_RNvC7f%06du50000" % (i % 1000000) + b"b" * 50000,
             b"_RNvMIC7f%06dT" % (i % 1000000) + b"FGzzzz_Eu" * 6000 + b"EEu1f",
             b"_Z7f%06dDp1bI1aIiiE" % (i % 1000000) + b"".join(
                 b"S0_IS%c_S%c_E" % (c, c) for c in b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") +
             b"E")
    return kinds[i % len(kinds)]


def make_names(name):
    def make(tools, folder, n):
        """n functions with names of up to 64 KiB, and a sample in each."""
        guest = at(large.elf(os.path.join(folder, "guest.elf"), large.functions(n, name)))
        data = samples(os.path.join(folder, "a.data"), (
            START + i * CODE + k for i in range(n) for k in (0, 15)))
        yield from all_formats(tools, [guest, data], folder, more=("--top=0",))
        yield "flame", tools.verb("flame", "-q", "-o", os.path.join(folder, "f.svg"), guest,
                                  data), 0
        yield "annotate", tools.verb("annotate", "-q", guest, data), 0
        yield "diff", tools.verb("diff", "-q", guest, data, data), 0
        yield "perf script with the filter", tools.perf(data, guest, "top=0"), 0
    return make


def make_images(tools, folder, n):
    """n images of one length, side by side, with 10 samples in each; another build of each."""
    images, builds = ([f"{large.elf(os.path.join(folder, f'{i}{b}.elf'), image(i, b))}@"
                       f"{BASE + i * 0x10000:#x}" for i in range(n)] for b in "ab")
    data = samples(os.path.join(folder, "a.data"), (
        START + i * 0x10000 + k * CODE for i in range(n) for k in range(10)))
    yield "report", tools.verb("report", "-q", *images, data), 0
    yield "report csv", tools.verb("report", "-q", "--format=csv", *images, data), 0
    yield "lookup", tools.verb("lookup", *images, hex(START)), 0
    yield "diff", tools.verb("diff", "-q", *images, data, "--after", *builds, data), 0
    yield "perf script with the filter", tools.perf(data, *images), 0


def image(i, build):
    return large.functions(50, lambda k: b"function_%04d_%02d%c" % (i, k, ord(build)))


def make_windows(tools, folder, n):
    import long_windows
    data = os.path.join(folder, "a.data")
    long_windows.repeat(os.path.join(DATA, "demo-windows.data"), n, data)
    for form in ("csv", "json", "svg"):
        yield f"windows {form}", tools.verb("windows", "-q", f"--format={form}",
                                            os.path.join(DATA, "demo.elf"), data), 0
    yield "windows --summary", tools.verb("windows", "-q", "--summary",
                                          os.path.join(DATA, "demo.elf"), data), 0


def make_sysprof(tools, folder, n):
    """A stream of n bytes."""
    data = large.sysprof(os.path.join(folder, "a.bin"), n)
    for form in ("text", "folded", "json"):
        yield f"sysprof {form}", tools.verb("sysprof", f"--format={form}", data), 0


def make_pprof(tools, folder, n):
    """Two profiles of n addresses each, half of them in both."""
    guest, saved = guest_of(folder, n), []
    for i in range(2):
        data = samples(os.path.join(folder, f"{i}.data"), (
            START + (k + i * n // 2) % n * CODE for k in range(n)))
        saved.append(os.path.join(folder, f"{i}.pb.gz"))
        yield f"report pprof {i}", tools.verb("report", "-q", "--format=pprof",
                                              f"--out={saved[-1]}", guest, data), 0
    yield "merge", tools.verb("merge", "-q", "-o", os.path.join(folder, "sum.pb.gz"),
                              *saved), 0
    yield "report of them", tools.verb("report", "-q", guest, *saved), 0
    yield "diff", tools.verb("diff", "-q", guest, *saved), 0


def make_vcpus(tools, folder, n):
    """n vCPUs that leave the guest and enter it ten times each."""
    import known_exits
    import splice
    made_of, ips = splice.File(), known_exits.places()["hash_block"]
    maker, records = splice.Maker(made_of), []
    for i in range(10 * n):
        tid, time = 5000 + i % n, 10 ** 9 + i * 1000
        records.append((time, maker.sample("kvm_exit", time, 0, 4711, tid, exit_reason=12,
                                           guest_rip=ips[i % 64 % len(ips)], isa=1, vcpu_id=i % n)))
        records.append((time + 500, maker.sample("kvm_entry", time + 500, 0, 4711, tid,
                                                 vcpu_id=i % n, rip=0x5000)))
    data = os.path.join(folder, "a.data")
    made_of.write(data, bytearray(b"".join(record for _, record in sorted(records))))
    guest = f"{os.path.join(DATA, 'demo.elf')}@0x4000"
    for more in ([], ["--by=tid"], ["--by=tid", "--format=json", "--exact"]):
        yield " ".join(["exits", *more]), tools.verb("exits", "-q", *more, guest, data), 0


def make_large(tools, folder, n):
    """One function of n bytes, a sample at every 16th instruction or so."""
    guest = at(large.elf(os.path.join(folder, "guest.elf"), [(b"large", PAGE, n)]))
    data = samples(os.path.join(folder, "a.data"), range(START, START + n, 256))
    for form in ("text", "json"):
        yield f"annotate {form}", tools.verb("annotate", "-q", f"--format={form}", guest,
                                             data), 0
    yield "report", tools.verb("report", "-q", guest, data), 0
    yield "report callgrind", tools.verb("report", "-q", "--format=callgrind", guest, data), 0


def make_map(tools, folder, n):
    """A perf map of n lines."""
    path = large.perf_map(os.path.join(folder, "perf-1.map"), n)
    data = samples(os.path.join(folder, "a.data"), (
        BASE + random.Random(1).randrange(n * CODE) for _ in range(10000)))
    yield "report", tools.verb("report", "-q", f"map:{path}", data), 0
    yield "lookup", tools.verb("lookup", f"map:{path}", hex(BASE + n * 8)), 0
    yield "perf script with the filter", tools.perf(data, f"map:{path}"), 0


def make_headers(sections, segments):
    def make(tools, folder, n):
        """An ELF of so many sections, or program headers, that it needs another count."""
        guest = at(large.elf(os.path.join(folder, "guest.elf"), large.functions(1000),
                            sections=n * sections, segments=n * segments + 1))
        data = samples(os.path.join(folder, "a.data"), (
            START + i * CODE for i in range(1000)))
        yield "report", tools.verb("report", "-q", guest, data), (0, 1)
        yield "lookup", tools.verb("lookup", guest, hex(START)), (0, 1)
        yield "inject", tools.verb("inject", "-q", guest, data, "-o",
                                   os.path.join(folder, "o.data")), (0, 1)
        yield "perf script with the filter", tools.perf(data, guest), (0, 1)
    return make


def make_events(tools, folder, n):
    """n events with a sample each, and groups that say that all are theirs. In pprof's format
    each place has values of all events."""
    guest = guest_of(folder, 100)
    data = os.path.join(folder, "a.data")
    with large.Recording(data, [(f"event-{i}", 1, i) for i in range(n)]) as r:
        r.groups = 30 * n
        for i in range(n):
            r.sample(START + i % 100 * CODE, event=i)
    yield "report", tools.verb("report", "-q", "--force", guest, data), (0, 3)
    yield "report csv", tools.verb("report", "-q", "--force", "--format=csv", guest,
                                   data), (0, 3)
    many = at(large.elf(os.path.join(folder, "many.elf"), large.functions(n)))
    with large.Recording(data, [(f"event-{i}", 1, i) for i in range(n)]) as r:
        for i in range(n):
            r.sample(START + i * CODE, event=i)
    # Of more its format has no room.
    yield "report pprof of events", tools.verb(
        "report", "-q", "--force", "--format=pprof", f"--out={data}.pb.gz", many, data), (0, 1, 3)
    yield "merge of events", tools.verb("merge", "-q", "-j1", "-o", f"{data}.2.pb.gz", f"{data}.pb.gz",
                                        f"{data}.pb.gz"), (0, 1)


def make_bases(tools, folder, n):
    """One guest at n bases, 40 samples at each."""
    rng, guest = random.Random(1), os.path.join(DATA, "demo.elf")
    boundaries = grow.Growable(guest).boundaries
    data = os.path.join(folder, "a.data")
    with large.Recording(data) as r:
        for i in range(n):
            for _ in range(40):
                r.sample(0x100000 * (i + 1) + rng.choice(boundaries), tid=100 + i)
    saved = os.path.join(folder, "a.pb.gz")
    yield "report", tools.verb("report", "-q", f"{guest}@auto", data), 0
    yield "report pprof of bases", tools.verb("report", "-q", "--format=pprof", f"--out={saved}",
                                              f"{guest}@auto", data), 0
    yield "report of them", tools.verb("report", "-q", f"{guest}@auto", saved), 0


def repeated(tools, folder, n):
    """A recording of about n bytes, 48 each sample."""
    data = os.path.join(folder, "a.data")
    subprocess.run([os.path.join(tools.build, "tests/bench/repeat"), f"--samples={n // 40}",
                    os.path.join(DATA, "demo-user.data"), data], check=True)
    return data


def make_long(tools, folder, n):
    guest = os.path.join(DATA, "demo.elf")
    data = repeated(tools, folder, n)
    yield "report", tools.verb("report", "-q", guest, data), 0
    yield "report -j2", tools.verb("report", "-q", "-j2", guest, data), 0


def make_sparse(tools, folder, n):
    """A recording that says it has n bytes of records, most of which are a hole."""
    data = samples(os.path.join(folder, "a.data"), (START + i for i in range(1000)))
    with open(data, "r+b") as f:
        f.seek(48)
        f.write(struct.pack("<Q", n))
        f.truncate(n + 4096)
    guest = guest_of(folder, 100)
    yield "report", tools.verb("report", "-q", "--force", guest, data), (0, 1, 3)
    yield "report -j2", tools.verb("report", "-q", "--force", "-j2", guest, data), (0, 1, 3)
    yield "inject", tools.verb("inject", "-q", "--force", guest, data, "-o",
                               os.path.join(folder, "o.data")), (0, 1, 3)


CASES = (
    Case("symbols", 1000000, make_symbols),
    Case("addresses", 1000000, make_ips),
    Case("threads", 100000, make_tids),
    Case("files", 10000, make_files),
    Case("long names", 2000, make_names(long_name)),
    Case("mangled names", 6000, make_names(mangled_name)),
    Case("images", 1000, make_images),
    Case("stacks", 1000000, make_stacks),
    Case("deep stacks", 8000, make_deep),
    Case("windows", 1000000, make_windows),
    Case("sysprof", 1 << 30, make_sysprof),
    Case("profiles", 1000000, make_pprof),
    Case("vCPUs", 10000, make_vcpus),
    Case("one function", 10 << 20, make_large),
    Case("map", 1000000, make_map),
    Case("sections", 1000000, make_headers(1, 0)),
    Case("segments", 100000, make_headers(0, 1)),
    Case("events", 60000, make_events),
    Case("bases", 12000, make_bases),
    Case("sparse", 10 << 30, make_sparse),
    Case("bytes", 10 << 30, make_long),
)
