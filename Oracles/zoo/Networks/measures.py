"""What errors of the zoo are relative to."""
import numpy as np


def spread(expected):
    """The range of an output, of a single value its magnitude."""
    return max(float(np.ptp(expected) if expected.size > 1 else np.abs(expected).max()), 1e-9)
