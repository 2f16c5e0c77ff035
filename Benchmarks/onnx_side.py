"""ONNX Runtime's side of the comparison: `onnx_side.py MODEL.onnx REFERENCE.npz THREADS [OPTIMIZED.onnx]`.

With a fourth argument the model is that file, which holds what ONNX Runtime made of MODEL for this machine; it is made
first when it is missing.

Loads the model, binds the inputs of the reference file, prints "ready" and how long loading and the first prediction
took, then answers each line "run N" with one JSON line: N latencies in milliseconds.
"""
import json
import os
import sys
import time

import numpy as np
import onnxruntime


def main():
    path, reference, threads = sys.argv[1], np.load(sys.argv[2]), int(sys.argv[3])
    optimized = sys.argv[4] if len(sys.argv) > 4 else None
    if optimized and not os.path.exists(optimized):
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = optimized
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    started = time.perf_counter()
    options = onnxruntime.SessionOptions()
    if optimized:
        path, options.graph_optimization_level = optimized, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for entry in session.get_inputs():
        binding.bind_cpu_input(entry.name, reference["in:" + entry.name])
    for entry in session.get_outputs():
        binding.bind_output(entry.name, "cpu")
    session.run_with_iobinding(binding)
    print("ready", json.dumps({"first": (time.perf_counter() - started) * 1e3}), flush=True)
    for line in sys.stdin:
        latencies = []
        for _ in range(int(line.split()[1])):
            started = time.perf_counter()
            session.run_with_iobinding(binding)
            latencies.append((time.perf_counter() - started) * 1e3)
        print(json.dumps(latencies), flush=True)


main()
