#!/usr/bin/env python3
"""Tests the bench: it decodes instructions correctly, counts their cycles as in its table, and its
guard can fail.

`make test` builds the images and the plugin.
"""

import contextlib
import ctypes
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH = os.path.join(ROOT, "tools", "bench")
sys.path.insert(0, BENCH)
import bench  # noqa: E402
import table  # noqa: E402
from script_frame import main  # noqa: E402

BUILD = os.path.join(ROOT, "build")
CROSS = "arm-none-eabi-"
BASELINE = os.path.join(BENCH, "baseline.csv")
# A few quick rows of the baseline; `make bench CI=1` runs the rest.
NAMED = ["--robot", "puma560", "--problem", "id,mass,fd", "--method", "fast,ne,crba,aba",
         "--real", "f32,q31", "--board", "netduinoplus2,netduino2"]
FPU = ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mthumb", "-mfloat-abi=hard")


def equal(expected, actual, what):
    if expected != actual:
        raise AssertionError("%s: expected %r, got %r" % (what, expected, actual))


def contains(expected, text):
    if expected not in text:
        raise AssertionError("%r is not in: %s" % (expected, text[-1500:]))


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="backslashreplace", **options)
    return done.returncode, done.stdout


def run_bench(*options):
    return run([sys.executable, os.path.join(BENCH, "bench.py"), "--build", BUILD, "run",
                *options], cwd=ROOT)


# ----------------------------------------------------------------------------- reading instructions

class Thumb(ctypes.Structure):
    """The struct thumb_t of tools/bench/thumb.h."""
    _fields_ = [("kind", ctypes.c_int), ("bytes", ctypes.c_uint8), ("words", ctypes.c_uint8),
                ("twice", ctypes.c_bool), ("shifted", ctypes.c_bool), ("address", ctypes.c_uint64),
                ("addend", ctypes.c_uint64), ("reads", ctypes.c_uint64),
                ("writes", ctypes.c_uint64)]


class Cost(ctypes.Structure):
    _fields_ = [("cycles", ctypes.c_uint32), ("uses", ctypes.c_uint32)]


def model(folder):
    """Builds decoder and cycle tables as a separate library, without the part for the emulator."""
    path = os.path.join(folder, "model.so")
    code, out = run(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-I", ROOT,
                     os.path.join(BENCH, "thumb.c"), os.path.join(BENCH, "cores.c"), "-o", path])
    equal(0, code, "gcc: " + out)
    library = ctypes.CDLL(path)
    library.thumb_decode.restype = Thumb
    library.thumb_decode.argtypes = [ctypes.c_uint16, ctypes.c_uint16]
    library.thumb_class_name.restype = ctypes.c_char_p
    library.core_named.argtypes = [ctypes.c_char_p]
    library.core_block.restype = Cost
    library.core_block.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    return library


CONDITION = r"(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
# Our class for each mnemonic of the disassembler; the first match counts.
CLASSES = [(kind, re.compile("^(%s)%s$" % (names, CONDITION))) for kind, names in (
    ("mov", "movs?|mvns?|movw|movt"),
    ("mla", "mla|mls|smla[bt][bt]|smmla|smlad"),
    ("mul", "muls?|smul[bt][bt]|smmul|smulw[bt]"),
    ("mull", "[su]mull"),
    ("mlal", "[su]mlal|umaal"),
    ("div", "[su]div"),
    ("ldm", "ldmi?a?|ldmdb|pop|ldrd"),
    ("stm", "stmi?a?|stmdb|push|strd"),
    ("ldr", r"ldr(b|h|sb|sh|ex[bh]?)?"),
    ("str", r"str(b|h|ex[bh]?)?"),
    ("tbb", "tb[bh]"),
    ("it", "it[te]{0,3}"),
    ("alu", "negs?|adds?|addw|adcs?|subs?|subw|sbcs?|rsbs?|ands?|orrs?|orns?|eors?|bics?|cmp|cmn|"
            "tst|teq|lsls?|lsrs?|asrs?|rors?|rrxs?|adr|[su]xt[bh]|[su]xta[bh]|[su]bfx|bfi|bfc|rev|"
            "rev16|revsh|rbit|clz|[su]sat|q?add|qsub|uadd8|sel|usub8|uqadd8|uqsub8|sadd16|ssub16"),
    ("vldm", "vldmia|vldmdb|vpop"),
    ("vstm", "vstmia|vstmdb|vpush"),
    ("vldr", "vldr"),
    ("vstr", "vstr"),
    ("vadd", r"(vadd|vsub|vmaxnm|vminnm)\.f\d\d"),
    ("vmul", r"(vmul|vnmul)\.f\d\d"),
    ("vmla", r"(vmla|vmls|vnmla|vnmls|vfma|vfms|vfnma|vfnms)\.f\d\d"),
    ("vdiv", r"vdiv\.f\d\d"),
    ("vsqrt", r"vsqrt\.f\d\d"),
    ("vcmp", r"vcmpe?\.f\d\d"),
    ("vcvt", r"(vcvt[abmnprt]?|vrint[axmnprz])\.\S+"),
    ("vneg", r"(vneg|vabs)\.f\d\d"))]


def class_of(mnemonic, operands):
    mnemonic = re.sub(r"\.[wn]$", "", mnemonic)
    first = operands.split(",")[0]
    if re.match(r"^(b|bl|bx|blx)$", mnemonic):
        return "b"
    if re.match(r"^(bx|blx|bl)%s$" % CONDITION[:-1], mnemonic):
        return "b"  # a branch in an IT block
    if re.match(r"^b%s$" % CONDITION[:-1], mnemonic) or mnemonic in ("cbz", "cbnz"):
        return "bcc"
    if re.match(r"^(pop|ldm|ldr)", mnemonic) and (first == "pc" or re.search(r"\bpc}", operands)):
        return "pop_pc"
    if mnemonic.startswith(("vmov", "vmrs", "vmsr", "vsel")):
        core = re.search(r"(^|[ ,])(r\d+|ip|lr|sl|fp|sp|APSR_nzcv|fpscr)\b", operands)
        return "vmov_core" if core else "vmov"
    if re.match("^mov", mnemonic) and re.search(r", (lsl|lsr|asr|ror|rrx)\b", operands):
        return "alu"  # the name that the disassembler gives to a shift
    if first == "pc" and re.match("^(mov|add)", mnemonic):
        return "b"
    # In an IT block the condition comes before the type, for example vnegmi.f32.
    plain = re.sub(r"^(v[a-z]+?)%s(\.\S+)$" % CONDITION[:-1], r"\1\3", mnemonic)
    for name in (mnemonic, plain):
        for kind, pattern in CLASSES:
            if pattern.match(name):
                return kind
    return "other"


CORE_NAMES = {"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15}
CORE_NAMES.update({"r%d" % i: i for i in range(16)})


def register_bits(name):
    name = name.strip()
    if name in CORE_NAMES:
        return 1 << CORE_NAMES[name]
    if re.match(r"^s\d+$", name):
        return 1 << (16 + int(name[1:]))
    if re.match(r"^d\d+$", name):
        return 3 << (16 + 2 * int(name[1:]))
    return None


def expected_registers(kind, mnemonic, operands):
    """Returns (reads, writes) for the plain three-operand forms and the FPU, and None for other
    instructions."""
    parts = [p.strip() for p in operands.split(",")]
    bits = [register_bits(p) for p in parts]
    if None in bits:
        return None
    if kind in ("vadd", "vmul", "vdiv") and len(bits) == 3 or kind == "mul" and len(bits) == 3:
        return bits[1] | bits[2], bits[0]
    if kind == "vmla":
        return bits[0] | bits[1] | bits[2], bits[0]
    if kind in ("vsqrt", "vneg") or kind == "vcvt" and len(bits) == 2 and bits[0] != bits[1]:
        return bits[1], bits[0]
    if kind == "mull":
        return bits[2] | bits[3], bits[0] | bits[1]
    if kind == "mlal":
        return bits[0] | bits[1] | bits[2] | bits[3], bits[0] | bits[1]
    if kind in ("vmov_core", "vmov") and len(bits) == 2 and mnemonic.startswith("vmov"):
        return bits[1], bits[0]
    if kind == "alu" and len(bits) == 3 and mnemonic in ("add", "add.w", "sub", "sub.w", "and.w",
                                                       "orr.w", "eor.w", "mul"):
        return bits[1] | bits[2], bits[0]
    return None


LISTING = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f]{4})(?: ([0-9a-f]{4}))?\s*\t(\S+)(?:\s+(.*))?$")


def test_decoder_agrees_with_the_disassembler(folder):
    library = model(folder)
    seen = set()
    kinds = set()
    registers = 0
    for board in bench.BOARDS:
        code, out = run([CROSS + "objdump", "-d", os.path.join(BUILD, board, "lab", "bench.elf")])
        equal(0, code, "objdump")
        for line in out.splitlines():
            match = LISTING.match(line)
            if not match or match.group(4).startswith("."):
                continue
            _, first, second, mnemonic, operands = match.groups()
            if (first, second) in seen:
                continue
            seen.add((first, second))
            operands = re.split(r"\s*[;@]", operands or "")[0].strip()
            expected = class_of(mnemonic, operands)
            got = library.thumb_decode(int(first, 16), int(second or "0", 16))
            name = library.thumb_class_name(got.kind).decode()
            kinds.add(name)
            equal(expected, name, line.strip())
            equal(4 if second else 2, got.bytes, line.strip())
            wanted = expected_registers(expected, mnemonic, operands)
            if wanted:
                registers += 1
                flags = (1 << 48) - 1
                equal((hex(wanted[0]), hex(wanted[1])),
                      (hex(got.reads & flags), hex(got.writes & flags)), line.strip())
    if len(seen) < 5000 or registers < 1000 or len(kinds) < 24:
        raise AssertionError("only %d instructions, %d with registers, of %d classes: this shows "
                             "nothing" % (len(seen), registers, len(kinds)))


def cost_of(library, folder, core, assembly):
    """Returns the cycles of a piece of assembly, and the additional cycles of the M4F for results
    that the next instruction uses."""
    source, binary = os.path.join(folder, "x.s"), os.path.join(folder, "x.bin")
    with open(source, "w", encoding="utf-8") as f:
        f.write(".syntax unified\n.thumb\n" + "\n".join(assembly.split(";")) + "\n")
    for command in ([CROSS + "gcc", *FPU, "-c", source, "-o", source + ".o"],
                    [CROSS + "objcopy", "-O", "binary", source + ".o", binary]):
        code, out = run(command)
        equal(0, code, out)
    with open(binary, "rb") as f:
        data = f.read()
    halves = [int.from_bytes(data[i:i + 2], "little") for i in range(0, len(data), 2)] + [0]
    block = []
    at = 0
    while at < len(halves) - 1:
        block.append(library.thumb_decode(halves[at], halves[at + 1]))
        at += block[-1].bytes // 2
    array = (Thumb * len(block))(*block)
    cost = library.core_block(library.core_named(core.encode()), array, len(block))
    return cost.cycles, cost.uses


def test_cycles_are_those_of_the_table(folder):
    """The expected cycles were added up by hand from tools/bench/cores.h."""
    library = model(folder)
    for core, assembly, cycles, uses in (
            ("m4f", "add r0, r1, r2; mul r3, r0, r0", 2, 0),
            ("m4f", "smull r0, r1, r2, r3; smlal r0, r1, r2, r3", 2, 0),
            ("m3", "smull r0, r1, r2, r3; smlal r0, r1, r2, r3", 5 + 7, 0),
            ("m4f", "ldr r0, [r1]", 2, 0),
            ("m4f", "ldr r0, [r1]; ldr r2, [r1, #4]; vldr s0, [r1]", 2 + 1 + 1, 0),
            ("m4f", "ldr r0, [r1]; ldr r2, [r0]", 2 + 2, 0),
            ("m4f", "ldr r0, [r1]; add r3, r4, r5; ldr r2, [r1, #4]", 2 + 1 + 2, 0),
            ("m4f", "push {r4-r7, lr}; vpush {s16-s19}; pop {r4-r7, pc}", 6 + 5 + 8, 0),
            ("m4f", "vmul.f32 s0, s1, s2; vadd.f32 s3, s4, s5", 2, 0),
            ("m4f", "vmul.f32 s0, s1, s2; vadd.f32 s3, s0, s5", 2, 1),
            ("m4f", "vfma.f32 s0, s1, s2; vfma.f32 s0, s3, s4", 6, 0),
            ("m4f", "vfma.f32 s0, s1, s2; vfma.f32 s3, s0, s4", 6, 1),
            ("m4f", "vdiv.f32 s0, s1, s2; vsqrt.f32 s3, s4", 28, 0),
            ("m4f", "bx lr", 3, 0),
            # The M7 executes two instructions at once, but has one FPU and one load-store unit.
            ("m7", "add r0, r1, r2; add r3, r4, r5", 1, 0),
            ("m7", "add r0, r1, r2; add r3, r0, r5", 2, 0),
            ("m7", "vmul.f32 s0, s1, s2; vadd.f32 s3, s4, s5", 2, 0),
            ("m7", "vmul.f32 s0, s1, s2; vldr s6, [r0]", 1, 0),
            ("m7", "vmul.f32 s0, s1, s2; vadd.f32 s3, s0, s5", 1 + 3, 0),
            ("m7", "vldr s0, [r0]; vldr s1, [r0, #4]", 2, 0),
            ("m7", "vldr s0, [r0]; vadd.f32 s1, s0, s0", 1 + 2, 0)):
        equal((cycles, uses), cost_of(library, folder, core, assembly), core + ": " + assembly)


# ---------------------------------------------------------------------------------------- the guard

def falsified(folder, change, comment=None):
    """Writes a baseline of the named rows with their present values and one change."""
    _, _, now, rows = named_rows()
    path = os.path.join(folder, "baseline.csv")
    bench.write_csv(path, comment or now, [change(dict(row)) for row in rows])
    return path


def scaled(factor, column="instructions_max"):
    def change(row):
        if row[column] != "":
            row[column] = int(row[column] * factor)
        return row
    return change


@functools.lru_cache(maxsize=None)
def named_rows():
    """Runs the named rows once; returns (exit code with --ci, output, comment, rows)."""
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        path = os.path.join(folder, "rows.csv")
        code, out = run_bench(*NAMED, "--ci", "--csv", path)
        if not os.path.exists(path):
            raise AssertionError("bench.py failed: " + out[-1500:])
        return (code, out) + bench.read_csv(path)


def judge(baseline):
    """Compares the named rows with a baseline; returns (True if the guard fails, its output)."""
    _, _, comment, rows = named_rows()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        failed = bench.compare(rows, baseline, comment, False)
    return failed, said.getvalue()


def test_named_rows_are_not_slower(folder):
    code, out, _, rows = named_rows()
    print(out[out.find("moved since"):] if "moved since" in out else out[-600:])
    equal(0, code, out[-1500:])
    equal(2 * 2 * (2 + 2 + 3), len(rows), "rows")
    for row in rows:
        # With hardware floats and in q31 no branch depends on the state, so all states take the
        # same time.
        if row["real"] == "q31" or row["cpu"] == "cortex-m4f":
            equal(row["instructions_min"], row["instructions_max"], "spread of %s" % row)
        if row["flops"] == "" or row["text_bytes"] < 500 or not 0 < row["stack_bytes"] < 1024:
            raise AssertionError("flops, text_bytes or stack_bytes of %s" % row)
        if row["real"] == "f32" and row["cpu"] == "cortex-m4f" and row["cycles_est"] != "" and \
                not row["instructions_max"] < row["cycles_est"] < 2 * row["instructions_max"]:
            raise AssertionError("cycles of %s" % row)


def test_generated_code_takes_the_same_time_for_every_state(folder):
    """Two thousand states, most of them far beyond the limits of the arm: the reciprocals of q31
    forward dynamics saturate, and their divisors are large, small, zero and negative."""
    path = os.path.join(folder, "gen.csv")
    _, out = run_bench("--robot", "puma560", "--method", "gen", "--real", "q31", "--board", "netduino2", "--states", "2000",
                       "--csv", path)
    _, rows = bench.read_csv(path)
    equal(7, len(rows), out[-1500:])
    for row in rows:
        equal(row["instructions_min"], row["instructions_max"], "spread of %s" % row)


ONE = ["--robot", "puma560", "--problem", "id", "--method", "ne", "--real", "f32", "--states", "2",
       "--board", "netduinoplus2"]


def test_guard_fails_for_a_slower_row(folder):
    for column in ("instructions_max", "cycles_est"):
        failed, said = judge(falsified(folder, scaled(0.9, column)))
        equal(True, failed, "guard with a baseline that was faster in " + column)
        contains("netduinoplus2 puma560 id ne f32 " + column, re.sub(" +", " ", said))
        contains("SLOWER", said)
    code, out = run_bench(*ONE, "--ci", "--baseline", falsified(folder, scaled(0.9)))
    equal(1, code, "exit code in CI")
    contains("SLOWER", out)
    code, out = run_bench(*ONE, "--baseline", falsified(folder, scaled(0.9)))
    equal(0, code, "exit code else")


def test_guard_passes_what_is_faster_or_within_two_percent(folder):
    failed, said = judge(falsified(folder, scaled(1.5)))
    equal(False, failed, "guard with a baseline that was slower")
    contains("-33.", said)
    failed, said = judge(falsified(folder, scaled(0.99)))
    equal(False, failed, "guard within 2 %")
    contains("+1.", said)


def test_guard_does_not_judge_another_compiler(folder):
    failed, said = judge(falsified(folder, scaled(0.5), "# some-gcc 99; QEMU"))
    equal(False, failed, "guard")
    contains("not judged", said)


def test_guard_names_a_row_that_is_gone(folder):
    comment, rows = bench.read_csv(BASELINE)
    equal(True, bench.compare(rows[1:], BASELINE, comment, True), "a row is gone")
    equal(False, bench.compare(rows, BASELINE, comment, True), "all there")


def test_guard_has_every_problem_and_method(folder):
    """The baseline has rows of every problem and method of the bench, and of exactly
    BASELINE_ROBOTS."""
    run_here = {key[1:] for key in bench.read_flops(os.path.join(BUILD, "host", "bench", "flops"))}
    rows = bench.read_csv(BASELINE)[1]
    equal(set(), run_here - {(row["problem"], row["method"]) for row in rows}, "kernels without a row")
    equal(set(bench.BASELINE_ROBOTS), {row["robot"] for row in rows}, "robots of the baseline")


def test_bad_baseline_is_an_error(folder):
    path = os.path.join(folder, "bad.csv")
    for text, says in (("robot,n\n", "expected the header"),
                       (",".join(bench.HEADER) + "\na,b,c\n", "row 2"),
                       (",".join(bench.HEADER) + "\na,b,c,d,e,f,g,x,1,1,1,1,1\n", "row 2")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        try:
            bench.read_csv(path)
            raise AssertionError("%r was read" % text)
        except bench.BenchError as e:
            contains(says, str(e))


# --------------------------------------------------------------------------------------- the plugin

def test_without_a_plugin_the_estimate_is_empty(folder):
    # The emulator refuses this plugin, because it is of another version of the plugin interface.
    source = os.path.join(folder, "other.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("int qemu_plugin_version = 999; int qemu_plugin_install(void) { return 0; }\n")
    other = os.path.join(folder, "other.so")
    code, out = run(["gcc", "-shared", "-fPIC", source, "-o", other])
    equal(0, code, out)
    boards = [bench.Board("netduinoplus2", BUILD)]
    contains("is not there", bench.plugin_works(boards, os.path.join(folder, "absent.so")))
    path = os.path.join(folder, "rows.csv")
    code, out = run_bench(*ONE, "--plugin", other, "--csv", path)
    equal(0, code, out[-1000:])
    contains("no cycle estimate, because the emulator does not take the plugin:", out)
    contains("version", out)
    _, rows = bench.read_csv(path)
    equal([""], [r["cycles_est"] for r in rows], "cycles_est")
    if rows[0]["instructions_max"] < 1000:
        raise AssertionError("instructions are counted without the plugin too")


def test_explain_finds_every_instruction(folder):
    if bench.plugin_works([bench.Board("netduinoplus2", BUILD)],
                          os.path.join(BUILD, "host", "bench", "count.so")):
        print("no plugin here: nothing to explain")
        return
    # Tests one row for each kind of kernel call: --explain must account for every counted
    # instruction.
    for row in ("mass,crba,f32", "fd,aba,f32", "bias,ne,q31", "fk,-,f32", "volt,-,q31", "id,ne,f32"):
        code, out = run_bench("--explain", "puma560," + row)
        equal(0, code, row + ": " + out)
    code, shown = run_bench("--explain", "puma560,mass,fast,q31,netduino2")
    equal(0, code, shown)
    # Wraps the lines, because lines of a page have at most 160 characters.
    lines = [part for line in shown.splitlines() for part in textwrap.wrap(
        line, 120, subsequent_indent=14 * " ", replace_whitespace=False) or [""]]
    print("measured-block bench.explain\n```\n%s\n```\nmeasured-end" % "\n".join(lines), flush=True)
    for word in ("arithmetic", "loads", "stores", "moves", "branches", "trig", "dyn_sincos_f32"):
        contains(word, out)
    code, out = run_bench("--explain", "puma560,id,none,f32")
    equal(2, code, "exit code for a row that is not there")


def test_where_the_instructions_go(folder):
    """Prints the block dyn.explain of dyn/COSTS.md: arithmetic by class, and the other groups."""
    plugin = os.path.join(BUILD, "host", "bench", "count.so")
    classes = {"f32": (("VMUL", ("vmul",)), ("VADD", ("vadd",))),
               "q31": (("long multiplications", ("mull", "mlal")),)}
    lines = ["| | arithmetic | loads | stores | moves | branches | other | trig | together |", "|---|" + "---|" * 8]
    for problem, real, name, core in (("mass", "q31", "netduino2", "M3"), ("fd", "q31", "netduino2", "M3"),
                                      ("id", "f32", "netduinoplus2", "M4F"), ("id", "f32", "mps2-an500", "M7")):
        board = bench.Board(name, BUILD)
        if bench.plugin_works([board], plugin):
            print("no plugin here: nothing to explain")
            return
        found = bench.Explained(board, {"robot": "puma560", "problem": problem, "method": "fast", "real": real},
                                plugin, CROSS)
        cells = [table.grouped(sum(found.of(group))) for group in found.GROUPS]
        cells[0] += " (%s)" % ", ".join("%s %s" % (table.grouped(sum(found.kinds.get(k, 0) for k in kinds)), what)
                                        for what, kinds in classes[real])
        lines.append("| `%s fast`, %s, %s | %s | %s | %s |" % (problem, real, core, " | ".join(cells),
                                                             table.grouped(found.trig), table.grouped(found.total)))
    print("measured-block dyn.explain\n%s\nmeasured-end" % "\n".join(lines))


# --------------------------------------------------------------------------------------- the tables

def test_fit_finds_the_polynomial(folder):
    points = [(n, 3 * n * n - 20 * n + 100) for n in (3, 6, 7, 12, 20, 30)]
    c, error = table.fit(points, 2)
    equal("3.0n^2 - 20n + 100", table.polynomial(c), "coefficients")
    equal(True, error < 1e-9, "error of an exact fit")
    equal(True, table.fit(points, 1)[1] > 0.05, "a parabola is no line")


def test_table_marks_the_best_that_it_shows(folder):
    """Code that is generated for one robot is faster than every method, so it has its own table."""
    rows = bench.read_csv(BASELINE)[1]
    text = "\n".join(table.method_table(rows, "t", "puma560", "netduinoplus2", "f32"))
    equal(3, text.count("**") // 2, "bold cells of three columns")
    contains("| `fast` | **", text)


def test_choice_names_both_methods_where_they_differ(folder):
    def row(method, n, instructions, cycles):
        return {"robot": "chain%d" % n, "n": str(n), "problem": "fd", "board": "b", "real": "f32", "method": method,
                "instructions_max": instructions, "cycles_est": cycles}
    rows = [row("fast", n, 9 * n ** 3, 12 * n ** 3) for n in (3, 7, 12, 20, 30)]
    rows += [row("aba", n, 1000 * n, 900 * n) for n in (3, 7, 12, 20, 30)]
    rows += [row("textbook", n, 1, 1) for n in (3, 7)]
    equal("`fast` 243 (324)", table.choice_cell(rows, "fd", 3, "b", "f32"), "3 joints")
    equal("`aba` 12,000 (10,800)", table.choice_cell(rows, "fd", 12, "b", "f32"), "12 joints")
    equal("`aba` 2,000 (1,000); `fast` 1,000 (3,000)",
          table.choice_cell([row("fast", 7, 1000, 3000), row("aba", 7, 2000, 1000)], "fd", 7, "b", "f32"), "7 joints")
    equal(11, table.crossing(rows, "b", "f32", "instructions_max"), "instructions: 9 n^3 above 1000 n")
    equal(9, table.crossing(rows, "b", "f32", "cycles_est"), "cycles: 12 n^3 above 900 n")


def test_accepted_tables_are_those_of_the_baseline(folder):
    """`make bench-accept` writes both the blocks that the pages show (test/measured) and
    tools/bench/baseline.csv. The blocks bench and choice also need the long chains, which are not
    in the baseline."""
    comment, rows = bench.read_csv(BASELINE)
    for name, make in table.PLACES.items():
        if name in ("bench", "choice"):
            continue
        with open(os.path.join(ROOT, "test", "measured", name + ".md"), encoding="utf-8") as f:
            equal(make(comment, rows).rstrip("\n"), f.read().rstrip("\n"), name)


if __name__ == "__main__":
    sys.exit(main(globals()))
