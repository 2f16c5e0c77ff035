"""The functions of `libCoreMLPython.so` that pass values in slots (Sources/Programs/CoreMLPython/Calls)."""
from __future__ import annotations

import ctypes
import functools
import json
from ctypes import c_bool, c_char_p, c_ssize_t, c_void_p
from typing import Any

from .errors import error
from .library import Handle, _library, take_text

HANDLER = ctypes.CFUNCTYPE(None, c_void_p, c_ssize_t, c_char_p)
"""The callback of an update: context, event, metrics and parameters as JSON."""

_P, _N, _C = c_void_p, c_ssize_t, c_char_p

# name → (result, parameters); those that are not in _SAFE have the place for a failure last.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "model_open": (_P, [_C, _C]),
    "model_interface": (_P, [_P]),
    "model_save": (c_bool, [_P, _C]),
    "model_plan": (_P, [_P, _P, _N]),
    "frame_new": (_P, [_P, _P, _P, _P]),
    "frame_call": (c_bool, [_P]),
    "cancellation_new": (_P, []),
    "cancellation_cancel": (None, [_P]),
    "batch_rows": (_P, [_P, _P, _N, _P]),
    "batch_columns": (_P, [_P, _P, _N, _P]),
    "batch_example": (c_bool, [_P, _N, _P]),
    "batch_answers": (c_bool, [_P, _P]),
    "state_new": (_P, [_P]),
    "state_get": (c_bool, [_P, _C, _P]),
    "state_set": (c_bool, [_P, _C, _P]),
    "update_new": (_P, [_C, _C, _P, _N, _C, _N, HANDLER, _P]),
    "update_run": (_P, [_P]),
    "update_cancel": (None, [_P]),
    "update_change": (c_bool, [_P, _C]),
    "update_snapshot": (_P, [_P]),
    "workers": (_N, [_N]),
}

_SAFE = {
    "frame_new", "frame_call", "cancellation_new", "cancellation_cancel", "state_new", "update_cancel", "update_snapshot",
    "workers"}


@functools.lru_cache(maxsize=None)
def function(name: str) -> Any:
    """The function `coreml_<name>`; its last argument, if it can fail, is the address of a `c_void_p`."""
    result, parameters = _FUNCTIONS[name]
    found = ctypes.CFUNCTYPE(result, *parameters, *([] if name in _SAFE else [_P]))(("coreml_" + name, _library()))
    return found


def raise_failure(failure: c_void_p) -> None:
    """Raises what the library reported, if it did."""
    if failure.value:
        text = take_text(failure.value)
        failure.value = None
        raise error(text)


def call(name: str, *arguments: Any) -> Any:
    """Calls `coreml_<name>`; a failure is raised."""
    if name in _SAFE:
        return function(name)(*arguments)
    failure = c_void_p()
    answer = function(name)(*arguments, ctypes.addressof(failure))
    raise_failure(failure)
    return answer


def call_text(name: str, *arguments: Any) -> Any:
    """Calls a function that returns JSON, and returns what it says."""
    return json.loads(take_text(call(name, *arguments)))


def options(**values: Any) -> bytes:
    """Choices as the library reads them."""
    return json.dumps({name: value for name, value in values.items() if value is not None}).encode()


__all__ = ["HANDLER", "Handle", "call", "call_text", "function", "options", "raise_failure"]
