# SPDX-License-Identifier: GPL-2.0-only
"""What perf_diff.py records: threads, processes that come and go, page faults, system calls;
programs that are run, code in memory without a file, and other code at the same address a
moment later.
"""
import ctypes
import mmap
import os
import platform
import subprocess
import tempfile
import threading
import time


def spin():
    end = time.time() + 0.15
    while time.time() < end:
        bytearray(300000)[::4096]
        os.write(fd, b'x' * 100)
        sum(range(5000))
fd = os.open('/dev/null', os.O_WRONLY)
t = [threading.Thread(target=spin) for _ in range(2)]
[x.start() for x in t]
for _ in range(3):
    if os.fork() == 0:
        spin()
        os._exit(0)
for _ in range(4):
    subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; ls /'],
                   stdout=fd)
# mov $0x200000, %ecx; 1: dec %ecx; jne 1b; ret
LOOP = bytes([0xb9, 0, 0, 0x20, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3])
if platform.machine() == 'x86_64':
    call = lambda at: ctypes.CFUNCTYPE(None)(at)()
    nameless = mmap.mmap(-1, 4096, prot=7)
    nameless.write(LOOP)
    call(ctypes.addressof(ctypes.c_char.from_buffer(nameless)))
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [
        ctypes.c_long]
    for i in range(12):
        with tempfile.NamedTemporaryFile(prefix='code-') as f:
            f.write(LOOP.ljust(4096, bytes(1)))
            f.flush()
            libc.mmap(0x500000000000, 4096, 5, 0x12, f.fileno(), 0)  # private, fixed
            call(0x500000000000)
[x.join() for x in t]
