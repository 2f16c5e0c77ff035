"""What goes into a table of features comes out as Apple's binding would give it."""
import numpy as np
import pytest
from PIL import Image
from swift_coreml.values import Features


def through(value):
    """The value after its way in and out; `None` when it was dropped."""
    return Features.of({"f": value}).dictionary().get("f")


@pytest.mark.parametrize("given, expected", [
    (7, 7), (-(2 ** 63), -(2 ** 63)), (True, 1), (np.int32(5), 5), (0.1, 0.1), (np.float64(2.5), 2.5),
    ("grün", "grün"), (b"bytes", "bytes"), ("", ""),
    ({"a": 1.5, "b": 2}, {"a": 1.5, "b": 2.0}), ({3: 1, 4: 2}, {3: 1.0, 4: 2.0}), ([1, 2], None), ((1.0,), None),
])
def test_plain_values(given, expected):
    answer = through(given)
    assert answer == expected and type(answer) is type(expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("view", [
    lambda a: a, lambda a: a.T, lambda a: a[:, 1:3], lambda a: a[:, ::2], lambda a: a[::-1], lambda a: a[:1, None]])
def test_arrays_of_any_layout(dtype, view):
    given = view(np.arange(20).reshape(4, 5).astype(dtype))
    answer = through(given)
    assert answer.dtype == dtype and np.array_equal(answer, given)


@pytest.mark.parametrize("value", [
    np.zeros(3, np.float16), np.zeros(3, np.int64), np.zeros(3, np.uint8), np.zeros(3, bool), np.float32(1), None,
    np.array(1.0), {"a": "b"}, {1.5: 1.0}])
def test_other_values_are_not_convertible(value):
    with pytest.raises(RuntimeError, match="not convertible"):
        through(value)


def test_pictures_come_out_as_rgba_and_grey():
    pixels = np.random.RandomState(1).randint(0, 256, (5, 7, 4)).astype(np.uint8)
    rgba = np.asarray(through(Image.fromarray(pixels)))
    assert np.array_equal(rgba, pixels)
    rgb = through(Image.fromarray(np.ascontiguousarray(pixels[..., :3])))
    assert rgb.mode == "RGBA" and np.array_equal(np.asarray(rgb)[..., :3], pixels[..., :3])
    assert (np.asarray(rgb)[..., 3] == 255).all()
    grey = through(Image.fromarray(np.ascontiguousarray(pixels[..., 0])))
    assert grey.mode == "L" and np.array_equal(np.asarray(grey), pixels[..., 0])
    half = through(Image.fromarray(pixels[..., 0].astype(np.float32)))
    assert half.mode == "F" and np.array_equal(np.asarray(half), pixels[..., 0])
