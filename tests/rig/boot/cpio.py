# SPDX-License-Identifier: GPL-2.0-only
"""Archives of cpio's format newc, as the kernel takes them."""
import os
import stat

DIRECTORY, FILE, LINK = stat.S_IFDIR | 0o755, stat.S_IFREG, stat.S_IFLNK | 0o777


class Archive:
    """Folders above a file are made; what is added again stays as it was first."""

    def __init__(self):
        self.parts = []
        self.names = set()

    def _add(self, name, mode, data=b""):
        if name in self.names:
            return
        self.names.add(name)
        above = os.path.dirname(name)
        if above:
            self._add(above, DIRECTORY)
        words = (len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % word for word in words) + name.encode() + b"\0"
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def folder(self, name):
        self._add(name.lstrip("/"), DIRECTORY)

    def link(self, name, to):
        self._add(name.lstrip("/"), LINK, to.encode())

    def text(self, name, text, mode=0o644):
        self._add(name.lstrip("/"), FILE | mode, text.encode())

    def file(self, name, path):
        """The file at path, which a link may lead to."""
        with open(path, "rb") as f:
            self._add(name.lstrip("/"), FILE | os.stat(path).st_mode & 0o777, f.read())

    def write(self, out):
        self._add("TRAILER!!!", 0)
        out.write(b"".join(self.parts))
