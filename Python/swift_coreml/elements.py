"""The types of arrays' elements, and NumPy, which is imported when the first array is made or looked at.

Models of numbers, strings and dictionaries, and arrays that are lists of numbers or buffers (`array.array`, `memoryview`),
need no NumPy, whose import takes longer than that of this package.
"""
from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:
    class _OnDemand:
        """NumPy's names, each kept once it was asked for."""

        def __getattr__(self, name):
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _OnDemand()

NAMES = {0x10040: "float64", 0x10020: "float32", 0x10010: "float16", 0x20020: "int32", 0x20008: "int8"}
"""NumPy's names of the types by the raw values of `MLMultiArrayDataType`."""

FORMATS = {"d": 0x10040, "f": 0x10020, "e": 0x10010, "i": 0x20020, "b": 0x20008}
"""The raw values by the formats of buffers."""


@functools.lru_cache(maxsize=None)
def data_types() -> dict[int, np.dtype[Any]]:
    """NumPy's types by the raw values of `MLMultiArrayDataType`."""
    return {code: np.dtype(name) for code, name in NAMES.items()}


@functools.lru_cache(maxsize=None)
def codes() -> dict[np.dtype[Any], int]:
    """The raw values by NumPy's types."""
    return {dtype: code for code, dtype in data_types().items()}


def is_array(value: Any) -> bool:
    """Whether it is an array of NumPy; nothing is before NumPy was imported."""
    return "numpy" in sys.modules and isinstance(value, np.ndarray)


def scalars(*names: str) -> Any:
    """NumPy's types of these names; none before NumPy was imported, when no value can be of them."""
    return tuple(getattr(np, name) for name in names) if "numpy" in sys.modules else ()


__all__ = ["FORMATS", "NAMES", "codes", "data_types", "is_array", "np", "scalars"]
