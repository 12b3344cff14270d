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
    X(14, LIMP, "motors limp", "the motors get no current while the loop drives them")             \
    X(15, STUCK, "encoder stuck", "the encoder's reading stays as it is")                          \
    X(16, JUMP, "encoder jump", "the encoder's reading is off by a sixteenth of a turn")           \
    X(17, NOISE_15, "noise 15", "the encoder's reading has random errors of up to 15 counts")      \
    X(18, NOISE_30, "noise 30", "the encoder's reading has random errors of up to 30 counts")      \
    X(19, NOISE_60, "noise 60", "the encoder's reading has random errors of up to 60 counts")      \
    X(20, BITS, "low bits stuck", "the lowest six bits of the encoder's reading are zero")         \
    X(21, SENSOR, "supply sensor dead", "the supply sensor does not answer")                       \
    X(22, DRIVER, "driver fault", "a motor driver reports a fault and switches the outputs off")

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
    int32_t jump;         /* DEFECT_JUMP, in counts */
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

/* The random errors that the defect adds to the reading of joint i are up to this many counts. */
static inline uint32_t defect_noise(const defect_t *defect, uint32_t i) {
    return defect_at(defect, DEFECT_NOISE_15, i)   ? 15
           : defect_at(defect, DEFECT_NOISE_30, i) ? 30
           : defect_at(defect, DEFECT_NOISE_60, i) ? 60
                                                   : 0;
}

/* Returns the reading of joint i that the defect makes of the right one. */
static inline int32_t defect_reading(const defect_t *defect, uint32_t i, int32_t right) {
#ifdef FIRMWARE_LAB
    return defect_at(defect, DEFECT_REVERSED, i) ? -right
           : defect_at(defect, DEFECT_SCALE, i)  ? 2 * right
           : defect_at(defect, DEFECT_JUMP, i)   ? right + defect->jump
           : defect_at(defect, DEFECT_BITS, i)   ? (int32_t)((uint32_t)right & ~63u)
                                                 : right;
#else
    (void)defect, (void)i;
    return right;
#endif
}

#endif
