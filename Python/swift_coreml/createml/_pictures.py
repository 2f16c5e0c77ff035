"""Images as Python has them: paths, images of Pillow, arrays of NumPy; and labelled or annotated ones in tables."""
from __future__ import annotations

import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy

from . import _arrow, _data, _native
from ._data import Data, Table

# A path, a picture of Pillow, or an array of uint8: [height, width], [height, width, 3] or [height, width, 4].
Picture = Any

_CONVERTED = {"1", "P", "PA", "LA", "La", "RGBa", "RGBX", "CMYK", "YCbCr"}


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def is_of_pillow(value: Any) -> bool:
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(value, image.Image)


def is_in_memory(value: Any) -> bool:
    """Whether a value is an image of Pillow, or an array with the axes of one."""
    return is_of_pillow(value) or isinstance(value, numpy.ndarray) and value.ndim in (2, 3)


def pixels(picture: Picture) -> numpy.ndarray:
    """The rows of pixels of an image in memory.

    >>> pixels(numpy.zeros((2, 3), dtype=numpy.uint8)).shape
    (2, 3)
    >>> pixels(numpy.zeros((2, 3, 3)))
    Traceback (most recent call last):
    ValueError: an image is an array of uint8 of the shape [height, width], [height, width, 3] or [height, width, 4], not of \
float64 of the shape [2, 3, 3]
    """
    if is_of_pillow(picture):
        if picture.mode in _CONVERTED:
            has_alpha = picture.mode in ("PA", "LA", "La", "RGBa") or "transparency" in picture.info
            picture = picture.convert("RGBA" if has_alpha else "RGB")
        if picture.mode not in ("L", "RGB", "RGBA"):
            raise ValueError(f"an image of Pillow's mode {picture.mode} has no 8-bit colours; pass picture.convert('RGB')")
        picture = numpy.asarray(picture)
    if not isinstance(picture, numpy.ndarray):
        raise TypeError(f"a {type(picture).__name__} is not an image; pass a path, an image of Pillow or an array of NumPy")
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[..., 0]
    if picture.dtype != numpy.uint8 or not (picture.ndim == 2 or picture.ndim == 3 and picture.shape[2] in (3, 4)):
        raise ValueError(
            "an image is an array of uint8 of the shape [height, width], [height, width, 3] or [height, width, 4], not of "
            f"{picture.dtype} of the shape {list(picture.shape)}")
    if not picture.size:
        raise ValueError(f"an image of the shape {list(picture.shape)} has no pixels")
    return numpy.ascontiguousarray(picture)


def handle(picture: Picture) -> _native.Handle:
    """The library's copy of an image."""
    if is_path(picture):
        return _native.Handle(_native.call("picture_from_file", os.fsencode(picture)))
    rows = pixels(picture)
    return _native.Handle(_native.call(
        "picture_from_pixels", rows.ctypes.data, rows.shape[1], rows.shape[0], 1 if rows.ndim == 2 else rows.shape[2]))


def array(picture: _native.Handle) -> numpy.ndarray:
    """The pixels of the library's image: [height, width, 3]."""
    height, width = (_native.call(f"picture_{side}", picture.address) for side in ("height", "width"))
    result = numpy.empty((height, width, 3), dtype=numpy.uint8)
    _native.call("picture_read", picture.address, result.ctypes.data)
    return result


def png(picture: Picture) -> bytes:
    """An image in memory as a PNG file.

    >>> png(numpy.zeros((1, 1), dtype=numpy.uint8))[:4]
    b'\\x89PNG'
    """
    rows = pixels(picture)
    height, width, color = rows.shape[0], rows.shape[1], 0 if rows.ndim == 2 else {3: 2, 4: 6}[rows.shape[2]]
    filtered = numpy.zeros((height, 1 + rows[0].size), dtype=numpy.uint8)
    filtered[:, 1:] = rows.reshape(height, -1)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return b"".join([
        b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)),
        chunk(b"IDAT", zlib.compress(filtered.tobytes(), 1)), chunk(b"IEND", b"")])


def column(data: Any, name: str) -> Optional[list[Any]]:
    """The values of a table's column as a list; `None` if there is no such column, or the table is the library's."""
    if isinstance(data, Mapping):
        return list(data[name]) if name in data else None
    module = type(data).__module__.partition(".")[0]
    if module == "polars" and type(data).__name__ == "LazyFrame":
        data = data.collect()
    if module in ("pandas", "polars") and name in data.columns:
        return list(data[name].to_list())
    if module == "pyarrow":
        if hasattr(data, "to_table"):
            data = data.to_table()
        return list(data.column(name).to_pylist()) if name in data.schema.names else None
    return None


def _like(data: Any, rows: int) -> Table:
    """A table that stands for data, so that results have its kind and its index."""
    module = type(data).__module__.partition(".")[0]
    kind = module if module in ("pandas", "polars", "pyarrow") else "numpy" if isinstance(data, numpy.ndarray) else "dictionary"
    return Table(
        _arrow.of_columns({"row": numpy.arange(rows)}), kind, data.index if module == "pandas" else None)


class Asked:
    """Images to predict from: an image, several, or a table with a column of them."""

    def __init__(self, data: Any, image: str) -> None:
        self.is_single = is_in_memory(data) or is_path(data) and not _data.is_table_file(data)
        if is_path(data) and os.path.isdir(data) and self.is_single:
            raise ValueError(f"'{os.fspath(data)}' is a folder; pass the paths of its images")
        values: Optional[list[Any]] = None
        if self.is_single:
            values = [data]
        elif isinstance(data, (list, tuple, numpy.ndarray)) or _data.is_series(data):
            values = data.to_pylist() if hasattr(data, "to_pylist") else list(data)
        self.is_table = values is None
        self.options: dict[str, Any] = {}
        if values is None:
            values = column(data, image)
        if values is None:
            self.table = _data.table(data)
            self.paths = self.table.to_dict().get(image, [])
            self.options = _data.relative(data)
        elif all(is_path(value) for value in values):
            self.paths = [os.fspath(value) for value in values]
            like = _like(data, len(values))
            self.table = Table(_arrow.of_columns({image: self.paths}), like._kind, like._index)
        else:
            self.paths = [os.fspath(value) if is_path(value) else row for row, value in enumerate(values)]
            self.table, self.pictures = _like(data, len(values)), [handle(value) for value in values]
            return
        self.pictures = []

    def answers(self, model: _native.Handle, options: dict[str, Any]) -> Table:
        """What a model predicts, as the library gives it."""
        encoded = _native.encoded({**options, **self.options})
        if not self.pictures:
            return Table(_native.Handle(_native.call(
                "trained_predict", model.address, encoded, self.table._handle.address)))
        return Table(_native.Handle(_native.call(
            "trained_predict_pictures", model.address, encoded,
            _native.addresses([picture.address for picture in self.pictures]), len(self.pictures))))


class Files:
    """Files of labelled or annotated images; those of images in memory are there until the block ends."""

    def __init__(self, session: Any = None) -> None:
        self.numbers: dict[str, int] = {}
        self._session, self._folder = session, None  # type: Any, Optional[tempfile.TemporaryDirectory[str]]

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _place(self, name: str) -> str:
        if self._session is not None:
            raise ValueError("a session finds images by their files; save those in memory, or leave out session")
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory()
        return os.path.join(self._folder.name, f"{len(self.numbers)}-{name}")

    def path(self, picture: Picture, row: int = 0) -> str:
        """The path of an image, which is written if it is in memory."""
        if is_path(picture):
            return os.fspath(picture)
        place = self._place(f"{row}.png")
        with open(place, "wb") as file:
            file.write(png(picture))
        self.numbers[place] = row
        return place

    def paths(self, pictures: Sequence[Picture]) -> list[str]:
        return [self.path(picture, row) for row, picture in enumerate(pictures)]

    def folder(self, pictures: Sequence[Picture]) -> str:
        """A folder of images in their order."""
        folder = self._place("contents")
        os.mkdir(folder)
        for row, picture in enumerate(pictures):
            path = os.path.abspath(self.path(picture, row))
            os.symlink(path, os.path.join(folder, f"{row:08}{os.path.splitext(path)[1]}"))
        return folder

    def labelled(self, data: Data, image: str, label: str) -> tuple[dict[str, Any], Optional[Table]]:
        """What the library is asked for labelled images: options, and a table unless they name a folder."""
        if is_path(data):
            if _data.is_folder_of_files(data):
                return {"folder": os.fspath(data)}, None
            return _data.relative(data), _data.table(data)
        if isinstance(data, Mapping) and image not in data and label not in data:
            rows = [(str(name), picture) for name, pictures in data.items() for picture in _several(name, pictures)]
            data = {image: [picture for _, picture in rows], label: [name for name, _ in rows]}
        values = column(data, image)
        if values is None or all(isinstance(value, str) for value in values):
            return {}, _data.table(data)
        labels = column(data, label)
        if labels is None:
            raise ValueError(f"there is no column '{label}' of labels")
        return {}, Table(_arrow.of_columns({image: self.paths(values), label: labels}))

    def annotated(
        self, data: Data, image: str, annotations: str, images: Optional[_data.Path],
    ) -> tuple[dict[str, Any], Optional[Table]]:
        """What the library is asked for annotated images: options, and a table unless they name a file or folder."""
        options = {} if images is None else {"images": os.fspath(images)}
        if is_path(data):
            if _data.is_folder_of_files(data):
                return {**options, "folder": os.fspath(data)}, None
            if not _data.is_table_file(data, arrow_only=True):
                return {**options, "annotationFile": os.fspath(data)}, None
            options.setdefault("images", os.path.dirname(os.path.abspath(data)))
            data = _data.table(data)
        values, objects = column(data, image), column(data, annotations)
        if values is None or objects is None:
            return options, _data.table(data)
        texts = [
            cell if isinstance(cell, str) else "[]" if cell is None else _native.encoded(cell).decode() for cell in objects]
        return options, Table(_arrow.of_columns({image: self.paths(values), annotations: texts}))

    def named(self, entries: Any) -> Any:
        """Entries about images, with the rows of those that were in memory for the names of their files."""
        for entry in entries or []:
            entry["image"] = self.numbers.get(entry["image"], entry["image"])
        return entries


def _several(name: Any, pictures: Any) -> list[Any]:
    if is_path(pictures) or is_in_memory(pictures):
        raise TypeError(f"the images of the label '{name}' are a list of paths, images of Pillow or arrays")
    return list(pictures)
