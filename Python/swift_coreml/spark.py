"""Predictions on Spark: batches of Arrow through a model that every worker of a host maps once.

>>> import swift_coreml.spark                                       # doctest: +SKIP
>>> answers = swift_coreml.spark.predict(frame, "Houses.mlmodel", inputs={"rooms": "number_of_rooms"})  # doctest: +SKIP
>>> answers.where("error is not null").show()                       # doctest: +SKIP
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Optional, Union

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from .errors import CoreMLError
from .model import Model
from .shipping import Package, opened
from .tables import Inputs, TablePredictor


def predict(
    frame: DataFrame, model: Union[str, "os.PathLike[str]", Model], *, inputs: Inputs = None, prefix: str = "",
    error: str = "error", threads: int = 1,
) -> DataFrame:
    """The frame with a column for each output of the model, and one that says what is wrong with a row.

    `inputs` names the column of each input, or, for an array, a list of columns; without it they have the inputs' names.
    Arrays are lists of all elements, row-major, pictures the bytes of files, labels and scores strings and maps; a null
    for a number of double precision is NaN.  A row that the model does not take has nulls and a message in the column
    `error`, and the job goes on.  `threads` is the number of processors for each task, as `spark.task.cpus`.  Rows go
    through the model in batches of `spark.sql.execution.arrow.maxRecordsPerBatch`.
    """
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise CoreMLError(
            "a frame of Spark Connect has no way to send the model's files; use a session that is not remote, or load the "
            "model in a function of your own for mapInArrow")
    package = Package.of(model)
    predictor = TablePredictor(package.model(), inputs, prefix, error)
    predictor.check(frame.columns)
    added = [StructField(field.name, from_arrow_type(field.type), True) for field in predictor.fields]
    schema = StructType(list(frame.schema.fields) + added)
    files = frame.sparkSession.sparkContext.broadcast(package.data)
    work = _Work(files, package.digest, package.name, package.function, inputs, prefix, error, threads)
    return frame.mapInArrow(work, schema)


class _Work:
    """What a task does with its batches."""

    def __init__(
        self, files: Any, digest: str, name: str, function: Optional[str], inputs: Inputs, prefix: str, error: str,
        threads: int,
    ):
        self.files, self.digest, self.name, self.function, self.threads = files, digest, name, function, threads
        self.inputs, self.prefix, self.error = inputs, prefix, error

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        model = opened(lambda: self.files.value, self.digest, self.name, self.function, self.threads)
        predictor = TablePredictor(model, self.inputs, self.prefix, self.error)
        for batch in batches:
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *predictor.predict(batch)],
                schema=pyarrow.schema([*batch.schema, *predictor.fields]))


__all__ = ["predict"]
