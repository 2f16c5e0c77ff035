"""Linear and logistic regression over the rows of several machines: each sums derivatives over its own rows.

The objective, its columns and the steps are those of local training (Sources/Training/MLLinearTraining), except that every
second derivative is one of all rows: columns are divided by their root mean square, numbers also centred, and penalties apply
to the coefficients of such columns.  Coefficients are listed by output, and by place: 0 is the offset, followed by the
numbers, the categories that at least an eighth of the rows have, which are centred, too, and the others.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import descent

if TYPE_CHECKING:
    from .growing import Plan, Rows

Array = Any
"""An array of NumPy, of float64 unless it says something else."""


class LinearModel:
    """The learned state of a plan for a linear or logistic regression."""

    takes_missing = False
    constructor = "trained_from_weights"

    def __init__(self, plan: "Plan"):
        self.plan, self.settings = plan, descent.Settings(**plan.parameters)
        self.outputs = 1 if plan.labels is None else len(plan.labels) - 1
        self.numbers = [place for place, (_, categories) in enumerate(plan.features) if categories is None]
        self.texts = [(place, len(categories)) for place, (_, categories) in enumerate(plan.features) if categories is not None]

    def check(self) -> None:
        """Says what is wrong with the parameters, which `Settings` has done."""

    def learn(self, rows: "Rows", held: "Rows", folder: str) -> tuple[dict[str, Any], Callable[[Any], Any]]:
        """Fits the weights together with the other workers; the first one chooses the steps."""
        from xgboost import collective
        sums = Sums(self, rows)

        def asked(coefficients: Array, wants_hessian: bool) -> tuple[float, Array, Any]:
            collective.broadcast((coefficients, wants_hessian), 0)
            return sums.derivatives(coefficients, wants_hessian)

        if collective.get_rank() == 0:
            problem = descent.Problem(
                asked, sums.start, sums.l2, sums.l1, sums.count * self.curvature, self.plan.labels is None)
            coefficients = descent.minimum(problem, self.settings)
            collective.broadcast((coefficients, None), 0)
        else:
            while True:
                coefficients, wants_hessian = collective.broadcast(None, 0)
                if wants_hessian is None:
                    break
                sums.derivatives(coefficients, wants_hessian)
        weights, offsets = sums.weights(coefficients)

        def predict(batch: Any) -> Any:
            scores = self.scores(batch, weights, offsets)
            if self.plan.labels is None:
                return scores[:, 0]
            # The score of the first class is 0; of equal scores the first class wins.
            return np.concatenate([np.zeros((len(scores), 1)), scores], 1).argmax(1)
        return {"weights": weights.tolist(), "offsets": offsets.tolist()}, predict

    @property
    def curvature(self) -> float:
        """A typical second derivative of the loss by a score."""
        classes = self.outputs + 1
        return 2 if self.plan.labels is None else (1 - 1 / classes) / classes

    def scores(self, batch: Any, weights: Array, offsets: Array) -> Array:
        """The scores [rows, outputs] of an encoded batch, with weights [outputs, columns] by the order of features."""
        result, first = np.tile(offsets, (batch.num_rows, 1)), 0
        for (_, categories), column in zip(self.plan.features, batch.columns):
            values = np.asarray(column)
            if categories is None:
                result += values[:, None] * weights[:, first]
                first += 1
            else:
                # The last row is for no category: -1.
                own = weights[:, first:first + len(categories)].T
                result += np.concatenate([own, np.zeros((1, self.outputs))])[values]
                first += len(categories)
        return result


class Sums:
    """Losses and derivatives over the rows of all workers."""

    def __init__(self, model: LinearModel, rows: "Rows"):
        self.model, self.rows, self.outputs = model, rows, model.outputs
        self._measure()
        factors = np.ones(self.width) if model.settings.feature_rescaling else 1 / self.scales
        self.l2, self.l1 = model.settings.l2_penalty * factors ** 2, model.settings.l1_penalty * factors
        self.l2[0] = self.l1[0] = 0

    def _measure(self) -> None:
        """The number of rows, means, root mean squares, and the places of all columns."""
        from xgboost.collective import Op, allreduce
        model, dense = self.model, len(self.model.numbers)
        least, most = np.full(dense, np.inf), np.full(dense, -np.inf)
        for batch in self.rows.batches():
            values = self._values(batch)
            least, most = np.minimum(least, values.min(0)), np.maximum(most, values.max(0))
        least, most = allreduce(least, Op.MIN), allreduce(most, Op.MAX)
        # Divided by the largest magnitude, squares neither overflow nor vanish.
        highest = np.maximum(np.maximum(-least, most), np.finfo(float).tiny)
        own = np.zeros(1 + 2 * dense + sum(count for _, count in model.texts) + max(self.outputs + 1, 2))
        counts = [np.zeros(count + 1) for _, count in model.texts]
        targets = np.zeros(self.outputs + 1)
        for batch in self.rows.batches():
            values, target = self._values(batch) / highest, np.asarray(batch.columns[-1])
            own[0] += batch.num_rows
            own[1:1 + dense] += values.sum(0)
            own[1 + dense:1 + 2 * dense] += (values ** 2).sum(0)
            for total, (place, count) in zip(counts, model.texts):
                total += np.bincount(np.asarray(batch.columns[place]) + 1, minlength=count + 1)
            targets += np.bincount(target.astype(int), minlength=len(targets)) if model.plan.labels else [target.sum(), 0]
        own[1 + 2 * dense:] = np.concatenate([*[total[1:] for total in counts], targets])
        own = allreduce(own, Op.SUM)
        self.count = own[0]
        means, squares = own[1:1 + dense] / self.count, own[1 + dense:1 + 2 * dense] / self.count
        self.number_means = np.where(least == most, most, means * highest)
        number_scales = np.where(squares > 0, highest * np.sqrt(squares), 1)
        self.number_scales = np.where(number_scales >= np.finfo(float).tiny, number_scales, 1)
        occurrences, targets = own[1 + 2 * dense:-len(targets)], own[-len(targets):]
        full = occurrences * 8 >= self.count
        order = np.argsort(~full, kind="stable")
        self.width = 1 + dense + len(occurrences)
        # By place: what has to be subtracted from, and divided by, sums over columns of numbers as `_values` standardises
        # them, and of categories as they are.
        self.means, self.scales = np.zeros(self.width), np.ones(self.width)
        shares = occurrences / self.count
        self.means[1 + dense:] = np.where(full, shares, 0)[order]
        self.scales[1 + dense:] = np.where(shares > 0, np.sqrt(shares), 1)[order]
        self.scales[1:1 + dense] = self.number_scales
        self.category_places = np.empty(len(order), int)
        self.category_places[order] = 1 + dense + np.arange(len(order))
        self.start = np.zeros((self.outputs, self.width))
        if model.plan.labels is None:
            self.start[0, 0] = targets[0] / self.count
        else:
            self.start[:, 0] = np.log((targets[1:] + 0.5) / (targets[0] + 0.5))

    def _values(self, batch: Any) -> Array:
        """The numbers of a batch, [rows, numbers]."""
        return np.stack([np.asarray(batch.columns[place]) for place in self.model.numbers], 1) if self.model.numbers else (
            np.empty((batch.num_rows, 0)))

    def weights(self, coefficients: Array) -> tuple[Array, Array]:
        """The weights [outputs, columns] by the order of features, and the offsets by output."""
        dense = len(self.model.numbers)
        own, offsets = coefficients[:, 1:] / self.scales[1:], coefficients[:, 0].copy()
        offsets -= own[:, :dense] @ self.number_means + own[:, dense:] @ self.means[1 + dense:]
        result, categories, numbers = [], 0, 0
        for _, texts in self.model.plan.features:
            if texts is None:
                result.append(own[:, numbers:numbers + 1])
                numbers += 1
            else:
                result.append(own[:, self.category_places[categories:categories + len(texts)] - 1])
                categories += len(texts)
        return np.concatenate(result, 1), offsets

    def derivatives(self, coefficients: Array, wants_hessian: bool) -> tuple[float, Array, Any]:
        """The sum of the losses, its gradient [outputs, width], and its second derivatives, over all workers."""
        from xgboost.collective import Op, allreduce
        outputs, width, dense = self.outputs, self.width, 1 + len(self.model.numbers)
        own = coefficients.copy()
        own[:, dense:] /= self.scales[dense:]
        own[:, 0] -= own[:, dense:] @ self.means[dense:]
        pairs = [(high, low) for high in range(outputs) for low in range(high + 1)] if wants_hessian else []
        total = np.zeros(1 + outputs * width + len(pairs) * width * width)
        gradient = total[1:1 + outputs * width].reshape(outputs, width)
        blocks = total[1 + outputs * width:].reshape(len(pairs), width, width)
        for batch in self.rows.batches():
            x = np.empty((batch.num_rows, dense))
            x[:, 0] = 1
            x[:, 1:] = (self._values(batch) - self.number_means) / self.number_scales
            texts = self._texts(batch)
            scores = x @ own[:, :dense].T
            for values, places in texts:
                scores += np.concatenate([own[:, places].T, np.zeros((1, outputs))])[values]
            loss, residual, chances = self._loss(scores, np.asarray(batch.columns[-1]))
            total[0] += loss
            gradient[:, :dense] += residual.T @ x
            for values, places in texts:
                for output in range(outputs):
                    gradient[output, places] += _grouped(values, residual[:, output], len(places))
            for block, (high, low) in zip(blocks, pairs):
                if self.model.plan.labels is None:
                    curvature = np.full(batch.num_rows, 2.0)
                else:
                    curvature = chances[:, high] * ((high == low) - chances[:, low])
                self._add(block, x, texts, curvature)
        total = allreduce(total, Op.SUM)
        gradient = total[1:1 + outputs * width].reshape(outputs, width)
        gradient = self._stored(gradient.T).T
        if not wants_hessian:
            return float(total[0]), gradient, None
        hessian = np.zeros((outputs, width, outputs, width))
        for block, (high, low) in zip(total[1 + outputs * width:].reshape(len(pairs), width, width), pairs):
            block = self._stored(self._stored(block).T)
            hessian[high, :, low, :] = block
            hessian[low, :, high, :] = block.T
        return float(total[0]), gradient, hessian.reshape(outputs * width, outputs * width)

    def _stored(self, sums: Array) -> Array:
        """Sums over columns, by place in rows, as sums over centred and divided columns."""
        dense = 1 + len(self.model.numbers)
        result = sums.copy()
        result[dense:] = (sums[dense:] - self.means[dense:, None] * sums[0]) / self.scales[dense:, None]
        return result

    def _texts(self, batch: Any) -> list[tuple[Array, Array]]:
        """For each column of texts the categories of the rows, and the places of the categories."""
        result, first = [], 0
        for place, count in self.model.texts:
            result.append((np.asarray(batch.columns[place]), self.category_places[first:first + count]))
            first += count
        return result

    def _loss(self, scores: Array, targets: Array) -> tuple[float, Array, Array]:
        """The sum of the losses, their derivatives by the scores, and the probabilities of all classes but the first."""
        if self.model.plan.labels is None:
            errors = scores[:, 0] - targets
            return float(errors @ errors), 2 * errors[:, None], scores
        highest = np.maximum(scores.max(1), 0)
        powers = np.exp(scores - highest[:, None])
        total = powers.sum(1) + np.exp(-highest)
        chances = powers / total[:, None]
        rows = np.flatnonzero(targets)
        own = targets[rows].astype(int) - 1
        residual = chances.copy()
        residual[rows, own] -= 1
        return float(np.log(total).sum() + highest.sum() - scores[rows, own].sum()), residual, chances

    @staticmethod
    def _add(block: Array, x: Array, texts: list[tuple[Array, Array]], curvature: Array) -> None:
        """Adds the sums of curvature · column · column, by place."""
        dense = x.shape[1]
        weighted = x * curvature[:, None]
        block[:dense, :dense] += weighted.T @ x
        for index, (values, places) in enumerate(texts):
            for column in range(dense):
                sums = _grouped(values, weighted[:, column], len(places))
                block[places, column] += sums
                block[column, places] += sums
            block[places, places] += _grouped(values, curvature, len(places))
            for others, other_places in texts[:index]:
                size = len(other_places)
                joint = np.where((values < 0) | (others < 0), -1, values.astype(np.int64) * size + others)
                sums = _grouped(joint, curvature, len(places) * size).reshape(len(places), size)
                block[np.ix_(places, other_places)] += sums
                block[np.ix_(other_places, places)] += sums.T


def _grouped(values: Array, weights: Array, count: int) -> Array:
    """The sums of weights by value; -1 is in no group."""
    return np.bincount(values + 1, weights, count + 1)[1:]


__all__ = ["LinearModel", "Sums"]
