#!/usr/bin/env python3
"""Checks that the sources respect the layers, use no heap, and contain no path or host of a certain machine.

    lint_includes.py [ROOT]

Who may include whom ("->" is "may include"):

    dyn            -> dyn, and only <stdint.h> <stddef.h> <stdbool.h> <math.h>
    firmware/X     -> firmware/Y, dyn, standard C without I/O: it also runs in the host tool
    firmware       -> firmware, dyn, hal
    boards         -> boards, hal
    hal/*.h        -> hal/*.h, standard C: the capabilities know no chip
    hal/X/Y        -> hal/*.h, hal/X/*.h, hal/X/Y/*.h, hal/cortexm/*.h, CMSIS-Core
    tools          -> tools, dyn, firmware/X, any header of the host
    test           -> all

Includes between the folders of dyn, firmware and tools must form no cycle.

Project headers are named from the top of the tree. Code in dyn, firmware, hal and boards must not
include <stdlib.h>, <malloc.h> or <stdio.h> and must not call the heap. No text file may contain a
path of one machine or the host of a package registry.
"""

import os
import re
import subprocess
import sys

LAYERS = ("boards", "dyn", "firmware", "hal", "test", "tools")
TARGET = ("boards", "dyn", "firmware", "hal")
ROOMS = ("dyn", "firmware", "tools")  # layers with several folders
SOURCES = (".c", ".h", ".inc")

DYN_HEADERS = {"stdint.h", "stddef.h", "stdbool.h", "math.h"}
PURE_HEADERS = DYN_HEADERS | {"assert.h", "complex.h", "ctype.h", "errno.h", "float.h",
                              "inttypes.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h",
                              "stdatomic.h", "stdnoreturn.h", "string.h", "tgmath.h"}
STANDARD_HEADERS = PURE_HEADERS | {"fenv.h", "locale.h", "setjmp.h", "signal.h", "threads.h",
                                   "time.h", "uchar.h", "wchar.h", "wctype.h"}
HEAP_HEADERS = {"stdlib.h", "malloc.h", "stdio.h"}
# Headers that the build chooses with a macro: the number type, and code generated for a robot.
CORE_CHOICES = ("DYN_REAL_H", "GENERATED_H")
CMSIS = re.compile(r"^(core_cm\w*|cmsis_\w+)\.h$")

INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*$")
MACRO = re.compile(r"^[A-Za-z_]\w*$")
HEAP_CALL = re.compile(r"(?<![\w.>])(?:__builtin_)?(malloc|calloc|realloc|free|alloca|"
                       r"aligned_alloc|strdup|strndup|s?brk|_sbrk)\s*\(")
# The character class in each word keeps the pattern from matching its own text in this file.
MACHINE_PATH = re.compile(r"(?:(?<![\w.~)}$/-])|(?<=-[IL]))"
                          r"/(?:wor[k]|far[m]|roo[t]|hom[e]/[a-z]\w*)(?=[/\s\"'`),:;]|$)")
# Hosts under the reserved names of RFC 2606 are allowed, because tests of the set-up use them.
REGISTRY_HOST = re.compile(r"https?://(?![\w.-]+\.(?:invalid|example|test)\b)"
                           r"\S*(?:debia[n]|np[m])\S*|"
                           r"\b[\w-]+\.(?:debia[n]|npmj[s])\.(?:org|net|com)\b", re.I)


def files_of(root):
    """Returns the files of the project: those that git tracks or would track; without git, all
    except build/."""
    run = None
    if os.path.exists(os.path.join(root, ".git")):
        try:
            run = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                                  "--exclude-standard"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError:
            pass
    if run and run.returncode == 0:
        paths = {os.fsdecode(p) for p in run.stdout.split(b"\0") if p}
        paths = {p for p in paths if os.path.isfile(os.path.join(root, p))}
    else:
        paths = set()
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if f not in (".git", "__pycache__")
                          and os.path.join(folder, f) != os.path.join(root, "build")]
            paths |= {os.path.relpath(os.path.join(folder, name), root) for name in names}
    return sorted(p for p in paths if not p.startswith("build" + os.sep))


TOKEN = re.compile(r"//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
                   re.S)


def without_comments(text):
    """Returns the text with comments replaced by blanks; line numbers do not change."""
    def blank(match):
        token = match.group(0)
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token
    return TOKEN.sub(blank, text)


def without_strings(text):
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


class Lint:
    def __init__(self, root):
        self.root = root
        self.files = files_of(root)
        self.findings = []
        self.edges = {}  # {(folder, folder that it includes from): an example of such an include}
        self.path = None  # the file that is being checked
        self.line = 1

    def report(self, text):
        self.findings.append((self.path, self.line, text))

    def from_the_top(self, path, target):
        """Returns how to write a relative include from the top of the tree, if that can be found
        out."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if beside in self.files:
            return 'write "%s"' % beside
        tail = os.path.normpath(target).lstrip("./")
        found = [f for f in self.files if f == tail or f.endswith("/" + tail)]
        if found:
            return "write " + " or ".join('"%s"' % f for f in found)
        return 'write the path from the top of the tree, as in "hal/uart.h"'

    def check_quoted(self, path, target):
        top = path.split("/")[0]
        parts = target.split("/")
        if top == "test" and re.match(r"^unity(_\w+)?\.h$", target):
            return
        if len(parts) < 2 or parts[0] not in LAYERS or "." in parts or ".." in parts:
            self.report('relative include "%s": project headers are named from the top of '
                        "the tree, so that every file reads the same; %s"
                        % (target, self.from_the_top(path, target)))
            return
        folder = os.path.dirname(path)
        layer = parts[0]
        pure = layer == "firmware" and len(parts) > 2
        if top == "test":
            return
        if top == "dyn":
            if layer != "dyn":
                self.report('dyn includes "%s": dyn knows nothing above it; pass what it '
                            "needs as an argument" % target)
        elif folder.startswith("firmware/"):
            if layer != "dyn" and not pure:
                self.report('%s includes "%s": it is pure and runs in the host tool too, so it '
                            "may include only dyn and folders of firmware; pass what it needs in "
                            "its inputs" % (folder, target))
        elif top == "firmware":
            if layer not in ("firmware", "dyn", "hal"):
                self.report('firmware includes "%s": it may include firmware, dyn and hal; '
                            "what a board decides reaches it through a header of hal" % target)
        elif top == "boards":
            if layer not in ("boards", "hal"):
                self.report('boards includes "%s": a board may include only hal and boards; '
                            "it describes pins, clocks and limits" % target)
        elif top == "tools":
            if layer not in ("tools", "dyn") and not pure:
                self.report('tools includes "%s": the host tool may include tools, dyn and the '
                            "pure folders of firmware; move what both need there" % target)
        elif layer != "hal":
            self.report('hal includes "%s": hal knows nothing above it; declare what it '
                        "needs in a header of hal" % target)
        else:
            self.check_within_hal(path, target)

    def check_within_hal(self, path, target):
        own = os.path.dirname(path).split("/")
        wanted = os.path.dirname(target).split("/")
        if len(own) == 1:
            if len(wanted) > 1:
                self.report('"%s" in a capability header or source of hal: those know no '
                            "chip; move it to hal/%s/" % (target, wanted[1]))
            return
        ancestor = own[:len(wanted)] == wanted
        family = wanted == ["hal", "stm32"] and own[1].startswith("stm32")
        cortexm = wanted == ["hal", "cortexm"] and own[1] != "host"
        if not (ancestor or family or cortexm):
            self.report('%s includes "%s": a chip family may include hal/*.h, its own '
                        "folder and those above it, and hal/cortexm; share through one of these"
                        % ("/".join(own), target))

    def check_angle(self, path, target):
        top = path.split("/")[0]
        folder = os.path.dirname(path)
        if target.split("/")[0] in LAYERS and "/" in target:
            self.report('<%s> is a header of the project: write "%s"' % (target, target))
        elif top in ("tools", "test"):
            return
        elif target in HEAP_HEADERS:
            self.report("<%s> in %s: the target has no heap and no stdio; use the buffers "
                        "that the caller passes in, and hal/uart.h for output" % (target, top))
        elif top == "dyn" and target not in DYN_HEADERS:
            self.report("<%s> in dyn: it may include only %s, so that it runs anywhere"
                        % (target, " ".join("<%s>" % h for h in sorted(DYN_HEADERS))))
        elif folder.startswith("firmware/") and target not in PURE_HEADERS:
            self.report("<%s> in %s: it is pure, so it may include only headers "
                        "of standard C that have no state and no I/O" % (target, folder))
        elif CMSIS.match(target):
            if top != "hal" or (folder == "hal" and path.endswith(".h")):
                self.report("<%s> in %s: only the chip folders of hal may include CMSIS; "
                            "use or add a capability header of hal" % (target, folder))
        elif target not in STANDARD_HEADERS:
            self.report("<%s> in %s: code for the target may include only standard C%s"
                        % (target, top, " and CMSIS-Core" if top == "hal" else ""))

    def check_macro(self, path, name):
        top = path.split("/")[0]
        # The header of the core and the vector list of a chip family come into hal by -DHAL_..._H. The batch evaluation
        # of firmware is compiled for every number type, like a kernel.
        core = path.startswith("firmware/") and name in CORE_CHOICES
        if core or top in ("dyn", "tools", "test") or (
                top == "hal" and re.match(r"^HAL_\w+_H$", name)):
            return
        self.report("#include %s: a header chosen by a macro hides what is included; only "
                    "dyn, tools and test may, and hal by HAL_*_H; name the header" % name)

    def check_source(self, path, text):
        top = path.split("/")[0]
        self.line = 1
        if top not in LAYERS or "/" not in path:
            self.report("a source outside of %s belongs to no layer: move it into one"
                        % " ".join(LAYERS))
            return
        code = without_comments(text)
        for self.line, line in enumerate(code.split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            what = match.group(1)
            if what.startswith('"') and what.endswith('"'):
                before = len(self.findings)
                self.check_quoted(path, what[1:-1])
                if len(self.findings) == before:
                    self.note_edge(path, what[1:-1])
            elif what.startswith("<") and what.endswith(">"):
                self.check_angle(path, what[1:-1])
            elif MACRO.match(what):
                self.check_macro(path, what)
            else:
                self.report("cannot read this include: %s" % line.strip())
        if top in TARGET:
            for self.line, line in enumerate(without_strings(code).split("\n"), 1):
                match = HEAP_CALL.search(line)
                if match:
                    self.report("%s() in %s: there is no heap on the target; take the "
                                "memory from the caller or make it static" % (match.group(1), top))

    def check_text(self, path, text):
        for self.line, line in enumerate(text.split("\n"), 1):
            match = MACHINE_PATH.search(line)
            if match:
                self.report("%s is a path of one machine: others do not have it; write "
                            "it relative to the top of the tree" % match.group(0))
            match = REGISTRY_HOST.search(line)
            if match:
                self.report("%s is the host of a package registry: the machine's own "
                            "configuration names it; use its package tool" % match.group(0))

    def note_edge(self, path, target):
        edge = os.path.dirname(path), os.path.dirname(target)
        if edge[0] != edge[1] and all(name.split("/")[0] in ROOMS for name in edge):
            self.edges.setdefault(edge, (path, self.line))

    def check_cycles(self):
        """Reports each set of folders that include each other, with an example of the cycle."""
        after = {}
        for a, b in sorted(self.edges):
            after.setdefault(a, []).append(b)

        def way(start, goal):
            """Returns the shortest path from start to goal along the includes, or None."""
            ways = [[start]]
            seen = {start}
            for done in ways:
                if done[-1] == goal:
                    return done
                for folder in after.get(done[-1], []):
                    if folder not in seen:
                        seen.add(folder)
                        ways.append(done + [folder])
            return None

        told = set()
        for a, b in sorted(self.edges):
            back = way(b, a)
            if back is None or told & set(back):
                continue
            told |= set(back)
            self.path, self.line = self.edges[a, b]
            places = ["%s -> %s (%s:%d)" % (x, y, *self.edges[x, y])
                      for x, y in zip([a] + back, back)]
            self.report("folders include each other in a circle: %s; move what both need into a "
                        "folder below them" % ", ".join(places))

    def run(self):
        for path in self.files:
            self.path, self.line = path, 1
            try:
                with open(os.path.join(self.root, path), "rb") as f:
                    data = f.read()
            except OSError as e:
                self.report("cannot be read: %s" % e.strerror)
                continue
            if b"\0" in data[:8192]:
                continue
            text = data.decode("utf-8", errors="backslashreplace")
            self.check_text(path, text)
            if path.endswith(SOURCES):
                self.check_source(path, text)
        self.check_cycles()
        return self.findings


def main():
    if len(sys.argv) > 2 or any(a.startswith("-") for a in sys.argv[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    root = sys.argv[1] if len(sys.argv) == 2 else \
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if not os.path.isdir(root):
        print("lint_includes: %s is not a directory" % root, file=sys.stderr)
        return 2
    lint = Lint(root)
    findings = lint.run()
    for path, line, text in findings:
        print("%s:%d: %s" % (path, line, text))
    sources = sum(path.endswith(SOURCES) for path in lint.files)
    if not lint.files:
        print("lint_includes: no file below %s, so nothing was checked" % root, file=sys.stderr)
        return 1
    print("lint_includes: %d files, %d C sources, %d finding%s"
          % (len(lint.files), sources, len(findings), "" if len(findings) == 1 else "s"))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
