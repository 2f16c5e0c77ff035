"""Makes the networks whose throughput is compared: `networks.py OUTPUT [NAME …]`.

ResNet-50, MobileNetV2 and BERT-base of 128 tokens of the zoo (Oracles/zoo/Networks/catalogue.py), random weights: as a Core ML
package that takes one example, as coremltools makes it, and as ONNX with a free batch axis.  What is there is left as it is.
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
NAMES = ["resnet50", "mobilenet_v2", "bert_128"]


def build(name, folder):
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
        inputs=[ct.TensorType(name=feature, shape=value.shape, dtype=value.numpy().dtype.type)
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
    np.savez(folder / "inputs.npz", **{feature: value.numpy() for feature, value in network.inputs.items()})


def main():
    output = pathlib.Path(sys.argv[1])
    torch.set_num_threads(2)
    for name in sys.argv[2:] or NAMES:
        if not (output / name / "inputs.npz").exists():
            print("making", name, file=sys.stderr, flush=True)
            build(name, output / name)


main()
