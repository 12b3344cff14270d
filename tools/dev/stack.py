#!/usr/bin/env python3
"""Computes the worst-case stack of a firmware image and compares it with the reserved stack.

    stack.py ELF --su DIR... [--group NAME=SYM,SYM]... [--own-stack SYM=SIZE_SYMBOL]...
             [--indirect CALLER:CALLEE,CALLEE]... [--entry NAME[:GROUP]]... [--irq-frame 104|32]

Frames come from gcc's -fstack-usage files (*.su below DIR), calls from the disassembly of the
linked image, which shows inlining, clones and library code as they are. Every function is also read
instruction by instruction. This gives the frame of functions without .su (libraries, assembly), the
depth at which a tail call leaves its caller, and a check of each .su (the larger value counts).

Entry points are the words of the vector table. The main path starts at the reset handler.
Interrupts of one preemption group cannot interrupt each other, so the worst of each group counts
once, plus the frame that the core pushes. A vector in no group counts as a separate level. A fault
handler that switches to its own stack is compared with that stack; the core pushes its frame on the
main stack before.

Recursion, alloca, variable-length arrays and calls through pointers have no bound in the code: they
are errors. For a call through a pointer --indirect names the functions that it can reach; a pointer
that is never set in this image reaches "-".
"""

import argparse
import bisect
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import elf  # noqa: E402

# The core aligns the stack to 8 bytes before it pushes the exception frame (CCR.STKALIGN, set at
# reset). So an interrupt that comes while the stack pointer is aligned to only 4 bytes costs one
# word more.
IRQ_ALIGN = 4

CONDITION = r"(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
MNEMONIC = re.compile(
    r"^(push|pop|vpush|vpop|stmdb|stmfd|ldmia|ldmfd|ldm|vstmdb|vldmia|subs?|subw|adds?|addw|strd?|"
    r"ldrd?|movs?|bx|blx|bl|b|cbn?z|tb[bh]|msr)" + CONDITION + r"$")
LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")
TARGET = re.compile(r"\b([0-9a-f]+) <")
SU_LINE = re.compile(r"^(.*):(\d+):(\d+):(\S+)\t(\d+)\t(\S+)$")
# If a depth still grows after this many visits, there is a push in a loop.
LOOP_LIMIT = 64


class StackError(Exception):
    pass


class Function:
    def __init__(self, start, end, names, file):
        self.start = start
        self.end = end
        self.names = names  # all names of the function; messages show the first
        self.file = file
        self.instructions = []  # (address, mnemonic, operands)
        self.calls = []  # (target address, depth or None for "the whole frame")
        self.falls = None  # depth at which the code runs past its end, or None
        self.indirect = []  # depths of calls through pointers; None for "the whole frame"
        self.code_frame = None  # frame in bytes, found by reading the code; None if it cannot be read
        self.su_frame = None
        self.dynamic = None  # place of the .su line that has the qualifier "dynamic", or None

    @property
    def name(self):
        return self.names[0]

    @property
    def frame(self):
        known = [f for f in (self.su_frame, self.code_frame) if f is not None]
        return max(known) if known else None


def functions_of(image):
    """Returns all functions of the image by start address; aliases are merged."""
    code = {i: s for i, s in enumerate(image.sections)
            if s.flags & elf.SHF_EXECINSTR and s.flags & elf.SHF_ALLOC}
    by_start = {}
    labels = []
    for symbol in image.symbols:
        if symbol.section not in code or symbol.name.startswith("$"):
            continue
        if symbol.kind == elf.STT_FUNC:
            by_start.setdefault(symbol.value & ~1, []).append(symbol)
        elif symbol.kind == elf.STT_NOTYPE:
            labels.append(symbol)
    covered = [(start, max(s.size for s in symbols)) for start, symbols in by_start.items()]
    for symbol in labels:  # labels of assembly without .type
        start = symbol.value & ~1
        if not any(a <= start < a + max(size, 1) for a, size in covered):
            by_start.setdefault(start, []).append(symbol)
    starts = sorted(by_start)
    functions = []
    for i, start in enumerate(starts):
        symbols = by_start[start]
        section = code[symbols[0].section]
        end = section.address + section.size
        if i + 1 < len(starts) and starts[i + 1] < end:
            end = starts[i + 1]
        size = max(s.size for s in symbols)
        if size:
            end = start + size
        # Puts the strong name before its weak aliases: Default_Handler before WWDG_IRQHandler.
        symbols.sort(key=lambda s: (s.binding == elf.STB_WEAK, s.binding == elf.STB_LOCAL))
        names = list(dict.fromkeys(s.name for s in symbols))
        file = next((s.file for s in symbols if s.file), None)
        functions.append(Function(start, end, names, file))
    return functions


class Program:
    def __init__(self, image, functions):
        self.image = image
        self.functions = functions
        self.starts = [f.start for f in functions]
        self.by_start = {f.start: f for f in functions}  # also parts of functions, added on demand

    def at(self, address):
        """Returns the function that starts at an address, or the rest of a function from that
        address on, or None."""
        address &= ~1
        if address in self.by_start:
            return self.by_start[address]
        for i in range(bisect.bisect_right(self.starts, address) - 1, -1, -1):
            whole = self.functions[i]
            if address < whole.end:
                break
        else:
            return None
        # libgcc's assembly calls and jumps into the middle of its functions.
        rest = Function(address, whole.end,
                        ["%s+0x%x" % (whole.name, address - whole.start)], whole.file)
        rest.instructions = whole.instructions
        read_code(self, rest)
        if whole.su_frame is None:
            add_fall_through(self, rest)
        if rest.code_frame is None:
            rest.su_frame = whole.frame
        self.by_start[address] = rest
        return rest

    def named(self, name):
        """Returns the functions of this name, including the copies that gcc makes (.isra.0,
        .constprop.0)."""
        return [f for f in self.functions if name in f.names or
                any(n.split(".")[0] == name for n in f.names)]


def disassemble(program, objdump):
    try:
        run = subprocess.run([objdump, "-d", "--no-show-raw-insn", program.image.path],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                             errors="backslashreplace")
    except OSError as e:
        raise StackError("cannot run %s: %s (it comes with the Arm cross binutils)"
                         % (objdump, e.strerror))
    if run.returncode:
        raise StackError("%s failed: %s" % (objdump, run.stderr.strip()))
    listing = []
    for line in run.stdout.splitlines():
        match = LINE.match(line)
        if match and not match.group(2).startswith("."):  # .word and other directives are data
            operands = (match.group(3) or "").split("@")[0].split(";")[0].strip()
            listing.append((int(match.group(1), 16), match.group(2), operands, line))
    addresses = [entry[0] for entry in listing]
    for function in program.functions:
        first = bisect.bisect_left(addresses, function.start)
        last = bisect.bisect_left(addresses, function.end)
        function.instructions = [(a, m, o) for a, m, o, _ in listing[first:last]]


def register_bytes(operands):
    """Returns the size in bytes of a register list such as {r4, r5, lr} or {d8-d11}."""
    total = 0
    for item in operands[operands.index("{") + 1:operands.index("}")].split(","):
        ends = item.strip().split("-")
        width = 8 if ends[0].startswith("d") else 4
        count = int(ends[1].strip()[1:]) - int(ends[0].strip()[1:]) + 1 if len(ends) == 2 else 1
        total += width * count
    return total


class Effect:
    """The effect of an instruction on the stack pointer and on the control flow."""

    def __init__(self):
        self.delta = 0  # bytes pushed on the stack
        self.unknown = False  # true if the instruction does not show the number of bytes
        self.targets = []  # addresses of jumps
        self.call = None
        self.indirect_call = False
        self.indirect_jump = False
        self.table = None  # operands of a jump through a table
        self.ends = False  # true if control never goes on to the next instruction


SP_IMMEDIATE = re.compile(r"^sp,(?: sp,)? #(\d+)$")


def effect_of(program, mnemonic, operands):
    effect = Effect()
    match = MNEMONIC.match(re.sub(r"\.[wn]$", "", mnemonic))
    if not match:
        # gcc puts udf where control can never come.
        effect.ends = mnemonic.startswith("udf")
        return effect
    base, condition = match.groups()
    always = not condition
    to_pc = re.search(r"\bpc\b", operands)
    if base in ("push", "vpush"):
        effect.delta = register_bytes(operands)
    elif base in ("stmdb", "stmfd", "vstmdb"):
        if operands.startswith("sp!"):
            effect.delta = register_bytes(operands)
    elif base in ("pop", "vpop"):
        effect.delta = -register_bytes(operands)
        effect.ends = bool(to_pc) and always
    elif base in ("ldmia", "ldmfd", "ldm", "vldmia"):
        if operands.startswith("sp!"):
            effect.delta = -register_bytes(operands)
        effect.ends = bool(to_pc) and always
    elif base in ("sub", "subs", "subw"):
        if operands.startswith("sp,"):
            amount = SP_IMMEDIATE.match(operands)
            if amount:
                effect.delta = int(amount.group(1))
            elif not re.match(r"^sp, (?!sp)\w+, #", operands):  # sp from a frame pointer is a restore
                effect.unknown = True
    elif base in ("add", "adds", "addw"):
        if operands.startswith("sp,"):
            amount = SP_IMMEDIATE.match(operands)
            # Without a constant it is a restore. Keeping the depth is safe, because it can only be
            # too large.
            effect.delta = -int(amount.group(1)) if amount else 0
        elif operands.startswith("pc,"):
            effect.table = ""
            effect.ends = always
    elif base in ("str", "strd"):
        amount = re.search(r"\[sp, #-(\d+)\]!", operands)
        if amount:
            effect.delta = int(amount.group(1))
    elif base in ("ldr", "ldrd"):
        amount = re.search(r"\[sp\], #(\d+)", operands)
        if amount:
            effect.delta = -int(amount.group(1))
            effect.ends = operands.startswith("pc,") and always
        elif operands.startswith("pc,"):
            effect.ends = always
            if re.match(r"^pc, \[\w+, \w+", operands):
                effect.table = operands
            elif not operands.startswith("pc, [pc"):
                effect.indirect_jump = True
            else:
                effect.table = "literal"
    elif base in ("mov", "movs"):
        if operands.startswith("pc,"):
            effect.ends = always
            if operands != "pc, lr":
                effect.table = ""
    elif base == "bx":
        effect.ends = always
        effect.indirect_jump = operands != "lr"
    elif base == "blx":
        effect.indirect_call = True
    elif base == "bl":
        effect.call = int(operands.split()[0], 16)
    elif base == "b":
        effect.targets = [int(operands.split()[0], 16)]
        effect.ends = always
    elif base in ("cbz", "cbnz"):
        effect.targets = [int(operands.split(",")[1].split()[0], 16)]
    elif base in ("tbb", "tbh"):
        effect.table = base
        effect.ends = True
    return effect


def table_targets(program, function, address, table, following):
    """Returns the targets of a jump table; its entries lie between the jump and the next
    instruction."""
    targets = []
    base = address + 4
    if table in ("tbb", "tbh"):
        width = 1 if table == "tbb" else 2
        for at in range(base, following - width + 1, width):
            entry = int.from_bytes(program.image.read(at, width), "little")
            targets.append(base + 2 * entry)
    elif table.startswith("pc, [pc,"):
        for at in range((base + 3) & ~3, following - 3, 4):
            targets.append(program.image.word(at) & ~1)
    return targets


def read_code(program, function):
    """Follows the code of one function and finds the stack depth at each instruction, the calls and
    the frame."""
    instructions = function.instructions
    index = {a: i for i, (a, _, _) in enumerate(instructions)}
    effects = [effect_of(program, m, o) for _, m, o in instructions]
    depth_at = {}
    visits = {}
    todo = []
    deepest = 0
    unknown = function.start not in index
    lost = False  # true after a computed jump with unknown targets

    def visit(i, depth):
        # Only the largest depth counts, so a smaller depth than before is ignored.
        if i < len(instructions) and depth > depth_at.get(i, -1):
            depth_at[i] = depth
            todo.append((i, depth))

    if not unknown:
        visit(index[function.start], 0)
    while not unknown:
        if not todo:
            rest = [i for i in range(len(instructions)) if i not in depth_at]
            if lost and rest:
                visit(rest[0], deepest)
                continue
            break
        i, depth = todo.pop()
        if depth < depth_at[i]:
            continue
        visits[i] = visits.get(i, 0) + 1
        if visits[i] > LOOP_LIMIT:
            unknown = True
            break
        address = instructions[i][0]
        effect = effects[i]
        after = max(depth + effect.delta, 0)
        deepest = max(deepest, after)
        unknown = unknown or effect.unknown
        targets = list(effect.targets)
        if effect.table is not None and effect.table != "literal":
            following = instructions[i + 1][0] if i + 1 < len(instructions) else function.end
            found = [t for t in table_targets(program, function, address, effect.table, following)
                     if t in index]
            targets += found
            lost = lost or not found
        for target in targets:
            if target in index:
                visit(index[target], after)
        if not effect.ends:
            visit(i + 1, after)
            # A call that is the last instruction of a function does not return.
            if i + 1 == len(instructions) and effect.call is None and \
                    not instructions[i][1].startswith(("bkpt", "svc")):
                function.falls = after

    function.code_frame = None if unknown else deepest
    for i, effect in enumerate(effects):
        if not unknown and i not in depth_at:
            continue
        address = instructions[i][0]
        depth = None if unknown else depth_at[i]
        if effect.call is not None:
            function.calls.append((effect.call, None))
        if effect.indirect_call:
            function.indirect.append(None)
        if effect.indirect_jump:
            function.indirect.append(depth)
        if effect.table == "literal":  # a veneer of the linker
            offset = re.search(r"#(-?\d+)\]", instructions[i][2])
            literal = (address + 4 & ~3) + (int(offset.group(1)) if offset else 0)
            function.calls.append((program.image.word(literal) & ~1, depth))
        for target in effect.targets:
            if target not in index:
                function.calls.append((target, depth))


def add_fall_through(program, function):
    """Adds the next function if assembly runs into it, as in libgcc's subtraction. Compiled code
    never does so; if it seems to, the compiler knows that control cannot reach the end."""
    following = bisect.bisect_left(program.starts, function.end)
    if function.falls is not None and following < len(program.starts) and \
            program.starts[following] <= function.instructions[-1][0] + 6:
        function.calls.append((program.starts[following], function.falls))


def read_su(directories):
    """Returns the lines of all .su files: {function: [(names of the source file, bytes, qualifier,
    where)]}."""
    entries = {}
    files = 0
    for directory in directories:
        if not os.path.isdir(directory):
            raise StackError("--su %s is not a directory" % directory)
        for folder, _, names in sorted(os.walk(directory)):
            for name in sorted(names):
                if not name.endswith(".su"):
                    continue
                files += 1
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="backslashreplace") as f:
                    for number, line in enumerate(f, 1):
                        match = SU_LINE.match(line.rstrip("\n"))
                        if not match:
                            raise StackError("%s:%d: not a line of -fstack-usage: %s"
                                             % (path, number, line.strip()))
                        source, _, _, function, size, qualifier = match.groups()
                        # For a static function of a header, the .su line names the header. The name
                        # of the .su file then shows which source was compiled.
                        stems = {os.path.basename(source), name[:-3] + ".c"}
                        entries.setdefault(function, []).append(
                            (stems, int(size), qualifier, "%s:%d" % (path, number)))
    if not files:
        raise StackError("no .su file below %s: compile with -fstack-usage" % " ".join(directories))
    return entries


def attach_su(functions, entries):
    for function in functions:
        found = []
        for name in function.names:
            # A copy is called foo.constprop.0 in the symbol table and foo.constprop in the .su
            # file.
            found += entries.get(name) or entries.get(re.sub(r"(\.\w+)\.\d+$", r"\1", name), [])
        if function.file:
            found = [e for e in found if function.file in e[0]] or found
        # Several entries are left if the folder has more than one program or if a source was
        # compiled more than once. The entry that agrees with the code is taken, else the one with
        # the largest frame.
        if len(found) > 1 and function.code_frame is not None:
            found = [e for e in found if e[1] == function.code_frame and e[2] != "dynamic"] or found
        if found:
            function.su_frame = max(size for _, size, _, _ in found)
            # The qualifier "dynamic,bounded" gives an upper bound; plain "dynamic" does not.
            function.dynamic = next((where for _, _, q, where in found if q == "dynamic"), None)


class Analysis:
    def __init__(self, program, indirect, own):
        self.program = program
        self.own = own  # starts of the functions with a stack of their own
        self.indirect = indirect  # {name of the caller: names of the functions that its pointers reach}
        self.errors = []
        self.worst = {}  # {start: (bytes, [(name, bytes charged), ...])}
        self.used_rules = set()
        self.active = []

    def error(self, text):
        if text not in self.errors:
            self.errors.append(text)

    def callees(self, function):
        calls = []
        for target, depth in function.calls:
            callee = self.program.at(target)
            if callee is None:
                self.error("%s calls 0x%08x, which is in no function of the image"
                           % (function.name, target))
            else:
                calls.append((callee, depth))
        if function.indirect:
            # the copies that gcc makes of a function (.isra.0, .constprop.0) reach the same
            # functions
            names = function.names + [n.split(".")[0] for n in function.names]
            rule = next((n for n in names if n in self.indirect), None)
            if rule is None:
                self.error("%s calls through a pointer, so its stack has no bound that can be "
                           "read: call by name, or say what it can reach with --indirect "
                           "%s:CALLEE,..."
                           % (function.name, function.name))
            else:
                self.used_rules.add(rule)
                for name in self.indirect[rule]:
                    for callee in self.program.named(name):
                        calls += [(callee, depth) for depth in set(function.indirect)]
        return calls

    def visit(self, function):
        if function.start in self.worst:
            return self.worst[function.start]
        if function in self.active:
            cycle = self.active[self.active.index(function):] + [function]
            self.error("recursion has no bound: " + " -> ".join(f.name for f in cycle))
            return 0, []
        if function.dynamic:
            self.error("%s has a stack frame of variable size (%s: alloca or a variable-length "
                       "array): give the array a constant size" % (function.name, function.dynamic))
        frame = function.frame
        if frame is None:
            self.error("the stack frame of %s is neither in a .su file nor readable from its code: "
                       "compile it with -fstack-usage" % function.name)
            frame = 0
        self.active.append(function)
        best = (frame, [(function.name, frame)])
        for callee, depth in self.callees(function):
            if callee.start in self.own:
                continue  # a handler that jumps to it leaves its stack
            below, path = self.visit(callee)
            charged = frame if depth is None else min(depth, frame)
            if charged + below > best[0]:
                best = (charged + below, [(function.name, charged)] + path)
        self.active.pop()
        self.worst[function.start] = best
        return best


def vectors_of(program, name, required):
    """Returns the functions of the vector table as [(function, number of vectors)], the reset
    handler first."""
    symbol = program.image.find(name)
    if symbol is None or not symbol.size:
        if not required:
            return []
        raise StackError("%s has no vector table named %s: name it with --vectors, or give --entry"
                         % (program.image.path, name))
    counts = {}
    # Word 0 is the initial stack pointer. A word that is 0 is a reserved vector.
    for number in range(1, symbol.size // 4):
        value = program.image.word(symbol.value + 4 * number)
        if value in (0, 0xFFFFFFFF):
            continue
        function = program.by_start.get(value & ~1)
        if function is None:
            raise StackError("vector %d of %s is 0x%08x, which is no function of the image"
                             % (number, name, value))
        if not value & 1:
            raise StackError("vector %d (%s) has bit 0 clear: the core would fault on it"
                             % (number, function.name))
        counts[function.start] = counts.get(function.start, 0) + 1
    return [(program.by_start[start], count) for start, count in counts.items()]


def must_find(program, name, option):
    found = program.named(name)
    if not found:
        raise StackError("%s: the image has no function %s" % (option, name))
    return found


def parse_pairs(items, separator, option):
    pairs = []
    for item in items:
        left, found, right = item.partition(separator)
        values = [v for v in right.split(",") if v]
        if not found or not left or not values:
            raise StackError("%s %s: expected NAME%sSYMBOL[,SYMBOL...]" % (option, item, separator))
        pairs.append((left, values))
    return pairs


def analyse(args):
    image = elf.Elf(args.elf)
    program = Program(image, functions_of(image))
    disassemble(program, args.objdump)
    entries = read_su(args.su)
    for function in program.functions:
        read_code(program, function)
    attach_su(program.functions, entries)
    for function in program.functions:
        if function.su_frame is None:
            add_fall_through(program, function)

    indirect = {}
    for caller, callees in parse_pairs(args.indirect, ":", "--indirect"):
        callees = [callee for callee in callees if callee != "-"]
        for callee in callees:
            must_find(program, callee, "--indirect %s" % caller)
        indirect.setdefault(caller, []).extend(callees)
    groups = {}
    member_of = {}
    for group, names in parse_pairs(args.group, "=", "--group"):
        for name in names:
            for function in must_find(program, name, "--group %s" % group):
                groups.setdefault(group, []).append(function)
                member_of[function.start] = group
    own = {}
    for name, symbols in parse_pairs(args.own_stack, "=", "--own-stack"):
        for function in must_find(program, name, "--own-stack"):
            own[function.start] = symbols[0]

    main = []
    for item in args.entry:
        name, _, group = item.partition(":")
        for function in must_find(program, name, "--entry"):
            if group:
                groups.setdefault(group, []).append(function)
                member_of[function.start] = group
            else:
                main.append(function)
    vectors = vectors_of(program, args.vectors or "vectors",
                         bool(args.vectors) or not args.entry)
    if vectors:
        main.insert(0, vectors[0][0])
    for function, _ in vectors:
        if function.start not in member_of and function.start not in own and function not in main:
            groups.setdefault(function.name, []).append(function)
            member_of[function.start] = function.name

    analysis = Analysis(program, indirect, own)
    counts = {function.start: count for function, count in vectors}

    def entry(function, level):
        worst, path = analysis.visit(function)
        return {"entry": function.name, "level": level, "vectors": counts.get(function.start, 0),
                "worst": worst, "path": [{"function": n, "bytes": b} for n, b in path]}

    entries = [entry(f, "main") for f in main]
    levels = [{"level": "main", "worst": max((e["worst"] for e in entries), default=0),
               "irq_frame": 0}]
    for group, functions in groups.items():
        members = [entry(f, group) for f in dict.fromkeys(functions)]
        entries += members
        levels.append({"level": group, "worst": max(e["worst"] for e in members),
                       "irq_frame": args.irq_frame + IRQ_ALIGN})
    own_stacks = []
    for start, symbol in own.items():
        one = entry(program.by_start[start], "own stack")
        entries.append(one)
        limit = image.value(symbol)
        own_stacks.append({"entry": one["entry"], "worst": one["worst"], "limit": limit,
                           "symbol": symbol, "free": limit - one["worst"]})
    if own:
        levels.append({"level": "fault", "worst": 0, "irq_frame": args.irq_frame + IRQ_ALIGN})
    limit = image.value(args.size_symbol)
    total = sum(level["worst"] + level["irq_frame"] for level in levels)
    reached = [program.by_start[start] for start in analysis.worst]
    errors = list(analysis.errors)
    if total > limit:
        errors.append("the worst case needs %d bytes of stack, %s is %d: %d bytes too few"
                      % (total, args.size_symbol, limit, total - limit))
    for stack in own_stacks:
        if stack["free"] < 0:
            errors.append("%s needs %d bytes of its own stack, %s is %d: %d bytes too few"
                          % (stack["entry"], stack["worst"], stack["symbol"], stack["limit"],
                             -stack["free"]))
    unused = sorted(set(indirect) - analysis.used_rules)
    return {"elf": args.elf, "entries": entries, "levels": levels, "own_stacks": own_stacks,
            "total": total, "limit": limit, "free": limit - total,
            "functions": len(reached),
            "without_su": sorted(f.name for f in reached if f.su_frame is None),
            "larger_than_su": sorted(f.name for f in reached if f.su_frame is not None
                                     and (f.code_frame or 0) > f.su_frame),
            "unused_indirect": unused, "errors": errors}


def print_table(result, size_symbol):
    width = max([len("entry")] + [len(e["entry"]) for e in result["entries"]])
    level_width = max([len("level")] + [len(e["level"]) for e in result["entries"]])
    print("worst-case stack of %s (bytes)" % result["elf"])
    print("  %-*s  %-*s  %5s  deepest path" % (width, "entry", level_width, "level", "worst"))
    for e in result["entries"]:
        many = " (%d vectors)" % e["vectors"] if e["vectors"] > 1 else ""
        print("  %-*s  %-*s  %5d  %s%s"
              % (width, e["entry"], level_width, e["level"], e["worst"],
                 " > ".join("%s %d" % (p["function"], p["bytes"]) for p in e["path"]), many))
    parts = ["%s %d%s" % (v["level"], v["worst"],
                          " + %d" % v["irq_frame"] if v["irq_frame"] else "")
             for v in result["levels"]]
    print("  total: " + ", ".join(parts))
    print("  %d of %d bytes (%s), %d free"
          % (result["total"], result["limit"], size_symbol, result["free"]))
    for stack in result["own_stacks"]:
        print("  %s on its own stack: %d of %d bytes (%s), %d free"
              % (stack["entry"], stack["worst"], stack["limit"], stack["symbol"], stack["free"]))
    missing = result["without_su"]
    print("  %d functions reached, %d without .su (frame read from the code)%s"
          % (result["functions"], len(missing), ": " + " ".join(missing) if missing else ""))
    if result["larger_than_su"]:
        print("  deeper in the code than in .su (the larger counts): "
              + " ".join(result["larger_than_su"]))
    if result["unused_indirect"]:
        print("  --indirect not needed for: " + " ".join(result["unused_indirect"]))


def main():
    parser = argparse.ArgumentParser(description="worst-case stack of a firmware image")
    parser.add_argument("elf")
    parser.add_argument("--su", nargs="+", action="extend", required=True, metavar="DIR",
                        help="folders that hold the .su files of gcc -fstack-usage")
    parser.add_argument("--objdump", default="arm-none-eabi-objdump")
    parser.add_argument("--size-symbol", default="__stack_size", metavar="SYM",
                        help="absolute symbol with the size of the stack (default: __stack_size)")
    parser.add_argument("--irq-frame", type=int, choices=(32, 104), default=104,
                        help="bytes that the core pushes on an exception: 104 with an FPU "
                        "(default), 32 without; the alignment word is added")
    parser.add_argument("--vectors", metavar="SYM", help="the vector table (default: vectors)")
    parser.add_argument("--entry", action="append", default=[], metavar="NAME[:GROUP]",
                        help="one more entry point; without a group it is a main path")
    parser.add_argument("--group", action="append", default=[], metavar="NAME=SYM,...",
                        help="handlers of one preemption level")
    parser.add_argument("--own-stack", action="append", default=[], metavar="SYM=SIZE_SYMBOL",
                        help="a handler with a stack of its own, and the symbol of its size")
    parser.add_argument("--indirect", action="append", default=[], metavar="CALLER:CALLEE,...",
                        help="what the pointers that CALLER calls can point to")
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    args = parser.parse_args()
    try:
        result = analyse(args)
    except (StackError, elf.ElfError) as e:
        print("stack: %s" % e, file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result, args.size_symbol)
    sys.stdout.flush()
    for error in result["errors"]:
        print("stack: error: %s" % error, file=sys.stderr)
    return 1 if result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
