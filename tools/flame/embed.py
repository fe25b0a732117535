#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A text file as a C string: embed.py NAME INPUT OUTPUT.

The text goes into a CDATA section, which it must not end. A string of C11 may be limited to
4,095 characters, so it is an array of lines.
"""
import sys

name, source, target = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    text = f.read()
if "]]>" in text:
    sys.exit(f"{source}: holds ]]>, which ends a CDATA section")
with open(target, "w", encoding="ascii") as f:
    f.write(f"static const char *const {name}[] = {{\n")
    for line in text.splitlines(keepends=True):
        data = "".join(
            c if 32 <= ord(c) < 127 and c not in '"\\?' else "".join(
                f"\\{byte:03o}" for byte in c.encode()) for c in line)
        f.write(f'"{data}",\n')
    f.write("};\n")
