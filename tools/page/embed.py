#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Text files as a C array of strings: embed.py NAME OUTPUT INPUT...

Also NAME_sha256, base64 of the whole's hash, as a content security policy states it. Scripts are
put into one function, so that they see each other and nothing else sees them. Comments on lines
of their own, those behind a script's code, and tabs in front of lines are left out: each page would
carry them. The text goes into
an HTML element or a CDATA section, which it must not end. A string of C11 may be limited to 4,095
characters, so it is an array of lines.
"""
import base64
import hashlib
import re
import sys

COMMENT = re.compile(r"^[ \t]*(/\*.*?\*/|//[^\n]*)\n", re.M | re.S)
BEHIND = re.compile(r"[ \t]+// [^'\"`\n]*$", re.M)  # in no string, which would end behind it
INDENT = re.compile(r"^\t+", re.M)


def as_c(line):
    return "".join(
        c if 32 <= ord(c) < 127 and c not in '"\\?' else "".join(
            f"\\{byte:03o}" for byte in c.encode()) for c in line)


def main(name, target, *sources):
    texts = []
    for source in sources:
        with open(source, encoding="utf-8") as f:
            texts.append(f.read())
        for end in ("]]>", "</script", "</style", "<!--"):
            if end in texts[-1]:
                sys.exit(f"{source}: holds {end}, which ends the element that it goes into")
    text = "".join(INDENT.sub("", BEHIND.sub("", COMMENT.sub("", text))) for text in texts)
    if len(texts) > 1 and sources[0].endswith(".js"):
        text = "'use strict';\n(function () {\n" + text + "}());\n"
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    with open(target, "w", encoding="ascii") as f:
        f.write(f'#define {name}_sha256 "{digest}"\n')
        f.write(f"static const char *const {name}[] = {{\n")
        for line in text.splitlines(keepends=True):
            f.write(f'"{as_c(line)}",\n')
        f.write("};\n")


main(*sys.argv[1:])
