/*
 * Random scripts against the application and an independent model of its supervisor
 * (test/support/supervisor_model.h): requests, inputs, resets, cable pulls, motions, of the simulated
 * and of the real arm. A disagreement is shrunk to a short script and printed. Torque, speed and
 * position of each joint and the speed of the tool must stay within the limits of the robot. On the
 * host a tick takes no time, so the only overruns here are those that a script makes; overruns of
 * the processor are counted in test/system/test_soak.py.
 *
 *     SUPERVISOR_SEED=17 build/host/test/test_supervisor_model      # one seed
 *     SUPERVISOR_SCRIPT=FILE build/host/test/test_supervisor_model  # a script
 *     SUPERVISOR_PRINT=1 SUPERVISOR_SEED=17 ...                     # the script of a seed, before it runs
 *     SUPERVISOR_SECONDS=3600 ...                                   # new seeds for this long
 */
#include "test/support/harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/safety/faults.h"
#include "test/support/supervisor_rig.h"

#ifdef TEST_LONG
enum { SECONDS = 3600 };
#else
enum { SECONDS = 0 };
#endif
/* ENOUGH: after so many scripts every transition and every fault must have been reached. */
enum { SEEDS = 60, MOST_WRONG = 8, ENOUGH = 5000 };

static script_t script;

static void disagree(uint64_t seed, const char *kind) {
    printf("seed %llu: %s (%s)\n", (unsigned long long)seed, rig.model.complaint, rig.where);
    script_shrink(&script, rig_run, kind);
    (void)rig_run(&script);
    printf("%s (%s); shrunk to %u events:\n", rig.model.complaint, rig.where,
           (unsigned)script.count);
    script_print(&script, stdout);
    fflush(stdout);
}

static bool run_seed(uint64_t seed) {
    script_random(&script, seed);
    const char *kind = rig_run(&script);
    if (kind != NULL)
        disagree(seed, kind);
    return kind == NULL;
}

/* Faults that no script reaches, with the reason. */
static const struct {
    uint32_t fault;
    const char *reason;
} never[] = {
    {APP_FAULT_GENERATED, "only firmware with generated code has it"},
    {APP_FAULT_IMAGE, "a damaged store is tested in test_link.c"},
};

static bool expected(uint32_t fault) {
    bool reachable = true;
    for (size_t k = 0; k < sizeof never / sizeof never[0]; k++)
        reachable = reachable && never[k].fault != fault;
    return reachable;
}

typedef struct {
    uint32_t states, transitions, table, faults, missed;
} reached_t;

static reached_t count_reached(void) {
    reached_t r = {0};
    for (uint32_t s = 0; s < MODEL_STATES; s++) {
        uint32_t here = 0;
        for (uint32_t e = 0; e < MODEL_EVENTS; e++) {
            here += rig.model.reached[s][e];
            r.table += model_changes(s, e);
            r.transitions += model_changes(s, e) && rig.model.reached[s][e] > 0;
        }
        r.states += here > 0;
    }
    for (uint32_t f = 1; f < APP_FAULTS; f++) {
        r.faults += rig.model.faults[f] > 0;
        r.missed += rig.model.faults[f] == 0 && expected(f);
    }
    return r;
}

static void report_details(void) {
    for (uint32_t s = 0; s < MODEL_STATES; s++) {
        printf("NOTE %-12s", model_state_name[s]);
        for (uint32_t e = 0; e < MODEL_EVENTS; e++)
            if (model_changes(s, e))
                printf(" %s %u;", model_event_name[e], (unsigned)rig.model.reached[s][e]);
        printf("\n");
    }
    printf("NOTE faults");
    for (uint32_t f = 1; f < APP_FAULTS; f++)
        printf(" %s %u;", app_fault_name(f), (unsigned)rig.model.faults[f]);
    printf("\n");
    for (size_t k = 0; k < sizeof never / sizeof never[0]; k++)
        printf("NOTE not reached: %s: %s\n", app_fault_name(never[k].fault), never[k].reason);
    const double *most = rig.model.most;
    printf("NOTE largest part of its limit: torque %.4f, torque at the outputs %.4f, speed of the "
           "reference %.4f, speed of the tool %.4f; position %.1g rad beyond\n",
           most[MOST_TORQUE], most[MOST_OUTPUT], most[MOST_SPEED], most[MOST_TOOL],
           most[MOST_BEYOND]);
    printf("NOTE starts with a stored value that was refused and told: %u\n",
           (unsigned)rig.model.unrestored_starts);
}

static reached_t report(uint64_t scripts, uint32_t wrong) {
    const reached_t r = count_reached();
    report_details();
    printf("NOTE %llu scripts, %llu requests (%llu accepted), %llu ticks, states %u of %u, "
           "transitions %u of %u, faults %u of %u, disagreements %u\n",
           (unsigned long long)scripts, (unsigned long long)rig.requests,
           (unsigned long long)rig.accepted, (unsigned long long)rig.ticks, (unsigned)r.states,
           (unsigned)MODEL_STATES, (unsigned)r.transitions, (unsigned)r.table, (unsigned)r.faults,
           (unsigned)APP_FAULTS - 1, (unsigned)wrong);
    return r;
}

static bool replay(void) {
    const char *path = getenv("SUPERVISOR_SCRIPT"), *seed = getenv("SUPERVISOR_SEED");
    if (path == NULL && seed == NULL)
        return false;
    if (seed != NULL)
        script_random(&script, strtoull(seed, NULL, 0));
    else {
        FILE *from = fopen(path, "r");
        TEST_ASSERT_NOT_NULL(from);
        TEST_ASSERT_TRUE(script_read(&script, from));
        fclose(from);
    }
    if (getenv("SUPERVISOR_PRINT"))
        script_print(&script, stdout);
    fflush(stdout);
    const char *kind = rig_run(&script);
    if (kind != NULL)
        disagree(0, kind);
    TEST_ASSERT_NULL(kind);
    return true;
}

static void test_random_scripts(void) {
    const char *given = getenv("SUPERVISOR_SECONDS");
    const time_t begin = time(NULL), seconds = given ? atol(given) : SECONDS;
    const uint64_t first = seconds > 0 ? (uint64_t)begin << 20 : 1;
    uint32_t wrong = 0;
    uint64_t k = 0;
    if (replay())
        return;
    for (; wrong < MOST_WRONG && (seconds > 0 ? time(NULL) - begin < seconds : k < SEEDS); k++)
        wrong += !run_seed(first + k);
    const reached_t r = report(k, wrong);
    TEST_ASSERT_EQUAL_UINT32(0, wrong);
    if (k >= SEEDS)
        TEST_ASSERT_EQUAL_UINT32(MODEL_STATES, r.states);
    if (k >= ENOUGH) {
        TEST_ASSERT_EQUAL_UINT32(r.table, r.transitions);
        TEST_ASSERT_EQUAL_UINT32(0, r.missed);
    }
}

/* Requests that are valid one by one, put together to break a contract: nothing drops, nothing starts
 * by itself, nothing is loosened silently. The first ones have found something. */
static const char *const directed[] = {
    /* a fault that lasts must not hide a worse one */
    "load 3 0\nestop-seen 1\nset arm 0 1\nlead 1 9000\nstalled 7\nwait 2\nmotion 0 1 0 0 0\n"
    "overrun 3\nwait 3\n",
    "load 1 0\nestop-seen 1\nset arm 0 1\nlead 1 9000\nwait 3\nmotion 0 1 0 0 0\nwait 50\n"
    "unread 1 900 0\nwait 20\nsupply 2 20\nwait 9\n",
    /* the end of a lease must not take the torque */
    "load 1 0\nestop-seen 1\nset arm 0 1\nset feedback 0 0\nset feedforward 0 0\nlease 1 1000\n"
    "override feedback 0 1 1\noverride feedforward 0 1 2\nwait 3\nmotion 0 1 0 0 0\nwait 900\n"
    "lease-end 1\nwait 500\nrelease 0\nwait 5\n",
    /* nor must feedback 1 where only computed torque holds the arm */
    "load 1 0\nset feedback 0 2\nset kp 0 0\nset kd 0 0\nmotion 0 0 0 0 0\nwait 300\n"
    "set feedback 0 1\nwait 300\n",
    /* overrides of the next client; a lease that a change makes longer; one that goes to the real arm */
    "load 0 0\nlease 2 1000\nwait 1\nlease-end 2\nlease 1 2\noverride payload_x 0 1 0\nwait 2\n",
    "lease 2 1000\noverride tool_speed 0 2 100\nset rate_hz 0 200\nwait 366\n",
    "load 1 0\nestop-seen 1\nlease 1 60000\nset arm 0 1\nwait 3\nmotion 3 1 4 1 1\nwait 2500\n",
    "load 1 0\nestop-seen 1\nlead 1 9000\nwait 1\noverride guard_tracking 0 1 10\nset arm 0 1\n"
    "wait 9\n",
    /* points that wait do not run with limits that were lowered meanwhile */
    "load 0 0\nmotion 4 9 0.09 0 0\npoints 12 9 0.01 0\nset limits_scale 0 0.1\npoints 1 9 0 0\n"
    "points-end 9\nwait 500\n",
    /* an image that is refused leaves the parameters as they were, limits beyond the robot's, too */
    "load 1 0\nset position_upper 0 5\nset position_lower 0 4\nload-bad\nwait 3\n",
    "load 1 0\nset position_lower 0 -5\nset position_upper 0 -4\nload-bad\nwait 3\n",
    /* overrides of guards end at a fault that is cleared before the background has its turn */
    "load 2 0\nlease 1 500\noverride tool_speed 0 1 0.001\nbusy 8\nmotion 3 9 0 -0.5 -2\noverrun "
    "3\n"
    "wait 2\nclear\nwait 14\n",
    "load 4 0\nmotion 0 0 0 0 0\nwait 9\noverrun 3\nwait 5\nlease 1 1000\n"
    "override jog_timeout_s 0 1 0.54\nclear\nwait 3\n",
    /* a lowered arm whose client is gone: after clear the same fault does not come again */
    "load 3 0\nlead 1 1\nmotion 3 9 0 2.99 0\nwait 1250\nclear\nwait 9\n",
    /* those of tighter guards, too, although they wait until the outputs are off */
    "load 4 0\nlead 1 1\nmotion 0 9 2 -2.3 1.1\nwait 1\noverride guard_speed 0 1 1\noverrun 2\n"
    "wait 3\nclear\nrelease 9\nwait 2\n",
    /* nobody loads another robot under a client that has the lease */
    "load 1 0\nload 2 1\nmotion 0 1 0 0 0\nwait 9\n",
    /* what was stored is not written again, also after a lease */
    "load 4 0\nsave\nlease 2 1\nwait 3\nsave\n",
    /* what cannot be restored is told until it is cleared */
    "load 1 0\nestop-seen 1\nset arm 0 1\nwait 3\nset brakes 0 -1\nsave\nreset 0\nwait 9\n"
    "clear\nwait 1\nclear\n",
    /* the speed of the tool counts while a jog brakes, too */
    "load 0 0\nplace 9 1.2 0.5\nset jog_timeout_s 0 0.01\nmotion 5 9 0 0.16 -0.12\nwait 1\n"
    "set kp 0 1e9\nmotion 5 9 0 0.08 -0.04\nwait 25\n",
    /* nor is the tool faster on the way from one jog to another */
    "load 2 0\nmotion 5 9 0.4 0.069 -0.291\nwait 34\nmotion 5 9 0 0.155 -0.156\nwait 90\n",
    /* a payload that an override hid does not come back to an arm that cannot hold it */
    "load 4 0\nlead 1 1\nset payload_mass 0 1000\nwait 1\noverride payload_mass 0 1 0\n"
    "motion 0 9 0 0 0\nwait 2000\nrelease 9\nwait 3\n",
    /* a defect of the simulated arm is none of the real one */
    "set sim_defect 0 12\nload 3 0\nestop-seen 1\nwait 3\nset arm 0 1\nlead 1 9000\nwait 3\n"
    "motion 0 1 0 0 0\nwait 9\n",
    /* what is refused does not undo what was accepted in the same tick */
    "load 4 0\nset payload_mass 0 1000\nlease 2 1\noverride kp 0 2 163.9\nmotion 0 9 0 0 0\n"
    "set payload_y 0 0\nwait 5\n",
    /* a stale token; a client that died and comes back */
    "load 1 0\nlease 1 100\nwait 300\nmotion 0 0 0 0 0\nwait 9\nlease 2 1000\nrelease 1\n"
    "motion 3 1 0 1 1\nplace 1 0 0\nwait 9\nstop\nwait 9\nrelease 2\nwait 3\n",
    /* in damping: stop, home, place, load, save, reset, another robot, other brakes, the other arm */
    "load 4 0\nestop-seen 1\nset brakes 0 0\nset arm 0 1\nlead 1 60000\nwait 3\nmotion 0 1 0 0 0\n"
    "wait 99\nunread 3 9 0\nwait 20\nclear\nwait 9\nstop\nwait 2\nmotion 6 1 0 1 0\n"
    "motion 3 1 0 1 1\nplace 1 0 0\nload 1 0\nsave\nreset 1\nset brakes 0 1\nset arm 0 0\n"
    "set feedback 0 0\nset rate_hz 0 500\nwait 700\nclear\nmotion 0 1 0 0 0\nstop\nwait 9\n"
    "motion 0 1 0 0 0\nwait 99\n",
    "load 1 0\nset brakes 0 0\nmotion 0 0 0 0 0\nwait 99\noverrun 9\nwait 20\nclear\nwait 9\n"
    "set brakes 0 1\nwait 700\nset brakes 0 0\nwait 99\nmotion 0 0 0 0 0\nwait 9\n",
    /* while it runs: place, load, save, reset; a stop between request and tick; two releases */
    "load 2 0\nmotion 3 0 0 1 1\nplace 0 0 0\nload 1 0\nsave\nreset 1\nwait 99\nplace 0 0 0\nload "
    "1 0\n"
    "save\nreset 1\nstop\nmotion 0 0 0 0 0\nwait 1\nrelease 0\nmotion 0 0 0 0 0\nwait 1\n"
    "release 0\nrelease 0\nwait 3\n",
    /* limits_scale and tool_speed; a jog that replaces another one */
    "load 1 0\nset limits_scale 0 0.5\nset tool_speed 0 0.1\nmotion 5 0 0 0.06 0\nwait 99\n"
    "motion 5 0 0 0 0.19\nwait 30\nmotion 5 0 0 -0.06 0\nwait 30\nset tool_speed 0 0.05\nwait 9\n",
    /* two findings in one tick, in each state */
    "load 2 0\nestop-seen 1\nset arm 0 1\nlead 1 60000\nwait 3\nmotion 3 1 0 1 1\nwait 300\nlost "
    "9\n"
    "stalled 5\nsupply 1 9\nwait 9\nclear\nlatch 3 0\nunread 3 9 1\nwait 9\nclear\nlatch 16 16\n"
    "wait 3\nclear\nquiet\nwait 3\nclear\nwait 3\n",
    /* the lease lapses in the tick of a stop, of a motion, of a fault */
    "load 1 0\nlease 1 50\nmotion 3 1 0 1 1\nwait 51\nlease 1 50\nwait 50\nstop\nwait 2\n"
    "lease 1 50\nwait 50\nmotion 3 1 0 0 0\nwait 60\nlost 1\nwait 9\n",
};

static void test_directed_scripts(void) {
    uint32_t wrong = 0;
    for (size_t k = 0; k < sizeof directed / sizeof directed[0]; k++) {
        FILE *from = fmemopen((void *)(uintptr_t)directed[k], strlen(directed[k]), "r");
        TEST_ASSERT_NOT_NULL(from);
        TEST_ASSERT_TRUE_MESSAGE(script_read(&script, from), directed[k]);
        fclose(from);
        const char *kind = rig_run(&script);
        if (kind != NULL)
            disagree(k, kind);
        wrong += kind != NULL;
    }
    TEST_ASSERT_EQUAL_UINT32(0, wrong);
}

/* The tester sees defects that the rig gives the application from outside, and shrinks them. */
static void test_defects_are_found(void) {
    static const char *const name[RIG_DEFECTS] = {"none",
                                                  "clear releases the arm",
                                                  "the lease does not lapse",
                                                  "overrides are not undone",
                                                  "the outputs go off late",
                                                  "the latch is ignored",
                                                  "a stop is ignored",
                                                  "the brakes open early"};
    for (uint32_t defect = RIG_SOUND + 1; defect < RIG_DEFECTS; defect++) {
        const char *kind = NULL;
        uint64_t seed = 0;
        rig.defect = defect;
        while (kind == NULL && seed < SEEDS) {
            script_random(&script, ++seed);
            kind = rig_run(&script);
        }
        TEST_ASSERT_NOT_NULL_MESSAGE(kind, name[defect]);
        script_shrink(&script, rig_run, kind);
        (void)rig_run(&script);
        printf("NOTE %s: seed %llu, %u events: %s\n", name[defect], (unsigned long long)seed,
               (unsigned)script.count, rig.model.complaint);
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(12, script.count);
    }
    rig.defect = RIG_SOUND;
}

TEST_LIST_BEGIN
TEST(test_random_scripts)
TEST(test_directed_scripts)
TEST(test_defects_are_found)
TEST_LIST_END
