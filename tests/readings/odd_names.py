# SPDX-License-Identifier: GPL-2.0-only
"""Names that are not shown as they are: mangled ones, and what no terminal should see."""
import re

RUST = re.compile("_ZN3one(\\d+)(\\w+?)17h[0-9a-f]{16}E")


def odd_names(rng, n):
    for i in range(n):
        plain = f"{rng.choice('abcdefgh')}_{i}"
        mangled = f"_ZN3one{len(plain)}{plain}17h0123456789abcdefE"
        yield rng.choice((plain, plain, plain, mangled, f"x.\x1b{plain}"))


def readable(name):
    """Demangled; also where others stand in front of it."""
    return RUST.sub(lambda m: "one::" + m[2], name)


def escaped(name):
    return "".join(c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode())
                   for c in name)
