#!/usr/bin/env python3
"""Makes build/papers/index.html: the numbers that the papers print beside those that the tool computes.

    papers.py [--program APPELL] [--out FOLDER] [--page NAME]

A page is a module of this folder with TITLE, SOURCE and make(page); PAGES lists them. gnuplot draws the
pictures, which are part of the page. Everything is computed in each run: no result is stored here.
"""
import argparse
import base64
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

PAGES = ["paper_000", "paper_001", "paper_002", "paper_003", "paper_004"]

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #223; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 26px; } h2 { margin-top: 2.2em; border-bottom: 2px solid #0072b2; padding-bottom: 4px; }
h3 { margin-top: 1.8em; } table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
td, th { white-space: nowrap; padding: 3px 9px; border-bottom: 1px solid #dde2e8; text-align: right; }
td + td span { display: inline-block; white-space: normal; max-width: 19em; } td:first-child, th:first-child { text-align: left; } th { background: #f2f5f8; }
tr.ours td, td.ours { background: #eef6fb; } figure { margin: 1em 0; } figure img { width: 100%; }
figcaption, .source, nav { color: #556; font-size: 13px; } pre { background: #f4f6f8; padding: 10px; overflow-x: auto; font-size: 12.5px; }
code { background: #f4f6f8; padding: 1px 4px; }
"""


class Tool:
    """Runs commands of the program appell."""

    def __init__(self, program):
        self.program = os.path.abspath(program)

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


def chain(folder, n):
    """Writes a robot file of n revolute joints with general constants, because the papers count for
    general arms."""
    path = os.path.join(folder, f"chain{n}.yaml")
    with open(path, "w") as file:
        file.write(f"name: chain{n}\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n")
        for i in range(n):
            frame = "theta: 0, d: 0, a: 0, alpha: 0" if i == 0 else \
                f"theta: 0.{i + 1}, d: 0.{i + 2}1, a: 0.{i + 3}2, alpha: 0.{i + 4}3"
            file.write(f"  - name: j{i}\n    type: revolute\n    dh: {{{frame}}}\n"
                       f"    link: {{mass: {n - i}, com: [0.1, 0.2, 0.05], inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]}}\n")
    return path


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
    value = sum(c * n ** k for k, c in enumerate(coefficients))
    return f"{text} ({value})"


class Counts:
    """Operation counts as formulas in n, from counts of chains of 3 to 8 joints."""

    def __init__(self, tool):
        self.seen = {n: tool.operations(chain(tool.folder, n)) for n in range(3, 9)}
        self.tool = tool

    def at(self, problem, method, n):
        if n not in self.seen:
            self.seen[n] = self.tool.operations(chain(self.tool.folder, n))
        return self.seen[n][problem, method]

    def formula(self, *parts, n=6):
        """Formats products and sums of a kernel, or of a sum of several kernels; each part is
        (sign, problem, method)."""
        out = []
        for k in range(2):
            points = [(m, sum(sign * self.seen[m][problem, method][k] for sign, problem, method in parts))
                      for m in range(3, 9)]
            found = polynomial(points[:5])
            if sum(c * 8 ** i for i, c in enumerate(found)) != points[-1][1]:
                raise SystemExit(f"papers: the counts of {parts} are no polynomial in n")
            out.append(formula(found, n))
        return out


class Page:
    def __init__(self, tool, counts):
        self.tool, self.counts, self.parts = tool, counts, []

    def heading(self, text):
        self.parts.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text):
        """Adds a paragraph of HTML."""
        self.parts.append(f"<p>{text}</p>")

    def pre(self, text):
        self.parts.append(f"<pre>{html.escape(text)}</pre>")

    def table(self, head, rows):
        """Adds a table. A * before the first cell marks the row as our result; before another cell
        it marks only that cell."""
        out = ["<table><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"]
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
    tool = Tool(chosen.program)
    scratch = tempfile.TemporaryDirectory(prefix="appell-papers-")
    tool.folder = scratch.name  # for temporary files of the pages
    counts = Counts(tool)
    bodies, index = [], []
    for name in chosen.page or PAGES:
        started = time.process_time()
        module = importlib.import_module(name)
        page = Page(tool, counts)
        module.make(page)
        index.append(f'<a href="#{name}">{html.escape(module.TITLE)}</a>')
        bodies.append(f'<h2 id="{name}">{html.escape(module.TITLE)}</h2>\n<p class="source">{html.escape(module.SOURCE)}</p>\n'
                      + "\n".join(page.parts))
        print(f"papers: {name}, {len(page.parts)} parts, {time.process_time() - started:.1f} s", flush=True)
    text = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>The papers, and Appell</title>'
            f"<style>{STYLE}</style></head><body>\n<h1>The papers, and Appell</h1>\n"
            "<p>Every table, example and figure of the papers that Appell is made from, with our numbers beside the "
            "printed ones (ours on blue), computed when this page was made. Corrections of the papers are explained "
            "where they matter.</p>\n"
            f"<nav>{' · '.join(index)}</nav>\n" + "\n".join(bodies) + "\n</body></html>\n")
    path = os.path.join(chosen.out, "index.html")
    with open(path, "w") as file:
        file.write(text)
    print(f"papers: {path}, {len(text) // 1024} KB")


if __name__ == "__main__":
    main()
