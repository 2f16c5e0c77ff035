"""Predictions on Ray Data: a pool of actors, each with the model loaded, that map one copy of its weights on a host.

>>> import swift_coreml.ray                                         # doctest: +SKIP
>>> answers = swift_coreml.ray.predict(dataset, "Flowers.mlpackage", concurrency=4)  # doctest: +SKIP
"""
from __future__ import annotations

import os
from typing import Any, Optional, Union

import ray
import ray.data

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
    error: str = "error", concurrency: Optional[int] = None, threads: int = 1, batch_size: int = 4096, **options: Any,
) -> "ray.data.Dataset":
    """The dataset with a column for each output of the model, and one that says what is wrong with a row.

    The arguments are those of `swift_coreml.spark.predict`; `concurrency` is the number of actors (by default one for
    each `threads` processors of the cluster), `batch_size` the number of rows of a batch, and `options` go to
    `map_batches`.  An actor that dies is replaced, and its batch is predicted again.
    """
    package = Package.of(model)
    predictor = TablePredictor(package.model(), inputs, prefix, error)
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        predictor.check(schema.names)
    if concurrency is None:
        concurrency = max(int(ray.cluster_resources().get("CPU", 1)) // max(threads, 1), 1)
    return dataset.map_batches(
        Predictor, batch_format="pyarrow", batch_size=batch_size, num_cpus=threads,
        compute=ray.data.ActorPoolStrategy(size=concurrency),
        fn_constructor_kwargs={
            "files": ray.put(package.data), "digest": package.digest, "name": package.name, "function": package.function,
            "inputs": inputs, "prefix": prefix, "error": error, "threads": threads},
        **options)


__all__ = ["Predictor", "predict"]
