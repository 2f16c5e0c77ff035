"""Networks that find things: SSD, SSD-Lite, YOLO v3, Mask R-CNN and, in point clouds, VoxelNet; small, with all their parts."""
import torch
from torch import nn
from torch.nn import functional

from pictures import Convolved


def prior_boxes(size, cells, scales, ratios=(1.0, 2.0, 0.5)):
    """SSD's prior boxes in pixels, centre and extent: for every cell one of each ratio and one between two scales."""
    boxes = []
    for count, scale, following in zip(cells, scales, scales[1:]):
        extents = [(scale * r ** 0.5, scale / r ** 0.5) for r in ratios] + [((scale * following) ** 0.5,) * 2]
        step = size / count
        for row in range(count):
            for column in range(count):
                boxes += [((column + 0.5) * step, (row + 0.5) * step, w, h) for w, h in extents]
    return torch.tensor(boxes)


def moved(boxes, offsets, scales=(0.1, 0.2)):
    """Boxes (centre, extent) moved by a network's offsets, as corners."""
    centre = boxes[:, :2] + offsets[:, :2] * scales[0] * boxes[:, 2:]
    half = boxes[:, 2:] * torch.exp(torch.clamp(offsets[:, 2:] * scales[1], -4.0, 4.0)) * 0.5
    return torch.cat([centre - half, centre + half], 1)


def best_of_each_class(boxes, scores, overlap, most):
    """Non-maximum suppression within each class; boxes [k 4], scores [k classes] → the kept boxes, scores and classes."""
    from torchvision.ops import nms
    best, label = scores.max(1)
    best, order = torch.topk(best, most)
    boxes, label = boxes[order], label[order]
    apart = boxes + label.float()[:, None] * 1000.0       # classes lie side by side, so that they do not suppress each other
    kept = nms(apart, best, overlap)
    return boxes[kept], best[kept], label[kept].int()


class ScaledNorm(nn.Module):
    """Each position's channels divided by their length, times a learned scale."""

    def __init__(self, width, scale=20.0):
        super().__init__()
        self.scale = nn.Parameter(torch.full((1, width, 1, 1), scale))

    def forward(self, x):
        return functional.normalize(x, dim=1) * self.scale


class MultiBox(nn.Module):
    """Several sizes of features, each with a head for offsets and one for classes, on prior boxes; then suppression.

    [1 3 h w] → boxes [k 4] as corners in pixels, their scores [k], their classes [k]
    """

    PRIORS = 4

    def __init__(self, size, cells, scales, widths, head, classes):
        super().__init__()
        self.offsets = nn.ModuleList(head(width, 4 * self.PRIORS) for width in widths)
        self.scores = nn.ModuleList(head(width, (classes + 1) * self.PRIORS) for width in widths)
        self.register_buffer("priors", prior_boxes(size, cells, scales))

    def forward(self, levels):
        flat = lambda heads, width: torch.cat([
            head(level).permute(0, 2, 3, 1).reshape(-1, width) for head, level in zip(heads, levels)])
        offsets = flat(self.offsets, 4)
        scores = torch.softmax(flat(self.scores, self.scores_width), 1)[:, 1:]
        return best_of_each_class(moved(self.priors, offsets), scores, 0.45, 200)

    @property
    def scores_width(self):
        last = [m for m in self.scores[0].modules() if isinstance(m, nn.Conv2d)][-1]
        return last.out_channels // self.PRIORS


class SingleShot(nn.Module):
    """The common part of SSD and SSD-Lite: each extra layer takes the level before it, and every level has its heads."""

    def levels(self, x):
        levels = self.first_levels(self.low(x))
        for layer in self.extra:
            levels.append(layer(levels[-1]))
        return levels

    def forward(self, x):
        return self.boxes(self.levels(x))


class SSD(SingleShot):
    """SSD on a VGG trunk: a dilated layer instead of the dense ones, extra layers, six feature sizes."""

    SIZE = 192

    def __init__(self, classes=20):
        super().__init__()
        conv = lambda a, b, k=3, s=1, p=None, d=1: nn.Sequential(
            nn.Conv2d(a, b, k, s, d * (k // 2) if p is None else p, d), nn.BatchNorm2d(b), nn.ReLU())
        self.low = nn.Sequential(
            conv(3, 32), conv(32, 32), nn.MaxPool2d(2), conv(32, 64), conv(64, 64), nn.MaxPool2d(2),
            conv(64, 128), conv(128, 128), nn.MaxPool2d(2), conv(128, 256), conv(256, 256))
        self.norm = ScaledNorm(256)
        self.high = nn.Sequential(
            nn.MaxPool2d(2), conv(256, 256), conv(256, 256), nn.MaxPool2d(3, 1, 1), conv(256, 256, d=6), conv(256, 256, 1))
        self.extra = nn.ModuleList(
            nn.Sequential(conv(a, 64, 1), conv(64, 128, 3, 2)) for a in (256, 128, 128, 128))
        self.boxes = MultiBox(
            self.SIZE, (24, 12, 6, 3, 2, 1), (19, 38, 70, 100, 130, 160, 190), (256, 256, 128, 128, 128, 128),
            lambda a, b: nn.Conv2d(a, b, 3, padding=1), classes)

    def first_levels(self, low):
        return [self.norm(low), self.high(low)]


class SSDLite(SingleShot):
    """SSD-Lite on MobileNetV2: separable heads and extra layers."""

    SIZE = 192

    def __init__(self, classes=20):
        super().__init__()
        from torchvision.models import mobilenet_v2
        features = mobilenet_v2(weights=None, width_mult=0.5).features
        self.expand = features[14].conv[0]
        self.low, self.block, self.high = features[:14], features[14], features[15:]
        clipped = lambda a, b, k=1, s=1, g=1: nn.Sequential(
            nn.Conv2d(a, b, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(b), nn.ReLU6())
        self.extra = nn.ModuleList(
            nn.Sequential(clipped(a, 64), clipped(64, 64, 3, 2, 64), clipped(64, 128)) for a in (1280, 128, 128))
        separable = lambda a, b: nn.Sequential(clipped(a, a, 3, 1, a), nn.Conv2d(a, b, 1))
        self.boxes = MultiBox(
            self.SIZE, (12, 6, 3, 2, 1), (38, 70, 100, 130, 160, 190), (self.expand[0].out_channels, 1280, 128, 128, 128),
            separable, classes)

    def first_levels(self, low):
        return [self.expand(low), self.high(self.block(low))]


class Leaky(nn.Sequential):
    """Darknet's convolution: batch normalisation and a leaky ReLU."""

    def __init__(self, inputs, outputs, kernel=3, stride=1):
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.1))


class DarkResidual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(Leaky(width, width // 2, 1), Leaky(width // 2, width))

    def forward(self, x):
        return x + self.body(x)


class YOLO(nn.Module):
    """YOLO v3: a residual trunk, three sizes joined upwards, boxes decoded from anchors.

    [1 3 192 192] → boxes [k 4] as centre and extent in pixels, scores [k classes]
    """

    SIZE = 192
    ANCHORS = (((70, 54), (94, 119), (224, 196)), ((18, 37), (37, 27), (36, 71)), ((6, 8), (10, 18), (20, 14)))

    def __init__(self, classes=20, width=16):
        super().__init__()
        self.classes = classes
        stage = lambda a, b, count: nn.Sequential(Leaky(a, b, 3, 2), *[DarkResidual(b) for _ in range(count)])
        w = [width << i for i in range(6)]
        self.first = nn.Sequential(Leaky(3, w[0]), stage(w[0], w[1], 1), stage(w[1], w[2], 2))
        self.stages = nn.ModuleList((stage(w[2], w[3], 3), stage(w[3], w[4], 3), stage(w[4], w[5], 2)))
        neck = lambda a, b: nn.Sequential(Leaky(a, b, 1), Leaky(b, 2 * b), Leaky(2 * b, b, 1))
        self.necks = nn.ModuleList((neck(w[5], w[4]), neck(w[4] + w[3], w[3]), neck(w[3] + w[2], w[2])))
        self.narrow = nn.ModuleList((Leaky(w[4], w[3], 1), Leaky(w[3], w[2], 1)))
        self.heads = nn.ModuleList(
            nn.Sequential(Leaky(a, 2 * a), nn.Conv2d(2 * a, 3 * (5 + classes), 1)) for a in (w[4], w[3], w[2]))
        for level, anchors in enumerate(self.ANCHORS):
            cells = self.SIZE // (32 >> level)
            rows, columns = torch.meshgrid(torch.arange(cells), torch.arange(cells), indexing="ij")
            grid = torch.stack([columns, rows], -1).reshape(1, -1, 2).float()
            self.register_buffer(f"grid{level}", grid.repeat(3, 1, 1))
            self.register_buffer(f"anchors{level}", torch.tensor(anchors).float()[:, None].repeat(1, cells * cells, 1))

    def decoded(self, level, y):
        cells = y.shape[2] * y.shape[3]
        y = y.reshape(3, 5 + self.classes, cells).permute(0, 2, 1)
        centre = (torch.sigmoid(y[..., :2]) + getattr(self, f"grid{level}")) * float(32 >> level)
        extent = torch.exp(torch.clamp(y[..., 2:4], -4.0, 4.0)) * getattr(self, f"anchors{level}")
        scores = torch.sigmoid(y[..., 4:5]) * torch.sigmoid(y[..., 5:])
        return torch.cat([centre, extent], 2).reshape(-1, 4), scores.reshape(-1, self.classes)

    def heights(self, x):
        x, kept = self.first(x), []
        for stage in self.stages:
            x = stage(x)
            kept.append(x)
        answers = []
        for level, (neck, head) in enumerate(zip(self.necks, self.heads)):
            y = neck(kept[2 - level] if level == 0 else torch.cat([grown, kept[2 - level]], 1))
            answers.append(head(y))
            if level < 2:
                grown = functional.interpolate(self.narrow[level](y), scale_factor=2, mode="nearest")
        return answers

    def forward(self, x):
        boxes, scores = zip(*[self.decoded(level, y) for level, y in enumerate(self.heights(x))])
        return torch.cat(boxes), torch.cat(scores)


class VoxelNet(nn.Module):
    """Points in voxels to scores and boxes: voxel features, a dense grid, 3-D convolutions, a region proposal network.

    points [v t 7] (zeros where a voxel holds fewer), cells [v 3] as depth, row, column → scores [1 2 h w], boxes [1 14 h w]
    """

    GRID = (6, 32, 32)

    def __init__(self, features=32):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in ((7, 8), (16, features // 2)))
        self.norms = nn.ModuleList(nn.BatchNorm1d(b) for b in (8, features // 2))
        self.last, self.features = nn.Linear(features, features), features
        middle = lambda a, b, stride, padding: nn.Sequential(
            nn.Conv3d(a, b, 3, stride, padding, bias=False), nn.BatchNorm3d(b), nn.ReLU())
        self.middle = nn.Sequential(
            middle(features, 32, (2, 1, 1), (1, 1, 1)), middle(32, 32, 1, (0, 1, 1)), middle(32, 32, 1, 1))
        block = lambda a, b, count: nn.Sequential(Convolved(a, b, 3, 2), *[Convolved(b, b, 3) for _ in range(count)])
        self.blocks = nn.ModuleList((block(32, 64, 2), block(64, 64, 2), block(64, 128, 2)))
        grow = lambda a, stride: nn.Sequential(
            nn.ConvTranspose2d(a, 64, stride, stride, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.grow = nn.ModuleList((grow(64, 1), grow(64, 2), grow(128, 4)))
        self.scores, self.boxes = nn.Conv2d(192, 2, 1), nn.Conv2d(192, 14, 1)

    def voxels(self, points):
        held = (points.abs().amax(2, keepdim=True) > 0).float()
        x = points
        for layer, norm in zip(self.layers, self.norms):
            y = torch.relu(norm(layer(x).transpose(1, 2)).transpose(1, 2))
            most = y.amax(1, keepdim=True)
            x = torch.cat([y, most.expand(-1, y.shape[1], -1)], 2) * held
        return torch.relu(self.last(x)).amax(1)

    def forward(self, points, cells):
        depth, rows, columns = self.GRID
        at = (cells[:, 0] * rows + cells[:, 1]) * columns + cells[:, 2]
        grid = torch.zeros(depth * rows * columns, self.features)
        grid = torch.index_put(grid, (at.long(),), self.voxels(points))
        x = self.middle(grid.t().reshape(1, self.features, depth, rows, columns))
        x, grown = x.squeeze(2), []
        for block, grow in zip(self.blocks, self.grow):
            x = block(x)
            grown.append(grow(x))
        x = torch.cat(grown, 1)
        return torch.sigmoid(self.scores(x)), self.boxes(x)
