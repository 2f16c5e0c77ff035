"""Predictions and training on Ray Data: a pool of actors, each with the model loaded, that map one copy of its weights on a host.

>>> import swift_coreml.ray                                         # doctest: +SKIP
>>> answers = swift_coreml.ray.predict(dataset, "Flowers.mlpackage", concurrency=4)  # doctest: +SKIP
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Optional, Union

import ray
import ray.data

from . import growing
from .errors import FeatureError
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


def train(
    kind: type[growing.Trained], dataset: "ray.data.Dataset", target: str, features: Optional[Sequence[str]] = None, *,
    workers: int, threads: int = 1, external_memory: bool = False, **parameters: Any,
) -> growing.Trained:
    """Trains `createml.BoostedTreeClassifier` or `BoostedTreeRegressor` on a dataset, with XGBoost in `workers` tasks.

    The arguments, and what comes of them, are those of `swift_coreml.spark.train`.
    """
    schema = dataset.schema()
    types = dict(zip(schema.names, schema.types))
    names = [name for name in schema.names if name != target] if features is None else list(features)
    for name in [target, *names]:
        if name not in types:
            raise FeatureError(f"there is no column '{name}'; the columns are {schema.names}")

    def values(name: str) -> list[Any]:
        return sorted(value for value in dataset.unique(name) if value is not None)

    columns = [(name, values(name) if growing.is_text(name, types[name]) else None) for name in names]
    labels = values(target) if kind is growing.BoostedTreeClassifier else None
    plan = growing.Plan(kind, target, columns, labels, parameters, threads, external_memory)
    meeting, rendezvous = growing.tracker(workers, ray.util.get_node_ip_address())

    # A task that is tried again would wait for workers that have gone.
    @ray.remote(num_cpus=threads, max_retries=0)
    def work(rows: Any) -> bytes:
        return growing.grow(rows.iter_batches(batch_format="pyarrow", batch_size=None), plan, rendezvous)

    parts = dataset.select_columns(plan.columns).repartition(workers).materialize().split(workers)
    boosters = ray.get([work.remote(part) for part in parts])
    meeting.wait_for(timeout=60)
    return growing.model(kind, plan, next(booster for booster in boosters if booster))


__all__ = ["Predictor", "predict", "train"]
