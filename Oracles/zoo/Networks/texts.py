"""Networks that read texts: ELMo, ULMFiT, seq2seq, MT-DNN, BiDAF and the first GPT, small and with random weights."""
import torch
from torch import nn
from torch.nn import functional

from cells import AdditiveAttention, Highways, RecurrentCell


class CharacterWords(nn.Module):
    """Words from their characters: embedding, convolutions of several widths, the greatest value of each, highways.

    characters [n t c] → [n t outputs]
    """

    def __init__(self, outputs, filters, width=16, characters=262, highways=2):
        super().__init__()
        self.embed = nn.Embedding(characters, width)
        self.convolutions = nn.ModuleList(nn.Conv1d(width, count, kernel) for kernel, count in filters)
        total = sum(count for _, count in filters)
        self.highways = Highways(total, highways)
        self.project = nn.Linear(total, outputs)

    def forward(self, characters):
        n, t, c = characters.shape
        x = self.embed(characters.long().reshape(n * t, c)).transpose(1, 2)
        x = torch.cat([torch.relu(convolution(x).amax(2)) for convolution in self.convolutions], 1)
        return self.project(self.highways(x)).reshape(n, t, -1)


class ProjectedLSTM(nn.Module):
    """One direction of an LSTM whose state is projected and clipped before it returns, unrolled.  [n t w] → [n t w]"""

    CLIP = 3.0

    def __init__(self, width, cells, backward):
        super().__init__()
        self.given, self.kept = nn.Linear(width, 4 * cells), nn.Linear(width, 4 * cells, bias=False)
        self.project = nn.Linear(cells, width, bias=False)
        self.width, self.cells, self.backward = width, cells, backward

    def forward(self, x):
        gates = self.given(x)
        hidden, memory = x.new_zeros(x.shape[0], self.width), x.new_zeros(x.shape[0], self.cells)
        answers = [None] * x.shape[1]
        for step in reversed(range(x.shape[1])) if self.backward else range(x.shape[1]):
            enter, forget, candidate, leave = (gates[:, step] + self.kept(hidden)).chunk(4, 1)
            memory = torch.sigmoid(forget + 1.0) * memory + torch.sigmoid(enter) * torch.tanh(candidate)
            memory = memory.clamp(-self.CLIP, self.CLIP)
            hidden = self.project(torch.sigmoid(leave) * torch.tanh(memory)).clamp(-self.CLIP, self.CLIP)
            answers[step] = hidden
        return torch.stack(answers, 1)


class ELMo(nn.Module):
    """Character words, two bidirectional layers with a residual connection, a learned mixture of all three layers.

    characters [n t c] → mixture [n t 2w], highest layer [n t 2w]
    """

    def __init__(self, width=128, cells=512):
        super().__init__()
        self.words = CharacterWords(width, [(1, 32), (2, 32), (3, 64), (4, 128), (5, 128)])
        self.directions = nn.ModuleList(
            nn.ModuleList(ProjectedLSTM(width, cells, backward) for _ in range(2)) for backward in (False, True))
        self.shares, self.scale = nn.Parameter(torch.randn(3)), nn.Parameter(torch.tensor(1.3))

    def forward(self, characters):
        words = self.words(characters)
        layers = [torch.cat([words, words], 2)]
        sides = []
        for first, second in self.directions:
            low = first(words)
            sides.append((low, second(low) + low))
        layers += [torch.cat([side[level] for side in sides], 2) for level in range(2)]
        shares = torch.softmax(self.shares, 0)
        return self.scale * sum(shares[i] * layer for i, layer in enumerate(layers)), layers[-1]


class ULMFiT(nn.Module):
    """A classifier on an AWD-LSTM: three layers, the last as wide as the embedding; last, greatest and mean state.

    The drops of AWD-LSTM act only in training.  tokens [1 t] → scores [1 classes]
    """

    def __init__(self, words=4000, width=128, hidden=320, classes=5):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        widths = (width, hidden, hidden, width)
        self.layers = nn.ModuleList(nn.LSTM(a, b, batch_first=True) for a, b in zip(widths, widths[1:]))
        self.head = nn.Sequential(
            nn.BatchNorm1d(3 * width), nn.Linear(3 * width, 50), nn.ReLU(), nn.BatchNorm1d(50), nn.Linear(50, classes))

    def forward(self, tokens):
        x = self.embed(tokens.long())
        for layer in self.layers:
            x = layer(x)[0]
        return self.head(torch.cat([x[:, -1], x.amax(1), x.mean(1)], 1))


class Seq2Seq(nn.Module):
    """A bidirectional GRU reads, a GRU with additive attention writes; the words before are given.

    source [1 s], target [1 t] → logits [1 t words], weights [1 t s]
    """

    def __init__(self, words=3000, width=128, hidden=192):
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, hidden, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(hidden, hidden)
        self.attention = AdditiveAttention(hidden, 2 * hidden, 128)
        self.cell = RecurrentCell("gru", width + 2 * hidden, hidden)
        self.head = nn.Linear(3 * hidden + width, words)

    def forward(self, source, target):
        read, last = self.encoder(self.source(source.long()))
        keys = self.attention.keys(read)
        state = (torch.tanh(self.bridge(last[1])),)
        written = self.target(target.long())
        logits, weights = [], []
        for step in range(target.shape[1]):
            context, shares = self.attention(state[0], keys, read)
            state = self.cell(torch.cat([written[:, step], context], 1), state)
            logits.append(self.head(torch.cat([state[0], context, written[:, step]], 1)))
            weights.append(shares)
        return torch.stack(logits, 1), torch.stack(weights, 1)


class Encoder(nn.Module):
    """BERT in small: three embeddings, layers that normalise after adding.  tokens, segments [1 t] → [1 t w]"""

    def __init__(self, words=4000, width=192, layers=3, heads=4, length=64):
        super().__init__()
        self.word, self.place, self.segment = (nn.Embedding(n, width) for n in (words, length, 2))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True) for _ in range(layers))

    def forward(self, tokens, segments):
        places = torch.arange(tokens.shape[1], dtype=torch.long)
        x = self.norm(self.word(tokens.long()) + self.place(places) + self.segment(segments.long()))
        for layer in self.layers:
            x = layer(x)
        return x


class StochasticAnswer(nn.Module):
    """Several steps between premise and hypothesis; the answer is the mean of every step's distribution."""

    def __init__(self, width, classes, steps=5):
        super().__init__()
        self.summary = nn.Linear(width, 1)
        self.match = nn.Linear(width, width, bias=False)
        self.cell = RecurrentCell("gru", width, width)
        self.head = nn.Linear(4 * width, classes)
        self.steps = steps

    def forward(self, premise, hypothesis):
        state = (torch.softmax(self.summary(hypothesis), 1) * hypothesis).sum(1)
        answers = []
        for _ in range(self.steps):
            shares = torch.softmax((self.match(premise) * state[:, None]).sum(2), 1)
            found = (shares[:, :, None] * premise).sum(1)
            joined = torch.cat([state, found, (state - found).abs(), state * found], 1)
            answers.append(torch.softmax(self.head(joined), 1))
            (state,) = self.cell(found, (state,))
        return sum(answers) / len(answers)


class MTDNN(nn.Module):
    """One encoder for four tasks: classes of a sentence, similarity, entailment (several steps), ranking.

    tokens, segments [1 t], the first half premise, the second hypothesis → [1 3], [1 1], [1 3], [1 1]
    """

    def __init__(self, width=192):
        super().__init__()
        self.encoder = Encoder(width=width)
        self.sentence, self.similarity, self.ranking = nn.Linear(width, 3), nn.Linear(width, 1), nn.Linear(width, 1)
        self.entailment = StochasticAnswer(width, 3)

    def forward(self, tokens, segments):
        x = self.encoder(tokens, segments)
        first, half = x[:, 0], x.shape[1] // 2
        return (torch.softmax(self.sentence(first), 1), self.similarity(first), self.entailment(x[:, :half], x[:, half:]),
                torch.sigmoid(self.ranking(first)))


class BiDAF(nn.Module):
    """Attention from a context to a question and back, then where the answer starts and ends.

    context [1 t], its characters [1 t c], question [1 j], its characters → start, end [1 t]
    """

    def __init__(self, words=4000, width=64):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.characters = CharacterWords(width, [(5, 64)], width=8, highways=0)
        self.highways = Highways(2 * width, 2)
        self.sense = nn.LSTM(2 * width, width, bidirectional=True, batch_first=True)
        d = 2 * width
        self.of_context, self.of_question = nn.Linear(d, 1), nn.Linear(d, 1, bias=False)
        self.of_both = nn.Parameter(torch.randn(d) * 0.1)
        self.model = nn.LSTM(4 * d, width, num_layers=2, bidirectional=True, batch_first=True)
        self.last = nn.LSTM(d, width, bidirectional=True, batch_first=True)
        self.start, self.end = nn.Linear(5 * d, 1), nn.Linear(5 * d, 1)

    def embedded(self, words, characters):
        return self.sense(self.highways(torch.cat([self.word(words.long()), self.characters(characters)], 2)))[0]

    def forward(self, context, context_characters, question, question_characters):
        h, u = self.embedded(context, context_characters), self.embedded(question, question_characters)
        alike = self.of_context(h) + self.of_question(u).transpose(1, 2) + (h * self.of_both) @ u.transpose(1, 2)
        to_question = torch.softmax(alike, 2) @ u
        to_context = torch.softmax(alike.amax(2), 1)[:, None] @ h
        g = torch.cat([h, to_question, h * to_question, h * to_context], 2)
        m = self.model(g)[0]
        start = self.start(torch.cat([g, m], 2)).squeeze(2)
        end = self.end(torch.cat([g, self.last(m)[0]], 2)).squeeze(2)
        return torch.log_softmax(start, 1), torch.log_softmax(end, 1)


class GPTBlock(nn.Module):
    """Masked self-attention and a feed-forward part, each added and then normalised."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.three, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.register_buffer("mask", torch.triu(torch.full((length, length), -1e4), 1))

    def forward(self, x):
        n, t, w = x.shape
        query, key, value = (part.reshape(n, t, self.heads, -1).transpose(1, 2) for part in self.three(x).chunk(3, 2))
        shares = torch.softmax(query @ key.transpose(2, 3) * (w // self.heads) ** -0.5 + self.mask, -1)
        x = self.first(x + self.joined((shares @ value).transpose(1, 2).reshape(n, t, w)))
        return self.second(x + self.narrow(functional.gelu(self.wide(x), approximate="tanh")))


class GPT(nn.Module):
    """The first GPT: learned places, blocks that normalise after adding, the embedding as its head.  [1 t] → [1 t words]"""

    def __init__(self, words=8000, width=256, layers=4, heads=4, length=48):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[GPTBlock(width, heads, length) for _ in range(layers)])
        nn.init.normal_(self.word.weight, 0.0, 0.05)

    def forward(self, tokens):
        x = self.word(tokens.long()) + self.place(torch.arange(tokens.shape[1], dtype=torch.long))
        return functional.linear(self.blocks(x), self.word.weight)
