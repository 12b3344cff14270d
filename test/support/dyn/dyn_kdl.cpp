/* Implements test/support/dyn/dyn_kdl.h. */
#include "test/support/dyn/dyn_kdl.h"

#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacsolver.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace KDL;

/* The solvers keep a reference to the chain, so the chain must be complete before they are made. */
struct kdl_arm {
    Frame base;
    Chain chain;
    Vector gravity;
    ChainDynParam dynamics;
    ChainIdSolver_RNE inverse;
    ChainFdSolver_RNE forward;
    ChainFkSolverPos_recursive pose;
    ChainJntToJacSolver jacobian;

    explicit kdl_arm(const dyn_source_t *source);
};

static Vector vector(const double *x) {
    return Vector(x[0], x[1], x[2]);
}

static Frame frame(const double *xyz, const double *rpy) {
    return Frame(Rotation::RPY(rpy[0], rpy[1], rpy[2]), vector(xyz));
}

static RigidBodyInertia inertia(const dyn_body_t &body, const double *rpy) {
    const double *I = body.inertia;
    /* KDL expects the order xx yy zz xy xz yz. */
    const RigidBodyInertia about_centre(body.mass, Vector::Zero(),
                                        RotationalInertia(I[0], I[1], I[2], I[3], I[5], I[4]));
    return frame(body.com, rpy) * about_centre;
}

/* Returns axis and tip of a joint at q = 0 in the frame of its parent. */
static void geometry(const dyn_source_t *source, const dyn_source_joint_t &j, Vector &origin,
                     Vector &axis, Frame &tip) {
    switch (source->convention) {
    case DYN_CONVENTION_DH:
        origin = Vector::Zero();
        axis = Vector(0, 0, 1);
        tip = Frame::DH(j.a, j.alpha, j.d, j.theta);
        return;
    case DYN_CONVENTION_MDH: {
        const Frame before = Frame::DH_Craig1989(j.a, j.alpha, 0, 0);
        origin = before.p;
        axis = before.M.UnitZ();
        tip = Frame::DH_Craig1989(j.a, j.alpha, j.d, j.theta);
        return;
    }
    case DYN_CONVENTION_FRAMES:
        tip = frame(j.xyz, j.rpy);
        origin = tip.p;
        axis = tip.M * vector(j.axis);
        return;
    }
}

static Chain build(const dyn_source_t *source) {
    const double none[3] = {0, 0, 0};
    Chain chain;
    for (uint32_t i = 0; i < source->n; i++) {
        const dyn_source_joint_t &j = source->joint[i];
        const dyn_motor_t &motor = j.drive.motor;
        Vector origin, axis;
        Frame tip;
        geometry(source, j, origin, axis, tip);
        RigidBodyInertia body = inertia(j.link, j.inertia_rpy);
        if (i + 1 == source->n)
            body = body + inertia(source->payload, none);
        chain.addSegment(Segment("link" + std::to_string(i),
                                 Joint("joint" + std::to_string(i), origin, axis,
                                       j.type == DYN_PRISMATIC ? Joint::TransAxis : Joint::RotAxis,
                                       1, 0, motor.rotor_inertia * motor.gear * motor.gear),
                                 tip, body));
    }
    chain.addSegment(
        Segment("hand", Joint(Joint::None), frame(source->tool_xyz, source->tool_rpy)));
    return chain;
}

kdl_arm::kdl_arm(const dyn_source_t *source)
    : base(frame(source->base_xyz, source->base_rpy)), chain(build(source)),
      gravity(vector(source->gravity)), dynamics(chain, gravity), inverse(chain, gravity),
      forward(chain, gravity), pose(chain), jacobian(chain) {}

static void need(int status, const char *what) {
    if (status < 0) {
        std::fprintf(stderr, "kdl: %s: error %d\n", what, status);
        std::exit(1);
    }
}

static JntArray joints(const kdl_arm_t *arm, const double *x) {
    JntArray out(arm->chain.getNrOfJoints());
    for (unsigned i = 0; i < out.rows(); i++)
        out(i) = x[i];
    return out;
}

static void copy(const JntArray &in, double *out) {
    for (unsigned i = 0; i < in.rows(); i++)
        out[i] = in(i);
}

static Wrenches no_wrench(const kdl_arm_t *arm) {
    return Wrenches(arm->chain.getNrOfSegments(), Wrench::Zero());
}

kdl_arm_t *kdl_arm_new(const dyn_source_t *source) {
    return new kdl_arm(source);
}

void kdl_arm_free(kdl_arm_t *arm) {
    delete arm;
}

void kdl_inverse(kdl_arm_t *arm, const double *q, const double *qd, const double *qdd,
                 const double *wrench, double *tau) {
    JntArray out(arm->chain.getNrOfJoints());
    Wrenches external = no_wrench(arm);
    if (wrench)
        external.back() = Wrench(vector(wrench), vector(wrench + 3));
    need(arm->inverse.CartToJnt(joints(arm, q), joints(arm, qd), joints(arm, qdd), external, out),
         "inverse dynamics");
    copy(out, tau);
}

void kdl_mass(kdl_arm_t *arm, const double *q, double *M) {
    const unsigned n = arm->chain.getNrOfJoints();
    JntSpaceInertiaMatrix H(n);
    need(arm->dynamics.JntToMass(joints(arm, q), H), "inertia matrix");
    for (unsigned r = 0; r < n; r++)
        for (unsigned c = 0; c <= r; c++)
            *M++ = H(r, c);
}

void kdl_coriolis(kdl_arm_t *arm, const double *q, const double *qd, double *tau) {
    JntArray out(arm->chain.getNrOfJoints());
    need(arm->dynamics.JntToCoriolis(joints(arm, q), joints(arm, qd), out), "Coriolis torques");
    copy(out, tau);
}

void kdl_gravity(kdl_arm_t *arm, const double *q, double *tau) {
    JntArray out(arm->chain.getNrOfJoints());
    need(arm->dynamics.JntToGravity(joints(arm, q), out), "gravity torques");
    copy(out, tau);
}

void kdl_forward(kdl_arm_t *arm, const double *q, const double *qd, const double *tau,
                 double *qdd) {
    JntArray out(arm->chain.getNrOfJoints());
    need(arm->forward.CartToJnt(joints(arm, q), joints(arm, qd), joints(arm, tau), no_wrench(arm),
                                out),
         "forward dynamics");
    copy(out, qdd);
}

void kdl_pose(kdl_arm_t *arm, const double *q, double *pose) {
    Frame effector;
    need(arm->pose.JntToCart(joints(arm, q), effector), "pose");
    effector = arm->base * effector;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            pose[4 * r + c] = effector.M(r, c);
        pose[4 * r + 3] = effector.p(r);
    }
}

void kdl_jacobian(kdl_arm_t *arm, const double *q, double *J) {
    const unsigned n = arm->chain.getNrOfJoints();
    Jacobian out(n);
    need(arm->jacobian.JntToJac(joints(arm, q), out), "Jacobian");
    out.changeBase(arm->base.M);
    for (unsigned r = 0; r < 6; r++)
        for (unsigned c = 0; c < n; c++)
            J[r * n + c] = out(r, c);
}
