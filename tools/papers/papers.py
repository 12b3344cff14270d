#!/usr/bin/env python3
"""Makes build/papers/index.html: the numbers that the papers print beside those that the tool computes.

    papers.py [--program APPELL] [--out FOLDER] [--page NAME]

A page is a module of this folder with TITLE, SOURCE and make(page); PAGES lists them. gnuplot draws the
pictures, which are part of the page. Everything is computed in each run: no result is stored here.
"""
import argparse
import base64
import concurrent.futures
import csv
import fractions
import html
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import chains

PAGES = ["paper_000", "paper_001", "paper_002", "paper_003", "paper_004"]

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #223; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 26px; } h2 { margin-top: 2.2em; border-bottom: 2px solid #0072b2; padding-bottom: 4px; }
h3 { margin-top: 1.8em; } table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
td, th { padding: 3px 9px; border-bottom: 1px solid #dde2e8; text-align: right; } td + td { white-space: nowrap; }
td + td span { display: inline-block; white-space: normal; max-width: 19em; } th { vertical-align: bottom; }
td:first-child, th:first-child { text-align: left; } th { background: #f2f5f8; }
tr.ours td, td.ours { background: #eef6fb; } figure { margin: 1em 0; } figure img { width: 100%; }
figcaption, .source, nav { color: #556; font-size: 13px; } pre { background: #f4f6f8; padding: 10px; white-space: pre-wrap; font-size: 12.5px; }
code { background: #f4f6f8; padding: 1px 4px; } .erratum { border-left: 4px solid #d55e00; padding-left: 10px; }
.errata { border-left: 4px solid #d55e00; } .errata td, .errata th { text-align: left; white-space: normal; }
"""


class Tool:
    """Runs commands of the program appell. `folder` is for temporary files."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder

    def attempt(self, *arguments, seconds=600):
        """Runs a command that may refuse. Returns its output and None, or None and what it said."""
        try:
            done = subprocess.run([self.program, *map(str, arguments)], input="", capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, f"not done after {seconds} s"
        return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.strip())

    def text(self, *arguments, rows=""):
        done = subprocess.run([self.program, *map(str, arguments)], input=rows, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"papers: appell {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def table(self, *arguments, rows):
        """Sends rows of numbers to a command and returns the rows that it prints."""
        text = "".join(" ".join(repr(float(x)) for x in row) + "\n" for row in rows)
        return [[float(x) for x in line.split()] for line in self.text(*arguments, "-q", rows=text).splitlines()]

    def json(self, *arguments):
        return json.loads(self.text(*arguments, "--json", "-q"))

    def simulate(self, robot, *options):
        """Runs a simulation; returns its rows as {column: numbers} and its summary."""
        path = os.path.join(self.folder, "run.csv")
        summary = self.json("sim", robot, "-o", path, *options)
        with open(path) as file:
            rows = list(csv.DictReader(file))
        os.remove(path)
        return {name: [float(row[name]) for row in rows] for name in rows[0]}, summary

    def operations(self, robot):
        """Returns {(problem, method): (products, sums)}. Like the papers, it counts divisions and
        roots as products."""
        return {(k["problem"], k["method"]): (k["mul"] + k["div"] + k["sqrt"], k["add"])
                for k in self.json("ops", robot, "--effort", "0")["kernels"]}


class Asker:
    """A running command that answers row by row."""

    def __init__(self, tool, *arguments):
        self.process = subprocess.Popen([tool.program, *arguments, "-q"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, row):
        self.process.stdin.write(" ".join(repr(float(x)) for x in row) + "\n")
        return [float(x) for x in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def polynomial(points):
    """Returns the coefficients of the polynomial through the points (n, count), lowest power first.
    Its degree is below the number of points."""
    n = len(points)
    matrix = [[fractions.Fraction(x) ** k for k in range(n)] + [fractions.Fraction(y)] for x, y in points]
    for i in range(n):
        matrix[i] = [v / matrix[i][i] for v in matrix[i]]
        for j in range(n):
            if j != i:
                matrix[j] = [a - matrix[j][i] * b for a, b in zip(matrix[j], matrix[i])]
    return [row[-1] for row in matrix]


def value(coefficients, n):
    return sum(c * n ** k for k, c in enumerate(coefficients))


def formula(coefficients, n):
    """Formats a polynomial and its value at n, as in "11.5n² + 19.5n − 49 (482)"."""
    powers, text = ["", "n", "n²", "n³"], ""
    for k in range(len(coefficients) - 1, -1, -1):
        c = coefficients[k]
        if c == 0:
            continue
        size, power = abs(c), powers[k] if k < 4 else f"n^{k}"
        over = f"/{size.denominator}" if size.denominator in (3, 6) else ""
        size = size.numerator if over else size
        digits = "" if size == 1 and k > 0 else f"{float(size):g}"
        text += (" − " if c < 0 else " + " if text else "") + digits + power + over
    return f"{text} ({value(coefficients, n)})"


class Counts:
    """Operation counts as formulas in n, from counts of chains of 3 to 8 joints."""

    def __init__(self, tool):
        self.seen = {n: tool.operations(chains.general(tool.folder, n)) for n in range(3, 9)}

    def polynomials(self, *parts):
        """Returns the polynomials of products and sums of a kernel, or of a sum of several kernels; each
        part is (sign, problem, method). Five counts make the polynomial, the sixth must lie on it."""
        out = []
        for k in range(2):
            points = [(m, sum(sign * self.seen[m][problem, method][k] for sign, problem, method in parts))
                      for m in range(3, 9)]
            found = polynomial(points[:5])
            if value(found, 8) != points[-1][1]:
                raise SystemExit(f"papers: the counts of {parts} are no polynomial in n")
            out.append(found)
        return out

    def at(self, problem, method, n):
        return tuple(int(value(p, n)) for p in self.polynomials((1, problem, method)))

    def formula(self, *parts, n=6):
        return [formula(p, n) for p in self.polynomials(*parts)]


class Page:
    def __init__(self, name, tool, counts):
        self.name, self.tool, self.counts, self.parts = name, tool, counts, []

    def heading(self, text):
        print(f"papers: {self.name}: {text}", flush=True)
        self.parts.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text):
        """Adds a paragraph of HTML."""
        self.parts.append(f"<p>{text}</p>")

    def erratum(self, text):
        """Adds a paragraph of HTML about what a paper prints wrongly or leaves open."""
        self.parts.append(f'<p class="erratum"><b>Erratum.</b> {text}</p>')

    def errata(self, rows):
        """Adds a table of errata in HTML: where, what is printed, what is right, and whether numbers or only reading show it."""
        head = "".join(f"<th>{h}</th>" for h in ("errata", "printed", "right", ""))
        lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
        self.parts.append(f"<table class=errata><tr>{head}</tr>\n" + "\n".join(lines) + "</table>")

    def pre(self, text):
        self.parts.append(f"<pre>{html.escape(text)}</pre>")

    def command(self, *arguments):
        """Adds a command and what it prints."""
        self.pre("$ appell " + " ".join(map(str, arguments)) + "\n" + self.tool.text(*arguments, "-q"))

    def table(self, head, rows):
        """Adds a table. A * before the first cell marks the row as our result; before another cell
        it marks only that cell."""
        together = lambda h: h.replace(" ", "\N{NO-BREAK SPACE}") if len(h) < 12 else h
        out = ["<table><tr>" + "".join(f"<th>{html.escape(together(h))}</th>" for h in head) + "</tr>"]
        for row in rows:
            ours = str(row[0]).startswith("*")
            # A long formula may continue on the next line, so that the page fits a screen.
            show = lambda text: f"<span>{html.escape(text)}</span>" if len(text) > 42 else html.escape(text)
            cells = "".join(f"<td{' class=ours' if c[:1] == '*' and not ours else ''}>{show(c.lstrip('*'))}</td>"
                            for c in map(str, row))
            out.append(f"<tr{' class=ours' if ours else ''}>{cells}</tr>")
        self.parts.append("\n".join(out) + "</table>")

    def plot(self, caption, script, size=(960, 420), **data):
        """Adds a picture drawn by gnuplot. Each entry of data becomes a block $name of rows."""
        text = f"set terminal svg size {size[0]},{size[1]} dynamic font 'sans,13' background '#ffffff'\n"
        text += "set grid lc '#dddddd' lt 1 lw 0.6\nset border lc '#444444'\n"
        for i, c in enumerate(COLORS):
            text += f"set linetype {i + 1} lc '{c}' lw 2\n"
        for name, rows in data.items():
            body = "\n".join("" if row is None else " ".join(f"{v:.9g}" for v in row) for row in rows)
            text += f"${name} << END\n{body}\nEND\n"
        done = subprocess.run(["gnuplot"], input=text + script, capture_output=True, text=True)
        if done.returncode != 0 or not done.stdout.startswith("<?xml"):
            raise SystemExit(f"papers: gnuplot: {done.stderr or 'no picture'}")
        picture = base64.b64encode(done.stdout.encode()).decode()
        self.parts.append(f'<figure><img alt="{html.escape(caption)}" src="data:image/svg+xml;base64,{picture}">'
                          f"<figcaption>{html.escape(caption)}</figcaption></figure>")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/host/appell")
    parser.add_argument("--out", default="build/papers")
    parser.add_argument("--page", choices=PAGES, action="append")
    chosen = parser.parse_args()
    os.makedirs(chosen.out, exist_ok=True)
    names = chosen.page or PAGES
    with tempfile.TemporaryDirectory(prefix="appell-papers-") as scratch:
        counts = Counts(Tool(chosen.program, scratch))

        def body(name):
            started, module = time.monotonic(), importlib.import_module(name)
            folder = os.path.join(scratch, name)
            os.makedirs(folder)
            page = Page(name, Tool(chosen.program, folder), counts)
            module.make(page)
            print(f"papers: {name}, {len(page.parts)} parts, {time.monotonic() - started:.1f} s", flush=True)
            return (f'<h2 id="{name}">{html.escape(module.TITLE)}</h2>\n<p class="source">{html.escape(module.SOURCE)}</p>\n'
                    + "\n".join(page.parts)), f'<a href="#{name}">{html.escape(module.TITLE)}</a>'
        # Two pages at a time. The last takes longest and starts first.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            made = dict(zip(reversed(names), pool.map(body, reversed(names))))
    bodies, index = zip(*(made[name] for name in names))
    text = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>The papers, and Appell</title>'
            f"<style>{STYLE}</style></head><body>\n<h1>The papers, and Appell</h1>\n"
            "<p>The tables, examples and figures of the papers that Appell is made from, with our numbers beside the "
            "printed ones (ours on blue), computed when this page was made. Input data and errata of the papers stand "
            "beside the tables and figures that they matter for. “Checked” means that an "
            "independent model of the energy confirms the right form in numbers, “read” that only the derivation does. "
            "Some errata may be damage of the scans that we have.</p>\n"
            f"<nav>{' · '.join(index)}</nav>\n" + "\n".join(bodies) + "\n</body></html>\n")
    path = os.path.join(chosen.out, "index.html")
    with open(path, "w") as file:
        file.write(text)
    print(f"papers: {path}, {len(text) // 1024} KB")


if __name__ == "__main__":
    main()
