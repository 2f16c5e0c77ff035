"""Whole training runs beside PyTorch's: the largest difference of any weight after them.

Digits of scikit-learn, the same weights to begin with, the same order of the same mini-batches, a short one at the end
of each epoch included.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from sklearn import datasets

import networks

OPTIMIZERS = {
    "SGD": ("sgd", 0.1, 0.0),
    "SGD with momentum": ("sgd", 0.05, 0.9),
    "Adam": ("adam", 0.002),
}
EXAMPLES, BATCH, EPOCHS = 500, 32, 4
BOUNDS = {"SGD": 1e-5, "SGD with momentum": 1e-5, "Adam": 1e-4}
DOUBLE_BOUND = 1e-9


def batches(count, epochs):
    generator = np.random.default_rng(5)
    result = []
    for _ in range(epochs):
        order = generator.permutation(count)
        result.append([order[start:start + BATCH].tolist() for start in range(0, count, BATCH)])
    return result


def train(case, optimizer, criterion, inputs, targets, epochs):
    """PyTorch's run; gives the losses."""
    stepper = networks.torch_optimizer(case, optimizer)
    losses = []
    for epoch in epochs:
        for batch in epoch:
            stepper.zero_grad()
            loss = criterion(case.module(inputs[batch]), targets[batch])
            loss.backward()
            stepper.step()
            losses.append(loss.item())
    return losses


def run(runner, folder, *flags):
    output = subprocess.run([runner, folder, *flags], check=True, capture_output=True, text=True).stdout
    weights = np.fromfile(os.path.join(folder, "weights.bin"), dtype=np.float64)
    return json.loads(output.splitlines()[-1]), weights


def check(runner, name, title, isDouble, count=EXAMPLES, epoch_count=EPOCHS, loss="cross-entropy"):
    dtype = torch.float64 if isDouble else torch.float32
    digits = datasets.load_digits()
    images = (digits.data[:count] / 16).astype(np.float32)
    classes = digits.target[:count].astype(np.int32)
    case = networks.CASES[name](torch.float32)
    optimizer = OPTIMIZERS[title]
    with tempfile.TemporaryDirectory() as folder:
        networks.write(case, folder, optimizer, loss)
        case.module.to(dtype)
        epochs = batches(count, epoch_count)
        images.tofile(os.path.join(folder, "inputs.bin"))
        values = np.eye(10, dtype=np.float32)[classes]
        isClass = loss == "cross-entropy"
        (classes if isClass else values).tofile(os.path.join(folder, "targets.bin"))
        settings = {
            "input": "image", "inputShape": case.run_shape, "target": "probabilities_true" if isClass else "logits_true",
            "targetShape": [] if isClass else [10], "epochs": epochs,
        }
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump(settings, file)
        inputs = torch.tensor(images.reshape(count, *case.input_shape), dtype=dtype)
        targets = torch.tensor(classes, dtype=torch.long) if isClass else torch.tensor(values, dtype=dtype)
        criterion = torch.nn.CrossEntropyLoss() if isClass else torch.nn.MSELoss()
        losses = train(case, optimizer, criterion, inputs, targets, epochs)
        expected = np.concatenate([networks.numbers(value).ravel() for value in networks.parameters(case)])
        flags = ["--double"] if isDouble else []
        report, weights = run(runner, folder, *flags)
        difference = np.abs(weights - expected).max()
        apart = np.abs(np.array(report["losses"]) - np.array(losses)).max()
        bound = DOUBLE_BOUND if isDouble else BOUNDS[title]
        precision = "float64" if isDouble else "float32"
        steps = len(losses)
        print(f"{name:4} {loss:13} {title:17} {precision}  {steps:3} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}: "
              f"weights differ by {difference:.1e} (bound {bound:.0e}), losses by {apart:.1e}", flush=True)
        problems = [] if difference <= bound else [f"{name} {title} {precision}: {difference:.2e} > {bound:.0e}"]
        if not isDouble:
            for threads in (1, 2, 3):
                _, again = run(runner, folder, "--threads", str(threads))
                if not np.array_equal(weights, again):
                    problems.append(f"{name} {title}: other weights with {threads} threads")
        return problems


def main():
    runner = sys.argv[1]
    torch.set_num_threads(2)
    problems = []
    for name in networks.CASES:
        for title in OPTIMIZERS:
            problems += check(runner, name, title, isDouble=False)
    for name in networks.CASES:
        for title in OPTIMIZERS:
            problems += check(runner, name, title, isDouble=True, count=40 if name == "CNN" else 100, epoch_count=1 if name == "CNN" else 3)
    for title in OPTIMIZERS:
        problems += check(runner, "MLP", title, isDouble=False, loss="squared error")
        problems += check(runner, "MLP", title, isDouble=True, count=100, loss="squared error")
    for problem in problems:
        print("FAILED", problem)
    print(f"{len(problems)} failures")
    sys.exit(1 if problems else 0)


main()
