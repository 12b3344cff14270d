#!/usr/bin/env python3
"""Finds words and phrases that the glossary replaced (tools/dev/words.txt) in all text files of the project.

    lint_words.py [ROOT]

CHANGELOG.md and the list itself may contain the old words.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
from lint_includes import files_of  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = "tools/dev/words.txt"
MAY = ("CHANGELOG.md", LIST)
ENTRY = re.compile(r"(.+) -> (.+?)(?: \[except (.+)\])?$")
# Matches the space between two words of a phrase, which may continue in the next line of a comment.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:[*/#>|]+[ \t]*)?)"


def entries():
    """Returns [(pattern, suggested replacement, pattern of the files that may contain the old word,
    or None)]."""
    found = []
    with open(os.path.join(HERE, "words.txt"), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            match = ENTRY.fullmatch(line)
            if not match:
                sys.exit("%s:%d: not of the form `expression -> what to say [except files]`: %s" % (LIST, number, line))
            found.append((re.compile(match[1].replace(" ", GAP), re.I), match[2], match[3] and re.compile(match[3], re.I)))
    return found


def findings(root, words):
    for path in files_of(root):
        if path in MAY:
            continue
        with open(os.path.join(root, path), "rb") as f:
            data = f.read()
        if b"\0" in data[:8192]:
            continue
        text = data.decode("utf-8", errors="replace")
        for pattern, say, may in words:
            if may and may.search(path):
                continue
            for match in pattern.finditer(text):
                begin, end = re.search(r"\w*\Z", text[:match.start()][-80:]), re.match(r"\w*", text[match.end():][:80])
                word = " ".join((begin[0] + match[0] + end[0]).split())
                yield path, text.count("\n", 0, match.start()) + 1, '"%s": say %s' % (word, say)


def main():
    if len(sys.argv) > 2 or any(a.startswith("-") for a in sys.argv[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    root = sys.argv[1] if len(sys.argv) == 2 else os.path.dirname(os.path.dirname(HERE))
    words = entries()
    found = sorted(set(findings(root, words)))
    for path, line, text in found:
        print("%s:%d: %s" % (path, line, text))
    print("lint_words: %d entries, %d findings" % (len(words), len(found)))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
