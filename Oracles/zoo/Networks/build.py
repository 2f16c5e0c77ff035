"""Makes the zoo: for every network the converted forms, PyTorch's inputs and answers, and an ONNX export.

    build.py OUTPUT [--again] [NAME …]      (no names: all; a finished network is left as it is but for --again)

OUTPUT/NAME holds `model.fp32.mlpackage`, `model.fp16.mlpackage`, `model.mlmodel` (as far as the converter can),
`model.onnx`, `reference.npz` (`in:FEATURE`, `out:FEATURE`) and `facts.json`.  OUTPUT/INDEX.txt lists what is done,
OUTPUT/OPS.txt the operations and layer kinds that each file uses.
"""
import argparse
import json
import logging
import os
import pathlib
import shutil
import sys
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import coremltools as ct
import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

import catalogue
import inventory
import operations  # noqa: F401  (registers conversions)
from measures import SET_SHARE, errors, matched

SEED = 20260101


def answers(module, inputs):
    """The results of the module as a list of arrays."""
    with torch.no_grad():
        results = module(*inputs)
    return [r.numpy() for r in (results if isinstance(results, (tuple, list)) else [results])]


def half_effect(network, expected, compared_as_sets):
    """How far the answers move, relative to their range, when nothing but the weights is rounded to float16."""
    kept = {name: value.clone() for name, value in network.module.state_dict().items()}
    for value in network.module.state_dict().values():
        if value.is_floating_point():
            value.copy_(value.half().float())
    moved = answers(network.module, list(network.inputs.values()))
    network.module.load_state_dict(kept)
    if not compared_as_sets:
        return max(float(errors(e, m).max()) for m, e in zip(moved, expected))
    expected, moved = dict(zip(network.outputs, expected)), dict(zip(network.outputs, moved))
    moved = matched(expected, moved, allowed=len(expected["boxes"]))
    return max(float(np.quantile(errors(expected[name], moved[name]), SET_SHARE)) for name in expected)


def operation_count(network):
    """Floating-point operations of one prediction: two for each multiplication in a product, nothing for the rest."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        network.module(*network.inputs.values())
    total = counter.get_total_flops()
    for module in network.module.modules():         # the counter passes over fused recurrent stacks
        if isinstance(module, (torch.nn.LSTM, torch.nn.GRU)):
            weights = sum(p.numel() for name, p in module.named_parameters() if name.startswith("weight"))
            total += 2 * weights * recurrent_steps(network, module)
    return total


def recurrent_steps(network, recurrent):
    """The length of the sequence that reaches `recurrent`."""
    seen = []
    handle = recurrent.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[1]))
    with torch.no_grad():
        network.module(*network.inputs.values())
    handle.remove()
    return seen[0]


def forms(entry):
    """File name → the options of the converter."""
    return {
        "model.fp32.mlpackage": dict(
            convert_to="mlprogram", compute_precision=ct.precision.FLOAT32, minimum_deployment_target=ct.target.iOS15),
        "model.fp16.mlpackage": dict(
            convert_to="mlprogram", minimum_deployment_target=getattr(ct.target, entry.half_target)),
        "model.mlmodel": dict(convert_to="neuralnetwork"),
    }


def build(name, output):
    entry = catalogue.ZOO[name]
    folder = output / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    network = entry.make()
    for parameter in network.module.parameters():
        parameter.requires_grad_(False)
    inputs = list(network.inputs.values())
    expected = answers(network.module, inputs)
    arrays = {"in:" + feature: value.numpy() for feature, value in network.inputs.items()}
    arrays.update({"out:" + feature: value for feature, value in zip(network.outputs, expected)})
    np.savez(folder / "reference.npz", **arrays)
    facts = {
        "name": name,
        "parameters": sum(p.numel() for p in network.module.parameters()),
        "flops": operation_count(network),
        "half_effect": half_effect(network, expected, entry.set_outputs),
        "compared_as_sets": entry.set_outputs,
        "forms": {},
    }
    with torch.no_grad():
        trace = torch.jit.trace(network.module, inputs, check_trace=False)

    for file, options in forms(entry).items():
        started = time.time()
        try:
            model = ct.convert(
                trace,
                inputs=[
                    ct.TensorType(name=feature, shape=tuple(value.shape), dtype=value.numpy().dtype.type)
                    for feature, value in network.inputs.items()],
                outputs=[ct.TensorType(name=feature) for feature in network.outputs],
                skip_model_load=True, **options)
            model.save(str(folder / file))
            facts["forms"][file] = {"uses": inventory.uses(model.get_spec())}
            del model
        except Exception as error:
            facts["forms"][file] = {"missing": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"}
        note = "missing: " + facts["forms"][file]["missing"] if "missing" in facts["forms"][file] else "ok"
        print(f"{name} {file} {note} ({time.time() - started:.0f} s)", flush=True)

    if entry.onnx:
        try:
            torch.onnx.export(
                network.module, tuple(inputs), str(folder / "model.onnx"), opset_version=17, dynamo=False,
                input_names=list(network.inputs), output_names=network.outputs)
        except Exception as error:
            facts["onnx_missing"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
            print(f"{name} model.onnx missing: {facts['onnx_missing']}", flush=True)
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))
    inventory.write(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_intermixed_args()
    unknown = set(options.names) - set(catalogue.ZOO)
    if unknown:
        sys.exit(f"No such network: {', '.join(sorted(unknown))}. There are {', '.join(catalogue.ZOO)}.")
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)      # the fused encoder layer has no converter
    for name in options.names or catalogue.ZOO:
        if options.again or not (options.output / name / "facts.json").exists():
            build(name, options.output)


if __name__ == "__main__":
    main()
