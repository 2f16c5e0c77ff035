"""Compares networks whose weights and activations are int8 with their float forms, ONNX Runtime's QDQ int8 and OpenVINO's
int8 of the same: one run, turn by turn, processor time of all threads.  Use Benchmarks/quantised/run, which builds what
this needs.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402
import sides  # noqa: E402

NETWORKS = ["resnet50", "bert_128"]
PAUSE = 0.03        # seconds between turns: long enough for the other side's workers to stop spinning


def parties_of(options, folder, scratch):
    """Name → process."""
    inputs, reference = sides.inputs_of(folder, scratch), folder / "reference.npz"
    onnx, openvino = HERE.parent / "onnx_side.py", HERE.parent / "openvino_side.py"
    parties = {"ours, int8": sides.coreml(options.coreml, folder / "w8a8.mlpackage", inputs, options.threads)}
    if options.baseline:
        parties["ours before, int8"] = sides.coreml(
            options.baseline, folder / "w8a8.mlpackage", inputs, options.threads)
    parties["ours, float"] = sides.coreml(options.coreml, folder / "float.mlpackage", inputs, options.threads)
    for name, file in (("int8", "int8.onnx"), ("float32", "model.onnx")):
        parties[f"ONNX Runtime, {name}"] = sides.Side(
            [sys.executable, onnx, folder / file, reference, options.threads])
        parties[f"OpenVINO, {name}"] = sides.Side(
            [sys.executable, openvino, folder / file, reference, options.threads, scratch / f"{folder.name}-{name}"])
    return parties


def measure(parties, options):
    """Processor milliseconds of a prediction: for each party the mean of every turn."""
    measured = {name: [] for name in parties}
    counts = {}
    for name, party in parties.items():
        party.run(2)
        counts[name] = max(1, round(options.seconds * 1e3 / statistics.median(party.run(3))))
    for turn in range(options.rounds):
        for name in list(parties)[:: 1 if turn % 2 == 0 else -1]:
            time.sleep(PAUSE)
            started = parties[name].processor_time()
            parties[name].run(counts[name])
            measured[name].append((parties[name].processor_time() - started) * 1e3 / counts[name])
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS, help="networks of the zoo")
    parser.add_argument("--coreml", required=True, help="the program `coreml`")
    parser.add_argument("--baseline", help="another build of it, measured beside")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(".cache/quantised"),
                        help="where the models are made and kept")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn")
    parser.add_argument("--record", action="store_true", help="keep the figures in Documentation/Figures/quantised.json")
    options = parser.parse_args()
    subprocess.run([sys.executable, HERE / "models.py", options.models, *options.networks], check=True, stdout=sys.stderr)
    kept = []
    print("| network | form | processor ms (least) | ÷ ours, int8 (of least) | peak MB |\n|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        for network in options.networks:
            parties = parties_of(options, options.models / network, pathlib.Path(scratch))
            measured = measure(parties, options)
            ours = measured["ours, int8"]
            for name, times in measured.items():
                middle, least = statistics.median(times), min(times)
                kept.append([
                    network, name, f"{middle:.1f} ({least:.1f})",
                    f"{middle / statistics.median(ours):.2f} ({least / min(ours):.2f})",
                    f"{parties[name].peak_memory() / 1e6:.0f}"])
                print("| " + " | ".join(kept[-1]) + " |", flush=True)
            for party in parties.values():
                party.close()
    if options.record:
        figures.record(
            "quantised", f"Benchmarks/quantised/run --threads {options.threads} --record",
            ["network", "form", "processor ms (least)", "÷ ours, int8 (of least)", "peak MB"], kept,
            figures.versions(["onnxruntime", "openvino", "coremltools"]))


if __name__ == "__main__":
    main()
