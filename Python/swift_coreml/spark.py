"""Predictions and training on Spark: columns of Arrow through a model that every worker of a host maps once.

>>> import swift_coreml.spark                                       # doctest: +SKIP
>>> answers = swift_coreml.spark.predict(frame, "Houses.mlmodel", inputs={"rooms": "number_of_rooms"})  # doctest: +SKIP
>>> answers.where("error is not null").show()                       # doctest: +SKIP
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import BinaryType, StructField, StructType

from . import growing
from .errors import CoreMLError, FeatureError
from .model import Model
from .shipping import Package, opened
from .tables import Inputs, TablePredictor

_ANSWERS = "__coreml_answers"


def predict(
    frame: DataFrame, model: Union[str, "os.PathLike[str]", Model], *, inputs: Inputs = None, prefix: str = "",
    error: str = "error", threads: int = 1,
) -> DataFrame:
    """The frame with a column for each output of the model, and one that says what is wrong with a row.

    `inputs` names the column of each input, or, for an array, a list of columns; without it they have the inputs' names.
    Arrays are lists of all elements, row-major, pictures the bytes of files, labels and scores strings and maps; a null
    for a number of double precision is NaN.  A row that the model does not take has nulls and a message in the column
    `error`, and the job goes on.  `threads` is the number of processors for each task, as `spark.task.cpus`.

    Only the columns of the inputs go to the workers.  They come in batches of `spark.sql.execution.arrow.maxRecordsPerBatch`
    rows, or, with `spark.sql.execution.arrow.pythonUDF.columnarInput.enabled`, as the source has them, without a detour over
    rows: of `spark.sql.parquet.columnarReaderBatchSize` for Parquet.
    """
    _refuse_remote(frame, "send the model's files", "load the model in a function of your own for mapInArrow")
    package = Package.of(model)
    predictor = TablePredictor(package.model(), inputs, prefix, error)
    predictor.check(frame.columns)
    names = predictor.used(frame.columns)
    result = StructType([StructField(field.name, from_arrow_type(field.type), True) for field in predictor.fields])
    files = frame.sparkSession.sparkContext.broadcast(package.data)
    work = _Work(files, package.digest, package.name, package.function, inputs, prefix, error, threads, names)

    def answers(*columns: pa.Array) -> pa.Array:
        return work(columns)

    # Were it deterministic, a filter by an answer would make Spark predict twice.  Without a column there would be no rows.
    function = F.arrow_udf(answers, result).asNondeterministic()
    columns = [F.col(_quoted(name)) for name in names] or [F.lit(True)]
    return frame.select("*", function(*columns).alias(_ANSWERS)).select(
        "*", *[F.col(_ANSWERS).getField(field.name).alias(field.name) for field in predictor.fields]).drop(_ANSWERS)


def train(
    kind: type[growing.Trained], frame: DataFrame, target: str, features: Optional[Sequence[str]] = None, *, workers: int,
    threads: int = 1, external_memory: bool = False, **parameters: Any,
) -> growing.Trained:
    """Trains `createml.BoostedTreeClassifier` or `BoostedTreeRegressor` on a frame, with XGBoost on `workers` tasks.

    The model is the pipeline of local training, without metrics: columns of numbers, and of texts, which get a column for
    each category.  A null is missing for numbers and no category for texts; a null target is an error.  `parameters` are
    `max_depth`, `max_iterations`, `min_loss_reduction`, `min_child_weight`, `random_seed`, `step_size`, `row_subsample` and
    `column_subsample`, with the meanings and defaults of local training, whose trees are grown from the same loss but other
    candidates for splits.  The tasks run at the same time (barrier), with `threads` processors each; with `external_memory`
    their rows lie on their disks.  A worker that dies ends the training.  XGBoost must be installed on all workers.
    """
    _refuse_remote(frame, "run the tasks of a training together", "")
    names = [name for name in frame.columns if name != target] if features is None else list(features)
    if target not in frame.columns or not set(names) <= set(frame.columns):
        missing = next(name for name in [target, *names] if name not in frame.columns)
        raise FeatureError(f"there is no column '{missing}'; the columns are {frame.columns}")
    types = {field.name: to_arrow_type(field.dataType) for field in frame.schema.fields}

    def values(name: str) -> list[Any]:
        column = F.col(_quoted(name))
        return sorted(row[0] for row in frame.where(column.isNotNull()).select(column).distinct().collect())

    columns = [(name, values(name) if growing.is_text(name, types[name]) else None) for name in names]
    labels = values(target) if kind is growing.BoostedTreeClassifier else None
    plan = growing.Plan(kind, target, columns, labels, parameters, threads, external_memory)
    meeting, rendezvous = growing.tracker(workers, frame.sparkSession.conf.get("spark.driver.host"))

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        yield pa.RecordBatch.from_arrays([pa.array([growing.grow(batches, plan, rendezvous)], pa.binary())], ["booster"])

    rows = frame.select(*[F.col(_quoted(name)) for name in plan.columns]).repartition(workers)
    boosters = rows.mapInArrow(work, StructType([StructField("booster", BinaryType())]), barrier=True).collect()
    meeting.wait_for(timeout=60)
    return growing.model(kind, plan, next(bytes(row[0]) for row in boosters if row[0]))


def _refuse_remote(frame: DataFrame, what: str, instead: str) -> None:
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise CoreMLError(
            f"a frame of Spark Connect has no way to {what}; use a session that is not remote{instead and ', or ' + instead}")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class _Work:
    """What a task does with its batches."""

    def __init__(
        self, files: Any, digest: str, name: str, function: Optional[str], inputs: Inputs, prefix: str, error: str,
        threads: int, names: list[str],
    ):
        self.files, self.digest, self.name, self.function, self.threads = files, digest, name, function, threads
        self.inputs, self.prefix, self.error, self.names = inputs, prefix, error, names
        self.predictor: Optional[TablePredictor] = None

    def __call__(self, columns: tuple[Any, ...]) -> Any:
        if self.predictor is None:
            model = opened(lambda: self.files.value, self.digest, self.name, self.function, self.threads)
            self.predictor = TablePredictor(model, self.inputs, self.prefix, self.error)
        batch = pa.RecordBatch.from_arrays(list(columns), names=self.names or [_ANSWERS])
        return pa.StructArray.from_arrays(self.predictor.predict(batch), fields=self.predictor.fields)


__all__ = ["predict", "train"]
