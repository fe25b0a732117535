# SPDX-License-Identifier: GPL-2.0-only
"""Intel's VMX, as Bochs emulates it: kvm-intel for the rig. Slower than QEMU, and by hand:
Debian's Bochs is too old, so its source is the caller's (tag REL_3_0_FINAL of bochs-emu/Bochs
was tried), and built once, with bochs.patch, which lets interrupts leave a guest that has them
off, as processors do. Every instruction takes one tick there."""
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile

from kernels import cache
from tap import Skip, need

HERE = os.path.dirname(os.path.abspath(__file__))
# With chained handlers interrupts come at the starts of blocks only.
CONFIGURE = ("--enable-x86-64", "--enable-cpu-level=6", "--disable-smp", "--enable-vmx=2",
             "--enable-svm", "--enable-avx", "--enable-evex", "--disable-handlers-chaining",
             "--disable-debugger", "--disable-debugger-gui", "--disable-docbook",
             "--with-nogui")
ISOLINUX = "/usr/lib/ISOLINUX/isolinux.bin"
LDLINUX = "/usr/lib/syslinux/modules/bios/ldlinux.c32"

CONFIG = """\
megs: {memory}
romimage: file={bios}/BIOS-bochs-latest
vgaromimage: file={bios}/VGABIOS-lgpl-latest.bin
cpu: model=corei7_haswell_4770, count=1, ips=200000000
clock: sync=none
ata0-master: type=cdrom, path={folder}/cd.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={folder}/console
com2: enabled=1, mode=file, dev={folder}/output
display_library: nogui
log: {folder}/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
"""


def source_folder(scratch):
    """The folder with configure; an archive of the repository has it one deeper."""
    for folder, _, names in os.walk(scratch):
        if "configure" in names and "bochs.h" in names:
            return folder
    raise Skip("the archive is not of Bochs's source")


def built(archive, checksum):
    """The folder of a patched Bochs; checksum: the archive's SHA-256, as the caller has it."""
    with open(archive, "rb") as f:
        found = hashlib.sha256(f.read()).hexdigest()
    if found != checksum:
        raise Skip(f"{archive}: its SHA-256 is {found}, not {checksum}")
    folder = os.path.join(cache(), "bochs-" + found[:16])
    if os.path.exists(folder):
        return folder
    need("g++", "make", "patch")
    os.makedirs(cache(), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        place = source_folder(scratch)
        steps = (["patch", "-p2", "-i", os.path.join(HERE, "bochs.patch")],
                 ["./configure", *CONFIGURE], ["make", f"-j{os.cpu_count()}"])
        for step in steps:
            done = subprocess.run(step, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Skip(f"Bochs: {step[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
        made = os.path.join(scratch, "made")
        os.mkdir(made)
        for name in ("bochs", "bios/BIOS-bochs-latest", "bios/VGABIOS-lgpl-latest.bin"):
            shutil.copy(os.path.join(place, name), made)
        os.rename(made, folder)
    return folder


def command(folder, kernel, line, memory, source):
    """What Bochs is called with: folder has the initramfs, and gets console and output.
    line: the kernel's; source: (archive, checksum)."""
    place = built(*source)
    need("xorriso")
    for path in (ISOLINUX, LDLINUX):
        if not os.path.exists(path):
            raise Skip(f"{path} is missing (install isolinux and syslinux-common)")
    disc = os.path.join(folder, "cd")
    os.mkdir(disc)
    for path, name in ((ISOLINUX, "isolinux.bin"), (LDLINUX, "ldlinux.c32"),
                       (os.path.join(os.path.dirname(kernel.image), "vmlinuz"), "vmlinuz"),
                       (os.path.join(folder, "initramfs"), "initrd")):
        shutil.copy(path, os.path.join(disc, name))
    with open(os.path.join(disc, "isolinux.cfg"), "w", encoding="utf-8") as f:
        f.write(f"DEFAULT rig\nLABEL rig\nKERNEL vmlinuz\nAPPEND initrd=initrd {line}\n")
    subprocess.run(["xorriso", "-as", "mkisofs", "-quiet", "-o", os.path.join(folder, "cd.iso"),
                    "-b", "isolinux.bin", "-c", "boot.cat", "-no-emul-boot",
                    "-boot-load-size", "4", "-boot-info-table", disc],
                   check=True, capture_output=True)
    config = os.path.join(folder, "bochsrc")
    with open(config, "w", encoding="utf-8") as f:
        f.write(CONFIG.format(memory=memory, bios=place, folder=folder))
    return [os.path.join(place, "bochs"), "-q", "-f", config]
