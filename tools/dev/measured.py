"""Measured values: reads them from the output of tests, and decides which are accepted.

A test prints a value as `measured NAME VALUE`. It prints a block as the line `measured-block NAME`,
the lines of the block, and the line `measured-end`.
tools/dev/runtests.py writes these lines to build/measured, one file for each test.

The accepted values are the rows `name,value,source` of test/measured.csv. A block is a file
test/measured/NAME.md, and its row has no value. The source is the command that measures the value.
A value is accepted only from a run like that of its source: on the same board, and by the same
target, test or test-long.
"""

import csv
import io
import json
import os
import re

TABLE, BLOCKS = "test/measured.csv", "test/measured"
HEADER = ["name", "value", "source"]
NAME = r"[a-z0-9_.]+"
VALUE_LINE = re.compile(r"measured (%s) (.*\S)\s*$" % NAME)
BLOCK_LINE = re.compile(r"measured-block (%s)\s*$" % NAME)
# Sources that the scripts write themselves; a person may write any other command as source.
SOURCE = re.compile(r"make (test|test-long) TEST=\S+ BOARD=(\S+)")


def printed(lines):
    """Finds the measured values in the output (bytes). Returns [(name, text, is block)], their line
    numbers, and errors."""
    found, taken, wrong = [], set(), []
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line.startswith(b"measured"):
            continue
        line = line.decode("utf-8", "backslashreplace")
        value, block = VALUE_LINE.match(line), BLOCK_LINE.match(line)
        if value:
            found.append((value[1], value[2], False))
            taken.add(at - 1)
        elif block:
            end = next((i for i in range(at, len(lines)) if lines[i].rstrip() == b"measured-end"), None)
            if end is None:
                wrong.append("measured-block %s has no measured-end" % block[1])
                continue
            text = "\n".join(part.decode("utf-8", "backslashreplace").rstrip() for part in lines[at:end])
            found.append((block[1], text, True))
            taken.update(range(at - 1, end + 1))
            at = end + 1
    return found, taken, wrong


def keep(folder, test, source, found):
    """Replaces the file with the results of this test. Returns its path, or None if the test
    measured nothing."""
    path = os.path.join(folder, re.sub(r"[^\w.-]+", "-", test) + ".json")
    if not found:
        if os.path.exists(path):
            os.remove(path)
        return None
    os.makedirs(folder, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump({"source": source, "found": found}, f, indent=1)
    os.replace(path + ".new", path)
    return path


class Accepted:
    """The accepted values, name -> (text, source, is block). `wrong` has messages about rows that
    cannot be used."""

    def __init__(self, root):
        self.root, self.values, self.wrong = root, {}, []
        try:
            with open(os.path.join(root, TABLE), encoding="utf-8") as f:
                rows = list(csv.reader(io.StringIO(f.read())))
        except FileNotFoundError:
            rows = [HEADER]
        if rows[:1] != [HEADER]:
            self.wrong.append("%s:1: the header must be %s" % (TABLE, ",".join(HEADER)))
        folder = os.path.join(root, BLOCKS)
        blocks = {}
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                blocks[re.sub(r"\.md$", "", name)] = f.read().rstrip("\n")
        for number, row in enumerate(rows[1:], 2):
            where = "%s:%d: " % (TABLE, number)
            if len(row) != 3 or not re.fullmatch(NAME, row[0]) or row[0] in self.values:
                self.wrong.append(where + "%s: a row is name,value,source, and a name has one row" % ",".join(row))
                continue
            name, value, source = row
            if not source.strip():
                self.wrong.append(where + "%s has no source: write the command that measures it" % name)
            if (name in blocks) == bool(value):
                self.wrong.append(where + "%s needs a value, or the block %s/%s.md and no value" % (name, BLOCKS, name))
            self.values[name] = (blocks.get(name, value), source, name in blocks)
        self.wrong += ["%s/%s.md: a block needs a row in %s: %s,,COMMAND" % (BLOCKS, name, TABLE, name)
                       for name in blocks if name not in self.values]

    def write(self):
        os.makedirs(os.path.join(self.root, BLOCKS), exist_ok=True)
        with open(os.path.join(self.root, TABLE), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(HEADER)
            for name, (text, source, block) in sorted(self.values.items()):
                out.writerow([name, "" if block else text, source])
                path = os.path.join(self.root, BLOCKS, name + ".md")
                if block:
                    with open(path, "w", encoding="utf-8") as page:
                        page.write(text + "\n")
                elif os.path.exists(path):
                    os.remove(path)


def pick(name, found, accepted):
    """Chooses among the results of one name, [(source, text, block)]. Returns (result or None,
    error or None)."""
    kind = {}
    for source, _, _ in found:
        made = SOURCE.fullmatch(source)
        kind[source] = made.groups() if made else ("test", "host")
    wanted = SOURCE.fullmatch(accepted[name][1]) if name in accepted else None
    if wanted:
        found = [f for f in found if kind[f[0]] == wanted.groups()]
        if not found:
            return None, "%s: not taken, because it was measured by %s and its source is %s" % (name, next(iter(kind)), wanted[0])
    rank = {source: (of != "test", board != "host") for source, (of, board) in kind.items()}
    least = min(rank[source] for source, _, _ in found)
    best = [f for f in found if rank[f[0]] == least]
    if len({f[1:] for f in best}) > 1:
        return None, "%s: measured twice, with different results: %s" % (name, "; ".join(
            "%s by %s" % (text.split("\n")[0], source) for source, text, _ in best))
    return best[0], None


def read(files):
    """Returns what the tests measured, {name: [(source, text, is block)]}."""
    found = {}
    for path in files:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        for name, text, block in data["found"]:
            found.setdefault(name, []).append((data["source"], text, block))
    return found


def lost(root, files):
    """Returns messages about accepted values that their test does not print any more. The files
    must be those of whole tests."""
    found = read(files)
    sources = {source for results in found.values() for source, _, _ in results}
    return ["%s: %s does not print it any more: remove it from the pages, or print it" % (name, source)
            for name, (_, source, _) in sorted(Accepted(root).values.items()) if source in sources and name not in found]


def changes(root, files, shown):
    """Returns the values in build/measured that pages show and that are not accepted yet, {name:
    entry}, and errors."""
    found = read(files)
    accepted = Accepted(root).values
    new, wrong = {}, []
    for name in sorted(set(found) & shown):
        best, bad = pick(name, found[name], accepted)
        wrong += [bad] if bad else []
        if best:
            source, text, block = best
            if name in accepted and not SOURCE.fullmatch(accepted[name][1]):
                source = accepted[name][1]
            if accepted.get(name) != (text, source, block):
                new[name] = (text, source, block)
    return new, wrong
