"""Values to and from slots, the records of eight words that the library reads and writes (`Slot.swift`).

Words: 0 the kind, 1 an address, 2 a count, 3 a type, 4 and 5 further addresses or counts, 6 an integer or a flag, 7 a
double.
"""
from __future__ import annotations

import ctypes
import os
import sys
from array import array as Plain
from itertools import accumulate
from typing import Any, Optional

from .elements import FORMATS, NAMES, codes, data_types, np, scalars
from .errors import FeatureError
from .interface import Feature

WORDS = 8
MAXIMUM_RANK = 32

ABSENT, INTEGER, NUMBER, TEXT, IMAGE, ARRAY, TEXT_SCORES, TEXTS, INTEGER_SCORES, INTEGERS, ENCODED = range(11)
SLOTS, NUMBERS, INTEGER_COLUMN, TEXT_COLUMN, ARRAYS, TEXT_SCORE_COLUMN, INTEGER_SCORE_COLUMN = 20, 21, 22, 23, 25, 26, 28

BGRA, GREY, GREY_HALF, RGB, RGBA, ARGB = range(6)
_CHANNELS = {BGRA: 4, RGB: 3, RGBA: 4, ARGB: 4}

_LEAST, _LARGEST = -(1 << 31), (1 << 31) - 1


class Words:
    """Slots in memory, as integers and as doubles."""

    __slots__ = ("integers", "doubles", "address")

    def __init__(self, count: int):
        self.integers = (ctypes.c_int64 * (WORDS * count))()
        self.doubles = memoryview(self.integers).cast("B").cast("d")
        self.address = ctypes.addressof(self.integers)


def pointer(array: Any) -> int:
    """The address of an array's first element."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError, BufferError):
        return int(array.ctypes.data)       # read-only, or without elements


def _lent(value: Any, keep: list[Any]) -> tuple[int, int]:
    """The address and the number of bytes of a buffer; those of a copy when it is read-only or not row-major."""
    view = memoryview(value)
    if not view.nbytes:
        return 0, 0
    if view.readonly or not view.c_contiguous:
        data = value if isinstance(value, bytes) else view.tobytes()
        keep.append(data)
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, len(data)
    block = ctypes.c_char.from_buffer(view)
    keep.append(block)
    return ctypes.addressof(block), view.nbytes


def _is_picture(value: Any) -> bool:
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(value, image.Image)


def _wrong(feature: Feature, value: Any, remedy: str) -> FeatureError:
    return FeatureError(f"'{feature.name}' takes {feature.text}, but a {type(value).__name__} was given; {remedy}")


def _scalar(value: Any) -> Any:
    """The number in an array of one element, or the value itself."""
    if not isinstance(value, (int, float, str, bytes)) and getattr(value, "shape", None) is not None:
        array = np.asarray(value)
        if array.size == 1:
            return array.reshape(())[()]
    return value


def as_integer(feature: Feature, value: Any) -> int:
    value = _scalar(value)
    floats: Any = (float, *scalars("floating"))
    if isinstance(value, floats) and float(value).is_integer():
        value = int(value)
    if not isinstance(value, int) and not isinstance(value, scalars("integer", "bool_")):
        raise _wrong(feature, value, "pass an int")
    if not -(1 << 63) <= int(value) < 1 << 63:
        raise FeatureError(f"'{feature.name}' takes integers of 64 bits, which {value} is not")
    return int(value)


def as_number(feature: Feature, value: Any) -> float:
    value = _scalar(value)
    if not isinstance(value, (int, float)) and not isinstance(value, scalars("integer", "floating", "bool_")):
        raise _wrong(feature, value, "pass a float")
    try:
        return float(value)
    except OverflowError:
        raise FeatureError(f"'{feature.name}' takes double-precision numbers, which {value} is not") from None


def as_text(feature: Feature, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise _wrong(feature, value, "pass a str")
    try:
        return value.encode()
    except UnicodeEncodeError as failure:
        raise FeatureError(f"'{feature.name}' takes text, but the str given has a lone surrogate: {failure}") from None


def as_array(feature: Feature, value: Any) -> "np.ndarray[Any, Any]":
    """A row-major array of a type that Core ML has; an error when that would change a value."""
    if value is None or isinstance(value, (str, bytes, dict)) or _is_picture(value):
        raise _wrong(feature, value, "pass an array of NumPy")
    listed = not hasattr(value, "shape") and not hasattr(value, "__array__")
    try:
        array = np.asarray(value, feature.dtype if listed else None)
    except (TypeError, ValueError, OverflowError, RuntimeError) as failure:
        raise FeatureError(
            f"'{feature.name}' takes {feature.text}, but what was given makes no array: {failure}") from None
    if array.ndim == 0:
        array = array.reshape(1)
    if array.dtype not in codes():
        array = _converted(feature, array)
    return np.require(array, requirements=["C", "A"])


def _converted(feature: Feature, array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    native = array.dtype.newbyteorder("=")
    if native in codes():
        return array.astype(native)
    if array.dtype.kind in "iub":
        if array.size == 0 or (array.min() >= _LEAST and array.max() <= _LARGEST):
            return array.astype(np.int32)
        far = array.max() if array.max() > _LARGEST else array.min()
        raise FeatureError(
            f"'{feature.name}' was given an array of {array.dtype} that holds {far}, and the widest integers of Core ML's "
            "arrays are int32; pass array.astype(np.float64) if the model takes real numbers")
    raise FeatureError(
        f"'{feature.name}' takes {feature.text}, but an array of {array.dtype} was given; pass one of float64, float32, "
        "float16, int32 or int8")


def set_array(words: Any, place: int, array: "np.ndarray[Any, Any]", extents: Any, kind: int = ARRAY) -> None:
    words[place] = kind
    words[place + 1] = pointer(array)
    words[place + 2] = array.ndim
    words[place + 3] = codes()[array.dtype]
    words[place + 4] = ctypes.addressof(extents)


def set_plain(words: Any, place: int, feature: Feature, value: Any, keep: list[Any]) -> bool:
    """Puts a list of numbers, or a row-major buffer of a type that Core ML has, into a slot without NumPy.

    Returns whether it was one: `as_array` converts all others.
    """
    if type(value) is list:
        code = {"float64": "d", "float32": "f"}.get(feature.element or "")
        if code is None or not value or not all(type(number) in (int, float) for number in value):
            return False
        try:
            value = Plain(code, value)
        except OverflowError:           # an integer beyond the largest double
            return False
    elif type(value) is not Plain and type(value) is not memoryview:
        return False
    view: Any = memoryview(value)
    if view.format not in FORMATS or not view.c_contiguous or not view.ndim or not view.nbytes:
        return False
    extents = (ctypes.c_int64 * view.ndim)(*view.shape)
    keep += [value, extents]
    words[place], words[place + 1], words[place + 2] = ARRAY, _lent(view, keep)[0], view.ndim
    words[place + 3], words[place + 4] = FORMATS[view.format], ctypes.addressof(extents)
    return True


def target(feature: Feature, value: Any) -> Optional[tuple[Any, int, tuple[int, ...]]]:
    """A buffer that takes an output as it is: what keeps it where it is, its address, and the shape of its elements.

    A buffer of one axis takes the elements of an output of any shape.  `None` for buffers of another type; an error for what is
    no buffer that can be written to.
    """
    view: Any = None
    try:
        view = memoryview(value)
    except TypeError:
        pass                            # no buffer
    if view is None or view.readonly or not view.c_contiguous:
        raise FeatureError(
            f"what was given for output '{feature.name}' is neither an array of NumPy nor a row-major buffer that can be "
            "written to")
    code = FORMATS.get(view.format)
    if code is None or NAMES[code] != feature.element or not view.ndim or not view.nbytes:
        return None
    shape, wanted = view.shape, feature.shape or view.shape
    if len(shape) == 1 and len(wanted) != 1 and shape[0] == _count(wanted):
        shape = wanted
    block = ctypes.c_char.from_buffer(view)
    return block, ctypes.addressof(block), shape


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _pixels(feature: Feature, value: Any) -> tuple["np.ndarray[Any, Any]", int]:
    """Rows of pixels and their layout."""
    if _is_picture(value):
        if value.mode not in ("RGB", "RGBA", "L", "F"):
            raise FeatureError(
                f"'{feature.name}' was given an image of mode {value.mode}; pass picture.convert('{feature.mode}')")
        value = np.asarray(value)
    array = np.asarray(value)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim == 2 and array.dtype.kind == "f":
        return np.require(array, np.float16, ["C", "A"]), GREY_HALF
    if array.dtype == np.uint8 and array.ndim == 2:
        return np.require(array, requirements=["C"]), GREY
    if array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] in (3, 4):
        return np.require(array, requirements=["C"]), RGB if array.shape[2] == 3 else RGBA
    raise FeatureError(
        f"'{feature.name}' takes {feature.text}, but an array of {array.dtype} and shape {array.shape} was given; pass "
        "uint8 of shape [height, width] for grey, [height, width, 3] for RGB or [height, width, 4] for RGBA")


def set_image(words: Any, place: int, feature: Feature, value: Any, keep: list[Any]) -> None:
    if isinstance(value, (str, os.PathLike)):
        try:
            with open(value, "rb") as file:
                value = file.read()
        except OSError as failure:
            raise FeatureError(f"'{feature.name}': the image cannot be read: {failure}") from None
    if isinstance(value, (bytes, bytearray)) or isinstance(value, memoryview) and value.ndim == 1:
        words[place] = ENCODED
        words[place + 1], words[place + 2] = _lent(value, keep)
        return
    if not _is_picture(value) and not hasattr(value, "shape"):
        raise _wrong(feature, value, "pass an image of Pillow, an array, a path, or the bytes of an image file")
    pixels, layout = _pixels(feature, value)
    keep.append(pixels)
    words[place], words[place + 1], words[place + 2], words[place + 3] = (
        IMAGE, pixels.ctypes.data, pixels.shape[1], layout)
    words[place + 4], words[place + 5] = pixels.shape[0], pixels.strides[0] if pixels.size else 0


def set_texts(words: Any, place: int, texts: list[bytes], keep: list[Any]) -> None:
    """Strings one after the other, with the place where each ends."""
    ends, blob = Plain("q", accumulate(map(len, texts))), b"".join(texts)
    keep += [ends, blob]
    words[place + 4] = ends.buffer_info()[0]
    words[place + 5] = ctypes.cast(ctypes.c_char_p(blob), ctypes.c_void_p).value or 0
    words[place + 2] = len(texts)


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, *scalars("integer"))) and not isinstance(value, bool)


def set_dictionary(words: Any, place: int, feature: Feature, value: Any, keep: list[Any]) -> None:
    if not isinstance(value, dict):
        raise _wrong(feature, value, "pass a dict of numbers")
    numbers = Plain("d", [as_number(feature, number) for number in value.values()])
    keep.append(numbers)
    wanted = _is_integer if feature.key_type == "Int64" else lambda key: isinstance(key, str)
    for key in value:
        if not wanted(key):
            raise FeatureError(f"'{feature.name}' takes {feature.text}; {key!r} is no key of that type")
    if feature.key_type == "Int64":
        keys = Plain("q", [as_integer(feature, key) for key in value])
        keep.append(keys)
        words[place], words[place + 2], words[place + 4] = INTEGER_SCORES, len(value), keys.buffer_info()[0]
    else:
        words[place] = TEXT_SCORES
        set_texts(words, place, [as_text(feature, key) for key in value], keep)
    words[place + 1] = numbers.buffer_info()[0]


def set_sequence(words: Any, place: int, feature: Feature, value: Any, keep: list[Any]) -> None:
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise _wrong(feature, value, "pass a list")
    values = list(value)
    if feature.key_type == "Int64":
        numbers = Plain("q", [as_integer(feature, number) for number in values])
        keep.append(numbers)
        words[place], words[place + 1], words[place + 2] = INTEGERS, numbers.buffer_info()[0], len(numbers)
    else:
        words[place] = TEXTS
        set_texts(words, place, [as_text(feature, text) for text in values], keep)


def set_value(words: Words, slot: int, feature: Feature, value: Any, keep: list[Any]) -> None:
    """Puts a value into a slot; what the slot points to is kept alive in `keep`."""
    integers, place = words.integers, slot * WORDS
    kind = feature.type
    if value is None:
        integers[place] = ABSENT
    elif kind == "Double":
        integers[place], words.doubles[place + 7] = NUMBER, as_number(feature, value)
    elif kind == "Int64":
        integers[place], integers[place + 6] = INTEGER, as_integer(feature, value)
    elif kind == "String":
        text = as_text(feature, value)
        keep.append(text)
        integers[place], integers[place + 2] = TEXT, len(text)
        integers[place + 1] = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value or 0
    elif kind == "MultiArray" and set_plain(integers, place, feature, value, keep):
        pass
    elif kind == "MultiArray":
        array = as_array(feature, value)
        extents = (ctypes.c_int64 * array.ndim)(*array.shape)
        keep += [array, extents]
        set_array(integers, place, array, extents)
    elif kind == "Image":
        set_image(integers, place, feature, value, keep)
    elif kind == "Dictionary":
        set_dictionary(integers, place, feature, value, keep)
    elif kind == "Sequence":
        set_sequence(integers, place, feature, value, keep)
    else:
        raise FeatureError(f"'{feature.name}' is of a type that this version does not know")


def texts(words: Any, place: int, count: int) -> list[str]:
    """The strings of a slot."""
    ends: list[int] = list((ctypes.c_int64 * count).from_address(words[place + 4])) if count else []
    data = ctypes.string_at(words[place + 5], ends[-1]) if count and ends[-1] else b""
    start, result = 0, []
    for end in ends:
        result.append(data[start:end].decode("utf-8", "replace"))
        start = end
    return result


def copied_array(address: int, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """A copy of elements in the library's memory."""
    array = np.empty(shape, dtype)
    if array.nbytes:
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def image(words: Any, place: int) -> Any:
    """An image of Pillow, or, where Pillow is not installed, its pixels."""
    width, layout, height, row = words[place + 2], words[place + 3], words[place + 4], words[place + 5]
    rows = copied_array(words[place + 1], (height, row), np.dtype(np.uint8))
    if layout == GREY:
        pixels = rows[:, :width]
    elif layout == GREY_HALF:
        pixels = np.ascontiguousarray(rows[:, :2 * width]).view(np.float16).astype(np.float32)
    else:
        channels = _CHANNELS[layout]
        pixels = rows[:, :channels * width].reshape(height, width, channels)
        order = {BGRA: [2, 1, 0], ARGB: [1, 2, 3]}.get(layout, [0, 1, 2])
        pixels = pixels[..., order]         # every pixel of an output is opaque
    pixels = np.ascontiguousarray(pixels)
    try:
        from PIL import Image
    except ImportError:
        return pixels
    return Image.fromarray(pixels)


def value(words: Words, slot: int, keys: Optional[list[Any]] = None) -> Any:
    """The value in a slot; `keys` are those of a dictionary that has the same as the last time."""
    integers, place = words.integers, slot * WORDS
    kind, count = integers[place], integers[place + 2]
    if kind == NUMBER:
        return words.doubles[place + 7]
    if kind == INTEGER:
        return integers[place + 6]
    if kind == TEXT:
        return ctypes.string_at(integers[place + 1], count).decode("utf-8", "replace") if count else ""
    if kind == ARRAY:
        shape = tuple((ctypes.c_int64 * count).from_address(integers[place + 4]))
        return copied_array(integers[place + 1], shape, data_types()[integers[place + 3]])
    if kind == IMAGE:
        return image(integers, place)
    if kind in (TEXT_SCORES, INTEGER_SCORES):
        if not count:
            return {}
        if keys is None:
            keys = scores_keys(integers, place, kind, count)
        return dict(zip(keys, (ctypes.c_double * count).from_address(integers[place + 1])))
    if kind == TEXTS:
        return texts(integers, place, count)
    if kind == INTEGERS:
        return list((ctypes.c_int64 * count).from_address(integers[place + 1])) if count else []
    return None


def scores_keys(words: Any, place: int, kind: int, count: int) -> list[Any]:
    """The keys of a dictionary in a slot."""
    if kind in (TEXT_SCORES, TEXT_SCORE_COLUMN):
        return texts(words, place, count)
    return list((ctypes.c_int64 * count).from_address(words[place + 4])) if count else []
