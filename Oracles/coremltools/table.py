"""Documentation/Conformance.md: a row for each group, and the reasons of what is expected to fail."""
import collections
import datetime

import judge

HEAD = """\
# coremltools' tests with this runtime

`Oracles/coremltools/check` runs the tests that coremltools 9.0 ships in its wheel; each builds a model, predicts, and compares
with PyTorch, NumPy, scikit-learn, XGBoost or TensorFlow.

- *Sample* is one case of each test function and backend, *all* every case; a fraction is chosen by hash.
- Tests that do not reach a prediction check only the conversion, or are skipped by the suite.
- Where the suite requires 1e-5 of float16 results, the tolerance is one unit in the last place (four where a recurrence without gates
  propagates the rounding of inputs).
- [Oracles/coremltools/expected-failures](../Oracles/coremltools/expected-failures) lists every failure with its reason; a new failure, and
  a listed test that passes, are errors.

"""
COLUMNS = "| group | tests of | cases | collected | run | reach a prediction | passed | skipped | failed, all expected | run on |"
RULE = "|---|---|---|---:|---:|---:|---:|---:|---:|---|"
REASONS = "\n## Expected failures\n\n| group | lines | reason |\n|---|---:|---|\n"


def rows(path, columns):
    """The rows of the table below the line `columns`, as lists of cells."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    if columns not in lines:
        return []
    found = []
    for line in lines[lines.index(columns) + 2:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def write(path, lists, groups, verdicts, cases):
    """Replaces the rows of the groups in `verdicts` (name → verdict) that ran `cases`; reasons are those of `lists`."""
    kept = [row for row in rows(path, COLUMNS) if not (row[0] in verdicts and row[2] == cases[row[0]])]
    for name, verdict in verdicts.items():
        kept.append([str(cell) for cell in (
            name, groups[name].meaning, cases[name], len(verdict.collected), len(verdict.ran), len(verdict.reached),
            len(verdict.passed), len(verdict.ran) - len(verdict.passed) - len(verdict.failed), len(verdict.failed),
            datetime.date.today().isoformat())])
    order = list(groups)
    kept.sort(key=lambda row: (order.index(row[0]), row[2]))
    table = lambda lines: "".join("| " + " | ".join(line) + " |\n" for line in lines)
    path.write_text(f"{HEAD}{COLUMNS}\n{RULE}\n{table(kept)}{REASONS}{table(reasons(groups, lists))}")


def reasons(groups, lists):
    """Of each list in the folder `lists`: how many lines have which reason."""
    for name in groups:
        counts = collections.Counter(judge.expectations(lists / f"{name}.txt").values())
        for reason, count in counts.most_common():
            yield [name, str(count), reason]
