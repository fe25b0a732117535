#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does hlguest build for arm64, and do its tests pass there, under qemu-user?

    arm64.py [--build DIR] [TEST...]

Debian 12's cross compiler builds it; the libraries are Debian's for arm64, unpacked below
~/.cache/hlguest/arm64 and not installed. The kernel is told in a user namespace of its own
(binfmt_misc, Linux 6.7 or later) that qemu-aarch64 runs such programs: nothing of the machine
changes. perf is arm64's, too. What needs a guest that runs, perf_event_open or a browser is
left out, and the tests of EXCEPT, each with the reason.
"""
import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
                     "hlguest", "arm64")
SYSROOT = os.path.join(CACHE, "root")
PACKAGES = ("libc6-dev libelf-dev libiberty-dev libzydis-dev libcapstone-dev libjansson-dev "
            "libdw-dev libzstd-dev libprotobuf-c-dev zlib1g-dev check linux-perf").split()
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
QEMU = ("/usr/bin/qemu-aarch64-static", "/usr/bin/qemu-aarch64")
SUITES = ("symtab", "filter", "perfdata", "golden", "tools", "diff", "inject", "exits")
# Tests' own limits of time are for a processor.
SLOWER = 10
EXCEPT = {
    "hlguest pprof": "takes 8 minutes",
    "mishaps": "asks calibrate, whose guests are for x86-64",
    "perfdata against perf": "arm64's perf does not know which of x86's addresses are the kernel's",
}
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000  # <linux/sched.h>
MS_BIND = 4096  # <sys/mount.h>
EVERYBODYS = "/mnt"
# ELF64, little-endian, ET_EXEC or ET_DYN, EM_AARCH64; O, C, F: see binfmt-misc.rst.
BINFMT = (r":hlguest-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00"
          r"\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff"
          r"\xff\xff:{}:OCF")
CROSS = """[binaries]
c = [{ccache}'aarch64-linux-gnu-gcc']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['{qemu}', '-L', '{root}']

[properties]
sys_root = '{root}'
pkg_config_libdir = ['{root}/usr/lib/aarch64-linux-gnu/pkgconfig',
  '{root}/usr/share/pkgconfig']

[built-in options]
c_args = ['--sysroot={root}']
c_link_args = ['--sysroot={root}']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def fail(text):
    sys.exit(f"arm64.py: {text}")


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def first(paths):
    return next((path for path in paths if os.path.exists(path)), None)


def unpack(packages=PACKAGES, name="packages"):
    """Debian's arm64 packages and all they need, by an apt that knows no other machine; the
    file NAME says which are there."""
    done = os.path.join(CACHE, name)
    if os.path.exists(done) and open(done, encoding="ascii").read() == " ".join(packages):
        return
    apt = os.path.join(CACHE, "apt")
    for folder in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(apt, folder), exist_ok=True)
    write(os.path.join(apt, "status"), "")
    write(os.path.join(apt, "conf"), f"""APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Debug::NoLocking "true";
Dir::State "{apt}/state";
Dir::State::status "{apt}/status";
Dir::Cache "{apt}/cache";
Dir::Etc::sourcelist "{first(SOURCES)}";
Dir::Etc::sourceparts "-";
""")
    env = {**os.environ, "APT_CONFIG": os.path.join(apt, "conf")}
    for words in (["update"], ["install", "-y", "--download-only", *packages]):
        got = subprocess.run(["apt-get", "-q", *words], env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if got.returncode:
            fail(f"{got.stdout[-2000:]}\napt-get {words[0]}: failed (see above)")
    for package in glob.glob(os.path.join(apt, "cache/archives/*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, SYSROOT], check=True)
    write(done, " ".join(packages))


def setup_perf():
    """A folder whose perf is arm64's: Debian's own is a script that asks the kernel."""
    found = glob.glob(os.path.join(SYSROOT, "usr/bin/perf_*")) or \
        glob.glob(os.path.join(SYSROOT, "usr/bin/perf"))
    folder = os.path.join(CACHE, "bin")
    os.makedirs(folder, exist_ok=True)
    link = os.path.join(folder, "perf")
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(found[0], link)
    return folder


def enter(qemu):
    """Goes on in a namespace where arm64's programs run, with all users that root has."""
    libc = ctypes.CDLL(None, use_errno=True)
    root, user = os.geteuid() == 0, os.getuid()
    ready, mapped = os.pipe(), os.pipe()
    child = os.fork()
    if child:
        os.read(ready[0], 1)
        if not root:
            write(f"/proc/{child}/setgroups", "deny")
        for ids, own in (("uid_map", user), ("gid_map", os.getgid())):
            write(f"/proc/{child}/{ids}", "0 0 4294967295" if root else f"{own} {own} 1")
        os.write(mapped[1], b"+")
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        fail(f"no user namespace can be had: {os.strerror(ctypes.get_errno())}")
    os.write(ready[1], b"+")
    os.read(mapped[0], 1)
    folder = os.path.join(CACHE, "binfmt")
    os.makedirs(folder, exist_ok=True)
    if libc.mount(b"binfmt_misc", folder.encode(), b"binfmt_misc", 0, None):
        fail("binfmt_misc: cannot be mounted in a user namespace: "
             f"{os.strerror(ctypes.get_errno())} (Linux 6.7 or later)")
    write(os.path.join(folder, "register"), BINFMT.format(qemu))
    # Other users run tests, too, who may not look into root's home.
    if libc.mount(SYSROOT.encode(), EVERYBODYS.encode(), None, MS_BIND, None):
        fail(f"{EVERYBODYS}: cannot be mounted on: {os.strerror(ctypes.get_errno())}")


def tests_of(build, wanted):
    """Names of what is to be run."""
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return [t["name"] for t in listed
            if (t["name"] in wanted if wanted else
                t["name"] not in EXCEPT and
                {s.split(":")[1] for s in t["suite"]} & {*SUITES} and
                not {s.split(":")[1] for s in t["suite"]} & {"slow", "fuzz"})]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build/arm64"))
    parser.add_argument("tests", metavar="TEST", nargs="*", help="only these")
    args = parser.parse_args()
    qemu = first(QEMU)
    if not qemu:
        fail("no qemu-aarch64 (install qemu-user)")
    os.makedirs(CACHE, exist_ok=True)
    unpack()
    cross = os.path.join(CACHE, "cross.ini")
    write(cross, CROSS.format(root=SYSROOT, qemu=qemu,
                              ccache="'ccache', " if first(["/usr/bin/ccache"]) else ""))
    path = setup_perf() + ":" + os.environ["PATH"]
    sys.stdout.flush()
    enter(qemu)
    os.environ.update(QEMU_LD_PREFIX=EVERYBODYS, CK_TIMEOUT_MULTIPLIER=str(SLOWER))
    if not os.path.exists(os.path.join(args.build, "build.ninja")):
        subprocess.run(["meson", "setup", args.build, ROOT, "--cross-file", cross,
                        "-Dwerror=true", "-Dtests=enabled", "-Dbpf=disabled"], check=True)
    subprocess.run(["ninja", "--quiet", "-C", args.build], check=True)
    os.environ["PATH"] = path
    for name, why in EXCEPT.items():
        print(f"left out: {name}: {why}")
    return subprocess.run(["meson", "test", "-C", args.build, "--no-rebuild",
                           "--print-errorlogs", "-t", str(SLOWER),
                           *tests_of(args.build, args.tests)]).returncode


if __name__ == "__main__":
    sys.exit(main())
