"""Lagrange's equations of an arm, computed from the numbers of its robot file alone: the oracle for
derived and generated dynamics. It shares nothing with the code under test: poses are 4 x 4 matrices,
a pose is differentiated by the rule for products, the inertia matrix comes from the velocities of
the centres of mass and the angular velocities, and the bias from the derivatives of the matrix by
the complex step, which is exact to rounding."""
import cmath
import re


def product(a, b):
    return [[sum(row[k] * b[k][c] for k in range(len(b))) for c in range(len(b[0]))] for row in a]


def about_x(alpha, a):
    c, s = cmath.cos(alpha), cmath.sin(alpha)
    return [[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]]


def about_z(theta, d):
    c, s = cmath.cos(theta), cmath.sin(theta)
    return [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]]


def turned(theta):
    """The derivative of about_z by its angle."""
    c, s = cmath.cos(theta), cmath.sin(theta)
    return [[-s, -c, 0, 0], [c, -s, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


SLID = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


class Joint:
    def __init__(self, dh, mass, com, inertia, prismatic=False):
        self.theta, self.d, self.a, self.alpha = dh
        self.mass, self.com, self.inertia, self.prismatic = mass, com, inertia, prismatic

    def tensor(self):
        xx, yy, zz, xy, yz, xz = self.inertia
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


class Arm:
    def __init__(self, name, convention, gravity, joints):
        self.name, self.convention, self.gravity, self.joints = name, convention, gravity, joints
        self.n = len(joints)

    def text(self):
        """The robot file."""
        lines = [f"name: {self.name}", f"convention: {self.convention}", f"gravity: {list(self.gravity)}", "joints:"]
        for i, j in enumerate(self.joints):
            lines += [f"  - name: joint{i + 1}", f"    type: {'prismatic' if j.prismatic else 'revolute'}",
                      f"    dh: {{theta: {j.theta!r}, d: {j.d!r}, a: {j.a!r}, alpha: {j.alpha!r}}}",
                      f"    link: {{mass: {j.mass!r}, com: {list(j.com)}, inertia: {list(j.inertia)}}}"]
        return "\n".join(lines) + "\n"

    @staticmethod
    def read(path):
        """An arm from a robot file of this project, in convention dh or mdh."""
        with open(path, encoding="utf-8") as f:
            text = f.read()

        def numbers(found):
            return [float(x) for x in re.split(r"[,\s]+", found.strip())]

        joints = []
        for part in re.split(r"\n  - name:", text.split("\njoints:")[1])[1:]:
            dh = re.search(r"dh: \{theta: (\S+), d: (\S+), a: (\S+), alpha: (\S+)\}", part)
            link = re.search(r"link: \{mass: (\S+), com: \[([^]]*)\], inertia: \[([^]]*)\]", part)
            joints.append(Joint([float(x) for x in dh.groups()], float(link[1]), numbers(link[2]), numbers(link[3]),
                                "type: prismatic" in part))
        return Arm(re.search(r"^name: (\S+)", text, re.M)[1], re.search(r"convention: (\S+)", text)[1],
                   numbers(re.search(r"gravity: \[([^]]*)\]", text)[1]), joints)

    def links(self, q):
        """For each link: its pose, and the derivatives of the pose by each joint up to it."""
        pose, slopes, out = about_x(0, 0), [], []
        for j, x in zip(self.joints, q):
            theta, d = (j.theta, j.d + x) if j.prismatic else (j.theta + x, j.d)
            move, slope = about_z(theta, d), (SLID if j.prismatic else turned(theta))
            if self.convention == "dh":
                back = about_x(j.alpha, j.a)
                move, slope = product(move, back), product(
                    product(about_z(theta, 0), slope) if j.prismatic else slope, back)
            else:
                front = about_x(j.alpha, j.a)
                move, slope = product(front, move), product(
                    front, product(about_z(theta, 0), slope) if j.prismatic else slope)
            slopes = [product(s, move) for s in slopes] + [product(pose, slope)]
            pose = product(pose, move)
            out.append((pose, slopes))
        return out

    def matrix_and_gravity(self, q):
        n = self.n
        M, G = [[0] * n for _ in range(n)], [0] * n
        for link, (pose, slopes) in zip(self.joints, self.links(q)):
            com = [*link.com, 1]
            R = [row[:3] for row in pose[:3]]
            spun = product(product(R, link.tensor()), [list(c) for c in zip(*R)])
            v, w = [], []
            for slope in slopes:
                v.append([sum(slope[r][k] * com[k] for k in range(4)) for r in range(3)])
                S = product([row[:3] for row in slope[:3]], [list(c) for c in zip(*R)])
                w.append([S[2][1], S[0][2], S[1][0]])
            Iw = [[sum(spun[r][k] * x[k] for k in range(3)) for r in range(3)] for x in w]
            for i in range(len(v)):
                G[i] -= link.mass * sum(self.gravity[r] * v[i][r] for r in range(3))
                for j in range(i + 1):
                    M[i][j] += sum(link.mass * v[i][r] * v[j][r] + w[i][r] * Iw[j][r] for r in range(3))
        for i in range(n):
            for j in range(i):
                M[j][i] = M[i][j]
        return M, G

    def mass(self, q):
        """The packed lower triangle."""
        M, _ = self.matrix_and_gravity(q)
        return [M[i][j].real for i in range(self.n) for j in range(i + 1)]

    def torque(self, q, qd, qdd):
        n, h = self.n, 1e-30
        M, G = self.matrix_and_gravity(q)
        tau = [sum(M[i][j].real * qdd[j] for j in range(n)) + G[i].real for i in range(n)]
        for k in range(n):  # dM/dq_k
            moved, _ = self.matrix_and_gravity([x + 1j * h * (i == k) for i, x in enumerate(q)])
            slope = [[moved[i][j].imag / h for j in range(n)] for i in range(n)]
            Dqd = [sum(slope[i][j] * qd[j] for j in range(n)) for i in range(n)]
            tau[k] -= sum(qd[i] * Dqd[i] for i in range(n)) / 2
            for i in range(n):
                tau[i] += Dqd[i] * qd[k]
        return tau


# The six joints of paper 003, in convention dh: length a, rise d, quarter turns of alpha, link.
BALL = (0.02, (0.0, 0.0, 0.0), (8e-07, 8e-07, 8e-07, 0.0, 0.0, 0.0))
PIEZO = [((0, 0, 0), BALL), ((0, 0, 1), BALL),
         ((0.04, 0, 0), (0.06, (-0.02, 0.0, 0.0), (1.5e-06, 9.5e-06, 9.5e-06, 0.0, 0.0, 0.0))),
         ((0, 0, -1), BALL), ((0, 0, -1), BALL),
         ((0, 0.04, 0), (0.06, (0.0, 0.0, -0.02), (9.5e-06, 9.5e-06, 1.5e-06, 0.0, 0.0, 0.0)))]


def piezo(n):
    """Paper 003's robot, its six joints again and again."""
    quarter, joints = 1.5707963267948966, []
    for i in range(n):
        (a, d, turns), (mass, com, inertia) = PIEZO[i % 6]
        joints.append(Joint((0.0, d, a, turns * quarter), mass, com, inertia))
    return Arm(f"piezo{n}", "dh", (0.0, 0.0, -9.81), joints)


def planar(n):
    rods = [Joint((0.0, 0.0, 0.3 if i else 0.0, 0.0), 0.5 - 0.01 * i, (0.15, 0.01, 0.0),
                  (4e-06, 0.00375, 0.00375, 0.0, 0.0, 0.0)) for i in range(n)]
    return Arm(f"planar{n}", "mdh", (0.0, -9.81, 0.0), rods)


def general(n, seed):
    """Axes in general directions, links with full inertias."""
    draw = __import__("random").Random(seed).uniform
    joints = []
    for _ in range(n):
        inertia = [draw(0.02, 0.03) for _ in range(3)] + [draw(-0.003, 0.003) for _ in range(3)]
        joints.append(Joint((draw(-1, 1), draw(-0.3, 0.3), draw(-0.4, 0.4), draw(-2, 2)), draw(0.5, 2),
                            [draw(-0.2, 0.2) for _ in range(3)], inertia))
    return Arm(f"general{n}", "mdh", (0.0, 0.0, -9.81), joints)


def mixed(seed):
    """Three joints of any kind: prismatic or revolute, parallel, anti-parallel, right-angled or
    general axes, with offsets; dh or mdh; gravity in any direction."""
    random = __import__("random").Random(seed)
    draw, quarter, joints = random.uniform, 1.5707963267948966, []
    for _ in range(3):
        alpha = random.choice([0.0, 0.0, quarter, -quarter, 2 * quarter, draw(-1.5, 1.5)])
        theta = random.choice([0.0, quarter, -quarter, draw(-1, 1)])
        inertia = [draw(0.02, 0.03) for _ in range(3)] + [draw(-0.003, 0.003) for _ in range(3)]
        joints.append(Joint((theta, draw(-0.3, 0.3), draw(-0.4, 0.4), alpha), draw(0.5, 2), [draw(-0.2, 0.2) for _ in range(3)],
                            inertia, random.random() < 0.4))
    return Arm(f"mixed{seed}", random.choice(["dh", "mdh"]), [draw(-9, 9) for _ in range(3)], joints)
