"""Measures every operation on about 10⁶ elements: ours beside NumPy, or PyTorch where NumPy has no equivalent.

Use Benchmarks/operations, which builds what this needs.  For each operation a model of that operation alone is made
with coremltools, and both sides are measured in turn.  Our time is that of a whole prediction: the input is read where
it lies, the output is allocated anew, as NumPy and PyTorch do.  PyTorch and we use `--threads` threads, and so does
NumPy in matrix products; its other functions use one.  Prints one Markdown row for each operation, then those that are
slower than their peer.  What is near its peer, or above it, is measured a second time over more turns, and the second
figure counts, whichever it is.  The first results of both sides are compared.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

LEAST = 3           # calls of a turn
NEAR = 0.9          # ratios above this are measured a second time, which counts
AGAIN = 5           # times as many turns of each side as the first time


def model_of(case, folder, program=None, suffix=""):
    """The model file of a case, made when it is not there."""
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types
    path = folder / (re.sub(r"[^\w]+", "-", case.name) + suffix + ".mlpackage")
    if path.exists():
        return path
    kinds = {"float32": types.fp32, "int32": types.int32}
    specs = [mb.TensorSpec(array.shape, kinds[array.dtype.name]) for array in case.inputs]
    program = mb.program(input_specs=specs, opset_version=ct.target.iOS18)(
        named(program or case.program, len(specs)))
    ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18, skip_model_load=True,
        compute_precision=ct.precision.FLOAT32, pass_pipeline=ct.PassPipeline.EMPTY).save(str(path))
    return path


def named(function, count):
    """`function` with exactly the parameters in0, in1, …: those of lambdas with bound defaults are no inputs."""
    names = ", ".join(f"in{index}" for index in range(count))
    return eval(f"lambda {names}: function({names})", {"function": function})  # noqa: S307 (a fixed text)


def arrays_of(result):
    import numpy as np
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(part) for part in parts]


def difference(case, model, options, files, scratch):
    """Empty, or what is wrong with our results."""
    import numpy as np
    target = scratch / "result.npz"
    command = [options.coreml, "predict", model, "--output", target]
    for feature, path in files.items():
        command += ["--input", f"{feature}={path}"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:120]
    with np.load(target) as ours:
        found = [ours[key] for key in ours]
    if case.loose or case.side == "fp16":
        return ""
    wanted = arrays_of(case.prepared()())
    for array in wanted:
        close = any(
            part.size == array.size         # one element stands for a scalar
            and np.allclose(part.reshape(array.shape), array, rtol=2e-3, atol=2e-3, equal_nan=True) for part in found)
        if not close:
            return "differs from the peer"
    return ""


def rest():
    """Waits until this process's threads have come to rest: OpenBLAS's spin for a tenth of a second after a product, on
    the processor that the other side needs."""
    used = -1
    while time.process_time() - used > 0.0005:
        used = time.process_time()
        time.sleep(0.01)


def measure(case, options, folder, scratch, rounds):
    """The row of a case: medians over `rounds` turns of each side, which alternate."""
    import numpy as np

    import sides
    model, files = model_of(case, folder), {}
    for index, array in enumerate(case.inputs):
        files[f"in{index}"] = scratch / f"in{index}.npy"
        np.save(files[f"in{index}"], array)
    wrong = difference(case, model, options, files, scratch) if options.check else ""
    ours = sides.coreml(options.coreml, model, files, options.threads)
    if case.side == "fp16":
        other = sides.coreml(options.coreml, model_of(case, folder, case.peer, "-fp16"), files, options.threads)
        run_peer, peer_clock = other.run, other.processor_time
    else:
        other, peer, peer_clock = None, case.prepared(), time.process_time

        def run_peer(count):
            measured = []
            for _ in range(count):
                started = time.perf_counter()
                peer()
                measured.append((time.perf_counter() - started) * 1e3)
            return measured

    parties, counts, results = {"ours": ours.run, "peer": run_peer}, {}, {"ours": [], "peer": []}
    clocks, spent = {"ours": ours.processor_time, "peer": peer_clock}, {"ours": [], "peer": []}
    for name, run in parties.items():
        run(1)
        once = min(run(2)) / 1e3
        counts[name] = max(LEAST, min(2000, round(options.seconds / once)))
    for turn in range(rounds):
        for name in list(parties)[:: 1 if turn % 2 == 0 else -1]:
            rest()
            before = clocks[name]()
            results[name] += parties[name](counts[name])
            spent[name].append((clocks[name]() - before) / counts[name] * 1e3)
    memory = ours.peak_memory()
    for side in (ours, other):
        if side:
            side.close()
    ours, peer = statistics.median(results["ours"]), statistics.median(results["peer"])
    our_time, peer_time = statistics.median(spent["ours"]), statistics.median(spent["peer"])
    return {"operation": case.name, "peer": case.side, "ours_ms": ours, "peer_ms": peer, "ratio": ours / peer,
            "least_ratio": min(results["ours"]) / min(results["peer"]), "ours_processor_ms": our_time,
            "peer_processor_ms": peer_time, "processor_ratio": our_time / peer_time, "memory": memory, "wrong": wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only operations whose names contain one of these")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side, at first")
    parser.add_argument("--seconds", type=float, default=0.03, help="length of a turn")
    parser.add_argument("--models", type=pathlib.Path, help="keep the models in this folder (default: a scratch one)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--again", action="store_true", help="measure every operation with many turns, not only those near 1")
    parser.add_argument("--no-check", dest="check", action="store_false", help="do not compare results")
    parser.add_argument("--coreml", required=True, type=pathlib.Path, help="the command-line program")
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    warnings.filterwarnings("ignore")
    import logging
    logging.disable(logging.WARNING)
    import torch

    import operation_cases
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    rows = []
    if not options.json:
        print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors, {options.threads} threads\n\n"
              "| operation | peer | ours ms | peer ms | ratio | ratio of least | of processor time | |\n"
              "|---|---|---:|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = options.models or scratch
        folder.mkdir(parents=True, exist_ok=True)
        for case in operation_cases.CASES:
            if options.patterns and not any(pattern in case.name for pattern in options.patterns):
                continue
            try:
                row = None if options.again else measure(case, options, folder, scratch, options.rounds)
                if not row or row["ratio"] > NEAR:
                    row = measure(case, options, folder, scratch, options.rounds * AGAIN)
            except (Exception, SystemExit) as error:  # a case that cannot be made is a row of the table too
                text = str(error).strip().splitlines()
                row = {"operation": case.name, "peer": case.side, "wrong": text[-1][:120] if text else repr(error)}
            rows.append(row)
            if not options.json and "ratio" in row:
                print(f"| {row['operation']} | {row['peer']} | {row['ours_ms']:.3f} | {row['peer_ms']:.3f} "
                      f"| {row['ratio']:.2f} | {row['least_ratio']:.2f} | {row['processor_ratio']:.2f} | {row['wrong']} |",
                      flush=True)
            elif not options.json:
                print(f"| {row['operation']} | {row['peer']} | | | | | | {row['wrong']} |", flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    slow = sorted((row for row in rows if row.get("ratio", 0) > 1), key=lambda row: -row["ratio"])
    print(f"\n{len(rows)} operations, {len(slow)} slower than their peer, "
          f"{sum(bool(row['wrong']) for row in rows)} wrong or not measured")
    for row in slow:
        print(f"  {row['ratio']:8.2f}  {row['operation']}")
    sys.exit(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
