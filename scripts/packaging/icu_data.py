#!/usr/bin/env python3
"""scripts/packaging/icu_data.py OBJECT OUTPUT KEEP...: copies the part of ICU's data that a library needs into an assembler file.

OBJECT is an object file with ICU's data in its section .rodata, under a symbol icudt<version>_dat. KEEP are patterns of
the items that are kept, as a shell's: `brkitr/*`, `*.res`, which fits no item in a folder. OUTPUT is a source in assembler, for any processor, that
defines the same symbol with those items only; the data lies beside it, with the ending .dat. A pattern that fits no item
is an error.
"""
import fnmatch
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ALIGNMENT = 16
"""Items start at multiples of it, as ICU's own tools lay them."""


def data_of(object_file):
    """The symbol of the data, and the data."""
    symbols = subprocess.run(["nm", object_file], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"^(0+) R (icudt\d+_dat)$", symbols, re.MULTILINE)
    if not found:
        sys.exit(f"{object_file}: no data of ICU at the start of .rodata (a symbol icudt<version>_dat)")
    with tempfile.NamedTemporaryFile() as section:
        subprocess.run(
            ["objcopy", "-O", "binary", "--only-section=.rodata", object_file, section.name], check=True)
        return found[2], pathlib.Path(section.name).read_bytes()


def items_of(data):
    """The header, the prefix of the names and the items by name of a package of ICU's format CmnD 1."""
    header, magic, kind = struct.unpack_from("<H", data)[0], data[2:4], data[12:16]
    if magic != b"\xda\x27" or kind != b"CmnD":
        sys.exit("the data is no little-endian package of ICU (format CmnD)")
    body = data[header:]
    count = struct.unpack_from("<I", body)[0]
    entries = [struct.unpack_from("<II", body, 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in entries[1:]] + [len(body)]
    items = {}
    for (name, start), end in zip(entries, ends):
        full = body[name:body.index(b"\0", name)].decode()
        prefix, _, short = full.partition("/")
        items[short] = body[start:end]
    return data[:header], prefix, items


def package_of(header, prefix, items):
    """The package with `items`, sorted by name as ICU's binary search needs it."""
    names = sorted(items)
    table = 4 + 8 * len(names)
    text, offsets = b"", []
    for name in names:
        offsets.append(table + len(text))
        text += f"{prefix}/{name}".encode() + b"\0"
    body, starts = bytearray(text), []
    for name in names:
        # The header's length is a multiple of the alignment, so that offsets after it are those of the file.
        body += b"\xaa" * (-(table + len(body)) % ALIGNMENT)
        starts.append(table + len(body))
        body += items[name]
    entries = b"".join(struct.pack("<II", *entry) for entry in zip(offsets, starts))
    return header + struct.pack("<I", len(names)) + entries + bytes(body)


def fits(name, pattern):
    """Whether a pattern fits, part by part, so that `*` fits no slash."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    object_file, output, patterns = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    symbol, data = data_of(object_file)
    header, prefix, items = items_of(data)
    kept = {}
    for pattern in patterns:
        found = {name: item for name, item in items.items() if fits(name, pattern)}
        if not found:
            sys.exit(f"{object_file}: no item fits {pattern}; this release of ICU may name it otherwise")
        kept.update(found)
    binary = output.with_suffix(".dat")
    binary.write_bytes(package_of(header, prefix, kept))
    output.write_text(f"""\
    .section .rodata
    .balign {ALIGNMENT}
    .globl {symbol}
    .hidden {symbol}
    .type {symbol}, %object
{symbol}:
    .incbin "{binary}"
    .size {symbol}, . - {symbol}
    .section .note.GNU-stack, "", %progbits
""")


if __name__ == "__main__":
    main()
