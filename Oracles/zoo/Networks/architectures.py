"""The zoo's rows of architectures that Core ML was introduced with, small, every part of each in its place."""
import torch
from torch import nn

import detection
import masks
import pictures
import sounds
import texts
from entries import Entry, Network, lively, own, picture, settled, tokens


def inception_v1():
    from torchvision.models import googlenet
    x = picture(224)
    module = googlenet(weights=None, aux_logits=False, init_weights=False, transform_input=False)
    return Network(settled(module, x), {"image": x}, ["scores"])


def warmed(make, inputs, outputs, warm):
    """A network whose batch statistics `warm(module)` measures, because its inputs are no pictures or its results vary."""
    def entry():
        module = make()
        norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        module.train()
        with torch.no_grad():
            for _ in range(3):
                warm(module)
        return Network(module.eval(), inputs(), outputs)
    return entry


def scenes(count, size):
    """Pictures with large patches of colour: noise alone averages out before deep layers, which then normalise nothing."""
    coarse = nn.functional.interpolate(torch.randn(count, 3, 5, 5), size=(size, size), mode="bilinear", align_corners=True)
    return torch.clamp(0.8 * coarse + 0.3 * torch.randn(count, 3, size, size), -2.0, 2.0)


def boxes(make, levels, outputs=("boxes", "scores", "classes"), **gains):
    """A detector: statistics from random pictures through the part that `levels` names; `gains` as for `lively`."""
    return warmed(
        lively(make, 1.0, **gains), lambda: {"image": scenes(1, make.SIZE)}, list(outputs),
        lambda module: getattr(module, levels)(scenes(16, module.SIZE)))


def characters(words, length):
    """The characters of `words` words, ended by zeros."""
    given = torch.randint(1, 262, (1, words, length), dtype=torch.int32)
    ends = torch.randint(2, length + 1, (1, words, 1))
    return given * (torch.arange(length) < ends).int()


def voxels(count=300, most=8):
    """Points of `count` voxels, each of one to `most`, and the voxels' places, no two the same."""
    grid = detection.VoxelNet.GRID
    at = torch.randperm(grid[0] * grid[1] * grid[2])[:count]
    cells = torch.stack([at // (grid[1] * grid[2]), at // grid[2] % grid[1], at % grid[2]], 1).int()
    held = torch.arange(most) < torch.randint(1, most + 1, (count, 1))
    return {"points": torch.randn(count, most, 7) * held[:, :, None], "cells": cells}


def segments(length):
    return (torch.arange(length) >= length // 2).int()[None]


def reading():
    return {"context": tokens(40, 4000), "context_characters": characters(40, 12), "question": tokens(10, 4000),
            "question_characters": characters(10, 12)}


def flow():
    return {"mel": torch.randn(1, 80, 16), "noise": 0.6 * torch.randn(1, 8, 128)}


def sample():
    one = lambda: torch.rand(1, 1) * 2.0 - 1.0
    return {"before": torch.randn(1, 448), "coarse_before": one(), "fine_before": one(), "coarse": one()}


def transducer():
    state = lambda: torch.randn(2, 1, 192) * 0.5
    return {"features": torch.randn(1, 60, 80), "label": tokens(1, 29), "hidden": state(), "memory": state()}


def pair():
    return {"tokens": tokens(48, 4000), "segments": segments(48)}


def texts_of(source, words, target=None):
    """Makes two given texts: `source` and `target` words long."""
    return lambda: {"source": tokens(source, words), "target": tokens(target or source, words)}


ZOO = {
    "elmo": Entry(
        own(texts.ELMo, lambda: {"characters": characters(12, 20)}, ["mixture", "highest"]), onnx=True),
    "ulmfit": Entry(own(texts.ULMFiT, lambda: {"tokens": tokens(48, 4000)}, ["scores"]), onnx=True),
    "seq2seq": Entry(own(lively(texts.Seq2Seq), texts_of(20, 3000, 10), ["logits", "weights"]), onnx=True),
    "mt_dnn": Entry(own(lively(texts.MTDNN), pair, ["sentence", "similarity", "entailment", "ranking"]), onnx=True),
    "bidaf": Entry(own(lively(texts.BiDAF, start=8.0, end=8.0), reading, ["start", "end"]), onnx=True),
    "gpt": Entry(own(texts.GPT, lambda: {"tokens": tokens(48, 8000)}, ["logits"]), onnx=True),
    "tacotron": Entry(
        warmed(lively(sounds.Tacotron, score=4.0), lambda: {"characters": tokens(32, 70)}, ["mel", "linear", "alignment"],
               lambda module: module(torch.randint(0, 70, (4, 32)))), onnx=True),
    "wavernn": Entry(own(sounds.WaveRNN, sample, ["coarse_logits", "fine_logits", "after"]), onnx=True),
    "waveglow": Entry(own(sounds.WaveGlow, flow, ["samples"]), onnx=True),
    "vggish": Entry(own(lively(sounds.VGGish), lambda: {"energies": torch.randn(1, 1, 96, 64)}, ["embedding"]), onnx=True),
    "las": Entry(
        own(lively(sounds.LAS, head=4.0, query=3.0, keys=3.0),
            lambda: {"features": torch.randn(1, 80, 40), "characters": tokens(12, 32)},
            ["log_probabilities", "weights"]), onnx=True),
    "rnn_t": Entry(
        own(lively(sounds.RNNT, joint=6.0), transducer, ["log_probabilities", "new_hidden", "new_memory"]), onnx=True),
    "deep_conv_lstm": Entry(
        own(lively(sounds.DeepConvLSTM, head=6.0), lambda: {"motion": torch.randn(1, 32, 36)}, ["probabilities"]), onnx=True),
    "inception_v1": Entry(inception_v1, onnx=True),
    "inception_v4": Entry(own(pictures.InceptionV4, lambda: {"image": picture(299)}, ["scores"]), onnx=True),
    "xception": Entry(own(pictures.Xception, lambda: {"image": picture(224)}, ["scores"]), onnx=True),
    "nasnet_mobile": Entry(own(pictures.NASNet, lambda: {"image": picture(224)}, ["scores"]), onnx=True),
    "pspnet": Entry(own(pictures.PSPNet, lambda: {"image": picture(192)}, ["mask"]), onnx=True),
    "ssd": Entry(boxes(detection.SSD, "levels", scores=3.0), half_target="iOS17", set_outputs=True, onnx=True),
    "ssd_lite": Entry(boxes(detection.SSDLite, "levels", scores=4.0), half_target="iOS17", set_outputs=True, onnx=True),
    "yolo_v3": Entry(boxes(detection.YOLO, "heights", ("boxes", "scores")), onnx=True),
    "mask_rcnn": Entry(
        boxes(masks.MaskRCNN, "pyramid", ("boxes", "scores", "classes", "masks")), set_outputs=True, onnx=True),
    "voxelnet": Entry(
        warmed(detection.VoxelNet, voxels, ["scores", "boxes"], lambda module: module(*voxels().values())), onnx=True),
}
