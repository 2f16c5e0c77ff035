"""Runs the zoo through this runtime and compares with PyTorch's answers.

    check.py --coreml PROGRAM | --package --zoo FOLDER [--table FILE] [NAME …]

Prints one Markdown row for every network and form; with --table also writes the document, in which the rows of networks
that are not named stay as they were recorded.  Ends with status 1 when a row is out of its bounds.

Errors are relative to the range of the output (greatest minus least value that PyTorch gives).  Bounds of the float32
forms: 1e-4 for the worst element, 1e-5 for the median one.  Of the float16 forms: three times the move that rounding
nothing but the weights to float16 makes in PyTorch, and 2⁻¹⁰ for the rounding of the rest.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from measures import SET_SHARE, errors, matched

FORMS = ("model.fp32.mlpackage", "model.fp16.mlpackage", "model.mlmodel")
LABELS = {"model.fp32.mlpackage": "ML program, float32", "model.fp16.mlpackage": "ML program, float16",
          "model.mlmodel": "neural network"}
LARGEST, MEDIAN = 1e-4, 1e-5
HALF_ROUNDING = 2.0 ** -10
DETECTIONS_HALF = 0.02          # at least, where boxes survive or not by their scores
HEADING = """\
| network | form | largest error | bound | median error | verdict | seconds |
|---|---|---:|---:|---:|---|---:|
"""
INTRODUCTION = """\
# Model zoo

Networks with random weights and a fixed seed, made by `Oracles/zoo/make` with PyTorch and coremltools 9.0, run with
`coreml predict` and compared with PyTorch's outputs. `Oracles/zoo/check` writes this table.

- Errors are relative to the range of the output.
- The bounds for float32 are 1e-4 for the largest and 1e-5 for the median error; for float16 they are three times the change that
  rounding only the weights causes in PyTorch, plus 2⁻¹⁰ for the other roundings.
- The detections of `detector`, `ssd`, `ssd_lite` and `mask_rcnn` are matched by their boxes, because their order depends on close
  scores; in float16 the worst 5 % of their values are ignored, the bound is at least 0.02, and one detection (or 2 %) may
  be added or missing.
- Seconds are those of the whole process: loading, planning, one prediction, writing the output.

`Oracles/zoo/decoder` compares a decoder of 0.55 billion parameters, with states and four-bit weights, in the same way.

"""


def run(program, model, reference, scratch, *options):
    """The outputs of one prediction and the seconds it took; raises with the program's words when it failed."""
    command = [str(program), "predict", str(model), *options]
    for key in reference:
        if key.startswith("in:"):
            path = scratch / f"{key[3:]}.npy"
            np.save(path, reference[key])
            command += ["--input", f"{key[3:]}={path}"]
    answer = scratch / "answer.npz"
    answer.unlink(missing_ok=True)
    started = time.perf_counter()
    done = subprocess.run(command + ["--output", str(answer)], capture_output=True, text=True, timeout=600)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise RuntimeError(words[-1] if words else f"status {done.returncode}")
    with np.load(answer) as arrays:
        return {name: arrays[name] for name in arrays}, seconds


def run_package(_, model, reference, __):
    """The same through the Python package; seconds are those of loading, planning and one prediction."""
    import swift_coreml
    started = time.perf_counter()
    answer = swift_coreml.Model(model).predict({key[3:]: reference[key] for key in reference if key.startswith("in:")})
    return {name: np.asarray(value) for name, value in answer.items()}, time.perf_counter() - started


def check(program, folder, form, facts, scratch):
    """A row: largest error, its bound, median error, verdict, seconds."""
    entry = facts["forms"].get(form, {"missing": "was not made"})
    if "missing" in entry:
        return None, None, None, "not converted: " + entry["missing"], None
    with np.load(folder / "reference.npz") as arrays:
        reference = {key: arrays[key] for key in arrays}
    expected = {key[4:]: value for key, value in reference.items() if key.startswith("out:")}
    half = "fp16" in form
    bound = 3 * (facts["half_effect"] or 0.0) + HALF_ROUNDING if half else LARGEST
    if half and facts["compared_as_sets"]:
        bound = max(bound, DETECTIONS_HALF)
    try:
        given, seconds = (run if program else run_package)(program, folder / form, reference, scratch)
        absent = sorted(set(expected) - set(given))
        if absent:
            raise RuntimeError(f"no output {', '.join(absent)}")
        if facts["compared_as_sets"]:
            allowed = max(1, len(expected["boxes"]) // 50) if half else 0
            given = matched(expected, {name: given[name] for name in expected}, allowed)
        found = [errors(expected[name], given[name]) for name in expected]
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return None, bound, None, f"failed: {' '.join(str(error).split()).replace('|', '/')[:200]}", None
    if half and facts["compared_as_sets"]:
        largest = max(float(np.quantile(one, SET_SHARE)) for one in found)
    else:
        largest = max(float(one.max()) for one in found)
    median = max(float(np.median(one)) for one in found)
    within = largest <= bound and (half or median <= MEDIAN)
    return largest, bound, median, "within" if within else "out of bounds", seconds


def summary(rows):
    within = sum(row.split(" | ")[-2] == "within" for row in rows)
    missing = sum("| not converted: " in row for row in rows)
    return (f"{within} of {len(rows) - missing} rows are within their bounds"
            + (f"; coremltools does not convert {missing} more." if missing else "."))


def write_table(document, rows):
    """Writes the document: these rows, and of other networks those that it holds already."""
    network = lambda row: row.split(" | ")[0]
    written = document.read_text().splitlines(keepends=True) if document.exists() else []
    fresh, kept = {network(row) for row in rows}, []
    for row in written:
        if row.startswith("| ") and not row.startswith("| network ") and network(row) not in fresh:
            kept.append(row)
    rows = sorted(kept + rows, key=network)
    document.write_text(INTRODUCTION + HEADING + "".join(rows) + "\n" + summary(rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    judged = parser.add_mutually_exclusive_group(required=True)
    judged.add_argument("--coreml", type=pathlib.Path)
    judged.add_argument("--package", action="store_true", help="the Python package, without the start of a process for each")
    parser.add_argument("--zoo", required=True, type=pathlib.Path)
    parser.add_argument("--form", choices=FORMS, action="append")
    parser.add_argument("--table", type=pathlib.Path, help="the document to write")
    options = parser.parse_args()
    made = sorted(path.parent.name for path in options.zoo.glob("*/facts.json"))
    rows, bad = [], 0
    print(HEADING, end="")
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.networks or made:
            facts = json.loads((options.zoo / name / "facts.json").read_text())
            for form in options.form or FORMS:
                largest, bound, median, verdict, seconds = check(
                    options.coreml, options.zoo / name, form, facts, pathlib.Path(scratch))
                show = lambda value, style: "" if value is None else format(value, style)
                rows.append(f"| {name} | {LABELS[form]} | {show(largest, '.1e')} | {show(bound, '.1e')} "
                            f"| {show(median, '.1e')} | {verdict} | {show(seconds, '.1f')} |\n")
                print(rows[-1], end="", flush=True)
                bad += verdict != "within" and not verdict.startswith("not converted")
    print("\n" + summary(rows))
    if options.table:
        write_table(options.table, rows)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
