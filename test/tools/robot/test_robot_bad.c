/*
 * Tests bad input: a table of malformed robot files, URDFs and parts databases, each with the
 * message that a user must see (code, line, and a part of its text or cure). No case may load.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

/* Good files, in which each case replaces one piece of text. */
static const char good_yaml[] =
    "name: arm\n"                                                               /* 1 */
    "convention: dh\n"                                                          /* 2 */
    "gravity: [0, 0, -9.81]\n"                                                  /* 3 */
    "control: {rate: 1000, feedback: pd}\n"                                     /* 4 */
    "joints:\n"                                                                 /* 5 */
    "  - name: one\n"                                                           /* 6 */
    "    type: revolute\n"                                                      /* 7 */
    "    dh: {theta: 0, d: 0.1, a: 0.2, alpha: 0}\n"                            /* 8 */
    "    link: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"        /* 9 */
    "    limits: {position: [-1, 1], velocity: 2, torque: 5}\n"                 /* 10 */
    "    motor: {resistance: 1, torque_constant: 0.1, gear: 50, voltage: 24}\n" /* 11 */
    "    friction: {viscous: 0.1, coulomb: 0.2}\n"                              /* 12 */
    "    encoder: {counts: 1000, sign: 1, ratio: 50}\n"                         /* 13 */
    "    gains: {kp: 10, kd: 1}\n"                                              /* 14 */
    "  - name: two\n"                                                           /* 15 */
    "    type: prismatic\n"                                                     /* 16 */
    "    dh: {theta: 0, d: 0, a: 0, alpha: 1.5}\n"                              /* 17 */
    "    link: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"        /* 18 */
    "payload: {mass: 1}\n";                                                     /* 19 */

static const char good_flex[] =
    "name: flex\n"                               /* 1 */
    "convention: mdh\n"                          /* 2 */
    "gravity: [0, -9.81, 0]\n"                   /* 3 */
    "joints:\n"                                  /* 4 */
    "  - name: one\n"                            /* 5 */
    "    type: revolute\n"                       /* 6 */
    "    dh: {theta: 0, d: 0, a: 0, alpha: 0}\n" /* 7 */
    "    flex: {length: 1, mass_per_length: 5, EI_y: 9, EI_z: 10, GJ: 3, modes: {xy: 1, xz: 1, "
    "torsion: 1}}\n"                                          /* 8 */
    "  - name: two\n"                                         /* 9 */
    "    type: revolute\n"                                    /* 10 */
    "    dh: {theta: 0, d: 0, a: 1, alpha: 0}\n"              /* 11 */
    "    flex:\n"                                             /* 12 */
    "      length: 1\n"                                       /* 13 */
    "      mass_per_length: 4\n"                              /* 14 */
    "      EI_z: 11\n"                                        /* 15 */
    "      modes: {xy: 1}\n"                                  /* 16 */
    "      shapes:\n"                                         /* 17 */
    "        - {plane: xy, values: [0, 0.1, 0.3, 0.6, 1]}\n"; /* 18 */

static const char good_urdf[] =
    "<?xml version=\"1.0\"?>\n"                                                  /* 1 */
    "<robot name=\"r\">\n"                                                       /* 2 */
    "<link name=\"base\"/>\n"                                                    /* 3 */
    "<link name=\"l1\"><inertial><origin xyz=\"0 0 0.1\"/><mass value=\"1\"/>\n" /* 4 */
    "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" iyz=\"0\" ixz=\"0\"/></inertial></link>\n"
    "<link name=\"l2\"/>\n"                                                              /* 6 */
    "<joint name=\"j1\" type=\"revolute\"><parent link=\"base\"/><child link=\"l1\"/>\n" /* 7 */
    "<origin xyz=\"0 0 1\" rpy=\"0 0 0\"/><axis xyz=\"0 0 1\"/>\n"                       /* 8 */
    "<limit lower=\"-1\" upper=\"1\" effort=\"5\" velocity=\"2\"/></joint>\n"            /* 9 */
    "<joint name=\"j2\" type=\"prismatic\"><parent link=\"l1\"/><child link=\"l2\"/>\n"  /* 10 */
    "<axis xyz=\"1 0 0\"/><mimic joint=\"j1\" multiplier=\"2\"/></joint>\n"              /* 11 */
    "</robot>\n";                                                                        /* 12 */

static const char good_parts[] =
    "name: p\n"                                                            /* 1 */
    "convention: mdh\n"                                                    /* 2 */
    "gravity: [0, 0, -9.81]\n"                                             /* 3 */
    "materials: [{name: steel, density: 7850}]\n"                          /* 4 */
    "parts:\n"                                                             /* 5 */
    "  - name: rod\n"                                                      /* 6 */
    "    sections:\n"                                                      /* 7 */
    "      - {shape: cylinder, radius: 0.1, length: 1, material: steel}\n" /* 8 */
    "      - {shape: tube, radius: 0.2, inner_radius: 0.1, length: 1, density: "
    "1000}\n"                                                         /* 9 */
    "links:\n"                                                        /* 10 */
    "  - {name: arm, parts: [{part: rod, pose: {xyz: [0, 0, 1]}}]}\n" /* 11 */
    "  - {name: effector, parts: [{part: rod}]}\n"                    /* 12 */
    "joints:\n"                                                       /* 13 */
    "  - {name: j, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: 0}, link: "
    "arm}\n" /* 14 */
    "  - {name: k, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: 0}, link: "
    "effector}\n"; /* 15 */

typedef struct {
    const char *base, *find, *replace;
    message_code_t code;
    uint32_t line; /* 0: not checked */
    const char *part;
} case_t;

#define Y good_yaml
#define F good_flex
#define U good_urdf
#define P good_parts

static const case_t cases[] = {
    /* robot files: keys */
    {Y, "name: arm\n", "", MESSAGE_MISSING_KEY, 1, "\"name\" is missing"},
    {Y, "convention: dh\n", "", MESSAGE_MISSING_KEY, 1, "\"convention\" is missing"},
    {Y, "gravity: [0, 0, -9.81]\n", "", MESSAGE_MISSING_KEY, 1, "add gravity:"},
    {Y, "control:", "contol:", MESSAGE_UNKNOWN_KEY, 4, "did you mean control?"},
    {Y, "velocity: 2", "vel: 2", MESSAGE_UNKNOWN_KEY, 10, "did you mean velocity?"},
    {Y, "inertia: [1, 1, 1, 0, 0, 0]}\n    limits", "inertai: [1, 1, 1, 0, 0, 0]}\n    limits",
     MESSAGE_UNKNOWN_KEY, 9, "did you mean inertia?"},
    {Y, "{mass: 1, com: [0, 0, 0], ", "{com: [0, 0, 0], ", MESSAGE_MISSING_KEY, 9,
     "link: the key \"mass\" is missing"},
    {Y, "theta: 0, d: 0.1, ", "d: 0.1, ", MESSAGE_MISSING_KEY, 8, "\"theta\" is missing"},
    {Y, "payload: {mass: 1}", "payload: {mass: 1, mass: 2}", MESSAGE_DUPLICATE_KEY, 19,
     "\"mass\" occurs twice"},
    {Y, "gravity: [0, 0, -9.81]\n", "gravity: [0, 0, -9.81]\ngravity: [0, 0, 0]\n",
     MESSAGE_DUPLICATE_KEY, 4, "keep one of the two"},
    {Y, "    type: revolute\n", "", MESSAGE_MISSING_KEY, 6, "\"type\" is missing"},
    {Y, "    link: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n    limits",
     "    limits", MESSAGE_MISSING_KEY, 6, "neither link nor flex"},
    /* types and counts */
    {Y, "gravity: [0, 0, -9.81]", "gravity: -9.81", MESSAGE_TYPE, 3,
     "gravity: found a single value, expected a list"},
    {Y, "gravity: [0, 0, -9.81]", "gravity: [0, -9.81]", MESSAGE_COUNT, 3, "2 entries, expected 3"},
    {Y, "inertia: [1, 1, 1, 0, 0, 0]}\n    limits", "inertia: [1, 1, 1]}\n    limits",
     MESSAGE_COUNT, 9, "3 entries, expected 6"},
    {Y, "mass: 1, com", "mass: heavy, com", MESSAGE_NUMBER, 9,
     "link.mass: \"heavy\" is not a finite"},
    {Y, "mass: 1, com", "mass: [1], com", MESSAGE_TYPE, 9, "found a list, expected a number"},
    {Y, "{mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n    limits", "7\n    limits",
     MESSAGE_TYPE, 9, "found a single value, expected a mapping"},
    {Y, "limits: {position: [-1, 1], velocity: 2, torque: 5}", "limits:", MESSAGE_TYPE, 10,
     "leave the key out"},
    {Y, "name: arm\n", "name: {a: b}\n", MESSAGE_TYPE, 1, "found a mapping, expected text"},
    {Y, "name: arm\n", "name: \"\"\n", MESSAGE_VALUE, 1, "name: the text is empty"},
    {Y, "name: arm\n",
     "name: "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
     MESSAGE_LIMIT, 1, "longer than 127 bytes"},
    {Y, "name: arm\n", "name: \"a\\x1bb\"\n", MESSAGE_VALUE, 1, "control character"},
    {Y, "coulomb: 0.2", "coulomb: [1, 2, 3]", MESSAGE_COUNT, 12, "expected 1 to 2"},
    /* numbers */
    {Y, "mass: 1, com", "mass: .nan, com", MESSAGE_NUMBER, 9, "\".nan\" is not a finite"},
    {Y, "mass: 1, com", "mass: nan, com", MESSAGE_NUMBER, 9, "\"nan\" is not a finite"},
    {Y, "mass: 1, com", "mass: .inf, com", MESSAGE_NUMBER, 9, "not a finite decimal"},
    {Y, "mass: 1, com", "mass: 1e999, com", MESSAGE_NUMBER, 9, "\"1e999\" is not a finite"},
    {Y, "mass: 1, com", "mass: 1e20, com", MESSAGE_NUMBER, 9, "larger than 1e15"},
    {Y, "mass: 1, com", "mass: 0x10, com", MESSAGE_NUMBER, 9, "\"0x10\""},
    {Y, "mass: 1, com", "mass: '1,5', com", MESSAGE_NUMBER, 9, "\"1,5\""},
    {Y, "mass: 1, com", "mass: 1 kg, com", MESSAGE_NUMBER, 9, "\"1 kg\""},
    {Y, "mass: 1, com", "mass: '', com", MESSAGE_NUMBER, 9, "\"\" is not"},
    {Y, "mass: 1, com", "mass: 1e, com", MESSAGE_NUMBER, 9, "\"1e\""},
    {Y, "mass: 1, com", "mass: -, com", MESSAGE_NUMBER, 9, "\"-\" is not"},
    /* values */
    {Y, "type: revolute", "type: revolut", MESSAGE_VALUE, 7, "did you mean revolute?"},
    {Y, "type: revolute", "type: spherical", MESSAGE_VALUE, 7, "choose one of revolute, prismatic"},
    {Y, "convention: dh", "convention: craig", MESSAGE_VALUE, 2, "choose one of dh, mdh, frames"},
    {Y, "feedback: pd", "feedback: pid", MESSAGE_VALUE, 4, "did you mean pd?"},
    {Y, "name: arm\n", "name: arm\nbrakes: maybe\n", MESSAGE_VALUE, 2, "choose one of false, true"},
    {Y, "rate: 1000", "rate: 0", MESSAGE_VALUE, 4, "rate_hz is 0; it must be 100 to 20000 Hz"},
    {Y, "rate: 1000", "rate: 999.5", MESSAGE_VALUE, 4, "a whole number"},
    {Y, "velocity: 2", "velocity: -2", MESSAGE_VALUE, 10,
     "velocity is -2; it must be 0 to 1000000 rad/s"},
    {Y, "gear: 50", "gear: 0", MESSAGE_VALUE, 11, "the gear is zero"},
    {Y, "resistance: 1", "resistance: -1", MESSAGE_VALUE, 11, "resistance is -1; it must be 0 to"},
    {Y, "coulomb: 0.2", "coulomb: [0.2, 0.3]", MESSAGE_VALUE, 12, "wrong sign"},
    {Y, "coulomb: 0.2", "coulomb: -0.2", MESSAGE_VALUE, 12, "wrong sign"},
    {Y, "sign: 1", "sign: 2", MESSAGE_VALUE, 13, "sign is 2; it must be -1 to 1, but not 0"},
    {Y, "counts: 1000", "counts: 0", MESSAGE_VALUE, 13, "counts is zero"},
    {Y, "ratio: 50", "ratio: -50", MESSAGE_VALUE, 13, "ratio is -50; it must be 0.001 to"},
    {Y, "counts: 1000", "counts: 0.5", MESSAGE_VALUE, 13,
     "counts is 0.5; it must be 0 to 1073741824"},
    {Y, "counts: 1000", "counts: 1000.5", MESSAGE_VALUE, 13, "a whole number"},
    {Y, "counts: 1000", "counts: 4294967296", MESSAGE_VALUE, 13, "counts is 4.2949673e+09"},
    {Y, "kp: 10", "kp: -10", MESSAGE_VALUE, 14, "kp is -10; it must be 0 to"},
    {Y, "name: two", "name: one", MESSAGE_DUPLICATE_NAME, 15, "joints 1 and 2 have the same name"},
    /* conventions */
    {Y, "convention: dh", "convention: frames", MESSAGE_MISSING_KEY, 6, "\"origin\" is missing"},
    {Y, "convention: dh", "convention: frames", MESSAGE_CONVENTION, 8,
     "the key \"dh\" is not used in this convention"},
    {Y, "    dh: {theta: 0, d: 0.1, a: 0.2, alpha: 0}\n", "    axis: [0, 0, 1]\n",
     MESSAGE_MISSING_KEY, 6, "\"dh\" is missing"},
    {Y, "    dh: {theta: 0, d: 0.1", "    mdh: {theta: 0, d: 0.1", MESSAGE_UNKNOWN_KEY, 8,
     "did you mean dh?"},
    /* joints */
    {Y, "joints:\n", "joints: []\njunk:\n", MESSAGE_COUNT, 5, "0 entries, expected 1 to 32"},
    {Y, "joints:\n", "joints: 6\njunk:\n", MESSAGE_TYPE, 5, "expected a list"},
    {Y, "joints:\n", "junk:\n", MESSAGE_MISSING_KEY, 1, "\"joints\" is missing"},
    {Y, "joints:\n", "joints: [1, 2]\njunk:\n", MESSAGE_TYPE, 5, "joints[1]: found a single value"},
    /* YAML itself */
    {Y, "gravity: [0, 0, -9.81]", "gravity: [0, 0, -9.81", MESSAGE_SYNTAX, 0,
     "not well-formed YAML"},
    {Y, "    type: revolute", "\ttype: revolute", MESSAGE_SYNTAX, 0, "not well-formed YAML"},
    {Y, "name: arm", "name: \"arm", MESSAGE_SYNTAX, 0, "not well-formed YAML"},
    {Y, "name: arm", "name: *nobody", MESSAGE_ALIAS, 1, "has no anchor"},
    {Y, "name: arm", "name: !!str arm", MESSAGE_SYNTAX, 1, "a YAML tag"},
    {Y, "payload: {mass: 1}\n", "---\nname: again\n", MESSAGE_SYNTAX, 20,
     "the file contains a second YAML document"},
    {Y, "name: arm", "[a, b]: arm", MESSAGE_TYPE, 1, "this key is a list"},
    {Y, "name: arm", "name: \"a\\0b\"", MESSAGE_SYNTAX, 1, "a zero byte"},
    {Y, "name: arm", "name: &x [*x]", MESSAGE_ALIAS, 1, "has no anchor before it"},
    {Y, "name: arm", "name: [[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
     MESSAGE_LIMIT, 1, "nested deeper"},
    /* elastic links */
    {F, "convention: mdh", "convention: dh", MESSAGE_FLEX, 8, "only in convention mdh"},
    {F, "a: 1, alpha", "a: 1.1, alpha", MESSAGE_FLEX, 8, "but `a` of the next joint is 1.1"},
    {F, "{length: 1", "{length: 0", MESSAGE_FLEX, 8, "length is not positive"},
    {F, "mass_per_length: 5", "mass_per_length: 0", MESSAGE_FLEX, 8, "mass_per_length is not"},
    {F, "EI_z: 10, ", "", MESSAGE_FLEX, 8, "modes.xy needs a positive EI_z"},
    {F, "EI_y: 9", "EI_y: -9", MESSAGE_FLEX, 8, "modes.xz needs a positive EI_y"},
    {F, "GJ: 3", "GJ: 0", MESSAGE_FLEX, 8, "modes.torsion needs a positive GJ"},
    {F, "modes: {xy: 1, xz", "modes: {xy: 9, xz", MESSAGE_FLEX, 8, "modes.xy is 9; at most 8"},
    {F, "modes: {xy: 1, xz", "modes: {xy: 1.5, xz", MESSAGE_NUMBER, 8, "not a whole number"},
    {F, "modes: {xy: 1, xz", "modes: {xy: -1, xz", MESSAGE_NUMBER, 8, "not a whole number"},
    {F, "modes: {xy: 1}", "modes: {xy: 1, torsion: 1}\n      GJ: 5", MESSAGE_FLEX, 13,
     "torsion of the last link needs polar_inertia"},
    {F, "    flex:\n",
     "    link: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n    flex:\n", MESSAGE_FLEX,
     9, "both link and flex"},
    {F, "values: [0, 0.1", "values: [1, 0.1", MESSAGE_FLEX, 18, "not zero at the root"},
    {F, "[0, 0.1, 0.3, 0.6, 1]", "[0, 0, 0, 0, 0]", MESSAGE_FLEX, 18, "zero everywhere"},
    {F, "[0, 0.1, 0.3, 0.6, 1]", "[0, 1]", MESSAGE_COUNT, 18, "expected 5 to 1001"},
    {F, "modes: {xy: 1}\n", "modes: {xy: 2}\n", MESSAGE_FLEX, 18,
     "for xy there are 1 shapes, but 2 modes"},
    {F, "plane: xy", "plane: yz", MESSAGE_VALUE, 18, "allowed values: xy, xz, torsion"},
    /* URDF: XML */
    {U, "</robot>", "", MESSAGE_SYNTAX, 0, "not well-formed XML"},
    {U, "<link name=\"base\"/>", "<link name=\"base\">", MESSAGE_SYNTAX, 0, "mismatched tag"},
    {U, "<robot name=\"r\">", "<sdf><robot name=\"r\">", MESSAGE_FORMAT, 2, "convert the SDF"},
    {U, "<robot name=\"r\">",
     "<!DOCTYPE r [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c "
     "\"&b;&b;&b;&b;&b;&b;&b;&b;\">]>\n<robot name=\"&c;\">",
     MESSAGE_ENTITY, 2, "<!DOCTYPE> is refused"},
    {U, "<robot name=\"r\">", "<!DOCTYPE r SYSTEM \"file:///etc/passwd\">\n<robot name=\"r\">",
     MESSAGE_ENTITY, 2, "remove the <!DOCTYPE"},
    {U, "name=\"r\"", "name=\"&huge;\"", MESSAGE_SYNTAX, 2, "undefined entity"},
    /* URDF: numbers, attributes */
    {U, "xyz=\"0 0 0.1\"", "xyz=\"0 0\"", MESSAGE_COUNT, 4, "2 numbers, expected 3"},
    {U, "xyz=\"0 0 0.1\"", "xyz=\"0 0 1 2\"", MESSAGE_COUNT, 4, "4 numbers, expected 3"},
    {U, "xyz=\"0 0 0.1\"", "xyz=\"0 0 nan\"", MESSAGE_NUMBER, 4, "\"nan\" is not a finite"},
    {U, "value=\"1\"", "value=\"1e400\"", MESSAGE_NUMBER, 4, "\"1e400\" is not a finite"},
    {U, "value=\"1\"", "value=\"1e17\"", MESSAGE_NUMBER, 4, "larger than 1e15"},
    {U, "value=\"1\"", "value=\"1kg\"", MESSAGE_NUMBER, 4, "\"1kg\""},
    {U, "value=\"1\"", "value=\"\"", MESSAGE_COUNT, 4, "0 numbers, expected 1"},
    {U, "<mass value=\"1\"/>", "<mass/>", MESSAGE_MISSING_KEY, 4, "no attribute \"value\""},
    {U, "<mass value=\"1\"/>", "", MESSAGE_MISSING_KEY, 5, "<inertial> has no <mass>"},
    {U, "iyz=\"0\" ", "", MESSAGE_MISSING_KEY, 5, "no attribute \"iyz\""},
    {U, "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" iyz=\"0\" ixz=\"0\"/>", "",
     MESSAGE_MISSING_KEY, 5, "has no <inertia>"},
    {U, "<axis xyz=\"0 0 1\"/>", "<axis xyz=\"0 0 0\"/>", MESSAGE_AXIS, 8, "length zero"},
    {U, "<axis xyz=\"0 0 1\"/>", "<axis/>", MESSAGE_MISSING_KEY, 8, "<axis> has no attribute"},
    {U, "effort=\"5\"", "effort=\"-5\"", MESSAGE_VALUE, 9, "<limit effort> is negative"},
    {U, "xyz=\"0 0 1\" rpy", "xyz=\"0 0 ${height}\" rpy", MESSAGE_XACRO, 8, "run xacro first"},
    {U, "<link name=\"base\"/>", "<xacro:include filename=\"x\"/>", MESSAGE_XACRO, 3,
     "<xacro:include> is a xacro element"},
    {U, "<link name=\"base\"/>", "<link name=\"$(arg prefix)base\"/>", MESSAGE_XACRO, 3,
     "is a xacro expression"},
    /* URDF: the tree */
    {U, "<link name=\"l2\"/>", "<link name=\"l1\"/>", MESSAGE_DUPLICATE_NAME, 6,
     "line 4 already has a link"},
    {U, "name=\"j2\"", "name=\"j1\"", MESSAGE_DUPLICATE_NAME, 10, "line 7 already has a joint"},
    {U, "<link name=\"l2\"/>", "<link name=\"l2\"/><link name=\"stray\"/>", MESSAGE_TREE, 6,
     "two links have no parent: base and stray"},
    {U, "<parent link=\"base\"/>", "<parent link=\"l2\"/>", MESSAGE_TREE, 0,
     "cannot be reached from the root base"},
    {U, "</robot>",
     "<joint name=\"j3\" type=\"fixed\"><parent link=\"l2\"/><child "
     "link=\"base\"/></joint></robot>",
     MESSAGE_TREE, 2, "every link is the child of another"},
    {U, "<parent link=\"l1\"/><child link=\"l2\"/>", "<parent link=\"base\"/><child link=\"l1\"/>",
     MESSAGE_TREE, 10, "two parents make a loop"},
    {U, "<parent link=\"base\"/>", "<parent link=\"bose\"/>", MESSAGE_UNKNOWN_NAME, 7,
     "did you mean base?"},
    {U, "<parent link=\"base\"/>", "", MESSAGE_MISSING_KEY, 9, "the joint has no <parent>"},
    {U, "<child link=\"l1\"/>", "<child/>", MESSAGE_MISSING_KEY, 7,
     "\"link\" of <child> is missing"},
    {U, "type=\"revolute\"", "type=\"floating\"", MESSAGE_JOINT_TYPE, 7, "\"floating\""},
    {U, "type=\"revolute\"", "type=\"planar\"", MESSAGE_JOINT_TYPE, 7, "make it fixed"},
    {U, "type=\"revolute\"", "", MESSAGE_MISSING_KEY, 7, "\"type\" of <joint> is missing"},
    {U, "type=\"revolute\"", "type=\"fixed\"", MESSAGE_CHAIN, 2, "none of its joints moves"},
    {U, "joint=\"j1\"", "joint=\"j9\"", MESSAGE_UNKNOWN_NAME, 11, "which does not exist"},
    {U, "joint=\"j1\"", "joint=\"j2\"", MESSAGE_MIMIC, 11, "in a loop"},
    {U, "<link name=\"l2\"/>", "<link/>", MESSAGE_MISSING_KEY, 6,
     "the attribute \"name\" of <link> is missing or empty"},
    {U, "</inertial></link>", "</inertial><inertial/></link>", MESSAGE_DUPLICATE_KEY, 5,
     "a second <inertial>"},
    {U, "<mass value=\"1\"/>", "<mass value=\"1\"/><mass value=\"2\"/>", MESSAGE_DUPLICATE_KEY, 4,
     "a second <mass>"},
    {U, "velocity=\"2\"/>", "velocity=\"2\"/><limit effort=\"3\"/>", MESSAGE_DUPLICATE_KEY, 9,
     "a second <limit>"},
    {U, "<link name=\"l2\"/>",
     "<link name=\"l2\"><inertial><origin xyz=\"0 0 1e10\"/><mass value=\"1e10\"/><inertia "
     "ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" iyz=\"0\" ixz=\"0\"/></inertial></link>",
     MESSAGE_VALUE, 0, "mass is 1e+10; it must be 0 to 1000000 kg"},
    /* parts databases */
    {P, "material: steel", "material: gold", MESSAGE_UNKNOWN_NAME, 8, "no material \"gold\""},
    {P, "material: steel", "material: steel, density: 1", MESSAGE_VALUE, 8, "more than one of"},
    {P, ", material: steel", "", MESSAGE_MISSING_KEY, 8,
     "neither density nor material nor mass is given"},
    {P, "shape: cylinder", "shape: cilinder", MESSAGE_VALUE, 8, "did you mean cylinder?"},
    {P, "radius: 0.1, length: 1, material", "length: 1, material", MESSAGE_MISSING_KEY, 8,
     "a cylinder needs radius"},
    {P, "shape: cylinder, radius", "shape: cylinder, inner_radius: 0.05, radius", MESSAGE_VALUE, 8,
     "a cylinder has no inner_radius"},
    {P, "inner_radius: 0.1", "inner_radius: 0.3", MESSAGE_VALUE, 9, "the solid has no volume"},
    {P, "radius: 0.1, length: 1, material", "radius: 0, length: 1, material", MESSAGE_VALUE, 8,
     "has no volume"},
    {P, "radius: 0.1, length: 1, material", "radius: 1e3, length: 1e6, material", MESSAGE_VALUE, 11,
     "mass is 2.46615"},
    {P, "density: 1000", "density: -1000", MESSAGE_MASS, 9, "not positive"},
    {P, "density: 1000}", "density: 100000, hole: true}", MESSAGE_MASS, 6, "check the holes"},
    {P, "density: 1000}", "density: 1000, hole: yes}", MESSAGE_VALUE, 9,
     "choose one of false, true"},
    {P, "part: rod, pose", "part: bar, pose", MESSAGE_UNKNOWN_NAME, 11, "no part \"bar\""},
    {P, "link: arm}", "link: leg}", MESSAGE_UNKNOWN_NAME, 14, "no link \"leg\""},
    {P, "link: effector}", "link: arm}", MESSAGE_DUPLICATE_NAME, 15, "two joints name the link"},
    {P, "{name: effector, parts", "{name: arm, parts", MESSAGE_DUPLICATE_NAME, 12,
     "two links have this"},
    {P, "links:\n", "linkz:\n", MESSAGE_UNKNOWN_KEY, 10, "did you mean links?"},
    {P, ", link: arm}", "}", MESSAGE_MISSING_KEY, 14, "\"link\" is missing"},
    {P, "    sections:\n", "    sections: []\n    junk:\n", MESSAGE_COUNT, 7, "0 entries"},
    {P, "materials: [{name: steel, density: 7850}]",
     "materials: [{name: steel, density: 7850}, {name: steel, density: 1}]", MESSAGE_DUPLICATE_NAME,
     4, "two materials have this name"},
};

static void must_fail(const char *file, const void *bytes, size_t size,
                      const robot_options_t *options, message_code_t code, uint32_t line,
                      const char *part) {
    static robot_t robot;
    messages_t messages = MESSAGES_INIT;
    char what[400];
    int status = robot_parse(file, bytes, size, options, &robot, &messages);
    if (status == 0)
        status = robot_possible(&robot, &messages);
    robot_free(&robot);
    const message_t *m = help_find(&messages, code, NULL, part);
    while (m && line > 0 && m->line != line && m + 1 < messages.item + messages.count)
        m = (m + 1)->code == code && strstr((m + 1)->text, part) ? m + 1 : NULL;
    snprintf(what, sizeof what, "%s: expected %s at line %u with \"%s\"", file,
             messages_code_name(code), (unsigned)line, part);
    if (status == 0 || !m || (line > 0 && m->line != line))
        help_print(&messages);
    TEST_ASSERT_EQUAL_MESSAGE(-1, status, what);
    TEST_ASSERT_NOT_NULL_MESSAGE(m, what);
    if (!m)
        return;
    TEST_ASSERT_EQUAL_MESSAGE(MESSAGE_ERROR, m->severity, what);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(file, m->file, what);
    if (line > 0)
        TEST_ASSERT_EQUAL_MESSAGE(line, m->line, what);
    messages_free(&messages);
}

static void test_good_ones_are_good(void) {
    static const char *const good[] = {good_yaml, good_flex, good_urdf, good_parts};
    for (size_t i = 0; i < 4; i++) {
        messages_t messages = MESSAGES_INIT;
        help_free(help_parse("good", good[i], strlen(good[i]), NULL, &messages));
        messages_free(&messages);
    }
}

static void test_table(void) {
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        const case_t *c = &cases[i];
        char file[32];
        help_text_t text = {0};
        const char *at = strstr(c->base, c->find);
        snprintf(file, sizeof file, "case %zu", i);
        TEST_ASSERT_NOT_NULL_MESSAGE(at, c->find);
        help_put(&text, "%.*s%s%s", (int)(at - c->base), c->base, c->replace, at + strlen(c->find));
        must_fail(file, text.data, text.size, NULL, c->code, c->line, c->part);
        help_text_free(&text);
    }
    TEST_ASSERT_GREATER_OR_EQUAL(60, count);
    harness_note_number("malformed files with their message:", (int64_t)count);
    printf("measured tool.bad_files %zu\n", count);
}

/* A file that is truncated at any byte either loads, because the rest was optional, or reports an
 * error. It never crashes the reader. */
static void test_truncated_everywhere(void) {
    static const char *const good[] = {good_yaml, good_flex, good_urdf, good_parts};
    static robot_t robot;
    for (size_t i = 0; i < 4; i++)
        for (size_t size = 0; size < strlen(good[i]); size++) {
            messages_t messages = MESSAGES_INIT;
            /* The copy has only one byte more, so that the sanitizer detects reads further beyond
             * the end. */
            char *copy = malloc(size + 1);
            TEST_ASSERT_NOT_NULL(copy);
            memcpy(copy, good[i], size);
            const int status = robot_parse("cut", copy, size, NULL, &robot, &messages);
            TEST_ASSERT_EQUAL(status != 0, messages.errors > 0);
            robot_free(&robot);
            messages_free(&messages);
            free(copy);
        }
}

static void test_content_of_no_kind(void) {
    static const char zeros[100] = {0};
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0};
    must_fail("empty", "", 0, NULL, MESSAGE_FORMAT, 0, "the file is empty");
    must_fail("blank", "  \n\n", 4, NULL, MESSAGE_SYNTAX, 0, "holds no values");
    must_fail("comment", "# nothing\n", 10, NULL, MESSAGE_SYNTAX, 0, "holds no values");
    must_fail("zeros", zeros, sizeof zeros, NULL, MESSAGE_FORMAT, 0, "the content is binary");
    must_fail("elf", elf, sizeof elf, NULL, MESSAGE_FORMAT, 0, "the content is binary");
    must_fail("text", "just words", 10, NULL, MESSAGE_FORMAT, 0, "neither a robot file");
    must_fail("list", "- a\n- b\n", 8, NULL, MESSAGE_FORMAT, 0, "neither a robot file");
    must_fail("latin1", "name: \xe4\xf6\xfc\n", 10, NULL, MESSAGE_SYNTAX, 0,
              "not well-formed YAML");
    must_fail("less", "<", 1, NULL, MESSAGE_SYNTAX, 0, "not well-formed XML");
    must_fail("html", "<html></html>", 13, NULL, MESSAGE_FORMAT, 1, "root element is <html>");
    must_fail("norobot", "<robot/>", 8, NULL, MESSAGE_TREE, 1, "holds no links");
}

static void test_too_large(void) {
    char *big = malloc(ROBOT_FILE_MAX + 1);
    TEST_ASSERT_NOT_NULL(big);
    memset(big, ' ', ROBOT_FILE_MAX + 1);
    must_fail("big", big, ROBOT_FILE_MAX + 1, NULL, MESSAGE_LIMIT, 0,
              "the file is larger than 16 MB");
    memset(big, '[', 1000000);
    must_fail("deep", big, 1000000, NULL, MESSAGE_LIMIT, 1, "nested deeper");
    for (size_t i = 0; i < 4000000; i++)
        big[i] = i < 4 ? "a:\n\n"[i] : "- 1\n"[i % 4];
    must_fail("many", big, 4000000, NULL, MESSAGE_LIMIT, 0, "more than 50000 values");
    free(big);
}

static void test_two_hundred_joints(void) {
    help_text_t text = {0};
    help_put(&text, "name: long\nconvention: dh\ngravity: [0, 0, 0]\njoints:\n");
    for (int i = 0; i < 200; i++)
        help_put(&text,
                 "  - {name: j%d, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: 0}, link: "
                 "{mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}}\n",
                 i);
    must_fail("long.yaml", text.data, text.size, NULL, MESSAGE_COUNT, 5,
              "200 entries, expected 1 to 32");
    help_text_free(&text);
    help_put(&text, "<robot name='long'><link name='l0'/>\n");
    for (int i = 1; i <= 200; i++)
        help_put(&text,
                 "<link name='l%d'/><joint name='j%d' type='continuous'><parent "
                 "link='l%d'/><child link='l%d'/></joint>\n",
                 i, i, i - 1, i);
    help_put(&text, "</robot>\n");
    must_fail("long.urdf", text.data, text.size, NULL, MESSAGE_LIMIT, 201,
              "200 moving joints; at most 32");
    help_text_free(&text);
    help_put(&text, "<robot name='many'>");
    for (int i = 0; i < 1001; i++)
        help_put(&text, "<link name='l%d'/>", i);
    help_put(&text, "</robot>\n");
    must_fail("many.urdf", text.data, text.size, NULL, MESSAGE_LIMIT, 1, "more than 1000 links");
    help_text_free(&text);
}

static void test_billion_laughs(void) {
    help_text_t text = {0};
    help_put(&text, "a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (int c = 'b'; c < 'j'; c++)
        help_put(&text, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c - 1,
                 c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    must_fail("laughs.yaml", text.data, text.size, NULL, MESSAGE_LIMIT, 0,
              "more than 50000 values");
    help_text_free(&text);
    help_put(&text, "<robot name='deep'>");
    for (int i = 0; i < 100000; i++)
        help_put(&text, "<a>");
    must_fail("deep.urdf", text.data, text.size, NULL, MESSAGE_LIMIT, 1, "nested deeper than 64");
    help_text_free(&text);
}

static void test_options_that_do_not_fit(void) {
    robot_options_t options = {.tip = "l9"};
    must_fail("tip", U, strlen(U), &options, MESSAGE_UNKNOWN_NAME, 0, "no link of this name");
    options.tip = "base";
    must_fail("tip", U, strlen(U), &options, MESSAGE_CHAIN, 3, "no joint between the root");
    robot_freeze_t freeze = {"j9", 0};
    options = (robot_options_t){.freeze = &freeze, .freeze_count = 1};
    must_fail("freeze", U, strlen(U), &options, MESSAGE_UNKNOWN_NAME, 0,
              "no joint of this name to freeze");
    freeze = (robot_freeze_t){"j1", NAN};
    must_fail("freeze", U, strlen(U), &options, MESSAGE_NUMBER, 7, "not finite");
    freeze.value = 0;
    must_fail("freeze", U, strlen(U), &options, MESSAGE_CHAIN, 2, "none of its joints moves");
    must_fail("yaml", Y, strlen(Y), &options, MESSAGE_VALUE, 0, "with a URDF only");
}

/* No message may contain control characters from the file or from its name, which would reach the
 * terminal. */
static void test_messages_are_clean(void) {
    static robot_t robot;
    messages_t messages = MESSAGES_INIT;
    const char *text = "\"\\e[31mred\\n\": 1\n";
    TEST_ASSERT_EQUAL(-1, robot_parse("x\x1by", text, strlen(text), NULL, &robot, &messages));
    robot_free(&robot);
    for (size_t i = 0; i < messages.count; i++) {
        char line[2500];
        messages_format(&messages.item[i], line, sizeof line);
        for (const char *s = line; *s; s++)
            TEST_ASSERT_TRUE((unsigned char)*s >= 32);
    }
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_UNKNOWN_KEY, NULL, "\\x1b[31mred\\x0a"));
    messages_free(&messages);
}

static void test_messages_end_somewhere(void) {
    messages_t messages = MESSAGES_INIT;
    for (size_t i = 0; i < MESSAGES_MAX + 10; i++)
        messages_add(&messages, MESSAGE_ERROR, MESSAGE_VALUE, (message_place_t){0}, NULL, "%zu", i);
    TEST_ASSERT_EQUAL(MESSAGES_MAX, messages.count);
    TEST_ASSERT_EQUAL(10, messages.dropped);
    TEST_ASSERT_EQUAL(MESSAGES_MAX + 10, messages.errors);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_good_ones_are_good)
TEST(test_table)
TEST(test_truncated_everywhere)
TEST(test_content_of_no_kind)
TEST(test_too_large)
TEST(test_two_hundred_joints)
TEST(test_billion_laughs)
TEST(test_options_that_do_not_fit)
TEST(test_messages_are_clean)
TEST(test_messages_end_somewhere)
TEST_LIST_END
