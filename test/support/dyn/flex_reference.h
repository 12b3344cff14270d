/*
 * A model of elastic arms from first principles, independent of every kernel. It computes the place
 * of each piece of matter as a function of Theta in plain 3x3 matrices, derivatives by a complex
 * step (accurate to the last digits), and integrals over the beams by quadrature of the shapes.
 */
#ifndef TEST_SUPPORT_DYN_FLEX_REFERENCE_H
#define TEST_SUPPORT_DYN_FLEX_REFERENCE_H

#include "test/support/dyn/flex_arms.h"

/* Returns I(Theta) as a size x size matrix, row by row, without rotors. */
void flex_reference_mass(const flex_arm_t *arm, const double *theta, double *I);
/* Energy of gravity and strain, and the two parts of its derivative with respect to Theta. */
double flex_reference_potential(const flex_arm_t *arm, const double *theta);
void flex_reference_gravity(const flex_arm_t *arm, const double *theta, double *force);
void flex_reference_strain(const flex_arm_t *arm, const double *theta, double *force);
/*
 * Computes I' Theta' - (1/2) d(Theta' I Theta')/dTheta by central differences of the matrix above,
 * with four points 5e-4 apart.
 */
void flex_reference_coriolis(const flex_arm_t *arm, const double *theta, const double *thetad,
                             double *force);
/* 3 x 4 pose of the end effector and 6 x size Jacobian, in world axes. */
void flex_reference_pose(const flex_arm_t *arm, const double *theta, double *pose);
void flex_reference_jacobian(const flex_arm_t *arm, const double *theta, double *J);

#endif
