#!/usr/bin/env python3
"""Checks that the pages show the accepted measurements and the tables of the sources. Also shows
that the scripts that check this can fail: tools/dev/pages.py, lint_pages.py, lint_words.py and the
part of tools/dev/runtests.py that collects the numbers of tests.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from script_frame import main  # noqa: E402
from test_guards import ROOT, TOOLS, contains, equal, passing, run, summary, write  # noqa: E402


def script(name, *options):
    return run([sys.executable, os.path.join(TOOLS, name), *options])


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


# ------------------------------------------------------------------------------------------ this project

def test_pages_show_what_is_accepted(folder):
    code, out = script("pages.py", "check")
    lines = out.splitlines()
    if code:
        raise AssertionError("tools/dev/pages.py check has %d findings, the first: %s" % (len(lines), lines[0]))


def test_pages_show_the_tables_of_the_sources(folder):
    for name in ("protocol_doc.py", "firmware_pages.py", "board_pages.py"):
        code, out = run([sys.executable, os.path.join(TOOLS, name), "--check"], cwd=ROOT)
        equal((0, ""), (code, out), name)


# ------------------------------------------------------------------------------------- pages and values

BLOCK = "<!-- block sim.table begin -->\n%s<!-- block sim.table end -->\n"
PAGE = "# Energy\n`<!-- m not.a_marker -->` It drifts by <!-- m sim.energy -->%s<!-- /m --> J.\n" + BLOCK + """
```text
<!-- m sim.quoted -->in code<!-- /m -->
```
"""
TABLE = "name,value,source\nsim.energy,1.2e-13,make test TEST=sim BOARD=host\nsim.table,,appell sim\n"
ROWS = "```\na  b\n1  2\n```\n"
GOOD = {"page.md": PAGE % ("1.2e-13", ROWS), "test/measured.csv": TABLE, "test/measured/sim.table.md": ROWS}


def check(folder):
    return script("pages.py", "check", "--root", folder)


def test_write_fills_every_marker(folder):
    write(folder, dict(GOOD, **{"page.md": PAGE % ("?", "")}))
    equal(1, check(folder)[0], "exit code before")
    code, out = script("pages.py", "write", "--root", folder)
    equal((0, "pages: wrote page.md\n"), (code, out), "write")
    equal(GOOD["page.md"], read(folder, "page.md"), "page")
    equal((0, ""), check(folder), "check")


def test_check_finds_each_disagreement(folder):
    for change, expected in (
            ({"page.md": PAGE % ("1.3e-13", ROWS)}, "page.md:2: sim.energy: the page shows 1.3e-13, accepted is 1.2e-13: make pages"),
            ({"page.md": PAGE % ("1.2e-13", ROWS.replace("1", "7"))}, "page.md:6: sim.table: the page shows 7  2, accepted is 1  2"),
            ({"page.md": PAGE % ("1.2e-13", ROWS + "more\n")}, "page.md:8: sim.table: the page shows more, accepted is its end"),
            ({"page.md": GOOD["page.md"] + "<!-- m sim.new -->1<!-- /m -->"}, "page.md:13: sim.new is not accepted"),
            ({"page.md": GOOD["page.md"] + "<!-- m sim.energy -->1.2e-13"}, "page.md:13: malformed or unclosed marker"),
            ({"page.md": GOOD["page.md"] + "<!-- m Energy -->1<!-- /m -->"}, "page.md:13: malformed or unclosed marker"),
            ({"page.md": GOOD["page.md"] + "<!-- block sim.table begin -->\n"}, "page.md:13: the block sim.table has no line"),
            ({"page.md": GOOD["page.md"] + "<!-- m sim.table -->1<!-- /m -->"}, "page.md:13: sim.table is accepted as a block"),
            ({"test/measured.csv": TABLE + "sim.old,3,x\n"}, "test/measured.csv: no page shows sim.old"),
            ({"test/measured.csv": TABLE.replace("appell sim", "")}, "test/measured.csv:3: sim.table has no source"),
            ({"test/measured.csv": TABLE + "sim.energy,3,x\n"}, "a name has one row"),
            ({"test/measured.csv": TABLE.replace("name,", "")}, "the header must be name,value,source"),
            ({"test/measured/other.md": "x\n"}, "test/measured/other.md: a block needs a row")):
        write(folder, dict(GOOD, **change))
        code, out = check(folder)
        equal(1, code, "exit code for " + expected)
        contains(expected, out)
        equal(1, out.count("\n"), "findings in " + out)


# ----------------------------------------------------------------------------------- from tests to pages

def run_jobs(folder, *jobs, options=()):
    """Runs jobs in a separate tree; returns the output of the runner."""
    write(folder, {"jobs": "".join(job + "\n" for job in jobs)})
    code, out = run([sys.executable, os.path.join(TOOLS, "runtests.py"), "jobs", "--measured", "build/measured", *options], cwd=folder)
    equal(0, code, out)
    return out


def accept(folder):
    return script("pages.py", "accept", os.path.join(folder, "build/measured"), "--root", folder)


def job(test, *lines, machine="host"):
    return "%s|test_%s|%s" % (machine, test, "".join("echo '%s'; " % line for line in lines) + passing("test_a") + summary(1))


def test_what_a_test_prints_is_kept_and_accepted(folder):
    write(folder, GOOD)
    out = run_jobs(folder, job("sim", "measured sim.energy 1.2e-13", "measured sim.unused 7"))
    equal(0, out.count("measured"), out)
    out = run_jobs(folder, job("sim", "measured sim.energy 5.0e-13", "measured-block sim.table", "| RUN test_b", "measured-end"))
    contains('2 measured values differ from those accepted (sim.energy, sim.table): make measure TEST="sim"', out)
    contains("1 passed, 0 failed", out)
    kept = json.loads(read(folder, "build/measured/host.test_sim.json"))
    equal("make test TEST=sim BOARD=host", kept["source"], "source")
    code, out = accept(folder)
    equal(0, code, out)
    contains("sim.energy: 1.2e-13 -> 5.0e-13 (make test TEST=sim BOARD=host)", out)
    equal(TABLE.replace("1.2e-13", "5.0e-13"), read(folder, "test/measured.csv"), "accepted")
    equal("| RUN test_b\n", read(folder, "test/measured/sim.table.md"), "block")
    equal(0, script("pages.py", "write", "--root", folder)[0], "write")
    equal((0, ""), check(folder), "check")


def test_a_value_comes_from_a_run_like_that_of_its_source(folder):
    write(folder, GOOD)
    other = job("sim", "measured sim.energy 9", machine="netduino2")
    equal(0, run_jobs(folder, other).count("differ"), "another board")
    equal(0, run_jobs(folder, job("sim", "measured sim.energy 9"), options=["--long"]).count("differ"), "test-long")
    code, out = accept(folder)
    equal(0, code, out)
    equal(TABLE, read(folder, "test/measured.csv"), "accepted")
    # A new name is accepted from the host and from make test.
    write(folder, {"test/measured.csv": TABLE.replace("sim.energy", "sim.gone")})
    run_jobs(folder, job("sim", "measured sim.energy 1"))
    code, out = accept(folder)
    equal(0, code, out)
    contains("sim.gone: make test TEST=sim BOARD=host does not print it any more", out)
    contains("sim.energy,1,make test TEST=sim BOARD=host\n", read(folder, "test/measured.csv"))
    contains("sim.gone,1.2e-13,", read(folder, "test/measured.csv"))


def test_two_results_of_one_name_are_an_error(folder):
    write(folder, GOOD)
    run_jobs(folder, job("sim", "measured sim.energy 1"), job("other", "measured sim.energy 2"))
    code, out = accept(folder)
    equal(1, code, "exit code")
    contains("sim.energy: measured twice, with different results", out)


def test_a_block_without_end_is_a_failure(folder):
    write(folder, {"jobs": job("sim", "measured-block sim.table", "x") + "\n"})
    code, out = run([sys.executable, os.path.join(TOOLS, "runtests.py"), "jobs"], cwd=folder)
    equal(1, code, "exit code")
    contains("measured-block sim.table has no measured-end", out)


# ------------------------------------------------------------------------------------------- the lints

LINKED = {
    "README.md": "# Arm & `tool`: what it_is\n[a](#arm--tool-what-it_is) [b](dyn/#twice-1) [c](dyn/README.md#here) ![d](a.png)\n"
                 "[e](https://example.test/x#y) `[f](nowhere)` [g](dyn/a.c#L3) <a href='dyn'>h</a>\n```\n[i](nowhere)\n```\n",
    "dyn/README.md": "Twice\n-----\n## Twice\n<a name=\"here\"></a> [a](/README.md) [b]\n\n[b]: ../dyn/a.c\n",
    "dyn/a.c": "", "a.png": "", "test/measured/x.md": "[not a page](nowhere)\n",
    "firmware/link/PROTOCOL.md": "| " + "x" * 156 + " |\n" + "x\n" * 20000}
LINKED["README.md"] += "[p](firmware/link/PROTOCOL.md)\n"


def lines_of(out):
    return [line for line in out.splitlines() if not line.startswith("lint_")]


def test_lint_of_pages(folder):
    write(folder, LINKED)
    equal((0, "lint_pages: 3 pages, 0 findings\n"), script("lint_pages.py", folder), "clean tree")
    write(folder, {"dyn/README.md": "# Twice\n[a](#twice-1)\n\n[b](a.h)\n![c](../b.png)\n[d](../README.md#arm)\n"
                                    + "x" * 161 + "\n```\n" + "y" * 161 + "\n",
                   "firmware/link/PROTOCOL.md": "| " + "x" * 157 + " |\n",
                   "lost.md": "x\n" * 10001, "README.md": LINKED["README.md"] + "x\n" * 4500})
    code, out = script("lint_pages.py", folder)
    equal(1, code, "exit code")
    for expected in ("README.md:1: 9", "README.md:2: the link dyn/#twice-1: dyn/README.md has no heading #twice-1",
                     "README.md:2: the link dyn/README.md#here: ", "dyn/README.md:2: the link #twice-1: ",
                     "dyn/README.md:4: the link a.h leads to dyn/a.h, which does not exist", "dyn/README.md:5: the link ../b.png",
                     "dyn/README.md:6: the link ../README.md#arm: README.md has no heading #arm", "dyn/README.md:7: 161 characters",
                     "dyn/README.md:8: the code that begins here has no end", "dyn/README.md:9: 161 characters",
                     "firmware/link/PROTOCOL.md:1: 161 characters",
                     "lost.md:1: 20002 bytes, this page may have 20000", "lost.md:1: no links lead here from README.md"):
        equal(1, sum(line.startswith(expected) for line in lines_of(out)), expected + " in " + out)
    equal(13, len(lines_of(out)), out)


def test_lint_of_words(folder):
    """The forbidden words are written in pieces, so that the lint does not find them in this
    file."""
    good = ["by hand", "at hand", "the handler", "the " + "hand-over", "break;", "measure_f32", "a transplant", "rows of text", "be sure of it",
            "the " + "hand of an operator"]
    bad = ["TUN" + "ABLE_rate", "kno" + "ts", "MOTION_KNO" + "TS", "the pla" + "nt", "guard_pat" + "ience_s", "the ha" + "nd", "a joint that sli" + "des",
           "dyn_spr" + "ead_t", "su" + "re_limit", "in.bro" + "ken", "numbers that are\n * no" + "ne", "limits_" + "part"]
    write(folder, {"a.c": "\n".join(good) + "\n", "CHANGELOG.md": "\n".join(bad)})
    code, out = script("lint_words.py", folder)
    equal((0, []), (code, lines_of(out)), "words that may be used")
    for word in bad:
        write(folder, {"a.c": "\n" + word + "\n"})
        code, out = script("lint_words.py", folder)
        equal(1, code, "exit code for " + word)
        equal(True, bool(lines_of(out)) and all(line.startswith('a.c:2: "') and '": say ' in line for line in lines_of(out)), out)


if __name__ == "__main__":
    sys.exit(main(globals()))
