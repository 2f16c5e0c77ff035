"""Python values to and from feature values, by the rules of Apple's binding, which takes fewer arrays.

In: integers become int64, floats double, strings and bytes string, dictionaries dictionary, images of Pillow images,
arrays of int8, int32, float16, float32 and float64 multi-arrays; arrays of other integers and of truth values become
int32 when that holds all their values.  Lists and tuples are dropped.  Out: float16 arrays become float32, images
RGBA.  Whatever else is given is "not convertible", and the message says what to pass instead.
"""
import ctypes
import json

import numpy as np

from .library import Handle, call, json_bytes, sizes

try:
    from PIL import Image
except ImportError:
    Image = None

# Raw values of MLMultiArrayDataType.
_DATA_TYPES = {"float64": 0x10040, "float32": 0x10020, "float16": 0x10010, "int32": 0x20020, "int8": 0x20008}
_DTYPES = {code: np.dtype(name) for name, code in _DATA_TYPES.items()}
_INT32 = np.iinfo(np.int32)

# Raw values of MLFeatureType.
_INT64, _DOUBLE, _STRING, _IMAGE, _ARRAY, _DICTIONARY, _SEQUENCE = 1, 2, 3, 4, 5, 6, 7

_BGRA, _GREY, _GREY_HALF = 0, 1, 2


class Features(Handle):
    """A table of feature values; keeps alive the arrays lent to it."""

    def __init__(self, address=None):
        super().__init__(call("features_new") if address is None else address)
        self._lent = []
        self.dropped = []
        """The names of the lists and tuples among the values given, which Apple's binding drops."""

    @classmethod
    def of(cls, dictionary):
        features = cls()
        for name, value in dictionary.items():
            features.set(str(name), value)
        return features

    def set(self, name, value):
        key = name.encode()
        if _is_integer(value) and -(1 << 63) <= int(value) < 1 << 63:
            call("features_set_int64", self.address, key, int(value))
        elif isinstance(value, float):
            call("features_set_double", self.address, key, value)
        elif isinstance(value, (str, bytes)):
            call("features_set_string", self.address, key, value.encode() if isinstance(value, str) else value)
        elif isinstance(value, (list, tuple)):
            self.dropped.append(name)
        elif isinstance(value, dict) and _is_convertible(value):
            self._set_dictionary(key, value)
        elif Image is not None and isinstance(value, Image.Image):
            self._set_image(key, value)
        elif _is_array(value):
            self._set_array(key, _converted(name, np.asarray(value)))
        else:
            raise RuntimeError(f"value type not convertible: {_remedy(name, value)}")

    def _set_array(self, key, array):
        # The strides of an axis of extent 1 mean nothing and may be anything.
        usable = all(
            stride >= 0 and stride % array.itemsize == 0
            for stride, extent in zip(array.strides, array.shape) if extent > 1)
        if not usable or not array.flags.aligned:
            array = np.ascontiguousarray(array)
        self._lent.append(array)
        strides = [max(stride, 0) // array.itemsize for stride in array.strides]
        call("features_set_array", self.address, key, array.ctypes.data, _DATA_TYPES[array.dtype.name], array.ndim,
             sizes(array.shape), sizes(strides))

    def _set_dictionary(self, key, dictionary):
        count = len(dictionary)
        numbers = (ctypes.c_double * count)(*[float(value) for value in dictionary.values()])
        if dictionary and not _is_integer(next(iter(dictionary))):
            names = [name.decode() if isinstance(name, bytes) else str(name) for name in dictionary]
            call("features_set_dictionary", self.address, key, json_bytes(names), None, numbers, count)
        else:
            keys = (ctypes.c_int64 * count)(*[int(name) for name in dictionary])
            call("features_set_dictionary", self.address, key, None, keys, numbers, count)

    def _set_image(self, key, picture):
        if picture.mode == "RGB":
            rgb = np.asarray(picture, dtype=np.uint8)
            pixels, layout = np.dstack([rgb[..., ::-1], np.full(rgb.shape[:2], 255, np.uint8)]), _BGRA
        elif picture.mode == "RGBA":
            pixels, layout = np.asarray(picture, dtype=np.uint8)[..., [2, 1, 0, 3]], _BGRA
        elif picture.mode == "L":
            pixels, layout = np.asarray(picture, dtype=np.uint8), _GREY
        elif picture.mode == "F":
            pixels, layout = np.asarray(picture, dtype=np.float32).astype(np.float16), _GREY_HALF
        else:
            raise RuntimeError(f"Unsupported image type {picture.mode}. Supported types are: RGB, RGBA, L, F.")
        pixels = np.ascontiguousarray(pixels)
        call("features_set_image", self.address, key, pixels.ctypes.data, layout, picture.width, picture.height)

    def dictionary(self):
        """All features as Python values."""
        return {entry["name"]: self.get(entry["name"], entry["type"])
                for entry in json.loads(call("features_list", self.address))}

    def get(self, name, kind):
        key = name.encode()
        if kind == _INT64:
            return call("features_int64", self.address, key)
        if kind == _DOUBLE:
            return call("features_double", self.address, key)
        if kind == _STRING:
            return call("features_string", self.address, key)
        if kind == _ARRAY:
            return self._array(key)
        if kind == _DICTIONARY:
            return self._dictionary(key)
        if kind == _IMAGE:
            return self._image(key)
        if kind == _SEQUENCE:
            return self._sequence(key)
        raise RuntimeError(f"Error: Unrecognized feature value {kind!r}.")

    def _array(self, key):
        rank = call("features_array_rank", self.address, key)
        shape, strides, code = sizes(count=rank), sizes(count=rank), sizes(count=1)
        address = call("features_array", self.address, key, shape, strides, code)
        dtype = _DTYPES[code[0]]
        out_dtype = np.float32 if dtype == np.float16 else dtype
        if 0 in shape:
            return np.zeros(tuple(shape), out_dtype)
        extent = sum((count - 1) * stride for count, stride in zip(shape, strides)) + 1
        flat = np.frombuffer((ctypes.c_char * (extent * dtype.itemsize)).from_address(address), dtype)
        view = np.lib.stride_tricks.as_strided(flat, tuple(shape), [stride * dtype.itemsize for stride in strides])
        return view.astype(out_dtype, order="C", copy=True)

    def _dictionary(self, key):
        count = call("features_count", self.address, key)
        numbers, keys = (ctypes.c_double * count)(), (ctypes.c_int64 * count)()
        names = call("features_dictionary", self.address, key, numbers, keys)
        return dict(zip(json.loads(names) if names else keys, numbers))

    def _image(self, key):
        width, height = sizes(count=1), sizes(count=1)
        layout = call("features_image_size", self.address, key, width, height)
        shape = (height[0], width[0])
        if layout == _BGRA:
            pixels = np.empty(shape + (4,), np.uint8)
        elif layout == _GREY:
            pixels = np.empty(shape, np.uint8)
        elif layout == _GREY_HALF:
            pixels = np.empty(shape, np.float16)
        else:
            raise RuntimeError(f"The pixel format of output '{key.decode()}' cannot be converted to an image.")
        call("features_image", self.address, key, layout, pixels.ctypes.data)
        if layout == _BGRA:
            return Image.fromarray(np.ascontiguousarray(pixels[..., [2, 1, 0, 3]]))
        return Image.fromarray(pixels if layout == _GREY else pixels.astype(np.float32))

    def _sequence(self, key):
        numbers = (ctypes.c_int64 * call("features_count", self.address, key))()
        names = call("features_sequence", self.address, key, numbers)
        return json.loads(names) if names else list(numbers)


def _is_integer(value):
    return isinstance(value, (int, np.integer))


def _is_array(value):
    """Whether the value lends its memory as an array with at least one axis."""
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return np.asarray(value).ndim > 0


def _converted(name, array):
    """The array with a type that Core ML has; an error when that would change a value."""
    if array.dtype.newbyteorder("=").name in _DATA_TYPES:
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "iub":
        if array.size == 0 or (array.min() >= _INT32.min and array.max() <= _INT32.max):
            return array.astype(np.int32)
        far = array.max() if array.max() > _INT32.max else array.min()
        raise RuntimeError(
            f"value type not convertible: '{name}' is an array of {array.dtype} that holds {far}, and the widest integers "
            f"of Core ML's arrays are int32; pass {name}.astype(np.float64) if the model takes real numbers")
    raise RuntimeError(f"value type not convertible: {_remedy(name, array)}")


def _remedy(name, value):
    """The error in a value, and the value to pass instead, in one line."""
    taken = "a number, a string, an array, an image of Pillow, or a dictionary of numbers by strings or integers"
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim > 0:
        return f"'{name}' is an array of {value.dtype}; pass {name}.astype(np.float64)"
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return f"'{name}' is an array of {value.dtype}; pass {name}.real and {name}.imag as arrays of their own"
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
        return f"'{name}' is an array of {value.dtype}; pass an array of numbers, e.g. {name}.astype(np.float32)"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"'{name}' is a {value.dtype} without axes; pass np.array([{value}], np.float32), or float({name})"
    if isinstance(value, dict):
        return f"'{name}' is a dictionary that is not one of numbers by strings or by integers"
    return f"'{name}' is a {type(value).__name__}; pass {taken}"


def _is_convertible(dictionary):
    """Whether the first pair is one that Core ML has dictionaries of, and the others are like it."""
    if not dictionary:
        return True
    key, value = next(iter(dictionary.items()))
    if not isinstance(key, (int, np.integer, str, bytes)) or not isinstance(value, (int, np.integer, float)):
        return False
    try:
        for other, number in dictionary.items():
            if _is_integer(key):
                int(other)
            float(number)
    except (TypeError, ValueError):
        return False
    return True
