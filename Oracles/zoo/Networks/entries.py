"""The parts of an entry of the zoo, and the helpers that the model makers share."""
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn


@dataclass
class Network:
    """A module in evaluation mode, with everything a converter asks for."""

    module: nn.Module
    inputs: dict                    # feature name → example tensor, in the order of `forward`
    outputs: list                   # feature names, in the order of the result


@dataclass
class Entry:
    """A line of the catalogue."""

    make: Callable[[], Network]
    half_target: str = "iOS16"      # the deployment target of the fp16 form: the newer, the newer the opset
    onnx: bool = False              # exported for the comparison with ONNX Runtime
    set_outputs: bool = False       # rows may come in another order (detections): compared as sets


def settled(module, *inputs, rounds=3):
    """The module with batch statistics measured once: with fresh ones activations explode or vanish."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        nn.init.uniform_(norm.weight, 0.8, 1.2)
        nn.init.uniform_(norm.bias, -0.1, 0.1)
    if norms:
        module.train()
        with torch.no_grad():
            for _ in range(rounds):
                module(*[torch.randn(4, *i.shape[1:]) for i in inputs])
    return module.eval()


def picture(size, scale=2.0, offset=-1.0):
    return torch.rand(1, 3, size, size) * scale + offset


def tokens(length, words):
    return torch.randint(0, words, (1, length), dtype=torch.int32)


def own(build, inputs, outputs):
    """A plain module; `inputs` makes the example inputs."""
    def make():
        module, given = build(), inputs()
        floats = all(value.is_floating_point() for value in given.values())
        return Network(settled(module, *given.values()) if floats else module.eval(), given, outputs)
    return make


def lively(build, gain=1.7, **gains):
    """A maker of the module with larger products, so that what it answers varies by more than float16 rounds.

    - gain: the factor of every product's weights; 1.7 makes results about as large as what is given.
    - gains: factors of single parts instead, by their names.
    """
    def make():
        module = build()
        for name, parameter in module.named_parameters():
            layer = module.get_submodule(name.rpartition(".")[0])
            if parameter.dim() > 1 and not isinstance(layer, nn.Embedding):
                parameter.data *= next((value for part, value in gains.items() if part in name.split(".")), gain)
        return module
    return make
