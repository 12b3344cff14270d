/*
 * The vocabulary in which the kernels are written: 3-vectors, symmetric tensors, plane rotations
 * and the frame change of modified Denavit-Hartenberg. Included by the header of each number
 * backend, which has defined the numbers before; a backend that does an operation in its own way
 * has defined it as a macro of the same name. Everything is by value and inlined.
 *
 * A sum of products is rounded once: in floats that changes nothing, in q31 it is one shift for a
 * component of a whole vec_add_cross2 instead of four.
 */
#ifndef DYN_NUMBER_VEC_H
#define DYN_NUMBER_VEC_H

typedef DYN_T(vec) vec;
typedef DYN_T(sym) sym;
typedef DYN_T(turn) turn;
typedef DYN_T(joint) joint;
typedef DYN_T(arm) arm;

#ifndef vec_make
INLINE vec vec_make(real x, real y, real z) {
    return (vec){.x = x, .y = y, .z = z};
}
#endif

INLINE sym sym_make(real xx, real yy, real zz, real xy, real yz, real xz) {
    return (sym){.xx = xx, .yy = yy, .zz = zz, .xy = xy, .yz = yz, .xz = xz};
}

/* Known to be zero when the kernel is compiled: costs nothing, here and in what is made of it. */
INLINE vec vec_zero(void) {
    return vec_make(real_known(0), real_known(0), real_known(0));
}

/* Swartz's Z times a scalar. */
INLINE vec vec_z(real z) {
    return vec_make(real_known(0), real_known(0), z);
}

#ifndef vec_add
INLINE vec vec_add(vec a, vec b) {
    return vec_make(real_add(a.x, b.x), real_add(a.y, b.y), real_add(a.z, b.z));
}
#endif

#ifndef vec_sub
INLINE vec vec_sub(vec a, vec b) {
    return vec_make(real_sub(a.x, b.x), real_sub(a.y, b.y), real_sub(a.z, b.z));
}
#endif

#ifndef vec_scale
INLINE vec vec_scale(real k, vec a) {
    return vec_make(real_mul(k, a.x), real_mul(k, a.y), real_mul(k, a.z));
}
#endif

#ifndef vec_dot
INLINE real vec_dot(vec a, vec b) {
    return acc_round(acc_mac(acc_mac(acc_mul(a.x, b.x), a.y, b.y), a.z, b.z));
}
#endif

#ifndef vec_cross
INLINE vec vec_cross(vec a, vec b) {
    return vec_make(acc_round(acc_msub(acc_mul(a.y, b.z), a.z, b.y)),
                    acc_round(acc_msub(acc_mul(a.z, b.x), a.x, b.z)),
                    acc_round(acc_msub(acc_mul(a.x, b.y), a.y, b.x)));
}
#endif

/* u + a x b */
#ifndef vec_add_cross
INLINE vec vec_add_cross(vec u, vec a, vec b) {
    return vec_add(u, vec_cross(a, b));
}
#endif

/* u + a x b + c x d */
#ifndef vec_add_cross2
INLINE real cross2_part(real a1, real b2, real a2, real b1, real c1, real d2, real c2, real d1) {
    return acc_round(acc_msub(acc_mac(acc_msub(acc_mul(a1, b2), a2, b1), c1, d2), c2, d1));
}

INLINE vec vec_add_cross2(vec u, vec a, vec b, vec c, vec d) {
    return vec_make(real_add(u.x, cross2_part(a.y, b.z, a.z, b.y, c.y, d.z, c.z, d.y)),
                    real_add(u.y, cross2_part(a.z, b.x, a.x, b.z, c.z, d.x, c.x, d.z)),
                    real_add(u.z, cross2_part(a.x, b.y, a.y, b.x, c.x, d.y, c.y, d.x)));
}
#endif

/* J a */
#ifndef sym_mul
INLINE vec sym_mul(sym J, vec a) {
    return vec_make(acc_round(acc_mac(acc_mac(acc_mul(J.xx, a.x), J.xy, a.y), J.xz, a.z)),
                    acc_round(acc_mac(acc_mac(acc_mul(J.xy, a.x), J.yy, a.y), J.yz, a.z)),
                    acc_round(acc_mac(acc_mac(acc_mul(J.xz, a.x), J.yz, a.y), J.zz, a.z)));
}
#endif

/* J a + b x c */
#ifndef sym_mul_add_cross
INLINE real sym_cross_part(real j1, real a1, real j2, real a2, real j3, real a3, real b1, real c2,
                           real b2, real c1) {
    acc sum = acc_mac(acc_mac(acc_mul(j1, a1), j2, a2), j3, a3);
    return acc_round(acc_msub(acc_mac(sum, b1, c2), b2, c1));
}

INLINE vec sym_mul_add_cross(sym J, vec a, vec b, vec c) {
    return vec_make(sym_cross_part(J.xx, a.x, J.xy, a.y, J.xz, a.z, b.y, c.z, b.z, c.y),
                    sym_cross_part(J.xy, a.x, J.yy, a.y, J.yz, a.z, b.z, c.x, b.x, c.z),
                    sym_cross_part(J.xz, a.x, J.yz, a.y, J.zz, a.z, b.x, c.y, b.y, c.x));
}
#endif

/* J wd + w x (J w): Euler's equation, whatever J is about. */
#ifndef sym_euler
INLINE vec sym_euler(sym J, vec wd, vec w) {
    return sym_mul_add_cross(J, wd, w, sym_mul(J, w));
}
#endif

INLINE turn turn_none(void) {
    return (turn){turn_known(1), turn_known(0)};
}

/* The components of a vector on axes that are turned about x, or about z: 4M 2A. */
#ifndef vec_turn_x
INLINE vec vec_turn_x(turn t, vec a) {
    return vec_make(a.x, turn_round(turn_mac(turn_mul(t.c, a.y), t.s, a.z)),
                    turn_round(turn_msub(turn_mul(t.c, a.z), t.s, a.y)));
}
#endif

#ifndef vec_turn_z
INLINE vec vec_turn_z(turn t, vec a) {
    return vec_make(turn_round(turn_mac(turn_mul(t.c, a.x), t.s, a.y)),
                    turn_round(turn_msub(turn_mul(t.c, a.y), t.s, a.x)), a.z);
}
#endif

/* The same vector back on the axes before the turn. */
#ifndef vec_turn_back_x
INLINE vec vec_turn_back_x(turn t, vec a) {
    return vec_make(a.x, turn_round(turn_msub(turn_mul(t.c, a.y), t.s, a.z)),
                    turn_round(turn_mac(turn_mul(t.c, a.z), t.s, a.y)));
}
#endif

#ifndef vec_turn_back_z
INLINE vec vec_turn_back_z(turn t, vec a) {
    return vec_make(turn_round(turn_msub(turn_mul(t.c, a.x), t.s, a.y)),
                    turn_round(turn_mac(turn_mul(t.c, a.y), t.s, a.x)), a.z);
}
#endif

#ifndef sym_add
INLINE sym sym_add(sym A, sym B) {
    return (sym){real_add(A.xx, B.xx), real_add(A.yy, B.yy), real_add(A.zz, B.zz),
                 real_add(A.xy, B.xy), real_add(A.yz, B.yz), real_add(A.xz, B.xz)};
}
#endif

/*
 * A tensor back on the axes before a turn, R T R^T, 8M 8A. In the plane of the turn, with
 * k = s (T11 - T22) + 2 c T12: T11 - s k, T22 + s k, c k - T12; the two elements beside it turn
 * like a vector.
 */
typedef struct {
    real t11, t22, t12;
} block;

INLINE block block_turn_back(turn t, real t11, real t22, real t12) {
    real k = turn_round(turn_mac(turn_mul(t.s, real_sub(t11, t22)), t.c, real_add(t12, t12)));
    real sk = turn_round(turn_mul(t.s, k));
    return (block){real_sub(t11, sk), real_add(t22, sk),
                   real_sub(turn_round(turn_mul(t.c, k)), t12)};
}

#ifndef sym_turn_back_x
INLINE sym sym_turn_back_x(turn t, sym A) {
    block b = block_turn_back(t, A.yy, A.zz, A.yz);
    return (sym){.xx = A.xx,
                 .yy = b.t11,
                 .zz = b.t22,
                 .xy = turn_round(turn_msub(turn_mul(t.c, A.xy), t.s, A.xz)),
                 .yz = b.t12,
                 .xz = turn_round(turn_mac(turn_mul(t.c, A.xz), t.s, A.xy))};
}
#endif

#ifndef sym_turn_back_z
INLINE sym sym_turn_back_z(turn t, sym A) {
    block b = block_turn_back(t, A.xx, A.yy, A.xy);
    return (sym){.xx = b.t11,
                 .yy = b.t22,
                 .zz = A.zz,
                 .xy = b.t12,
                 .yz = turn_round(turn_mac(turn_mul(t.c, A.yz), t.s, A.xz)),
                 .xz = turn_round(turn_msub(turn_mul(t.c, A.xz), t.s, A.yz))};
}
#endif

/*
 * The frame change of a joint, T = Rx(alpha) Trans(a, 0, d) Rz(theta). Between the two turns lies
 * the half-turned frame, where the vector p from the parent's origin to ours is (a, 0, d): a cross
 * product with it takes 4 multiplications instead of 6.
 */
typedef struct {
    turn x, z;
    vec p;
} frame;

INLINE vec parent_to_half(frame A, vec a) {
    return vec_turn_x(A.x, a);
}

INLINE vec half_to_child(frame A, vec a) {
    return vec_turn_z(A.z, a);
}

INLINE vec child_to_half(frame A, vec a) {
    return vec_turn_back_z(A.z, a);
}

INLINE vec half_to_parent(frame A, vec a) {
    return vec_turn_back_x(A.x, a);
}

/* Swartz's A_child^parent and A_parent^child: 8M 4A, never a 3x3 matrix. */
INLINE vec to_child(frame A, vec a) {
    return half_to_child(A, parent_to_half(A, a));
}

INLINE vec to_parent(frame A, vec a) {
    return half_to_parent(A, child_to_half(A, a));
}

INLINE sym sym_to_parent(frame A, sym T) {
    return sym_turn_back_x(A.x, sym_turn_back_z(A.z, T));
}

INLINE vec frame_p(real a, real d) {
    return vec_make(a, real_known(0), d);
}

/* Member by member: a struct copy from memory would go through the stack. */
INLINE turn turn_load(const turn *t) {
    return (turn){t->c, t->s};
}

/* Where the joint stands. The branch is on the model, not on the state. */
INLINE frame frame_at(const joint *j, real q) {
    turn z;
    real d;
    if (j->prismatic) {
        z = turn_load(&j->fixed_z);
        d = real_add(j->offset, q);
    } else {
        real_sincos(q, j->offset, &z.c, &z.s);
        d = j->fixed_d;
    }
    return (frame){.x = turn_load(&j->x), .z = z, .p = frame_p(j->a, d)};
}

/* The first joint: its alpha, a, theta and d are zero in every model (dyn/model/model.h). */
INLINE frame frame_first(const joint *j, real q) {
    turn z = turn_none();
    real d = real_known(0);
    if (j->prismatic)
        d = q;
    else
        real_sincos(q, j->offset, &z.c, &z.s);
    return (frame){.x = turn_none(), .z = z, .p = frame_p(real_known(0), d)};
}

/* Again, from what the outward pass has kept. */
INLINE frame frame_again(const joint *j, turn z, real d) {
    return (frame){.x = turn_load(&j->x), .z = z, .p = frame_p(j->a, d)};
}

/*
 * What contains mass (force, moment) from the mass unit of a link to that of its parent. A shift in
 * q31, so that one number format serves shoulder and wrist; nothing elsewhere.
 */
#ifndef vec_to_parent_unit
INLINE vec vec_to_parent_unit(const joint *j, vec a) {
    return vec_make(real_shift_mass(a.x, j->mass_shift), real_shift_mass(a.y, j->mass_shift),
                    real_shift_mass(a.z, j->mass_shift));
}
#endif

#ifndef sym_to_parent_unit
#define sym_to_parent_unit sym_to_parent_unit
INLINE sym sym_to_parent_unit(const joint *j, sym A) {
    const unsigned k = j->mass_shift;
    return (sym){real_shift_mass(A.xx, k), real_shift_mass(A.yy, k), real_shift_mass(A.zz, k),
                 real_shift_mass(A.xy, k), real_shift_mass(A.yz, k), real_shift_mass(A.xz, k)};
}
#endif

/*
 * Where two ways of a program meet, in a loop or behind a branch on the type of a joint, what was
 * known on one of them is no longer known. The compiler sees that by itself, `count` is told.
 */
#ifndef real_merged
#define real_merged(a) (a)
#endif

INLINE vec vec_merged(vec a) {
    return vec_make(real_merged(a.x), real_merged(a.y), real_merged(a.z));
}

/*
 * A diagonal element of the inertia matrix with the rotor of its joint. `count` does not count it:
 * the papers' operation counts are for arms without rotors.
 */
#ifndef add_rotor
INLINE real add_rotor(const joint *j, real x) {
    return real_add(x, j->rotor);
}
#endif

#endif
