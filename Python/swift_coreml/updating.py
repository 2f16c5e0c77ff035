"""Training an updatable model further."""
from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import native, slots
from .batches import columns_of
from .errors import CoreMLError, FeatureError, UpdateError
from .slots import Words

if TYPE_CHECKING:
    from .model import Model

EVENTS = {"training_begin": 1, "epoch_end": 2, "mini_batch_end": 4}
"""The events of an update and the bits of `MLUpdateProgressEvent`."""


class Event:
    """An event of an update: its name, the metrics, and the parameters in use.

    Only while `progress` runs can it be asked for the model, cancelled, or given other parameters.
    """

    def __init__(self, run: "_Run", name: str, text: dict[str, Any]):
        self._run = run
        self.name = name
        self.metrics: dict[str, float] = text["metrics"]
        """`lossValue`, `epochIndex` and, for mini-batches, `miniBatchIndex`; a loss that is not finite is left out."""
        self.parameters: dict[str, float] = text["parameters"]

    @property
    def loss(self) -> Optional[float]:
        """The mean loss of the epoch or mini-batch."""
        return self.metrics.get("lossValue")

    @property
    def epoch(self) -> Optional[int]:
        """The number of the epoch, from 0."""
        return int(self.metrics["epochIndex"]) if "epochIndex" in self.metrics else None

    @property
    def model(self) -> "Model":
        """The model at this moment; the update does not change it."""
        handle = native.call("update_snapshot", self._run.handle.address)
        if not handle:
            raise UpdateError("the model of an event is there while progress() runs; ask for it there")
        return type(self._run.model)._of(handle, self._run.model)

    def cancel(self) -> None:
        """Ends the update after this mini-batch; `update` then raises `UpdateError`."""
        native.call("update_cancel", self._run.handle.address)

    def change(self, **parameters: Any) -> None:
        """Changes parameters: the learning rate from the next mini-batch on, the rest from the next epoch on."""
        native.call("update_change", self._run.handle.address, native.options(parameters=parameters))

    def __repr__(self) -> str:
        return f"<{self.name} {self.metrics}>"


class _Run:
    """An update on a thread of its own, so that the caller's thread hears of Control-C."""

    def __init__(self, model: "Model", path: str, progress: Optional[Callable[[Event], None]]):
        self.model, self.path, self.progress = model, path, progress
        self.handle = native.Handle(None)
        self.failure: Optional[BaseException] = None
        self.answer: Optional[int] = None
        # Both live as long as the update, which calls the one and reads what the other points to.
        self._handler = native.HANDLER(self._handle)
        self._keep: list[Any] = [self._handler]

    def _handle(self, _context: Any, event: int, text: bytes) -> None:
        try:
            if self.progress is not None and self.failure is None:
                name = next(name for name, bit in EVENTS.items() if bit & event)
                self.progress(Event(self, name, json.loads(text)))
        except BaseException as failure:
            self.failure = failure
            native.call("update_cancel", self.handle.address)

    def prepare(self, rows: list[Mapping[str, Any]], parameters: dict[str, Any], events: int) -> None:
        features = list(self.model.training_inputs.values())
        words = Words(max(len(rows) * len(features), 1))
        self._keep.append(words)
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise FeatureError(f"Example {index} of the training data is a {type(row).__name__}; pass a dict")
            unknown = [str(name) for name in row if name not in self.model.training_inputs]
            if unknown:
                raise FeatureError(
                    f"Example {index} of the training data has '{unknown[0]}', which is not a training input; they are "
                    f"{list(self.model.training_inputs)}")
            for place, feature in enumerate(features):
                try:
                    slots.set_value(words, index * len(features) + place, feature, row.get(feature.name), self._keep)
                except FeatureError as failure:
                    raise FeatureError(f"Example {index} of the training data: {failure}") from None
        names = json.dumps([feature.name for feature in features]).encode()
        self.handle = native.Handle(native.call(
            "update_new", os.fsencode(self.path), names, words.address, len(rows),
            native.options(parameters={**self.model._parameters, **parameters}), events, self._handler, None))

    def run(self) -> int:
        thread = threading.Thread(target=self._work, name="swift_coreml.update")
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.1)
        except BaseException:
            native.call("update_cancel", self.handle.address)
            thread.join()
            raise
        if self.failure is not None:
            raise self.failure
        assert self.answer is not None
        return self.answer

    def _work(self) -> None:
        try:
            self.answer = native.call("update_run", self.handle.address)
        except CoreMLError as failure:
            if self.failure is None:
                self.failure = failure


def _rows(examples: Any) -> list[Mapping[str, Any]]:
    columns = columns_of(examples)
    if columns is None:
        return list(examples)
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise FeatureError(f"the columns of the training data have different numbers of examples: {counts}")
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def update(
    model: "Model", examples: Any, parameters: dict[str, Any], progress: Optional[Callable[[Event], None]],
    events: tuple[str, ...],
) -> "Model":
    """See `Model.update`."""
    for name in events:
        if name not in EVENTS:
            raise ValueError(f"'{name}' is no event of an update; they are {list(EVENTS)}")
    if not model.is_updatable:
        raise UpdateError(f"{model.path or 'the model'} is not updatable: its file states no training inputs")
    bits = sum(EVENTS[name] for name in set(events))
    import tempfile
    with tempfile.TemporaryDirectory(prefix="swift-coreml-") as folder:
        path = model.path
        if path is None:
            path = os.path.join(folder, "Model.mlmodelc")
            native.call("model_save", model._model.address, os.fsencode(path))
        run = _Run(model, path, progress)
        run.prepare(_rows(examples), parameters, bits)
        return type(model)._of(run.run(), model)


__all__ = ["EVENTS", "Event", "update"]
