#!/usr/bin/env python3
"""Runs an emulator command, shows its console and ends it when a line matches.

usage: emulate.py [--until REGEX] [--timeout SECONDS] -- COMMAND...

Exit 0 when the line came, 1 when the emulator ended or the time was up before it.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import threading


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", default=None, help="stop after the first line that matches")
    parser.add_argument("--timeout", type=float, default=60, help="seconds to wait at most")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()

    process = subprocess.Popen(args.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               start_new_session=True)

    def stop():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    timed_out = threading.Event()

    def give_up():
        timed_out.set()
        stop()

    timer = threading.Timer(args.timeout, give_up)
    timer.start()
    found = args.until is None
    try:
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            print(line, flush=True)
            if args.until is not None and re.search(args.until, line):
                found = True
                break
    except KeyboardInterrupt:
        pass
    finally:
        timer.cancel()
        stop()
        process.wait()
    if not found:
        why = f"nothing matched within {args.timeout:g} s" if timed_out.is_set() else \
            "the emulator ended before a line matched"
        print(f"emulate.py: {why}: {args.until}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
