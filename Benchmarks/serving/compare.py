"""Compares coreml-serve with ONNX Runtime behind FastAPI: `run` calls it, `run --help` lists the options.

Both servers are up all the time; wrk, the one load generator, asks them turn by turn with the same number of connections, each
of which sends its next request when the last is answered.  Figures are medians over the turns; ratios are ours ÷ theirs, the
medians over neighbouring turns.
CPU is the processor time of the server for each request, on which other processes weigh less.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import urllib.request

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PORTS = {"coreml": 18700, "fastapi": 18701}
NETWORKS = {"mobilenet_v2": "scores", "bert_16": "pooled"}
TYPES = {"float32": "FP32", "int32": "INT32"}


def requests(name, output, folder, reference):
    """(side, form) → address, body and headers."""
    inputs = {key[3:]: value for key, value in reference.items() if key.startswith("in:")}
    entries = [{"name": key, "shape": list(value.shape), "datatype": TYPES[str(value.dtype)]} for key, value in inputs.items()]
    as_json = {"inputs": [dict(entry, data=inputs[entry["name"]].ravel().tolist()) for entry in entries],
               "outputs": [{"name": output}]}
    header = json.dumps({
        "inputs": [dict(entry, parameters={"binary_data_size": inputs[entry["name"]].nbytes}) for entry in entries],
        "outputs": [{"name": output, "parameters": {"binary_data": True}}]}).encode()
    binary = b"".join(value.tobytes() for value in inputs.values())
    ours, theirs = (f"http://127.0.0.1:{PORTS[side]}" for side in ("coreml", "fastapi"))
    nested = {"inputs": {key: value.tolist() for key, value in inputs.items()}}
    kind = {"Content-Type": "application/json"}
    return {
        ("coreml", "json"): (f"{ours}/v2/models/{name}/infer", json.dumps(as_json).encode(), kind),
        ("fastapi", "json"): (f"{theirs}/{name}/json", json.dumps(nested).encode(), kind),
        ("coreml", "binary"): (f"{ours}/v2/models/{name}/infer", header + binary,
                               {"Inference-Header-Content-Length": str(len(header)),
                                "Content-Type": "application/octet-stream"}),
        ("fastapi", "binary"): (f"{theirs}/{name}/binary", binary, {"Content-Type": "application/octet-stream"}),
    }


def answer(side, form, request):
    address, body, headers = request
    with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as response:
        data = response.read()
        length = response.headers.get("Inference-Header-Content-Length")
    if form == "binary":
        return np.frombuffer(data[int(length):] if side == "coreml" else data, np.float32)
    value = json.loads(data)
    return np.asarray(value["outputs"][0]["data"] if side == "coreml" else next(iter(value.values())), np.float32).ravel()


def measure(request, folder, connections, seconds):
    """Requests each second and the 99th percentile in milliseconds."""
    address, body, headers = request
    (folder / "body.bin").write_bytes(body)
    lines = ['wrk.method = "POST"', f'local file = io.open("{folder / "body.bin"}", "rb")', 'wrk.body = file:read("*a")']
    lines += [f'wrk.headers["{key}"] = "{value}"' for key, value in headers.items()]
    script = folder / "post.lua"
    script.write_text("\n".join(lines))
    text = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s", "-s", script, address],
        check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text:
        sys.exit(f"{address} refuses requests:\n{text}")
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    found = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), float(found.group(1)) * units[found.group(2)]


def processor_time(process):
    """The seconds of processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def await_server(port):
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/nothing")
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"Nothing answers at port {port}.")


def main():
    parser = argparse.ArgumentParser(prog="Benchmarks/serving/run", description=__doc__)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--models", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--connections", type=int, default=8, help="requests at the same time")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--seconds", type=int, default=5, help="length of a turn")
    parser.add_argument("--forms", nargs="*", default=["json", "binary"], choices=["json", "binary"])
    parser.add_argument("--threads", type=int, default=1, help="threads of a prediction, on both sides")
    parser.add_argument("--options", default="", help="further options of coreml-serve")
    options = parser.parse_args()
    folder = options.models
    names = options.networks or list(NETWORKS)
    environment = dict(os.environ, COREML_THREADS=str(options.threads))
    ours = [options.server, "--port", str(PORTS["coreml"]), *options.options.split(),
            *[f"{name}={folder / name / 'model.mlpackage'}" for name in names]]
    theirs = [sys.executable, HERE / "fastapi_side.py", str(PORTS["fastapi"]), str(options.threads),
              *[f"{name}={folder / name / 'model.onnx'}:{NETWORKS[name]}" for name in names]]
    servers = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for command in (ours, theirs)]
    try:
        for port in PORTS.values():
            await_server(port)
        print("| network | form | coreml-serve req/s | p99 ms | CPU ms | FastAPI + ONNX Runtime req/s | p99 ms | CPU ms | "
              "ratio | p99 ratio | CPU ratio |")
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for name in names:
            with np.load(folder / name / "reference.npz") as file:
                reference = {key: file[key] for key in file}
            expected = reference["out:" + NETWORKS[name]].ravel()
            everything = requests(name, NETWORKS[name], folder, reference)
            for form in options.forms:
                figures = {"coreml": [], "fastapi": []}
                for side in figures:
                    found = answer(side, form, everything[side, form])
                    difference = np.abs(found - expected).max() / np.abs(expected).max()
                    if not difference < 1e-3:
                        sys.exit(f"{name}: the answer of {side} differs by {difference:.2g} of its range.")
                    measure(everything[side, form], folder, options.connections, 1)
                for _ in range(options.rounds):
                    for side in figures:
                        process = servers[list(PORTS).index(side)]
                        before = processor_time(process)
                        rate, late = measure(everything[side, form], folder, options.connections, options.seconds)
                        used = (processor_time(process) - before) / (rate * options.seconds) * 1e3
                        figures[side].append((rate, late, used))
                middle = {side: [statistics.median(column) for column in zip(*values)] for side, values in figures.items()}
                ratios = [[ours / theirs for ours, theirs in zip(*turns)] for turns in zip(*figures.values())]
                cells = [f"{rate:.1f} | {late:.0f} | {used:.1f}" for rate, late, used in middle.values()]
                rates, late, used = zip(*ratios)
                print(f"| {name} | {form} | {cells[0]} | {cells[1]} | {statistics.median(rates):.2f} ({min(rates):.2f}–"
                      f"{max(rates):.2f}) | {statistics.median(late):.2f} | {statistics.median(used):.2f} |", flush=True)
    finally:
        for server in servers:
            server.terminate()
        codes = [server.wait(30) for server in servers]
    if codes[0] != 0:
        sys.exit(f"coreml-serve ended with {codes[0]}.")


if __name__ == "__main__":
    main()
