#!/usr/bin/env python3
"""The faults of firmware/safety/faults.h, as `appell faults` tells them, as the table of README.md.

    faults_table.py PROGRAM --into FILE     between the lines <!-- faults begin --> and <!-- faults end -->
    faults_table.py PROGRAM --check FILE    exit code 1 where FILE has another one
"""
import argparse
import json
import subprocess
import sys

BEGIN, END = "<!-- faults begin -->\n", "<!-- faults end -->\n"


def table(program):
    done = subprocess.run([program, "faults", "--json"], capture_output=True, text=True, check=True)
    lines = ["| | fault | best stop | cause | cure |", "|---|---|---|---|---|"]
    for row in json.loads(done.stdout)["faults"]:
        lines.append("| {number} | {name} | {stop} | {cause} | {cure} |".format(**row))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="the table of the faults in README.md")
    parser.add_argument("program")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--into", metavar="FILE")
    where.add_argument("--check", metavar="FILE")
    args = parser.parse_args()
    path = args.into or args.check
    with open(path, encoding="utf-8") as file:
        old = file.read()
    begin, end = old.find(BEGIN), old.find(END)
    if begin < 0 or end < begin:
        print(f"{path} has no place for the table: put the lines {BEGIN.strip()} and {END.strip()} where it belongs", file=sys.stderr)
        return 2
    new = old[:begin] + BEGIN + table(args.program) + old[end:]
    if args.check:
        if new != old:
            print(f"{path} does not have the faults of {args.program}: make faults-readme")
        return int(new != old)
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
