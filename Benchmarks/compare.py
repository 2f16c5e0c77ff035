"""Compares this runtime with ONNX Runtime: the same networks, one run, turn by turn.

Use Benchmarks/run, which builds what this needs.  Prints one Markdown table for each question and keeps the figures
in Benchmarks/results.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import figures
import sides

sys.path.append(str(sides.HERE.parent / "Oracles" / "zoo" / "Networks"))
import check
import measures

# network → the form that we run, and the ratio to ONNX Runtime's latency that is wanted
TARGETS = {
    "resnet50": ("model.fp32.mlpackage", 1.00),
    "mobilenet_v2": ("model.fp32.mlpackage", 1.00),
    "bert_128": ("model.fp32.mlpackage", 0.85),
    "bert_16": ("model.fp32.mlpackage", 0.75),
    "distilbert": ("model.fp32.mlpackage", 0.85),
    "vit_b_16": ("model.fp32.mlpackage", 0.90),
    "lstm_tagger": ("model.fp32.mlpackage", 1.00),
    "style_transfer": ("model.fp32.mlpackage", 0.95),
    "gpt2_decode": ("model.fp16.mlpackage", 0.65),
}
TITLES = {
    "resnet50": "ResNet-50", "mobilenet_v2": "MobileNetV2", "bert_128": "BERT-base, 128 tokens", "bert_16": "BERT-base, 16 tokens",
    "distilbert": "DistilBERT", "vit_b_16": "ViT-B/16", "lstm_tagger": "LSTM tagger", "style_transfer": "style transfer",
    "gpt2_decode": "GPT-2, one token, float16 weights",
}
PAUSE = 0.03        # seconds between turns: long enough for the other side's workers to stop spinning


def alternate(parties, rounds, seconds):
    """`rounds` turns of about `seconds` each for every party; all measurements by party."""
    counts = {}
    for name, party in parties.items():
        party.run(2)
        once = statistics.median(party.run(3)) / 1e3 if name != "peak" else seconds
        counts[name] = max(1, round(seconds / once))
    measured = {name: [] for name in parties}
    for turn in range(rounds):
        for name in list(parties)[:: 1 if turn % 2 == 0 else -1]:
            time.sleep(PAUSE)
            measured[name] += parties[name].run(counts[name])
    return measured


def latency(options, scratch):
    """Median and minimum latency of both sides, their ratio, and what part of the machine's peak ours reaches."""
    rows = []
    for name in options.networks:
        folder, (form, wanted) = options.zoo / name, TARGETS.get(name, ("model.fp32.mlpackage", None))
        form = options.form or form
        facts = json.loads((folder / "facts.json").read_text())
        parties = {
            "ours": sides.coreml(options.coreml, folder / form, sides.inputs_of(folder, scratch), options.threads),
            "onnx": sides.onnx(folder, options.threads),
            "peak": sides.peak(scratch, options.threads),
        }
        with sides.Load(options.load):
            measured = alternate(parties, options.rounds, options.seconds)
        memory = {side: parties[side].peak_memory() for side in ("ours", "onnx")}
        for party in parties.values():
            party.close()
        ours, onnx, peak = measured["ours"], measured["onnx"], max(measured["peak"])
        speed = facts["flops"] / min(ours) / 1e6
        rows.append({
            "network": name, "form": form, "ours": statistics.median(ours), "ours_least": min(ours),
            "onnx": statistics.median(onnx), "onnx_least": min(onnx),
            "ratio": statistics.median(ours) / statistics.median(onnx), "ratio_least": min(ours) / min(onnx),
            "wanted": wanted, "gflops": speed, "peak": peak, "onnx_gflops": facts["flops"] / min(onnx) / 1e6,
            "memory": memory["ours"], "onnx_memory": memory["onnx"]})
        print_latency(rows[-1:], heading=len(rows) == 1)
    return rows


def print_latency(rows, heading=True):
    if heading:
        print("| network | form | ours ms (least) | ONNX Runtime ms (least) | ratio (of least) | wanted "
              "| GFLOP/s, of peak | ONNX Runtime of peak | memory MB, ONNX Runtime |")
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        wanted = "" if row["wanted"] is None else f"{row['wanted']:.2f} " + (
            "met" if row["ratio"] <= row["wanted"] else "missed")
        print(f"| {row['network']} | {row['form'].split('.')[1]} | {row['ours']:.2f} ({row['ours_least']:.2f}) "
              f"| {row['onnx']:.2f} ({row['onnx_least']:.2f}) | {row['ratio']:.2f} ({row['ratio_least']:.2f}) "
              f"| {wanted} | {row['gflops']:.0f}, {row['gflops'] / row['peak']:.0%} "
              f"| {row['onnx_gflops'] / row['peak']:.0%} "
              f"| {row['memory'] / 1e6:.0f}, {row['onnx_memory'] / 1e6:.0f} |", flush=True)


def processor(options, scratch):
    """Processor time of a prediction on both sides, all threads together: fair also on a machine with other work."""
    rows = []
    print("| network | form | ours ms (least) | ONNX Runtime ms (least) | ratio (of least) |\n|---|---|---:|---:|---:|")
    for name in options.networks:
        folder = options.zoo / name
        form = options.form or TARGETS.get(name, ("model.fp32.mlpackage", None))[0]
        parties = {
            "ours": sides.coreml(options.coreml, folder / form, sides.inputs_of(folder, scratch), options.threads),
            "onnx": sides.onnx(folder, options.threads)}
        measured = {side: [] for side in parties}
        turn = options.seconds * 1e3
        counts = {side: max(1, round(turn / statistics.median(party.run(3)))) for side, party in parties.items()}
        for _ in range(options.rounds):
            for side, party in parties.items():
                started = party.processor_time()
                party.run(counts[side])
                measured[side].append((party.processor_time() - started) * 1e3 / counts[side])
        for party in parties.values():
            party.close()
        middle = {side: statistics.median(times) for side, times in measured.items()}
        least = {side: min(times) for side, times in measured.items()}
        rows.append({"network": name, "form": form, "median": middle, "least": least})
        print(f"| {name} | {form.split('.')[1]} | {middle['ours']:.2f} ({least['ours']:.2f}) "
              f"| {middle['onnx']:.2f} ({least['onnx']:.2f}) "
              f"| {middle['ours'] / middle['onnx']:.2f} ({least['ours'] / least['onnx']:.2f}) |", flush=True)
    return rows


def first(options, scratch):
    """Time from the start of a process to its first prediction, and its memory then.

    Ours is the whole process; ONNX Runtime's leaves out the start of Python and the import of its modules.
    """
    rows = []
    print("| network | file | ours: start to first prediction ms | ONNX Runtime: load and first run ms | ours peak MB "
          "| weights × 2.2 + 60 MB |")
    print("|---|---|---:|---:|---:|---:|")
    for name in options.networks:
        folder = options.zoo / name
        form = options.form or TARGETS.get(name, ("model.fp32.mlpackage", None))[0]
        facts = json.loads((folder / "facts.json").read_text())
        inputs, ours, onnx, memory = sides.inputs_of(folder, scratch), [], [], []
        for _ in range(options.rounds):
            side = sides.coreml(options.coreml, folder / form, inputs, options.threads)
            side.run(1)
            ours.append((time.perf_counter() - side.started) * 1e3)
            memory.append(side.peak_memory())
            side.close()
            side = sides.onnx(folder, options.threads)
            onnx.append(json.loads(side.greeting.split(" ", 1)[1])["first"])
            side.close()
        size = facts["parameters"] * (2 if "fp16" in form else 4)
        rows.append({
            "network": name, "form": form, "ours": statistics.median(ours), "onnx": statistics.median(onnx),
            "memory": max(memory), "allowed": size * 2.2 + 60e6})
        print(f"| {name} | {form} | {rows[-1]['ours']:.0f} | {rows[-1]['onnx']:.0f} | {max(memory) / 1e6:.0f} "
              f"| {rows[-1]['allowed'] / 1e6:.0f} |", flush=True)
    return rows


def loading(options, scratch):
    """Time to the first prediction of the source file, of its compiled form and of the peers with their caches warm.

    Ours is the whole process; the peers' leave out the start of Python and the import of their modules.  Memory is the
    peak of a process that predicted once, and what a second one that predicted at the same time has for itself.
    """
    rows = []
    print("| network | file | source ms | compiled ms | compiled ÷ source (least) | ONNX Runtime ms | OpenVINO ms "
          "| source peak MB | compiled peak MB | weights MB | second process, private MB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.networks:
        folder = options.zoo / name
        form = options.form or TARGETS.get(name, ("model.fp32.mlpackage", None))[0]
        facts = json.loads((folder / "facts.json").read_text()) if (folder / "facts.json").exists() else {}
        inputs, compiled = sides.inputs_of(folder, scratch), scratch / f"{name}.mlmodelc"
        subprocess.run([options.coreml, "compile", folder / form, compiled], check=True, stdout=subprocess.DEVNULL)
        times = {party: [] for party in ("source", "compiled", "onnx", "openvino")}
        peaks = {"source": [], "compiled": []}
        has_onnx = (folder / "model.onnx").exists()

        def ours(party, model):
            side = sides.coreml(options.baseline if party == "source" and options.baseline else options.coreml,
                                model, inputs, options.threads)
            side.run(1)
            times[party].append((time.perf_counter() - side.started) * 1e3)
            peaks[party].append(side.peak_memory())
            side.close()

        for turn in range(options.rounds + 1):
            ours("source", folder / form)
            ours("compiled", compiled)
            for party, start in (
                    ("onnx", lambda: sides.onnx(folder, options.threads, scratch / f"{name}.onnx")),
                    ("openvino", lambda: sides.openvino(folder, options.threads, scratch / f"{name}.cache"))):
                if has_onnx:
                    side = start()
                    times[party].append(json.loads(side.greeting.split(" ", 1)[1])["first"])
                    side.close()
            if turn == 0:                       # fills the caches, the system's among them
                for measured in (*times.values(), *peaks.values()):
                    measured.clear()
        both = [sides.coreml(options.coreml, compiled, inputs, options.threads) for _ in range(2)]
        for side in both:
            side.run(1)
        private = both[1].private_memory()
        for side in both:
            side.close()
        row = {"network": name, "form": form, "private": private, **{
            party: statistics.median(measured) for party, measured in times.items() if measured}, **{
            f"{party}_least": min(measured) for party, measured in times.items() if measured}, **{
            f"{party}_peak": max(measured) for party, measured in peaks.items()}}
        row["weights"] = facts.get("parameters", 0) * (2 if "fp16" in form else 4)
        rows.append(row)
        peers = " | ".join(f"{row[party]:.0f}" if party in row else "–" for party in ("onnx", "openvino"))
        print(f"| {name} | {form} | {row['source']:.0f} | {row['compiled']:.0f} "
              f"| {row['compiled'] / row['source']:.2f} ({row['compiled_least'] / row['source_least']:.2f}) | {peers} "
              f"| {row['source_peak'] / 1e6:.0f} | {row['compiled_peak'] / 1e6:.0f} | {row['weights'] / 1e6:.0f} "
              f"| {private / 1e6:.0f} |", flush=True)
    return rows


def precision(options, scratch):
    """The float16 programs with `--precision low` beside our exact products and OpenVINO in bfloat16, where the processor has it:
    latencies, errors relative to the range of PyTorch's outputs, and how many labels (the greatest number along an output's last
    axis) differ from PyTorch's."""
    rows = []
    print("| network | low ms (least) | full ms | OpenVINO bf16 ms (least) | low ÷ OpenVINO (of least) | low ÷ full "
          "| error, full | error, low | labels that differ, full | low | of |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.networks:
        folder = options.zoo / name
        form = options.form or "model.fp16.mlpackage"
        inputs = sides.inputs_of(folder, scratch)
        parties = {"low": sides.coreml(options.coreml, folder / form, inputs, options.threads, "low"),
                   "full": sides.coreml(options.coreml, folder / form, inputs, options.threads)}
        if (folder / "model.onnx").exists():
            parties["openvino"] = sides.openvino(folder, options.threads, scratch / f"{name}.bf16", "bf16")
        measured = alternate(parties, options.rounds, options.seconds)
        for party in parties.values():
            party.close()
        row = {"network": name, **{side: statistics.median(times) for side, times in measured.items()},
               **{f"{side}_least": min(times) for side, times in measured.items()}}
        with np.load(folder / "reference.npz") as arrays:
            reference = {key: arrays[key] for key in arrays}
        for kind in ("full", "low"):
            given, _ = check.run(options.coreml, folder / form, reference, scratch, "--precision", kind)
            expected = {key[4:]: value for key, value in reference.items() if key.startswith("out:")}
            row[f"{kind}_error"] = max(float(measures.errors(value, given[key]).max()) for key, value in expected.items())
            labels = [measures.labels(value, given[key]) for key, value in expected.items()]
            row[f"{kind}_changed"], row["labels"] = (sum(counts) for counts in zip(*labels))
        rows.append(row)
        peer = (f"{row['openvino']:.2f} ({row['openvino_least']:.2f}) | {row['low'] / row['openvino']:.2f} "
                f"({row['low_least'] / row['openvino_least']:.2f})" if "openvino" in row else "– | –")
        print(f"| {name} | {row['low']:.2f} ({row['low_least']:.2f}) | {row['full']:.2f} | {peer} | {row['low'] / row['full']:.2f} "
              f"| {row['full_error']:.1e} | {row['low_error']:.1e} | {row['full_changed']} | {row['low_changed']} "
              f"| {row['labels']} |", flush=True)
    return rows


def overhead(options, scratch):
    """The latency of a network of one small layer: what a prediction costs besides arithmetic."""
    folder = options.zoo / "one_layer"
    side = sides.coreml(options.coreml, folder / "model.fp32.mlpackage", sides.inputs_of(folder, scratch), 1)
    side.run(1000)
    measured = [latency for _ in range(options.rounds) for latency in side.run(5000)]
    side.close()
    row = {"median": statistics.median(measured) * 1e3, "least": min(measured) * 1e3}
    print(f"One-layer model: median {row['median']:.2f} µs, least {row['least']:.2f} µs (wanted: 5 µs)")
    return [row]


def concurrent(options, scratch):
    """Eight threads on one model through the Python package: predictions a second, every answer equal to the first."""
    from swift_coreml.library import Handle, call, json_bytes
    from swift_coreml.values import Features
    rows = []
    for name in options.networks:
        folder = options.zoo / name
        form = options.form or TARGETS.get(name, ("model.fp32.mlpackage", None))[0]
        model = Handle(call("model_load", os.fsencode(folder / form), b"ALL", b"", json_bytes({})))
        with np.load(folder / "reference.npz") as arrays:
            given = {key[3:]: arrays[key].copy() for key in arrays if key.startswith("in:")}

        def predict():
            features = Features.of(given)
            return Features(call("model_predict", model.address, features.address, None)).dictionary()

        expected, row = predict(), {"network": name}
        for count in (1, 2, 8):
            done, wrong, stop = [0] * count, [0] * count, time.perf_counter() + options.seconds * 6

            def work(index):
                while time.perf_counter() < stop:
                    answer = predict()
                    done[index] += 1
                    wrong[index] += any(
                        not np.allclose(answer[key], expected[key], rtol=1e-4, atol=1e-5) for key in expected)

            started = time.perf_counter()
            threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            row[f"threads_{count}"] = sum(done) / (time.perf_counter() - started)
            row[f"wrong_{count}"] = sum(wrong)
        rows.append(row)
        print(f"{name}: " + ", ".join(
            f"{count} threads {row[f'threads_{count}']:.1f}/s, {row[f'wrong_{count}']} wrong" for count in (1, 2, 8)),
            flush=True)
    return rows


def record_latency(rows, load):
    """Keeps the ratios of all networks as the table that Documentation/Performance.md shows."""
    figures.record(
        "networks-load" if load else "networks", "Benchmarks/run --load" if load else "Benchmarks/run",
        ["network", "ours ÷ ONNX Runtime, medians (minima)", "our share of the processor's FMA peak"],
        [[TITLES.get(row["network"], row["network"]), f"{row['ratio']:.2f} ({row['ratio_least']:.2f})",
          f"{row['gflops'] / row['peak']:.0%}"] for row in rows],
        figures.versions(["onnxruntime"]))


def record_precision(rows):
    """Keeps the ratios and errors of all networks as the table that Documentation/Performance.md shows."""
    figures.record(
        "precision", "Benchmarks/run --question precision",
        ["network", "low ÷ OpenVINO in bfloat16, medians (minima)", "low ÷ full", "largest error, full", "low",
         "labels that differ from PyTorch's, full", "low", "of"],
        [[TITLES.get(row["network"], row["network"]).removesuffix(", float16 weights"),
          f"{row['low'] / row['openvino']:.2f} ({row['low_least'] / row['openvino_least']:.2f})",
          f"{row['low'] / row['full']:.2f}", f"{row['full_error']:.1e}", f"{row['low_error']:.1e}",
          f"{row['full_changed']}", f"{row['low_changed']}", f"{row['labels']}"] for row in rows],
        figures.versions(["openvino"]))


QUESTIONS = {
    "latency": latency, "processor": processor, "precision": precision, "first": first, "loading": loading, "overhead": overhead,
    "concurrent": concurrent}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="networks of the zoo (default: those with a target)")
    parser.add_argument("--question", choices=QUESTIONS, default="latency")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn")
    parser.add_argument("--form", help="the file of each network that we run, such as model.mlmodel")
    parser.add_argument("--baseline", type=pathlib.Path, help="another build of ours, for the source file of 'loading'")
    parser.add_argument("--load", action="store_true", help="keep every processor busy with other processes meanwhile")
    parser.add_argument("--coreml", required=True, type=pathlib.Path, help="the command-line program")
    parser.add_argument("--zoo", required=True, type=pathlib.Path)
    parser.add_argument("--record", action="store_true", help="keep the table with date and machine for the documentation")
    options = parser.parse_args()
    if options.record and (options.question not in ("latency", "precision") or options.networks or options.form):
        parser.error("--record keeps the latencies, or precisions, of all networks: leave out --form and names of networks")
    options.networks = options.networks or (["one_layer"] if options.question == "overhead" else list(TARGETS))
    subprocess.run([sides.HERE.parent / "Oracles" / "zoo" / "make", *options.networks], check=True, stdout=sys.stderr)
    print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors, {options.threads} threads, batch 1"
          + (", all processors busy with other work" if options.load else "") + "\n")
    with tempfile.TemporaryDirectory() as scratch:
        rows = QUESTIONS[options.question](options, pathlib.Path(scratch))
    results = sides.HERE / "results"
    results.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    (results / f"{options.question}{'-load' if options.load else ''}-{stamp}.json").write_text(
        json.dumps({"machine": figures.machine(), "rows": rows}, indent=1))
    if options.record and options.question == "precision":
        record_precision(rows)
    elif options.record:
        record_latency(rows, options.load)


if __name__ == "__main__":
    main()
