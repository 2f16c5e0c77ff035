"""Boosted trees over the rows of several machines, which XGBoost grows."""
from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from .errors import FeatureError

if TYPE_CHECKING:
    from .growing import Plan, Rows

# Create ML's name of a parameter → XGBoost's.
_PARAMETERS = {
    "max_depth": "max_depth", "min_loss_reduction": "gamma", "min_child_weight": "min_child_weight", "random_seed": "seed",
    "step_size": "eta", "row_subsample": "subsample", "column_subsample": "colsample_bytree"}


class Forest:
    """The learned state of a plan for boosted trees."""

    takes_missing = True
    constructor = "trained_from_trees"

    def __init__(self, plan: "Plan"):
        self.plan = plan
        given, labels = plan.parameters, plan.labels
        self.rounds, self.patience = int(given["max_iterations"]), given["early_stopping_rounds"]
        if self.rounds < 1:
            raise FeatureError(f"max_iterations is {self.rounds}; at least one tree is needed")
        if self.patience is not None and not plan.validates:
            raise FeatureError("early_stopping_rounds needs rows to validate on: pass validation")
        self.settings = {name: given[own] for own, name in _PARAMETERS.items()}
        self.settings |= {"tree_method": "hist", "nthread": plan.threads}
        if labels is None:
            self.settings |= {"objective": "reg:squarederror", "base_score": 0.5}
        elif len(labels) == 2:
            self.settings |= {"objective": "binary:logistic", "base_score": 0.5}
        else:
            # Else XGBoost begins with the shares of the classes, for which the pipeline has no place.
            self.settings |= {"objective": "multi:softprob", "num_class": len(labels), "base_score": 0.5}

    def check(self) -> None:
        """Says what is wrong with the parameters, by a training of two rows: workers would all fail alike."""
        import xgboost
        try:
            rows = xgboost.DMatrix(np.zeros((2, 1), np.float32), label=np.array([0, 1]))
            xgboost.train(self.settings | {"verbosity": 0}, rows, num_boost_round=1)
        except xgboost.core.XGBoostError as error:
            raise FeatureError(f"XGBoost does not take these parameters: {str(error).splitlines()[0]}") from error

    def matrix(self, batch: Any) -> "np.ndarray[Any, Any]":
        """The features of an encoded batch as the trees see them: numbers, and a column of 0 and 1 for each category."""
        parts = []
        for (_, categories), column in zip(self.plan.features, batch.columns):
            values = np.asarray(column)
            parts.append(
                values.astype(np.float32).reshape(-1, 1) if categories is None
                else (values[:, None] == np.arange(len(categories))).astype(np.float32))
        return np.concatenate(parts, 1)

    def learn(self, rows: "Rows", held: "Rows", folder: str) -> tuple[dict[str, Any], Callable[[Any], Any]]:
        """Grows trees together with the other workers."""
        import xgboost
        plan, matrix = self.plan, self.matrix

        class Batches(xgboost.DataIter):  # type: ignore[misc]
            """The rows of this worker, batch by batch."""

            def __init__(self) -> None:
                self.batches = rows.batches()
                super().__init__(cache_prefix=os.path.join(folder, "cache") if plan.external_memory else None)

            def reset(self) -> None:
                self.batches = rows.batches()

            def next(self, input_data: Any) -> bool:
                batch = next(self.batches, None)
                if batch is None:
                    return False
                input_data(data=matrix(batch), label=np.asarray(batch.columns[-1]).astype(np.float32))
                return True

        kind = xgboost.ExtMemQuantileDMatrix if plan.external_memory else xgboost.QuantileDMatrix
        options: dict[str, Any] = {}
        if self.patience is not None:
            parts = list(held.batches())
            empty = np.empty((0, sum(len(categories or "1") for _, categories in plan.features)), np.float32)
            validation = xgboost.DMatrix(
                np.concatenate([empty, *map(matrix, parts)]), nthread=plan.threads,
                label=np.concatenate([np.empty(0), *[np.asarray(part.columns[-1]) for part in parts]]))
            stop = xgboost.callback.EarlyStopping(rounds=int(self.patience), save_best=True)
            options = {"evals": [(validation, "validation")], "callbacks": [stop], "verbose_eval": False}
        booster = xgboost.train(
            self.settings, kind(Batches(), nthread=plan.threads), num_boost_round=self.rounds, **options)

        def predict(batch: Any) -> Any:
            scores = booster.inplace_predict(matrix(batch))
            if plan.labels is None:
                return scores
            return scores > 0.5 if len(plan.labels) == 2 else scores.argmax(1)
        return {"trees": trees(booster.save_raw("json"))}, predict


def trees(booster: bytes) -> list[dict[str, list[Any]]]:
    """The trees of a booster's JSON as `GrownTrees` states them."""
    learner = json.loads(bytes(booster))["learner"]
    return [_tree(tree) for tree in learner["gradient_booster"]["model"]["trees"]]


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


__all__ = ["Forest", "trees"]
