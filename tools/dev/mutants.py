"""The mistakes that tools/dev/mutate.py makes in a C file: comparisons, constants, signs, logical and assigning operators,
conditions, statements left out, arguments exchanged. It reads tokens, brackets and statements, and knows no types: the
compiler refuses what is not C."""

import collections
import re

TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*')
    |(?P<directive>\#(?:\\\n|/\*.*?\*/|[^\n])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)
    |(?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!&|^~?:;,.(){}\[\]])""", re.X | re.S)
DEFINE = re.compile(r"#define\s+\w+\s+([\d.]+)\s*(?:/\*.*)?$", re.S)

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
LOGIC = {"&&": "||", "||": "&&"}
SIGNS = {"+": "-", "-": "+", "++": "--", "--": "++", "+=": "-=", "-=": "+="}
ASSIGNED = {"|=": "&=", "&=": "|=", "^=": "|="}
# The same mistakes where an operation of a number type is a call (dyn/real).
CALLS = {"real_add": ("sign", "real_sub"), "real_sub": ("sign", "real_add"), "wide_add": ("sign", "wide_sub"),
         "wide_sub": ("sign", "wide_add"), "real_neg": ("sign", ""), "real_half": ("constant", "real_twice"),
         "real_twice": ("constant", "real_half"), "true": ("constant", "false"), "false": ("constant", "true")}
# Functions whose arguments may be exchanged by definition.
SYMMETRIC = {"real_add", "wide_add", "real_mul", "fmin", "fmax", "opposite", "half_apart"}
HEADERS = {"if", "for", "while", "switch"}
NO_CALLS = HEADERS | {"return", "sizeof", "static_assert", "_Static_assert", "defined"}
NO_STATEMENT = NO_CALLS | {"case", "default", "break", "continue", "goto", "const", "static", "struct", "enum", "typedef", "extern"}

Mutant = collections.namedtuple("Mutant", "file line kind start end text")


class MutateError(Exception):
    pass


def constants(text):
    """Returns the values that a mistake could put in the place of a number."""
    body, suffix = re.fullmatch(r"(0[xX][0-9a-fA-F]+|.*?)([uUlLfF]*)", text).groups()
    if re.search(r"[.eE]", body) and not body.startswith("0x"):
        return ["(%s * 2)" % text, "(%s / 2)" % text]
    value = int(body, 0)
    return ["%d%s" % (v, suffix) for v in ([1] if value == 0 else [value + 1, value - 1])]


class Reader:
    """Reads one file and collects its mutants."""

    def __init__(self, name):
        self.name = name
        with open(name, encoding="utf-8") as f:
            self.text = f.read()
        self.tokens = [(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(self.text) if m.lastgroup != "skip"]
        self.out = []

    def add(self, kind, start, end, text):
        self.out.append(Mutant(self.name, self.text.count("\n", 0, start) + 1, kind, start, end, text))

    def operator(self, at):
        kind, text, start, end = self.tokens[at]
        before = self.tokens[at - 1]
        operand = before[0] == "number" or before[1] in (")", "]") or (before[0] == "word" and before[1] != "return")
        for other in COMPARISONS.get(text, ()):
            self.add("comparison", start, end, other)
        if text in LOGIC:
            self.add("logic", start, end, LOGIC[text])
        elif text in ASSIGNED:
            self.add("assignment", start, end, ASSIGNED[text])
        elif text == "!":
            self.add("negation", start, end, "")
        elif text == "-" and not operand:
            self.add("sign", start, end, "")
        elif text in SIGNS:
            self.add("sign", start, end, SIGNS[text])

    def group(self, at):
        """Returns the index of the bracket that closes the one at `at`, and the arguments between as (start, end)."""
        depth, arguments, start = 0, [], self.tokens[at][3]
        for i in range(at, len(self.tokens)):
            text = self.tokens[i][1]
            depth += (text in "([{") - (text in ")]}")
            if (depth == 1 and text == ",") or depth == 0:
                arguments.append((start, self.tokens[i][2]))
                start = self.tokens[i][3]
            if depth == 0:
                return i, arguments
        raise MutateError("%s: a bracket is not closed" % self.name)

    def call(self, at):
        arguments = self.group(at + 1)[1]
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            first, second = self.text[a:b].strip(), self.text[c:d].strip()
            if first != second:
                self.add("exchange", d - len(self.text[a:d].lstrip()), d, "%s, %s" % (second, first))

    def statement(self, first, last):
        """The tokens from first to last, which is a semicolon, are a statement of a block."""
        words = self.tokens[first:last]
        if not words or words[0][1] in NO_STATEMENT or words[0][0] == "directive":
            return
        if words[0][0] == "word" and len(words) > 1 and (words[1][0] == "word" or (words[1][1] == "*" and words[2][0] == "word")):
            return  # a declaration
        self.add("dropped", words[0][2], self.tokens[last][2], "")

    def blocks(self):
        """Finds the statements and the conditions of `if`. A brace that follows an expression belongs to a value."""
        braces, ends, begin, parens = [], set(), 0, 0
        for i, (kind, text, start, end) in enumerate(self.tokens):
            code = bool(braces) and braces[-1] == "block"
            if kind == "word" and text in HEADERS and code:
                close = self.group(i + 1)[0]
                ends.add(close)
                if text == "if":
                    a, b = self.tokens[i + 1][3], self.tokens[close][2]
                    self.add("negation", a, b, "!(%s)" % self.text[a:b])
            parens += (text == "(") - (text == ")")
            if text == "{":
                before = self.tokens[i - 1][1]
                opens = before in ("else", "do", ";", "{", "}") or i - 1 in ends or (before == ")" and not braces)
                braces.append("block" if opens and (not braces or code) else "value")
            elif text == "}":
                braces.pop()
            elif text == ";" and code and parens == 0:
                self.statement(begin, i)
            if (text in "{};" and parens == 0 and (not braces or braces[-1] == "block")) or i in ends or text == "else":
                begin = i + 1

    def mutants(self):
        depth = 0
        for i, (kind, text, start, end) in enumerate(self.tokens):
            depth += (text == "{") - (text == "}")
            if kind == "op" and depth:
                self.operator(i)
            elif kind == "number":
                for other in constants(text):
                    self.add("constant", start, end, other)
            elif kind == "directive" and DEFINE.match(text):
                a, b = DEFINE.match(text).span(1)
                for other in constants(text[a:b]):
                    self.add("constant", start + a, start + b, other)
            elif kind == "word" and depth:
                if text in CALLS:
                    self.add(CALLS[text][0], start, end, CALLS[text][1])
                if text not in NO_CALLS | SYMMETRIC and self.tokens[i + 1][1] == "(":
                    self.call(i)
        self.blocks()
        return sorted(self.out, key=lambda m: (m.start, m.kind, m.text))


def shown(mutant, text):
    """Returns the line of a mutant, and the line that it became."""
    begin = text.rfind("\n", 0, mutant.start) + 1
    end = text.find("\n", mutant.end)
    changed = text[begin:mutant.start] + mutant.text + text[mutant.end:end]
    return tuple(" ".join(t.split()) for t in (text[begin:end], changed))
