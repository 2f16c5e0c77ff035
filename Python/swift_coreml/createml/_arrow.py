"""Columns of Python and NumPy in the Arrow C data interface, and tables of the library as columns of Python and NumPy."""
from __future__ import annotations

import ctypes
import datetime
import numbers
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Optional

import numpy

from . import _native


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


_Release = ctypes.CFUNCTYPE(None, c_void_p)

ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p),
    ("private_data", c_void_p)]
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", c_void_p), ("private_data", c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ArrowArray))),
    ("get_last_error", c_void_p), ("release", c_void_p), ("private_data", c_void_p)]

# Structures built here belong to Python, and their receiver copies them; a null pointer would mark them as released.
_release_nothing = _Release(lambda _: None)
_RELEASE = ctypes.cast(_release_nothing, c_void_p).value

_FORMATS = {
    "f2": b"e", "f4": b"f", "f8": b"g", "i1": b"c", "i2": b"s", "i4": b"i", "i8": b"l", "u1": b"C", "u2": b"S", "u4": b"I",
    "u8": b"L"}


class Node:
    """A column in Arrow's layout, over memory that it keeps."""

    def __init__(
        self, format: bytes, length: int, buffers: list[Optional[numpy.ndarray]], children: Optional[list[Node]] = None,
        missing: int = 0, name: str = "",
    ) -> None:
        self.format, self.length, self.missing, self.name = format, length, missing, name
        self.buffers, self.children = buffers, children or []
        self.schema, self.array = ArrowSchema(), ArrowArray()
        count = len(self.children)
        self._schemas = (POINTER(ArrowSchema) * max(count, 1))(*(ctypes.pointer(child.schema) for child in self.children))
        self._arrays = (POINTER(ArrowArray) * max(count, 1))(*(ctypes.pointer(child.array) for child in self.children))
        # An empty array has no memory, but a null pointer would be no buffer.
        self._addresses = (c_void_p * max(len(buffers), 1))(
            *(None if buffer is None else buffer.ctypes.data or 8 for buffer in buffers))
        self._encoded = name.encode()
        schema, array = self.schema, self.array
        schema.format, schema.name, schema.flags, schema.n_children = format, self._encoded, 2, count
        schema.children = ctypes.cast(self._schemas, POINTER(POINTER(ArrowSchema)))
        schema.release = array.release = _RELEASE
        array.length, array.null_count, array.n_buffers, array.n_children = length, missing, len(buffers), count
        array.buffers = ctypes.cast(self._addresses, POINTER(c_void_p))
        array.children = ctypes.cast(self._arrays, POINTER(POINTER(ArrowArray)))


def _validity(present: numpy.ndarray) -> tuple[Optional[numpy.ndarray], int]:
    missing = int(len(present) - numpy.count_nonzero(present))
    return (numpy.packbits(present, bitorder="little") if missing else None), missing


def _numbers(values: numpy.ndarray, name: str, present: Optional[numpy.ndarray] = None) -> Node:
    values = numpy.ascontiguousarray(values)
    if values.dtype.byteorder == ">":
        values = values.astype(values.dtype.newbyteorder("<"))
    validity, missing = (None, 0) if present is None else _validity(present)
    if values.dtype.kind == "b":
        return Node(b"b", len(values), [validity, numpy.packbits(values, bitorder="little")], missing=missing, name=name)
    format = _FORMATS.get(values.dtype.kind + str(values.dtype.itemsize))
    if format is None:
        raise TypeError(f"the column '{name}' is of NumPy's type {values.dtype}; convert it to float64, int64 or text")
    return Node(format, len(values), [validity, values], missing=missing, name=name)


def _texts(values: list[Any], name: str) -> Node:
    present = numpy.array([value is not None for value in values], dtype=bool)
    parts = [b"" if value is None else value.encode() for value in values]
    offsets = numpy.zeros(len(parts) + 1, dtype=numpy.int64)
    numpy.cumsum([len(part) for part in parts], out=offsets[1:])
    validity, missing = _validity(present)
    return Node(
        b"U", len(parts), [validity, offsets, numpy.frombuffer(b"".join(parts), dtype=numpy.uint8)], missing=missing, name=name)


def _lists(values: list[Any], name: str) -> Node:
    present = numpy.array([value is not None for value in values], dtype=bool)
    offsets = numpy.zeros(len(values) + 1, dtype=numpy.int64)
    numpy.cumsum([0 if value is None else len(value) for value in values], out=offsets[1:])
    arrays = [value for value in values if value is not None]
    if arrays and all(isinstance(value, numpy.ndarray) and value.ndim == 1 and value.dtype.kind in "biuf" for value in arrays):
        child = _numbers(numpy.concatenate(arrays), "item")
    else:
        child = column("item", [element for value in arrays for element in value])
    validity, missing = _validity(present)
    return Node(b"+L", len(values), [validity, offsets], [child], missing=missing, name=name)


def _maps(values: list[Any], name: str) -> Node:
    present = numpy.array([value is not None for value in values], dtype=bool)
    offsets = numpy.zeros(len(values) + 1, dtype=numpy.int32)
    numpy.cumsum([0 if value is None else len(value) for value in values], out=offsets[1:])
    items = [item for value in values if value is not None for item in value.items()]
    keys = column("key", [key for key, _ in items] or numpy.zeros(0, dtype=numpy.int64))
    entries = Node(
        b"+s", len(items), [None], [keys, _numbers(numpy.array([value for _, value in items], dtype=float), "value")],
        name="entries")
    validity, missing = _validity(present)
    return Node(b"+m", len(values), [validity, offsets], [entries], missing=missing, name=name)


def _times(values: numpy.ndarray, name: str) -> Node:
    present = ~numpy.isnat(values)
    validity, missing = _validity(present)
    counts = values.astype("datetime64[us]").astype(numpy.int64)
    return Node(b"tsu:", len(values), [validity, counts], missing=missing, name=name)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _objects(values: list[Any], name: str) -> Node:
    values = [None if _is_missing(value) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if all(issubclass(kind, str) for kind in kinds):
        return _texts(values, name)
    # A missing text of pandas is NaN.
    if all(issubclass(kind, (str, float)) for kind in kinds) and all(
            value is None or isinstance(value, str) or value != value for value in values):
        return _texts([value if isinstance(value, str) else None for value in values], name)
    present = numpy.array([value is not None for value in values], dtype=bool)
    some_missing = None if present.all() else present
    if all(issubclass(kind, (bool, numpy.bool_)) for kind in kinds):
        return _numbers(numpy.array([bool(value) for value in values], dtype=bool), name, some_missing)
    if all(issubclass(kind, numbers.Integral) and not issubclass(kind, bool) for kind in kinds):
        try:
            whole = numpy.array([0 if value is None else int(value) for value in values], dtype=numpy.int64)
        except OverflowError:
            raise TypeError(f"the column '{name}' has integers of more than 64 bits; convert them to floats or text") from None
        return _numbers(whole, name, some_missing)
    if all(issubclass(kind, numbers.Real) and not issubclass(kind, bool) for kind in kinds):
        return _numbers(
            numpy.array([float("nan") if value is None else float(value) for value in values], dtype=float), name, some_missing)
    if all(issubclass(kind, Mapping) for kind in kinds):
        return _maps(values, name)
    if all(issubclass(kind, (list, tuple, numpy.ndarray)) for kind in kinds):
        return _lists(values, name)
    if all(issubclass(kind, (datetime.datetime, datetime.date, numpy.datetime64)) for kind in kinds):
        return _times(
            numpy.array(["NaT" if value is None else _utc(value) for value in values], dtype="datetime64[us]"), name)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(f"the column '{name}' holds {names}; a column holds numbers, texts, truth values, times, lists or "
                    "dictionaries of numbers, all of one kind")


def _utc(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


def column(name: str, values: Any) -> Node:
    """A column of an array of NumPy, a list, or what can be made either."""
    if isinstance(values, numpy.ma.MaskedArray):
        present = ~numpy.ma.getmaskarray(values)
        if values.ndim != 1 or values.dtype.kind not in "biuf":
            raise TypeError(f"the column '{name}' is a masked array of {values.dtype} with {values.ndim} dimensions; pass a "
                            "list with None for what is missing")
        return _numbers(values.filled(0), name, None if present.all() else present)
    if isinstance(values, numpy.ndarray):
        if values.ndim == 2 and values.dtype.kind in "biuf":
            return Node(
                b"+w:%d" % values.shape[1], len(values), [None], [_numbers(values.reshape(-1), "item")], name=name)
        if values.ndim != 1:
            raise TypeError(f"the column '{name}' has {values.ndim} dimensions; reshape it to (rows, numbers of a row)")
        if values.dtype.kind in "biuf":
            return _numbers(values, name)
        if values.dtype.kind == "M":
            return _times(values, name)
        if values.dtype.kind not in "OUT":
            return _numbers(values, name)    # which says that the type is none of a column
        return _objects(values.tolist(), name)
    return _objects(list(values), name)


def table(columns: Mapping[str, Any]) -> Node:
    """A table of columns of one length."""
    nodes = [column(str(name), values) for name, values in columns.items()]
    for node in nodes[1:]:
        if node.length != nodes[0].length:
            raise ValueError(
                f"the column '{node.name}' has {node.length} rows, '{nodes[0].name}' {nodes[0].length}; all must have as many")
    return Node(b"+s", nodes[0].length if nodes else 0, [None], nodes)


# Reading


def _copied(address: int, dtype: Any, count: int) -> numpy.ndarray:
    size = numpy.dtype(dtype).itemsize * count
    return numpy.frombuffer(ctypes.string_at(address, size) if size else b"", dtype=dtype)


def _read(schema: ArrowSchema, array: ArrowArray) -> Any:
    """A column: an array of NumPy, or a list for texts, lists and missing elements."""
    count, format = array.length, schema.format
    if format in (b"g", b"f", b"l"):
        values: Any = _copied(array.buffers[1], {b"g": "<f8", b"f": "<f4", b"l": "<i8"}[format], count)
    elif format == b"b":
        bits = _copied(array.buffers[1], "u1", (count + 7) // 8)
        values = numpy.unpackbits(bits, bitorder="little", count=count).astype(bool)
    elif format == b"U":
        offsets = _copied(array.buffers[1], "<i8", count + 1)
        text = ctypes.string_at(array.buffers[2], int(offsets[-1]))
        values = [text[start:end].decode() for start, end in zip(offsets[:-1], offsets[1:])]
    elif format == b"+L":
        offsets = _copied(array.buffers[1], "<i8", count + 1)
        items = _read(schema.children[0].contents, array.children[0].contents)
        items = items.tolist() if isinstance(items, numpy.ndarray) else items
        values = [items[start:end] for start, end in zip(offsets[:-1], offsets[1:])]
    else:
        raise AssertionError(f"the library gives no columns of the format {format!r}")
    if not array.null_count:
        return values
    bits = _copied(array.buffers[0], "u1", (count + 7) // 8)
    present = numpy.unpackbits(bits, bitorder="little", count=count)
    return [value if there else None for value, there in zip(
        values.tolist() if isinstance(values, numpy.ndarray) else values, present)]


def columns(frame: _native.Handle) -> dict[str, Any]:
    """The columns of a table of the library."""
    address = _native.call("frame_to_stream", frame.address)
    stream = ArrowArrayStream.from_address(address)
    schema, array = ArrowSchema(), ArrowArray()
    try:
        if stream.get_schema(address, ctypes.byref(schema)) or stream.get_next(address, ctypes.byref(array)):
            raise _native.TrainingError("the library's table cannot be read")
        return {
            schema.children[index].contents.name.decode(): _read(
                schema.children[index].contents, array.children[index].contents)
            for index in range(schema.n_children)}
    finally:
        for structure in (schema, array):
            if structure.release:
                _Release(structure.release)(ctypes.addressof(structure))
        _Release(stream.release)(address)
        _native.free(address)


# Capsules

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_STREAM_NAME = ctypes.create_string_buffer(b"arrow_array_stream")


def capsule(frame: _native.Handle) -> Any:
    """A copy of a table as a capsule of the Arrow PyCapsule interface."""
    return _new_capsule(
        _native.call("frame_to_stream", frame.address), ctypes.cast(_STREAM_NAME, c_char_p), _native.capsule_destructor())


def of_stream(capsule: Any) -> _native.Handle:
    """The table of a stream's capsule, whose memory it keeps."""
    return _native.Handle(_native.call("frame_from_stream", _capsule_pointer(capsule, b"arrow_array_stream")))


def of_columns(columns: Mapping[str, Any]) -> _native.Handle:
    """The table of columns, which are copied."""
    node = table(columns)
    return _native.Handle(
        _native.call("frame_from_array", ctypes.addressof(node.schema), ctypes.addressof(node.array)))
