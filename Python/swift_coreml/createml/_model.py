"""The common base of trained models, and their training."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, ClassVar, Optional, TypeVar, Union

from . import _data, _metrics, _native, _progress
from ._data import Data, Path, Table

# "auto", None, a share of the rows, a share and a seed, or labelled data.
Validation = Any
Trained = TypeVar("Trained", bound="Model")
Loaded = TypeVar("Loaded", bound="TabularModel")


def validation_options(validation: Validation) -> tuple[dict[str, Any], Optional[Data]]:
    """The request to the library, and the validation data, if the caller provides them."""
    if validation is None or validation is False or (isinstance(validation, (int, float)) and validation == 0):
        return {"kind": "none"}, None
    if isinstance(validation, str) and validation == "auto":
        return {"kind": "automatic"}, None
    share, seed = validation if isinstance(validation, tuple) and len(validation) == 2 else (validation, 42)
    if isinstance(share, (int, float)) and not isinstance(share, bool):
        return {"kind": "fixed", "ratio": float(share), "seed": seed}, None
    return {"kind": "data"}, validation


def wait_for(handle: _native.Handle, shown: _progress.Silent) -> _native.Handle:
    """The model of a training, which an exception such as KeyboardInterrupt cancels."""
    seen = 0

    def show() -> None:
        nonlocal seen
        progress = json.loads(_native.call("training_progress", handle.address, seen))
        seen = progress["count"]
        shown.show([_progress.report(entry, progress["fraction"]) for entry in progress["reports"]])

    watched = type(shown) is not _progress.Silent
    try:
        while not _native.call("training_wait", handle.address, 0.05):
            if watched:
                show()
        if watched:
            show()
    except BaseException:
        # The session, if there is one, is saved before the training ends.
        _native.call("training_cancel", handle.address)
        while not _native.call("training_wait", handle.address, 0.1):
            pass
        raise
    finally:
        shown.close()
    try:
        return _native.Handle(_native.call("training_model", handle.address))
    except _native.TrainingError as error:
        if _native.call("training_was_cancelled", handle.address):
            raise _native.TrainingCancelled(str(error)) from None
        raise


class Model:
    """A trained model."""

    _task: ClassVar[str] = ""

    def __init__(self, handle: _native.Handle) -> None:
        self._handle = handle
        self._facts: dict[str, Any] = json.loads(_native.call("trained_facts", handle.address))

    @classmethod
    def _train(
        cls: type[Trained],
        data: Data,
        options: dict[str, Any],
        parameters: Optional[dict[str, Any]] = None,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: _progress.Progress = "auto",
        takes_folders: bool = False,
        names_files: bool = False,
    ) -> Trained:
        options = {name: value for name, value in options.items() if value is not None}
        if parameters is not None:
            options["parameters"] = {
                _progress.camel(name): value for name, value in parameters.items() if value is not None}
        table = validation_table = None
        if takes_folders and _data.is_folder_of_files(data):
            options["folder"] = os.fspath(data)
        else:
            table = _data.table(data)
            options.update(_data.relative(data) if names_files else {})
        if validation is not _WITHOUT:
            options["validation"], held = validation_options(validation)
            if takes_folders and held is not None and _data.is_folder_of_files(held):
                options["validation"]["folder"] = os.fspath(held)
            elif held is not None:
                validation_table = _data.table(held)
                options["validation"].update(_data.relative(held) if names_files else {})
        if session is not None:
            options["session"] = os.fspath(session)
            options["checkpointInterval"] = checkpoint_interval
        return cls._start(options, table, validation_table, progress)

    @classmethod
    def _start(
        cls: type[Trained],
        options: dict[str, Any],
        table: Optional[Table],
        validation: Optional[Table],
        progress: _progress.Progress,
    ) -> Trained:
        shown = _progress.shown(progress)
        try:
            address = _native.call(
                "training_start", cls._task.encode(), _native.encoded(options), table and table._handle.address,
                validation and validation._handle.address)
        except BaseException:
            shown.close()
            raise
        return cls(wait_for(_native.Handle(address), shown))

    @classmethod
    def _resumed(cls: type[Trained], session: Path, progress: _progress.Progress, **options: Any) -> Trained:
        return cls._start({"session": os.fspath(session), "resume": True, **options}, None, None, progress)

    def _evaluated(
        self, data: Data, options: dict[str, Any], takes_folders: bool = False, names_files: bool = False,
    ) -> _metrics.Metrics:
        table = None
        if takes_folders and _data.is_folder_of_files(data):
            options = {**options, "folder": os.fspath(data)}
        else:
            table = _data.table(data)
            options = {**options, **(_data.relative(data) if names_files else {})}
        return _metrics.metrics(self._measured(table, options))

    def _measured(self, table: Optional[Table], options: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            _native.call("trained_evaluate", self._handle.address, _native.encoded(options), table and table._handle.address))
        if answer and "error" in answer:
            raise _native.TrainingError(answer["error"])
        return answer

    def _predicted(self, table: Optional[Table], **options: Any) -> Table:
        options = {_progress.camel(name): value for name, value in options.items() if value is not None}
        return Table(_native.Handle(_native.call(
            "trained_predict", self._handle.address, _native.encoded(options), table and table._handle.address)))

    @property
    def features(self) -> list[str]:
        """The names of the columns that the model predicts from."""
        return list(self._facts.get("features") or [])

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that the model was trained with."""
        given = self._facts.get("parameters") or {}
        return {
            _progress.snake(entry["name"]):
                float(given[entry["name"]]) if entry["type"] == "number" else given[entry["name"]]
            for entry in _native.tasks().get(self._task, {}).get("parameters", []) if entry["name"] in given}

    @property
    def training_metrics(self) -> _metrics.Metrics:
        """The performance on the examples that the model was trained on."""
        return _metrics.metrics(self._facts.get("training"))

    @property
    def validation_metrics(self) -> _metrics.Metrics:
        """The performance on the validation examples; `is_valid` is false when there were none."""
        return _metrics.metrics(self._facts.get("validation"))

    def save(
        self,
        path: Path,
        *,
        author: Optional[str] = None,
        description: Optional[str] = None,
        license: Optional[str] = None,
        version: Optional[str] = None,
    ) -> None:
        """Writes the model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`, replacing it.

        Core ML, coremltools and `swift_coreml.Model` open it.
        """
        metadata = {"author": author, "description": description, "license": license, "version": version}
        _native.call("trained_write", self._handle.address, os.fsencode(path), _native.encoded(metadata))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._facts.get('target')!r} from {len(self.features)} columns>"

    def __str__(self) -> str:
        return str(self._facts["description"])


class _Without:
    """That a task has no validation."""


_WITHOUT = _Without()


Label = Union[str, int]


class TabularModel(Model):
    """A model trained on a table."""

    @classmethod
    def load(cls: type[Loaded], path: Path) -> Loaded:
        """Opens a model that `save` wrote, with which to predict and evaluate; metrics of training are not in the file."""
        model = cls(_native.Handle(_native.call("trained_load", os.fsencode(path))))
        if issubclass(cls, TabularClassifier) != (model._facts.get("labels") is not None):
            raise _native.TrainingError(f"{os.fspath(path)} is no model of the kind of {cls.__name__}")
        return model

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.mlmodel")
            self.save(path)
            with open(path, "rb") as file:
                return _restored, (type(self), file.read())

    @property
    def target(self) -> str:
        """The name of the column that the model predicts."""
        return str(self._facts["target"])

    def evaluate(self, data: Data) -> _metrics.Metrics:
        """The performance on rows with known targets."""
        return self._evaluated(data, {})

    def predict(self, data: Data) -> Any:
        """The predicted targets of rows, in the kind of the data: a series of pandas or polars, an array of Arrow or NumPy,
        or a list."""
        table = _data.table(data)
        return _data.given(self._predicted(table), table, self.target)


def _restored(kind: type[Loaded], data: bytes) -> Loaded:
    """A model of a pickle: it predicts and evaluates, without the metrics of training."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mlmodel")
        with open(path, "wb") as file:
            file.write(data)
        return kind.load(path)


class TabularClassifier(TabularModel):
    """A classifier trained on a table."""

    @property
    def classes(self) -> list[Label]:
        """The classes, in the order of the columns of `predict_probabilities`."""
        return list(self._facts["labels"])

    def predict_probabilities(self, data: Data) -> Any:
        """The probability of each class for every row: a table in the kind of the data, with a column for each class."""
        table = _data.table(data)
        return _data.given(self._predicted(table, probabilities=True), table)
