"""Tables of Arrow through a model: columns in, columns out, and what is wrong with a row beside its answers."""
from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
import pyarrow as pa

from .batches import Scores
from .errors import CoreMLError, FeatureError
from .interface import Feature
from .model import Model

Inputs = Optional[Mapping[str, Union[str, Sequence[str]]]]

_NUMBERS = {
    np.dtype(np.float64): pa.float64(), np.dtype(np.float32): pa.float32(), np.dtype(np.float16): pa.float32(),
    np.dtype(np.int32): pa.int32(), np.dtype(np.int8): pa.int32()}


PICTURES = 64
"""The most images that are decoded at the same time."""


def arrow_type(feature: Feature) -> pa.DataType:
    """The type of the column that an output becomes.

    Arrays become lists of all elements, row-major (half precision as float32), images PNG files.
    """
    if feature.type == "Double":
        return pa.float64()
    if feature.type == "Int64":
        return pa.int64()
    if feature.type == "String":
        return pa.string()
    if feature.type == "MultiArray":
        return pa.list_(_NUMBERS[feature.dtype or np.dtype(np.float64)])
    if feature.type == "Dictionary":
        return pa.map_(pa.int64() if feature.key_type == "Int64" else pa.string(), pa.float64())
    if feature.type == "Sequence":
        return pa.list_(pa.int64() if feature.key_type == "Int64" else pa.string())
    return pa.binary()


class TablePredictor:
    """Predicts the rows of tables.

    `inputs` names the column of each input, or, for an array, the columns of its elements; an input that it leaves out
    is in the column of its own name.  `prefix` is put before the names of the outputs, `error` is the column of errors.
    """

    def __init__(self, model: Model, inputs: Inputs = None, prefix: str = "", error: str = "error"):
        self.model, self.error = model, error
        self.outputs = {prefix + name: feature for name, feature in model.outputs.items()}
        self.columns: dict[str, Union[str, list[str]]] = {}
        for name in inputs or {}:
            if name not in model.inputs:
                raise FeatureError(f"the model has no input '{name}'; its inputs are {list(model.inputs)}")
        for name, feature in model.inputs.items():
            column = (inputs or {}).get(name, name)
            self.columns[name] = column if isinstance(column, str) else list(column)
            if not isinstance(column, str) and feature.type != "MultiArray":
                raise FeatureError(f"'{name}' takes {feature.text}, so it takes one column, not a list of them")

    def check(self, names: Sequence[str]) -> None:
        """Says which column is missing, or in the way of an answer."""
        for name, column in self.columns.items():
            for each in [column] if isinstance(column, str) else column:
                if each not in names and not self.model.inputs[name].optional:
                    raise FeatureError(
                        f"there is no column '{each}' for input '{name}' ({self.model.inputs[name].text}); the columns are "
                        f"{list(names)}. Name the right one with inputs={{'{name}': …}}")
        for name in [*self.outputs, self.error]:
            if name in names:
                raise FeatureError(
                    f"the table has a column '{name}' already; choose another name with prefix= or error=, or drop it")

    def used(self, names: Sequence[str]) -> list[str]:
        """Those of the columns that the model reads, each once."""
        columns = [[column] if isinstance(column, str) else column for column in self.columns.values()]
        wanted = dict.fromkeys(name for group in columns for name in group)
        return [name for name in wanted if name in names]

    @property
    def fields(self) -> list[pa.Field]:
        """The columns that are added: an answer for each output, and what was wrong with the row."""
        return [pa.field(name, arrow_type(feature)) for name, feature in self.outputs.items()] + [
            pa.field(self.error, pa.string())]

    def predict(self, table: Union[pa.Table, pa.RecordBatch]) -> list[Any]:
        """The added columns; a row that the model does not take has nulls and a message."""
        inputs, count = self._inputs(table), table.num_rows
        step = PICTURES if any(feature.type == "Image" for feature in self.model.inputs.values()) else max(count, 1)
        parts = [
            part for start in range(0, max(count, 1), step) for part in self._parts(inputs, start, min(start + step, count))]
        if len(parts) == 1:
            return parts[0]
        return [pa.concat_arrays([part[place] for part in parts]) for place in range(len(self.outputs) + 1)]

    def _inputs(self, table: Any) -> dict[str, Any]:
        inputs = {}
        for name, column in self.columns.items():
            feature = self.model.inputs[name]
            if not isinstance(column, str):
                numbers = [np.asarray(table.column(each), np.float64) for each in column]
                inputs[name] = np.stack(numbers, 1).astype(feature.dtype or np.float64) if numbers else None
            elif column in table.schema.names:
                inputs[name] = _column(feature, table.column(column))
        return inputs

    def _parts(self, inputs: dict[str, Any], start: int, stop: int) -> list[list[Any]]:
        """The answers of some rows, in parts: where they fail together, the row that is named goes without answers."""
        parts: list[list[Any]] = []
        end = stop
        while start < stop:
            try:
                answers = self.model.predict_batch({name: column[start:end] for name, column in inputs.items()})
                columns = [_answers(answers[name], feature) for name, feature in self.model.outputs.items()]
                parts.append(columns + [pa.nulls(end - start, pa.string())])
                start, end = end, stop
            except CoreMLError as failure:
                wrong = 0 if end - start == 1 else failure.example
                if wrong is None:
                    end = (start + end) // 2
                elif wrong > 0:
                    end = start + wrong         # those before it were read without an error
                else:
                    message = re.sub(r"^Example \d+ of the batch: ", "", str(failure))
                    parts.append(
                        [pa.nulls(1, field.type) for field in self.fields[:-1]] + [pa.array([message], pa.string())])
                    start, end = start + 1, stop
        return parts or [[pa.array([], field.type) for field in self.fields]]


def _column(feature: Feature, column: Any) -> Any:
    """A column as `predict_batch` takes it."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    kind = column.type
    if feature.type in ("Double", "Int64") and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return column.to_numpy(zero_copy_only=False)
    if feature.type == "MultiArray" and (pa.types.is_list(kind) or pa.types.is_large_list(kind)
                                         or pa.types.is_fixed_size_list(kind)):
        return _arrays(feature, column)
    if feature.type == "Dictionary" and pa.types.is_map(kind):
        return [None if entries is None else dict(entries) for entries in column.to_pylist()]
    return column if feature.type == "Image" else column.to_pylist()


def _arrays(feature: Feature, column: Any) -> Any:
    """Lists of numbers as arrays of the input's shape."""
    shape, count = feature.shape or (), int(np.prod(feature.shape or (0,)))
    numbers = column.flatten()
    plain = pa.types.is_integer(numbers.type) or pa.types.is_floating(numbers.type)
    if plain and column.null_count == 0 and numbers.null_count == 0 and count and len(column):
        if len(numbers) == count * len(column) and (
                pa.types.is_fixed_size_list(column.type) or bool(np.all(np.diff(np.asarray(column.offsets)) == count))):
            return numbers.to_numpy(zero_copy_only=False).reshape((len(column),) + shape)
    rows = []
    for row in column.to_pylist():
        try:
            array = np.asarray(row, feature.dtype)
            rows.append(array.reshape(shape) if array.size == count else array)
        except (TypeError, ValueError):
            rows.append(row)                # the row's error will say what it is
    return rows


def _answers(values: Any, feature: Feature) -> Any:
    """An output's column as one of Arrow."""
    kind = arrow_type(feature)
    if isinstance(values, Scores):
        count, labels = values.values.shape
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * labels)
        keys = pa.array(values.labels, kind.key_type)
        repeated = keys.take(pa.array(np.tile(np.arange(labels), count)))
        return pa.MapArray.from_arrays(offsets, repeated, pa.array(values.values.reshape(-1)))
    if feature.type == "MultiArray":
        numbers = kind.value_type.to_pandas_dtype()
        if isinstance(values, np.ndarray):
            flat = values.reshape(len(values), -1)
            offsets = pa.array(np.arange(len(flat) + 1, dtype=np.int32) * flat.shape[1])
            return pa.ListArray.from_arrays(offsets, pa.array(flat.reshape(-1).astype(numbers)))
        return pa.array([np.asarray(value).reshape(-1).astype(numbers) for value in values], kind)
    if feature.type == "Image":
        return pa.array([_png(value) for value in values], kind)
    if feature.type == "Dictionary":
        return pa.array([list(value.items()) for value in values], kind)
    return pa.array(values, kind)


def _png(picture: Any) -> bytes:
    file = io.BytesIO()
    if isinstance(picture, np.ndarray):
        raise CoreMLError("pictures in tables are PNG files, for which Pillow is needed; install pillow")
    (picture.convert("L") if picture.mode == "F" else picture).save(file, "PNG")
    return file.getvalue()
