# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles taken apart by tools/pprof/pprof.proto, which says what each number is."""
import collections
import gzip
import os
import re
import types

from hostile import fields, read_varint
from tap import ROOT

SIGNED = ("int64",)


class Schema:
    """{message: {number: (name, type, whether there are several)}}"""

    def __init__(self):
        with open(os.path.join(ROOT, "tools/pprof/pprof.proto"), encoding="utf-8") as f:
            text = re.sub("//.*", "", f.read())
        self.of, inside = {}, []
        for m in re.finditer(r"message (\w+) \{|(\})|(repeated )?(\w+) (\w+) = (\d+)[^;]*;", text):
            if m[1]:
                inside.append(m[1])
                self.of[m[1]] = {}
            elif m[2]:
                inside.pop()
            else:
                self.of[inside[-1]][int(m[6])] = m[5], m[4], bool(m[3])
        # As bytes there, for memory.
        self.of["Profile"][2] = "sample", "Sample", True
        self.of["Extra"][7] = "host_stack", "HostStack", True

    def value(self, kind, value):
        if kind in self.of:
            return self.message(kind, value)
        if kind == "string":
            return value.decode()
        if kind == "sint32":
            return value >> 1 ^ -(value & 1)
        return value - (1 << 64) if kind in SIGNED and value >> 63 else value

    def message(self, kind, data):
        """What is not there is 0, empty or None."""
        found = {name: [] if several else "" if of == "string" else None if of in self.of else 0
                 for name, of, several in self.of[kind].values()}
        for number, value in fields(data):
            name, of, several = self.of[kind][number]
            packed = isinstance(value, bytes) and of not in (*self.of, "string", "bytes")
            values = [self.value(of, v) for v in (numbers(value) if packed else [value])]
            if several:
                found[name] += values
            else:
                found[name] = values[0]
        return types.SimpleNamespace(**found)


def numbers(data):
    at = 0
    while at < len(data):
        value, at = read_varint(data, at)
        yield value


class Saved:
    """A profile, its strings in place."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.raw = Schema().message("Profile", gzip.decompress(f.read()))
        self.extra, text = self.raw.extra, self.raw.string_table
        self.types = [(text[t.type], text[t.unit]) for t in self.raw.sample_type]
        self.period_type = text[self.raw.period_type.type], text[self.raw.period_type.unit]
        self.default = text[self.raw.default_sample_type]
        self.comments = [text[i] for i in self.raw.comment]
        self.mappings = [(text[m.filename], m.memory_start, m.memory_limit, text[m.build_id],
                          m.file_offset, m.has_functions) for m in self.raw.mapping]
        self.functions = [(text[f.name], text[f.system_name]) for f in self.raw.function]
        self.locations = [self.location(one) for one in self.raw.location]
        self.samples = [self.sample(one) for one in self.raw.sample]

    def location(self, one):
        """(mapping or None, address, functions)"""
        return self.mappings[one.mapping_id - 1] if one.mapping_id else None, one.address, tuple(
            self.functions[line.function_id - 1] for line in one.line)

    def sample(self, one):
        """(locations, labels, stack; values)"""
        text, stack = self.raw.string_table, one.stack
        labels = tuple((text[label.key], label.num) for label in one.label)
        return (tuple(self.locations[i - 1] for i in one.location_id), labels,
                stack and (tuple(stack.caller), stack.end, stack.way, self.host(stack))), \
            tuple(one.value)

    def host(self, stack):
        return tuple((self.functions[word // 8 - 1][0], word % 8) for word in stack.host)

    def orderly(self):
        """Ids are 1, 2, ...; what a table has is there once."""
        for name in ("mapping", "location", "function"):
            if [one.id for one in getattr(self.raw, name)] != list(
                    range(1, 1 + len(getattr(self.raw, name)))):
                yield f"ids of {name}"
        for name, of in (("string", self.raw.string_table), ("location", self.locations),
                         ("mapping", self.mappings), ("function", self.functions),
                         ("sample", [key for key, _ in self.samples])):
            twice = [what for what, n in collections.Counter(of).items() if n > 1]
            if twice:
                yield f"{name} is there twice: {twice[:1]}"
        if self.raw.string_table[0]:
            yield "string 0 is not empty"
