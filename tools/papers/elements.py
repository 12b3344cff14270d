"""Finite elements of a chain of elastic beams in a vertical plane, for the page of paper 004.

Nothing of it comes from dyn/flex. The unknowns are the directions phi(s) of the beam's tangent, against the horizontal, at
nodes: beams do not stretch and do not shear (Euler and Bernoulli), and their rotation may be large. phi is quadratic in an
element, so that the deflection is cubic. Positions follow from r' = (cos phi, sin phi), integrated by the Gauss rule of order
six in each element; that a bent beam is shorter along its chord is thus contained. A hinge joins two beams: the first
node of each is free, and the beam starts where the one before ends.

With the points a of the Gauss rule, r_p = sum_a C_pa (cos phi_a, sin phi_a), and the energies are those of a pendulum of
very many links:
    T = 1/2 sum_ab mu_ab cos(phi_a - phi_b) phi'_a phi'_b,   V = g sum_a gamma_a sin phi_a + 1/2 phi K phi.
"""
import math

ROOT = math.sqrt(15)
# Gauss rule of order six: points, weights, and integrals of the interpolation from 0 to each point.
POINTS = [0.5 - ROOT / 10, 0.5, 0.5 + ROOT / 10]
WEIGHTS = [5 / 18, 4 / 9, 5 / 18]
INTEGRALS = [[5 / 36, 2 / 9 - ROOT / 15, 5 / 36 - ROOT / 30],
             [5 / 36 + ROOT / 24, 2 / 9, 5 / 36 - ROOT / 24],
             [5 / 36 + ROOT / 30, 2 / 9 + ROOT / 15, 5 / 36]]


def shapes(x):
    """Returns the quadratic functions of an element's nodes at 0, 1/2 and 1."""
    return [(1 - x) * (1 - 2 * x), 4 * x * (1 - x), x * (2 * x - 1)]


def dot(a, b):
    return sum(map(float.__mul__, a, b))


class Arm:
    """Equal beams, hinged to each other and to the base."""

    def __init__(self, beams=2, elements=4, length=1.0, mass_per_length=5.0, bending=1000.0, gravity=9.81):
        self.beams, self.elements, self.length, self.gravity = beams, elements, length, gravity
        size = length / elements
        self.nodes = 2 * elements + 1                   # of a beam
        self.n = beams * self.nodes
        count = 3 * beams * elements                    # of Gauss points
        reach = [[0.0] * count for _ in range(count)]   # C
        self.shape = []                                 # at each Gauss point: (first node, values of three shapes)
        for e in range(beams * elements):
            first = e // elements * self.nodes + 2 * (e % elements)
            for g, x in enumerate(POINTS):
                self.shape.append((first, shapes(x)))
                for other in range(e):
                    for k in range(3):
                        reach[3 * e + g][3 * other + k] = size * WEIGHTS[k]
                for k in range(3):
                    reach[3 * e + g][3 * e + k] = size * INTEGRALS[g][k]
        mass = [mass_per_length * size * w for _ in range(beams * elements) for w in WEIGHTS]
        self.mu = [[sum(m * row[a] * row[b] for m, row in zip(mass, reach)) for b in range(count)] for a in range(count)]
        self.gamma = [sum(m * row[a] for m, row in zip(mass, reach)) for a in range(count)]
        self.end = [size * w for _ in range(beams * elements) for w in WEIGHTS]
        self.reach = reach
        # The integral of phi'^2 over an element, by its nodes.
        one = [[v * bending / (3 * size) for v in row] for row in ([7, -8, 1], [-8, 16, -8], [1, -8, 7])]
        self.stiffness = [[0.0] * self.n for _ in range(self.n)]
        for e in range(beams * elements):
            first = e // elements * self.nodes + 2 * (e % elements)
            for i in range(3):
                for j in range(3):
                    self.stiffness[first + i][first + j] += one[i][j]

    def at_points(self, nodal):
        return [nodal[i] * s[0] + nodal[i + 1] * s[1] + nodal[i + 2] * s[2] for i, s in self.shape]

    def to_nodes(self, values):
        """The transposed of at_points."""
        out = [0.0] * self.n
        for (i, s), v in zip(self.shape, values):
            out[i] += s[0] * v
            out[i + 1] += s[1] * v
            out[i + 2] += s[2] * v
        return out

    def matrix(self, phi):
        angles = self.at_points(phi)
        c, s = list(map(math.cos, angles)), list(map(math.sin, angles))
        # Products with mu, rows collected at the nodes first, then columns.
        rows = [[0.0] * len(c) for _ in range(self.n)]
        for a, (first, shape) in enumerate(self.shape):
            ca, sa = c[a], s[a]
            line = [m * (ca * cb + sa * sb) for m, cb, sb in zip(self.mu[a], c, s)]
            for k in range(3):
                f = shape[k]
                rows[first + k] = [x + f * y for x, y in zip(rows[first + k], line)]
        return [self.to_nodes(row) for row in rows], c, s

    def forces(self, phi, speed):
        """Returns the mass matrix, and the forces of speeds and gravity at the nodes."""
        matrix, c, s = self.matrix(phi)
        squares = [v * v for v in self.at_points(speed)]
        wc, ws = list(map(float.__mul__, c, squares)), list(map(float.__mul__, s, squares))
        # sum_b mu_ab sin(phi_a - phi_b) phi'_b^2, and gravity
        return matrix, self.to_nodes([-s[a] * dot(row, wc) + c[a] * dot(row, ws) - self.gravity * self.gamma[a] * c[a]
                                      for a, row in enumerate(self.mu)])

    def energy(self, phi, speed):
        matrix, _, s = self.matrix(phi)
        kinetic = dot(speed, [dot(row, speed) for row in matrix]) / 2
        return kinetic, kinetic + self.gravity * dot(self.gamma, s) + dot(phi, [dot(k, phi) for k in self.stiffness]) / 2

    def start(self, joints):
        """Returns the directions of straight beams at these joint angles."""
        return [sum(joints[:beam + 1]) for beam in range(self.beams) for _ in range(self.nodes)]

    def run(self, joints, seconds, sample, step):
        """Falls from rest, straight. Returns the nodal directions at every sample and the largest change of
        the energy, as a part of the largest kinetic energy.

        The trapezoidal rule: implicit in bending and inertia, whose highest frequencies are the elements' own and
        carry nothing. Matrix and forces change slowly and are taken at the extrapolated state. The rule
        conserves energy and lowers a frequency by (omega h)^2 / 12 of itself."""
        phi, speed = self.start(joints), [0.0] * self.n
        matrix, forces = self.forces(phi, speed)
        now = before = solve_positive(matrix, [f - dot(k, phi) for f, k in zip(forces, self.stiffness)])
        out, energies = [phi], [self.energy(phi, speed)]
        each = max(1, math.ceil(sample / step - 1e-9))
        h = sample / each
        part = [[h * h / 4 * x for x in row] for row in self.stiffness]
        for _ in range(round(seconds / sample)):
            for _ in range(each):
                half = [p + h * v + h * h / 4 * a for p, v, a in zip(phi, speed, now)]
                there = [2 * a - b for a, b in zip(now, before)]
                matrix, forces = self.forces([p + h * h / 4 * a for p, a in zip(half, there)],
                                             [v + h / 2 * (a + b) for v, a, b in zip(speed, now, there)])
                before, now = now, solve_positive([[a + b for a, b in zip(x, y)] for x, y in zip(matrix, part)],
                                                  [f - dot(k, half) for f, k in zip(forces, self.stiffness)])
                phi = [p + h * h / 4 * a for p, a in zip(half, now)]
                speed = [v + h / 2 * (a + b) for v, a, b in zip(speed, before, now)]
            out.append(phi)
            energies.append(self.energy(phi, speed))
        largest = max(k for k, _ in energies)
        return out, max(abs(e - energies[0][1]) for _, e in energies) / largest

    def hub(self, phi, beam):
        """Returns deflection and slope of a beam, at its middle and its end, seen from the tangent at its hinge.
        Needs an even number of elements."""
        first, points = beam * self.nodes, 3 * self.elements
        angles = self.at_points(phi)[beam * points:(beam + 1) * points]
        start, ends = phi[first], self.end[:points]
        aside = [size * math.sin(a - start) for size, a in zip(ends, angles)]
        half = self.nodes // 2
        return {"deflection_mid": sum(aside[:points // 2]), "deflection_end": sum(aside),
                "slope_mid": phi[first + half] - start, "slope_end": phi[first + self.nodes - 1] - start}

    def joints(self, phi):
        return [phi[beam * self.nodes] - (phi[beam * self.nodes - 1] if beam else 0) for beam in range(self.beams)]

    def effector(self, phi):
        angles = self.at_points(phi)
        return dot(self.end, list(map(math.cos, angles))), dot(self.end, list(map(math.sin, angles)))

    def linear(self, phi):
        """Returns mass and stiffness of small motions about an equilibrium: with gravity, the stiffness
        has the tension of the beams in it."""
        matrix, _, s = self.matrix(phi)
        pull = [-self.gravity * g * x for g, x in zip(self.gamma, s)]
        extra = [[0.0] * self.n for _ in range(self.n)]
        for (i, f), p in zip(self.shape, pull):
            for k in range(3):
                for m in range(3):
                    extra[i + k][i + m] += p * f[k] * f[m]
        return matrix, [[a + b for a, b in zip(x, y)] for x, y in zip(self.stiffness, extra)]


def cholesky(matrix):
    low = []
    for i, row in enumerate(matrix):
        line = []
        for j in range(i):
            other = low[j]
            line.append((row[j] - dot(line, other[:j])) / other[j])
        line.append(math.sqrt(row[i] - dot(line, line)))
        low.append(line)
    return low


def forward(low, right):
    x = []
    for row, r in zip(low, right):
        x.append((r - dot(x, row[:-1])) / row[-1])
    return x


def solve_positive(matrix, right):
    low = cholesky(matrix)
    x = forward(low, right)
    for i in range(len(x) - 1, -1, -1):
        v = x[i] = x[i] / low[i][i]
        row = low[i]
        for j in range(i):
            x[j] -= row[j] * v
    return x


def frequencies(mass, stiffness):
    """Returns the natural frequencies in Hz, lowest first: of L^-1 K L^-T with M = L L^T, by Jacobi's rotations."""
    low, n = cholesky(mass), len(mass)
    half = [forward(low, list(map(float, row))) for row in stiffness]                  # K L^-T
    a = [forward(low, list(column)) for column in zip(*half)]
    for _ in range(60):
        if sum(a[i][j] ** 2 for i in range(n) for j in range(i)) <= 1e-26 * sum(a[i][i] ** 2 for i in range(n)):
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p][q] == 0:
                    continue
                angle = math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2
                c, s = math.cos(angle), math.sin(angle)
                for row in a:
                    row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = ([c * x - s * y for x, y in zip(a[p], a[q])], [s * x + c * y for x, y in zip(a[p], a[q])])
    return sorted(math.sqrt(max(a[i][i], 0)) / (2 * math.pi) for i in range(n))
