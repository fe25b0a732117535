#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which functions were inlined where, against llvm-symbolizer.

    inlined.py --build DIR [PROGRAM...]

Programs of gcc and clang, with DWARF 4 and 5, and of rustc, each optimized and with much
inlined; in the gate those of DWARF 5 and of one unit. At every fourth byte of their functions hlguest lookup must name the same chain of
inlined functions, as the DWARF has the names, and the same lines that call them.
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import feed, hlguest_of

from tap import Skip, Tap, must, need, parser, some

CXX = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
static int sum(const std::vector<int> &v)
{
	int all = 0;
	for (auto &x : v)
		all += x * 3;
	return all;
}
int main(int argc, char **argv)
{
	std::vector<int> v;
	std::map<std::string, int> m;
	for (int i = 0; i < argc * 100; i++)
		v.push_back((i * 7919) % 1000);
	std::sort(v.begin(), v.end(), [](int x, int y) { return (x ^ 5) < (y ^ 5); });
	for (int x : v)
		m[std::to_string(x) + argv[0]] += sum(v);
	std::stable_sort(v.begin(), v.end());
	return (int)m.size() + v[0];
}
"""
RUST = """
use std::collections::{BTreeMap, HashMap};
fn main() {
    let n = std::env::args().count() as u64 * 100;
    let mut v: Vec<u64> = (0..n).map(|x| (x * 7919) % 1000).collect();
    v.sort_by(|a, b| (a ^ 5).cmp(&(b ^ 5)));
    let mut m: HashMap<u64, String> = HashMap::new();
    let mut b: BTreeMap<String, u64> = BTreeMap::new();
    for x in v.iter() {
        m.entry(*x).or_insert_with(|| format!("{x}")).push('a');
        *b.entry(format!("{x}")).or_default() += v.iter().filter(|y| *y > x).sum::<u64>();
    }
    println!("{} {}", b.len(), m.values().map(|x| x.len()).max().unwrap());
}
"""
BUILDS = {
    **{f"{cc}, DWARF {dwarf}": (CXX, "cc", (cc, f"-gdwarf-{dwarf}", "-O2", "-std=c++17"))
       for cc in ("g++", "clang++") for dwarf in (4, 5)},
    "rustc": (RUST, "rs", ("rustc", "-g", "-O")),
    "rustc, one unit": (RUST, "rs", ("rustc", "-g", "-O", "-C", "lto=fat")),
}
STEP = 4
MANY = 8000  # addresses: of more the gate asks for each second, third...
LEAST = 100  # addresses in inlined code: fewer would say little


def build(folder, source, end, command):
    need(command[0])
    path = os.path.join(folder, "program")
    with open(f"{path}.{end}", "w", encoding="utf-8") as f:
        f.write(source)
    must(*command, f"{path}.{end}", "-o", path)
    return path


def addresses(path):
    found = set()
    for line in must("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] == "FUNC" and words[6].isdigit():
            start = int(words[1], 16)
            found.update(range(start, start + int(words[2], 0), STEP))
    return sorted(found)


def theirs(path, text):
    """{address: [(function, the line that calls it)]}, innermost first"""
    out, err, status = feed(["llvm-symbolizer", f"--obj={path}", "--functions=linkage",
                             "--no-demangle", "--inlines", "--output-style=JSON"], text)
    if status:
        raise Skip(f"llvm-symbolizer: {err}")
    chains = {}
    for line in out.splitlines():
        answer = json.loads(line)
        symbols = answer["Symbol"]
        chains[int(answer["Address"], 16)] = [
            (of["FunctionName"], (by["FileName"], by["Line"]))
            for of, by in zip(symbols, symbols[1:])]
    return chains


def ours(hlguest, path, text):
    out, err, status = feed([hlguest, "lookup", "--own", "--inlines", "--demangle=no",
                             "--format=json", path], text)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return {int(answer["asked"], 16):
            [(i["name"], (i["file"], i.get("line", 0))) for i in answer.get("inlined", [])]
            for answer in map(json.loads, out.splitlines())}


def same(got, expected):
    """llvm-symbolizer puts the folder of the compilation before names of files."""
    return len(got) == len(expected) and all(
        name == function and line == at and path.endswith(file.removeprefix("./"))
        for (name, (file, line)), (function, (path, at)) in zip(got, expected))


def compare(hlguest, path):
    need("llvm-symbolizer", "readelf")
    addrs = addresses(path)
    addrs = some(addrs, 1 + len(addrs) // MANY)
    text = "".join(f"{a:#x}\n" for a in addrs)
    got, expected = ours(hlguest, path, text), theirs(path, text)
    inlined = sum(bool(expected[a]) for a in addrs)
    print(f"# {len(addrs)} addresses, {inlined} in inlined code, at most "
          f"{max(map(len, expected.values()))} deep")
    if inlined < LEAST:
        yield f"{inlined} addresses of {len(addrs)} are in inlined code"
    for a in addrs:
        if not same(got[a], expected[a]):
            yield f"{a:#x}: {got[a]}, llvm-symbolizer {expected[a]}"


def check(hlguest, source, end, command):
    with tempfile.TemporaryDirectory() as folder:
        return list(compare(hlguest, build(folder, source, end, command)))


def main():
    p = parser(__doc__)
    p.add_argument("programs", nargs="*", metavar="PROGRAM")
    args = p.parse_args()
    hlguest = hlguest_of(args.build)
    tap = Tap()

    for path in args.programs:
        tap.run(path, lambda: list(compare(hlguest, path)))
    for name, how in some(BUILDS.items(), 2, 1) if not args.programs else ():
        tap.run(name, check, hlguest, *how)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
