"""Many predictions in one call, spread over the processors without the interpreter's lock."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Iterator, Optional, Union

from . import native, slots
from .elements import data_types, np
from .errors import FeatureError
from .interface import Feature, Interface
from .slots import WORDS, Words


class Scores(Sequence[dict[Any, float]]):
    """A number for each label and example: `values[example, label]`; as a sequence, a dictionary for each example."""

    def __init__(self, labels: list[Any], values: "np.ndarray[Any, Any]"):
        self.labels = labels
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Scores(self.labels, self.values[index])
        return dict(zip(self.labels, self.values[index].tolist()))

    def __repr__(self) -> str:
        return f"<Scores of {len(self)} examples for {len(self.labels)} labels>"


class _Lent:
    """Memory of a batch's answers as NumPy asks for it; the answers live as long as the array."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], dtype: "np.dtype[Any]"):
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3}


def _view(owner: Any, address: int, shape: tuple[int, ...], dtype: Any) -> "np.ndarray[Any, Any]":
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Lent(owner, address, shape, np.dtype(dtype)))


def _scores(rows: list[dict[Any, float]]) -> Scores:
    """The probabilities of a classifier, each with the same labels."""
    labels = list(rows[0]) if rows else []
    return Scores(labels, np.array([[row[label] for label in labels] for row in rows], np.float64).reshape(
        len(rows), len(labels)))


def columns_of(batch: Any) -> Optional[Mapping[str, Any]]:
    """The columns of a mapping, or of a frame of pandas, polars or Arrow; `None` for other objects."""
    if isinstance(batch, Mapping):
        return batch
    names = getattr(batch, "column_names", None)
    if names is None and hasattr(batch, "columns") and hasattr(batch, "__getitem__"):
        names = batch.columns
    return None if names is None else {str(name): batch[name] for name in names}


def _count(columns: Mapping[str, Any]) -> int:
    for name, column in columns.items():
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            raise FeatureError(
                f"the column '{name}' is a {type(column).__name__}; pass an array or a list with a value for each example")
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise FeatureError(f"the columns of a batch have different numbers of examples: {counts}")
    return next(iter(counts.values()), 0)


def _named(feature: Feature, index: int, failure: FeatureError) -> FeatureError:
    return FeatureError(f"Example {index} of the batch: {failure}")


class Batch:
    """Examples in slots, ready to be predicted."""

    def __init__(self, interface: Interface):
        self._features = list(interface.inputs.values())
        self._keep: list[Any] = []
        self.count = 0
        self._words = Words(1)
        self._is_columns = False

    @classmethod
    def of_rows(cls, interface: Interface, rows: Sequence[Mapping[str, Any]]) -> "Batch":
        batch = cls(interface)
        batch.count = len(rows)
        features = batch._features
        batch._words = Words(max(len(rows) * len(features), 1))
        names = interface.inputs
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise FeatureError(f"Example {index} of the batch is a {type(row).__name__}; pass a dict of features")
            for name in row:
                if name not in names:
                    raise FeatureError(
                        f"Example {index} of the batch: the model has no input '{name}'; its inputs are {list(names)}")
            for place, feature in enumerate(features):
                try:
                    slots.set_value(
                        batch._words, index * len(features) + place, feature, row.get(feature.name), batch._keep)
                except FeatureError as failure:
                    raise _named(feature, index, failure) from None
        return batch

    @classmethod
    def of_columns(cls, interface: Interface, columns: Mapping[str, Any]) -> "Batch":
        batch = cls(interface)
        batch._is_columns = True
        for name in columns:
            if name not in interface.inputs:
                raise FeatureError(
                    f"the model has no input '{name}'; its inputs are {list(interface.inputs)}")
        batch.count = _count(columns)
        batch._words = Words(max(len(batch._features), 1))
        for place, feature in enumerate(batch._features):
            if columns.get(feature.name) is not None:
                batch._set_column(place * WORDS, feature, columns[feature.name])
        return batch

    def _set_column(self, place: int, feature: Feature, column: Any) -> None:
        words = self._words.integers
        if feature.type in ("Double", "Int64"):
            numbers = _numbers(feature, column)
            self._keep.append(numbers)
            words[place] = slots.NUMBERS if feature.type == "Double" else slots.INTEGER_COLUMN
            words[place + 1] = numbers.ctypes.data
        elif feature.type == "String":
            texts = []
            for index, text in enumerate(_listed(column)):
                try:
                    texts.append(slots.as_text(feature, text))
                except FeatureError as failure:
                    raise _named(feature, index, failure) from None
            words[place] = slots.TEXT_COLUMN
            slots.set_texts(words, place, texts, self._keep)
        elif feature.type == "MultiArray":
            array = _stacked(feature, column)
            extents = (ctypes.c_int64 * array.ndim)(*array.shape)
            self._keep += [array, extents]
            slots.set_array(words, place, array, extents, slots.ARRAYS)
        else:
            rows = Words(max(len(column), 1))
            for index, value in enumerate(_listed(column) if feature.type != "Image" else column):
                try:
                    value = value.as_py() if hasattr(value, "as_py") else value
                    if value is None and not feature.optional:
                        raise FeatureError(f"'{feature.name}' has no value, but takes {feature.text}")
                    slots.set_value(rows, index, feature, value, self._keep)
                except FeatureError as failure:
                    raise _named(feature, index, failure) from None
            self._keep.append(rows)
            words[place], words[place + 1] = slots.SLOTS, rows.address

    def predict(self, model: Any, interface: Interface, cancellation: Optional[int]) -> "Answers":
        name = "batch_columns" if self._is_columns else "batch_rows"
        reply = native.call(name, model.address, self._words.address, self.count, cancellation)
        return Answers(native.Handle(reply), self.count, interface)


def _listed(column: Any) -> Any:
    """The values of a column as Python's own."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return getattr(column, name)()
    return column


def _numbers(feature: Feature, column: Any) -> "np.ndarray[Any, Any]":
    """The numbers of a column as the library reads them; missing doubles are NaN."""
    wanted = np.float64 if feature.type == "Double" else np.int64
    try:
        array = np.asarray(column)
        if array.dtype.kind in "OU" and wanted is np.float64:
            if array.dtype.kind == "U":
                raise ValueError("strings are no numbers")
            array = np.array([np.nan if value is None else slots.as_number(feature, value) for value in array])
    except (TypeError, ValueError) as failure:
        raise FeatureError(f"'{feature.name}' takes {feature.text}, but its column has other values: {failure}") from None
    if array.ndim != 1 and array.size == len(array):
        array = array.reshape(len(array))
    if array.ndim != 1 or array.dtype.kind not in "iubf":
        if array.ndim == 1 and array.dtype.kind == "O":
            return np.array(
                [_example(feature, index, value) for index, value in enumerate(array)], np.int64)
        raise FeatureError(
            f"'{feature.name}' takes {feature.text}, but its column is an array of {array.dtype} and shape {array.shape}")
    if wanted is np.int64 and array.dtype.kind == "f":
        wrong = np.flatnonzero(~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2.0 ** 63)))
        if len(wrong):
            raise FeatureError(
                f"Example {wrong[0]} of the batch: '{feature.name}' takes {feature.text}, but {array[wrong[0]]} was given")
    if wanted is np.int64 and array.dtype == np.uint64 and array.size and array.max() >= 1 << 63:
        raise FeatureError(f"'{feature.name}' takes integers of 64 bits, but its column holds {array.max()}")
    return np.require(array, wanted, ["C", "A"])


def _example(feature: Feature, index: int, value: Any) -> int:
    try:
        return slots.as_integer(feature, value)
    except FeatureError as failure:
        raise _named(feature, index, failure) from None


def _stacked(feature: Feature, column: Any) -> "np.ndarray[Any, Any]":
    """A column of arrays as one, with the examples as the first axis."""
    if hasattr(column, "to_numpy") and not isinstance(column, np.ndarray):
        column = _arrays_of(column)
    if isinstance(column, np.ndarray) and column.dtype != object:
        array = slots.as_array(feature, column)
        if array.ndim == 1 and feature.shape is not None and len(feature.shape) == 1:
            array = array.reshape(len(array), 1)
        return array
    arrays = []
    for index, value in enumerate(column):
        try:
            arrays.append(slots.as_array(feature, value))
        except FeatureError as failure:
            raise _named(feature, index, failure) from None
        if arrays[index].shape != arrays[0].shape:
            raise FeatureError(
                f"Example {index} of the batch: '{feature.name}' has the shape {arrays[index].shape}, the examples before "
                f"it {arrays[0].shape}; pass a list of dicts, whose arrays may have different shapes")
    if not arrays:
        return np.zeros((0,) + (feature.shape or (0,)), feature.dtype)
    return np.stack(arrays)


def _arrays_of(column: Any) -> Any:
    """A column of lists of a frame: Arrow's and polars' without their wrappers."""
    if hasattr(column, "to_pylist") and "list" in str(getattr(column, "type", "")):
        return column.to_pylist()
    return np.asarray(column)


class Answers:
    """The answers of a batch, in the library's memory."""

    def __init__(self, handle: Any, count: int, interface: Interface):
        outputs = list(interface.outputs.values())
        self._handle = handle
        self._count = count
        self._features = outputs
        self._probabilities = interface.predicted_probabilities
        self._extents = [(ctypes.c_int64 * slots.MAXIMUM_RANK)() for _ in outputs]
        self._words = Words(max(len(outputs), 1))

    def _prepared(self) -> Words:
        for slot, extents in enumerate(self._extents):
            self._words.integers[slot * WORDS] = slots.ABSENT
            self._words.integers[slot * WORDS + 4] = ctypes.addressof(extents)
        return self._words

    def rows(self) -> Iterator[dict[str, Any]]:
        """The answers example by example."""
        keys: list[Optional[list[Any]]] = [None for _ in self._features]
        for index in range(self._count):
            words = self._prepared()
            native.call("batch_example", self._handle.address, index, words.address)
            row = {}
            for slot, feature in enumerate(self._features):
                place, integers = slot * WORDS, words.integers
                kind = integers[place]
                if kind in (slots.TEXT_SCORES, slots.INTEGER_SCORES):
                    if not integers[place + 6] or keys[slot] is None:
                        keys[slot] = slots.scores_keys(integers, place, kind, integers[place + 2])
                row[feature.name] = slots.value(words, slot, keys[slot])
            yield row

    def columns(self) -> dict[str, Any]:
        """The answers as columns: arrays, lists of strings, `Scores`, and lists of whatever else there is."""
        words = self._prepared()
        native.call("batch_answers", self._handle.address, words.address)
        result, others = {}, []
        for slot, feature in enumerate(self._features):
            result[feature.name] = column = self._column(words.integers, slot * WORDS)
            if column is None:
                others.append(feature.name)
        if others:
            rows = list(self.rows())
            for name in others:
                values = [row[name] for row in rows]
                result[name] = _scores(values) if name == self._probabilities else values
        return result

    def _column(self, words: Any, place: int) -> Union[None, list[str], Scores, "np.ndarray[Any, Any]"]:
        kind, address, count = words[place], words[place + 1], self._count
        if kind == slots.NUMBERS:
            return _view(self._handle, address, (count,), np.float64)
        if kind == slots.INTEGER_COLUMN:
            return _view(self._handle, address, (count,), np.int64)
        if kind == slots.TEXT_COLUMN:
            return slots.texts(words, place, count)
        if kind == slots.ARRAYS:
            shape = tuple((ctypes.c_int64 * words[place + 2]).from_address(words[place + 4]))
            return _view(self._handle, address, shape, data_types()[words[place + 3]])
        if kind in (slots.TEXT_SCORE_COLUMN, slots.INTEGER_SCORE_COLUMN):
            labels = slots.scores_keys(words, place, kind, words[place + 2])
            return Scores(labels, _view(self._handle, address, (count, len(labels)), np.float64))
        return None
