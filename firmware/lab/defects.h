/* Defects that can be injected into the simulated arm, for learning and for tests. The product's
 * image has none of them. */
#ifndef FIRMWARE_LAB_DEFECTS_H
#define FIRMWARE_LAB_DEFECTS_H

#include <stdbool.h>
#include <stdint.h>

/* X(number, NAME, "name", "help"): values of sim_defect; the help of the parameter lists them. */
#define DEFECT_TABLE(X)                                                                            \
    X(0, NONE, "none", "nothing is wrong")                                                         \
    X(1, MOTOR, "motor reversed", "the motor turns the other way")                                 \
    X(2, REVERSED, "encoder reversed", "the encoder counts the other way")                         \
    X(3, LOST, "encoder lost", "the encoder does not answer")                                      \
    X(4, PARITY, "parity", "the encoder's positions have a wrong parity")                          \
    X(5, JAMMED, "joint jammed", "the joint does not move")                                        \
    X(6, LOW, "supply low", "the supply has half of the lowest voltage that the guard allows")     \
    X(7, HIGH, "supply high", "the supply has twice the highest voltage that the guard allows")    \
    X(8, ESTOP, "e-stop", "somebody has pressed the emergency stop")                               \
    X(9, LATE, "ticks late", "every tick is late")                                                 \
    X(10, NUMBER, "not a number",                                                                  \
      "a torque that the model computes is not a number (no effect in q31)")                       \
    X(11, SCALE, "encoder scale", "the encoder counts twice as fast as it should")                 \
    X(12, INERTIA, "no inertia", "the inertia matrix of the simulated arm is singular")            \
    X(13, WEAK, "weak supply", "the supply has a twentieth of its nominal voltage")                \
    X(14, LIMP, "motors limp", "the motors get no current while the loop drives them")

enum {
#define X(number, name, text, help) DEFECT_##name = number,
    DEFECT_TABLE(X)
#undef X
        DEFECTS
};
const char *defect_name(unsigned defect);

typedef struct {
#ifdef FIRMWARE_LAB
    uint32_t kind, joint; /* DEFECT_... */
#else
    uint8_t none; /* unused: C has no empty struct */
#endif
} defect_t;

/* Whether the arm has the defect `kind`. */
static inline bool defect_is(const defect_t *defect, uint32_t kind) {
#ifdef FIRMWARE_LAB
    return defect->kind == kind;
#else
    (void)defect;
    return kind == DEFECT_NONE;
#endif
}

/* The joint that has the defect. */
static inline uint32_t defect_joint(const defect_t *defect) {
#ifdef FIRMWARE_LAB
    return defect->joint;
#else
    (void)defect;
    return 0;
#endif
}

/* Whether joint i has the defect `kind`. */
static inline bool defect_at(const defect_t *defect, uint32_t kind, uint32_t i) {
    return defect_is(defect, kind) && defect_joint(defect) == i;
}

#endif
