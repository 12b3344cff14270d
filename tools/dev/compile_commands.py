#!/usr/bin/env python3
"""Turns the commands of `make -nB V=1` on standard input into a compile_commands.json on standard output."""
import json
import os
import shlex
import sys

entries = []
for line in sys.stdin:
    try:
        words = shlex.split(line)
    except ValueError:
        continue
    if words and words[0].endswith("gcc") and "-c" in words:
        source = words[words.index("-c") + 1]
        entries.append({"directory": os.getcwd(), "file": source, "arguments": words})
json.dump(entries, sys.stdout, indent=1)
print()
