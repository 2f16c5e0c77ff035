"""Makes the networks that both servers serve: `networks.py OUTPUT [NAME …]`.

MobileNetV2 and BERT-base of 16 tokens of the zoo, random weights, as a Core ML package whose batch axis is flexible (1 to 8),
and as ONNX with a free batch axis. What is there is left as it is.
"""
import pathlib
import sys

import coremltools as ct
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import zoo_networks

NAMES = ["mobilenet_v2", "bert_16"]


def build(name, folder):
    network = zoo_networks.export(name, folder, batch=ct.RangeDim(1, 8, default=1))
    with torch.no_grad():
        outputs = network.module(*network.inputs.values())
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    arrays = {"in:" + feature: value.numpy() for feature, value in network.inputs.items()}
    arrays.update({"out:" + feature: value.numpy() for feature, value in zip(network.outputs, outputs)})
    np.savez(folder / "reference.npz", **arrays)


def main():
    output = pathlib.Path(sys.argv[1])
    torch.set_num_threads(2)
    for name in sys.argv[2:] or NAMES:
        if not (output / name / "reference.npz").exists():
            print("making", name, file=sys.stderr, flush=True)
            build(name, output / name)


main()
