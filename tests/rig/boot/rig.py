#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands under Debian's own kernel, with KVM, on any machine: QEMU emulates an AMD
processor with SVM. README.md of tests/rig says how tests use this.

    tools/dev rig [OPTION...] -- COMMAND   run a shell's command, exit with its status
    tools/dev rig [OPTION...] shell        a shell there, on this terminal
"""
import argparse
import collections
import gzip
import os
import re
import select
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "kit"))
import bochs
import kernels
from cpio import Archive
from tap import Skip, environment, need

QEMU = "qemu-system-x86_64"
UP, RESULTS, END = b"rig: up\n", b"rig: results\n", b"rig: end\n"  # of init
DISK = 4 << 30  # sparse
# no_timer_check: a busy machine gives QEMU too little time for the test that it turns off.
KERNEL_LINE = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check"

# status: of the script; output: what it printed, both streams; folder: what it left in out/;
# boot: seconds until its first line; seconds: all of it; kernel: the package's name.
Result = collections.namedtuple("Result", "status output folder boot seconds kernel")


class Broken(Exception):
    """The emulated machine did not give the script's status back."""


# What hlguest opens by its name when it needs it (symtab/code/zydis.h).
OPENED = re.compile(rb"\blibZydis\.so\.[0-9.]+")


def loaded_with(path):
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False,
                          env=environment())
    words = done.stdout.split() if done.returncode == 0 else ()
    return [word for word in words if word.startswith("/")]


def opened_by(path):
    with open(path, "rb") as f:
        names = sorted({name.decode() for name in OPENED.findall(f.read())})
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    found = dict(re.findall(r"^\s+(\S+) .*x86-64.* => (\S+)$", known.stdout, re.M))
    return [found[name] for name in names if name in found]


def libraries(path):
    """The files that are loaded with a program or library, and those that it opens itself."""
    own = opened_by(path)
    return sorted({*loaded_with(path), *own, *(lib for one in own for lib in loaded_with(one))})


def add_program(archive, name, path):
    archive.file(name, path)
    with open(path, "rb") as f:
        if f.read(4) != b"\x7fELF":
            return
    for library in libraries(path):
        archive.file(os.path.join("/usr", library.removeprefix("/usr").lstrip("/")), library)


def add_base(archive, kernel):
    """What each run has."""
    need("busybox", "perf", "ldd")
    for name in ("dev", "proc", "sys", "tmp", "root", "run", "rig/out", "usr/bin", "etc"):
        archive.folder(name)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link(name, "usr/" + name)
    archive.link("usr/sbin", "bin")
    archive.file("init", os.path.join(HERE, "init"))
    archive.text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    for module in kernel.modules:
        archive.file(f"modules/{os.path.basename(module)}", module)
    archive.text("modules/order",
                 "".join(f"{os.path.basename(module)}\n" for module in kernel.modules))
    busybox = shutil.which("busybox")
    add_program(archive, "usr/bin/busybox", busybox)
    add_program(archive, "usr/bin/perf", shutil.which("perf"))
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True,
                                 check=True).stdout.split():
        archive.link(f"usr/bin/{applet}", "busybox")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def initramfs(kernel, files, script, out):
    archive = Archive()
    add_base(archive, kernel)
    for name, path in named(files).items():
        add_program(archive, os.path.join("/rig", name), path)
    archive.text("rig/.script", script + "\n")
    with open(out, "wb") as f:
        archive.write(f)


def named(files):
    """{name there: path here}; a list of paths keeps their last names."""
    if isinstance(files, dict):
        return files
    return {os.path.basename(path): path for path in files}


def prepare(folder, kernel, files, script, memory, terminal=False, vmx=None):
    """What QEMU, or Bochs, is called with; all that it opens is in folder, and the kernel."""
    chosen = kernels.kernel(kernel)
    initramfs(chosen, files, script, os.path.join(folder, "initramfs"))
    for name, size in (("disk", DISK), ("console", 0), ("output", 0)):
        with open(os.path.join(folder, name), "wb") as f:
            f.truncate(size)
    line = KERNEL_LINE + (" rig.terminal" if terminal else "")
    if vmx:
        return chosen, bochs.command(folder, chosen, line, memory, vmx)
    need(QEMU)
    argv = [QEMU, "-accel", "tcg", "-cpu", "max,+svm,+npt", "-m", str(memory), "-nodefaults",
            "-display", "none", "-no-reboot", "-no-user-config",
            "-kernel", chosen.image, "-initrd", os.path.join(folder, "initramfs"),
            "-append", line, "-serial", "file:" + os.path.join(folder, "console"),
            "-chardev", f"stdio,id=user,signal={'off' if terminal else 'on'}",
            "-serial", "chardev:user",
            "-drive", f"if=virtio,format=raw,file={os.path.join(folder, 'disk')}"]
    return chosen, argv


def run(script, files=(), *, into, kernel="6.1", icount=None, plugin=None, memory=2048,
        timeout=300, echo=None, vmx=None):
    """
    Runs a shell script in /rig of the emulated machine, where files lie (paths, or {name
    there: path here}), programs with their libraries; perf and busybox are there always.
    What it leaves in /rig/out is put into the folder `into`. icount and plugin are QEMU's
    (plugin: one argument or a list of them). echo: a binary stream that gets the output as
    it comes. vmx: (archive, SHA-256) of Bochs's source, which then runs it in place of QEMU,
    without icount and plugin. Returns a Result; raises Skip where something is missing here, Broken if the
    machine died or took more than timeout seconds.
    """
    with tempfile.TemporaryDirectory(prefix="rig-") as folder:
        chosen, argv = prepare(folder, kernel, files, script, memory, vmx=vmx)
        argv += ["-icount", icount] if icount else []
        for one in [plugin] if isinstance(plugin, str) else plugin or ():
            argv += ["-plugin", one]
        began = time.monotonic()
        if vmx:
            boot, output = watch_bochs(argv, folder, began + timeout, echo)
        else:
            boot, output = watch(argv, began + timeout, echo)
        seconds = time.monotonic() - began
        status = results(folder, into)
        if status is None:
            console = read(os.path.join(folder, "console"))
            why = f"was not done after {timeout} s" if seconds >= timeout else "ended early"
            raise Broken("\n".join([f"the machine {why}", output, console]).rstrip())
    return Result(status, output, into, boot - began if boot else None, seconds, chosen.name)


def watch(argv, end, echo):
    """(when the script began, its output) of QEMU, which is killed at `end`."""
    boot, output = None, b""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          env=environment()) as process:
        try:
            pipe = process.stdout.fileno()
            while select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
                more = os.read(pipe, 1 << 16)
                if not more:
                    break
                output += more
                if boot is None and output.startswith(UP):
                    boot, output = time.monotonic(), output[len(UP):]
                    more = output
                if echo and boot:
                    echo.write(more)
                    echo.flush()
        finally:
            process.kill()
    return boot, output.decode("utf-8", "replace")


def watch_bochs(argv, folder, end, echo):
    """As watch; Bochs writes to a file, and behind the output come the results."""
    boot, seen = None, 0
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=environment()) as process:
        try:
            while True:
                over = process.poll() is not None or time.monotonic() > end
                with open(os.path.join(folder, "output"), "rb") as f:
                    data = f.read()
                if boot is None and data.startswith(UP):
                    boot = time.monotonic()
                output, _, packed = data[len(UP):].partition(RESULTS)
                if echo and len(output) > seen:
                    echo.write(output[seen:])
                    echo.flush()
                    seen = len(output)
                if over or packed.endswith(END):
                    break
                time.sleep(0.1)
        finally:
            process.kill()
    if packed.endswith(END):
        with open(os.path.join(folder, "disk"), "wb") as f:
            f.write(gzip.decompress(packed[:-len(END)]))
    return boot, output.decode("utf-8", "replace")


def results(folder, into):
    """Unpacks what the disk got into a folder; the status, or None if it got none."""
    status = os.path.join(into, ".status")
    os.makedirs(into, exist_ok=True)
    with tarfile.open(os.path.join(folder, "disk"), "r:") as tar:
        for member in tar:
            member.name = os.path.relpath(member.name, "out")
            tar.extract(member, into, set_attrs=False)
    if not os.path.exists(status):
        return None
    code = int(read(status))
    os.unlink(status)
    return code


def shell(files, kernel, memory):
    """A shell in the emulated machine on this terminal."""
    with tempfile.TemporaryDirectory(prefix="rig-") as folder:
        _, argv = prepare(folder, kernel, files, "exec setsid -c sh -i", memory, terminal=True)
        return subprocess.run(argv, check=False).returncode


def arguments():
    parser = argparse.ArgumentParser(prog="tools/dev rig", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=kernels.RELEASES, default="6.1",
                        help="Debian 12's, or 13's")
    parser.add_argument("--put", metavar="FILE", action="append", default=[],
                        help="a file to have in /rig there, a program with its libraries")
    parser.add_argument("--out", metavar="DIR", help="gets what is left in /rig/out there")
    parser.add_argument("--icount", metavar="HOW",
                        help="QEMU's, such as shift=1,sleep=off: an instruction is 2 ns")
    parser.add_argument("--plugin", metavar="FILE,ARG=...", action="append", default=[],
                        help="QEMU's: a shared library, and what it is told")
    parser.add_argument("--memory", metavar="MIB", type=int, default=2048,
                        help="2048")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=300,
                        help="300: then it is killed")
    parser.add_argument("--vmx", metavar="ARCHIVE",
                        help="with Bochs, built from its source, which emulates VMX")
    parser.add_argument("--sha256", metavar="SUM", help="of that archive")
    parser.add_argument("command", metavar="COMMAND", nargs="+")
    return parser.parse_args()


def main():
    args = arguments()
    if args.command == ["shell"]:
        return shell(args.put, args.kernel, args.memory)
    with tempfile.TemporaryDirectory(prefix="rig-out-") as scratch:
        done = run(" ".join(args.command), args.put, into=args.out or scratch,
                   kernel=args.kernel, icount=args.icount, plugin=args.plugin,
                   memory=args.memory, timeout=args.timeout, echo=sys.stdout.buffer,
                   vmx=(args.vmx, args.sha256) if args.vmx else None)
    print(f"rig: {done.kernel}: up after {done.boot:.1f} s, {done.seconds:.1f} s in all",
          file=sys.stderr)
    return done.status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
    except (Skip, Broken, OSError) as e:
        print(f"rig: {e}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
