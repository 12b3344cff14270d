#!/usr/bin/env python3
"""Turns the commands of `make -nB V=1` on standard input into a compile_commands.json on standard
output. If several programs compile the same source, it has one entry, with the command of the
first program."""
import json
import os
import shlex
import sys

entries = {}
for line in sys.stdin:
    try:
        words = shlex.split(line)
    except ValueError:
        continue
    if words and words[0].endswith(("gcc", "g++")) and "-c" in words:
        source = words[words.index("-c") + 1]
        entries.setdefault(source, {"directory": os.getcwd(), "file": source, "arguments": words})
json.dump(list(entries.values()), sys.stdout, indent=1)
print()
