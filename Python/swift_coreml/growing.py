"""Boosted trees over the rows of several machines: XGBoost grows them, the model is that of local training.

`swift_coreml.spark.train` and `swift_coreml.ray.train` share this.
"""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, Optional, TypeVar, Union

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from .createml import BoostedTreeClassifier, BoostedTreeRegressor
from .createml import _native
from .errors import FeatureError

Trained = TypeVar("Trained", BoostedTreeClassifier, BoostedTreeRegressor)
Labels = Union[list[str], list[int]]

# Create ML's name of a parameter → XGBoost's, and its value when it is left out.
_PARAMETERS: dict[str, tuple[str, Any]] = {
    "max_depth": ("max_depth", 6), "min_loss_reduction": ("gamma", 0.0), "min_child_weight": ("min_child_weight", 0.1),
    "random_seed": ("seed", 42), "step_size": ("eta", 0.3), "row_subsample": ("subsample", 1.0),
    "column_subsample": ("colsample_bytree", 1.0)}


class Plan:
    """What all workers of a training know: the columns, the classes, the parameters."""

    def __init__(
        self, kind: type[Trained], target: str, features: Sequence[tuple[str, Optional[list[str]]]],
        labels: Optional[Labels], parameters: dict[str, Any], threads: int, external_memory: bool,
    ):
        if (kind is BoostedTreeClassifier) != (labels is not None):
            raise FeatureError(f"{kind.__name__} is trained on {'classes' if labels is None else 'numbers'}")
        if labels is not None and len(labels) < 2:
            raise FeatureError(f"the column '{target}' has the class {labels} alone, so there is nothing to tell apart")
        if not features:
            raise FeatureError(f"there is no column beside '{target}' to predict from")
        for name, categories in features:
            if categories is not None and not categories:
                raise FeatureError(f"the column '{name}' has no values to train on; leave it out of features")
        self.target, self.features, self.labels = target, list(features), labels
        self.threads, self.external_memory = threads, external_memory
        unknown = sorted(set(parameters) - set(_PARAMETERS) - {"max_iterations"})
        if unknown:
            raise FeatureError(f"there is no parameter '{unknown[0]}'; there are {[*_PARAMETERS, 'max_iterations']}")
        self.rounds = int(parameters.get("max_iterations", 10))
        if self.rounds < 1:
            raise FeatureError(f"max_iterations is {self.rounds}; at least one tree is needed")
        self.settings = {
            name: parameters.get(own, standard) for own, (name, standard) in _PARAMETERS.items()}
        self.settings |= {"tree_method": "hist", "nthread": threads}
        if labels is None:
            self.settings |= {"objective": "reg:squarederror", "base_score": 0.5}
        elif len(labels) == 2:
            self.settings |= {"objective": "binary:logistic", "base_score": 0.5}
        else:
            self.settings |= {"objective": "multi:softprob", "num_class": len(labels)}

    @property
    def columns(self) -> list[str]:
        return [name for name, _ in self.features] + [self.target]

    def matrix(self, batch: Any) -> "np.ndarray[Any, Any]":
        """The features of a batch as the trees see them: numbers, and a column of 0 and 1 for each category."""
        parts = []
        for name, categories in self.features:
            column = batch.column(name)
            if categories is None:
                parts.append(np.asarray(column.cast(pa.float64()), np.float64).astype(np.float32).reshape(-1, 1))
            else:
                places = np.asarray(pc.fill_null(pc.index_in(column, pa.array(categories, column.type)), -1))
                parts.append((places[:, None] == np.arange(len(categories))).astype(np.float32))
        return np.concatenate(parts, 1)

    def targets(self, batch: Any) -> "np.ndarray[Any, Any]":
        column = batch.column(self.target)
        if self.labels is not None:
            column = pc.index_in(column, pa.array(self.labels, column.type))
        if column.null_count:
            raise FeatureError(f"the column '{self.target}' has rows without a value; filter them out before training")
        return np.asarray(column.cast(pa.float64())).astype(np.float32)


def is_text(name: str, kind: pa.DataType) -> bool:
    """Whether a column has texts; false for numbers."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return True
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return False
    raise FeatureError(
        f"the column '{name}' holds {kind}; training on several machines takes numbers and texts. Leave it out of features")


def grow(batches: Iterable[Any], plan: Plan, rendezvous: dict[str, Any]) -> bytes:
    """A worker's part: grows trees together with the others, over its own rows; the first worker returns them, as JSON.

    The rows are kept in a temporary file, which is mapped, so that XGBoost can go over them several times.
    """
    import xgboost
    from xgboost import collective

    with tempfile.TemporaryDirectory(prefix="growing-") as folder, collective.CommunicatorContext(**rendezvous):
        path = os.path.join(folder, "rows.arrow")
        with pa.OSFile(path, "wb") as file:
            writer = None
            for batch in batches:
                batch = batch.select(plan.columns)
                writer = writer or pa.ipc.new_file(file, batch.schema)
                (writer.write_table if isinstance(batch, pa.Table) else writer.write_batch)(batch)
            if writer is None:
                raise FeatureError("a worker got no rows; train with fewer workers, or spread the rows evenly")
            writer.close()

        class Rows(xgboost.DataIter):  # type: ignore[misc]
            """The rows of this worker, batch by batch."""

            def __init__(self) -> None:
                self.reader, self.place = pa.ipc.open_file(pa.memory_map(path)), 0
                super().__init__(cache_prefix=os.path.join(folder, "cache") if plan.external_memory else None)

            def reset(self) -> None:
                self.place = 0

            def next(self, input_data: Any) -> bool:
                if self.place == self.reader.num_record_batches:
                    return False
                batch = self.reader.get_batch(self.place)
                self.place += 1
                input_data(data=plan.matrix(batch), label=plan.targets(batch))
                return True

        kind = xgboost.ExtMemQuantileDMatrix if plan.external_memory else xgboost.QuantileDMatrix
        booster = xgboost.train(plan.settings, kind(Rows(), nthread=plan.threads), num_boost_round=plan.rounds)
        return bytes(booster.save_raw("json")) if collective.get_rank() == 0 else b""


def model(kind: type[Trained], plan: Plan, booster: bytes) -> Trained:
    """The trees of a booster in the pipeline that local training writes."""
    learner = json.loads(booster)["learner"]
    trees = [_tree(tree) for tree in learner["gradient_booster"]["model"]["trees"]]
    grown: dict[str, Any] = {
        "target": plan.target, "trees": trees,
        "features": [
            {"name": name} if categories is None else {"name": name, "categories": categories}
            for name, categories in plan.features]}
    if plan.labels is not None:
        if isinstance(plan.labels[0], str):
            grown["textLabels"] = plan.labels
        else:
            grown["integerLabels"] = [int(label) for label in plan.labels]
    return kind(_native.Handle(_native.call("trained_from_trees", json.dumps(grown, allow_nan=False).encode())))


def _tree(tree: dict[str, Any]) -> dict[str, list[Any]]:
    """A tree of XGBoost's JSON with its nodes in depth-first order, without those that were pruned."""
    result: dict[str, list[Any]] = {
        "features": [], "thresholds": [], "lefts": [], "rights": [], "missingGoesLeft": [], "values": []}
    waiting: list[tuple[int, Optional[tuple[str, int]]]] = [(0, None)]
    while waiting:
        node, parent = waiting.pop()
        place = len(result["features"])
        if parent is not None:
            result[parent[0]][parent[1]] = place
        leaf = tree["left_children"][node] < 0
        number = float(tree["split_conditions"][node])
        result["features"].append(-1 if leaf else tree["split_indices"][node])
        result["thresholds"].append(0.0 if leaf else number)
        result["values"].append(number if leaf else 0.0)
        result["missingGoesLeft"].append(bool(tree["default_left"][node]))
        result["lefts"].append(-1)
        result["rights"].append(-1)
        if not leaf:
            waiting += [(tree["right_children"][node], ("rights", place)), (tree["left_children"][node], ("lefts", place))]
    return result


def tracker(workers: int, host: str) -> tuple[Any, dict[str, Any]]:
    """XGBoost's meeting point of the workers, and what they need to find it."""
    from xgboost.tracker import RabitTracker
    meeting = RabitTracker(n_workers=workers, host_ip=host)
    meeting.start()
    return meeting, dict(meeting.worker_args())


__all__ = ["BoostedTreeClassifier", "Plan", "Trained", "is_text", "grow", "model", "tracker"]
