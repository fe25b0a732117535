# SPDX-License-Identifier: GPL-2.0-only
"""Flame graphs as Python sees them: frames, and what the picture says of them."""
import re
import xml.etree.ElementTree as ElementTree

from programs import program

SVG = "{http://www.w3.org/2000/svg}"


def draw_of(build):
    return program(build, "FLAME_DRAW", "tests/verbs/flame-draw")


class Frame:
    def __init__(self, g, path):
        words = g.find(SVG + "title").text
        rect = g.find(SVG + "rect")
        self.name, *self.said = words.split("\n")
        self.words = words
        self.classes = g.get("class").split()[1:]
        self.at, self.n = int(g.get("data-at")), int(g.get("data-n"))
        self.depth = int(g.get("data-d"))
        self.path = (*path[:self.depth], self.name)
        self.samples = int(re.search(r", (\d+) samples?", words).group(1))
        self.left, self.width = (float(rect.get(a).rstrip("%")) for a in ("x", "width"))
        self.top, self.height = int(rect.get("y")), int(rect.get("height"))
        label = g.find(SVG + "text")
        self.label = self.text_at = None
        if label is not None:
            self.label = label.text
            self.text_at = float(label.get("x").rstrip("%")), int(label.get("y"))

    def share(self):
        return float(re.search(r"^([\d.]+) % of all", self.said[1]).group(1))


class Graph:
    """A picture, parsed by a parser that takes no nonsense."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.title = self.root.find(SVG + "title").text
        self.frames = []
        path = ()
        for g in self.root.iter(SVG + "g"):
            if "f" in g.get("class", "").split():
                self.frames.append(Frame(g, path))
                path = self.frames[-1].path
        self.texts = [t.text for t in self.root.findall(SVG + "text")]
        self.notes = [t.text for t in self.root.find(SVG + "g[@class='notes']")]

    def said(self):
        return " ".join([*self.texts, *self.notes])

    def of(self, name):
        return next(f for f in self.frames if f.name == name)


def unfold(text):
    """{path, from "all" on: weight} of folded stacks, and of all their beginnings."""
    found = {}
    for line in text.splitlines():
        stack, _, n = line.rpartition(" ")
        path = ("all", *stack.split(";"))
        for i in range(len(path)):
            found[path[:i + 1]] = found.get(path[:i + 1], 0) + int(n)
    return found
