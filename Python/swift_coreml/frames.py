"""Predictions one at a time: the memory that a call needs, prepared once and used again."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Optional

from . import native, slots
from .elements import FORMATS, codes, is_array, np
from .errors import FeatureError
from .interface import Feature, Interface
from .slots import ARRAY, WORDS, Words

_BUFFER = ctypes.c_char.from_buffer
_ADDRESS = ctypes.addressof

SMALL = 4096
"""Arrays of so many bytes are copied, which takes less time than to lend their memory."""


class _Input:
    """An input, with the array that its slot names if the last one was small, and what such an array looks like."""

    __slots__ = ("name", "feature", "slot", "place", "type", "shape", "dtype", "prepared", "extents")

    def __init__(self, slot: int, feature: Feature):
        self.name, self.feature, self.slot, self.place = feature.name, feature, slot, slot * WORDS
        self.type: Any = None           # NumPy's arrays, once one was given
        self.shape: Optional[tuple[int, ...]] = None
        self.dtype: Any = None
        self.prepared: Any = None
        self.extents: Any = None


class _Output:
    """An output, with the array that its slot offers; `is_fixed` says whether that is used again."""

    __slots__ = ("name", "feature", "slot", "place", "dtype", "array", "is_fixed", "extents", "keys")

    def __init__(self, slot: int, feature: Feature):
        self.name, self.feature, self.slot, self.place = feature.name, feature, slot, slot * WORDS
        self.dtype: Any = None          # NumPy's type of an array, once one was given
        self.array: Any = None
        self.is_fixed = False
        self.extents = (ctypes.c_int64 * slots.MAXIMUM_RANK)()
        self.keys: Optional[list[Any]] = None


class Frame:
    """Slots for the inputs and outputs of a model; one thread at a time uses it.

    Arrays that look as the last ones did go in and out without any other work: small ones by copies to and from arrays
    that the slots name for good, large ones by lending their memory.
    """

    def __init__(self, model: Any, interface: Interface):
        inputs, outputs = list(interface.inputs.values()), list(interface.outputs.values())
        self._inputs, self._outputs = Words(max(len(inputs), 1)), Words(max(len(outputs), 1))
        # State, cancellation, and the text of a failure.
        self._control = (ctypes.c_int64 * 3)()
        self._handle = native.Handle(native.call(
            "frame_new", model.address, self._inputs.address, self._outputs.address, _ADDRESS(self._control)))
        self._address = self._handle.address
        self._call = native.function("frame_call")
        self._ins = [_Input(slot, feature) for slot, feature in enumerate(inputs)]
        self._outs = [_Output(slot, feature) for slot, feature in enumerate(outputs)]
        for out in self._outs:
            self._outputs.integers[out.place + 4] = _ADDRESS(out.extents)

    def predict(
        self, features: Mapping[str, Any], state: Optional[int] = None, backings: Optional[Mapping[str, Any]] = None,
        cancellation: Optional[int] = None,
    ) -> dict[str, Any]:
        if type(features) is not dict and not isinstance(features, Mapping):
            raise FeatureError(
                f"predict takes a dict of features by name, not a {type(features).__name__}; the model's inputs are "
                f"{[entry.name for entry in self._ins]}")
        words, keep, found = self._inputs.integers, list[Any](), 0
        for entry in self._ins:
            try:
                value = features[entry.name]
            except KeyError:
                words[entry.place] = slots.ABSENT
                entry.shape = None
                continue
            found += 1
            if type(value) is entry.type and value.shape == entry.shape and value.dtype is entry.dtype:
                if entry.prepared is not None:
                    entry.prepared[...] = value
                    continue
                if value.flags.c_contiguous and value.flags.writeable:
                    words[entry.place + 1] = _ADDRESS(_BUFFER(value))
                    continue
            self._set(entry, value, keep)
        if found != len(features):
            self._unknown(features)
        self._control[0] = state or 0
        self._control[1] = cancellation or 0
        return self._predict_into(backings) if backings else self._predict()

    def _predict(self, given: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Predicts from the slots; `given` are the caller's arrays that slots name already."""
        words, result = self._outputs.integers, {}
        for out in self._outs:
            if out.array is not None and not out.is_fixed and out.name not in given:
                out.array = np.empty(out.array.shape, out.array.dtype)
                words[out.place + 1] = _ADDRESS(_BUFFER(out.array))
        if not self._call(self._address):
            self._fail()
        for out in self._outs:
            if words[out.place] == ARRAY and words[out.place + 6] == 1:
                result[out.name] = out.array.copy() if out.is_fixed else out.array
            else:
                result[out.name] = self._answer(out)
        return result

    def _set(self, entry: _Input, value: Any, keep: list[Any]) -> None:
        """Puts any value into its slot, and prepares the slot for arrays like it."""
        words = self._inputs.integers
        entry.shape = entry.prepared = None
        slots.set_value(self._inputs, entry.slot, entry.feature, value, keep)
        if words[entry.place] != ARRAY or not is_array(value) or type(value) is not np.ndarray or value.dtype not in codes():
            return
        entry.type = np.ndarray
        array, entry.extents = keep[-2], keep[-1]
        if array.nbytes <= SMALL and array.size:
            entry.prepared = array.copy()
            slots.set_array(words, entry.place, entry.prepared, entry.extents)
        elif array is not value:
            return
        entry.shape, entry.dtype = value.shape, value.dtype

    def _unknown(self, features: Mapping[str, Any]) -> None:
        names = [entry.name for entry in self._ins]
        wrong = [str(name) for name in features if name not in names]
        if wrong:
            raise FeatureError(
                f"the model has no input '{wrong[0]}'; its inputs are:\n"
                + "\n".join(f"  {entry.feature}" for entry in self._ins))

    def _fail(self) -> None:
        failure = ctypes.c_void_p(self._control[2])
        self._control[2] = 0
        native.raise_failure(failure)

    # Outputs.

    def _predict_into(self, backings: Mapping[str, Any]) -> dict[str, Any]:
        """Predicts into the caller's arrays: those that fit by their make and buffers at once, others by a copy."""
        outs, filled, given = {out.name: out for out in self._outs}, {}, {}
        blocks: list[Any] = []
        try:
            for name, array in backings.items():
                if name not in outs:
                    raise FeatureError(
                        f"an array was given for '{name}', which is not an output; the outputs are {list(outs)}")
                out = outs[name]
                if out.feature.type != "MultiArray":
                    raise FeatureError(f"an array was given for output '{name}', which is {out.feature.text}")
                if not is_array(array):
                    block = self._offer(out, array)
                    if block is not None:
                        blocks.append(block)
                        given[name] = out
                    else:
                        filled[name] = array
                    continue
                if not array.flags.writeable:
                    raise FeatureError(f"what was given for output '{name}' is no array of NumPy that can be written to")
                if out.dtype is None:
                    out.dtype = out.feature.dtype
                exact = array.dtype == out.dtype and array.flags.c_contiguous and array.flags.aligned
                if exact and 0 < array.ndim <= slots.MAXIMUM_RANK and array.size:
                    given[name] = out
                    out.is_fixed = False
                    self._describe(out, array)
                    self._outputs.integers[out.place + 6] = 2
                else:
                    filled[name] = array
            result = self._predict(given)
        finally:
            for out in given.values():      # no slot keeps the caller's memory
                out.array, self._outputs.integers[out.place] = None, slots.ABSENT
        for name, given_array in filled.items():
            array = np.asarray(given_array)
            if array.shape != result[name].shape:
                raise FeatureError(
                    f"the array given for output '{name}' has the shape {array.shape}, the output {result[name].shape}")
            np.copyto(array, result[name], casting="unsafe")
            result[name] = given_array
        return result

    def _describe(self, out: _Output, array: "np.ndarray[Any, Any]") -> None:
        """Lets a slot offer an array."""
        words, place = self._outputs.integers, out.place
        out.array = array
        words[place], words[place + 1] = ARRAY, slots.pointer(array)
        words[place + 2], words[place + 3], words[place + 4] = array.ndim, codes()[array.dtype], _ADDRESS(out.extents)
        words[place + 6] = 0
        out.extents[:array.ndim] = array.shape

    def _offer(self, out: _Output, buffer: Any) -> Any:
        """Lets a slot offer a buffer, on which the caller insists; returns what keeps it where it is, or `None` for a buffer of
        another type than the output."""
        words, place = self._outputs.integers, out.place
        target = slots.target(out.feature, buffer)
        if target is None:
            return None
        block, address, shape = target
        out.array, out.is_fixed = buffer, False
        words[place], words[place + 1], words[place + 2] = ARRAY, address, len(shape)
        words[place + 3], words[place + 4] = FORMATS[memoryview(buffer).format], _ADDRESS(out.extents)
        words[place + 6] = 2
        out.extents[:len(shape)] = list(shape)
        return block

    def _answer(self, out: _Output) -> Any:
        """Whatever else is in a slot; after an array the slot offers one like it."""
        words, kind = self._outputs.integers, self._outputs.integers[out.place]
        if kind in (slots.TEXT_SCORES, slots.INTEGER_SCORES):
            if not words[out.place + 6] or out.keys is None:
                out.keys = slots.scores_keys(words, out.place, kind, words[out.place + 2])
            return slots.value(self._outputs, out.slot, out.keys)
        answer = slots.value(self._outputs, out.slot)
        if kind == ARRAY:
            out.is_fixed = answer.nbytes <= SMALL
            if answer.size:
                self._describe(out, np.empty_like(answer))
            else:
                out.array, words[out.place] = None, slots.ABSENT
        return answer
