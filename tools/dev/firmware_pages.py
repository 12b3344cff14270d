#!/usr/bin/env python3
"""Writes the tables of the pages of firmware/ from the sources, between two marker comments of the page:

    firmware/PARAMETERS.md      every parameter, from firmware/params/parameters.h
    firmware/FAULTS.md          every fault, from firmware/safety/faults.h; how it is provoked, from tools/motion/faults_rows.c,
                                test/system/test_faults.py and the tests of test/firmware/; pages of firmware/symptoms/
                                that name it
    firmware/safety/README.md   states and transitions
    firmware/link/README.md     fields of telemetry, from firmware/control/sample.h
    firmware/params/IMAGE.md    fields, bits, sections and errors, from firmware/params/image.h

    firmware_pages.py           writes them
    firmware_pages.py --check   only compares; exit code 1 if a page is out of date
"""
import glob
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True
from protocol_doc import rows, table  # noqa: E402

WIDTH = 158


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wrap(text, rest=""):
    """Wraps text to lines of at most WIDTH characters; does not break links and code."""
    whole = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda part: part.group().replace(" ", "\0"), text)
    return textwrap.fill(whole, WIDTH, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def number(text):
    """Writes a C number as a person would write it."""
    value = float(text.rstrip("f"))
    return f"{value:,.0f}" if value == int(value) and abs(value) >= 1000 and abs(value) < 1e9 else f"{value:.10g}"


def sentence(text):
    text = re.sub(r"(?<!`)\b(?:kp|kd|[a-z]+(?:_[a-z]+)+)\b(?!`)", lambda name: f"`{name.group()}`", text)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


# ------------------------------------------------------------------------------------------------- parameters

def parameters():
    """Returns {subject: [row of the table, ...]} in order. A comment in the C table starts a new
    subject."""
    text = read("firmware/params/parameters.h")
    subjects = {}
    for name in ("PARAMETER_ONE_TABLE", "PARAMETER_JOINT_TABLE"):
        body = re.search(r"#define %s\(X\)((?:.*\\\n)*.*\n)" % name, text).group(1)
        for subject, part in re.findall(r"/\* (.*?)\. \*/(.*?)(?=/\*|\Z)", body.replace("\\\n", " "), re.S):
            lab = re.findall(r"LAB_X\(\s*X,\s*(\w+)", part)
            part = re.sub(r"LAB_X\(\s*X,", "X(", part)
            found = table("#define T(X) " + part + "\n", "T")
            assert found, f"{subject} has no parameters"
            subjects.setdefault(subject, []).extend(entry + [entry[0] in lab] for entry in found)
    return subjects


def parameter_row(entry):
    name, shape, when, unit, least, most, default, key, help_text, lab = entry
    default = number(default)
    return [f"`{name}`" + (" (joint)" if shape == "JOINT" else "") + (" (lab)" if lab else ""),
            unit.replace("|", " or ") or "-", f"{number(least)} .. {number(most)}", default,
            "idle" if "IDLE" in when else "any; weaker idle" if re.search("UP|DOWN", when) else "any", f"`{key}`" if key else "-", sentence(help_text)]


def parameters_text():
    out = []
    for subject, entries in parameters().items():
        lines, notes = [], []
        for entry in entries:
            cells = parameter_row(entry)
            if len(" | ".join(cells)) + 4 > WIDTH:
                notes.append(wrap(f"- `{entry[0]}`: {cells[-1]}", "  "))
                cells[-1] = "See below."
            lines.append(cells)
        out += ["", f"## {subject}", rows("parameter | unit | range | default | when | robot file | what it does", lines)]
        out += [""] + notes if notes else []
    return "\n".join(out[1:])


# ----------------------------------------------------------------------------------------------------- faults

def anchor(entry):
    return f"{entry[0]}-{entry[2].replace(' ', '-')}"


def defects():
    return {name: int(n) for n, name in re.findall(r"X\((\d+), (\w+)", read("firmware/lab/defects.h"))}


def provoked():
    """Returns {NAME, number or text of the fault: how it is provoked}: names from the rows of
    `make faults`, numbers from the docstrings of test_faults.py. What neither has is in a test of
    the firmware on the host, by name or by text: the emulated boards have no motors and encoders."""
    out, numbers = {}, defects()
    body = re.search(r"faults_row\[\] = \{(.*?)\n\};", read("tools/motion/faults_rows.c"), re.S).group(1)
    for part in re.split(r"(?=\{\.how = )", body)[1:]:
        fault = re.search(r"\.fault = APP_FAULT_(\w+)", part)
        if not fault or ".latch" in part:  # what the hardware finds is provoked with its register models
            continue
        how = re.search(r'\.how = "(.*?)"', part).group(1)
        defect = re.search(r"\.defect = DEFECT_(\w+)", part)
        sets = ([("sim_defect", numbers[defect.group(1)])] if defect else []) + \
            [(name, number(value)) for name, value in re.findall(r'\{"(\w+)", ([-\d.e]+)f?\}', part)]
        out.setdefault(fault.group(1), f"`make faults` ({how}" + ("".join(f", `{name}` {value}" for name, value in sets)) + ")")
    test = read("test/system/test_faults.py")
    for doc, n in re.findall(r'def test_\w+\(folder\):\n    """((?:(?!""").)*)"""(?:(?!\ndef ).)*?expect\(board, (\d+)', test, re.S):
        out[int(n)] = f"`make test TEST=faults BOARD=host` ({' '.join(doc.split()).rstrip('.')})"
    for path in sorted(glob.glob("test/firmware/*/test_*.c")):
        name, text = os.path.basename(path)[len("test_"):-len(".c")], read(path)
        arm = "the simulated arm" if "sim_arm" in text or "support/control_arm.h" in text else "inputs of a real arm, without hardware"
        for fault in re.findall(r"\bAPP_FAULT_(\w+)", text) + re.findall(r'\{"([^"]+)", APP_STOP_', text):
            out.setdefault(fault, f"`make test TEST={name} BOARD=host` ({arm})")
    return out


def symptoms():
    """Returns {anchor of a fault: links to the symptom pages that name it}."""
    out = {}
    for path in sorted(glob.glob("firmware/symptoms/*.md")):
        text = read(path)
        title = re.match(r"# (.*)", text).group(1)
        for target in dict.fromkeys(re.findall(r"\(\.\./FAULTS\.md#([\w-]+)\)", text)):
            out.setdefault(target, []).append(f"[{title}](symptoms/{os.path.basename(path)})")
    return out


def faults_text():
    text = read("firmware/safety/faults.h")
    entries = [entry for entry in table(text, "APP_FAULT_TABLE") if entry[0] != "0"]
    units = {name: (unit, other) for name, unit, other in table(read("firmware/control/sample.h"), "QUANTITY_TABLE")}
    stops = {entry[1]: entry[2] for entry in table(text, "APP_STOP_TABLE")}
    how, pages = provoked(), symptoms()
    lost = set(pages) - {anchor(entry) for entry in entries}
    assert not lost, f"firmware/symptoms/ names faults that there are not: {lost}"
    out = [rows("number | fault | best stop | value and limit in",
                [[n, f"[{name}](#{anchor(e)})", stops[stop], " or ".join(dict.fromkeys(filter(None, units[quantity]))) or "-"]
                 for e in entries for n, _, name, quantity, stop, _, _ in [e]])]
    for entry in entries:
        n, key, name, _, stop, cause, cure = entry
        out += ["", f"## {n} {name}", wrap(f"- **Cause**: {sentence(cause)}", "  "), wrap(f"- **Cure**: {sentence(cure)}", "  "),
                f"- **Best stop**: {stops[stop]}.", wrap(f"- **Provoked by**: {how.get(int(n)) or how.get(key) or how[name]}.", "  ")]
        if anchor(entry) in pages:
            out.append(wrap(f"- **See also**: {', '.join(pages[anchor(entry)])}.", "  "))
    return "\n".join(out)


# ----------------------------------------------------------------------------------------- tables of other pages

def must_be(text, kind):
    """Says what a reader accepts of a number, from the column `range` of an IMAGE_..._FIELDS table."""
    kind, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", kind).groups()
    if kind == "LIKE":
        entry = next(e for entries in parameters().values() for e in entries if e[0] == arguments)
        if "SIGN" in entry[2]:
            return "1 or -1"
        kind, arguments = "WHOLE" if "WHOLE" in entry[2] else "FROM", f"{entry[4]},{entry[5]}"
    if kind == "ANGLE":
        most = re.search(r"#define IMAGE_ANGLE_MOST (\S+)", text).group(1)
        return f"angle, -{number(most)} .. {number(most)}"
    least, most = map(number, arguments.split(","))
    return least if least == most else f"{least} .. {most}" + (", whole" if kind == "WHOLE" else "")


def fields(text, macro, offset):
    """Returns the rows of an IMAGE_..._FIELDS table, with the offset of each field."""
    lines = []
    for entry in table(text, macro):
        name, count, unit, kind, help_text = entry if len(entry) == 5 else (entry[0], "1", entry[1], None, entry[2])
        lines.append([str(offset), name, "f32" if count == "1" else f"f32 x {count}", unit or "-",
                      must_be(text, kind) if kind else "-", help_text])
        offset += 4 * int(count)
    return rows("offset | name | type | unit | must be | what", lines)


def sample_fields(text):
    """Returns the telemetry fields, in the order of their numbers."""
    units = {name: " or ".join(dict.fromkeys(filter(None, (unit, other)))) for name, unit, other in table(text, "QUANTITY_TABLE")}
    return rows("number | field | values | unit | what it is",
                [[str(n), f"`{name}`", "one" if shape == "ONE" else "one for each joint", units[quantity] or "-", help_text]
                 for n, (name, shape, quantity, help_text) in enumerate(table(text, "SAMPLE_TABLE"))])


def bits(text, prefix):
    """Lists the bits of an enum PREFIX_NAME = 1 << n in one sentence."""
    found = re.findall(r"\b%s_(?!ALL\b)(\w+) = 1 << (\d+)" % prefix, text)
    return wrap("Bit " + "; ".join(f"{n} {name.lower()}" for name, n in found) + ".")


def blocks():
    faults, image = read("firmware/safety/faults.h"), read("firmware/params/image.h")
    states = [e[2] for e in table(faults, "APP_STATE_TABLE")]
    name_of = {e[1]: e[2] for e in table(faults, "APP_STATE_TABLE")}
    after = {}
    for source, event, to in table(faults, "APP_TRANSITION_TABLE"):
        after.setdefault(event, {})[name_of[source]] = name_of[to]
    events = [[what] + [after[event].get(state, "") for state in states]
              for event, what in table(faults, "APP_EVENT_TABLE") if event in after]
    return {
        "firmware/PARAMETERS.md": {"PARAMETERS": parameters_text()},
        "firmware/FAULTS.md": {"FAULTS": faults_text()},
        "firmware/safety/README.md": {
            "STATES": rows("state | what the board does", [[f"`{text}`", does] for _, _, text, does in table(faults, "APP_STATE_TABLE")]),
            "TRANSITIONS": rows("event | " + " | ".join(f"from {state}" for state in states), events),
        },
        "firmware/link/README.md": {"FIELDS": sample_fields(read("firmware/control/sample.h"))},
        "firmware/params/IMAGE.md": {
            "IMAGE_HAS": bits(image, "IMAGE_HAS"),
            "IMAGE_ARM": fields(image, "IMAGE_ARM_FIELDS", 32),
            "IMAGE_JOINT": fields(image, "IMAGE_JOINT_FIELDS", 12),
            "IMAGE_JOINT_HAS": bits(image, "IMAGE_JOINT_HAS"),
            "IMAGE_SECTIONS": rows("tag | content", [[f"`{e[0]}`", e[-1]] for e in table(image, "IMAGE_SECTION_TABLE")]),
            "IMAGE_BEAM": fields(read("firmware/params/image_flex.h"), "IMAGE_BEAM_FIELDS", 4),
            "IMAGE_ERRORS": rows("number | name | text | cure", [[n, f"`{name}`", cause, cure]
                                                                 for n, name, cause, cure in table(image, "IMAGE_ERROR_TABLE")]),
        },
    }


def made():
    """Returns {path: text that the page should have}."""
    out = {}
    for path, parts in blocks().items():
        text = read(path)
        for name, content in parts.items():
            begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
            assert text.count(begin) == 1 == text.count(end), f"{path}: the place {begin} ... {end} must be there once"
            text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _, c=content: f"{begin}\n{c}\n{end}", text, flags=re.S)
        out[path] = text
    return out


def main():
    old = 0
    for path, text in made().items():
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif read(path) != text:
            print(f"{path} is not what the tables of the firmware say: make pages")
            old = 1
    return old


if __name__ == "__main__":
    sys.exit(main())
