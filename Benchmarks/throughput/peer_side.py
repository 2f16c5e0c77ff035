"""A peer's side of the comparison: `peer_side.py onnx|openvino FOLDER THREADS batch|clients COUNT`.

Loads FOLDER/model.onnx, prints "ready", and answers each line "run N" with one JSON line of N latencies in milliseconds: of N
batches of COUNT examples, or of N predictions by COUNT clients at the same time.

ONNX Runtime takes a batch as one run with all threads; several clients share a session of one thread each, which keeps the
processors busy without their waiting for each other.  OpenVINO is compiled with the throughput hint; a batch is as many
requests of one example, and as many requests as there are clients are under way at any time.
"""
import json
import queue
import sys
import threading
import time

import numpy as np


def onnx(folder, threads, form, count):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads if form == "batch" or count == 1 else 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder + "/model.onnx"), options, providers=["CPUExecutionProvider"])
    with np.load(folder + "/inputs.npz") as file:
        one = dict(file)
    if form == "batch":
        feed = {name: np.repeat(value, count, 0) for name, value in one.items()}

        def batches(times):
            for _ in range(times):
                started = time.perf_counter()
                session.run(None, feed)
                yield (time.perf_counter() - started) * 1e3
        return lambda times: list(batches(times))

    def clients(times):
        latencies, work = queue.Queue(), -(-times // count)

        def client():
            for _ in range(work):
                started = time.perf_counter()
                session.run(None, one)
                latencies.put((time.perf_counter() - started) * 1e3)
        threads = [threading.Thread(target=client) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return list(latencies.queue)
    return clients


def openvino(folder, threads, form, count):
    import openvino
    core = openvino.Core()
    model = core.read_model(folder + "/model.onnx")
    with np.load(folder + "/inputs.npz") as file:
        one = dict(file)
    names = {entry: next(name for name in entry.names if name in one) for entry in model.inputs}
    model.reshape({entry: list(one[name].shape) for entry, name in names.items()})
    settings = {"PERFORMANCE_HINT": "THROUGHPUT", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(model, "CPU", settings)
    feed = {index: one[name] for index, name in enumerate(names.values())}
    requests = openvino.AsyncInferQueue(compiled, max(count, 2) if form == "batch" else count)
    latencies = []
    requests.set_callback(lambda _, started: latencies.append((time.perf_counter() - started) * 1e3))

    def predict(times):
        latencies.clear()
        for _ in range(times):
            requests.start_async(feed, time.perf_counter(), share_inputs=True)
        requests.wait_all()
        return list(latencies)

    def batches(times):
        result = []
        for _ in range(times):
            started = time.perf_counter()
            predict(count)
            result.append((time.perf_counter() - started) * 1e3)
        return result
    return batches if form == "batch" else predict


def main():
    peer, folder, threads, form, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
    run = {"onnx": onnx, "openvino": openvino}[peer](folder, threads, form, count)
    run(1)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(run(int(line.split()[1]))), flush=True)


main()
