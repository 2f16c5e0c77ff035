"""Errors of the zoo: relative to the range of an output, detections matched by their boxes."""
import numpy as np

SET_SHARE = 0.95                # of the values of detections in float16, the best that count


def spread(expected):
    """The range of an output, of a single value its magnitude."""
    return max(float(np.ptp(expected) if expected.size > 1 else np.abs(expected).max()), 1e-9)


def errors(expected, given):
    """Absolute differences relative to the range of the expected values."""
    if given.shape != expected.shape:
        if given.size != expected.size:
            raise RuntimeError(f"shape {given.shape} instead of {expected.shape}")
        given = given.reshape(expected.shape)
    difference = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    if not np.isfinite(difference).all():
        raise RuntimeError("not a number")
    return (difference / spread(expected)).ravel()


def labels(expected, given):
    """How many places have their greatest number along the last axis elsewhere, and how many places there are."""
    given = given.reshape(expected.shape)
    if expected.ndim == 0 or expected.shape[-1] < 2:
        return 0, 0
    return int((expected.argmax(-1) != given.argmax(-1)).sum()), expected[..., 0].size


def matched(expected, given, allowed):
    """The given detections in the order of the expected ones: for each the nearest box.

    - allowed: how many detections may be more or fewer, because a pair of boxes overlaps by nearly the threshold.
    """
    boxes = given["boxes"].reshape(-1, 4)
    if len(boxes) == 0:
        raise RuntimeError("no detections")
    distance = np.abs(expected["boxes"][:, None] - boxes[None]).max(2)
    if abs(len(boxes) - len(expected["boxes"])) > allowed:
        raise RuntimeError(f"{len(boxes)} detections instead of {len(expected['boxes'])}")
    return {name: value.reshape(len(boxes), *expected[name].shape[1:])[distance.argmin(1)]
            for name, value in given.items()}
