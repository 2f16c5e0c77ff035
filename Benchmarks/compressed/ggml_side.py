"""llama.cpp's side: `ggml_side.py LIBRARIES FORM ROWS TERMS COLUMNS THREADS`.

LIBRARIES is the folder with libggml-base.so and libggml-cpu.so (`llama_cpp/lib` of an installed llama-cpp-python), FORM
q8_0, q4_0 or f16.  Multiplies random weights of that form by random rows, each weight read in the order of the file, and
answers each line "run N" with one JSON line: N latencies in milliseconds.
"""
import ctypes
import json
import pathlib
import sys
import time

import numpy as np

FORMS = {"f16": 1, "q4_0": 2, "q8_0": 8}  # ggml_type


class Parameters(ctypes.Structure):
    """ggml_init_params."""

    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("without_data", ctypes.c_bool)]


def function(library, name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


def main():
    folder, form = pathlib.Path(sys.argv[1]), FORMS[sys.argv[2]]
    rows, terms, columns, threads = map(int, sys.argv[3:7])
    base = ctypes.CDLL(str(folder / "libggml-base.so"), ctypes.RTLD_GLOBAL)
    processor = ctypes.CDLL(str(folder / "libggml-cpu.so"), ctypes.RTLD_GLOBAL)
    address, whole, kind = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    tensor = function(base, "ggml_new_tensor_2d", address, address, kind, whole, whole)
    data = function(base, "ggml_get_data", address, address)
    function(processor, "ggml_cpu_init", None)()
    context = function(base, "ggml_init", address, Parameters)(Parameters(terms * columns * 2 + (256 << 20), None, False))
    weights, x = tensor(context, form, terms, columns), tensor(context, 0, terms, rows)
    random = np.random.default_rng(5)
    numbers = np.ascontiguousarray(random.standard_normal((columns, terms), dtype=np.float32))
    function(base, "ggml_quantize_chunk", ctypes.c_size_t, kind, address, address, whole, whole, whole, address)(
        form, numbers.ctypes.data, data(weights), 0, columns, terms, None)
    given = np.ascontiguousarray(random.standard_normal((rows, terms), dtype=np.float32))
    ctypes.memmove(data(x), given.ctypes.data, given.nbytes)
    y = function(base, "ggml_mul_mat", address, address, address, address)(context, weights, x)
    graph = function(base, "ggml_new_graph", address, address)(context)
    function(base, "ggml_build_forward_expand", None, address, address)(graph, y)
    compute = function(processor, "ggml_graph_compute_with_ctx", kind, address, address, kind)
    compute(context, graph, threads)
    result = np.ctypeslib.as_array(ctypes.cast(data(y), ctypes.POINTER(ctypes.c_float)), (rows, columns))
    wrong = np.abs(result - given @ numbers.T).max() / np.abs(result).max()
    if wrong > 0.2:
        sys.exit(f"llama.cpp's product is wrong by {wrong:.2f} of its largest element")
    print("ready", flush=True)
    for line in sys.stdin:
        latencies = []
        for _ in range(int(line.split()[1])):
            started = time.perf_counter()
            compute(context, graph, threads)
            latencies.append((time.perf_counter() - started) * 1e3)
        print(json.dumps(latencies), flush=True)


main()
