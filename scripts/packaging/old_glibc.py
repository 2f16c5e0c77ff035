#!/usr/bin/env python3
"""scripts/packaging/old_glibc.py FILE NEWEST OUTPUT: lets FILE, a linked program or library, run with glibc NEWEST.

Names the symbols of glibc that FILE asks in a version above NEWEST (for example 2.31), and writes an assembler source that
defines each of them, hidden, as a jump to the newest older version that the machine's glibc has of the function. Linked
with the same objects, it makes the program ask for the old versions only. A symbol without an old version is an error:
glibc.c has to define it.
"""
import pathlib
import re
import subprocess
import sys

JUMP = {
    "x86_64": "    jmp *{old}@GOTPCREL(%rip)",
    "aarch64": "    adrp x16, :got:{old}\n    ldr x16, [x16, :got_lo12:{old}]\n    br x16",
}

BEFORE = {
    # Its fourth argument calls the constructors (main.c), which newer versions of the function find themselves.
    "__libc_start_main": {
        "x86_64": "    leaq coreml_construct(%rip), %rcx",
        "aarch64": "    adrp x3, coreml_construct\n    add x3, x3, :lo12:coreml_construct",
    },
}


def number(version):
    return tuple(map(int, version.split(".")))


def symbols(file):
    """(name, version of glibc, whether it is defined in the file) of each versioned dynamic symbol."""
    text = subprocess.run(["objdump", "-T", file], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        found = re.search(r"\s\(?GLIBC_([0-9.]+)\)?\s+(?:\.hidden )?(\S+)$", line)
        if found:
            yield found[2], found[1], "*UND*" not in line


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    file, newest, output = sys.argv[1], number(sys.argv[2]), pathlib.Path(sys.argv[3])
    machine = subprocess.run(["uname", "-m"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    folder = pathlib.Path("/lib") / f"{machine}-linux-gnu"
    offered = {}
    for library in ("libc.so.6", "libm.so.6"):
        for name, version, defined in symbols(folder / library):
            if defined and number(version) <= newest:
                offered.setdefault(name, []).append(version)
    asked = sorted({name for name, version, defined in symbols(file) if not defined and number(version) > newest})
    missing = [name for name in asked if name not in offered]
    if missing:
        sys.exit(f"{file}: glibc {sys.argv[2]} lacks {', '.join(missing)}; define them in scripts/packaging/glibc.c")
    lines = ["    .text"]
    for name in asked:
        version = max(offered[name], key=number)
        lines += [
            f"    .symver old_{name}, {name}@GLIBC_{version}",
            f"    .globl {name}", f"    .hidden {name}", f"    .type {name}, %function", f"{name}:",
            *([BEFORE[name][machine]] if name in BEFORE else []), JUMP[machine].format(old=f"old_{name}"),
            f"    .size {name}, . - {name}",
        ]
    lines.append('    .section .note.GNU-stack, "", %progbits')
    output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
