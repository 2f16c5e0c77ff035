"""Makes the networks whose throughput is compared: `networks.py OUTPUT [NAME …]`.

ResNet-50, MobileNetV2 and BERT-base of 128 tokens of the zoo, random weights: as a Core ML package that takes one example, as
coremltools makes it, and as ONNX with a free batch axis. What is there is left as it is.
"""
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import zoo_networks

NAMES = ["resnet50", "mobilenet_v2", "bert_128"]


def build(name, folder):
    network = zoo_networks.export(name, folder)
    np.savez(folder / "inputs.npz", **{feature: value.numpy() for feature, value in network.inputs.items()})


def main():
    output = pathlib.Path(sys.argv[1])
    torch.set_num_threads(2)
    for name in sys.argv[2:] or NAMES:
        if not (output / name / "inputs.npz").exists():
            print("making", name, file=sys.stderr, flush=True)
            build(name, output / name)


main()
