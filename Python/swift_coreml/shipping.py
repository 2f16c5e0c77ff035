"""Models on their way to other machines: packed, with a checksum, unpacked once for each host and mapped by all workers."""
from __future__ import annotations

import functools
import hashlib
import io
import os
import pathlib
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable
from typing import Optional, Union

from .errors import ModelFileError
from .library import call
from .model import Model, set_threads


class Package:
    """A model's files as bytes, with the checksum (SHA-256) of those bytes."""

    def __init__(self, data: bytes, name: str, function: Optional[str] = None):
        self.data, self.name, self.function = data, name, function
        self.digest = hashlib.sha256(data).hexdigest()

    @classmethod
    def of(cls, model: Union[str, "os.PathLike[str]", Model]) -> "Package":
        """Packs a model by its path; the same files give the same bytes."""
        function = model._function if isinstance(model, Model) else None
        path = model.path if isinstance(model, Model) else os.fspath(model)
        if path is None:
            raise ModelFileError("the model comes from an update and has no file yet; save it first")
        path = path.rstrip("/")
        if not os.path.exists(path):
            raise ModelFileError(f"{path}: there is no such model; check the path")
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
            files = [path] if os.path.isfile(path) else sorted(
                os.path.join(folder, file) for folder, _, names in os.walk(path) for file in names)
            for file in files:
                entry = tarfile.TarInfo(os.path.relpath(file, os.path.dirname(path) or "."))
                entry.size = os.path.getsize(file)
                with open(file, "rb") as source:
                    archive.addfile(entry, source)
        return cls(target.getvalue(), os.path.basename(path), function)

    def model(self, threads: Optional[int] = None) -> Model:
        """The model, loaded from this host's copy of the files, once for each process."""
        return opened(lambda: self.data, self.digest, self.name, self.function, threads)


def opened(
    load: Callable[[], bytes], digest: str, name: str, function: Optional[str], threads: Optional[int],
) -> Model:
    """The model whose files `load` gives, which is called where this host does not have them yet."""
    if threads is not None:
        set_threads(threads)
    return _loaded(unpacked(load, digest, name), function)


@functools.lru_cache(maxsize=4)
def _loaded(path: str, function: Optional[str]) -> Model:
    return Model(path, function=function)


def cache() -> pathlib.Path:
    """This host's folder of unpacked models: `SWIFT_COREML_CACHE`, or one of the user's own in the temporary folder."""
    given = os.environ.get("SWIFT_COREML_CACHE")
    folder = pathlib.Path(given) if given else pathlib.Path(tempfile.gettempdir(), f"swift-coreml-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise ModelFileError(
            f"{folder} belongs to someone else, or others may write to it; name another folder with SWIFT_COREML_CACHE")
    return folder


def unpacked(load: Callable[[], bytes], digest: str, name: str) -> str:
    """The path of the files on this host; the first process compares the checksum, unpacks them, and compiles packages.

    A compiled model's weights are mapped as they lie in the file, so all processes of a host share one copy.
    """
    target = cache() / digest
    if not target.is_dir():
        data = load()
        found = hashlib.sha256(data).hexdigest()
        if found != digest:
            raise ModelFileError(
                f"{name}: the files that arrived have the checksum {found}, those that were sent {digest}; send them again")
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="unpacking-", dir=cache()))
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    place = os.path.normpath(member.name)
                    if not member.isfile() or place.startswith(("/", "..")):
                        raise ModelFileError(f"{name}: '{member.name}' is no file of a model")
                    source = archive.extractfile(member)
                    assert source is not None
                    (scratch / place).parent.mkdir(parents=True, exist_ok=True)
                    with open(scratch / place, "wb") as file:
                        shutil.copyfileobj(source, file)
            if name.endswith(".mlpackage"):
                compiled = call("compile", os.fsencode(scratch / name))
                shutil.move(compiled, scratch / "Model.mlmodelc")
            try:
                os.rename(scratch, target)
            except OSError:
                if not target.is_dir():     # otherwise another process was first
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    compiled = target / "Model.mlmodelc"
    return str(compiled if compiled.is_dir() else target / name)


__all__ = ["Package", "cache", "opened", "unpacked"]
