"""OpenVINO's side of the comparison: `openvino_side.py MODEL.onnx REFERENCE.npz THREADS CACHE [PRECISION]`.

Loads the model in float32, or in PRECISION (bf16), with its cache of compiled models in the folder CACHE, predicts once, prints "ready" and how
long both took, then answers each line "run N" with one JSON line: N latencies in milliseconds.
"""
import json
import sys
import time

import numpy as np
import openvino


def main():
    path, reference, threads, cache = sys.argv[1], np.load(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    precision = sys.argv[5] if len(sys.argv) > 5 else "f32"
    started = time.perf_counter()
    settings = {"CACHE_DIR": cache, "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
    model = openvino.Core().compile_model(path, "CPU", settings)
    request = model.create_infer_request()
    # Compiling may add names of its own to an input's.
    names = [next(name for name in entry.names if "in:" + name in reference) for entry in model.inputs]
    inputs = {name: reference["in:" + name] for name in names}
    request.infer(inputs, share_inputs=True)
    print("ready", json.dumps({"first": (time.perf_counter() - started) * 1e3}), flush=True)
    for line in sys.stdin:
        latencies = []
        for _ in range(int(line.split()[1])):
            started = time.perf_counter()
            request.infer(inputs, share_inputs=True)
            latencies.append((time.perf_counter() - started) * 1e3)
        print(json.dumps(latencies), flush=True)


main()
