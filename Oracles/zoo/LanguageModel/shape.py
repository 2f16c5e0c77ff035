"""The sizes of the decoder."""
from dataclasses import dataclass


@dataclass
class Shape:
    """Sizes of a decoder; the default has 0.55 billion parameters."""

    words: int = 32000
    width: int = 1536
    layers: int = 20
    heads: int = 12
    shared: int = 4             # heads of keys and values; each serves `heads / shared` heads of queries
    inner: int = 4096
    context: int = 512
    block: int = 32             # weights that share a scale
    base: float = 10000.0

    @property
    def head(self):
        return self.width // self.heads
