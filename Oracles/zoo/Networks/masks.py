"""Mask R-CNN, small but with all its parts: a feature pyramid, region proposals, ROI align, heads of boxes and of masks."""
import torch
from torch import nn
from torch.nn import functional

from pictures import Bottleneck, Convolved

SAMPLES = 2         # points per bin and axis


def roi_align(features, boxes, size, stride):
    """Bilinear samples of each box's bins, averaged.  features [1 c h w], boxes [k 4] corners in pixels → [k c size size]"""
    from torchvision.ops import roi_align as align
    index = torch.zeros_like(boxes[:, :1])
    return align(features, torch.cat([index, boxes], 1), (size, size), 1.0 / stride, SAMPLES, False)


def anchor_boxes(size, strides, ratios=(0.5, 1.0, 2.0)):
    """For each cell of each level boxes of eight strides' size, as centre and extent in pixels."""
    boxes = []
    for stride in strides:
        for row in range(size // stride):
            for column in range(size // stride):
                boxes += [((column + 0.5) * stride, (row + 0.5) * stride, 4 * stride / r ** 0.5, 4 * stride * r ** 0.5)
                          for r in ratios]
    return torch.tensor(boxes)


def shifted(boxes, deltas, weights, size):
    """Corners [k 4] moved by deltas as in R-CNN, clipped to the picture."""
    extent = boxes[:, 2:] - boxes[:, :2]
    centre = boxes[:, :2] + 0.5 * extent + deltas[:, :2] / weights[0] * extent
    half = 0.5 * extent * torch.exp(torch.clamp(deltas[:, 2:] / weights[1], -4.0, 4.0))
    return torch.clamp(torch.cat([centre - half, centre + half], 1), 0.0, float(size))


class Pyramid(nn.Module):
    """A residual trunk and its levels joined from the top down.  [1 3 s s] → four levels [1 c s/4 s/4] … [1 c s/32 s/32]"""

    def __init__(self, width=16, channels=64):
        super().__init__()
        self.first = nn.Sequential(Convolved(3, 32, 7, 2), nn.MaxPool2d(3, 2, 1))
        stages, now = [], 32
        for level in range(4):
            w = width << level
            stages.append(nn.Sequential(Bottleneck(now, w, 2 if level else 1, 1), Bottleneck(4 * w, w, 1, 1)))
            now = 4 * w
        self.stages = nn.ModuleList(stages)
        self.inner = nn.ModuleList(nn.Conv2d(4 * (width << level), channels, 1) for level in range(4))
        self.outer = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(4))

    def forward(self, x):
        x, kept = self.first(x), []
        for stage, inner in zip(self.stages, self.inner):
            x = stage(x)
            kept.append(inner(x))
        for level in (2, 1, 0):
            kept[level] = kept[level] + functional.interpolate(kept[level + 1], scale_factor=2, mode="nearest")
        return [outer(level) for outer, level in zip(self.outer, kept)]


class MaskRCNN(nn.Module):
    """[1 3 128 128] → boxes [k 4] as corners in pixels, scores [k], classes [k], masks [k 28 28]"""

    SIZE, STRIDES = 128, (4, 8, 16, 32)
    PROPOSED = 64

    def __init__(self, classes=8, channels=64):
        super().__init__()
        self.pyramid, self.classes = Pyramid(channels=channels), classes
        self.propose = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.objects, self.shifts = nn.Conv2d(channels, 3, 1), nn.Conv2d(channels, 12, 1)
        self.register_buffer("anchors", anchor_boxes(self.SIZE, self.STRIDES))
        self.box = nn.Sequential(nn.Linear(channels * 49, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.score, self.deltas = nn.Linear(256, classes + 1), nn.Linear(256, 4 * (classes + 1))
        self.mask = nn.Sequential(
            *[layer for _ in range(2) for layer in (nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())],
            nn.ConvTranspose2d(channels, channels, 2, 2), nn.ReLU(), nn.Conv2d(channels, classes + 1, 1))
        for layer, spread in ((self.objects, 0.1), (self.shifts, 0.01), (self.score, 1.0), (self.deltas, 0.05)):
            nn.init.normal_(layer.weight, 0.0, spread)

    def proposals(self, levels):
        from torchvision.ops import nms
        hidden = [self.propose(level) for level in levels]
        flat = lambda head, width: torch.cat([head(h).permute(0, 2, 3, 1).reshape(-1, width) for h in hidden])
        best, order = torch.topk(flat(self.objects, 1).squeeze(1), self.PROPOSED)
        anchors = self.anchors[order]
        corners = torch.cat([anchors[:, :2] - 0.5 * anchors[:, 2:], anchors[:, :2] + 0.5 * anchors[:, 2:]], 1)
        boxes = shifted(corners, flat(self.shifts, 4)[order], (1.0, 1.0), self.SIZE)
        return boxes[nms(boxes, best, 0.7)]

    def regions(self, levels, boxes, size):
        """Each box's samples from the level that its size asks for."""
        extent = boxes[:, 2:] - boxes[:, :2]
        side = torch.sqrt(torch.clamp(extent[:, 0] * extent[:, 1], min=1.0))
        level = torch.clamp(torch.floor(torch.log2(side / 32.0) + 2.0), 0.0, 3.0)
        total = 0
        for index, (features, stride) in enumerate(zip(levels, self.STRIDES)):
            mine = (level == index).float()[:, None, None, None]
            total = total + mine * roi_align(features, boxes, size, stride)
        return total

    def forward(self, x):
        from torchvision.ops import nms
        levels = self.pyramid(x)
        proposals = self.proposals(levels)
        hidden = self.box(self.regions(levels, proposals, 7).flatten(1))
        best, label = torch.softmax(self.score(hidden), 1)[:, 1:].max(1)
        every = self.deltas(hidden).reshape(-1, self.classes + 1, 4)[:, 1:]
        chosen = functional.one_hot(label.long(), self.classes).float()
        boxes = shifted(proposals, (every * chosen[:, :, None]).sum(1), (10.0, 5.0), self.SIZE)
        kept = nms(boxes + label.float()[:, None] * 1000.0, best, 0.5)
        boxes, best, label, chosen = boxes[kept], best[kept], label[kept], chosen[kept]
        masks = self.mask(self.regions(levels, boxes, 14))[:, 1:]
        return boxes, best, label.int(), torch.sigmoid((masks * chosen[:, :, None, None]).sum(1))
