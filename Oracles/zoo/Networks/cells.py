"""Parts that several networks share: recurrent cells for unrolled steps, additive attention, highway layers."""
import torch
from torch import nn


class RecurrentCell(nn.Module):
    """One step of an LSTM or a GRU from plain products, for decoders that are unrolled.

    - kind: "lstm", whose state is (hidden, memory), or "gru", whose state is (hidden,).
    """

    def __init__(self, kind, width, hidden):
        super().__init__()
        gates = {"lstm": 4, "gru": 3}[kind]
        self.kind, self.hidden = kind, hidden
        self.given, self.kept = nn.Linear(width, gates * hidden), nn.Linear(hidden, gates * hidden)

    def start(self, x):
        """The state before the first step, zeros for every row of `x`."""
        return tuple(x.new_zeros(x.shape[0], self.hidden) for _ in range(2 if self.kind == "lstm" else 1))

    def forward(self, x, state):
        given, kept = self.given(x), self.kept(state[0])
        if self.kind == "lstm":
            enter, forget, candidate, leave = (given + kept).chunk(4, 1)
            memory = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(candidate)
            return torch.sigmoid(leave) * torch.tanh(memory), memory
        (reset, update, candidate), (kept_reset, kept_update, kept_candidate) = given.chunk(3, 1), kept.chunk(3, 1)
        reset, update = torch.sigmoid(reset + kept_reset), torch.sigmoid(update + kept_update)
        candidate = torch.tanh(candidate + reset * kept_candidate)
        return ((1.0 - update) * candidate + update * state[0],)


class AdditiveAttention(nn.Module):
    """Attention by a small network: query [n q], keys [n t a], values [n t v] → context [n v], weights [n t]."""

    def __init__(self, query, value, width):
        super().__init__()
        self.query, self.keys = nn.Linear(query, width, bias=False), nn.Linear(value, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query, keys, values):
        weights = torch.softmax(self.score(torch.tanh(self.query(query)[:, None] + keys)).squeeze(2), 1)
        return (weights[:, None] @ values).squeeze(1), weights


class Highways(nn.Module):
    """Layers that mix what they compute with what they were given, by a gate."""

    def __init__(self, width, count):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            new, gate = layer(x).chunk(2, -1)
            gate = torch.sigmoid(gate - 1.0)
            x = gate * torch.relu(new) + (1.0 - gate) * x
        return x
