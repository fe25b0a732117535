# SPDX-License-Identifier: GPL-2.0-only
"""What could be wrong in a C source by one token: all places of it, and what else could
stand there.

    for start, end, others in mutations.places(text): ...

text[start:end] is to be replaced by one of others. Never touched: comments, preprocessor
lines, static assertions, and (in_bodies) what stands outside of functions. The sources
are not parsed, only told into tokens: what comes out need not compile.

Some changes are no errors wherever they stand, and are not made: of an order only the
sign counts, so its 1 becomes no 2 and its < no <=; the sizes of local buffers have room
to spare; what is allocated, and an array, become no larger; and of some functions the
arguments have no order.
"""
import re

TOKEN = re.compile(
    r"""(?P<skip> \s+ | /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* )
      | (?P<string> "(?:\\.|[^"\\])*" ) | (?P<char> '(?:\\.|[^'\\])+' )
      | (?P<number> (?:0[xX][0-9a-fA-F]+|\d+\.\d*|\d+)(?:[eE][-+]?\d+)?[uUlLfF]* )
      | (?P<word> [A-Za-z_]\w* )
      | (?P<mark> <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||. )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)

BINARY = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"],
    "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"],
    "|": ["&"], "^": ["|"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "|=": ["&="], "&=": ["|="], "^=": ["|="], "<<=": [">>="], ">>=": ["<<="],
}
UNARY = {"!": [""], "-": [""], "~": [""], "++": ["--"], "--": ["++"]}
WORDS = {"true": ["false"], "false": ["true"], "break": ["continue"],
         "continue": ["break"]}
KEYWORDS = set("""if else for while do switch case default return break continue goto
    sizeof struct union enum static const int char void unsigned signed long short double
    float bool typedef extern inline volatile""".split())
COMMUTES = re.compile(r"__builtin_\w+_overflow|fmin|fmax|hypot|calloc|reallocarray")
ALLOCATES = re.compile(r"malloc|calloc|realloc|reallocarray")
ASSERTS = ("_Static_assert", "static_assert")
CONVERSION = re.compile(r"\\.[0-9a-fA-F]{0,2}|%[^a-zA-Z%]*(?:ll|[hljzt])?[a-zA-Z%]")


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start = kind, text, start
        self.end = start + len(text)
        self.depth = 0      # in how many braces
        self.held = False   # in parentheses
        self.room = False   # in the arguments of what allocates
        self.pair = None    # of a bracket: where the other one is

    def is_operand(self):
        """May a binary operator follow?"""
        return (self.kind in ("number", "char", "string") or self.text in (")", "]")
                or self.kind == "word" and self.text not in KEYWORDS)


def tokens(text):
    found = [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text)
             if m.lastgroup != "skip"]
    kept, asserting = [], False
    for token in found:
        asserting = asserting or token.text in ASSERTS
        if not asserting:
            kept.append(token)
        elif token.text == ";":
            asserting = False
    opened, depth = [], 0
    for i, token in enumerate(kept):
        depth -= token.text == "}"
        token.depth = depth
        token.held = any(kept[o].text == "(" for o in opened)
        token.room = any(kept[o].text == "(" and ALLOCATES.fullmatch(kept[o - 1].text)
                         for o in opened)
        depth += token.text == "{"
        if token.text in ("(", "[", "{"):
            opened.append(i)
        elif token.text in (")", "]", "}") and opened:
            token.pair = opened.pop()
            kept[token.pair].pair = i
    return kept


def of_an_order(all_tokens, i):
    """Is it part of x < y ? -1 : x > y, or of x < y ? -1 : 1?"""
    end = i
    while end < len(all_tokens) and all_tokens[end].text not in (";", ",", "?", "{"):
        end += 1
    ahead = "".join(token.text for token in all_tokens[end:end + 3])
    behind = "".join(token.text for token in all_tokens[max(0, i - 12):i])
    return ahead == "?-1" or behind.endswith(("?", "?-")) or "?-1:" in behind


def is_size(all_tokens, i):
    """Is it the [size] of an array of char in a function?"""
    return (all_tokens[i - 1].text == "[" and all_tokens[i + 1].text == "]"
            and all_tokens[i - 3].text in ("char", "*") and all_tokens[i].depth > 0)


def is_declared(all_tokens, i):
    """Is it the [size] of any array?"""
    before = all_tokens[i - 3]
    return (all_tokens[i - 1].text == "[" and all_tokens[i + 1].text == "]"
            and before.kind == "word" and before.text not in ("return", "case", "else"))


def other_number(text, larger=True):
    if re.fullmatch(r"\d+\.\d*.*|\d+[eE].*", text):
        return [f"({text} + 1)"]
    digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", text).group()
    rest = text[len(digits):]
    if digits[:2] in ("0x", "0X"):
        value, shown = int(digits, 16), "0x{:x}"
    elif digits[0] == "0" and len(digits) > 1:
        value, shown = int(digits, 8), "0{:o}"
    else:
        value, shown = int(digits), "{}"
    return [shown.format(n) + rest for n in (value + 1, value - 1)
            if n >= 0 and (larger or n < value)]


def other_string(text):
    """One letter in the other case: the first that is not part of a conversion."""
    masked = CONVERSION.sub(lambda m: "\0" * len(m.group()), text)
    letter = re.search(r"[A-Za-z]", masked)
    if not letter:
        return []
    at = letter.start()
    return [text[:at] + text[at].swapcase() + text[at + 1:]]


def arguments(all_tokens, opening):
    """(first, last token) of each argument of a call."""
    parts, first, i = [], opening + 1, opening + 1
    while i < all_tokens[opening].pair:
        if all_tokens[i].text == ",":
            parts.append((first, i - 1))
            first = i + 1
        i = (all_tokens[i].pair or i) + 1 if all_tokens[i].text in "([{" else i + 1
    return parts + [(first, i - 1)]


def swapped(text, all_tokens, i):
    """The call at word i with two arguments in each other's place."""
    if (all_tokens[i].text in KEYWORDS or all_tokens[i].depth == 0
            or COMMUTES.fullmatch(all_tokens[i].text)
            or all_tokens[i + 1].text != "(" or all_tokens[i + 1].pair is None):
        return None
    parts = arguments(all_tokens, i + 1)
    words = [text[all_tokens[a].start:all_tokens[b].end] for a, b in parts]
    others = [", ".join(words[:n] + [words[n + 1], words[n]] + words[n + 2:])
              for n in range(len(words) - 1) if words[n] != words[n + 1]]
    return (all_tokens[i + 2].start, all_tokens[parts[-1][1]].end, others)


def end_of_statement(all_tokens, i):
    """Where its semicolon is; None if it has none."""
    while i < len(all_tokens) and all_tokens[i].text not in (";", ")", "]", "}"):
        i = (all_tokens[i].pair or i) + 1 if all_tokens[i].text in "([{" else i + 1
    return i if i < len(all_tokens) and all_tokens[i].text == ";" else None


def statement(all_tokens, i):
    """An assignment or call that begins at token i, left out."""
    before, here, after = all_tokens[i - 1], all_tokens[i], all_tokens[i + 1]
    if here.depth == 0 or here.held or before.text not in (";", "{", "}", ")", "else"):
        return None
    if before.text == ")" and all_tokens[before.pair - 1].text not in ("if", "for",
                                                                       "while"):
        return None
    called = here.kind == "word" and here.text not in KEYWORDS and after.kind == "mark"
    if (not called or after.text in ("*", ":", ",", ";")) and here.text not in ("*", "++"):
        return None
    end = end_of_statement(all_tokens, i)
    return (here.start, all_tokens[end].start, [""]) if end else None


def condition(text, all_tokens, i):
    """if (...) or while (...), the other way round."""
    if all_tokens[i].text not in ("if", "while"):
        return None
    start, end = all_tokens[i + 1].start, all_tokens[all_tokens[i + 1].pair].end
    return (start, end, [f"(!{text[start:end]})"])


def returned(text, all_tokens, i):
    """0 returned; what is a constant is another place of its own."""
    end = end_of_statement(all_tokens, i)
    if all_tokens[i].text != "return" or end in (None, i + 1):
        return None
    start, stop = all_tokens[i + 1].start, all_tokens[end].start
    constant = re.fullmatch(r"\d+|NULL|true|false", text[start:stop])
    return None if constant else (start, stop, ["0"])


def at_token(text, all_tokens, i):
    token, before = all_tokens[i], all_tokens[i - 1]
    here = (token.start, token.end)
    if token.kind == "number" and of_an_order(all_tokens, i):
        yield (*here, ["0"] if token.text == "1" else other_number(token.text))
    elif token.kind == "number":
        larger = not token.room and not is_declared(all_tokens, i)
        yield (*here, [] if is_size(all_tokens, i)
               else other_number(token.text, larger))
    elif token.kind == "string":
        yield (*here, other_string(token.text))
    elif token.kind == "char":
        yield (*here, ["'~'"])
    elif token.text in WORDS:
        yield (*here, WORDS[token.text])
    elif token.text in UNARY and (not before.is_operand() or token.text in ("++", "--")):
        yield (*here, UNARY[token.text])
    elif token.text in BINARY and before.is_operand():
        ordered = token.text in "<>" and of_an_order(all_tokens, i)
        yield (*here, BINARY[token.text][ordered:])
    if token.kind == "word":
        yield swapped(text, all_tokens, i)
        yield condition(text, all_tokens, i)
        yield returned(text, all_tokens, i)
    yield statement(all_tokens, i)


def places(text, in_bodies=False):
    """All (start, end, others) of a source. in_bodies: only within braces after a `)`, as
    a header's inline functions have them."""
    found, inside = [], -1
    all_tokens = tokens(text)
    for i in range(1, len(all_tokens) - 2):
        token = all_tokens[i]
        if token.text == "{" and token.depth == 0 and all_tokens[i - 1].text == ")":
            inside = token.pair
        if in_bodies and i >= inside:
            continue
        found += [place for place in at_token(text, all_tokens, i) if place and place[2]]
    return found
