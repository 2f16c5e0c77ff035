"""Makes the models of `Benchmarks/compressed`: one decoding step of GPT-2 (random weights), in float16 and compressed.

python compressed_models.py FOLDER: FOLDER/<form>.mlpackage for each form that is not there yet, and FOLDER/step.npz,
the inputs of a step.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Oracles", "zoo", "Networks"))

PAST = 63


def forms():
    import coremltools.optimize.coreml as optimize

    def linear(**options):
        config = optimize.OpLinearQuantizerConfig(mode="linear_symmetric", **options)
        return lambda model: optimize.linear_quantize_weights(model, optimize.OptimizationConfig(global_config=config))

    def palette(bits):
        config = optimize.OpPalettizerConfig(mode="uniform", nbits=bits)
        return lambda model: optimize.palettize_weights(model, optimize.OptimizationConfig(global_config=config))

    return {
        "float16": lambda model: model,
        "int8": linear(dtype="int8", granularity="per_channel"),
        "int4-block32": linear(dtype="int4", granularity="per_block", block_size=32),
        "palette8": palette(8),
        "palette6": palette(6),
        "palette4": palette(4),
        "palette2": palette(2),
    }


def main(folder):
    import coremltools as ct
    import torch
    import catalogue

    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(7)
    network = catalogue.gpt2_decode(PAST)
    inputs = {name: value.numpy() for name, value in network.inputs.items()}
    np.savez(os.path.join(folder, "step.npz"), **inputs)
    source = os.path.join(folder, "float16.mlpackage")
    if not os.path.exists(source):
        traced = torch.jit.trace(network.module, tuple(network.inputs.values()))
        model = ct.convert(
            traced,
            inputs=[
                ct.TensorType(name=name, shape=value.shape, dtype=np.int32 if value.dtype == torch.int32 else np.float32)
                for name, value in network.inputs.items()
            ],
            outputs=[ct.TensorType(name=name, dtype=np.float32) for name in network.outputs],
            minimum_deployment_target=ct.target.iOS18,
            compute_units=ct.ComputeUnit.CPU_ONLY,
            skip_model_load=True,
        )
        model.save(source)
    for name, compress in forms().items():
        path = os.path.join(folder, name + ".mlpackage")
        if os.path.exists(path):
            continue
        model = ct.models.MLModel(source, skip_model_load=True)
        compress(model).save(path)
        print(path, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
