"""The models of `Benchmarks/quantised/run`: networks of the zoo with random weights whose weights and activations are int8,
made by coremltools.optimize for us and by ONNX Runtime's static quantisation for the peers.

    models.py FOLDER NETWORK …

FOLDER/NETWORK then holds `reference.npz` (the inputs), `float.mlpackage`, `w8a8.mlpackage`, `model.onnx` and `int8.onnx`.
coremltools calibrates with our runtime: COREML_LIBRARY is the library of the Python package.
"""
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Python"), str(ROOT / "Oracles" / "zoo" / "Networks")]
SEED = 20260101
SAMPLES = 4


def supply_native_module():
    """Puts our module where coremltools looks for the one that it has on a Mac only."""
    path = ROOT / "Python" / "coremltools" / "libcoremlpython.py"
    spec = importlib.util.spec_from_file_location("coremltools.libcoremlpython", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


supply_native_module()

import coremltools as ct  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from coremltools.optimize import coreml as optimize  # noqa: E402
from coremltools.optimize.coreml.experimental import (  # noqa: E402
    OpActivationLinearQuantizerConfig, linear_quantize_activations)

import catalogue  # noqa: E402


def samples(network):
    """Inputs to calibrate with: the network's own, and others like them."""
    random = np.random.default_rng(5)
    taken = [{name: value.numpy() for name, value in network.inputs.items()}]
    for _ in range(SAMPLES - 1):
        taken.append({
            name: array if "mask" in name
            else random.permuted(array.reshape(-1)).reshape(array.shape).astype(array.dtype)
            for name, array in taken[0].items()})
    return taken


def for_us(network, trace, folder, data):
    model = ct.convert(
        trace,
        inputs=[
            ct.TensorType(name=name, shape=tuple(value.shape), dtype=value.numpy().dtype.type)
            for name, value in network.inputs.items()],
        outputs=[ct.TensorType(name=name, dtype=np.float32) for name in network.outputs],
        minimum_deployment_target=ct.target.iOS17)
    model.save(str(folder / "float.mlpackage"))
    # Not every operation: coremltools would quantise the integers that some add.
    symmetric = OpActivationLinearQuantizerConfig(mode="linear_symmetric")
    kinds = ["conv", "linear", "matmul"] + (["add", "max_pool", "avg_pool"] if "image" in network.inputs else [])
    activations = optimize.OptimizationConfig(op_type_configs={kind: symmetric for kind in kinds})
    weights = optimize.OptimizationConfig(
        global_config=optimize.OpLinearQuantizerConfig(mode="linear_symmetric", dtype="int8", granularity="per_channel"))
    model = linear_quantize_activations(model, activations, data)
    optimize.linear_quantize_weights(model, weights).save(str(folder / "w8a8.mlpackage"))


def for_peers(network, folder, data):
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = iter(data)

        def get_next(self):
            return next(self.left, None)

    plain, prepared = folder / "model.onnx", folder / "prepared.onnx"
    torch.onnx.export(
        network.module, tuple(network.inputs.values()), str(plain), input_names=list(network.inputs),
        output_names=network.outputs, opset_version=17, dynamo=False)
    quant_pre_process(str(plain), str(prepared), skip_symbolic_shape=True)
    quantization.quantize_static(
        str(prepared), str(folder / "int8.onnx"), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
        activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
    prepared.unlink()


def make(name, output):
    folder = output / name
    if (folder / "int8.onnx").exists() and (folder / "w8a8.mlpackage").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    network = catalogue.ZOO[name].make()
    for parameter in network.module.parameters():
        parameter.requires_grad_(False)
    data = samples(network)
    np.savez(folder / "reference.npz", **{"in:" + feature: value for feature, value in data[0].items()})
    with torch.no_grad():
        if not (folder / "w8a8.mlpackage").exists():
            trace = torch.jit.trace(network.module, list(network.inputs.values()), check_trace=False)
            for_us(network, trace, folder, data)
        for_peers(network, folder, data)


def main():
    for name in sys.argv[2:]:
        make(name, pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
