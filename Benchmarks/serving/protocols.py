"""Compares gRPC with HTTP, both of coreml-serve: `run --protocols` calls it, `run --protocols --help` lists the options.

h2load asks one server turn by turn over HTTP/1.1 with JSON, over HTTP/1.1 with the tensor's bytes, and over gRPC, each with the same
number of connections, of which each sends its next request when the last is answered.  The requests are made beforehand, so that the
load generator costs the same for all.  Figures are medians over the turns; CPU is the processor time of the server for each
request, and ratios are those of gRPC to the others, the medians over neighbouring turns.
"""
import argparse
import os
import pathlib
import re
import statistics
import struct
import subprocess
import tempfile
import urllib.request

import grpc
import numpy as np
from tritonclient.grpc import service_pb2

import compare

PORT, GRPC = 18700, 18702
CALL = "/inference.GRPCInferenceService/ModelInfer"


def message(name, output, reference):
    """The request of gRPC."""
    request = service_pb2.ModelInferRequest(model_name=name)
    for key, value in reference.items():
        if key.startswith("in:"):
            request.inputs.add(name=key[3:], datatype=compare.TYPES[str(value.dtype)], shape=value.shape)
            request.raw_input_contents.append(value.tobytes())
    request.outputs.add(name=output)
    return request


def answer(request):
    with grpc.insecure_channel(f"127.0.0.1:{GRPC}") as channel:
        call = channel.unary_unary(CALL, service_pb2.ModelInferRequest.SerializeToString, service_pb2.ModelInferResponse.FromString)
        return np.frombuffer(call(request).raw_output_contents[0], np.float32)


def failures():
    """How many requests the server has refused."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics").read().decode()
    found = re.findall(r'^coreml_serve_requests_total\{(.*)\} ([\d.]+)$', text, re.M)
    return sum(float(count) for labels, count in found if not re.search('status="(200|OK)"', labels))


def measure(address, body, headers, protocol, connections, seconds, folder):
    """Requests each second and the 99th percentile in milliseconds."""
    (folder / "body").write_bytes(body)
    log = folder / "log"
    log.unlink(missing_ok=True)
    named = [part for key, value in headers.items() for part in ("-H", f"{key}: {value}")]
    text = subprocess.run(
        ["h2load", *protocol, "-t1", f"-c{connections}", "-m1", f"-D{seconds}", f"--log-file={log}", "-d", folder / "body", *named,
         address], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    wrong = [row for row in rows if row[1] != "200"]
    if wrong or not rows:
        raise SystemExit(f"{address}: {len(wrong)} of {len(rows)} requests have no answer\n{text}")
    return len(rows) / seconds, float(np.percentile([int(row[2]) for row in rows], 99)) / 1000


def main():
    parser = argparse.ArgumentParser(prog="Benchmarks/serving/run --protocols", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(compare.NETWORKS))
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--models", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--connections", type=int, default=8, help="requests at the same time")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each form")
    parser.add_argument("--seconds", type=int, default=5, help="length of a turn")
    parser.add_argument("--threads", type=int, default=1, help="threads of a prediction")
    options = parser.parse_args()
    names = options.networks or list(compare.NETWORKS)
    server = subprocess.Popen(
        [options.server, "--port", str(PORT), "--grpc-port", str(GRPC),
         *[f"{name}={options.models / name / 'model.mlpackage'}" for name in names]],
        env=dict(os.environ, COREML_THREADS=str(options.threads)), stdout=subprocess.DEVNULL)
    try:
        compare.await_server(PORT)
        print("| network | form | requests each second | p99 ms | CPU ms | gRPC's rate ÷ this | CPU ratio |")
        print("|---|---|---:|---:|---:|---:|---:|", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            for name in names:
                compare_forms(name, options, server, pathlib.Path(scratch))
    finally:
        server.terminate()
        code = server.wait(30)
    if code != 0:
        raise SystemExit(f"coreml-serve ended with {code}.")


def compare_forms(name, options, server, scratch):
    output = compare.NETWORKS[name]
    with np.load(options.models / name / "reference.npz") as file:
        reference = {key: file[key] for key in file}
    expected = reference["out:" + output].ravel()
    request = message(name, output, reference)
    data = request.SerializeToString()
    http = compare.requests(name, output, options.models, reference)
    forms = {form: (*http["coreml", form], ["--h1"]) for form in ("json", "binary")}
    forms["grpc"] = (f"http://127.0.0.1:{GRPC}{CALL}", b"\0" + struct.pack(">I", len(data)) + data,
                     {"Content-Type": "application/grpc", "TE": "trailers"}, [])
    for found in [compare.answer("coreml", form, http["coreml", form]) for form in ("json", "binary")] + [answer(request)]:
        difference = np.abs(found - expected).max() / np.abs(expected).max()
        if not difference < 1e-3:
            raise SystemExit(f"{name}: an answer differs by {difference:.2g} of its range.")
    figures, before = {form: [] for form in forms}, failures()
    for turn in range(options.rounds + 1):
        for form, (address, body, headers, protocol) in forms.items():
            used = compare.processor_time(server)
            rate, late = measure(
                address, body, headers, protocol, options.connections, options.seconds if turn else 1, scratch)
            used = (compare.processor_time(server) - used) / (rate * (options.seconds if turn else 1)) * 1e3
            if turn:        # the first warms up
                figures[form].append((rate, late, used))
    if failures() != before:
        raise SystemExit(f"{name}: the server refused requests.")
    for form, turns in figures.items():
        rate, late, used = (statistics.median(column) for column in zip(*turns))
        ratios = [[ours / theirs for ours, theirs in zip(*pair)] for pair in zip(figures["grpc"], turns)]
        rates, _, costs = (statistics.median(column) for column in zip(*ratios))
        print(f"| {name} | {form} | {rate:.1f} | {late:.1f} | {used:.2f} | {rates:.2f} | {costs:.2f} |", flush=True)


main()
