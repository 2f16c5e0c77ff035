"""Compares examples a second with ONNX Runtime and OpenVINO: `run` calls it, `run --help` lists the options.

Every row is a network with batches of some size, or with some number of clients that predict one example after another.  All
sides take turns in one run; `rate` is the examples a second by the clock, `CPU` the milliseconds of processor time of all
threads for an example, on which other processes weigh less.  Figures are medians over the turns; ratios are those of
neighbouring turns: ours ÷ the better peer's for rates, and likewise for processor time.  `p99` is the 99th percentile of a
client's latencies ÷ their median.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import figures
import sides

NETWORKS = ["resnet50", "mobilenet_v2", "bert_128"]
WANTED = 1.1
PAUSE = 0.03        # seconds between turns: long enough for the other side's workers to stop spinning


def ours(options, folder, form, count, scratch):
    with np.load(folder / "inputs.npz") as file:
        one = dict(file)
    command = [options.coreml, "bench", folder / "model.mlpackage", "--interactive", "--threads", options.threads]
    if form == "batch":
        path = scratch / f"{folder.name}-{count}.npz"
        np.savez(path, **{name: np.repeat(value, count, 0) for name, value in one.items()})
        command += ["--batch", path]
    else:
        command += ["--clients", count]
        for name, value in one.items():
            path = scratch / f"{folder.name}-{name}.npy"
            np.save(path, value)
            command += ["--input", f"{name}={path}"]
    return sides.Side(command)


def processor_time(side):
    """The seconds of processor time of a process, threads that have ended included: clients are threads."""
    fields = pathlib.Path(f"/proc/{side.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peer(name, options, folder, form, count):
    return sides.Side([sys.executable, HERE / "peer_side.py", name, folder, options.threads, form, count])


def measure(options, name, form, count, scratch):
    folder = options.models / name
    parties = {"ours": ours(options, folder, form, count, scratch)}
    parties.update({side: peer(side, options, folder, form, count) for side in ("onnx", "openvino")})
    each = count if form == "batch" else 1      # the examples of one measurement
    times, turns, latencies = {}, {side: [] for side in parties}, {side: [] for side in parties}
    for side, party in parties.items():
        party.run(1 if form == "batch" else count)
        started = time.perf_counter()
        party.run(1 if form == "batch" else 2 * count)
        once = (time.perf_counter() - started) / (1 if form == "batch" else 2 * count)
        times[side] = max(1 if form == "batch" else count, round(options.seconds / once))
    for turn in range(options.rounds):
        for side in list(parties)[:: 1 if turn % 2 == 0 else -1]:
            time.sleep(PAUSE)
            used, started = processor_time(parties[side]), time.perf_counter()
            measured = parties[side].run(times[side])
            elapsed, used = time.perf_counter() - started, processor_time(parties[side]) - used
            examples = len(measured) * each
            latencies[side] += measured
            turns[side].append((examples / elapsed, used / examples * 1e3))
    memory = {side: party.peak_memory() for side, party in parties.items()}
    for party in parties.values():
        party.close()
    rates = [own[0] / max(other[0] for other in others) for own, *others in zip(*turns.values())]
    used = [own[1] / min(other[1] for other in others) for own, *others in zip(*turns.values())]
    return {
        "network": name, "form": form, "count": count,
        **{side: {"rate": statistics.median(rate for rate, _ in turn), "cpu": statistics.median(cpu for _, cpu in turn),
                  "least_cpu": min(cpu for _, cpu in turn), "memory": memory[side],
                  "late": float(np.percentile(latencies[side], 99) / np.median(latencies[side]))}
           for side, turn in turns.items()},
        "ratio": statistics.median(rates), "cpu_ratio": statistics.median(used),
        "least_cpu_ratio": min(cpu for _, cpu in turns["ours"]) / min(
            min(cpu for _, cpu in turns[side]) for side in ("onnx", "openvino"))}


def main():
    parser = argparse.ArgumentParser(prog="Benchmarks/throughput/run", description=__doc__)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--coreml", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--models", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--batches", nargs="*", type=int, default=[8, 32], help="sizes of batches")
    parser.add_argument("--clients", nargs="*", type=int, default=[1, 2, 4, 8], help="numbers of clients")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=2, help="length of a turn")
    options = parser.parse_args()
    print("| network | examples | ours /s | ONNX Runtime /s | OpenVINO /s | rate ratio | wanted | CPU ms: ours | ONNX Runtime "
          "| OpenVINO | CPU ratio (of least) | p99: ours, ONNX Runtime, OpenVINO | memory MB |")
    print("|---|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.networks or NETWORKS:
            for form, count in [("batch", size) for size in options.batches] + [("clients", n) for n in options.clients]:
                row = measure(options, name, form, count, pathlib.Path(scratch))
                rows.append(row)
                parties = [row[side] for side in ("ours", "onnx", "openvino")]
                label = f"batch of {count}" if form == "batch" else f"{count} client{'s' if count > 1 else ''}"
                late = ", ".join(f"{party['late']:.1f}" for party in parties) if form == "clients" else ""
                print(f"| {name} | {label} | " + " | ".join(f"{party['rate']:.1f}" for party in parties)
                      + f" | {row['ratio']:.2f} | {WANTED:.2f} {'met' if row['ratio'] >= WANTED else 'missed'} | "
                      + " | ".join(f"{party['cpu']:.1f}" for party in parties)
                      + f" | {row['cpu_ratio']:.2f} ({row['least_cpu_ratio']:.2f}) | {late} | "
                      + ", ".join(f"{party['memory'] / 1e6:.0f}" for party in parties) + " |", flush=True)
    results = HERE.parent / "results"
    results.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    (results / f"throughput-{stamp}.json").write_text(json.dumps({"machine": figures.machine(), "rows": rows}, indent=1))


main()
