"""Networks of the zoo (Oracles/zoo/Networks/catalogue.py) with random weights, as Core ML packages and as ONNX files."""
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")

import coremltools as ct
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Oracles/zoo/Networks"))
import catalogue

SEED = 20260101


def export(name, folder, batch=None):
    """Writes `folder`/model.mlpackage, whose batch axis is `batch` (None: one example), and model.onnx with a free batch axis.

    Returns the network, the same at each call."""
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    network = catalogue.ZOO[name].make()
    for parameter in network.module.parameters():
        parameter.requires_grad_(False)
    inputs = list(network.inputs.values())
    with torch.no_grad():
        trace = torch.jit.trace(network.module, inputs, check_trace=False)
    model = ct.convert(
        trace,
        inputs=[ct.TensorType(name=feature, shape=value.shape if batch is None else (batch, *value.shape[1:]),
                              dtype=value.numpy().dtype.type)
                for feature, value in network.inputs.items()],
        outputs=[ct.TensorType(name=feature) for feature in network.outputs],
        convert_to="mlprogram", compute_precision=ct.precision.FLOAT32, minimum_deployment_target=ct.target.iOS15,
        skip_model_load=True)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(str(folder / "model.mlpackage"))
    torch.onnx.export(
        network.module, tuple(inputs), str(folder / "model.onnx"), opset_version=17, dynamo=False,
        input_names=list(network.inputs), output_names=network.outputs,
        dynamic_axes={feature: {0: "batch"} for feature in [*network.inputs, *network.outputs]})
    return network
