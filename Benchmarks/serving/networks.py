"""Makes the networks that both servers serve: `networks.py OUTPUT`.

MobileNetV2 and BERT-base of 16 tokens of the zoo (Oracles/zoo/Networks/catalogue.py), random weights, as a Core ML package
whose batch axis is flexible (1 to 8), and as ONNX with a free batch axis.  What is there is left as it is.
"""
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")

import coremltools as ct
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Oracles/zoo/Networks"))
import catalogue

SEED = 20260101


def build(name, folder):
    entry = catalogue.ZOO[name]
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    network = entry.make()
    for parameter in network.module.parameters():
        parameter.requires_grad_(False)
    inputs = list(network.inputs.values())
    with torch.no_grad():
        outputs = network.module(*inputs)
        trace = torch.jit.trace(network.module, inputs, check_trace=False)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    batch = ct.RangeDim(1, 8, default=1)
    model = ct.convert(
        trace,
        inputs=[ct.TensorType(name=feature, shape=(batch, *value.shape[1:]), dtype=value.numpy().dtype.type)
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
    arrays = {"in:" + feature: value.numpy() for feature, value in network.inputs.items()}
    arrays.update({"out:" + feature: value.numpy() for feature, value in zip(network.outputs, outputs)})
    np.savez(folder / "reference.npz", **arrays)


def main():
    output = pathlib.Path(sys.argv[1])
    torch.set_num_threads(2)
    for name in ["mobilenet_v2", "bert_16"]:
        if not (output / name / "reference.npz").exists():
            print("making", name, file=sys.stderr, flush=True)
            build(name, output / name)


main()
