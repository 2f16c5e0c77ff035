"""Predictions and training on Ray Data: tasks whose processes keep the model loaded and map one copy of its weights on a host.

>>> import swift_coreml.ray                                         # doctest: +SKIP
>>> answers = swift_coreml.ray.predict(dataset, "Flowers.mlpackage", threads=1)  # doctest: +SKIP
"""
from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

import pyarrow as pa
import ray
import ray.data

from . import growing
from .model import Model
from .shipping import Package, opened
from .tables import Inputs, TablePredictor


class Predictor:
    """A worker of `map_batches(batch_format="pyarrow")`: tables in, tables with the answers out."""

    def __init__(
        self, files: Any, digest: str, name: str, function: Optional[str] = None, inputs: Inputs = None, prefix: str = "",
        error: str = "error", threads: int = 1,
    ):
        def load() -> bytes:
            return bytes(ray.get(files) if isinstance(files, ray.ObjectRef) else files)
        self._predictor = TablePredictor(opened(load, digest, name, function, threads), inputs, prefix, error)

    def __call__(self, table: Any) -> Any:
        self._predictor.check(table.column_names)
        for field, column in zip(self._predictor.fields, self._predictor.predict(table)):
            table = table.append_column(field, column)
        return table


def predict(
    dataset: "ray.data.Dataset", model: Union[str, "os.PathLike[str]", Model], *, inputs: Inputs = None, prefix: str = "",
    error: str = "error", concurrency: Optional[int] = None, threads: int = 1, batch_size: Optional[int] = 4096,
    **options: Any,
) -> "ray.data.Dataset":
    """The dataset with a column for each output of the model, and one that says what is wrong with a row.

    The arguments are those of `swift_coreml.spark.predict`; `concurrency` is the most tasks at a time (by default as many as
    there are processors), `batch_size` the number of rows of a batch (`None`: a whole block), and `options` go to
    `map_batches`.  The processes of tasks keep the model for those that follow, also of other datasets; Ray reads a file and
    predicts its rows in one task.  A task whose process dies is done again.
    """
    package = Package.of(model)
    predictor = TablePredictor(package.model(), inputs, prefix, error)
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        predictor.check(schema.names)
    return dataset.map_batches(
        _predicted, batch_format="pyarrow", batch_size=batch_size, num_cpus=threads, zero_copy_batch=True,
        compute=ray.data.TaskPoolStrategy(size=concurrency),
        fn_kwargs={
            "files": ray.put(package.data), "digest": package.digest, "name": package.name, "function": package.function,
            "inputs": inputs, "prefix": prefix, "error": error, "threads": threads},
        **options)


def _predicted(table: Any, **arguments: Any) -> Any:
    return Predictor(**arguments)(table)


def train(
    kind: type[growing.Trained], dataset: "ray.data.Dataset", target: str, features: Optional[Sequence[str]] = None, *,
    workers: int, threads: int = 1, external_memory: bool = False, validation: Any = None, **parameters: Any,
) -> growing.Trained:
    """Trains a model of `createml` on a dataset, in `workers` tasks together.

    The arguments, and what comes of them, are those of `swift_coreml.spark.train`; `validation` may be a dataset.  Where a
    worker dies, all start again, four times in all.
    """
    learned, held = dataset, validation
    shared = growing.share(validation)
    if shared is not None:
        learned, held = dataset.train_test_split(shared[0], shuffle=True, seed=shared[1])
    schema = dataset.schema()
    types = dict(zip(schema.names, schema.types))
    plan = growing.Plan.chosen(
        kind, target, features, names=schema.names, type_of=types.__getitem__, parameters=parameters, workers=workers,
        values=lambda name: [value for value in dataset.unique(name) if value is not None], threads=threads,
        external_memory=external_memory, validates=held is not None)
    rows = learned.select_columns(plan.columns)
    if held is not None:
        rows = _marked(rows, False).union(_marked(held.select_columns(plan.columns), True))
    parts = rows.repartition(workers, shuffle=held is not None).materialize().split(workers)
    for attempt in range(growing.ATTEMPTS):
        try:
            return plan.model(kind, growing.answered(_together(plan, parts)))
        except _Died:
            if attempt + 1 == growing.ATTEMPTS:
                raise
    raise AssertionError("there is at least one attempt")


def _marked(rows: "ray.data.Dataset", validates: bool) -> "ray.data.Dataset":
    def mark(table: Any) -> Any:
        return table.append_column(growing.VALIDATES, pa.array([validates] * table.num_rows, pa.bool_()))
    return rows.map_batches(mark, batch_format="pyarrow", batch_size=None)


class _Died(growing.WorkerError):
    """That a worker has gone, so that its work can be done by another."""


def _together(plan: growing.Plan, parts: Sequence[Any]) -> list[bytes]:
    """The answers of all workers."""
    # A task that is tried again would wait for workers that have gone; a process that has failed must not wait, either.
    @ray.remote(num_cpus=plan.threads, max_retries=0, max_calls=1)
    def work(rows: Any, number: int, arguments: dict[str, Any]) -> bytes:
        return growing.work(
            rows.iter_batches(batch_format="pyarrow", batch_size=None), plan, number,
            lambda: contextlib.nullcontext(arguments))

    failures: dict[int, Exception] = {}
    with contextlib.suppress(_Failed), growing.tracker(plan.workers, ray.util.get_node_ip_address()) as arguments:
        tasks = [work.remote(part, number, arguments) for number, part in enumerate(parts)]
        waiting = list(tasks)
        try:
            while waiting:
                # The first to fail tells why; the others fail because it does, and have the time to.
                done, waiting = ray.wait(waiting, timeout=10 if failures else None)
                if not done:
                    break
                try:
                    ray.get(done)
                except ray.exceptions.RayError as failure:
                    failures[tasks.index(done[0])] = failure
        finally:
            # Not those that have ended: Ray's driver may abort when a task is cancelled while its end is reported.
            for task in waiting:
                ray.cancel(task, force=True)
        if failures:
            raise _Failed
        return list(ray.get(tasks))
    for number, failure in failures.items():
        if not isinstance(failure, ray.exceptions.RayTaskError):
            raise _Died(f"worker {number + 1} of {plan.workers} died: {failure}") from failure
    failure = next(iter(failures.values()))
    raise growing.WorkerError(str(getattr(failure, "cause", failure))) from failure


class _Failed(Exception):
    """That workers failed: what ends the meeting without waiting for them."""


__all__ = ["Predictor", "predict", "train"]
