"""The main program of test scripts: runs the tests of a module and prints the lines that
tools/dev/runtests.py reads."""
import os
import re
import sys
import tempfile
import time
import traceback


class Skip(Exception):
    """Raised by a test that cannot run here, with the reason."""


def told(error):
    """Returns an error as one line: file and line, and its message, or the source line if it has no
    message."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    words = str(error) if str(error) else frame.line
    return f"{os.path.basename(frame.filename)}:{frame.lineno}: {type(error).__name__}: {words}"


def main(names):
    """Runs the tests among the names of a module, each in its own folder; the second argument of
    the script is a pattern for their names. SCRIPT_PART=2/3 in the environment runs every third
    test from the second on, so that each test is in one of the three parts. Returns the exit code.
    It is an error if no test runs."""
    tests = [value for name, value in names.items() if name.startswith("test_") and callable(value)]
    if len(sys.argv) > 2:
        tests = [test for test in tests if re.search(sys.argv[2], test.__name__)]
    # Removed from the environment, because a test may start another script.
    part, parts = map(int, os.environ.pop("SCRIPT_PART", "1/1").split("/"))
    tests = tests[part - 1::parts]
    failures = ignored = 0
    for test in tests:
        name, line, file = test.__name__, test.__code__.co_firstlineno, test.__code__.co_filename
        print(f"RUN {name}", flush=True)
        started = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as folder:
                # Virtual boards and shared ports of one test are not those of another, or of a user.
                os.environ["XDG_RUNTIME_DIR"] = os.environ["XDG_STATE_HOME"] = folder
                test(folder)
            print(f"{file}:{line}:{name}:PASS", flush=True)
            print(f"took {time.monotonic() - started:.1f} s", flush=True)
        except Skip as reason:
            ignored += 1
            print(f"{file}:{line}:{name}:IGNORE: {reason}", flush=True)
        except Exception as error:  # after any error the remaining tests still run
            failures += 1
            print(f"{file}:{line}:{name}:FAIL: {' '.join(told(error).split())[:1500]}", flush=True)
    print(f"\n-----------------------\n{len(tests)} Tests {failures} Failures {ignored} Ignored")
    print("OK" if failures == 0 else "FAIL")
    return 1 if failures or not tests else 0
