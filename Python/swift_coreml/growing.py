"""Training over the rows of several machines, into the model that local training writes.

`swift_coreml.spark.train` and `swift_coreml.ray.train` share this: what the workers know (`Plan`), and what each does (`work`).
How boosted trees are grown is in `forests`, how linear models are fitted in `linear`.
"""
from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Optional, TypeVar, Union

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from . import forests, linear
from .createml import (
    BoostedTreeClassifier, BoostedTreeRegressor, LinearRegressor, LogisticRegressionClassifier, _native, _progress)
from .createml._model import TabularClassifier
from .errors import CoreMLError, FeatureError

Trained = TypeVar("Trained", BoostedTreeClassifier, BoostedTreeRegressor, LinearRegressor, LogisticRegressionClassifier)
Labels = Union[list[str], list[int]]
Column = tuple[str, Optional[list[str]]]
"""The name of a feature, and for texts its categories."""

VALIDATES = "__coreml_validates"
"""The column that is true for rows of validation."""

ATTEMPTS = 4
"""How often a training is begun when workers die, as Spark tries a stage."""

LOCAL = {
    "session": "sessions", "resume": "sessions", "checkpoint_interval": "sessions", "progress": "reports of progress"}
"""Parameters of local training that several machines have no place for, and what they are for."""

LOST = "XGBoostError"
"""The marker in the error of a worker that has lost another one."""

_LEARNERS: dict[type, Any] = {
    BoostedTreeClassifier: forests.Forest, BoostedTreeRegressor: forests.Forest,
    LinearRegressor: linear.LinearModel, LogisticRegressionClassifier: linear.LinearModel}


class WorkerError(CoreMLError):
    """A worker of a training failed; the message names it and says why."""


class Plan:
    """The shared description of a training: the columns, the classes, the parameters."""

    def __init__(
        self, kind: type[Trained], target: str, features: Sequence[Column], labels: Optional[Sequence[Any]],
        parameters: dict[str, Any], *, workers: int = 1, threads: int = 1, external_memory: bool = False,
        validates: bool = False,
    ):
        if workers < 1 or threads < 1:
            raise FeatureError(f"workers is {workers} and threads {threads}; both must be at least 1")
        for name, categories in features:
            if categories is not None and not categories:
                raise FeatureError(f"the column '{name}' has no values to train on; leave it out of features")
        if not features:
            raise FeatureError(f"there is no column beside '{target}' to predict from")
        self.target, self.features, self.labels = target, list(features), _labels(kind, target, labels)
        self.workers, self.threads, self.external_memory, self.validates = workers, threads, external_memory, validates
        task = _native.tasks()[kind.__name__]
        standard = {_progress.snake(entry["name"]): entry["standard"] for entry in task["parameters"]}
        for name in parameters:
            if name in LOCAL:
                raise FeatureError(
                    f"training on several machines has no {LOCAL[name]}, so '{name}' cannot be given; train with createml on one "
                    "machine, or leave it out")
            if name not in standard:
                raise FeatureError(f"{kind.__name__} has no parameter '{name}'; it has {list(standard)}")
        self.parameters = standard | parameters
        self.learner = _LEARNERS[kind](self)

    @classmethod
    def chosen(
        cls, kind: type[Trained], target: str, features: Optional[Sequence[str]], *, names: Sequence[str],
        type_of: Callable[[str], pa.DataType], values: Callable[[str], list[Any]], parameters: dict[str, Any], **options: Any,
    ) -> "Plan":
        """The plan for a table with these columns.

        Without `features` all but the target are predicted from.  `type_of` gives the type of a column, and `values` its
        values without nulls, each once, of columns of texts, and of the target of a classifier.
        """
        if kind not in _LEARNERS:
            raise FeatureError(
                f"{kind.__name__} is not trained on several machines; "
                f"{', '.join(each.__name__ for each in _LEARNERS)} are")
        chosen = [name for name in names if name != target] if features is None else list(features)
        for name in [target, *chosen]:
            if name not in names:
                raise FeatureError(f"there is no column '{name}'; the columns are {list(names)}")
            if (name == target) != (name not in chosen) or chosen.count(name) > 1:
                raise FeatureError(f"the column '{name}' is named twice, as a feature or as feature and target")
        columns = [(name, sorted(values(name)) if is_text(name, type_of(name)) else None) for name in chosen]
        found = type_of(target)
        if pa.types.is_nested(found):
            raise FeatureError(f"the column '{target}' holds {found}; a target has numbers, texts or truth values")
        if issubclass(kind, TabularClassifier):
            labels: Optional[list[Any]] = sorted(values(target))
        else:
            labels = None
            if is_text(target, found) or pa.types.is_boolean(found):
                raise FeatureError(f"the column '{target}' holds {found}; {kind.__name__} learns numbers")
        plan = cls(kind, target, columns, labels, parameters, **options)
        plan.learner.check()
        return plan

    @property
    def columns(self) -> list[str]:
        """The columns that workers read, the target last, without `VALIDATES`."""
        return [name for name, _ in self.features] + [self.target]

    def encoded(self, batch: Any) -> Any:
        """The columns of a batch as learners see them: numbers as they are, texts as the places of their categories, -1 for
        others, and the target as a number or the place of its class.

        Raises `FeatureError` for a number that no learner, or not this one, can take, and for a target without a value.
        """
        parts = []
        for name, categories in self.features:
            column = _whole(batch.column(name))
            if categories is None:
                parts.append(self._numbers(name, column))
            else:
                places = pc.fill_null(pc.index_in(column, pa.array(categories, column.type)), -1)
                parts.append(places.cast(pa.int32()))
        parts.append(self._targets(_whole(batch.column(self.target))))
        return pa.record_batch(parts, names=[str(place) for place in range(len(parts))])

    def _numbers(self, name: str, column: Any) -> Any:
        numbers = np.asarray(column.cast(pa.float64()), np.float64)
        if np.isinf(numbers).any():
            raise FeatureError(f"the column '{name}' has infinite numbers; remove those rows, or make them null")
        if not self.learner.takes_missing and np.isnan(numbers).any():
            raise FeatureError(f"the column '{name}' has rows without a number, which linear models have no place for")
        return pa.array(numbers)

    def _targets(self, column: Any) -> Any:
        if column.null_count:
            raise FeatureError(f"the column '{self.target}' has rows without a value; filter them out before training")
        if self.labels is None:
            numbers = np.asarray(column.cast(pa.float64()), np.float64)
            if not np.isfinite(numbers).all():
                raise FeatureError(f"the column '{self.target}' has rows without a finite number; filter them out")
            return pa.array(numbers)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.string())
        places = pc.index_in(column, pa.array(self.labels, column.type))
        if places.null_count:
            other = column.filter(pc.is_null(places))[0].as_py()
            raise FeatureError(f"the column '{self.target}' has the class {other!r}, which the rows to learn from do not have")
        return places.cast(pa.float64())

    def model(self, kind: type[Trained], answer: dict[str, Any]) -> Trained:
        """The model of what the first worker answered, in the pipeline of local training."""
        learned = {
            "target": self.target, **answer["learned"],
            "features": [{"name": name} if categories is None else {"name": name, "categories": categories}
                         for name, categories in self.features]}
        if self.labels is not None:
            learned["textLabels" if isinstance(self.labels[0], str) else "integerLabels"] = self.labels
        data = json.dumps(learned, allow_nan=False).encode()
        model = kind(_native.Handle(_native.call(self.learner.constructor, data)))
        model._facts |= {
            "task": kind.__name__, "training": answer["training"], "validation": answer["validation"],
            "parameters": {_progress.camel(name): value for name, value in self.parameters.items()}}
        return model


def is_text(name: str, kind: pa.DataType) -> bool:
    """Whether a column has texts; false for numbers."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return True
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return False
    remedy = ""
    if pa.types.is_nested(kind):
        remedy = "; spread its numbers over columns of their own, train with createml on one machine,"
    raise FeatureError(
        f"the column '{name}' holds {kind}; training on several machines takes numbers and texts{remedy or '.'} "
        f"{'or leave' if remedy else 'Leave'} it out of features")


def _labels(kind: type, target: str, labels: Optional[Sequence[Any]]) -> Optional[Labels]:
    """The classes as local training names them: texts, integers, or "false" and "true"."""
    if issubclass(kind, TabularClassifier) != (labels is not None):
        raise FeatureError(f"{kind.__name__} is trained on {'classes' if labels is None else 'numbers'}")
    if labels is None:
        return None
    if len(labels) < 2:
        raise FeatureError(f"the column '{target}' has the class {list(labels)} alone, so there is nothing to tell apart")
    if all(isinstance(label, bool) for label in labels):
        return ["false", "true"]
    if all(isinstance(label, str) for label in labels) or all(isinstance(label, int) for label in labels):
        return list(labels)
    raise FeatureError(
        f"the column '{target}' has classes of type {type(labels[0]).__name__}; a classifier learns texts, whole numbers or "
        "truth values")


def _whole(column: Any) -> Any:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks != 1 and column.num_chunks else (
        column.chunk(0) if column.num_chunks else pa.array([], column.type))


class Rows:
    """Encoded rows in a file that is mapped, so that a learner can go over them several times."""

    ROWS = 1 << 14
    """The most rows of a batch."""

    def __init__(self, path: str, plan: Plan):
        self.path, self.count = path, 0
        self.schema = pa.schema([
            (str(place), pa.float64() if categories is None else pa.int32())
            for place, (_, categories) in enumerate([*plan.features, (plan.target, None)])])
        self._file = pa.OSFile(path, "wb")
        self._writer = pa.ipc.new_file(self._file, self.schema)

    def add(self, batch: Any) -> None:
        for start in range(0, batch.num_rows, self.ROWS):
            self._writer.write_batch(batch.slice(start, self.ROWS).cast(self.schema))
        self.count += batch.num_rows

    def close(self) -> None:
        self._writer.close()
        self._file.close()

    def batches(self) -> Iterator[Any]:
        reader = pa.ipc.open_file(pa.memory_map(self.path))
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)


def _stored(batches: Iterable[Any], plan: Plan, folder: str) -> tuple[Rows, Rows]:
    """The rows to learn from, and those of validation."""
    learned, held = (Rows(os.path.join(folder, name), plan) for name in ("rows.arrow", "validation.arrow"))
    for batch in batches:
        if plan.validates:
            validates = _whole(batch.column(VALIDATES))
            held.add(plan.encoded(batch.filter(validates)))
            batch = batch.filter(pc.invert(validates))
        learned.add(plan.encoded(batch))
    learned.close()
    held.close()
    if not learned.count:
        raise FeatureError("it got no rows; train with fewer workers, or spread the rows evenly")
    return learned, held


def work(batches: Iterable[Any], plan: Plan, number: int, meeting: Callable[[], Any]) -> bytes:
    """A worker's part: learns together with the others from its own rows.

    `meeting` is called when they are read; it gives a context in which XGBoost's communicator can be made with its value.
    Returns JSON: from the first worker `learned` and the metrics, or from all of them `failures` if rows cannot be learned from.
    Raises `WorkerError` for what fails later; the process must end then, so that the other workers do not wait for it.
    """
    from xgboost import collective

    with tempfile.TemporaryDirectory(prefix="training-") as folder:
        failure = ""
        try:
            learned, held = _stored(batches, plan, folder)
        except Exception as error:              # told to the others, who have to know, and to the caller
            failure = _described(number, plan, error)
        with meeting() as arguments:
            try:
                collective.init(**arguments)
                count = collective.get_world_size()
                failures = [collective.broadcast(failure, place) for place in range(count)]
                answer: dict[str, Any] = {"failures": [text for text in failures if text]}
                if not answer["failures"]:
                    answer = _learned(plan, learned, held, folder)
                first = collective.get_rank() == 0 or "failures" in answer
                collective.finalize()
            except Exception as error:
                # Without an end: a worker that says goodbye would wait for those that wait for it. One that has lost another
                # gives that one the time to be the first that says why.
                if type(error).__name__ == LOST:
                    time.sleep(5)
                raise WorkerError(_described(number, plan, error)) from error
    return json.dumps(answer, allow_nan=False).encode() if first else b""


def _learned(plan: Plan, learned: Rows, held: Rows, folder: str) -> dict[str, Any]:
    result, predict = plan.learner.learn(learned, held, folder)
    return {
        "learned": result, "training": _measured(plan, learned, predict),
        "validation": _measured(plan, held, predict) if plan.validates else None}


def _described(number: int, plan: Plan, error: Exception) -> str:
    what = "" if isinstance(error, FeatureError) else f"{type(error).__name__}: "
    return f"worker {number + 1} of {plan.workers}, on {socket.gethostname()}: {what}{error}"


def _measured(plan: Plan, rows: Rows, predict: Callable[[Any], Any]) -> dict[str, Any]:
    """The metrics over the rows of all workers, in the form of the library's; `predict` gives numbers or places of classes."""
    from xgboost import collective
    if plan.labels is None:
        squares, most = np.zeros(2), np.zeros(1)
        for batch in rows.batches():
            errors = np.asarray(predict(batch), np.float64) - np.asarray(batch.columns[-1])
            squares += [len(errors), float(errors @ errors)]
            most = np.maximum(most, np.abs(errors).max(initial=0))
        count, total = collective.allreduce(squares, collective.Op.SUM)
        most = collective.allreduce(most, collective.Op.MAX)
        if not count:
            return {"error": "there were no such rows"}
        return {
            "kind": "regressor", "rootMeanSquaredError": float(np.sqrt(total / count)), "maximumError": float(most[0])}
    size = len(plan.labels)
    counts = np.zeros(size * size)
    for batch in rows.batches():
        truth = np.asarray(batch.columns[-1]).astype(np.int64)
        counts += np.bincount(truth * size + np.asarray(predict(batch), np.int64), minlength=size * size)
    confusion = collective.allreduce(counts, collective.Op.SUM).reshape(size, size)
    right, examples = np.diag(confusion), float(confusion.sum())
    if not examples:
        return {"error": "there were no such rows"}

    def shares(totals: Any) -> list[Optional[float]]:
        return [float(own / total) if total else None for own, total in zip(right, totals)]
    accuracy = float(right.sum()) / examples
    return {
        "kind": "classifier", "examples": int(examples), "accuracy": accuracy, "classificationError": 1 - accuracy,
        "labels": plan.labels, "confusion": confusion.astype(int).tolist(), "precision": shares(confusion.sum(0)),
        "recall": shares(confusion.sum(1))}


def answered(answers: Iterable[bytes]) -> dict[str, Any]:
    """The first worker's answer; raises errors in rows."""
    texts = [json.loads(answer) for answer in answers if answer]
    for text in texts:
        if "failures" in text:
            raise FeatureError("; ".join(text["failures"]))
    answer: dict[str, Any] = texts[0]
    return answer


@contextlib.contextmanager
def tracker(workers: int, host: str) -> Iterator[dict[str, Any]]:
    """XGBoost's meeting point of the workers; the value is what they need to find it.  It is gone when the context ends."""
    from xgboost.tracker import RabitTracker
    meeting = RabitTracker(n_workers=workers, host_ip=host)
    try:
        meeting.start()
        yield dict(meeting.worker_args())
        meeting.wait_for(timeout=60)
    except BaseException:
        # It says once more that the workers failed, which is known.
        with contextlib.suppress(Exception):
            meeting.free()
        raise
    meeting.free()


def share(validation: Any) -> Optional[tuple[float, int]]:
    """The share of the rows to validate on and its seed; `None` for no validation or for rows of the caller's."""
    value, seed = validation if isinstance(validation, tuple) and len(validation) == 2 else (validation, 42)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 < value < 1:
        raise FeatureError(f"the share of rows to validate on is {value}; it must be between 0 and 1")
    return float(value), int(seed)


__all__ = ["Plan", "Rows", "Trained", "VALIDATES", "WorkerError", "answered", "is_text", "share", "tracker", "work"]
