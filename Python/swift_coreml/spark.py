"""Predictions and training on Spark: columns of Arrow through a model that every worker of a host maps once.

>>> import swift_coreml.spark                                       # doctest: +SKIP
>>> answers = swift_coreml.spark.predict(frame, "Houses.mlmodel", inputs={"rooms": "number_of_rooms"})  # doctest: +SKIP
>>> answers.where("error is not null").show()                       # doctest: +SKIP
"""
from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import BinaryType, StructField, StructType

from . import growing
from .errors import CoreMLError
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
    Arrays are lists of all elements, row-major, images the bytes of files, labels and scores strings and maps; a null
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

    # Were it deterministic, a filter by an answer would make Spark predict twice. Without a column there would be no rows.
    function = F.arrow_udf(answers, result).asNondeterministic()
    columns = [F.col(_quoted(name)) for name in names] or [F.lit(True)]
    return frame.select("*", function(*columns).alias(_ANSWERS)).select(
        "*", *[F.col(_ANSWERS).getField(field.name).alias(field.name) for field in predictor.fields]).drop(_ANSWERS)


def train(
    kind: type[growing.Trained], frame: DataFrame, target: str, features: Optional[Sequence[str]] = None, *, workers: int,
    threads: int = 1, external_memory: bool = False, validation: Any = None, **parameters: Any,
) -> growing.Trained:
    """Trains a model of `createml` on a frame, in `workers` tasks together.

    `kind` is `BoostedTreeClassifier` or `BoostedTreeRegressor`, whose trees XGBoost grows, `LinearRegressor` or
    `LogisticRegressionClassifier`.  The model is the pipeline of local training, with metrics: columns of numbers, and of
    texts, which get a column for each category.  A null is missing for numbers, which linear models refuse, and no category
    for texts; a null target is an error.  `parameters` are those of local training, with the same meanings and defaults.
    Linear models have the same minimum; trees are grown from the same loss but other candidates for splits.

    `validation` is a frame with the same columns, a share of the rows, or a share and a seed; `early_stopping_rounds` needs it.
    The tasks run at the same time (barrier), with `threads` processors each, and have their rows on their disks; with
    `external_memory` XGBoost has them there, too.  Where a worker dies, all start again, four times in all.  An error of a worker
    is raised, with its name.  XGBoost must be installed on all workers.
    """
    _refuse_remote(frame, "run the tasks of a training together", "")
    learned, held = frame, validation
    shared = growing.share(validation)
    if shared is not None:
        learned, held = frame.randomSplit([1 - shared[0], shared[0]], shared[1])

    def values(name: str) -> list[Any]:
        column = F.col(_quoted(name))
        return [row[0] for row in frame.where(column.isNotNull()).select(column).distinct().collect()]

    plan = growing.Plan.chosen(
        kind, target, features, names=frame.columns, values=values, parameters=parameters, workers=workers, threads=threads,
        type_of=lambda name: to_arrow_type(frame.schema[name].dataType), external_memory=external_memory,
        validates=held is not None)
    columns = [F.col(_quoted(name)) for name in plan.columns]
    rows = learned.select(*columns)
    if held is not None:
        rows = rows.withColumn(growing.VALIDATES, F.lit(False)).unionByName(
            held.select(*columns).withColumn(growing.VALIDATES, F.lit(True)))
    answers = StructType([StructField("answer", BinaryType())])
    for attempt in range(growing.ATTEMPTS):
        try:
            # Anew each time: a plan that has failed is not tried again.
            collected = rows.repartition(workers).mapInArrow(_Training(plan), answers, barrier=True).collect()
            break
        except (PySparkException, Py4JJavaError) as failure:
            error, again = _worker_error(str(failure), workers)
            if not again or attempt + 1 == growing.ATTEMPTS:
                raise error from failure
    return plan.model(kind, growing.answered(bytes(row[0]) for row in collected))


def _worker_error(failure: str, workers: int) -> tuple[growing.WorkerError, bool]:
    """The first worker's failure in a failed job, and whether to begin again because a worker is gone."""
    said = re.search(r"WorkerError: (worker .*)", failure)
    if said is not None:
        return growing.WorkerError(said.group(1)), growing.LOST in said.group(1)
    task, reason = re.search(r"Task\(\d+, (\d+)\)", failure), re.search(r"finished unsuccessfully\.\s*(?:\S+: )?(.*)", failure)
    which = f"worker {int(task.group(1)) + 1} of {workers}" if task else "a worker"
    return growing.WorkerError(f"{which} died: {reason.group(1) if reason else failure}"), True


class _Training:
    """A training task: the first one runs the rendezvous of all tasks."""

    def __init__(self, plan: growing.Plan):
        self.plan = plan

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import BarrierTaskContext
        context = BarrierTaskContext.get()
        number = context.partitionId()

        @contextlib.contextmanager
        def meeting() -> Iterator[dict[str, Any]]:
            if number:
                yield dict(json.loads(context.allGather("")[0]))
                return
            host = context.getTaskInfos()[0].address.rsplit(":", 1)[0].strip("[]")
            with growing.tracker(self.plan.workers, host) as arguments:
                context.allGather(json.dumps(arguments))
                yield arguments

        answer = growing.work(batches, self.plan, number, meeting)
        yield pa.RecordBatch.from_arrays([pa.array([answer], pa.binary())], ["answer"])


def _refuse_remote(frame: DataFrame, what: str, instead: str) -> None:
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise CoreMLError(
            f"a frame of Spark Connect has no way to {what}; use a session that is not remote{instead and ', or ' + instead}")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class _Work:
    """A task's work on its batches."""

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
