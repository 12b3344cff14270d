#!/usr/bin/env python3
"""Writes measured numbers into the pages (*.md), and finds pages that show other numbers.

    pages.py write          put the accepted values into every page
    pages.py check          exit code 1 if a page and the accepted values disagree
    pages.py accept DIR     accept what the tests measured (DIR is build/measured, or one file of it)
    pages.py ... --root R   the tree of the pages (default: this project)

A page shows a value as <!-- m NAME -->1.2e-13<!-- /m --> and a block as the lines between
<!-- block NAME begin --> and <!-- block NAME end -->.
Markers in fenced code and in `code` are text.
tools/dev/measured.py says how values are measured and accepted. Only values on a page are accepted.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
from lint_includes import files_of  # noqa: E402
from measured import BLOCKS, NAME, TABLE, Accepted, changes, lost  # noqa: E402

BEGIN = re.compile(r"\s*<!-- block (%s) begin -->\s*$" % NAME)
# Code is matched first, because a marker inside code is text.
TOKEN = re.compile(r"(?P<code>(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`))"
                   r"|<!-- m (?P<name>%s) -->(?P<text>.*?)<!-- /m -->"
                   r"|(?P<loose><!--\s*(?:/?m|block)\b.*)" % NAME)


class Fence:
    """Tells which lines of a page are fenced code."""
    MARK = re.compile(r"[\s>]*(?:[-*+]\s+)?(```+|~~~+)(.*)$")

    def __init__(self):
        self.open = None

    def inside(self, line):
        """Takes the next line of the page. Returns True if the line is fenced code or the fence
        itself."""
        match = self.MARK.match(line)
        if self.open is None:
            if match and not (match[1][0] == "`" and "`" in match[2]):
                self.open = match[1]
                return True
            return False
        if match and match[1].startswith(self.open) and not match[2].strip():
            self.open = None
        return True


def pages_of(root):
    return [path for path in files_of(root) if path.endswith(".md") and not path.startswith(BLOCKS + "/")]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def fill(text, values):
    """Puts the accepted values into a page. Returns its text, [(line, name, old text, is block)]
    and [(line, error)]."""
    lines, out, found, wrong = text.split("\n"), [], [], []
    fence, at = Fence(), 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if fence.inside(line):
            out.append(line)
            continue
        begin = BEGIN.match(line)
        if begin:
            name = begin[1]
            last = line.strip().replace(" begin -->", " end -->")
            end = next((i for i in range(at, len(lines)) if lines[i].strip() == last), None)
            if end is None:
                wrong.append((at, "the block %s has no line %s" % (name, last)))
                out.append(line)
                continue
            found.append((at, name, "\n".join(lines[at:end]), True))
            new, _, block = values.get(name, ("", "", False))
            out += [line] + (new.split("\n") if block else lines[at:end]) + [lines[end]]
            at = end + 1
            continue

        def value(match, number=at):
            if match["loose"] or "<!--" in (match["text"] or ""):
                wrong.append((number, "malformed or unclosed marker: %s" % match[0][:60]))
            elif match["name"]:
                found.append((number, match["name"], match["text"], False))
                new, _, block = values.get(match["name"], ("", "", True))
                return match[0] if block else "<!-- m %s -->%s<!-- /m -->" % (match["name"], new)
            return match[0]
        out.append(TOKEN.sub(value, line))
    return "\n".join(out), found, wrong


def disagreement(shown, text, block):
    """Returns the first difference: (lines below the marker, text of the page, accepted text)."""
    if not block:
        return 0, shown, text
    old, new = shown.split("\n"), text.split("\n")
    at = next((i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]), min(len(old), len(new)))
    return at + 1, old[at] if at < len(old) else "its end", new[at] if at < len(new) else "its end"


def check(root, write=False):
    accepted = Accepted(root)
    wrong, shown = list(accepted.wrong), set()
    for path in pages_of(root):
        text = read(root, path)
        new, found, bad = fill(text, accepted.values)
        wrong += ["%s:%d: %s" % (path, line, what) for line, what in bad]
        for line, name, old, block in found:
            shown.add(name)
            where = "%s:%d: %s" % (path, line, name)
            value, _, is_block = accepted.values.get(name, (None, "", block))
            if value is None:
                wrong.append(where + " is not accepted: make measure TEST=... of the test that prints it")
            elif is_block != block:
                wrong.append(where + " is accepted as a %s" % ("block" if is_block else "value"))
            elif old != value and not write:
                below, has, should = disagreement(old, value, block)
                wrong.append("%s:%d: %s: the page shows %s, accepted is %s: make pages" % (path, line + below, name, has, should))
        if write and new != text:
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(new)
            print("pages: wrote " + path)
    wrong += ["%s: no page shows %s: show it or remove its row" % (TABLE, name) for name in sorted(set(accepted.values) - shown)]
    if write:
        if wrong:
            print("pages: %d findings remain: tools/dev/pages.py check" % len(wrong))
        return 0
    for line in wrong:
        print(line)
    return int(bool(wrong))


def shown_in(root):
    """Returns the names of the values that pages show."""
    values = Accepted(root).values
    return {name for path in pages_of(root) for _, name, _, _ in fill(read(root, path), values)[1]}


def accept(root, folder):
    if not os.path.exists(folder):
        print("pages: there is no %s: no test has measured anything" % folder)
        return 0
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else [folder]
    new, wrong = changes(root, files, shown_in(root))
    wrong += lost(root, files) if os.path.isdir(folder) else []
    accepted = Accepted(root)
    for name, (text, source, block) in new.items():
        old = accepted.values[name][0] if name in accepted.values else "new"
        print("pages: %s: %s (%s)" % (name, "a block" if block else "%s -> %s" % (old, text), source))
    accepted.values.update(new)
    accepted.write()
    for line in wrong:
        print("pages: " + line)
    print("pages: %d measured values changed" % len(new))
    return int(any("measured twice" in line for line in wrong))


def main():
    parser = argparse.ArgumentParser(description="measured numbers in the pages")
    parser.add_argument("verb", choices=["write", "check", "accept"])
    parser.add_argument("folder", nargs="?", default="build/measured")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    args = parser.parse_args()
    if args.verb == "accept":
        return accept(args.root, args.folder)
    return check(args.root, write=args.verb == "write")


if __name__ == "__main__":
    sys.exit(main())
