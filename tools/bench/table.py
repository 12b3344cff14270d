#!/usr/bin/env python3
"""Makes the tables of the pages from build/bench.csv.

    table.py CSV                    prints them as Markdown
    table.py CSV --measured DIR     writes them as blocks for `pages.py accept` (make bench-accept)
"""

import argparse
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402
import measured  # noqa: E402 (bench has added tools/dev to the path)

METHODS = ("fast", "ga", "ne", "denoc", "crba", "aba", "wo1", "plain", "textbook")
NOTES = {"plain": "`ne` by hand in plain float",
         "textbook": "textbook, 3x3 matrices, sinf and cosf"}
# Degree of the polynomial in n, the number of joints, that is fitted to the cost of a kernel.
DEGREES = {"id": 1, "mass": 2}
FORWARD_DEGREES = {"aba": 1, "denoc": 1}
# Left out of the fit: arms of six joints have their own solver (dyn/kernel/fast_forward.c) and are
# not on the curve.
APART = {("fd", "fast"): 6}


class TableError(Exception):
    pass


def grouped(number):
    return "{:,}".format(number)


def cell(row, best):
    if row is None:
        return ""
    text = grouped(row["instructions_max"])
    if row["cycles_est"] != "":
        text += " (%s)" % grouped(row["cycles_est"])
    return "**%s**" % text if row is best else text


def select(rows, **wanted):
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


def method_table(rows, title, robot, board, real, also=()):
    """A table with a row per method and a column per problem."""
    lines = [title, "", "| method | inverse dynamics | inertia matrix | forward dynamics |",
             "|---|---|---|---|"]
    chosen = select(rows, robot=robot, board=board, real=real)
    problems = ("id", "mass", "fd")
    best = {}
    for problem in problems:
        found = [r for r in select(chosen, problem=problem) if r["method"] in METHODS]
        if not found:
            raise TableError("no row %s %s %s %s: run make bench" % (board, robot, problem, real))
        best[problem] = min(found, key=lambda r: r["instructions_max"])
    for method in METHODS:
        cells = []
        for problem in problems:
            found = select(chosen, problem=problem, method=method)
            cells.append(cell(found[0] if found else None, best[problem]))
        if any(cells):
            name = "`%s`" % method if method not in NOTES else NOTES[method]
            lines.append("| %s | %s |" % (name, " | ".join(cells)))
    for name, more_board, more_real, method in also:
        found = [(select(rows, robot=robot, board=more_board, real=more_real, problem=p,
                         method=method) or [None])[0] for p in problems]
        if any(found):
            lines.append("| %s | %s |" % (name, " | ".join(cell(r, None) for r in found)))
    return lines + [""]


def solve(matrix, right):
    """Solves a linear system by Gaussian elimination with pivoting."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if rows[k][k] == 0:
            raise TableError("too few robots for a fit")
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def fit(points, degree):
    """Fits a polynomial by least squares of the relative errors. Returns its coefficients from n^0
    on, and the largest relative error."""
    powers = range(degree + 1)
    # Weighted by 1/y, so that a chain of 3 joints counts as much as one of 30.
    matrix = [[sum(n ** (i + j) / y ** 2 for n, y in points) for j in powers] for i in powers]
    right = [sum(n ** i / y for n, y in points) for i in powers]
    c = solve(matrix, right)
    return c, max(abs(sum(c[i] * n ** i for i in powers) / y - 1) for n, y in points)


def polynomial(c):
    text = ""
    for power in reversed(range(len(c))):
        name = "" if power == 0 else "n" if power == 1 else "n^%d" % power
        digits = "%.1f" % abs(c[power]) if power > 1 else "%.0f" % abs(c[power])
        sign = "-" if c[power] < 0 else "+"
        if not text:
            text = ("-" if sign == "-" else "") + digits + name
        else:
            text += " %s %s%s" % (sign, digits, name)
    return text


def degree_of(problem, method):
    if problem == "fd":
        return FORWARD_DEGREES.get(method, 3)
    return DEGREES[problem]


def growth_table(rows, title, board, real):
    lines = [title, "",
             "| problem | method | instructions for n joints | largest error of the fit |",
             "|---|---|---|---|"]
    chains = [r for r in select(rows, board=board, real=real) if r["robot"].startswith("chain")]
    for problem in ("id", "mass", "fd"):
        for method in METHODS:
            points = [(int(r["n"]), r["instructions_max"]) for r in
                      select(chains, problem=problem, method=method)]
            if not points:
                continue
            # A chain of two joints has only a first and a last joint, which are special cases.
            points = [p for p in points if p[0] >= 3 and p[0] != APART.get((problem, method))]
            c, error = fit(points, degree_of(problem, method))
            name = "`%s`" % method
            if (problem, method) in APART:
                name += ", n other than %d" % APART[problem, method]
            lines.append("| %s | %s | %s | %.1f %% |" % (problem, name, polynomial(c),
                                                       100 * error))
    return lines + [""]


def size_table(rows, title, robot, places):
    lines = [title, "", "| function | " + " | ".join(name for name, _, _ in places) + " |",
             "|---|" + "---|" * len(places)]
    for problem, method in (("id", "fast"), ("mass", "fast"), ("fd", "fast"), ("fd", "aba"),
                            ("id", "ne"), ("mass", "crba")):
        cells = []
        for _, board, real in places:
            found = select(rows, robot=robot, board=board, real=real, problem=problem,
                           method=method)
            cells.append("%s, %s" % (grouped(found[0]["text_bytes"]), found[0]["stack_bytes"])
                         if found else "")
        lines.append("| %s by `%s` | %s |" % (problem, method, " | ".join(cells)))
    return lines + [""]


def one(rows, **wanted):
    found = select(rows, robot="puma560", **wanted)
    if not found:
        raise TableError("no row %s: run make bench" % " ".join(wanted.values()))
    return found[0]


def spread(row):
    """Formats the instructions, minimum to maximum over all states, and the cycles."""
    least, most = grouped(row["instructions_min"]), grouped(row["instructions_max"])
    return "%s (%s)" % (most if least == most else least + " to " + most,
                        grouped(row["cycles_est"]))


def tick_tables(comment, rows):
    """The table of the stages of a tick."""
    stages = (("sense", "sense: encoder counts to positions"), ("estimate", "estimate: speeds"),
              ("reference", "reference: a cycloid"),
              ("dynamics", "dynamics: inverse dynamics, rotors, friction, limits of the proof"),
              ("feedback", "feedback and torque limits"), ("drive", "voltages and duty cycles"),
              ("arm", "whole tick with an arm at the hardware, guards and sample included"),
              ("sim_arm", "simulated arm instead of the hardware"), ("-", "whole tick with it"))
    places = (("netduinoplus2", "f32"), ("netduino2", "q31"))
    lines = ["| stage | Cortex-M4F, f32 | Cortex-M3, q31 (no FPU) |", "|---|---|---|"]
    for method, name in stages:
        cells = [spread(one(rows, problem="tick", method=method, board=b, real=r))
                 for b, r in places]
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    arm, both = (one(rows, problem="tick", method=m, board="netduino2", real="q31")["cycles_est"]
                 for m in ("arm", "-"))
    lines += ["", "A millisecond of the smallest board, an STM32F100 with 24 MHz and 8 KB of RAM, has "
              "24,000 cycles: the six-axis arm takes %d %% of it" % round(arm / 240),
              "at the hardware. With the simulated arm it would be %d %%, which only the emulator "
              "does, because it counts instructions." % round(both / 240)]
    return "\n".join(lines) + "\n"


def gen_tables(comment, rows):
    """The table of the code generated for the PUMA 560."""
    problems = ("id", "mass", "fd", "bias", "gravity", "fk", "jacobian")
    lines = ["| | inverse | matrix | forward | bias | gravity | fk | Jacobian |",
             "|---|" + "---|" * len(problems)]
    for name, board, real in (("M4F, f32", "netduinoplus2", "f32"), ("M7, f32", "mps2-an500", "f32"),
                              ("M3, q31", "netduino2", "q31")):
        cells = [spread(one(rows, problem=p, method="gen", board=board, real=real)) for p in problems]
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def soft_tables(comment, rows):
    """Compares fixed point with floats, with and without an FPU."""
    lines = ["| Cortex-M3 (netduino2), PUMA 560 (`make bench`) | q31 | f32 in software | factor |",
             "|---|---|---|---|"]
    fpu = []
    for problem in ("id", "mass", "fd"):
        fixed, soft = (one(rows, problem=problem, method="fast", board="netduino2",
                           real=r)["instructions_max"] for r in ("q31", "f32"))
        lines.append("| `%s` fast, instructions | %s | %s | %.1f |"
                     % (problem, grouped(fixed), grouped(soft), soft / fixed))
        fpu.append("%s for `%s` where f32 costs %s" % tuple(
            [grouped(one(rows, problem=problem, method="fast", board="netduinoplus2",
                         real="q31")["instructions_max"]), problem,
             grouped(one(rows, problem=problem, method="fast", board="netduinoplus2",
                         real="f32")["instructions_max"])]))
    lines += ["", "On the Cortex-M4F, which has an FPU, q31 costs", ", ".join(fpu) + "."]
    return "\n".join(lines) + "\n"


def flex_tables(comment, rows):
    """The table of elastic links, on boards with an FPU."""
    lines = ["| | M4F: flex2 (2 links, 2 modes) | M7 | M4F: 3 joints, 5 modes in space | M7 |",
             "|---|---|---|---|---|"]
    for method, name in (("bias", "right-hand side `bias`"), ("mass", "matrix `mass`"),
                         ("forward", "`forward` (with Cholesky)"),
                         ("torque", "inverse problem `torque`"),
                         ("static", "feedforward `static`, one round")):
        cells = []
        for robot in ("flex2", "flexspace"):
            for board in ("netduinoplus2", "mps2-an500"):
                found = select(rows, robot=robot, board=board, problem="flex", method=method)
                cells.append(grouped(found[0]["instructions_max"]) if found else "")
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines) + "\n"


# Goals of the method `fast` on the PUMA 560: board, number type, unit, largest value for each
# problem.
GOALS = (("netduinoplus2", "f32", "instructions_max", (1200, 1100, 2400)),
         ("netduinoplus2", "f32", "cycles_est", (1550, 1450, 3100)),
         ("netduino2", "q31", "instructions_max", (2100, 1850, 5500)))
COLUMNS = {"instructions_max": "instructions", "cycles_est": "estimated cycles"}
CORES = {"netduinoplus2": "Cortex-M4F", "netduino2": "Cortex-M3", "mps2-an500": "Cortex-M7"}
PROBLEMS = ("id", "mass", "fd")
M7_GOAL = 0.6  # cycles on the M7 relative to those on the M4F
STACK_GOAL = 1024


def verdict(reached):
    return "reached" if reached else "missed"


def goals_table(rows):
    """The table of the goals of `fast` and of its results."""
    lines = ["The goals of `fast` on the PUMA 560 (id / mass / fd):", "",
             "| what | goal | measured | |", "|---|---|---|---|"]
    for board, real, column, goals in GOALS:
        got = [one(rows, problem=p, method="fast", board=board, real=real)[column] for p in PROBLEMS]
        lines.append("| %s, %s `%s` | %s | %s | %s |" % (
            COLUMNS[column], CORES[board], real, " / ".join(map(grouped, goals)),
            " / ".join(map(grouped, got)), verdict(all(g <= most for g, most in zip(got, goals)))))
    parts = []
    for problem in PROBLEMS:
        m7, m4f = (one(rows, problem=problem, method="fast", board=b, real="f32")["cycles_est"]
                   for b in ("mps2-an500", "netduinoplus2"))
        parts.append(m7 / m4f)
    lines.append("| estimated cycles of the M7, relative to the M4F | below %.1f | %s | %s |" % (
        M7_GOAL, " / ".join("%.2f" % part for part in parts), verdict(max(parts) < M7_GOAL)))
    kernels = [r for r in select(rows, robot="puma560")
               if r["problem"] in SYMBOL_PROBLEMS and r["method"] in METHODS[:7]]
    for name, chosen in (("`fast`, f32 and q31", [r for r in kernels if r["method"] == "fast" and r["real"] != "f64"]),
                         ("every method, f32 and q31", [r for r in kernels if r["real"] != "f64"]),
                         ("every method, f64", select(kernels, real="f64"))):
        most = max(chosen, key=lambda r: r["stack_bytes"])
        lines.append("| deepest stack, %s | %s bytes | %s bytes (%s `%s`, %s, %s) | %s |" % (
            name, grouped(STACK_GOAL), grouped(most["stack_bytes"]), most["problem"], most["method"],
            most["real"], CORES[most["board"]], verdict(most["stack_bytes"] <= STACK_GOAL)))
    return lines + [""]


SYMBOL_PROBLEMS = tuple(bench.SYMBOLS)
CHOICE_PLACES = (("Cortex-M4F, `f32`", "netduinoplus2", "f32"), ("Cortex-M7, `f32`", "mps2-an500", "f32"),
                 ("Cortex-M3, `q31`", "netduino2", "q31"))
CHOICE_JOINTS = (3, 6, 7, 12, 20, 30)


def choice_cell(rows, problem, n, board, real):
    """Names the method with the fewest cycles, and the one with the fewest instructions if it
    differs."""
    found = [r for r in select(rows, robot="chain%d" % n, problem=problem, board=board, real=real)
             if r["method"] in METHODS[:7]]
    if not found:
        raise TableError("no row %s chain%d %s %s: run make bench" % (board, n, problem, real))
    fast, few = (min(found, key=lambda r: r[c]) for c in ("cycles_est", "instructions_max"))
    text = "`%s` %s (%s)" % (fast["method"], grouped(fast["instructions_max"]),
                             grouped(fast["cycles_est"]))
    if few is not fast:
        text += "; `%s` %s (%s)" % (few["method"], grouped(few["instructions_max"]),
                                    grouped(few["cycles_est"]))
    return text


def crossing(rows, board, real, column):
    """The smallest number of joints above 6 for which `aba` is cheaper than `fast` by the fitted
    curves."""
    fits = {}
    for method in ("fast", "aba"):
        points = [(int(r["n"]), r[column]) for r in
                  select(rows, board=board, real=real, problem="fd", method=method)
                  if r["robot"].startswith("chain") and int(r["n"]) not in (2, APART["fd", "fast"])]
        fits[method] = fit(points, degree_of("fd", method))[0]
    value = {m: lambda n, c=c: sum(a * n ** i for i, a in enumerate(c)) for m, c in fits.items()}
    return next(n for n in range(7, 33) if value["aba"](n) < value["fast"](n))


def choice_tables(comment, rows):
    """The table of the fastest method for each number of joints."""
    lines = ["| n | problem | %s |" % " | ".join(name for name, _, _ in CHOICE_PLACES),
             "|---|---|" + "---|" * len(CHOICE_PLACES)]
    for n in CHOICE_JOINTS:
        for problem in PROBLEMS:
            lines.append("| %d | %s | %s |" % (n, problem, " | ".join(
                choice_cell(rows, problem, n, board, real) for _, board, real in CHOICE_PLACES)))
    lines += ["", "For forward dynamics of more than 6 joints, `aba` takes fewer estimated cycles than `fast` from n = "
              + ", ".join("%d (%s)" % (crossing(rows, b, r, "cycles_est"), name.replace("`", ""))
                          for name, b, r in CHOICE_PLACES),
              "on, and fewer instructions from n = "
              + ", ".join("%d (%s)" % (crossing(rows, b, r, "instructions_max"), name.replace("`", ""))
                          for name, b, r in CHOICE_PLACES) + " on."]
    return "\n".join(lines) + "\n"


def newton_tables(comment, rows):
    """The cost of the example on the page about kernels."""
    lines = ["| `id` by `ne`, PUMA 560 | instructions (estimated cycles) | code, bytes | stack, bytes |",
             "|---|---|---|---|"]
    for name, board, real, method in (
            ("f32 on the Cortex-M4F", "netduinoplus2", "f32", "ne"),
            ("the same recursion by hand in plain float, M4F", "netduinoplus2", "f32", "plain"),
            ("f32 on the Cortex-M7", "mps2-an500", "f32", "ne"),
            ("q31 on the Cortex-M3", "netduino2", "q31", "ne"),
            ("f32 on the Cortex-M3, in software", "netduino2", "f32", "ne")):
        row = one(rows, problem="id", method=method, board=board, real=real)
        lines.append("| %s | %s | %s | %s |" % (name, spread(row), grouped(row["text_bytes"]),
                                                row["stack_bytes"]))
    return "\n".join(lines) + "\n"


def tables(comment, rows):
    """The tables of all methods, of the growth with the number of joints, and of code and stack."""
    lines = ["`make bench` measures these, `make bench-accept` accepts them: executed "
             "instructions per call, sine and cosine",
             "included, the most of 100 random states; in brackets **estimated** cycles, by the "
             "tables of `tools/bench/cores.h`.",
             "The best of a column is bold. %s." % comment.lstrip("# ").split("; cycles_est")[0],
             ""]
    lines += method_table(rows, "PUMA 560, Cortex-M4F, `f32`:", "puma560", "netduinoplus2", "f32")
    lines += method_table(
        rows, "PUMA 560, Cortex-M3 (no FPU), `q31`, and what floats cost there:", "puma560",
        "netduino2", "q31", (("`fast` in software floats, `f32`", "netduino2", "f32", "fast"),
                             ("textbook in software floats", "netduino2", "f32", "textbook")))
    lines += method_table(rows, "PUMA 560, Cortex-M7, `f32`:", "puma560", "mps2-an500", "f32")
    lines += growth_table(rows, "Growth with the number of joints, random revolute chains of 3 to "
                          "30, Cortex-M4F, `f32`:", "netduinoplus2", "f32")
    lines += growth_table(rows, "The same on the Cortex-M3 in `q31`:", "netduino2", "q31")
    lines += size_table(rows, "Code with everything it calls, and stack, in bytes:", "puma560",
                        (("Cortex-M4F `f32`", "netduinoplus2", "f32"),
                         ("Cortex-M3 `q31`", "netduino2", "q31"),
                         ("Cortex-M7 `f32`", "mps2-an500", "f32")))
    lines += goals_table(rows)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


PLACES = {"tick": tick_tables, "gen": gen_tables, "soft": soft_tables, "flex": flex_tables,
          "bench": tables, "choice": choice_tables, "newton": newton_tables}


def main():
    parser = argparse.ArgumentParser(description="Markdown tables of bench.csv")
    parser.add_argument("csv")
    parser.add_argument("--measured", metavar="DIR", help="keep them as measured blocks (tools/dev/measured.py)")
    args = parser.parse_args()
    try:
        comment, rows = bench.read_csv(args.csv)
        made = {name: make(comment, rows) for name, make in PLACES.items()}
        if args.measured:
            measured.keep(args.measured, "bench", "make bench",
                          [(name, text.rstrip("\n"), True) for name, text in made.items()])
            return 0
        sys.stdout.write("\n".join(made.values()))
    except (bench.BenchError, TableError) as e:
        print("table: %s" % e, file=sys.stderr)
        return 2
    except OSError as e:
        print("table: %s: %s" % (e.filename, e.strerror), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
