"""Networks that no package offers in a form the converters take: plain PyTorch modules, smallest first."""
import torch
from torch import nn
from torch.nn import functional


class Picked(nn.Module):
    """A module whose result is a dictionary or a data class, as the plain tuple that `pick` takes from it."""

    def __init__(self, module, pick):
        super().__init__()
        self.module, self.pick = module, pick

    def forward(self, *inputs):
        return self.pick(self.module(*inputs))


class ConvNorm(nn.Sequential):
    """Convolution without bias, batch normalisation, activation."""

    def __init__(self, inputs, outputs, kernel=3, stride=1, activation=nn.ReLU):
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs), activation())


class UNet(nn.Module):
    """Four levels down by max pooling, four up by transposed convolution, joined by concatenation.  [n 3 h w] → [n 4 h w]"""

    def __init__(self, widths=(32, 64, 128, 256), classes=4):
        super().__init__()
        level = lambda a, b: nn.Sequential(ConvNorm(a, b), ConvNorm(b, b))
        self.down = nn.ModuleList(level(a, b) for a, b in zip((3,) + widths[:-1], widths))
        self.bottom = level(widths[-1], 2 * widths[-1])
        self.grow = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths))
        self.up = nn.ModuleList(level(2 * w, w) for w in reversed(widths))
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            x = level(x)
            kept.append(x)
            x = functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for grow, level in zip(self.grow, self.up):
            x = level(torch.cat([grow(x), kept.pop()], 1))
        return self.head(x)


class StyleBlock(nn.Module):
    """Reflection padding, convolution, instance normalisation, ReLU; `up` doubles the picture first."""

    def __init__(self, inputs, outputs, kernel, stride=1, up=False, plain=False):
        super().__init__()
        self.up = up
        self.pad = nn.ReflectionPad2d(kernel // 2)
        self.convolution = nn.Conv2d(inputs, outputs, kernel, stride)
        self.norm = None if plain else nn.InstanceNorm2d(outputs, affine=True)

    def forward(self, x):
        if self.up:
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
        x = self.convolution(self.pad(x))
        return x if self.norm is None else torch.relu(self.norm(x))


class StyleResidual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = StyleBlock(width, width, 3)
        self.second = StyleBlock(width, width, 3, plain=True)
        self.norm = nn.InstanceNorm2d(width, affine=True)

    def forward(self, x):
        return x + self.norm(self.second(self.first(x)))


class StyleTransfer(nn.Module):
    """Picture to picture, values 0…255: encoder, five residual blocks, decoder."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            StyleBlock(3, 32, 9), StyleBlock(32, 64, 3, 2), StyleBlock(64, 128, 3, 2),
            *[StyleResidual(128) for _ in range(5)],
            StyleBlock(128, 64, 3, up=True), StyleBlock(64, 32, 3, up=True), StyleBlock(32, 3, 9, plain=True))

    def forward(self, x):
        return torch.clamp(self.net(x / 255.0) * 64.0 + 127.5, 0.0, 255.0)


class Tagger(nn.Module):
    """Tokens to one score vector each: embedding, a recurrent stack, a linear head.  [n t] → [n t tags]"""

    def __init__(self, recurrent, words=5000, width=128, tags=17):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.recurrent = recurrent
        self.head = nn.Linear(recurrent.hidden_size * (2 if recurrent.bidirectional else 1), tags)

    def forward(self, tokens):
        return self.head(self.recurrent(self.embed(tokens.long()))[0])


class DeepSpeech(nn.Module):
    """Spectrogram to characters: two strided convolutions, a bidirectional GRU, a linear head.  [n 1 80 t] → [n t/2 29]"""

    def __init__(self, mels=80, hidden=256, characters=29):
        super().__init__()
        clipped = lambda: nn.Hardtanh(0.0, 20.0)
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5)), nn.BatchNorm2d(32), clipped(),
            nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2d(32), clipped())
        self.recurrent = nn.GRU(32 * (mels // 4), hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, characters)

    def forward(self, x):
        y = self.convolutions(x).permute(0, 3, 1, 2).flatten(2)
        return torch.log_softmax(self.head(self.recurrent(y)[0]), -1)


class WaveNet(nn.Module):
    """A stack of gated, dilated, causal 1-D convolutions with skip sums.  [n 256 t] → [n 256 t]"""

    def __init__(self, width=32, skip=64, depth=8, levels=256):
        super().__init__()
        self.first = nn.Conv1d(levels, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2 ** i) for i in range(depth))
        self.skips = nn.ModuleList(nn.Conv1d(width, skip, 1) for _ in range(depth))
        self.through = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, levels, 1))

    def forward(self, x):
        x, total = self.first(x), 0
        for i, (gate, skip, through) in enumerate(zip(self.gates, self.skips, self.through)):
            signal, control = gate(functional.pad(x, (2 ** i, 0))).chunk(2, 1)
            y = torch.tanh(signal) * torch.sigmoid(control)
            total = total + skip(y)
            x = x + through(y)
        return self.last(total)


class Detector(nn.Module):
    """YOLO in small: a leaky convolutional trunk, anchor boxes, non-maximum suppression.

    [1 3 h w] → boxes [k 4] as corners in pixels, their scores [k], their classes [k].
    """

    def __init__(self, classes=20, size=256):
        super().__init__()
        widths = (3, 16, 32, 64, 128, 256)
        trunk = []
        for a, b in zip(widths, widths[1:]):
            trunk += [ConvNorm(a, b, activation=lambda: nn.LeakyReLU(0.1)), nn.MaxPool2d(2, 2)]
        self.trunk = nn.Sequential(*trunk, ConvNorm(256, 256, activation=lambda: nn.LeakyReLU(0.1)))
        anchors = torch.tensor([[30.0, 42.0], [62.0, 45.0], [96.0, 110.0]])
        self.head = nn.Conv2d(256, len(anchors) * (5 + classes), 1)
        self.cells, self.classes, self.stride = size // 32, classes, 32.0
        rows, columns = torch.meshgrid(torch.arange(self.cells), torch.arange(self.cells), indexing="ij")
        grid = torch.stack([columns, rows], -1).reshape(-1, 1, 2).float()
        self.register_buffer("grid", grid.expand(-1, len(anchors), 2).reshape(-1, 2).contiguous())
        self.register_buffer("anchors", anchors.repeat(self.cells * self.cells, 1))

    def forward(self, x):
        from torchvision.ops import nms
        y = self.head(self.trunk(x))
        y = y.reshape(3, 5 + self.classes, self.cells * self.cells).permute(2, 0, 1)
        y = y.reshape(3 * self.cells * self.cells, 5 + self.classes)
        centre = (torch.sigmoid(y[:, 0:2]) + self.grid) * self.stride
        half = torch.exp(torch.clamp(y[:, 2:4], -4.0, 4.0)) * self.anchors * 0.5
        boxes = torch.cat([centre - half, centre + half], 1)
        best, label = (torch.sigmoid(y[:, 4:5]) * torch.softmax(y[:, 5:], 1)).max(1)
        kept = nms(boxes, best, 0.45)
        return boxes[kept], best[kept], label[kept].int()


class Translator(nn.Module):
    """Encoder and decoder of a Transformer, the target given.  source [n s], target [n t] → [n t words]"""

    def __init__(self, words=4000, width=256, layers=3, target_length=20):
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.net = nn.Transformer(width, 4, layers, layers, 4 * width, batch_first=True)
        self.head = nn.Linear(width, words)
        self.register_buffer("mask", torch.triu(torch.full((target_length, target_length), -1e4), 1))

    def forward(self, source, target):
        return self.head(self.net(self.source(source.long()), self.target(target.long()), tgt_mask=self.mask))


class DecodingStep(nn.Module):
    """One decoding step of GPT-2 with its cache.

    token [1 1], position [1 1], keys and values [layers heads past width] → logits [1 1 words], and the key and value
    of this token, [layers heads 1 width] each, which the caller appends.
    """

    def __init__(self, model):
        super().__init__()
        self.body, self.head, self.heads = model.transformer, model.lm_head, model.config.n_head

    def forward(self, token, position, keys, values):
        x = self.body.wte(token.long()) + self.body.wpe(position.long())
        new_keys, new_values = [], []
        for index, block in enumerate(self.body.h):
            query, key, value = (
                part.reshape(1, 1, self.heads, -1).transpose(1, 2)
                for part in block.attn.c_attn(block.ln_1(x)).chunk(3, 2))
            new_keys.append(key)
            new_values.append(value)
            key = torch.cat([keys[index:index + 1], key], 2)
            value = torch.cat([values[index:index + 1], value], 2)
            weights = torch.softmax(query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5), -1)
            x = x + block.attn.c_proj((weights @ value).transpose(1, 2).reshape(1, 1, -1))
            x = x + block.mlp(block.ln_2(x))
        return self.head(self.body.ln_f(x)), torch.cat(new_keys), torch.cat(new_values)
