# SPDX-License-Identifier: GPL-2.0-only
"""By what an ELF is known that has no build id, with its symbols and without."""
import struct
import zlib


def code_segments(data):
    """(offset, address, bytes in the file, and in memory) of each segment of code."""
    phoff, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    for at in range(phoff, phoff + n * size, size):
        kind, flags, offset, addr, _, stored, room = struct.unpack_from("<IIQQQQQ", data, at)
        if kind == 1 and flags & 1:
            yield offset, addr, stored, room


def code_crc(data):
    """The CRC of an ELF's code: of each segment of code where it lies, and its bytes, but not
    the headers."""
    phoff, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    headers, crc = 64 + (size * n if phoff == 64 else 0), 0
    for offset, addr, stored, room in code_segments(data):
        if stored > max(0, headers - offset):
            crc = zlib.crc32(struct.pack("<QQQ", addr, addr + room, stored), crc)
            crc = zlib.crc32(data[max(offset, headers):offset + stored], crc)
    return crc
