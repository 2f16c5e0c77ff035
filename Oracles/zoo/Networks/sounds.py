"""Networks for sound, Tacotron, WaveRNN, WaveGlow, VGGish, LAS, RNN-T, and for motion sensors, DeepConvLSTM."""
import torch
from torch import nn
from torch.nn import functional

from cells import AdditiveAttention, Highways, RecurrentCell


class Prenet(nn.Sequential):
    """Two narrow layers; their dropout acts only in training here."""

    def __init__(self, inputs, first=128, second=64):
        super().__init__(nn.Linear(inputs, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU())


class Same(nn.Module):
    """A 1-D convolution that keeps the length also for even kernels, with batch normalisation."""

    def __init__(self, inputs, outputs, kernel, activated=True):
        super().__init__()
        self.around = ((kernel - 1) // 2, kernel // 2)
        self.convolution = nn.Conv1d(inputs, outputs, kernel, bias=False)
        self.norm, self.activated = nn.BatchNorm1d(outputs), activated

    def forward(self, x):
        x = self.convolution(functional.pad(x, self.around))
        return self.norm(torch.relu(x) if self.activated else x)


class CBHG(nn.Module):
    """A bank of convolutions, pooling, two projections and a residual connection, highways, a GRU.  [n t w] → [n t 2h]"""

    def __init__(self, width, bank, projections, hidden):
        super().__init__()
        self.bank = nn.ModuleList(Same(width, hidden, kernel) for kernel in range(1, bank + 1))
        self.pool = nn.MaxPool1d(2, 1)
        self.first = Same(bank * hidden, projections, 3)
        self.second = Same(projections, width, 3, activated=False)
        self.lift = nn.Linear(width, hidden)
        self.highways = Highways(hidden, 4)
        self.recurrent = nn.GRU(hidden, hidden, bidirectional=True, batch_first=True)

    def forward(self, x):
        y = torch.cat([part(x.transpose(1, 2)) for part in self.bank], 1)
        y = self.second(self.first(self.pool(functional.pad(y, (0, 1), value=-1e4))))
        return self.recurrent(self.highways(self.lift(y.transpose(1, 2) + x)))[0]


class Tacotron(nn.Module):
    """Characters to a spectrogram; the decoder's steps are unrolled and read what they wrote.

    characters [n t] → mel [n steps·2 80], linear [n steps·2 257], alignment [n steps t]
    """

    def __init__(self, characters=70, mels=80, bins=257, width=64, steps=6, frames=2):
        super().__init__()
        self.embed, self.prenet = nn.Embedding(characters, 128), Prenet(128)
        self.encoder = CBHG(64, 8, 64, width)
        self.before = Prenet(mels)
        self.attention = AdditiveAttention(128, 2 * width, 128)
        self.attending = RecurrentCell("gru", 64 + 2 * width, 128)
        self.lift = nn.Linear(128 + 2 * width, 128)
        self.cells = nn.ModuleList(RecurrentCell("gru", 128, 128) for _ in range(2))
        self.frame = nn.Linear(128, frames * mels)
        self.post = CBHG(mels, 4, 128, width)
        self.linear = nn.Linear(2 * width, bins)
        self.mels, self.steps, self.frames = mels, steps, frames

    def forward(self, characters):
        read = self.encoder(self.prenet(self.embed(characters.long())))
        keys = self.attention.keys(read)
        attending, states = self.attending.start(read), [cell.start(read) for cell in self.cells]
        context, frame = read.new_zeros(read.shape[0], read.shape[2]), read.new_zeros(read.shape[0], self.mels)
        frames, alignment = [], []
        for _ in range(self.steps):
            attending = self.attending(torch.cat([self.before(frame), context], 1), attending)
            context, weights = self.attention(attending[0], keys, read)
            x = self.lift(torch.cat([attending[0], context], 1))
            for index, cell in enumerate(self.cells):
                states[index] = cell(x, states[index])
                x = x + states[index][0]
            written = self.frame(x).reshape(-1, self.frames, self.mels)
            frames.append(written)
            frame = written[:, -1]
            alignment.append(weights)
        mel = torch.cat(frames, 1)
        return mel, self.linear(self.post(mel)), torch.stack(alignment, 1)


class WaveRNN(nn.Module):
    """A step for one sample of 16 bits in two halves; the second half of the state also sees the coarse bits.

    state [1 h], coarse and fine before, coarse now (each [1 1], −1…1) → logits [1 256] of coarse and fine, new state
    """

    def __init__(self, hidden=448):
        super().__init__()
        self.half = hidden // 2
        self.kept = nn.Linear(hidden, 3 * hidden, bias=False)
        self.coarse, self.fine = nn.Linear(2, 3 * self.half), nn.Linear(3, 3 * self.half)
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(self.half, self.half), nn.ReLU(), nn.Linear(self.half, 256)) for _ in range(2))

    def forward(self, state, coarse_before, fine_before, coarse):
        update, reset, candidate = self.kept(state).split(2 * self.half, 1)
        before = torch.cat([coarse_before, fine_before], 1)
        new = []
        for index, given in enumerate((self.coarse(before), self.fine(torch.cat([before, coarse], 1)))):
            part = slice(index * self.half, (index + 1) * self.half)
            u, r, e = given.chunk(3, 1)
            u, r = torch.sigmoid(update[:, part] + u), torch.sigmoid(reset[:, part] + r)
            e = torch.tanh(r * candidate[:, part] + e)
            new.append(u * state[:, part] + (1.0 - u) * e)
        return self.heads[0](new[0]), self.heads[1](new[1]), torch.cat(new, 1)


class Coupling(nn.Module):
    """WaveGlow's dilated gated convolutions: half of the channels and the mels → a scale and a shift of the other half."""

    def __init__(self, half, mels, width=64, depth=4):
        super().__init__()
        self.first, self.width = nn.Conv1d(half, width, 1), width
        self.layers = nn.ModuleList(nn.Conv1d(width, 2 * width, 3, padding=2 ** i, dilation=2 ** i) for i in range(depth))
        self.conditions = nn.Conv1d(mels, 2 * width * depth, 1)
        self.through = nn.ModuleList(nn.Conv1d(width, 2 * width, 1) for _ in range(depth))
        self.last = nn.Conv1d(width, 2 * half, 1)
        nn.init.normal_(self.last.weight, 0.0, 0.05)        # the original starts with zeros, which would do nothing

    def forward(self, half, mels):
        x, total = self.first(half), 0
        conditions = self.conditions(mels).split(2 * self.width, 1)
        for layer, condition, through in zip(self.layers, conditions, self.through):
            signal, control = (layer(x) + condition).chunk(2, 1)
            onward, skip = through(torch.tanh(signal) * torch.sigmoid(control)).chunk(2, 1)
            x, total = x + onward, total + skip
        return self.last(total).chunk(2, 1)


class WaveGlow(nn.Module):
    """Noise to sound: flows backwards, each an inverse coupling and an inverse 1×1 convolution; part of the noise joins late.

    mel [1 80 f], noise [1 8 f·8] → samples [1 f·64]
    """

    GROUP = 8

    def __init__(self, mels=80, flows=6, early=2):
        super().__init__()
        self.up = nn.ConvTranspose1d(mels, mels, 256, 64, padding=96)
        channels, self.late = self.GROUP, []
        couplings, mixes = [], []
        for flow in range(flows):
            if flow and flow % early == 0:
                channels -= 2
                self.late.append(flow)
            couplings.append(Coupling(channels // 2, mels * self.GROUP))
            forwards = torch.linalg.qr(torch.randn(channels, channels))[0]
            mix = nn.Conv1d(channels, channels, 1, bias=False)
            mix.weight.data = torch.linalg.inv(forwards)[:, :, None].contiguous()
            mixes.append(mix)
        self.couplings, self.mixes, self.least = nn.ModuleList(couplings), nn.ModuleList(mixes), channels

    def forward(self, mel, noise):
        mel = self.up(mel)
        n, c, t = mel.shape
        mel = mel.reshape(n, c, t // self.GROUP, self.GROUP).permute(0, 1, 3, 2).reshape(n, c * self.GROUP, -1)
        x, used = noise[:, :self.least], self.least
        for flow in reversed(range(len(self.couplings))):
            half = x.shape[1] // 2
            shift, scale = self.couplings[flow](x[:, :half], mel)
            x = torch.cat([x[:, :half], (x[:, half:] - shift) * torch.exp(-scale)], 1)
            x = self.mixes[flow](x)
            if flow in self.late:
                x = torch.cat([noise[:, used:used + 2], x], 1)
                used += 2
        return x.permute(0, 2, 1).reshape(n, -1)


class VGGish(nn.Module):
    """A second of log mel energies to an embedding.  [1 1 96 64] → [1 128]"""

    def __init__(self, widths=((32,), (64,), (128, 128), (256, 256)), hidden=1024):
        super().__init__()
        layers, before = [], 1
        for block in widths:
            for width in block:
                layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()]
                before = width
            layers.append(nn.MaxPool2d(2, 2))
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Linear(before * 6 * 4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 128))

    def forward(self, x):
        return self.head(self.trunk(x).permute(0, 2, 3, 1).flatten(1))


class LAS(nn.Module):
    """Listen, attend and spell: BLSTMs that each halve the time, then two LSTM layers with attention; characters are given.

    features [1 t 40], characters [1 s] → log probabilities [1 s 32], weights [1 s t/8]
    """

    def __init__(self, features=40, hidden=96, characters=32):
        super().__init__()
        self.bottom = nn.LSTM(features, hidden, bidirectional=True, batch_first=True)
        self.pyramid = nn.ModuleList(nn.LSTM(4 * hidden, hidden, bidirectional=True, batch_first=True) for _ in range(3))
        wide = 2 * hidden
        self.embed = nn.Embedding(characters, 64)
        self.cells = nn.ModuleList((RecurrentCell("lstm", 64 + wide, wide), RecurrentCell("lstm", wide, wide)))
        self.query, self.keys = nn.Linear(wide, 128), nn.Linear(wide, 128)
        self.head = nn.Sequential(nn.Linear(2 * wide, wide), nn.Tanh(), nn.Linear(wide, characters))

    def forward(self, features, characters):
        x = self.bottom(features)[0]
        for layer in self.pyramid:
            n, t, w = x.shape
            x = layer(x.reshape(n, t // 2, 2 * w))[0]
        keys, states = torch.relu(self.keys(x)), [cell.start(x) for cell in self.cells]
        context, written = x[:, 0], self.embed(characters.long())
        answers, weights = [], []
        for step in range(characters.shape[1]):
            states[0] = self.cells[0](torch.cat([written[:, step], context], 1), states[0])
            states[1] = self.cells[1](states[0][0], states[1])
            energy = torch.relu(self.query(states[1][0]))[:, None] @ keys.transpose(1, 2)
            shares = torch.softmax(energy, 2)
            context = (shares @ x).squeeze(1)
            answers.append(torch.log_softmax(self.head(torch.cat([states[1][0], context], 1)), 1))
            weights.append(shares.squeeze(1))
        return torch.stack(answers, 1), torch.stack(weights, 1)


class RNNT(nn.Module):
    """A transducer's decoding step: the sound encoded, the predictor moved by one label, both joined.

    features [1 t 80], label [1 1], predictor's states [2 1 h] → log probabilities [1 t/2 29], new states
    """

    def __init__(self, features=80, hidden=192, labels=29):
        super().__init__()
        self.low = nn.LSTM(features, hidden, num_layers=2, batch_first=True)
        self.high = nn.LSTM(2 * hidden, hidden, num_layers=2, batch_first=True)
        self.embed = nn.Embedding(labels, 64)
        self.predictor = nn.LSTM(64, hidden, num_layers=2, batch_first=True)
        self.of_sound, self.of_text = nn.Linear(hidden, 256), nn.Linear(hidden, 256, bias=False)
        self.joint = nn.Linear(256, labels)

    def forward(self, features, label, hidden, memory):
        x = self.low(features)[0]
        n, t, w = x.shape
        x = self.high(x.reshape(n, t // 2, 2 * w))[0]
        y, (hidden, memory) = self.predictor(self.embed(label.long()), (hidden, memory))
        joined = torch.tanh(self.of_sound(x)[:, :, None] + self.of_text(y)[:, None])
        return torch.log_softmax(self.joint(joined), -1).squeeze(2), hidden, memory


class DeepConvLSTM(nn.Module):
    """Sensors to an activity: four convolutions along time, two LSTM layers, the last state.  [1 t sensors] → [1 classes]"""

    def __init__(self, sensors=36, width=64, hidden=128, classes=18):
        super().__init__()
        widths = (1,) + 4 * (width,)
        self.convolutions = nn.Sequential(*[
            layer for a, b in zip(widths, widths[1:]) for layer in (nn.Conv2d(a, b, (5, 1)), nn.ReLU())])
        self.recurrent = nn.LSTM(width * sensors, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        y = self.convolutions(x[:, None]).permute(0, 2, 1, 3).flatten(2)
        return torch.softmax(self.head(self.recurrent(y)[0][:, -1]), 1)
