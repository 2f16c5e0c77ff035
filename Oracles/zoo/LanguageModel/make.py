"""Makes the decoder: an ML program with states and four-bit weights, and PyTorch's answers.

    make.py FOLDER [--small] [--cut]

FOLDER then holds `model.mlpackage`, `reference.npz` (the tokens, `logits` after the prompt and after every token) and
`facts.json`.
"""
import argparse
import json
import pathlib
import time

import coremltools as ct
import coremltools.optimize as cto
import numpy as np
import torch

import decoder

SEED, PROMPT, GENERATED = 20261127, 96, 12


def answers(module, tokens, prompt):
    """Logits after the prompt and after each token that follows it."""
    module.forget()
    rows = []
    with torch.no_grad():
        rows.append(module(*module.inputs(tokens[:, :prompt], 0)))
        for place in range(prompt, tokens.shape[1]):
            rows.append(module(*module.inputs(tokens[:, place:place + 1], place)))
    return torch.cat(rows).numpy()


def converted(module, folder):
    """The ML program in float16, its weights in four bits with a scale for each block."""
    shape = module.shape
    module.forget()
    with torch.no_grad():
        example = module.inputs(torch.zeros(1, 2, dtype=torch.int32), 3)
        trace = torch.jit.trace(module, example, check_trace=False)
    module.forget()
    count = ct.RangeDim(1, shape.context, default=1)
    caches = [ct.StateType(ct.TensorType(shape=tuple(module.keys.shape), dtype=np.float16), name=name)
              for name in ("keys", "values")]
    inputs = [ct.TensorType("tokens", (1, count), np.int32)]
    if isinstance(module, decoder.CutDecoder):
        inputs.append(ct.TensorType("mask", (1, 1, count, ct.RangeDim(1, shape.context, default=1)), np.float16))
    else:
        inputs += [ct.TensorType("position", (1,), np.int32),
                   ct.TensorType("mask", (1, 1, count, shape.context), np.float16)]
    model = ct.convert(
        trace,
        inputs=inputs,
        outputs=[ct.TensorType("logits", dtype=np.float16)], states=caches,
        minimum_deployment_target=ct.target.iOS18, skip_model_load=True)
    settings = cto.coreml.OpLinearQuantizerConfig(
        mode="linear_symmetric", dtype="int4", granularity="per_block", block_size=shape.block,
        weight_threshold=shape.context * shape.head)        # the tables of cosines and sines are no larger
    model = cto.coreml.linear_quantize_weights(model, cto.coreml.OptimizationConfig(
        op_type_configs={"linear": settings, "gather": settings}))
    model.save(str(folder / "model.mlpackage"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="two narrow layers, to try the way")
    parser.add_argument("--cut", action="store_true", help="cut the caches behind the last token")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    started = time.time()
    shape = decoder.SMALL if options.small else decoder.Shape()
    prompt = PROMPT // 3 if options.small else PROMPT
    kind = decoder.CutDecoder if options.cut else decoder.Decoder
    module = kind(shape).eval().requires_grad_(False)
    tokens = torch.randint(0, shape.words, (1, prompt + GENERATED), dtype=torch.int32)
    expected = answers(module, tokens, prompt)
    module.half(True)
    moved = answers(module, tokens, prompt)
    module.half(False)
    np.savez(options.folder / "reference.npz", tokens=tokens.numpy(), prompt=prompt, logits=expected)
    effect = float((np.abs(moved - expected).max(1) / np.ptp(expected, axis=1)).max())
    facts = {"parameters": sum(p.numel() for p in module.parameters()), "half_effect": effect,
             "shape": {name: getattr(shape, name) for name in shape.__dataclass_fields__}}
    (options.folder / "facts.json").write_text(json.dumps(facts, indent=1))
    size = facts["parameters"] / 1e9
    print(f"PyTorch's answers of {size:.3f} billion parameters ({time.time() - started:.0f} s)", flush=True)
    converted(module, options.folder)
    print(f"converted ({time.time() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
