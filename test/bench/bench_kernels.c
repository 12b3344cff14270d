/* The bench of the kernels: runs every robot in every number type. */
#include "test/bench/bench.h"

bench_memory_t bench_memory;
static bench_robot_t robot;

void bench_run(const bench_choice_t *choice) {
    for (uint32_t k = 0; k < bench_robot_count(); k++) {
        robot.name = bench_robot_name(k);
        if (!bench_chosen(choice->robot, robot.name))
            continue;
        bench_robot_model(k, &robot.model);
        bench_robot_units(&robot.model, &robot.units);
        bench_run_f32(&robot, choice);
        bench_run_q31(&robot, choice);
        bench_run_f64(&robot, choice);
    }
#if BENCH_FLEX
    bench_run_flex(choice);
#endif
    bench_run_gen(choice);
}
