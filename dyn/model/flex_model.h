/*
 * The elastic links of an arm: assumed modes (M. H. Korayem, A. M. Shafei, "Motion equations proper
 * for forward dynamics of robotic manipulator with flexible links by using recursive Gibbs-Appell
 * formulation", 2009), in double precision. This model complements a dyn_model_t, whose links are
 * the undeformed beams: mass, first moment and inertia come from there. Everything here is what the
 * paper computes off-line, equations (34) to (42) and (52) to (54). tools/robot computes it by
 * quadrature, the robot image contains it, and dyn_prepare_flex_<real> turns it into the constants
 * of a number backend.
 *
 * An elastic link is a beam along x of its frame. A point at x deflects by (0, v, w), where v and w
 * are sums of amplitude times shape, and its section turns about x. The frame of the next joint
 * sits on the end of the beam and turns with it. E of (6) is Rz(v') Ry(-w') Rx(torsion), which is a
 * rotation for every deflection, and the angular velocity is that of these three turns. For
 * comparison, `linear` replaces E by the paper's E = 1 + theta~ with the rate of theta as angular
 * velocity.
 *
 * The coordinates are the paper's Theta: q1, the amplitudes of link 1, q2, the amplitudes of link
 * 2, ... On a link the modes stand in the order v, w, torsion. The amplitude of a bending mode is
 * in metres, that of a torsion mode in radians.
 */
#ifndef DYN_MODEL_FLEX_MODEL_H
#define DYN_MODEL_FLEX_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "dyn/model/model.h"

/* These limits are separate because an arm with only rigid links needs none of this memory. */
#ifndef DYN_FLEX_MAX_JOINTS
#define DYN_FLEX_MAX_JOINTS 8
#endif
#ifndef DYN_FLEX_LINK_MODES
#define DYN_FLEX_LINK_MODES 6 /* largest number of modes of one link */
#endif
#ifndef DYN_FLEX_MAX
#define DYN_FLEX_MAX 32 /* largest number of coordinates: joints and modes of all links */
#endif

typedef enum { DYN_FLEX_XY = 0, DYN_FLEX_XZ = 1, DYN_FLEX_TORSION = 2 } dyn_flex_kind_t;
#define DYN_FLEX_KINDS 3

/* One mode. phi is its shape: the deflection along y or z (no unit), or the angle of torsion. mu dx
 * is the mass of a piece of the beam, for torsion its polar inertia. The integrals are over the
 * length of the beam. */
typedef struct {
    double tip;    /* phi(l) of a bending mode; zero for torsion */
    double slope;  /* turn of the beam's end about z, y or x: phi', -phi' or phi at l */
    double weight; /* integral of mu phi: epsilon of (34), kg; for torsion kg m^2 */
    double moment; /* integral of mu x phi, (39), kg m; zero for torsion */
    /* Integral of mu phi phi_k, (37), (38) and (41), kg; torsion with torsion: kg m^2. The
     * centrifugal terms also need the integrals between y and z modes. Zero between bending and
     * torsion. */
    double mass[DYN_FLEX_LINK_MODES];
    double stiffness[DYN_FLEX_LINK_MODES]; /* (52) to (54), N/m; for torsion N m/rad */
} dyn_flex_mode_t;

typedef struct {
    uint32_t modes[DYN_FLEX_KINDS]; /* number of modes of each kind; `mode` has the same order of
                                     * kinds. All 0: the link is rigid */
    double length;                  /* m; equal to the next joint's a */
    double damping; /* s; the damping matrix is this number times the stiffness matrix */
    dyn_flex_mode_t mode[DYN_FLEX_LINK_MODES];
} dyn_flex_link_t;

typedef struct {
    bool linear; /* use the paper's E of (6) as printed */
    dyn_flex_link_t link[DYN_FLEX_MAX_JOINTS];
} dyn_flex_model_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Number of modes of one link. */
uint32_t dyn_flex_modes(const dyn_flex_link_t *link);
/* Number of coordinates of the arm: joints and modes. */
uint32_t dyn_flex_size(const dyn_model_t *model, const dyn_flex_model_t *flex);
/* Index of the coordinate of joint i in Theta. */
uint32_t dyn_flex_index(const dyn_flex_model_t *flex, uint32_t i);

/* Returns 0 or the first defect found: DYN_E_JOINTS for too many joints, modes or coordinates,
 * DYN_E_NUMBER for a number that is not finite, DYN_E_BASE for a beam whose length is not the next
 * joint's a, DYN_E_PIVOT if the stiffness matrix of a link's modes is not positive definite. Does
 * not repeat dyn_model_check. */
int dyn_flex_check(const dyn_model_t *model, const dyn_flex_model_t *flex);

/* Inverts the stiffness matrix of a link in place by Cholesky. The matrix is n x n with rows of
 * DYN_FLEX_LINK_MODES numbers. Returns false if it is not positive definite. */
bool dyn_flex_invert(uint32_t n, double a[][DYN_FLEX_LINK_MODES]);

#ifdef __cplusplus
}
#endif

#endif
