# SPDX-License-Identifier: GPL-2.0-only
"""Names that attack whoever shows them, and what may never come out.

Symbols, processes, mappings, events and files may be called by any bytes but NUL (and, of
files, '/').
"""
import unicodedata

C0 = [bytes([c]) for c in (*range(1, 0x20), 0x7f)]
C1 = [bytes([c]) for c in range(0x80, 0xa0)]
C1_UTF8 = [chr(c).encode() for c in range(0x80, 0xa0)]
# Bidirectional marks, embeddings, overrides, isolates; separators of lines
BIDI = [chr(c).encode() for c in (0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
                                  *range(0x2066, 0x206a))]
# Characters that nobody sees
HIDDEN = [chr(c).encode() for c in (0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b,
                                    0x200c, 0x200d, 0x2060, 0x2061, 0x2064, 0x206a, 0x206f,
                                    0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb,
                                    0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100)]
# What looks like a blank, and to some readers is one
BLANKS = [chr(c).encode() for c in (0xa0, 0x1680, *range(0x2000, 0x200b), 0x202f, 0x205f,
                                    0x2800, 0x3000, 0x1d159)]
NO_UTF8 = [
    b"\xff\xfe", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf",  # overlong
    b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80",                # surrogates
    b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\xa6",
    b"\x80", b"\xe2(\xac", "é".encode("latin-1"),
]
NO_XML = [b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xf0\x9f\xbf\xbe"]
TERMINAL = [
    b"\x1b[31mred\x1b[0m", b"\x1b]0;title\x07", b"\x1b]52;c;ZWNobwo=\x07", b"\x1b[2J\x1b[H",
    b"\x1bPq#0;2;0;0;0\x1b\\", b"\x1b[6n", b"\x1bc", b"\x9b31m", b"\xc2\x9b31m",
    b"\xc2\x9d0;title\xc2\x9c", b"over\rwrite", b"back\b\b\b\bspace", b"two\nlines",
    b"\x0e\x0f shifted", b"$(touch ran)", b"`touch ran`", b"; touch ran", b"| touch ran",
    b"&& touch ran #", b"%s%n%100000d",
]
CELLS = [
    b"=1+2", b"+1+2", b"-1+2", b"@SUM(1)", b"\t=1+2", b"\r=1+2", b"\n=1+2",
    b"=cmd|'/C calc'!A0", b'=HYPERLINK("http://invalid./","x")', b'"=1+2', b'",=1+2,"',
    b"a,=1+2", b'a,"=1+2', b"a;=1+2", b"'=1+2", "＝1+2".encode(), "＋1".encode(),
    "－1".encode(), "＠A".encode(), b" =1+2", b"#REF!", b"a,b", b'a"b', b'""', b"#comment",
]
MARKUP = [
    b"<script>document.title='ran'</script>", b"</script><script>document.title='ran'",
    b"]]><script>document.title='ran'</script>", b"--><script>document.title='ran'</script>",
    b'" onload="document.title=\'ran\'', b"' onload='document.title=\"ran\"",
    b"javascript:document.title='ran'", b"<img src=x onerror=document.title='ran'>",
    b"</title></style></text></svg>", b"&amp;&lt;&#60;&nosuch;", b"<!DOCTYPE x>", b"<?xml?>",
    b"<![CDATA[", b"<!--", b"\\u003cscript\\u003e", b"${document.title='ran'}",
    b'"},{"name":"x', b"\\", b'\\"', b"\\n", b"\\x1b[31m", b"\\u0000",
]
TABLES = [
    b"[", b"]", b"[module]", b"name [module]", b"(1) short", b"(1)", b";", b"a;b", b"a:b",
    b"two words", b" edges ", b"count 12", b"count 12 34", b"7", b"12.5", b"$a", b"x.Lx",
    b"L0x", b"_text", b"_stext", b"_etext", b"_edata", b"__gap__", b"__gap__ after x",
    b"0000000000001000 T other", b"fn=(1) x", b"calls=1 1", b"events: a", b"--", b"-x",
    b"/etc/passwd", b"../../x", b"@0x1000", b"x@0x1000", b"_ZN9truncated", b"_Z\x1b[2J",
    b"_RNvC1a1\x1b", b"hlguest: base=0x0", "pass\u00a07".encode(), "pass\u30007".encode(),
    "\u2003edges\u2003".encode(), b"(gap)", b"total", b"other", b"[unknown]", b"outside",
    b"data", b"[outside]", b"0x1000", b"deadbeef", b"__proto__",
]
GROUPS = (C0, C1, C1_UTF8, BIDI, HIDDEN, BLANKS, NO_UTF8, NO_XML)


def wrapped():
    """Each character in a name of its own, and first."""
    for group in GROUPS:
        for i, c in enumerate(group):
            yield b"in" + c + b"side" + str(i).encode()
    for group in GROUPS:
        yield group[0] + b"first"


PLAIN = [b"plain", "naïve_é_€_🦀".encode(), b"_ZN5guest4json5parseEPKcm"]
LONG = [b"x" * 4000, b"\x1b" * 300 + b"y", "é".encode() * 300]


def names():
    """All of them, once; .L begins what an assembler should have left out (symbol.h)."""
    return list(dict.fromkeys([*PLAIN, *TERMINAL, *CELLS, *MARKUP, *TABLES, *wrapped(),
                               *LONG]))


# As symtab/escape.h has it: controls, surrogates and separators by their category; what has
# no glyph, by Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, 15.0);
# interlinear annotations; noncharacters; a Braille pattern and a note that show nothing.
CATEGORIES = ("Cc", "Cs", "Zl", "Zp", "Zs")
IGNORABLE = {0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, *range(0x180b, 0x1810),
             *range(0x200b, 0x2010), *range(0x202a, 0x202f), *range(0x2060, 0x2070), 0x3164,
             *range(0xfdd0, 0xfdf0), *range(0xfe00, 0xfe10), 0xfeff, 0xffa0, *range(0xfff0, 0xfffc),
             *range(0x1bca0, 0x1bca4), 0x1d159, *range(0x1d173, 0x1d17b), 0x2800,
             *range(0xe0000, 0xe1000)}


def disturbs(c):
    return c != " " and (unicodedata.category(c) in CATEGORIES or ord(c) in IGNORABLE or
                         ord(c) & 0xfffe == 0xfffe)


def shown(name):
    """The text that a name has to be shown as."""
    out, at = "", 0
    while at < len(name):
        for n in range(1, 5):
            try:
                c = name[at:at + n].decode("utf-8")
                break
            except UnicodeDecodeError:
                continue
        else:
            n, c = 1, None
        if c is None or len(c) != 1 or disturbs(c):
            c = "".join(f"\\x{b:02x}" for b in name[at:at + n])
        out += c
        at += n
    return out


def unclean(data, what):
    """Differences of what was printed from UTF-8 without anything that disturbs."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        near = data[max(0, e.start - 40):e.end + 10]
        return [f"{what}: not UTF-8: {near!r}"]
    for i, c in enumerate(text):
        if disturbs(c) and c not in "\n\t":
            return [f"{what}: U+{ord(c):04X} in {text[max(0, i - 40):i + 10]!r}"]
    return []
