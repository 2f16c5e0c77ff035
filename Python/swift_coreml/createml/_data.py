"""Tables as Python has them: pandas, polars, Arrow, dictionaries, files; and the way back."""
from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy

from . import _arrow, _native

# Whatever `table` takes: frames of pandas and polars, tables of Arrow, mappings from names to columns, paths.
Data = Any
Path = Union[str, "os.PathLike[str]"]

_ARROW_FILES = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc"}


class Table:
    """A table of the library, and how the data that it was made of looked.

    Every function that takes data takes a `Table`, too: make one to read a file or to convert a frame only once.

    >>> table = Table.of({"size": [1.0, 2.0], "kind": ["a", "b"]})
    >>> len(table)
    2
    >>> table.to_dict()["kind"]
    ['a', 'b']
    """

    def __init__(self, handle: _native.Handle, kind: str = "dictionary", index: Any = None) -> None:
        self._handle, self._kind, self._index = handle, kind, index

    @classmethod
    def of(cls, data: Data) -> Table:
        """The table of data of any kind that training takes."""
        return table(data)

    def __len__(self) -> int:
        return int(_native.call("frame_rows", self._handle.address))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A copy of the table, for every library that knows the Arrow PyCapsule interface."""
        return _arrow.capsule(self._handle)

    def to_dict(self) -> dict[str, Any]:
        """The columns: arrays of NumPy, or lists of texts, of lists, and of what has missing elements."""
        return _arrow.columns(self._handle)

    def to_pandas(self) -> Any:
        """The table as a frame of pandas, which must be installed."""
        import pandas
        return pandas.DataFrame(self.to_dict(), index=self._index)

    def to_polars(self) -> Any:
        """The table as a frame of polars, which must be installed."""
        import polars
        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """The table as a table of pyarrow, which must be installed."""
        import pyarrow
        return pyarrow.table(self)


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _has(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def _pandas(frame: Any) -> Table:
    kind = "pandas"
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise ValueError("the frame has two columns of one name; rename one")
    arrays = {}
    for position, name in enumerate(names):
        series = frame.iloc[:, position]
        dtype = series.dtype
        if isinstance(dtype, numpy.dtype) and dtype.kind in "biufM":
            arrays[name] = series.to_numpy()
        elif hasattr(dtype, "categories"):
            arrays[name] = series.astype(object).to_numpy()
        elif getattr(dtype, "kind", "O") in "biuf" and hasattr(series, "isna"):
            missing = series.isna().to_numpy()
            values = series.fillna(False if dtype.kind == "b" else 0).to_numpy(dtype=dtype.numpy_dtype)
            arrays[name] = numpy.ma.MaskedArray(values, missing) if missing.any() else values
        elif getattr(dtype, "kind", "O") == "M":
            arrays[name] = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        else:
            arrays[name] = series.to_numpy(dtype=object)
    if len(frame) and not all(array.dtype.kind in "biuf" for array in arrays.values()) and _has("pyarrow"):
        try:
            import pyarrow
            converted = pyarrow.Table.from_pandas(frame.rename(columns=dict(zip(frame.columns, names))), preserve_index=False)
            return Table(_arrow.of_stream(converted.__arrow_c_stream__()), kind, frame.index)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            pass    # Columns of dictionaries and the like, which the other way takes, or whose error it says.
    return Table(_arrow.of_columns(arrays), kind, frame.index)


def _file(path: Path) -> Table:
    path = os.fspath(path)
    format = _ARROW_FILES.get(os.path.splitext(path)[1].lower())
    if format is None or os.path.isdir(path):
        return Table(_native.Handle(_native.call("frame_from_file", os.fsencode(path))))
    if not _has("pyarrow"):
        raise ImportError(f"{path}: Parquet and Arrow files are read by pyarrow; install it, or pass a .csv file")
    import pyarrow
    if format == "parquet":
        import pyarrow.parquet
        read = pyarrow.parquet.read_table(path)
    else:
        import pyarrow.feather
        read = pyarrow.feather.read_table(path)
    return Table(_arrow.of_stream(read.__arrow_c_stream__()), "dictionary")


def table(data: Data) -> Table:
    """The table of some data."""
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _file(data)
    if isinstance(data, Mapping):
        values = list(data.values())
        kind = "numpy" if values and all(isinstance(value, numpy.ndarray) for value in values) else "dictionary"
        return Table(_arrow.of_columns(data), kind)
    module = _library(data)
    if module == "pandas":
        return _pandas(data.to_frame() if type(data).__name__ == "Series" else data)
    if module == "polars":
        if type(data).__name__ == "LazyFrame":
            data = data.collect()
        elif type(data).__name__ == "Series":
            data = data.to_frame()
        return Table(_arrow.of_stream(data.__arrow_c_stream__()), "polars")
    if module == "pyarrow" and hasattr(data, "to_table"):
        data = data.to_table()
    if hasattr(data, "__arrow_c_stream__"):
        return Table(_arrow.of_stream(data.__arrow_c_stream__()), "pyarrow" if module == "pyarrow" else "dictionary")
    if hasattr(data, "__arrow_c_array__") and _has("pyarrow"):
        import pyarrow
        return Table(_arrow.of_stream(pyarrow.table(data).__arrow_c_stream__()), "dictionary")
    raise TypeError(f"{type(data).__name__} is no table; pass a frame of pandas or polars, an Arrow table, a dictionary of "
                    "columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame")


def is_table_file(path: Path, arrow_only: bool = False) -> bool:
    """Whether a path is that of a table by its name, or an SFrame.

    >>> is_table_file("a.csv"), is_table_file("a.csv", arrow_only=True), is_table_file("a.jpg")
    (True, False, False)
    """
    if os.path.isdir(path):
        return os.path.exists(os.path.join(os.fspath(path), "dir_archive.ini"))
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    return suffix in _ARROW_FILES or not arrow_only and suffix in (".csv", ".tsv", ".txt", ".json")


def relative(data: Any) -> dict[str, Any]:
    """The option that states the folder of a table's file, which paths in it are relative to."""
    return {"relativeTo": os.path.dirname(os.path.abspath(data))} if isinstance(data, (str, os.PathLike)) else {}


def is_series(data: Any) -> bool:
    """Whether data are a column of pandas, polars or pyarrow."""
    return type(data).__name__ in ("Series", "Array", "ChunkedArray", "StringArray", "LargeStringArray")


def texts(data: Any, name: str) -> Table:
    """The table of data, or of a list or series of texts or paths as its column `name`."""
    if isinstance(data, (list, tuple, numpy.ndarray)):
        values = [os.fspath(value) if isinstance(value, os.PathLike) else value for value in data]
        return Table(_arrow.of_columns({name: values}), "numpy" if isinstance(data, numpy.ndarray) else "dictionary")
    if is_series(data):
        module = _library(data)
        if module == "pandas":
            return _pandas(data.to_frame(name))
        if module == "polars":
            return table(data.alias(name))
        import pyarrow
        return table(pyarrow.table({name: data}))
    return table(data)


def given(result: Table, like: Table, column: Optional[str] = None) -> Any:
    """A result in the kind of the data that it was made of: all columns, or one of them."""
    kind, rows = like._kind, len(result)
    if kind == "pandas":
        import pandas
        index = like._index if like._index is not None and len(like._index) == rows else None
        frame = pandas.DataFrame(result.to_dict(), index=index)
        return frame if column is None else frame[column]
    if kind == "polars":
        frame = result.to_polars()
        return frame if column is None else frame[column]
    if kind == "pyarrow":
        whole = result.to_arrow()
        return whole if column is None else whole[column].combine_chunks()
    columns = result.to_dict()
    if kind == "numpy":
        columns = {name: values if isinstance(values, numpy.ndarray) else numpy.array(values, dtype=_kind_of(values))
                   for name, values in columns.items()}
    else:
        columns = {name: values.tolist() if isinstance(values, numpy.ndarray) else values for name, values in columns.items()}
    return columns if column is None else columns[column]


def _kind_of(values: list[Any]) -> Any:
    return None if all(isinstance(value, str) for value in values) else object


def is_folder_of_files(data: Any) -> bool:
    """Whether data name a folder of files, not an SFrame."""
    return isinstance(data, (str, os.PathLike)) and os.path.isdir(data) and not os.path.exists(
        os.path.join(os.fspath(data), "dir_archive.ini"))


def is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and hasattr(instance, "kernel")
