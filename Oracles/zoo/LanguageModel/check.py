"""Compares the decoder's logits with PyTorch's and counts tokens a second.

    check.py FOLDER [--speed]

The bound is the zoo's for float16: three times the move that rounding nothing but the scales to float16 makes in PyTorch,
and 2⁻¹⁰ for the rounding of the rest, relative to the range of the logits.  With --speed the prompt and the tokens that
follow it are timed on one thread, in processor time.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np
import swift_coreml

HALF_ROUNDING = 2.0 ** -10


def logits(model, state, tokens, start):
    """The answer to `tokens`, the first of which stands at position `start`."""
    end = start + tokens.shape[1]
    # The cut form has no position: the mask ends with the last token.
    context = model.inputs["mask"].shape[3] if "position" in model.inputs else end
    mask = np.where(np.arange(context)[None] <= np.arange(start, end)[:, None], 0.0, -1e4).astype(np.float16)[None, None]
    given = {"tokens": tokens, "mask": mask}
    if "position" in model.inputs:
        given["position"] = np.array([start], np.int32)
    return model.predict(given, state=state)["logits"].astype(np.float32)


def answers(model, tokens, prompt):
    state = model.make_state()
    rows = [logits(model, state, tokens[:, :prompt], 0)]
    for place in range(prompt, tokens.shape[1]):
        rows.append(logits(model, state, tokens[:, place:place + 1], place))
    return np.concatenate(rows)


def speed(model, tokens, prompt, generated=32, rounds=3):
    """Tokens for each second of processor time: of the prompt, and of greedy generation after it; the best of `rounds`."""
    best = [0.0, 0.0]
    for _ in range(rounds):
        state = model.make_state()
        started = time.process_time()
        row = logits(model, state, tokens[:, :prompt], 0)
        best[0] = max(best[0], prompt / (time.process_time() - started))
        started = time.process_time()
        for place in range(prompt, prompt + generated):
            row = logits(model, state, np.array([[int(row.argmax())]], np.int32), place)
        best[1] = max(best[1], generated / (time.process_time() - started))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    facts = json.loads((options.folder / "facts.json").read_text())
    with np.load(options.folder / "reference.npz") as arrays:
        tokens, prompt, expected = arrays["tokens"], int(arrays["prompt"]), arrays["logits"]
    swift_coreml.set_threads(1)
    started = time.perf_counter()
    model = swift_coreml.Model(options.folder / "model.mlpackage")
    print(f"{facts['parameters'] / 1e9:.3f} billion parameters, loaded in {time.perf_counter() - started:.1f} s")
    given = answers(model, tokens, prompt)
    wrong = np.abs(given - expected) / np.ptp(expected, axis=1, keepdims=True)
    bound = 3 * facts["half_effect"] + HALF_ROUNDING
    same = int((given.argmax(1) == expected.argmax(1)).sum())
    within = bool(np.isfinite(wrong).all() and wrong.max() <= bound)
    print(f"largest error {wrong.max():.1e}, bound {bound:.1e}, median error {np.median(wrong):.1e}, likeliest token the same "
          f"{same} of {len(given)}: {'within' if within else 'out of bounds'}")
    if options.speed:
        first, following = speed(model, tokens, prompt)
        print(f"prompt of {prompt}: {first:.1f} tokens a second, generation: {following:.1f} (one thread, processor time)")
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
