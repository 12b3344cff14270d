/*
 * Random scripts against the application and an independent model of its supervisor
 * (test/support/supervisor_model.h): requests, inputs, resets, cable pulls, motions, of the simulated
 * and of the real arm. A disagreement is shrunk to a short script and printed.
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

#include "test/support/supervisor_rig.h"

#ifdef TEST_LONG
enum { SECONDS = 3000 };
#else
enum { SECONDS = 0 };
#endif
enum { SEEDS = 60, MOST_WRONG = 8 };

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

static void report(void) {
    uint32_t pairs = 0;
    for (uint32_t s = 0; s < MODEL_STATES; s++)
        for (uint32_t e = 0; e < MODEL_EVENTS; e++)
            pairs += rig.model.reached[s][e] > 0;
    harness_note_number("requests", (int64_t)rig.requests);
    harness_note_number("of them accepted", (int64_t)rig.accepted);
    harness_note_number("ticks", (int64_t)rig.ticks);
    harness_note_number("pairs of state and event", pairs);
    for (uint32_t s = 0; s < MODEL_STATES; s++) {
        printf("NOTE %-12s", model_state_name[s]);
        for (uint32_t e = 0; e < MODEL_EVENTS; e++)
            if (rig.model.reached[s][e] > 0)
                printf(" %s %u,", model_event_name[e], (unsigned)rig.model.reached[s][e]);
        printf("\n");
    }
    printf("NOTE faults");
    for (uint32_t f = 0; f < MODEL_FAULTS; f++)
        if (rig.model.faults[f] > 0)
            printf(" %u:%u", (unsigned)f, (unsigned)rig.model.faults[f]);
    printf("\n");
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
    if (replay())
        return;
    for (uint64_t k = 0;
         wrong < MOST_WRONG && (seconds > 0 ? time(NULL) - begin < seconds : k < SEEDS); k++)
        wrong += !run_seed(first + k);
    report();
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
TEST(test_defects_are_found)
TEST_LIST_END
