"""A decoder of today's kind with random weights that four bits hold exactly."""
import torch
from torch import nn
from torch.nn import functional

from shape import Shape


SMALL = Shape(words=512, width=128, layers=2, heads=4, shared=2, inner=256, context=64)


def blocked(rows, columns, block, spread):
    """Random weights of four bits, −7…7, times a scale for each block of a row; a 7 in every block fixes its scale."""
    levels = torch.randint(-7, 8, (rows, columns // block, block), dtype=torch.int8)
    levels[:, :, 0] = torch.where(torch.rand(rows, columns // block) < 0.5, -7, 7).to(torch.int8)
    scales = spread / 4.5 * (0.7 + 0.6 * torch.rand(rows, columns // block, 1))
    return levels, scales


class FourBits(nn.Linear):
    """A product without bias whose weights come from `blocked`; their standard deviation is about 1/√columns."""

    def __init__(self, columns, rows, block, gain=1.0):
        super().__init__(columns, rows, bias=False)
        self.levels, self.scales = blocked(rows, columns, block, gain * columns ** -0.5)
        self.restore(self.scales)

    def restore(self, scales):
        """Sets the weights to the levels times `scales`."""
        self.weight.data = (self.levels * scales).reshape(self.weight.shape)


class RMSNorm(nn.Module):
    """Divides by the root of the mean square."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(0.8 + 0.4 * torch.rand(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x, cosine, sine):
    """Rotary positions: each pair of values (i, i + half) turned by its angle."""
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat([-second, first], -1) * sine


class Block(nn.Module):
    """Grouped-query attention and SwiGLU, each normalised before and added."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        product = lambda a, b, gain=1.0: FourBits(a, b, shape.block, gain)
        self.first, self.second = RMSNorm(shape.width), RMSNorm(shape.width)
        narrow = shape.shared * shape.head
        self.query, self.key, self.value = (product(shape.width, rows, 1.5) for rows in (shape.width, narrow, narrow))
        self.joined = product(shape.width, shape.width)
        self.gate, self.up = product(shape.width, shape.inner), product(shape.width, shape.inner)
        self.down = product(shape.inner, shape.width)

    def forward(self, x, cosine, sine, mask, keep):
        """- keep: takes this block's new keys and values [n shared head] to the cache and gives those of all positions."""
        shape, length = self.shape, x.shape[1]
        split = lambda y, heads: y.reshape(1, length, heads, shape.head).transpose(1, 2)
        y = self.first(x)
        query = turned(split(self.query(y), shape.heads), cosine, sine)
        flat = lambda product: product(y).reshape(length, shape.shared, shape.head)
        key, value = keep(turned(flat(self.key), cosine[:, None], sine[:, None]), flat(self.value))
        key, value = key.permute(1, 0, 2)[None], value.permute(1, 0, 2)[None]
        group = shape.heads // shape.shared
        query = query.reshape(1, shape.shared, group * length, shape.head)
        scores = (query @ key.transpose(2, 3) * shape.head ** -0.5).reshape(1, shape.shared, group, length, -1)
        shares = torch.softmax(scores + mask[:, None], -1).reshape(1, shape.shared, group * length, -1)
        mixed = (shares @ value).reshape(1, shape.heads, length, shape.head).transpose(1, 2)
        x = x + self.joined(mixed.reshape(1, length, shape.width))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """Tokens, where the first stands and a mask to the logits of the last; the buffers `keys` and `values` are the cache.

    tokens [1 n], position [1], mask [1 1 n context] (0 where a token may look, else very negative) → logits [1 words].
    Only n changes from call to call, and no shape hangs on `position`: a runtime plans for each shape.
    """

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embed = nn.Embedding(shape.words, shape.width)
        self.levels, self.scales = blocked(shape.words, shape.width, shape.block, 1.0)
        self.restore(self.scales)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.width)
        angles = torch.arange(shape.context)[:, None] / shape.base ** (torch.arange(0, shape.head, 2) / shape.head)
        self.register_buffer("cosine", torch.cos(angles).repeat(1, 2))
        self.register_buffer("sine", torch.sin(angles).repeat(1, 2))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(shape.layers, shape.context, shape.shared, shape.head))

    def restore(self, scales):
        self.embed.weight.data = (self.levels * scales).reshape(self.embed.weight.shape)

    def forward(self, tokens, position, mask):
        places = (position + torch.arange(tokens.shape[1], dtype=torch.int32)).long()

        def kept(cache, index, new):
            cache[index] = torch.index_put(cache[index], (places,), new)
            return cache[index]
        return self.logits(tokens, mask, self.cosine[places], self.sine[places], kept)

    def logits(self, tokens, mask, cosine, sine, kept):
        """- kept: writes new keys or values of a layer to a cache and returns those of all positions that the mask has."""
        x = self.embed(tokens.long())
        for index, block in enumerate(self.blocks):
            x = block(x, cosine, sine, mask,
                      lambda key, value: (kept(self.keys, index, key), kept(self.values, index, value)))
        return functional.linear(self.norm(x[:, -1]), self.embed.weight) * self.shape.width ** -0.5

    def half(self, rounded):
        """Rounds what float16 rounds of the weights, the scales and the norms' weights, or restores them."""
        pick = (lambda t: t.half().float()) if rounded else (lambda t: t)
        self.restore(pick(self.scales))
        for module in self.modules():
            if isinstance(module, FourBits):
                module.restore(pick(module.scales))

    def forget(self):
        self.keys.zero_()
        self.values.zero_()

    def inputs(self, tokens, start):
        """The inputs for `tokens` [1 n] from position `start`: each sees those before it and itself."""
        places = torch.arange(start, start + tokens.shape[1])[:, None]
        mask = torch.where(torch.arange(self.shape.context)[None] <= places, 0.0, -1e4)[None, None]
        return tokens, torch.tensor([start], dtype=torch.int32), mask


class CutDecoder(Decoder):
    """The same decoder with its caches cut behind the last token, as in Apple's examples of language models.

    tokens [1 n], mask [1 1 n m] of the m positions up to the last token → logits [1 words]. Every token has shapes of its
    own.
    """

    def forward(self, tokens, mask):
        end = mask.shape[-1]
        start = end - tokens.shape[1]
        places = torch.arange(start, end)

        def kept(cache, index, new):
            cache[index, start:end] = new
            return cache[index, :end]
        return self.logits(tokens, mask, self.cosine[places], self.sine[places], kept)

    def inputs(self, tokens, start):
        tokens, _, mask = super().inputs(tokens, start)
        return tokens, mask[..., :start + tokens.shape[1]]
