#!/usr/bin/env python3
"""Benchmarks/figures.py [--check]: writes the tables of figures on the pages anew from Documentation/Figures.

A file of Documentation/Figures is one table: its command, its date, the machine, the versions of what was compared, columns and
rows.  The commands of Benchmarks write it with --record, and then the pages.  A page has the place of a table between
`<!-- figures NAME -->` and `<!-- end of figures -->`.  --check writes nothing and fails where a page differs.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Documentation/Figures"
PAGES = [*sorted((ROOT / "Documentation").glob("*.md")), ROOT / "Benchmarks/README.md"]
PLACE = re.compile(r"(<!-- figures ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def machine():
    """The processor, the cores this process may use, the memory and the system, in words."""
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^(?:model name|Hardware)\s*:\s*(.+)$", facts, re.MULTILINE)
    vectors = next((label for flag, label in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON"))
                    if re.search(rf"\b{flag}\b", facts)), "no vector extension known")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (f"{name.group(1) if name else platform.machine()}, {vectors}, {len(os.sched_getaffinity(0))} processors, "
            f"{memory:.0f} GiB, Linux {platform.release()}, load {load:.1f} at the end")


def versions(packages, python=sys.executable):
    """This commit, Swift's version and those of the packages of a Python."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    swift = re.search(r"Swift version (\S+)", subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout)
    program = "import importlib.metadata as m, sys; print(*[f'{name} {m.version(name)}' for name in sys.argv[1:]], sep='\\n')"
    peers = subprocess.run([python, "-c", program, *packages], check=True, capture_output=True, text=True).stdout.splitlines()
    return ", ".join([f"commit {commit or 'unknown'}", f"Swift {swift.group(1) if swift else 'unknown'}", *peers])


def record(name, command, columns, rows, compared):
    """Keeps a table and writes the pages anew.  `columns` and `rows` are texts; `compared` is what `versions` returned."""
    FOLDER.mkdir(exist_ok=True)
    table = {"command": command, "measured": datetime.date.today().isoformat(), "machine": machine(), "versions": compared,
             "columns": columns, "rows": rows}
    (FOLDER / f"{name}.json").write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    render()
    print(f"recorded in Documentation/Figures/{name}.json, the pages are written", file=sys.stderr)


def rule(cells):
    """The line below a column's title: columns of words stand to the left, of numbers to the right."""
    words = sum(cell[:1].isalpha() for cell in cells)
    return "---" if 2 * words > len(cells) else "---:"


def markdown(name):
    """The table with its date and machine.  A table without "measured" has only the date at which it was written down."""
    table = json.loads((FOLDER / f"{name}.json").read_text())
    when = f"Measured {table['measured']}" if "measured" in table else f"Written {table['written']}"
    facts = [when, table["machine"], *([table["versions"]] if table["versions"] else []), f"`{table['command']}`"]
    if any(len(row) != len(table["columns"]) for row in table["rows"]):
        sys.exit(f"Documentation/Figures/{name}.json: a row has another number of cells than there are columns")
    rules = ["---", *[rule(column) for column in list(zip(*table["rows"]))[1:]]]
    lines = [table["columns"], rules, *table["rows"]]
    return f"*{' · '.join(facts)}*\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def render(check=False):
    """Writes the pages that differ, or names them."""
    different, used = [], set()
    for page in PAGES:
        text = page.read_text()
        used |= {match.group(2) for match in PLACE.finditer(text)}
        new = PLACE.sub(lambda match: match.group(1) + markdown(match.group(2)) + match.group(3), text)
        if new != text:
            different.append(str(page.relative_to(ROOT)))
            if not check:
                page.write_text(new)
    unused = sorted({path.stem for path in FOLDER.glob("*.json")} - used)
    if unused:
        sys.exit(f"Benchmarks/figures.py: no page has a place for {', '.join(unused)}")
    if check and different:
        sys.exit(f"{', '.join(different)}: the figures differ from Documentation/Figures; run Benchmarks/figures.py")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    render(check=sys.argv[1:] == ["--check"])
