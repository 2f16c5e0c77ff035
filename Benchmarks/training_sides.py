"""Seconds per epoch of on-device updates beside PyTorch: `training_sides.py RUNNER [ROUNDS] [--record]`.

(a) the last two layers of a network of LeNet's size, everything in front of them frozen and computed once on both sides;
(b) every layer of a small convolutional network; (c) a dense layer in front of an LSTM of 128 cells that stays, and one
after it; (d) the last block (without its sum, which the format does
not allow there) and the last layer of ResNet-18, everything in front of them frozen and computed once.  1,000
pictures of 28 × 28, for (c) as 28 steps, for (d) 96 random pictures of 224 × 224; mini-batches of 32, SGD with momentum.
Both sides run in processes of their own with COREML_THREADS threads (2), in turn; printed are medians over all epochs
but each process's first.  On a machine with other work the processor time of one thread is the fairer measure.
--record keeps the table with date and machine for the documentation.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import figures

BATCH, EPOCHS = 32, 6
TITLES = {
    "lenet": "the last two layers of a LeNet, 1,000 images",
    "cnn": "all of a small convolutional network, 1,000 images",
    "lstm": "dense layers before and after an LSTM, 1,000 sequences of 28 steps",
    "resnet18": "the last block and layer of ResNet-18, 96 images of 224 × 224",
}


def make(name):
    import torch
    from torch import nn

    import networks

    if name == "lstm":
        return networks.recurrent(torch.float32, 28, 64, 128), 0
    if name == "resnet18":
        return networks.resnet18()
    torch.manual_seed(4)
    if name == "lenet":
        module = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
            nn.Linear(84, 10),
        )
        for layer in list(module)[:9]:
            layer.requires_grad_(False)
        updatable, frozen = ["fc2", "fc3"], 9
    else:
        module = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 64), nn.ReLU(), nn.Linear(64, 10),
        )
        updatable, frozen = ["conv1", "conv2", "fc1", "fc2"], 0

    def export(builder):
        blob, convolutions, products = "image", 0, 0
        layers = list(module)
        for index, layer in enumerate(layers):
            target = "logits" if index == len(layers) - 1 else f"b{index}"
            if isinstance(layer, nn.Conv2d):
                convolutions += 1
                networks.convolution(builder, f"conv{convolutions}", layer, blob, target)
            elif isinstance(layer, nn.Linear):
                products += 1
                networks.inner_product(builder, f"fc{products}", layer, blob, target)
            elif isinstance(layer, nn.ReLU):
                builder.add_activation(f"relu{index}", "RELU", blob, target)
            elif isinstance(layer, nn.MaxPool2d):
                builder.add_pooling(f"pool{index}", 2, 2, 2, 2, "MAX", "VALID", blob, target)
            else:
                builder.add_flatten(f"flatten{index}", 0, blob, target)
            blob = target
        return updatable

    return networks.Case(name, module, (1, 28, 28), export), frozen


def data(name):
    from sklearn import datasets

    if name == "resnet18":
        chance = np.random.default_rng(7)
        return chance.random((96, 3, 224, 224), dtype=np.float32), chance.integers(0, 10, 96).astype(np.int32)
    count = 1000
    digits = datasets.load_digits()
    images = np.kron(digits.images[:count] / 16, np.ones((1, 4, 4)))[:, 2:30, 2:30].astype(np.float32)
    return np.ascontiguousarray(images if name == "lstm" else images[:, None]), digits.target[:count].astype(np.int32)


def torch_side(name):
    import resource

    import torch

    torch.set_num_threads(int(os.environ.get("COREML_THREADS", 2)))
    case, frozen = make(name)
    images, classes = data(name)
    count = len(images)
    inputs, targets = torch.tensor(images), torch.tensor(classes, dtype=torch.long)
    start = time.perf_counter()
    head = case.module
    if frozen:
        with torch.no_grad():
            front = torch.nn.Sequential(*list(case.module)[:frozen])
            inputs = torch.cat([front(part) for part in inputs.split(BATCH)])
        head = torch.nn.Sequential(*list(case.module)[frozen:])
    preparation = time.perf_counter() - start
    optimizer = torch.optim.SGD([p for p in head.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    seconds, processor, losses = [], [], []
    for _ in range(EPOCHS):
        start, ticks = time.perf_counter(), time.process_time()
        for first in range(0, count, BATCH):
            optimizer.zero_grad()
            loss = criterion(head(inputs[first:first + BATCH]), targets[first:first + BATCH])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - ticks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "processorSeconds": processor, "losses": losses, "preparation": preparation, "peakMegabytes": peak}))


def main():
    given = [argument for argument in sys.argv[1:] if argument != "--record"]
    runner, rounds = given[0], int(given[1]) if len(given) > 1 else 5
    import networks

    table = []

    for name, title in TITLES.items():
        with tempfile.TemporaryDirectory() as folder:
            case, _ = make(name)
            networks.write(case, folder, ("sgd", 0.01, 0.9))
            images, classes = data(name)
            count = len(images)
            images.tofile(os.path.join(folder, "inputs.bin"))
            classes.tofile(os.path.join(folder, "targets.bin"))
            epoch = [list(range(first, min(first + BATCH, count))) for first in range(0, count, BATCH)]
            settings = {"input": "image", "inputShape": case.run_shape, "target": "probabilities_true", "targetShape": [],
                        "epochs": [epoch] * EPOCHS}
            with open(os.path.join(folder, "run.json"), "w") as file:
                json.dump(settings, file)
            sides = {"ours": [runner, folder], "PyTorch": [sys.executable, "-W", "ignore", __file__, "--torch", name]}
            found = {side: [] for side in sides}
            for _ in range(rounds):
                for side, command in sides.items():
                    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    found[side].append(json.loads(output.splitlines()[-1]))
        assert abs(found["ours"][0]["losses"][-1] - found["PyTorch"][0]["losses"][-1]) < 1e-3, "other losses"
        medians = {"seconds": {}, "processorSeconds": {}}
        peaks = {}
        for side, reports in found.items():
            for field, known in medians.items():
                known[side] = statistics.median(second for report in reports for second in report[field][1:])
            first = statistics.median(report["seconds"][0] for report in reports)
            preparation = statistics.median(report["preparation"] for report in reports)
            peak = statistics.median(report["peakMegabytes"] for report in reports)
            peaks[side] = peak
            print(f"{title}: {side:8} {medians['seconds'][side] * 1e3:8.2f} ms per epoch, {first * 1e3:8.2f} ms the first, "
                  f"{medians['processorSeconds'][side] * 1e3:8.2f} ms of processor time, preparation "
                  f"{preparation * 1e3:7.2f} ms, peak memory {peak:4.0f} MB")
        wall, processor = (known["ours"] / known["PyTorch"] for known in medians.values())
        print(f"{title}: ours / PyTorch = {wall:.2f} in time, {processor:.2f} in processor time", flush=True)
        table.append([title, f"{wall:.2f}", f"{peaks['ours']:.0f} MB, {peaks['PyTorch']:.0f} MB"])
    if "--record" in sys.argv:
        figures.record("training", "Benchmarks/training", ["trained parts", "ours ÷ PyTorch", "memory, PyTorch's"], table,
                       figures.versions(["torch"]))


if len(sys.argv) > 2 and sys.argv[1] == "--torch":
    torch_side(sys.argv[2])
else:
    main()
