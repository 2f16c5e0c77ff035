"""Networks that classify or segment pictures: Inception v4, Xception, NASNet-A and PSPNet, all cells, fewer channels."""
import torch
from torch import nn
from torch.nn import functional


class Convolved(nn.Sequential):
    """Convolution, batch normalisation, ReLU; `padding` keeps the size if it is not given."""

    def __init__(self, inputs, outputs, kernel, stride=1, padding=None, dilation=1):
        kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        padding = tuple(dilation * (k // 2) for k in kernel) if padding is None else padding
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Branches(nn.Module):
    """Parts that see the same picture, their channels joined."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        return torch.cat([part(x) for part in self.parts], 1)


class Fork(nn.Module):
    """A trunk whose result several branches see."""

    def __init__(self, trunk, *parts):
        super().__init__()
        self.trunk, self.branches = trunk, Branches(*parts)

    def forward(self, x):
        return self.branches(self.trunk(x))


def mean_pool():
    return nn.AvgPool2d(3, 1, 1, count_include_pad=False)


class InceptionV4(nn.Module):
    """Stem, 4 cells A, reduction, 7 cells B, reduction, 3 cells C.  - share: part of the original's channels.  [n 3 299 299]"""

    def __init__(self, share=0.5, classes=1000):
        super().__init__()
        w = lambda channels: int(channels * share)

        def conv(inputs, outputs, kernel, **options):
            return Convolved(w(inputs), w(outputs), kernel, **options)

        self.stem = nn.Sequential(
            Convolved(3, w(32), 3, 2, 0), conv(32, 32, 3, padding=0), conv(32, 64, 3),
            Branches(nn.MaxPool2d(3, 2), conv(64, 96, 3, stride=2, padding=0)),
            Branches(
                nn.Sequential(conv(160, 64, 1), conv(64, 96, 3, padding=0)),
                nn.Sequential(conv(160, 64, 1), conv(64, 64, (1, 7)), conv(64, 64, (7, 1)), conv(64, 96, 3, padding=0))),
            Branches(conv(192, 192, 3, stride=2, padding=0), nn.MaxPool2d(3, 2)))
        a = lambda: Branches(
            conv(384, 96, 1), nn.Sequential(conv(384, 64, 1), conv(64, 96, 3)),
            nn.Sequential(conv(384, 64, 1), conv(64, 96, 3), conv(96, 96, 3)), nn.Sequential(mean_pool(), conv(384, 96, 1)))
        b = lambda: Branches(
            conv(1024, 384, 1), nn.Sequential(conv(1024, 192, 1), conv(192, 224, (1, 7)), conv(224, 256, (7, 1))),
            nn.Sequential(conv(1024, 192, 1), conv(192, 192, (7, 1)), conv(192, 224, (1, 7)), conv(224, 224, (7, 1)),
                          conv(224, 256, (1, 7))),
            nn.Sequential(mean_pool(), conv(1024, 128, 1)))
        c = lambda: Branches(
            conv(1536, 256, 1), Fork(conv(1536, 384, 1), conv(384, 256, (1, 3)), conv(384, 256, (3, 1))),
            Fork(nn.Sequential(conv(1536, 384, 1), conv(384, 448, (3, 1)), conv(448, 512, (1, 3))),
                 conv(512, 256, (1, 3)), conv(512, 256, (3, 1))),
            nn.Sequential(mean_pool(), conv(1536, 256, 1)))
        self.cells = nn.Sequential(
            *[a() for _ in range(4)],
            Branches(
                conv(384, 384, 3, stride=2, padding=0),
                nn.Sequential(conv(384, 192, 1), conv(192, 224, 3), conv(224, 256, 3, stride=2, padding=0)),
                nn.MaxPool2d(3, 2)),
            *[b() for _ in range(7)],
            Branches(
                nn.Sequential(conv(1024, 192, 1), conv(192, 192, 3, stride=2, padding=0)),
                nn.Sequential(conv(1024, 256, 1), conv(256, 256, (1, 7)), conv(256, 320, (7, 1)),
                              conv(320, 320, 3, stride=2, padding=0)),
                nn.MaxPool2d(3, 2)),
            *[c() for _ in range(3)])
        self.head = nn.Linear(w(1536), classes)

    def forward(self, x):
        return self.head(self.cells(self.stem(x)).mean((2, 3)))


class Separable(nn.Sequential):
    """A depthwise convolution, a pointwise one and batch normalisation."""

    def __init__(self, inputs, outputs, kernel=3, stride=1):
        super().__init__(
            nn.Conv2d(inputs, inputs, kernel, stride, kernel // 2, groups=inputs, bias=False),
            nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))


class XceptionBlock(nn.Module):
    """Separable convolutions, each after a ReLU, pooling if strided; a residual connection, projected where sizes differ."""

    def __init__(self, widths, stride=1, first=True):
        super().__init__()
        layers = []
        for index, (a, b) in enumerate(zip(widths, widths[1:])):
            layers += ([nn.ReLU()] if first or index else []) + [Separable(a, b)]
        self.body = nn.Sequential(*layers, *([nn.MaxPool2d(3, stride, 1)] if stride > 1 else []))
        changes = stride > 1 or widths[0] != widths[-1]
        self.skip = nn.Sequential(
            nn.Conv2d(widths[0], widths[-1], 1, stride, bias=False), nn.BatchNorm2d(widths[-1])) if changes else nn.Identity()

    def forward(self, x):
        return self.body(x) + self.skip(x)


class Xception(nn.Module):
    """Entry, eight middle blocks, exit.  - share: part of the original's channels.  [n 3 h w] → [n classes]"""

    def __init__(self, share=0.5, classes=1000):
        super().__init__()
        w = lambda *channels: tuple(int(c * share) for c in channels)
        self.trunk = nn.Sequential(
            Convolved(3, *w(32), 3, 2, 0), Convolved(*w(32, 64), 3, 1, 0),
            XceptionBlock(w(64, 128, 128), 2, first=False), XceptionBlock(w(128, 256, 256), 2),
            XceptionBlock(w(256, 728, 728), 2), *[XceptionBlock(w(728, 728, 728, 728)) for _ in range(8)],
            XceptionBlock(w(728, 728, 1024), 2), Separable(*w(1024, 1536)), nn.ReLU(), Separable(*w(1536, 2048)), nn.ReLU())
        self.head = nn.Linear(*w(2048), classes)

    def forward(self, x):
        return self.head(self.trunk(x).mean((2, 3)))


class TwiceSeparable(nn.Sequential):
    """NASNet's separable convolution: twice ReLU, separable, the first with the stride."""

    def __init__(self, width, kernel, stride=1):
        super().__init__(nn.ReLU(), Separable(width, width, kernel, stride), nn.ReLU(), Separable(width, width, kernel))


class Fitted(nn.Sequential):
    """ReLU, a pointwise convolution and batch normalisation: brings a cell's input to its width."""

    def __init__(self, inputs, outputs):
        super().__init__(nn.ReLU(), nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))


class Halved(nn.Module):
    """Half the size by two paths, the second moved by a pixel, so that every pixel counts."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.even, self.odd = (nn.Conv2d(inputs, part, 1, bias=False) for part in (outputs // 2, outputs - outputs // 2))
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = torch.relu(x)
        moved = functional.pad(x[:, :, 1:, 1:], (0, 1, 0, 1))
        pick = lambda y: functional.avg_pool2d(y, 1, 2)
        return self.norm(torch.cat([self.even(pick(x)), self.odd(pick(moved))], 1))


class NASNetCell(nn.Module):
    """A normal or reduction cell of NASNet-A on the last two cells' results."""

    def __init__(self, before, now, width, reduction, before_is_larger):
        super().__init__()
        self.before = (Halved if before_is_larger else Fitted)(before, width)
        self.now, self.reduction = Fitted(now, width), reduction
        kernels = (5, 7, 7, 5, 3) if reduction else (3, 3, 5, 5, 3)
        strides = (2, 2, 2, 2, 1) if reduction else (1,) * 5
        self.parts = nn.ModuleList(TwiceSeparable(width, k, s) for k, s in zip(kernels, strides))
        self.outputs = (4 if reduction else 6) * width

    def forward(self, before, now):
        p, h = self.before(before), self.now(now)
        mean = lambda x, stride=1: functional.avg_pool2d(x, 3, stride, 1, count_include_pad=False)
        if not self.reduction:
            return torch.cat([
                p, self.parts[0](h) + h, self.parts[1](p) + self.parts[2](h), mean(h) + p, mean(p) + mean(p),
                self.parts[3](p) + self.parts[4](p)], 1)
        greatest = functional.max_pool2d(h, 3, 2, 1)
        first = self.parts[0](h) + self.parts[1](p)
        second = greatest + self.parts[2](p)
        third = mean(h, 2) + self.parts[3](p)
        return torch.cat([second, third, mean(first) + second, self.parts[4](first) + greatest], 1)


class NASNet(nn.Module):
    """NASNet-A in its mobile form: two reductions as a stem, then normal cells in three groups.  [n 3 h w] → [n classes]

    - width: channels of the first group's cells (the mobile network's 44), cells: normal cells of each group (its 4).
    """

    def __init__(self, width=24, cells=2, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16))
        plan = [(width // 4, True), (width // 2, True)]
        for group in range(3):
            plan += ([(width << group, True)] if group else []) + [(width << group, False)] * cells
        self.cells, before, now, shrunk = nn.ModuleList(), 16, 16, False
        for channels, reduction in plan:
            self.cells.append(NASNetCell(before, now, channels, reduction, shrunk))
            before, now, shrunk = now, self.cells[-1].outputs, reduction
        self.head = nn.Linear(now, classes)

    def forward(self, x):
        before = now = self.stem(x)
        for cell in self.cells:
            before, now = now, cell(before, now)
        return self.head(torch.relu(now).mean((2, 3)))


class Bottleneck(nn.Module):
    """ResNet's block of three convolutions, dilated instead of strided in the last stages."""

    def __init__(self, inputs, width, stride, dilation):
        super().__init__()
        self.body = nn.Sequential(
            Convolved(inputs, width, 1), Convolved(width, width, 3, stride, dilation, dilation),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        changes = stride > 1 or inputs != 4 * width
        self.skip = nn.Sequential(
            nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)) if changes else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class PSPNet(nn.Module):
    """A dilated residual trunk at an eighth of the size, a pyramid of means of 1, 2, 3 and 6 cells, the mask at full size."""

    def __init__(self, width=32, blocks=2, classes=21):
        super().__init__()
        stages, now = [], 64
        for level, (stride, dilation) in enumerate(((1, 1), (2, 1), (1, 2), (1, 4))):
            for block in range(blocks):
                stages.append(Bottleneck(now, width << level, stride if block == 0 else 1, dilation))
                now = 4 * (width << level)
        self.trunk = nn.Sequential(
            Convolved(3, 32, 3, 2), Convolved(32, 32, 3), Convolved(32, 64, 3), nn.MaxPool2d(3, 2, 1), *stages)
        self.pyramid = nn.ModuleList(
            nn.Sequential(nn.AdaptiveAvgPool2d(cells), Convolved(now, now // 4, 1)) for cells in (1, 2, 3, 6))
        self.head = nn.Sequential(Convolved(2 * now, 128, 3), nn.Conv2d(128, classes, 1))

    def forward(self, x):
        y = self.trunk(x)
        spread = lambda part: functional.interpolate(part(y), size=y.shape[2:], mode="bilinear", align_corners=True)
        grown = [spread(part) for part in self.pyramid]
        mask = self.head(torch.cat([y] + grown, 1))
        return functional.interpolate(mask, size=x.shape[2:], mode="bilinear", align_corners=True)
