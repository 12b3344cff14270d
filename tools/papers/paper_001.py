"""Page of Swartz 1982: RK3 at 1 ms, its correction, the mechanical time constants, the program sim."""
import math
import os

TITLE = "Swartz 1982"
SOURCE = "N. M. Swartz, Arm Dynamics Simulation, The Robotics Institute, Carnegie-Mellon University, 23 November 1982."

START = [0.1, 0.8, -0.4, 0.3, 0.5, 0.2]
ROUNDING = 5e-13  # fifty times the rounding error of some hundred steps of this fall


def rk3(asker, h, steps, literal):
    """Integrates a free fall of the PUMA by the paper's method, with c3 as printed or corrected."""
    n, q, qd = 6, list(START), [0.0] * 6
    F = lambda q, qd: asker.ask(q + qd + [0.0] * n)
    add = lambda x, *terms: [v + sum(f * t[i] for f, t in terms) for i, v in enumerate(x)]
    for _ in range(steps):
        c1, k1 = qd, F(q, qd)
        c2 = add(qd, (h / 2, k1))
        k2 = F(add(q, (h / 2, c1)), c2)
        c3 = add(qd, (2 * h, k2), (-h, c1 if literal else k1))
        k3 = F(add(q, (2 * h, c2), (-h, c1)), c3)
        q = add(q, (h / 6, c1), (4 * h / 6, c2), (h / 6, c3))
        qd = add(qd, (h / 6, k1), (4 * h / 6, k2), (h / 6, k3))
    return q + qd


def orders(page):
    from papers import Asker
    T, counts = 0.4, [20, 40, 80, 160, 320, 400]  # steps halved each time, and 1 ms
    common = ["--no-friction", "--start", ",".join(map(str, START)), "--duration", T, "--sample", T]
    end = lambda *more: (lambda s: s["q"] + s["qd"])(page.tool.json("sim", "puma560", *common, *more))
    exact = end("-i", "rk56", "--step", T / 1600)
    names = ["rk3", "rk4", "rk45", "rk56"]
    errors = {m: [math.dist(end("-i", m, "--step", T / k), exact) for k in counts] for m in names}
    asker = Asker(page.tool, "fd", "puma560", "--no-friction")
    errors["as printed"] = [math.dist(rk3(asker, T / k, k, True), exact) for k in counts]
    errors["as corrected"] = [math.dist(rk3(asker, T / k, k, False), exact) for k in counts]
    asker.close()
    page.heading("RK3 at 1 ms: what is printed, what is right")
    page.text("The paper prints c<sub>3</sub> = θ' + 2h k<sub>2</sub> − h c<sub>1</sub>; it must be − h k<sub>1</sub>. Free fall of the "
              f"PUMA for {T} s, error of positions and speeds at the end:")
    at, halved = counts.index(400), range(1, counts.index(320) + 1)

    def order(m):
        """Returns the measured order and the pair of steps that it is read from: the finest whose
        errors are above rounding, because there the leading term of the error dominates."""
        fine = [i for i in halved if errors[m][i] > ROUNDING][-1]
        steps = [f"{1000 * T / counts[i]:g}" for i in (fine - 1, fine)]
        return f"{math.log2(errors[m][fine - 1] / errors[m][fine]):.2f}", f"{steps[0]} to {steps[1]} ms"
    page.table(["integrator", "error at 1 ms", "order", "read from steps of"],
               [["RK3 as printed", f"{errors['as printed'][at]:.2g}", *order("as printed")]]
               + [[f"*{m}", f"{errors[m][at]:.2g}", *order(m)] for m in names])
    same = max(abs(a - b) for a, b in zip(errors["rk3"], errors["as corrected"]))
    page.text(f"Our rk3 is the corrected formula: written out as in the paper it ends at the same place (to {same:.1g}). The printed "
              "one is of order 1. At 1 ms and with order 5 or 6 the rounding of the numbers is what is left; orders are read above it.")
    data = [[1000 * T / k, *(max(errors[m][i], 1e-16) for m in ("as printed", *names))] for i, k in enumerate(counts)]
    page.plot(f"Error after {T} s over the step in ms: the slope is the order.",
              "set logscale xy\nset format y '10^{%L}'\nset xlabel 'step in ms'\nset ylabel 'error'\nset key outside\n"
              "plot $d using 1:2 with linespoints lc 'black' dt 2 pt 7 ps 0.6 title 'RK3 as printed', "
              + ", ".join(f"$d using 1:{i + 3} with linespoints pt 7 ps 0.6 title '{m}'" for i, m in enumerate(names)), d=data)


def time_constants(page):
    info = page.tool.json("info", "cmu-dd")
    q = [0.0, 0.5, 0.0, 0.8, 0.0, 0.5]
    mass = page.tool.table("mass", "cmu-dd", rows=[q])[0]
    rows = []
    for i, j in enumerate(info["joints"]):
        k = j["gear"] * j["torque_constant"]
        rows.append((j["name"], j["resistance"] * mass[7 * i] / k ** 2))
    smallest = min(t for _, t in rows)
    page.heading("The step of 1 ms and the mechanical time constants")
    page.table(["joint of cmu-dd", "R J / Kt², ms"], [[f"*{name}", f"{1000 * t:.3g}"] for name, t in rows])
    page.text("The paper takes 1 ms, “approximately 1/15th of the smallest mechanical time constant in the arm”, i.e. 15 ms. "
              f"It prints no data of its arm; in ours, made in its spirit, the smallest is {1000 * smallest:.2g} ms at this position. "
              "An explicit step must stay below about 2.5 time constants; accuracy, not stability, sets 1 ms here: the same run "
              "with rk3 at 1 ms and with rk56 at tolerance 1e-12 differ by the following.")
    volts, T = "20,15,-10,6,-4,2", 0.5
    common = ["--start", ",".join(map(str, q)), "--voltage", volts, "--duration", T, "--period", "0.001", "--sample", "0.005"]
    coarse, _ = page.tool.simulate("cmu-dd", *common, "-i", "rk3", "--step", "0.001")
    fine, _ = page.tool.simulate("cmu-dd", *common, "-i", "rk56", "--tolerance", "1e-12")
    names = [name for name in coarse if name.startswith("q_")]
    worst = max(abs(a - b) for name in names for a, b in zip(coarse[name], fine[name]))
    page.text(f"Constant voltages {volts} V, {T} s: positions differ by at most <b>{worst:.2g} rad</b>.")
    data = [[t, *(coarse[name][i] for name in names)] for i, t in enumerate(coarse["t"])]
    page.plot("The direct-drive arm under constant voltages, rk3 at 1 ms, positions in rad over s.",
              "set xlabel 's'\nset ylabel 'rad'\nset key outside\nplot " +
              ", ".join(f"$d using 1:{i + 2} with lines title '{name[2:]}' noenhanced" for i, name in enumerate(names)), d=data)


SESSION = """gravity
theta = 0 0.5 0 0.8 0 0.5
inverse_arm
voltage = 20 15 -10 6 -4 2
torque
forward_arm
simulate yes no no 100
print_simulation 0 100 50
"""


def session(page):
    page.heading("The program “sim”")
    page.text("The variables and commands of the paper, as <code>appell sim cmu-dd</code> has them. What is typed stands behind "
              "the prompt; <code>simulate</code> asks for what is not said in its line.")
    out, rest = [], SESSION.splitlines()
    for k, line in enumerate(rest):
        shown = page.tool.text("sim", "cmu-dd", "-q", rows="\n".join(rest[:k + 1]) + "\n")
        before = page.tool.text("sim", "cmu-dd", "-q", rows="\n".join(rest[:k]) + "\n") if k else ""
        out.append("sim> " + line + "\n" + shown[len(before):])
    page.pre("".join(out))
    page.text("The paper's default for gravity, −9.80621 for an arm that hangs from its base, is what this arm has. Typesetting has "
              "turned underscores of the command names into dots and slashes in the print.")


def make(page):
    orders(page)
    time_constants(page)
    session(page)
