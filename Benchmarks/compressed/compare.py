"""Compares compressed weights with float16 ones, ONNX Runtime's MatMulNBits and dynamic int8, llama.cpp's Q8_0 and Q4_0
and a plain reading loop: one run, turn by turn.  With one thread, processor time; with more, time on the clock.  Use
Benchmarks/compressed/run, which builds what this needs.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import models  # noqa: E402
import figures  # noqa: E402
import sides  # noqa: E402

PAUSE = 0.03  # seconds between turns: long enough for the other side's workers to stop spinning


def processor_seconds(party):
    """The processor time of a party's threads so far."""
    tasks = pathlib.Path(f"/proc/{party.process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def alternate(parties, rounds, count, threads):
    """`rounds` turns of `count` measurements for every party; all measurements by party, in milliseconds: of one thread the mean
    processor time of each turn."""
    for party in parties.values():
        party.run(3)
    measured = {name: [] for name in parties}
    for turn in range(rounds):
        for name in list(parties)[:: 1 if turn % 2 == 0 else -1]:
            time.sleep(PAUSE)
            before = processor_seconds(parties[name])
            times = parties[name].run(count)
            if threads == 1:
                times = [(processor_seconds(parties[name]) - before) * 1e3 / count]
            measured[name] += times
    return measured


def ours(options, model, inputs, scratch):
    """Our process for a model, with the inputs of an `.npz` file."""
    files = {}
    with np.load(inputs) as arrays:
        for key in arrays:
            files[key[3:]] = scratch / f"{key[3:]}.npy"
            np.save(files[key[3:]], arrays[key])
    return sides.coreml(options.coreml, model, files, options.threads)


def size(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


KEPT = []  # rows of the table that --record keeps: what was measured, its form, its figures


def row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(cells):
    row(cells)
    row(["---"] + ["---:"] * (len(cells) - 1))


def keep(what, name, times, base, memory=""):
    KEPT.append([what, name, f"{statistics.median(times):.2f}", f"{statistics.median(times) / statistics.median(base):.2f}",
                 f"{min(times) / min(base):.2f}", memory])


def tokens(options, scratch):
    """A token of GPT-2 and the peak memory of a process that loads the package and answers."""
    folder = options.models / "gpt2"
    models.token(folder)
    wanted = [name for name in models.forms() if not options.form or name in options.form or name == "float16"]
    parties = {name: ours(options, folder / f"{name}.mlpackage", folder / "step.npz", scratch) for name in wanted}
    measured = alternate(parties, options.rounds, 5, options.threads)
    heading(["GPT-2, one token", "package MB", "median ms", "least ms", "÷ float16 (median)", "(least)", "peak MB"])
    base = measured["float16"]
    for name in wanted:
        times = measured[name]
        row([
            name, round(size(folder / f"{name}.mlpackage") / 1e6), f"{statistics.median(times):.2f}", f"{min(times):.2f}",
            f"{statistics.median(times) / statistics.median(base):.2f}", f"{min(times) / min(base):.2f}",
            round(parties[name].peak_memory() / 1e6),
        ])
        sizes = f"{size(folder / f'{name}.mlpackage') / 1e6:.0f}, {parties[name].peak_memory() / 1e6:.0f}"
        keep("GPT-2, one token", name, times, base, sizes)
    for party in parties.values():
        party.close()


def products(options, scratch, rows, terms, columns):
    folder = options.models / f"{rows}x{terms}x{columns}"
    models.product(folder, rows, terms, columns)
    parties = {name: ours(options, folder / f"{name}.mlpackage", folder / "x.npz", scratch) for name in models.forms()}
    for bits in (4, 8):
        onnx = sides.Side([sys.executable, HERE.parent / "onnx_side.py", folder / f"int{bits}.onnx", folder / "x.npz",
                           options.threads])
        parties[f"ONNX Runtime, int{bits}, blocks of 32"] = onnx
    parties["ONNX Runtime, dynamic int8"] = sides.Side(
        [sys.executable, HERE.parent / "onnx_side.py", folder / "dynamic.onnx", folder / "x.npz", options.threads])
    for form in ["q8_0", "q4_0"] if options.ggml else []:
        parties[f"llama.cpp, {form}"] = sides.Side(
            [sys.executable, HERE / "ggml_side.py", options.ggml, form, rows, terms, columns, options.threads])
    if rows == 1:
        program = scratch / "read"
        subprocess.run(["cc", "-O3", "-march=native", "-pthread", HERE / "read.c", "-o", program], check=True)
        parties["reading loop"] = sides.Side([program, options.threads, terms * columns])
    measured = alternate(parties, options.rounds, 5, options.threads)
    bytes_of = {"float16": 2, "int8": 1, "int4-block32": 0.5625, "palette8": 1, "palette6": 0.75, "palette4": 0.5,
                "palette2": 0.25, "reading loop": 1}
    heading([f"[{rows} × {terms}] · [{terms} × {columns}]", "median ms", "least ms", "÷ float16 (median)", "(least)",
             "GB/s (least)"])
    base = measured["float16"]
    for name, times in measured.items():
        speed = f"{bytes_of[name] * terms * columns / min(times) / 1e6:.1f}" if name in bytes_of else ""
        row([name, f"{statistics.median(times):.3f}", f"{min(times):.3f}",
             f"{statistics.median(times) / statistics.median(base):.2f}", f"{min(times) / min(base):.2f}", speed])
        keep(f"[{rows} × {terms}] · [{terms} × {columns}]", name, times, base, "")
    for party in parties.values():
        party.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coreml", required=True, help="the program `coreml`")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(".cache/compressed"),
                        help="where the models are made and kept")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--form", nargs="*", help="forms of GPT-2 to measure beside float16")
    parser.add_argument("--ggml", type=pathlib.Path, help="the folder of llama.cpp's libggml-base.so and libggml-cpu.so")
    parser.add_argument("--only", choices=["token", "products"])
    parser.add_argument("--record", action="store_true", help="keep the figures in Documentation/Figures/compressed.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        if options.only != "products":
            tokens(options, scratch)
        if options.only != "token":
            for shape in [(1, 4096, 11008), (4, 4096, 11008), (128, 4096, 4096)]:
                print()
                products(options, scratch, *shape)
    if options.record:
        unit = "processor ms" if options.threads == 1 else "ms"
        figures.record(
            "compressed", f"Benchmarks/compressed/run --threads {options.threads} --record",
            ["measured", "weights", f"median {unit}", "÷ float16 (median)", "(least)", "package MB, peak MB"], KEPT,
            figures.versions(["onnxruntime", "coremltools", "numpy"]))


if __name__ == "__main__":
    main()
