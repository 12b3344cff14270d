"""Paper 004: the elastic arm of `appell sim` beside finite elements (elements.py), the paper's own verification.

Why the two run out of phase is taken apart: modes too few, elements too few, and the shortening of a bent beam, which
only the elements have.
"""
import cmath
import csv
import math
import os

import elements

# The start of the paper's simulation: the joints at -90 and 5 degrees, everything at rest.
START = [-math.pi / 2, math.radians(5)]
SECONDS, STEP = 2.0, 1e-4


def robot(page, modes):
    """Writes the arm of the paper with this many modes of each link."""
    path = os.path.join(page.tool.folder, f"flex2_{modes}.yaml")
    with open(os.path.join("tools", "robots", "flex2.yaml"), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("modes: {xy: 1}", f"modes: {{xy: {modes}}}"))
    return path


def state(joints, modes):
    return [x for q in joints for x in [q] + [0.0] * modes]


def fall(page, modes, joints, seconds, *options):
    """Lets the straight arm fall from rest; returns joints, shape and summary."""
    bent = os.path.join(page.tool.folder, "bent.csv")
    run, done = page.tool.simulate(robot(page, modes), "--start=" + ",".join(map(repr, state(joints, modes))), "--duration", seconds,
                                   "--sample", "0.001", "-i", "rk45", "--tolerance", "1e-10", "--bent", bent, *options)
    with open(bent) as file:
        rows = list(csv.DictReader(file))
    os.remove(bent)
    return run, {name: [float(row[name]) for row in rows] for name in rows[0]}, done


def lifting(mass, modes):
    """Returns the stiffness that the modes of the hanging arm lack, because bending does not shorten their beams: the
    integrals of N w_i' w_j', where N is the weight below a point. Size and sign of the tool's modes are read from its matrix."""
    n, steps = modes + 1, 2000
    out = [[0.0] * (2 * n) for _ in range(2 * n)]
    points, slopes = [(p + 0.5) / steps for p in range(steps)], []
    for i in range(modes):
        k = (i + 0.5) * math.pi if i else 1.9
        for _ in range(20):  # clamped-free: cos k cosh k = -1
            k += (math.cos(k) + 1 / math.cosh(k)) / (math.sin(k) + math.tanh(k) / math.cosh(k))
        part = (math.cosh(k) + math.cos(k)) / (math.sinh(k) + math.sin(k))
        size = math.copysign(math.sqrt(mass[n + 1 + i][n + 1 + i] / 5), mass[n][n + 1 + i])
        slopes.append([size * k * (math.sinh(k * s) + math.sin(k * s) - part * (math.cosh(k * s) - math.cos(k * s))) for s in points])
    for link in (0, 1):
        weight = [5 * 9.81 * (2 - link - s) for s in points]
        for i in range(modes):
            for j in range(modes):
                out[link * n + 1 + i][link * n + 1 + j] = sum(w * a * b for w, a, b in zip(weight, slopes[i], slopes[j])) / steps
    return out


def own_frequencies(page, modes, gravity, shorten=False):
    """Returns the natural frequencies of the hanging arm of the tool: its matrix, and its stiffness from
    differences of the torques at rest; with the term of lifting() if `shorten`."""
    path, n, h = robot(page, modes), 2 * (modes + 1), 1e-4
    q = state([-math.pi / 2, 0.0], modes)
    flat = page.tool.table("mass", path, rows=[q])[0]
    moved = [[x + s * h * (i == k) for i, x in enumerate(q)] + [0.0] * n for s in (1, -1) for k in range(n)]
    tau = page.tool.table("bias", path, f"--gravity=0,{-gravity},0", rows=moved)
    pull = [[(tau[k][i] - tau[n + k][i]) / (2 * h) for i in range(n)] for k in range(n)]
    mass = [flat[n * i:n * i + n] for i in range(n)]
    more = lifting(mass, modes) if shorten else [[0.0] * n for _ in range(n)]
    return elements.frequencies(mass, [[(pull[i][j] + pull[j][i]) / 2 + more[i][j] for j in range(n)] for i in range(n)])


def element_frequencies(count, gravity, beams=2):
    arm = elements.Arm(beams=beams, elements=count, gravity=gravity)
    return elements.frequencies(*arm.linear(arm.start([-math.pi / 2] + [0.0] * (beams - 1))))


def one_beam(page):
    """A beam on a hinge, whose frequencies are known: tan k = tanh k."""
    exact = []
    for number in (1, 2, 3):
        k = (number + 0.25) * math.pi
        for _ in range(50):
            k = number * math.pi + math.atan(math.tanh(k))
        exact.append(k * k * math.sqrt(1000 / 5) / (2 * math.pi))
    rows = [["exact, tan k = tanh k", *(f"{f:.4f}" for f in exact)]]
    for count in (2, 4, 8):
        found = element_frequencies(count, 0.0, beams=1)[1:4]
        rows.append([f"*{count} elements", *(f"{f:.4f}" for f in found)])
    page.table(["one beam on a hinge, without gravity: Hz", "first", "second", "third"], rows)


def frequency_table(page):
    """Returns {(kind, size, gravity): first frequency of bending}, and that with the shortening under "shortened"."""
    rows, first = [], {}
    for kind, sizes, ask in (("modes", (1, 2, 3, 4, 5, 6), lambda m, g: own_frequencies(page, m, g)),
                             ("elements", (2, 4, 6), element_frequencies)):
        for size in sizes:
            cells = []
            for gravity in (0.0, 9.81):
                found = ask(size, gravity)
                first[kind, size, gravity] = found[2]
                cells += [f"{f:.3f}" for f in found[2:4]]
            what = f"sim, {size} mode{'s' if size > 1 else ''} a link" if kind == "modes" else f"{size} elements a link"
            rows.append([f"*{what}", *cells])
        if kind == "modes":
            found = own_frequencies(page, 6, 9.81, shorten=True)
            first["shortened"] = found[2]
            rows.append(["*sim, 6 modes a link, shortening added", "", "", *(f"{f:.3f}" for f in found[2:4])])
    page.table(["bending of the hanging arm, Hz", "without gravity: first", "second", "with gravity: first", "second"], rows)
    return first


def peak(times, values, near):
    """Returns the frequency at which the spectrum (Hann window) is largest, within a fifth of `near`."""
    length = times[-1] - times[0]
    seen = [v * (1 - math.cos(2 * math.pi * t / length)) for t, v in zip(times, values)]
    size = lambda f: abs(sum(v * cmath.exp(-2j * math.pi * f * t) for t, v in zip(times, seen)))
    step = 0.1 / length
    at = max((near * 0.8 + k * step for k in range(int(0.4 * near / step) + 1)), key=size)
    for _ in range(4):
        step /= 4
        at = max((at + k * step for k in range(-4, 5)), key=size)
    return at


def compare(page, run, shape):
    page.heading("Finite elements: the paper's own verification")
    page.text("The paper compares its curves with those of a finite-element program (Usoro et al. 1986), by eye. These are elements "
              "of our own (<code>tools/papers/elements.py</code>), which share nothing with <code>dyn/flex</code>: Euler-Bernoulli beams "
              "whose unknown is the direction of the tangent, quadratic in an element. They turn as far as they like and do not "
              "stretch, so that a bent beam is shorter along its chord. The clamped-free modes of the paper, and of "
              "<code>sim</code>, move across the straight beam only.")
    one_beam(page)
    first = frequency_table(page)
    f = lambda kind, size, gravity: first[kind, size, gravity]
    page.text("Without gravity both series go to the same limit from above: six modes and six elements differ by "
              f"{abs(f('modes', 6, 0.0) / f('elements', 6, 0.0) - 1):.1g} in the first frequency. One mode a link, as in the "
              f"paper, is {100 * (f('modes', 1, 0.0) / f('elements', 6, 0.0) - 1):.0f} % too high: a link that hangs on a hinge does not "
              "bend like one that is clamped. With gravity the elements get stiffer and the modes softer, and "
              f"{100 * (f('elements', 6, 9.81) / f('modes', 6, 9.81) - 1):.2f} % stay between six of each. The cause is the "
              "shortening: bending lifts what hangs below by ½∫w'², w' being the slope, and its weight pulls the beam straight. The "
              "modes lack this. Added to the stiffness of the six modes, it brings them to "
              f"{abs(first['shortened'] / f('elements', 6, 9.81) - 1):.1g} of the elements, as near as without gravity.")
    arm = elements.Arm(elements=4)
    states, drift = arm.run(START, SECONDS, 0.001, STEP)
    times = run["t"]
    hubs = [[arm.hub(phi, beam) for phi in states] for beam in (0, 1)]
    fe = {f"{link}_xy_{what}": [h[what] for h in hubs[i]] for i, link in enumerate(("first", "second")) for what in hubs[0][0]}
    joints = list(zip(*map(arm.joints, states)))
    more_run, more, _ = fall(page, 4, START, SECONDS)
    end = "first_xy_deflection_end"
    rows, seen = [], {}
    for name, source, angles, kind, size in (
            ("4 elements a link", fe, joints, "elements", 4),
            ("sim, 4 modes a link", more, (more_run["q_first"], more_run["q_second"]), "modes", 4),
            ("sim, 1 mode a link (the paper)", shape, (run["q_first"], run["q_second"]), "modes", 1)):
        predicted = f(kind, size, 9.81)
        seen[name] = peak(times, source[end], predicted)
        away = off = max(abs(a - b) for ours, theirs in zip(angles, joints) for a, b in zip(ours, theirs))
        ahead = lambda rate, base: f"{SECONDS * (rate - base):+.2f}"
        rows.append([f"*{name}", f"{predicted:.3f}", f"{seen[name]:.3f}", ahead(predicted, f("elements", 4, 9.81)),
                     ahead(seen[name], seen["4 elements a link"]), f"{max(map(abs, source[end])) * 1000:.3f}", f"{1000 * off:.2f}"])
    page.table(["the fall of Figs. 4 to 15", "first frequency, Hz", "in the run, Hz", "cycles ahead, by frequency", "in the run",
                "largest deflection, mm", "joints apart, mrad"], rows)
    curves = [[t, *(1000 * s[end][i] for s in (shape, more, fe))] for i, t in enumerate(times)]
    script = "set multiplot layout 2,1\nset xlabel 's'\nset ylabel 'mm'\nset key outside right\n"
    for title, low, high in (("the first 0.2 s", 0, 0.2), ("the last 0.2 s", SECONDS - 0.2, SECONDS)):
        script += (f"set title '{title}'\nset xrange [{low}:{high}]\nplot $d using 1:2 with lines title '1 mode', "
                   "$d using 1:3 with lines title '4 modes', $d using 1:4 with lines lc 'black' dt 2 title 'elements'\n")
    steps = [f("modes", 1, 9.81), f("modes", 6, 9.81), f("elements", 6, 9.81), f("elements", 4, 9.81)]
    parts = [SECONDS * (a - b) for a, b in zip(steps, steps[1:])]
    total = SECONDS * (steps[0] - steps[-1])
    page.plot("Deflection at the end of the first link (Fig. 9): the paper's one mode, four modes, and four elements a link.",
              script, (960, 640), d=curves)
    page.text(f"The run of the elements takes steps of {1000 * STEP:g} ms by the trapezoidal rule, which lowers the first "
              f"frequency by {(2 * math.pi * f('elements', 4, 9.81) * STEP) ** 2 / 12:.0e} of itself, and changes the energy by at "
              f"most {drift:.0e} of the largest kinetic energy. The frequency in the run is the peak of the spectrum of Fig. 9's "
              f"curve. So one mode runs ahead of the elements by {total:+.3f} cycles in {SECONDS:g} s, the sum of "
              f"{parts[0]:+.3f} for one mode instead of six, {parts[1]:+.3f} for the missing shortening, and {parts[2]:+.3f} for four "
              f"elements instead of six. The joints stay within {1000 * away:.1f} mrad. The paper finds its one mode “in good concordance” with the "
              "finite elements of its reference. Beside ours that is true of the joints, but not of the frequency of bending.")
    page.heading("More modes than the paper's one")
    rows, joints, seconds = [], [-0.5, 0.6], 0.5
    for modes in (1, 2, 3, 4):
        _, at, _ = fall(page, modes, joints, seconds)
        rows.append([f"*{modes} mode{'s' if modes > 1 else ''} a link", f"{at['effector_x'][-1]:.5f}", f"{at['effector_y'][-1]:.5f}"])
    for count in (2, 4):
        arm = elements.Arm(elements=count)
        states, _ = arm.run(joints, seconds, 0.01, 2 * STEP)
        rows.append([f"*{count} elements a link", *(f"{x:.5f}" for x in arm.effector(states[-1]))])
    page.table([f"released straight from {joints[0]} and {joints[1]} rad, after {seconds} s", "x of the end effector, m", "y"], rows)
