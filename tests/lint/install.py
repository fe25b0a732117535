#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is installed is found by perf, and is nothing but a filter.

    install.py --build DIR

Installs into a temporary folder, makes that perf's exec path (PERF_EXEC_PATH), and asks
perf to list the filter and to run it by its bare name from another folder. Then the
filter's exports (a callback that is hidden is not called, and perf says nothing) and
what it needs at run time (a library that is missing, neither).
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from tap import DATA, Skip, Tap, environment, filter_of, must, need, parser, run

EXPORTS = ["filter_description", "filter_event_early", "perf_dlfilter_fns", "start",
           "stop"]
KEYS = ["gaps", "region", "weight", "event", "pid", "tid", "cpu", "time", "mode", "by",
        "top", "min", "demangle", "aliases", "format", "out", "emit"]


def install(build, folder):
    """Returns the folder that hlguest.so was installed into."""
    need("meson")
    subprocess.run(
        ["meson", "install", "-C", build, "--no-rebuild", "--destdir", folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True,
    )
    found = [top for top, _, names in os.walk(folder) if "hlguest.so" in names]
    if len(found) != 1:
        raise RuntimeError(f"hlguest.so is installed in {len(found)} folders")
    return found[0]


def check_place(place):
    """The last part is perf's: EXEC_PATH/dlfilters."""
    wrong = []
    if os.path.basename(place) != "dlfilters":
        wrong.append(f"installed into {place}, not into a folder `dlfilters`")
    mode = os.stat(os.path.join(place, "hlguest.so")).st_mode & 0o777
    if mode & 0o444 != 0o444:
        wrong.append(f"not readable for all: mode {mode:o}")
    return wrong


def check_list(env):
    out = must("perf", "script", "-v", "--list-dlfilters", env=env)
    wrong = []
    if not re.search(r"^ *hlguest\.so +\S", out, re.M):
        return ["perf script --list-dlfilters does not list hlguest.so", out]
    for key in KEYS:
        if not re.search(rf"^ *{key}=", out, re.M):
            wrong.append(f"the description does not tell {key}=")
    wrong += [f"longer than 80 columns, as perf indents it by 39: {line}"
              for line in out.split("\n") if len(line) > 39 + 80]
    return wrong


def check_bare_name(build, env, cwd):
    """The same report as by path, from a folder in which there is no filter."""
    recording = os.path.join(DATA, "demo-user.data")
    argv = ["perf", "script", "-i", recording, "--dlarg", os.path.join(DATA, "demo.elf")]
    bare = run(*argv, "--dlfilter", "hlguest.so", cwd=cwd, env=env)
    path = run(*argv, "--dlfilter", filter_of(build), cwd=cwd)
    if bare[2] or not bare[0].startswith("guest "):
        return [f"status {bare[2]}", bare[1]]
    return [] if bare == path else ["another report than by path"]


def check_exports(build):
    need("nm")
    out = must("nm", "-D", "--defined-only", filter_of(build))
    exports = sorted(line.split()[-1] for line in out.splitlines())
    if exports != EXPORTS:
        return [f"exports {' '.join(exports)}"]
    if not re.search(r"^[0-9a-f]+ [BD] perf_dlfilter_fns$", out, re.M):
        return ["perf_dlfilter_fns is not writable data"]
    return []


def libraries(path):
    """Name without version of each library, direct and indirect: its path."""
    found = {}
    for line in must("ldd", path).splitlines():
        match = re.match(r"\s*(\S+?)\.so\S*(?: => (\S+))? \(", line)
        if match:
            found[os.path.basename(match[1])] = match[2]
        elif "not found" in line:
            raise RuntimeError(line.strip())
    return found


def check_needs(build):
    """libelf and what it needs itself; libc and libm, which perf has, too. No Zydis: each
    Debian has another one, which is opened at run time."""
    need("ldd")
    needs = libraries(filter_of(build))
    if any(name in needs for name in ("libasan", "libubsan", "libtsan")):
        raise Skip("a build with sanitizers needs their libraries")
    if "libelf" not in needs:
        return ["libelf is not among what it needs"]
    allowed = {"linux-vdso", "libelf", "libm", "libc"}
    allowed |= set(libraries(needs["libelf"]))
    extra = sorted(name for name in set(needs) - allowed if not name.startswith("ld-"))
    return [f"needs {name} at run time" for name in extra]


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    tap.run("exports the filter's five symbols and no other", check_exports, args.build)
    tap.run("needs libelf, libc and libm only", check_needs, args.build)
    with tempfile.TemporaryDirectory(prefix="install-") as folder:
        try:
            need("perf")
            place = install(args.build, folder)
        except Skip as e:
            tap.skip("installed", e)
            return tap.finish()
        env = environment(PERF_EXEC_PATH=os.path.dirname(place))
        tap.run("installed as perf's", check_place, place)
        tap.run("perf lists it with all its options", check_list, env)
        tap.run("works by its bare name, from another folder", check_bare_name,
                args.build, env, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
