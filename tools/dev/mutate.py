#!/usr/bin/env python3
"""Makes small mistakes in C files, one at a time, and counts how many of them the tests find.

    mutate.py --work DIR --compile COMMAND --link COMMAND --core OBJECTS --test OBJECTS... --source FILE...
    mutate.py @FILE ...      the same, one argument per line (make mutate writes build/mutate/arguments)

A mutant is one file with one mistake: a comparison, a constant, a sign, a logical or an assigning operator, a condition,
a statement left out, or two arguments exchanged. It is compiled alone, with whatever includes it if it is a header, and
linked with the unchanged objects. It is killed if a test program prints a failed assertion; a crash, a sanitizer's
report or a time-out is none. What does not compile does not count, nor does what compiles to the same object with -O2.

Nothing but DIR is written. It has the results as results.json, from which --again runs the survivors alone. A run replaces
the results of its own mutants, or of their files, and keeps the others.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import queue
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from mutants import MutateError, Reader, shown  # noqa: E402

COUNTED = ("killed", "survived", "crash", "timeout")
FAILED = re.compile(rb"\S+:\d+:\w+:FAIL")


class Bench:
    """Compiles, links and runs mutants; each worker has a folder of its own."""

    def __init__(self, args):
        self.args = args
        self.core = args.core.split()
        self.tests = [words.split() for words in args.test]
        self.cost, self.kills = {}, collections.Counter()
        self.needs = {}  # object: (source, the files that it includes)
        for obj in self.core + [w for words in self.tests for w in words if w.endswith(".o")]:
            with open(obj[:-2] + ".d", encoding="utf-8") as f:
                names = re.split(r"[\s\\]+", f.read().split(":", 1)[1].split("\n\n")[0])
            names = [n for n in names if n and not n.endswith(":")]
            self.needs[obj] = names[0], set(names)
        self.folders = queue.Queue()
        for i in range(args.jobs):
            self.folders.put(os.path.join(args.work, str(i)))

    def compiled(self, folder, file, text, *options):
        """Returns {object: compiled object} of all that needs the file, with this text of the file; None if it does not compile."""
        changed = os.path.join(folder, file)
        os.makedirs(os.path.dirname(changed), exist_ok=True)
        with open(changed, "w", encoding="utf-8") as f:
            f.write(text)
        out = {}
        try:
            for obj, (source, names) in self.needs.items():
                if file not in names:
                    continue
                out[obj] = os.path.join(folder, "objects", obj)
                os.makedirs(os.path.dirname(out[obj]), exist_ok=True)
                command = shlex.split(self.args.compile)
                command[1:1] = ["-I", folder]
                command += [*options, "-g0", "-c", changed if source == file else source, "-o", out[obj]]
                done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "CCACHE_DISABLE": "1"})
                if done.returncode:
                    return None
        finally:
            os.remove(changed)
        return out

    def same(self, folder, mutant, text, changed):
        """Returns whether the compiler makes the same of both texts."""
        made = []
        for t in (text, changed):
            made.append([])
            for path in self.compiled(folder, mutant.file, t, "-w", "-O2").values():
                with open(path, "rb") as f:
                    made[-1].append(f.read())
        return made[0] == made[1]

    def archive(self, folder, objects):
        path = os.path.join(folder, "core.a")
        if os.path.exists(path):
            os.remove(path)
        subprocess.run(["ar", "rcsT", path, *(objects.get(o, o) for o in self.core)], check=True)
        return path

    def run(self, folder, test, objects, archive):
        """Returns killed, crash, timeout or passed."""
        program = os.path.join(folder, "program")
        words = [archive if w == "CORE" else objects.get(w, w) for w in test]
        done = subprocess.run([*shlex.split(self.args.link), *words, "-o", program], capture_output=True, text=True)
        if done.returncode:
            raise MutateError("it does not link: %s" % done.stderr.strip())
        begin = time.monotonic()
        with subprocess.Popen([os.path.abspath(program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            limit = threading.Timer(self.args.limit_s + 5 * self.cost.get(test[0], 60), process.kill)
            limit.start()
            failed = any(FAILED.match(line) for line in process.stdout)
            if failed:
                process.kill()  # the rest of it would tell nothing new
            code = process.wait()
            limit.cancel()
        if failed:
            return "killed"
        if code == -signal.SIGKILL:
            return "timeout"
        self.cost.setdefault(test[0], time.monotonic() - begin)
        return "crash" if code else "passed"

    def prepare(self, files):
        """Runs all tests without a mistake, on objects that are compiled as those of the mutants are."""
        folder = os.path.join(self.args.work, "0")
        objects = {}
        for file in files:
            with open(file, encoding="utf-8") as f:
                made = self.compiled(folder, file, f.read(), "-w", "-O0")
            if not made:
                raise MutateError("%s does not compile, or no test needs it" % file)
            objects.update(made)
        archive = self.archive(folder, objects)
        for test in self.tests:
            if self.run(folder, test, objects, archive) != "passed":
                raise MutateError("%s fails without a mistake" % test[0])
        if self.args.quick:
            self.tests = [t for t in self.tests if self.cost[t[0]] <= self.args.quick]

    def judge(self, mutant, text):
        """Returns what became of a mutant, and the test that did it."""
        folder = self.folders.get()
        try:
            changed = text[:mutant.start] + mutant.text + text[mutant.end:]
            objects = self.compiled(folder, mutant.file, changed, "-Werror" if mutant.kind == "exchange" else "-w", "-O0")
            if objects is None:
                return "invalid", ""
            worst, archive = ("survived", ""), self.archive(folder, objects)
            for test in sorted(self.tests, key=lambda t: -(self.kills[mutant.file, t[0]] + 1) / (self.cost[t[0]] + 0.2)):
                result = self.run(folder, test, objects, archive)
                if result == "killed":
                    self.kills[mutant.file, test[0]] += 1
                    return result, test[0]
                if result != "passed":
                    worst = result, test[0]
                if result == "timeout":
                    break
            return ("identical", "") if worst[0] == "survived" and self.same(folder, mutant, text, changed) else worst
        finally:
            self.folders.put(folder)


def stored(args):
    """Returns the results of earlier runs."""
    try:
        with open(os.path.join(args.work, "results.json"), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return []


def chosen(args):
    """Returns the mutants to run, and the texts of the files."""
    headers = [os.path.join(d, n) for d in sorted({os.path.dirname(s) for s in args.source}) for n in sorted(os.listdir(d)) if n.endswith(".h")]
    files = [f for f in sorted(args.source) + headers if not args.files or any(fnmatch.fnmatch(f, "*" + p) for p in args.files.split())]
    if not files:
        raise MutateError("no file matches %s; the files are %s" % (args.files, " ".join(sorted(args.source) + headers)))
    readers = [Reader(f) for f in files]
    mutants = [m for r in readers for m in r.mutants()]
    if args.again:
        open_ones = {(r["file"], r["from"], r["to"]) for r in stored(args) if r["result"] in COUNTED[1:]}
        texts = {r.name: r.text for r in readers}
        mutants = [m for m in mutants if (m.file, *shown(m, texts[m.file])) in open_ones]
    if args.sample and args.sample < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    return mutants, {r.name: r.text for r in readers}


def report(results):
    print("%-32s %8s %8s %8s %8s %9s %8s %7s" % ("file", "killed", "survived", "crash", "timeout", "identical", "invalid", "score"))
    for file in sorted({r["file"] for r in results}) + ["all"]:
        count = collections.Counter(r["result"] for r in results if file in (r["file"], "all"))
        total = sum(count[k] for k in COUNTED)
        print("%-32s %8d %8d %8d %8d %9d %8d %7s" % (file, *(count[k] for k in (*COUNTED, "identical", "invalid")),
                                                   "%.1f %%" % (100 * count["killed"] / total) if total else "-"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@")
    parser.add_argument("--work", required=True, metavar="DIR")
    parser.add_argument("--compile", required=True, metavar="COMMAND", help="compiler and flags")
    parser.add_argument("--link", required=True, metavar="COMMAND")
    parser.add_argument("--core", default="", metavar="OBJECTS", help="the objects of the archive CORE, with their .d files")
    parser.add_argument("--test", required=True, action="append", metavar="OBJECTS", help="what a test program is linked from; first its own object")
    parser.add_argument("--source", required=True, nargs="+", metavar="FILE", help="headers of their folders count, too")
    parser.add_argument("--files", default="", metavar="PATTERNS", help="only files that end so")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only so many, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="only what survived the last time")
    parser.add_argument("--quick", type=float, default=0, metavar="S", help="only test programs that take at most so many seconds")
    parser.add_argument("--limit-s", type=float, default=20, help="time-out of a program, beyond 5 times its usual time")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    try:
        mutants, texts = chosen(args)
        files = sorted({m.file for m in mutants})
        bench, results, begin = Bench(args), [], time.monotonic()
        bench.prepare(files)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for m, (result, by) in zip(mutants, pool.map(lambda m: bench.judge(m, texts[m.file]), mutants)):
                was, became = shown(m, texts[m.file])
                results.append({"file": m.file, "line": m.line, "kind": m.kind, "from": was, "to": became, "result": result, "by": by})
                if result in COUNTED[1:]:
                    print("%s:%d: %s (%s) %s\n    - %s\n    + %s" % (m.file, m.line, result, m.kind, by, was, became), flush=True)
                if len(results) % 50 == 0:
                    print("%d of %d mutants, %d s" % (len(results), len(mutants), time.monotonic() - begin), file=sys.stderr, flush=True)
        new = {(r["file"], r["from"], r["to"]) for r in results}
        kept = [r for r in stored(args) if r["file"] not in files or (
            args.again and r["result"] not in COUNTED[1:] and (r["file"], r["from"], r["to"]) not in new)]
        results = sorted(kept + results, key=lambda r: (r["file"], r["line"]))
        with open(os.path.join(args.work, "results.json"), "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    except (MutateError, OSError, subprocess.CalledProcessError) as error:
        sys.exit("mutate: %s" % error)
    report(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
