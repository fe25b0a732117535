# SPDX-License-Identifier: GPL-2.0-only
"""Debian's kernels, as QEMU and the rig need them: fetched once, kept in a folder of the
user's cache. No root is needed; apt works in a folder of its own."""
import collections
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

from tap import Skip, need

RELEASES = {"6.1": "bookworm", "6.12": "trixie"}
MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# In the order that they are loaded in: the disk that results come back on, and KVM.
MODULES = ("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev",
           "virtio_pci", "virtio_blk", "irqbypass", "kvm", "ccp", "kvm-amd", "kvm-intel")

# name: of the package and its version; image: the kernel as an ELF, beside it vmlinuz; modules: their files, in
# the order of MODULES, without what is built in.
Kernel = collections.namedtuple("Kernel", "name image modules")


def cache():
    """The folder that everything is kept in; it can be deleted at any time."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "hlguest", "rig")


def kernel(version):
    """The Kernel of one of RELEASES. Raises Skip where it cannot be had."""
    # What was unpacked for another list is another folder.
    of = f"{version}-{zlib.crc32(' '.join(MODULES).encode()):08x}"
    folder = os.path.join(cache(), of)
    if not os.path.exists(folder):
        os.makedirs(cache(), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as scratch:
            made = os.path.join(scratch, of)
            unpack(fetch(RELEASES[version], scratch), scratch, made)
            try:
                os.rename(made, folder)
            except OSError:
                if not os.path.exists(folder):
                    raise
                # else another test was faster
    with open(os.path.join(folder, "name"), encoding="utf-8") as f:
        name = f.read().strip()
    paths = [os.path.join(folder, f"{module}.ko") for module in MODULES]
    return Kernel(name, os.path.join(folder, "vmlinux"), [p for p in paths if os.path.exists(p)])


def fetch(release, scratch):
    """The package that linux-image-amd64 of a release depends on, as a file in scratch."""
    need("apt-get", "dpkg-deb")
    with open(os.path.join(scratch, "sources.list"), "w", encoding="utf-8") as f:
        f.write(f"deb [arch=amd64 signed-by={KEYS}] {mirror()} {release} main\n")
    for name in ("lists/partial", "cache"):
        os.makedirs(os.path.join(scratch, name))
    with open(os.path.join(scratch, "apt.conf"), "w", encoding="utf-8") as f:
        f.write(f"""Dir::Etc::SourceList "{scratch}/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "{scratch}/lists";
Dir::Cache "{scratch}/cache";
Dir::State::Status "/dev/null";
APT::Architecture "amd64";
APT::Sandbox::User "";
Acquire::Languages "none";
""")
    apt("apt-get", scratch, "-qq", "update")
    depends = apt("apt-cache", scratch, "depends", "linux-image-amd64")
    found = re.search(r"Depends: (linux-image-[\w.+-]+)", depends)
    if not found:
        raise Skip(f"no kernel of {release} can be had: {mirror()} has no linux-image-amd64")
    apt("apt-get", scratch, "-qq", "download", found[1])
    return glob.glob(os.path.join(scratch, "linux-image-*.deb"))[0]


def apt(program, scratch, *args):
    env = {**os.environ, "LC_ALL": "C", "APT_CONFIG": os.path.join(scratch, "apt.conf")}
    done = subprocess.run([program, *args], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    # apt-get update is content with what it has.
    lines = [line for line in done.stderr.split("\n") if line.startswith(("E:", "W: Failed"))]
    if done.returncode or lines:
        raise Skip(f"no kernel can be had: {program}: {(lines or [done.stderr.strip()])[0]}")
    return done.stdout


def mirror():
    """The mirror of Debian that this machine uses."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN)",
                           "Created-By: Packages"], capture_output=True, text=True, check=False)
    found = re.search(r"^(\S+/debian)/? Debian$", done.stdout, re.M)
    return found[1] if found else MIRROR


def unpack(package, scratch, folder):
    """Puts what a Kernel is of into folder, its name last."""
    root = os.path.join(scratch, "root")
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    os.mkdir(folder)
    (compressed,) = glob.glob(os.path.join(root, "boot", "vmlinuz-*"))
    shutil.copy(compressed, os.path.join(folder, "vmlinuz"))
    with open(compressed, "rb") as f, open(os.path.join(folder, "vmlinux"), "wb") as image:
        image.write(payload(f.read()))
    files = {os.path.basename(path).split(".")[0]: path for path in
             glob.glob(os.path.join(root, "**", "*.ko*"), recursive=True)}
    for module in MODULES:
        if module not in files:
            continue  # built in
        with open(files[module], "rb") as f, \
                open(os.path.join(folder, f"{module}.ko"), "wb") as out:
            data = f.read()
            out.write(lzma.decompress(data) if files[module].endswith(".xz") else data)
    with open(os.path.join(folder, "name"), "w", encoding="utf-8") as f:
        f.write(os.path.basename(package).removesuffix("_amd64.deb") + "\n")


def payload(vmlinuz):
    """The ELF in a bzImage, whose header says where it is packed (boot.rst of the kernel).
    QEMU starts an ELF by its PVH note; unpacked there, it would take as long as all the rest
    of the boot."""
    setup = (vmlinuz[0x1f1] + 1) * 512
    offset, length = struct.unpack_from("<II", vmlinuz, 0x248)
    packed = vmlinuz[setup + offset:setup + offset + length]
    if packed.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(packed)
    need("zstd")
    # Behind it is its size, which zstd takes for another frame, and fails.
    return subprocess.run(["zstd", "-dcq"], input=packed[:-4], capture_output=True,
                          check=True).stdout
