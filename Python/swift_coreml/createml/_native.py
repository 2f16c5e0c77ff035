"""The C interface of training in `libCoreMLPython.so` (Sources/Programs/CoreMLPythonTraining), with errors as exceptions."""
from __future__ import annotations

import ctypes
import functools
import json
from ctypes import byref, c_bool, c_char_p, c_double, c_ssize_t, c_void_p
from typing import Any

from .. import library


class TrainingError(RuntimeError):
    """An error of Create ML: data, parameters, sessions or files; the message says what to do."""


class TrainingWarning(UserWarning):
    """What limits the use of a model that was trained."""


class TrainingCancelled(TrainingError):
    """Training was cancelled."""


class _Text(c_void_p):
    """A text that the receiver owns."""


_HANDLE, _FAILURE = c_void_p, ctypes.POINTER(c_void_p)

# name → (result, parameters); a last parameter _FAILURE marks a function that can fail
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "frame_from_stream": (_HANDLE, [c_void_p, _FAILURE]),
    "frame_from_array": (_HANDLE, [c_void_p, c_void_p, _FAILURE]),
    "frame_from_file": (_HANDLE, [c_char_p, _FAILURE]),
    "frame_to_stream": (c_void_p, [_HANDLE, _FAILURE]),
    "frame_rows": (c_ssize_t, [_HANDLE]),
    "training_tasks": (_Text, [_FAILURE]),
    "training_start": (_HANDLE, [c_char_p, c_char_p, _HANDLE, _HANDLE, _FAILURE]),
    "training_wait": (c_bool, [_HANDLE, c_double]),
    "training_progress": (_Text, [_HANDLE, c_ssize_t, _FAILURE]),
    "training_cancel": (None, [_HANDLE]),
    "training_was_cancelled": (c_bool, [_HANDLE]),
    "training_model": (_HANDLE, [_HANDLE, _FAILURE]),
    "trained_load": (_HANDLE, [c_char_p, _FAILURE]),
    "trained_from_trees": (_HANDLE, [c_char_p, _FAILURE]),
    "trained_from_weights": (_HANDLE, [c_char_p, _FAILURE]),
    "trained_facts": (_Text, [_HANDLE, _FAILURE]),
    "trained_evaluate": (_Text, [_HANDLE, c_char_p, _HANDLE, _FAILURE]),
    "trained_predict": (_HANDLE, [_HANDLE, c_char_p, _HANDLE, _FAILURE]),
    "trained_predict_pictures": (_HANDLE, [_HANDLE, c_char_p, ctypes.POINTER(_HANDLE), c_ssize_t, _FAILURE]),
    "trained_stylize": (_HANDLE, [_HANDLE, _HANDLE, _FAILURE]),
    "picture_from_pixels": (_HANDLE, [c_void_p, c_ssize_t, c_ssize_t, c_ssize_t, _FAILURE]),
    "picture_from_file": (_HANDLE, [c_char_p, _FAILURE]),
    "picture_width": (c_ssize_t, [_HANDLE]),
    "picture_height": (c_ssize_t, [_HANDLE]),
    "picture_read": (None, [_HANDLE, c_void_p]),
    "trained_write": (c_bool, [_HANDLE, c_char_p, c_char_p, _FAILURE]),
}


@functools.lru_cache(maxsize=None)
def _loaded() -> ctypes.CDLL:
    loaded: ctypes.CDLL = library._library()
    for name, (result, parameters) in _FUNCTIONS.items():
        function = getattr(loaded, "coreml_" + name)
        function.restype, function.argtypes = result, parameters
    return loaded


def call(name: str, *arguments: Any) -> Any:
    """Calls `coreml_<name>`; what it reports as a failure is raised."""
    function = getattr(_loaded(), "coreml_" + name)
    result, parameters = _FUNCTIONS[name]
    if parameters[-1] is not _FAILURE:
        return function(*arguments)
    failure = c_void_p()
    answer = function(*arguments, byref(failure))
    if failure.value:
        raise TrainingError(library.take_text(failure.value))
    return library.take_text(answer.value) if result is _Text else answer


def encoded(value: Any) -> bytes:
    """A value as JSON, with numbers and lists of NumPy as Python's."""
    def plain(other: Any) -> Any:
        if hasattr(other, "tolist"):
            return other.tolist()
        raise TypeError(f"{other!r} is of type {type(other).__name__}, which is not a parameter")
    return json.dumps(value, default=plain, allow_nan=False).encode()


def addresses(values: list[int]) -> Any:
    """Addresses one after the other."""
    return (c_void_p * len(values))(*values)


class Handle:
    """Owns an object of the library."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self) -> None:
        address, self.address = getattr(self, "address", 0), 0
        if address:
            library._library().coreml_release(address)


def free(address: int) -> None:
    _loaded().coreml_free(address)


@functools.lru_cache(maxsize=None)
def capsule_destructor() -> int:
    """The address of the destructor of capsules that hold a stream."""
    address = ctypes.cast(_loaded().coreml_capsule_destructor, c_void_p).value
    assert address is not None
    return address


@functools.lru_cache(maxsize=None)
def tasks() -> dict[str, Any]:
    """The parameters of each task, as Create ML states them."""
    return {entry["task"]: entry for entry in json.loads(call("training_tasks"))}
