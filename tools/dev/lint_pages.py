#!/usr/bin/env python3
"""Checks the pages (*.md) of the project.

    lint_pages.py [ROOT]

Every relative link and image leads to a file or folder of the project, every #anchor to a heading or an
<a name="..."> of that page (the anchors are those of GitHub). Every page can be reached by links from
README.md. A page has at most 20,000 bytes and README.md 9,000; a line has at most 160 characters
and does not begin with a marker, which Markdown would take for a block of its own.
Generated pages may be larger. Code is not searched for links.
"""

import os
import re
import sys
import urllib.parse

sys.dont_write_bytecode = True
from lint_includes import files_of  # noqa: E402
from pages import Fence, pages_of, read  # noqa: E402

PAGE_BYTES, README_BYTES, LINE_CHARACTERS = 20000, 9000, 160
# Generated pages, or pages with generated tables, may be larger.
GENERATED = ("dyn/COSTS.md", "firmware/FAULTS.md", "firmware/PARAMETERS.md", "firmware/link/PROTOCOL.md")
# GitHub shows these pages by itself, so no page needs to link to them.
FOUND_BY_SERVICE = re.compile(r"\.github/(ISSUE_TEMPLATE/|PULL_REQUEST_TEMPLATE)")

CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.S)
# The forms of a link: [text](target "title"), ![text](target), [text]: target, <a href="target">, <img src="target">
LINK = re.compile(r"\]\(\s*<?([^\s)>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:\s*<?([^\s>]+)")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)\s*=\s*[\"']([^\"']+)[\"']", re.I)
NAMED = re.compile(r"<a\b[^>]*?\b(?:name|id)\s*=\s*[\"']([^\"']+)[\"']", re.I)
HEADING = re.compile(r" {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")


def anchor_of(heading):
    """Returns GitHub's anchor of a heading: its visible text in lower case with only letters,
    digits, - and _; spaces become hyphens."""
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", COMMENT.sub("", heading))
    parts = re.split(r"(`+[^`]*`+)", text)
    shown = []
    for part in parts:
        if part.startswith("`"):
            shown.append(part.strip("`"))
        else:
            part = re.sub(r"<[^>]+>", "", part)
            # Removes marks of emphasis: * anywhere, _ only around whole words.
            part = re.sub(r"(?<![\w_])(_+)(?=\S)(.+?)(?<=\S)\1(?![\w_])", r"\2", part)
            shown.append(part)
    return re.sub(r"[^\w\- ]", "", "".join(shown).strip().lower()).replace(" ", "-")


class Page:
    def __init__(self, text):
        self.anchors, self.links, self.long, self.unclosed = set(), [], [], None
        fence, seen, before = Fence(), {}, ""
        for number, line in enumerate(text.split("\n"), 1):
            was_open = fence.open
            if len(line) > LINE_CHARACTERS:
                self.long.append((number, line))
            if fence.inside(line):
                if was_open is None:
                    self.unclosed = number
                before = ""
                continue
            heading = HEADING.match(line)
            if heading or UNDERLINE.match(line) and before.strip() and not before.lstrip().startswith(("|", "-", ">", "#")):
                anchor = anchor_of((heading.group(2) or "") if heading else before)
                count = seen[anchor] = seen.get(anchor, -1) + 1
                self.anchors.add(anchor if count == 0 else "%s-%d" % (anchor, count))
            before = line
            plain = COMMENT.sub("", CODE.sub("", line))
            self.anchors.update(NAMED.findall(plain))
            for pattern in (LINK, REFERENCE, HTML):
                self.links += [(number, target) for target in pattern.findall(plain)]
        if fence.open is None:
            self.unclosed = None


def resolve(path, target):
    """Returns the path and the anchor to which a link leads; the anchor may be empty."""
    target, _, anchor = target.partition("#")
    target = urllib.parse.unquote(target.partition("?")[0])
    if not target:
        return path, urllib.parse.unquote(anchor)
    folder = "" if target.startswith("/") else os.path.dirname(path)
    return os.path.normpath(os.path.join(folder, target.lstrip("/"))), urllib.parse.unquote(anchor)


def page_in(path, pages):
    """Returns the page that a link to this path shows: the page itself, the README.md of a folder,
    or None."""
    for candidate in (path, os.path.normpath(os.path.join(path, "README.md"))):
        if candidate in pages:
            return candidate
    return None


def check_links(files, pages):
    findings, graph = [], {}
    folders = {"."}
    for file in files:
        while os.path.dirname(file):
            file = os.path.dirname(file)
            folders.add(file)
    for path, page in pages.items():
        for number, target in page.links:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.I):
                continue
            to, anchor = resolve(path, target)
            if to not in folders and to not in files:
                findings.append((path, number, "the link %s leads to %s, which does not exist" % (target, to)))
                continue
            shown = page_in(to, pages)
            if shown:
                graph.setdefault(path, set()).add(shown)
            if anchor and shown and anchor not in pages[shown].anchors:
                findings.append((path, number, "the link %s: %s has no heading #%s" % (target, shown, anchor)))
    reached, todo = set(), ["README.md"]
    while todo:
        path = todo.pop()
        if path not in reached:
            reached.add(path)
            todo += graph.get(path, ())
    findings += [(path, 1, "no links lead here from README.md") for path in sorted(set(pages) - reached)
                 if not FOUND_BY_SERVICE.match(path)]
    return findings


def check_size(path, text, page):
    findings = []
    size, most = len(text.encode()), README_BYTES if path == "README.md" else PAGE_BYTES
    if size > most and path not in GENERATED:
        findings.append((path, 1, "%d bytes, this page may have %d: one page for one question" % (size, most)))
    findings += [(path, number, "%d characters, a line has at most %d" % (len(line), LINE_CHARACTERS))
                 for number, line in page.long]
    findings += [(path, number, "a marker begins this line, which ends the paragraph on the page: put a word before it")
                 for number, line in enumerate(text.split("\n"), 1) if re.match(" {0,3}<!-- m ", line)]
    if page.unclosed:
        findings.append((path, page.unclosed, "the code that begins here has no end"))
    return findings


def main():
    if len(sys.argv) > 2 or any(a.startswith("-") for a in sys.argv[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    root = sys.argv[1] if len(sys.argv) == 2 else \
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    texts = {path: read(root, path) for path in pages_of(root)}
    if "README.md" not in texts:
        print("lint_pages: there is no README.md below %s" % root, file=sys.stderr)
        return 2
    pages = {path: Page(text) for path, text in texts.items()}
    findings = check_links(set(files_of(root)), pages)
    for path, text in texts.items():
        findings += check_size(path, text, pages[path])
    for path, line, text in sorted(findings):
        print("%s:%d: %s" % (path, line, text))
    print("lint_pages: %d pages, %d findings" % (len(pages), len(findings)))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
