#!/usr/bin/env python3
"""Fills the tables of firmware/link/PROTOCOL.md from firmware/link/protocol.h and from the headers that define its numbers.

    protocol_doc.py [--check]

Replaces the text between two marker comments of the page; --check only compares and exits with 1 if they differ.
"""
import re
import sys
import textwrap

sys.dont_write_bytecode = True
from lint_pages import LINE_CHARACTERS  # noqa: E402

HEADER, PAGE = "firmware/link/protocol.h", "firmware/link/PROTOCOL.md"
HEADERS = [HEADER, *("firmware/%s.h" % name for name in ("app/errors", "params/image", "params/store", "safety/faults",
                                                         "control/motion", "control/io", "app/fit_table"))]
REASONS = (("APP_ERROR_TABLE", 0, "request"), ("IMAGE_ERROR_TABLE", -100, "image"), ("STORE_ERROR_TABLE", -300, "store"))


def table(text, name):
    """Returns the entries X(...) of a macro, each as the list of its arguments. Adjacent strings
    are joined."""
    body = re.search(r"#define %s\(X\)((?:.*\\\n)*.*\n)" % name, text).group(1)
    body = re.sub(r"/\*.*?\*/", "", body.replace("\\\n", " "))
    entries = []
    at = body.find("X(")
    while at >= 0:
        arguments, depth, word, quoted, i = [], 0, "", False, at + 2
        while depth >= 0:
            c = body[i]
            if c == '"':
                quoted = not quoted
            elif not quoted and c == "(":
                depth += 1
            elif not quoted and c == ")":
                depth -= 1
            if not quoted and (c == "," and depth == 0 or depth < 0):
                arguments.append(word.strip())
                word = ""
            elif c != '"' and (quoted or not c.isspace()):
                word += c
            i += 1
        entries.append(arguments)
        at = body.find("X(", i)
    return entries


def row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rows(head, lines):
    """Returns a table. The last cell of a row that would be too long goes on in rows below it."""
    head = head.split(" | ")
    table_rows = [row(head), row(["---"] * len(head))]
    for *cells, last in lines:
        for part in textwrap.wrap(last, LINE_CHARACTERS - len(row([*cells, ""]))) or [""]:
            table_rows.append(row([*cells, part]))
            cells = [""] * len(cells)
    return "\n".join(table_rows)


def lines(words):
    return textwrap.fill(", ".join(words) + ".", 118)


def fill(header):
    index = {"ROBOT": "0", "PARAMETER": "its number", "FIELD": "its number", "METHOD": "its number", "CHOICE": "0",
             "LEASE": "0", "OVERRIDE": "from 0", "HEAT": "0"}
    return {
        "MESSAGES": rows("number | message | again or once | what it does", [[n, "`%s`" % name, once.lower(), text]
                         for n, name, once, _, _, text in table(header, "ASK_TABLE")]),
        "PAYLOADS": rows("message | payload of the request | answer after the status", [["`%s`" % name, request or "-", reply or "-"]
                         for _, name, _, request, reply, _ in table(header, "ASK_TABLE")]),
        "STATUS": rows("number | name | meaning",
                       [[n, "`%s`" % name, cause]
                        for n, name, cause, _ in table(header, "LINK_STATUS_TABLE")]),
        "REASONS": rows("number | of | name | meaning",
                        [[str(base + int(n)), of, "`%s`" % name, cause]
                         for macro, base, of in REASONS for n, name, cause, _ in table(header, macro)]),
        "STATES": ", ".join("%s %s" % (n, text) for n, _, text, _ in table(header, "APP_STATE_TABLE")),
        "STOPS": rows("number | stop | what happens", [[n, text, does] for n, _, text, does in table(header, "APP_STOP_TABLE")]),
        "FAULTS": rows("number | fault", [[n, text] for n, _, text, *_ in table(header, "APP_FAULT_TABLE")]),
        "MOTIONS": rows("number | motion | what it does", [[n, text, about] for n, _, text, about in table(header, "MOTION_TABLE")]),
        "COUNTERS": rows("counter | what it counts", [["`%s`" % text, about] for _, text, about in table(header, "COUNTER_TABLE")]),
        "TOPICS": rows("number | topic | index | record",
                       [[n, "`%s`" % name, index[name], record]
                        for n, name, record in table(header, "TOPIC_TABLE")]),
        "CRASH": lines(name if words == "1" else "%s[%s]" % (name, words) for name, words in table(header, "CRASH_TABLE")),
        "HARDWARE": rows("bit | name | set means | not set means", [[n, "`%s`" % name, yes, no] for n, name, yes, no in table(header, "HARDWARE_TABLE")]),
        "LATCHED": lines("%s `%s`" % (n, name) for name, n in re.findall(r"\bCAUSE_(\w+) = 1 << (\d+)", header)),
        "FIT": rows("bit | name | of | what does not fit", [[n, "`%s`" % name, of, cause] for of in ("joint", "arm")
                    for n, name, cause, _ in table(header, "FIT_%s_TABLE" % of.upper())]),
        "CAUSES": lines("%s %s" % (n, text) for n, _, text in table(header, "CRASH_CAUSES")),
    }


def main():
    text = ""
    for path in HEADERS:
        with open(path, encoding="utf-8") as file:
            text += file.read()
    parts = fill(text)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    made = page
    for name, text in parts.items():
        begin, end = "<!-- %s -->" % name, "<!-- /%s -->" % name
        made = made.replace("@@%s@@" % name, "%s%s" % (begin, end))
        block = "\n" in text or text.startswith("|")
        gap = "\n" if block else ""
        made = re.sub(re.escape(begin) + ".*?" + re.escape(end),
                      lambda _, t=text, g=gap: begin + g + t + g + end, made, flags=re.S)
    if "--check" in sys.argv:
        if made != page:
            print("%s is not what %s says: make pages" % (PAGE, HEADER))
        return int(made != page)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
