"""Values in a table of features are returned as Apple's binding would return them."""
import numpy as np
import pytest
from PIL import Image
from swift_coreml.library import call
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


@pytest.mark.parametrize("given, dtype", [
    (np.array([[1, -2], [2 ** 31 - 1, -2 ** 31]], np.int64), np.int32), (np.array([], np.int64), np.int32),
    (np.array([0, 255], np.uint8), np.int32), (np.array([-7, 9], np.int16), np.int32),
    (np.array([1, 2], np.uint64), np.int32), (np.array([True, False]), np.int32),
    (np.array([0.5, -65504, 6e-8, np.inf], np.float16), np.float32), (np.array([1, 2], ">i4"), np.int32),
    (np.array([0.1, 2], ">f8"), np.float64), (np.broadcast_to(np.float32(3), (2, 2)), np.float32)])
def test_arrays_become_ones_that_hold_the_same_values(given, dtype):
    answer = through(given)
    assert answer.dtype == dtype and np.array_equal(answer, given)


@pytest.mark.parametrize("value, remedy", [
    (np.array([1, 5_000_000_000]), r"holds 5000000000, .*pass f.astype\(np.float64\)"),
    (np.array([2 ** 63], np.uint64), r"holds 9223372036854775808"), (np.array([-2 ** 31 - 1]), r"holds -2147483649"),
    (np.array([1j]), r"pass f.real"), (np.array(["a"]), r"pass .*f.astype\(np.float32\)"),
    (np.zeros(2, np.longdouble), r"pass f.astype\(np.float64\)"), (np.float32(1), r"float\(f\)"),
    (np.array(1.0), r"pass np.array\(\[1.0\], np.float32\)"), (None, r"'f' is a NoneType; pass a number"),
    ({"a": "b"}, "dictionary"), ({1.5: 1.0}, "dictionary")])
def test_other_values_are_not_convertible(value, remedy):
    with pytest.raises(RuntimeError, match=f"not convertible: 'f'.*{remedy}" if "'f'" not in remedy else remedy) as told:
        through(value)
    assert "\n" not in str(told.value)


def test_a_million_numbers_come_out_as_they_went_in():
    """Numbers cross as bytes; only names are JSON."""
    bits = np.random.RandomState(2).randint(0, 2 ** 64, 1_000_000, np.uint64)
    bits[:4] = 0, 2 ** 63, 1, 2 ** 63 + 1
    numbers = bits.view(np.float64)
    assert np.array_equal(through(numbers).view(np.uint64), bits)
    finite = numbers[np.isfinite(numbers)]
    answer = through({f"é {place}": number for place, number in enumerate(finite)})
    assert len(answer) == len(finite)
    given = np.array([answer[f"é {place}"] for place in range(len(finite))])
    assert np.array_equal(given.view(np.uint64), finite.view(np.uint64))


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


@pytest.mark.parametrize("name, layout, told", [
    ("grey", 0, "image 'grey' is not of layout 0"), ("grey", 2, "image 'grey' is not of layout 2"),
    ("color", 1, "image 'color' is not of layout 1"), ("grey", 3, "3 is not a pixel layout"),
    ("number", 1, "feature 'number' is not an image"), ("nothing", 1, "feature 'nothing' is not an image")])
def test_pictures_are_copied_in_their_own_layout_alone(name, layout, told):
    """A larger layout would read past the end of the rows."""
    grey = Image.fromarray(np.zeros((5, 7), np.uint8))
    features = Features.of({"grey": grey, "color": grey.convert("RGBA"), "number": 1})
    pixels = np.full((5, 7, 4), 9, np.uint8)
    with pytest.raises(RuntimeError, match=told):
        call("features_image", features.address, name.encode(), layout, pixels.ctypes.data)
    assert (pixels == 9).all()
