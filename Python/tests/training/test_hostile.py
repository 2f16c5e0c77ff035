"""Arrays of the Arrow C data interface that contradict themselves: an error names the column, and nothing is read outside."""
import ctypes

import numpy
import pytest

from swift_coreml.createml import TrainingError, _arrow, _native


def read(column, rows=3, change=lambda array, schema: None):
    table = _arrow.Node(b"+s", rows, [None], [column])
    change(column.array, column.schema)
    handle = _native.Handle(_native.call(
        "frame_from_array", ctypes.addressof(table.schema), ctypes.addressof(table.array)))
    return _arrow.columns(handle)


def numbers():
    return _arrow.column("x", numpy.array([1.0, 2.0, 3.0]))


def texts(offsets, data=b"abcdefgh"):
    return _arrow.Node(
        b"U", 3, [None, numpy.array(offsets, dtype=numpy.int64), numpy.frombuffer(data, dtype=numpy.uint8)], name="x")


def view(count, buffer, offset):
    good = numpy.array([1, 0x61, 0, 0], dtype=numpy.int32)
    bad = numpy.array([count, 0x61616161, buffer, offset], dtype=numpy.int32)
    return _arrow.Node(
        b"vu", 3, [None, numpy.concatenate([good, bad, good]), numpy.full(40, 0x61, dtype=numpy.uint8),
                   numpy.array([40], dtype=numpy.int64)], name="x")


@pytest.mark.parametrize("field, value, words", [
    ("length", 2, "has 2 elements, where 3 are stated"), ("length", -1, "the length -1"), ("length", 2 ** 63 - 1, "the length"),
    ("offset", -1, "the offset -1"), ("offset", 2 ** 63 - 1, "the offset"), ("n_buffers", 1, "an array of 1 buffers"),
    ("n_buffers", 3, "an array of 3 buffers"), ("n_children", 1, "an array of 1 children"), ("null_count", 2, "no buffer that tells")])
def test_fields_of_arrays(field, value, words):
    with pytest.raises(TrainingError, match=f"'x'.*{words}"):
        read(numbers(), change=lambda array, schema: setattr(array, field, value))


@pytest.mark.parametrize("format, words", [
    (b"", "''"), (b"?", r"'\?'"), (b"d:5,2", "decimal"), (b"+l", "0 children"), (b"+w:-1", "fixed size"), (b"tsx:", "unknown"),
    (b"vu", "at least 3")])
def test_formats(format, words):
    with pytest.raises(TrainingError, match=f"'x'.*{words}"):
        read(numbers(), change=lambda array, schema: setattr(schema, "format", format))


def test_null_buffers():
    def clear(array, schema):
        array.buffers[1] = None
    with pytest.raises(TrainingError, match="'x'.*no memory for them"):
        read(numbers(), change=clear)

    def clear_text(array, schema):
        array.buffers[2] = None
    with pytest.raises(TrainingError, match="'x'.*no memory for them"):
        read(texts([0, 1, 2, 3]), change=clear_text)


@pytest.mark.parametrize("offsets", [[0, 5, 2, 6], [-1, 0, 1, 2], [3, 2, 1, 0], [0, 1, 2, 2 ** 62]])
def test_offsets(offsets):
    with pytest.raises(TrainingError, match="'x' has the offset"):
        read(texts(offsets))


@pytest.mark.parametrize("count, buffer, offset", [(20, 0, 21), (20, 1, 0), (20, -1, 0), (20, 0, -1), (2 ** 31 - 1, 0, 0)])
def test_views(count, buffer, offset):
    assert read(view(20, 0, 20))["x"] == ["a", "a" * 20, "a"]
    with pytest.raises(TrainingError, match="'x' has a text in row 1 that lies outside"):
        read(view(count, buffer, offset))
    with pytest.raises(TrainingError, match="a text of -5 bytes in row 1"):
        read(view(-5, 0, 0))


def test_lists():
    def column(offsets):
        return _arrow.Node(b"+L", 3, [None, numpy.array(offsets, dtype=numpy.int64)], [numbers()], name="x")
    assert read(column([0, 1, 1, 3]))["x"] == [[1.0], [], [2.0, 3.0]]
    with pytest.raises(TrainingError, match="has 3 elements, where 9 are stated"):
        read(column([0, 1, 2, 9]))
    fixed = _arrow.Node(b"+w:2147483648", 3, [None], [numbers()], name="x")
    with pytest.raises(TrainingError, match="where 6442450944 are stated"):
        read(fixed)


def test_rows():
    with pytest.raises(TrainingError, match="length -4"):
        read(numbers(), rows=-4)
    with pytest.raises(TrainingError, match="more than"):
        read(numbers(), rows=2 ** 40)
