"""The C interface of `libCoreMLPython.so` (Sources/Programs/CoreMLPython), with errors as exceptions."""
import ctypes
import functools
import json
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int32, c_int64, c_ssize_t, c_void_p
from typing import Any

class _TEXT(c_void_p):
    """A text that the receiver owns."""


_HANDLE, _SIZES, _FAILURE = c_void_p, POINTER(c_ssize_t), POINTER(c_void_p)

# name → (result, parameters); a last parameter _FAILURE marks a function that can fail
_FUNCTIONS = {
    "release": (None, [_HANDLE]),
    "free": (None, [c_void_p]),
    "compile": (_TEXT, [c_char_p, _FAILURE]),
    "structure": (_TEXT, [c_char_p, _FAILURE]),
    "compute_plan": (_TEXT, [c_char_p, c_char_p, _FAILURE]),
    "specification_lowered": (c_void_p, [c_char_p, c_ssize_t, _SIZES, _FAILURE]),
    "model_load": (_HANDLE, [c_char_p, c_char_p, c_char_p, c_char_p, _FAILURE]),
    "model_predict": (_HANDLE, [_HANDLE, _HANDLE, _HANDLE, _FAILURE]),
    "model_predict_batch": (c_bool, [_HANDLE, POINTER(_HANDLE), c_ssize_t, POINTER(_HANDLE), _FAILURE]),
    "state_new": (_HANDLE, [_HANDLE]),
    "state_read": (_HANDLE, [_HANDLE, c_char_p, _FAILURE]),
    "state_write": (c_bool, [_HANDLE, c_char_p, _HANDLE, _FAILURE]),
    "asset_from_path": (_HANDLE, [c_char_p, _FAILURE]),
    "asset_from_memory": (
        _HANDLE, [c_char_p, c_ssize_t, c_char_p, POINTER(c_char_p), _SIZES, c_ssize_t, _FAILURE]),
    "asset_load": (_HANDLE, [_HANDLE, c_char_p, c_char_p, c_char_p, _FAILURE]),
    "features_new": (_HANDLE, []),
    "features_set_int64": (None, [_HANDLE, c_char_p, c_int64]),
    "features_set_double": (None, [_HANDLE, c_char_p, c_double]),
    "features_set_string": (None, [_HANDLE, c_char_p, c_char_p]),
    "features_set_array": (
        c_bool, [_HANDLE, c_char_p, c_void_p, c_ssize_t, c_ssize_t, _SIZES, _SIZES, _FAILURE]),
    "features_set_dictionary": (
        c_bool, [_HANDLE, c_char_p, c_char_p, POINTER(c_int64), POINTER(c_double), c_ssize_t, _FAILURE]),
    "features_set_image": (
        c_bool, [_HANDLE, c_char_p, c_void_p, c_int32, c_ssize_t, c_ssize_t, _FAILURE]),
    "features_list": (_TEXT, [_HANDLE, _FAILURE]),
    "features_int64": (c_int64, [_HANDLE, c_char_p]),
    "features_double": (c_double, [_HANDLE, c_char_p]),
    "features_string": (_TEXT, [_HANDLE, c_char_p]),
    "features_array_rank": (c_ssize_t, [_HANDLE, c_char_p]),
    "features_array": (c_void_p, [_HANDLE, c_char_p, _SIZES, _SIZES, _SIZES]),
    "features_count": (c_ssize_t, [_HANDLE, c_char_p]),
    "features_dictionary": (_TEXT, [_HANDLE, c_char_p, POINTER(c_double), POINTER(c_int64), _FAILURE]),
    "features_sequence": (_TEXT, [_HANDLE, c_char_p, POINTER(c_int64), _FAILURE]),
    "features_image_size": (c_int32, [_HANDLE, c_char_p, _SIZES, _SIZES]),
    "features_image": (c_bool, [_HANDLE, c_char_p, c_int32, c_void_p, _FAILURE]),
}


@functools.lru_cache(maxsize=None)
def _library():
    """The library beside this file, or the one that COREML_LIBRARY names (for work on the library itself)."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libCoreMLPython.so")
    library = ctypes.CDLL(os.environ.get("COREML_LIBRARY", beside))
    for name, (result, parameters) in _FUNCTIONS.items():
        function = getattr(library, "coreml_" + name)
        function.restype, function.argtypes = result, parameters
    return library


def take_text(address: Any) -> Any:
    """The text at `address`, which is given up; `None` for no text."""
    if not address:
        return None
    text = ctypes.string_at(address).decode()
    _library().coreml_free(address)
    return text


def take_bytes(address, count):
    """The `count` bytes at `address`, which are given up."""
    data = ctypes.string_at(address, count)
    _library().coreml_free(address)
    return data


def call(name, *arguments):
    """Calls `coreml_<name>`; what it reports as a failure is raised as RuntimeError."""
    function = getattr(_library(), "coreml_" + name)
    result, parameters = _FUNCTIONS[name]
    if not parameters or parameters[-1] is not _FAILURE:
        answer = function(*arguments)
    else:
        failure = c_void_p()
        answer = function(*arguments, byref(failure))
        if failure.value:
            raise RuntimeError(take_text(failure.value))
    return take_text(answer.value) if result is _TEXT else answer


class Handle:
    """Owns an object of the library."""

    def __init__(self, address: Any) -> None:
        self.address = address

    def __del__(self):
        if self.address:
            _library().coreml_release(self.address)
            self.address = None


def sizes(values=(), count=None):
    """An array of `Int`s."""
    return (c_ssize_t * (len(values) if count is None else count))(*values)


def json_bytes(value):
    return json.dumps(value).encode()
