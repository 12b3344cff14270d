/* Tests how the loader finds and reads files: robots by name, missing or unreadable files, and the
 * reader of robot images. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

static void must_fail(const char *what, const robot_options_t *options, message_code_t code,
                      const char *part) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = calloc(1, sizeof *robot);
    TEST_ASSERT_NOT_NULL(robot);
    TEST_ASSERT_EQUAL_MESSAGE(-1, robot_load(what, options, robot, &messages), what);
    const message_t *m = help_find(&messages, code, NULL, part);
    if (!m)
        help_print(&messages);
    TEST_ASSERT_NOT_NULL_MESSAGE(m, what);
    if (!m)
        return;
    TEST_ASSERT_EQUAL_STRING(what, m->file);
    TEST_ASSERT_TRUE(*m->cure != '\0');
    help_free(robot);
    messages_free(&messages);
}

static void test_files_that_cannot_be_read(void) {
    must_fail("no/such/file.yaml", NULL, MESSAGE_FILE, "No such file");
    must_fail("nothing.urdf", NULL, MESSAGE_FILE, "cannot be opened");
    must_fail("tools/robots/", NULL, MESSAGE_FILE, "this is a folder");
    must_fail("pumma560", NULL, MESSAGE_FILE, "no robot of this name in");
    must_fail("", NULL, MESSAGE_FILE, "cannot be opened");
    /* Reading /proc/self/mem fails like a bad disk, because the first page of a process is never
     * mapped. */
    if (access("/proc/self/mem", R_OK) == 0)
        must_fail("/proc/self/mem", NULL, MESSAGE_FILE, "reading failed: Input/output error");
}

static void test_file_without_permission(void) {
    char path[] = "/tmp/appell-test-XXXXXX";
    const int file = mkstemp(path);
    TEST_ASSERT_GREATER_OR_EQUAL(0, file);
    close(file);
    chmod(path, 0);
    if (access(path, R_OK) != 0)
        must_fail(path, NULL, MESSAGE_FILE, "Permission denied");
    unlink(path);
}

static void test_robots_by_name(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", NULL, &messages);
    TEST_ASSERT_EQUAL_STRING("tools/robots/puma560.yaml", robot->file);
    help_free(robot);

    char folder[] = "/tmp/appell-test-XXXXXX", path[64];
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.urdf", folder);
    FILE *file = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(file);
    fputs("<robot name='m'><link name='b'/><link name='l'/><joint name='j' type='continuous'>"
          "<parent link='b'/><child link='l'/></joint></robot>",
          file);
    fclose(file);
    setenv("APPELL_ROBOTS", folder, 1);
    robot = help_load("mine", NULL, &messages);
    TEST_ASSERT_EQUAL(1, robot->n);
    help_free(robot);
    /* The robots of the source tree are still found. */
    robot = help_load("stanford", NULL, &messages);
    help_free(robot);
    unsetenv("APPELL_ROBOTS");
    unlink(path);
    rmdir(folder);
    messages_free(&messages);
}

/* The program finds its robots from any working folder: they are in ../../tools/robots relative to
 * a program in build/host/. */
static void test_robots_beside_the_program(void) {
    char *folder[3];
    const size_t count = robot_folders(folder, 3);
    TEST_ASSERT_EQUAL(2, count);
    TEST_ASSERT_EQUAL_STRING("tools/robots", folder[0]);
    TEST_ASSERT_NOT_NULL(strstr(folder[1], "/../../tools/robots"));
    for (size_t i = 0; i < count; i++)
        free(folder[i]);
}

static int image_seen;

static int read_image(const char *file, const uint8_t *bytes, size_t size,
                      const robot_options_t *options, robot_t *out, messages_t *messages) {
    (void)options;
    TEST_ASSERT_EQUAL_STRING("i.bin", file);
    TEST_ASSERT_EQUAL(6, size);
    TEST_ASSERT_EQUAL(0, memcmp(bytes, "IMG", 3));
    if (bytes[3] == 'x') {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, (message_place_t){file, 0, NULL}, "",
                     "a bad image");
        return -1;
    }
    strcpy(out->name, "imaged");
    out->n = 1;
    out->convention = DYN_CONVENTION_MDH;
    out->joint[0].source.link.mass = 3;
    image_seen++;
    return 0;
}

static void test_image_hook(void) {
    const robot_options_t options = {
        .image_magic = "IMG", .image_magic_size = 3, .image_reader = read_image};
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_parse("i.bin", "IMG\0\0\0", 6, &options, &messages);
    TEST_ASSERT_EQUAL(1, image_seen);
    TEST_ASSERT_EQUAL(ROBOT_FORMAT_IMAGE, robot->format);
    TEST_ASSERT_EQUAL_DOUBLE(3, robot->model.joint[0].link.mass);
    robot_free(robot);
    TEST_ASSERT_EQUAL(-1, robot_parse("i.bin", "IMGx\0\0", 6, &options, robot, &messages));
    help_free(robot);
    messages_free(&messages);
}

static void test_gravity_of_the_user(void) {
    const double moon[3] = {0, 0, -1.62};
    const robot_options_t options = {.gravity = moon};
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", &options, &messages);
    TEST_ASSERT_EQUAL_DOUBLE(-1.62, robot->gravity[2]);
    TEST_ASSERT_EQUAL_DOUBLE(-1.62, robot->model.gravity[2]);
    help_free(robot);
    messages_free(&messages);
}

/* Switches to a locale with a decimal comma, an installed one or one made here. False if there is
 * none. */
static bool use_decimal_comma(char *folder) {
    char command[200], path[80];
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return true;
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -f UTF-8 -i de_DE %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    setenv("LOCPATH", folder, 1);
    const bool made = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(path, sizeof path, "rm -rf %s", folder);
    TEST_ASSERT_EQUAL(0, system(path));
    return made;
}

static void test_decimal_comma(void) {
    char folder[] = "/tmp/appell-test-XXXXXX", comma[16];
    if (!use_decimal_comma(folder))
        TEST_IGNORE_MESSAGE("no language with a decimal comma can be had");
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    TEST_ASSERT_EQUAL_STRING("1,5", comma);
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", NULL, &messages);
    TEST_ASSERT_EQUAL_DOUBLE(0.4318, robot->joint[1].source.a);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    TEST_ASSERT_EQUAL(0, robot_save(stream, robot));
    fclose(stream);
    TEST_ASSERT_NOT_NULL(strstr(text, "a: 0.4318,"));
    free(text);
    setlocale(LC_ALL, "C");
    help_free(robot);
    messages_free(&messages);
}

static void test_settle_again_after_a_change(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", NULL, &messages);
    const double q[6] = {0, 0.5, 0, 0, 0, 0}, rest[6] = {0};
    double before[6], after[6];
    help_torque(&robot->model, q, rest, rest, false, before);
    robot->payload.mass = 2;
    TEST_ASSERT_EQUAL(0, robot_settle(robot, 0, &messages));
    help_torque(&robot->model, q, rest, rest, false, after);
    /* The wrist centre at q3 = 0 is a2 + a3 outwards and d4 up, turned by q2. */
    const double x = 0.4318 * cos(0.5) + 0.0203 * cos(0.5) - 0.4318 * sin(0.5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, 2 * 9.81 * x, after[1] - before[1]);
    help_free(robot);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_files_that_cannot_be_read)
TEST(test_file_without_permission)
TEST(test_robots_by_name)
TEST(test_robots_beside_the_program)
TEST(test_image_hook)
TEST(test_gravity_of_the_user)
TEST(test_decimal_comma)
TEST(test_settle_again_after_a_change)
TEST_LIST_END
