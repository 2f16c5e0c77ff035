"""Updatable networks for the training checks: the same layers in PyTorch and in a Core ML file, with equal weights."""
import os

import coremltools as ct
import numpy as np
import torch
from coremltools.models import datatypes
from coremltools.models.neural_network import AdamParams, NeuralNetworkBuilder, SgdParams
from torch import nn


class Case:
    """A network, how its layers are called in the file, and how to export it.

    A recurrent network states its LSTM's `hidden` size, and its `input_shape` begins with the number of steps.
    """

    def __init__(self, name, module, input_shape, export, hidden=None):
        self.name, self.module, self.input_shape, self.export, self.hidden = name, module, input_shape, export, hidden

    @property
    def run_shape(self):
        """The shape of an example in the runner's files."""
        steps, *rest = self.input_shape
        return [steps, 1, *rest] if self.hidden else list(self.input_shape)


def numbers(tensor):
    return tensor.detach().numpy().astype(np.float64)


def builder_for(shape, classes, output="probabilities"):
    inputs = [("image", datatypes.Array(*shape))]
    return NeuralNetworkBuilder(inputs, [(output, datatypes.Array(classes))])


def inner_product(builder, name, layer, source, target):
    builder.add_inner_product(
        name, numbers(layer.weight), numbers(layer.bias), layer.in_features, layer.out_features, True, source, target
    )


def convolution(builder, name, layer, source, target):
    border = layer.padding[0]
    builder.add_convolution(
        name, layer.in_channels, layer.out_channels, *layer.kernel_size, *layer.stride, "valid", 1,
        numbers(layer.weight).transpose(2, 3, 1, 0), numbers(layer.bias), True, input_name=source, output_name=target,
        padding_top=border, padding_bottom=border, padding_left=border, padding_right=border,
    )


def mlp(dtype):
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 24), nn.Sigmoid(), nn.Linear(24, 10)).to(dtype)

    def export(builder):
        inner_product(builder, "fc1", module[0], "image", "h1")
        builder.add_activation("relu", "RELU", "h1", "h2")
        inner_product(builder, "fc2", module[2], "h2", "h3")
        builder.add_activation("sigmoid", "SIGMOID", "h3", "h4")
        inner_product(builder, "fc3", module[4], "h4", "logits")
        return ["fc1", "fc2", "fc3"]

    return Case("MLP", module, (64,), export)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.conv3 = nn.Conv2d(16, 12, 2, stride=2)
        self.fc = nn.Linear(12, 10)
        with torch.no_grad():
            self.norm.running_mean.uniform_(-0.2, 0.2)
            self.norm.running_var.uniform_(0.5, 1.5)
            self.norm.weight.uniform_(0.5, 1.5)
            self.norm.bias.uniform_(-0.5, 0.5)
        self.norm.requires_grad_(False)
        self.norm.eval()

    def forward(self, x):
        x = torch.relu(self.norm(self.conv1(x)))
        x = torch.max_pool2d(x, 2)
        x = torch.tanh(self.conv2(x))
        x = torch.sigmoid(self.conv3(x))
        return self.fc(x.flatten(1))


def cnn(dtype):
    torch.manual_seed(2)
    module = SmallCNN().to(dtype)

    def export(builder):
        convolution(builder, "conv1", module.conv1, "image", "c1")
        norm = module.norm
        builder.add_batchnorm(
            "norm", 8, numbers(norm.weight), numbers(norm.bias), numbers(norm.running_mean),
            numbers(norm.running_var), "c1", "n1", epsilon=norm.eps,
        )
        builder.add_activation("relu", "RELU", "n1", "r1")
        builder.add_pooling("pool", 2, 2, 2, 2, "MAX", "VALID", "r1", "p1")
        convolution(builder, "conv2", module.conv2, "p1", "c2")
        builder.add_activation("tanh", "TANH", "c2", "t2")
        convolution(builder, "conv3", module.conv3, "t2", "c3")
        builder.add_activation("sigmoid", "SIGMOID", "c3", "s3")
        builder.add_flatten("flatten", 0, "s3", "f3")
        inner_product(builder, "fc", module.fc, "f3", "logits")
        return ["conv1", "conv2", "conv3", "fc"]

    return Case("CNN", module, (1, 8, 8), export)


class Recurrent(nn.Module):
    """The rows of a picture, one after the other: an updatable layer, an LSTM that stays, an updatable layer."""

    def __init__(self, columns, inner, hidden):
        super().__init__()
        self.first = nn.Linear(columns, inner)
        self.lstm = nn.LSTM(inner, hidden)
        self.lstm.requires_grad_(False)
        self.last = nn.Linear(hidden, 10)

    def forward(self, x):
        steps = torch.tanh(self.first(x.transpose(0, 1)))
        return self.last(self.lstm(steps)[1][0][0])


def recurrent(dtype, side=8, inner=12, hidden=16):
    torch.manual_seed(3)
    module = Recurrent(side, inner, hidden).to(dtype)

    def export(builder):
        inner_product(builder, "first", module.first, "image", "f1")
        builder.add_activation("tanh", "TANH", "f1", "t1")
        lstm = module.lstm
        order = [0, 1, 3, 2]  # PyTorch has the cell's gate third, the file last.
        split = lambda tensor: [numbers(part) for part in tensor.chunk(4)]
        pick = lambda parts: [parts[place] for place in order]
        bias = split(lstm.bias_ih_l0 + lstm.bias_hh_l0)
        builder.add_unilstm(
            "lstm", pick(split(lstm.weight_hh_l0)), pick(split(lstm.weight_ih_l0)), pick(bias), hidden, inner,
            ["t1", "h0", "c0"], ["l1", "h1", "c1"], output_all=False,
        )
        inner_product(builder, "last", module.last, "l1", "logits")
        return ["first", "last"]

    return Case("LSTM", module, (side, side), export, hidden)


class Block(nn.Module):
    """A block of ResNet-18 without batch normalisation, which is folded into its convolutions; residual or plain."""

    def __init__(self, inputs, outputs, stride, residual):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity() if residual else None

    def forward(self, x):
        y = self.second(torch.relu(self.first(x)))
        return torch.relu(y if self.shortcut is None else y + self.shortcut(x))


def resnet18(side=224):
    """ResNet-18 with random weights, whose last block and last layer learn, and the number of the module's layers before it.

    The last block is plain: the format allows no sum between an updatable layer and the loss.
    """
    torch.manual_seed(6)
    blocks = [Block(width if index else max(width // 2, 64), width, 2 if width > 64 and not index else 1, (width, index) != (512, 1))
              for width in (64, 128, 256, 512) for index in range(2)]
    module = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1),
                           nn.Flatten(), nn.Linear(512, 10))
    frozen = 2 + len(blocks)
    for layer in list(module)[:frozen]:
        layer.requires_grad_(False)

    def export(builder):
        convolution(builder, "stem", module[0], "image", "stem")
        builder.add_activation("stem.relu", "RELU", "stem", "stem.relu")
        builder.add_pooling("stem.pool", 3, 3, 2, 2, "MAX", "VALID", "stem.relu", "block0", padding_top=1, padding_bottom=1,
                            padding_left=1, padding_right=1)
        for index, block in enumerate(blocks):
            source, name = f"block{index}", f"block{index + 1}"
            convolution(builder, f"{name}.first", block.first, source, f"{name}.first")
            builder.add_activation(f"{name}.relu", "RELU", f"{name}.first", f"{name}.relu")
            convolution(builder, f"{name}.second", block.second, f"{name}.relu", f"{name}.second")
            if isinstance(block.shortcut, nn.Conv2d):
                convolution(builder, f"{name}.shortcut", block.shortcut, source, f"{name}.shortcut")
                source = f"{name}.shortcut"
            last = f"{name}.second"
            if block.shortcut is not None:
                builder.add_elementwise(f"{name}.sum", [last, source], f"{name}.sum", "ADD")
                last = f"{name}.sum"
            builder.add_activation(name, "RELU", last, name)
        builder.add_pooling("mean", 7, 7, 1, 1, "AVERAGE", "VALID", name, "mean", is_global=True)
        builder.add_flatten("flatten", 0, "mean", "flat")
        inner_product(builder, "fc", module[-1], "flat", "logits")
        return [f"{name}.first", f"{name}.second", "fc"]

    return Case("ResNet-18", module, (3, side, side), export), frozen


CASES = {"MLP": mlp, "CNN": cnn, "LSTM": recurrent}


def write(case, folder, optimizer, loss="cross-entropy", classes=10):
    """Writes the file; `optimizer` is ("sgd", rate, momentum) or ("adam", rate)."""
    os.makedirs(folder, exist_ok=True)
    if case.hidden:
        inputs = [("image", datatypes.Array(*case.input_shape[1:])), ("h0", datatypes.Array(case.hidden)),
                  ("c0", datatypes.Array(case.hidden))]
        builder = NeuralNetworkBuilder(inputs, [("probabilities", datatypes.Array(classes))])
        for feature in builder.spec.description.input[1:]:
            feature.type.isOptional = True
    else:
        builder = builder_for(case.input_shape, classes, "probabilities" if loss == "cross-entropy" else "logits")
    layers = case.export(builder)
    if loss == "cross-entropy":
        builder.add_softmax("softmax", "logits", "probabilities")
    builder.make_updatable(layers)
    if loss == "cross-entropy":
        builder.set_categorical_cross_entropy_loss("loss", "probabilities")
    else:
        builder.set_mean_squared_error_loss("loss", ("logits", datatypes.Array(classes)))
    if optimizer[0] == "sgd":
        parameters = SgdParams(lr=optimizer[1], batch=32, momentum=optimizer[2])
        builder.set_sgd_optimizer(parameters)
    else:
        builder.set_adam_optimizer(AdamParams(lr=optimizer[1], batch=32))
    builder.set_epochs(1)
    ct.models.utils.save_spec(builder.spec, os.path.join(folder, "model.mlmodel"))
    return layers


def parameters(case):
    """The weights in the order in which the runner writes them."""
    named = dict(case.module.named_parameters())
    return [value for value in named.values() if value.requires_grad]


def torch_optimizer(case, optimizer):
    trained = parameters(case)
    if optimizer[0] == "sgd":
        return torch.optim.SGD(trained, lr=optimizer[1], momentum=optimizer[2])
    return torch.optim.Adam(trained, lr=optimizer[1])
