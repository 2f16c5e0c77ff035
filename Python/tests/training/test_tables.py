"""Tables of every library, in and out."""
import datetime

import numpy
import pandas
import polars
import pyarrow
import pytest

from swift_coreml import createml
from training_data import as_kind, flowers


def same(left, right):
    return len(left) == len(right) and all(
        a is b or a == b or (a != a and b != b) for a, b in zip(list(left), list(right)))


def test_columns_of_every_kind_are_the_same(kind):
    columns = flowers()
    table = createml.Table.of(as_kind(kind, columns))
    assert len(table) == 600
    read = table.to_dict()
    assert list(read) == list(columns)
    for name, values in columns.items():
        assert same(numpy.asarray(read[name]).tolist(), values.tolist()), name


def test_a_table_goes_to_every_library():
    table = createml.Table.of({"x": [1.0, None, 3.0], "t": ["a", None, "ccc"], "n": [1, 2, 3], "b": [True, False, None]})
    assert table.to_polars().to_dict(as_series=False) == {
        "x": [1.0, None, 3.0], "t": ["a", None, "ccc"], "n": [1, 2, 3], "b": [True, False, None]}
    assert table.to_arrow().column("t").to_pylist() == ["a", None, "ccc"]
    assert table.to_pandas()["n"].tolist() == [1, 2, 3]


def test_a_stream_that_nobody_reads_is_released():
    table = createml.Table.of({"x": [1.0]})
    for _ in range(1000):
        table.__arrow_c_stream__()
    assert pyarrow.table(table).num_rows == 1


def test_types_of_numpy():
    for dtype in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4"]:
        read = createml.Table.of({"x": numpy.array([1, 2, 100], dtype=dtype)}).to_dict()["x"]
        assert read.tolist() == [1, 2, 100] and read.dtype == numpy.int64, dtype
    for dtype in ["float16", "float32", "float64", ">f8"]:
        assert createml.Table.of({"x": numpy.array([1, 2.5], dtype=dtype)}).to_dict()["x"].tolist() == [1, 2.5], dtype
    strided = numpy.arange(20.0).reshape(10, 2)[::3, 1]
    assert createml.Table.of({"x": strided}).to_dict()["x"].tolist() == strided.tolist()
    masked = numpy.ma.MaskedArray([1, 2, 3], [False, True, False])
    assert createml.Table.of({"x": masked}).to_dict()["x"] == [1, None, 3]
    matrix = createml.Table.of({"x": numpy.arange(6.0).reshape(3, 2)}).to_dict()["x"]
    assert matrix == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_lists_and_dictionaries_are_features():
    data = {
        "vector": [[float(i % 2), 1.0] for i in range(40)], "words": [{"a": 1.0} if i % 2 else {"b": 2.0} for i in range(40)],
        "kind": ["odd" if i % 2 else "even" for i in range(40)]}
    for frame in (data, polars.DataFrame(data), pandas.DataFrame(data), pyarrow.table(data)):
        for features in (["vector"], ["words"]):
            model = createml.DecisionTreeClassifier.train(frame, "kind", features, validation=None)
            assert model.training_metrics.accuracy == 1, features


def test_slices_chunks_and_categories_of_arrow():
    columns = flowers(60)
    parts = [pyarrow.table({name: values[i:i + 20] for name, values in columns.items()}) for i in (0, 20, 40)]
    for table in (pyarrow.concat_tables(parts), pyarrow.concat_tables([parts[0], *parts]).slice(20)):
        assert createml.Table.of(table).to_dict()["colour"] == columns["colour"].tolist()
        assert createml.Table.of(table).to_dict()["length"].tolist() == columns["length"].tolist()
    coded = pyarrow.table({"c": pyarrow.array(["x", None, "y", "x"]).dictionary_encode()})
    assert createml.Table.of(coded).to_dict()["c"] == ["x", None, "y", "x"]
    assert createml.Table.of(polars.DataFrame({"c": ["x", None, "y"]}, schema={"c": polars.Categorical})).to_dict()["c"] == [
        "x", None, "y"]
    assert createml.Table.of(pandas.DataFrame({"c": pandas.Categorical(["x", None, "y"])})).to_dict()["c"] == ["x", None, "y"]
    long = ["a text that is longer than twelve bytes", "short", None] * 3
    for type in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        assert createml.Table.of(pyarrow.table({"t": pyarrow.array(long, type).slice(1)})).to_dict()["t"] == long[1:]


def test_frames_of_pandas_with_missing_values_and_an_index():
    frame = pandas.DataFrame(
        {"i": pandas.array([1, None, 3], dtype="Int64"), "f": [1.0, float("nan"), 3.0], "t": ["a", None, "c"],
         "b": pandas.array([True, None, False], dtype="boolean")}, index=["u", "v", "w"])
    table = createml.Table.of(frame)
    read = table.to_dict()
    assert list(read) == ["i", "f", "t", "b"], "the index is no column"
    assert read["i"] == [1, None, 3] and read["t"] == ["a", None, "c"] and read["b"] == [True, None, False]
    model = createml.DecisionTreeRegressor.train({"f": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}, "y", validation=None)
    assert model.predict(frame).index.tolist() == ["u", "v", "w"]


@pytest.mark.parametrize("value, words", [
    (pyarrow.array([1, 2], pyarrow.decimal128(5)), "decimal"), (pyarrow.array([b"a", b"b"]), "binary"),
    (pyarrow.array([1, 2], pyarrow.duration("s")), "duration"), (pyarrow.array([1, 2], pyarrow.time32("s")), "time of day"),
    (pyarrow.array([[[1]], [[2]]]), "flatten"), ([1 + 2j, 1j], "complex"), ([object(), object()], "object"), ([1, "a"], "int, str"),
    (numpy.zeros((2, 2, 2)), "3 dimensions"), ([2 ** 70, 1], "64 bits"), (numpy.array([1j, 2]), "complex128")])
def test_other_types_are_refused_by_column_and_type(value, words):
    table = pyarrow.table({"price": value}) if isinstance(value, pyarrow.Array) else {"price": value}
    with pytest.raises((TypeError, createml.TrainingError), match=f"(?s)price.*{words}"):
        createml.Table.of(table)


def test_other_data_are_refused():
    with pytest.raises(ValueError, match="'y' has 3 rows, 'x' 2"):
        createml.Table.of({"x": [1, 2], "y": [1, 2, 3]})
    with pytest.raises(TypeError, match="int is no table"):
        createml.Table.of(7)
    with pytest.raises(createml.TrainingError, match="there is no file '/nowhere.csv'"):
        createml.Table.of("/nowhere.csv")
    with pytest.raises(createml.TrainingError, match="two columns 'x'"):
        createml.Table.of(pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["x", "x"]))


def test_times_are_read():
    stamps = [datetime.datetime(2024, 5, 1, 12, 30), None]
    for data in ({"when": stamps}, polars.DataFrame({"when": stamps}), pandas.DataFrame({"when": stamps})):
        with pytest.raises(createml.TrainingError, match="'when' holds elements of type Date"):
            createml.DecisionTreeRegressor.train(
                {**createml.Table.of({"y": [1.0, 2.0]}).to_dict(), "when": stamps} if isinstance(data, dict) else
                data.assign(y=[1.0, 2.0]) if isinstance(data, pandas.DataFrame) else data.with_columns(y=polars.Series([1.0, 2.0])),
                "y", validation=None)


def test_files(tmp_path):
    columns = flowers(40)
    frame = polars.DataFrame(columns)
    frame.write_csv(tmp_path / "f.csv")
    frame.write_csv(tmp_path / "f.tsv", separator="\t")
    frame.write_parquet(tmp_path / "f.parquet")
    frame.write_ipc(tmp_path / "f.arrow")
    for name in ("f.csv", "f.tsv", "f.parquet", "f.arrow"):
        table = createml.Table.of(tmp_path / name)
        assert len(table) == 40, name
        assert numpy.allclose(table.to_dict()["length"], columns["length"]), name
        assert table.to_dict()["colour"] == columns["colour"].tolist(), name
    (tmp_path / "f.xyz").write_text("x")
    with pytest.raises(createml.TrainingError, match="ends in '.xyz'"):
        createml.Table.of(tmp_path / "f.xyz")
    with pytest.raises(createml.TrainingError, match="no SFrame"):
        createml.Table.of(tmp_path)
