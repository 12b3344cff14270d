#!/usr/bin/env python3
"""Prints code and RAM of the firmware, one row per board.

    size.py BOARD:ELF... [--csv FILE] [--diff OLD.csv]

All numbers are bytes. `text` is code and constants, `data` initialised variables (in RAM, with a
copy in flash), `bss` everything else in RAM except the stacks, `stack` the stacks with their guard.
The sizes of the memories are the linker's symbols __flash_size and __ram_size. --diff shows the
changes since another run.
"""

import argparse
import csv
import sys

sys.dont_write_bytecode = True
import elf  # noqa: E402

COLUMNS = ["text", "data", "bss", "stack", "flash_used", "flash_total", "ram_used", "ram_total"]


class SizeError(Exception):
    pass


def measure(path):
    image = elf.Elf(path)
    row = dict.fromkeys(COLUMNS, 0)
    stack_section = False
    for section in image.sections:
        if not section.flags & elf.SHF_ALLOC:
            continue
        if section.name.startswith(".stack"):
            stack_section = True
            row["stack"] += section.size
        elif section.kind == elf.SHT_NOBITS:
            row["bss"] += section.size
        elif section.flags & elf.SHF_WRITE:
            row["data"] += section.size
        else:
            row["text"] += section.size
    if not stack_section:
        row["stack"] = image.value("__stack_size")
    row["flash_used"] = row["text"] + row["data"]
    row["flash_total"] = image.value("__flash_size")
    row["ram_used"] = row["data"] + row["bss"] + row["stack"]
    row["ram_total"] = image.value("__ram_size")
    return row


def print_columns(rows):
    """Prints a table; the first column is aligned to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])]
                        + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())


def print_table(sizes):
    def share(row, kind):
        used, total = row[kind + "_used"], row[kind + "_total"]
        return "%d of %d" % (used, total), "%.1f%%" % (100.0 * used / total) if total else "-"

    rows = [["board", "text", "data", "bss", "stack", "flash", "", "RAM", ""]]
    for board, row in sizes.items():
        rows.append([board] + [str(row[c]) for c in COLUMNS[:4]]
                    + list(share(row, "flash")) + list(share(row, "ram")))
    print_columns(rows)


def write_csv(path, sizes):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["board"] + COLUMNS)
        for board, row in sizes.items():
            out.writerow([board] + [row[c] for c in COLUMNS])


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    if not rows or rows[0] != ["board"] + COLUMNS:
        raise SizeError("%s:1: expected the header board,%s as size.py --csv writes it"
                        % (path, ",".join(COLUMNS)))
    sizes = {}
    for number, row in enumerate(rows[1:], 2):
        try:
            if len(row) != len(COLUMNS) + 1:
                raise ValueError
            sizes[row[0]] = dict(zip(COLUMNS, [int(cell) for cell in row[1:]]))
        except ValueError:
            raise SizeError("%s:%d: expected a board and %d whole numbers"
                            % (path, number, len(COLUMNS)))
    return sizes


def print_diff(old, new, path):
    print("\nmoved since %s:" % path)
    rows = []
    for board in list(dict.fromkeys(list(old) + list(new))):
        if board not in new:
            rows.append([board, "not measured now", "", "", ""])
        elif board not in old:
            rows.append([board, "new", "", "", ""])
        else:
            for column in COLUMNS:
                before, after = old[board][column], new[board][column]
                if before != after:
                    change = "%+.1f%%" % (100.0 * (after - before) / before) if before else "new"
                    rows.append([board + " " + column, str(before), "-> " + str(after),
                                 "%+d" % (after - before), change])
    if rows:
        print_columns(rows)
    else:
        print("nothing")


def main():
    parser = argparse.ArgumentParser(description="code and RAM of the firmware per board")
    parser.add_argument("image", nargs="+", metavar="BOARD:ELF")
    parser.add_argument("--csv", metavar="FILE", help="write the numbers to FILE")
    parser.add_argument("--diff", metavar="OLD.csv", help="show what moved since OLD.csv")
    args = parser.parse_args()
    try:
        # The old file is read before --csv writes, because both may be the same file.
        old = read_csv(args.diff) if args.diff else None
        sizes = {}
        for item in args.image:
            board, colon, path = item.partition(":")
            if not colon or not board or not path:
                raise SizeError("%s is not of the form BOARD:ELF" % item)
            sizes[board] = measure(path)
        print_table(sizes)
        if old is not None:
            print_diff(old, sizes, args.diff)
        if args.csv:
            write_csv(args.csv, sizes)
    except (SizeError, elf.ElfError) as e:
        print("size: %s" % e, file=sys.stderr)
        return 1
    except OSError as e:
        print("size: %s: %s" % (e.filename, e.strerror), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
