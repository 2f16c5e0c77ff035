"""The minimum of a loss with penalties, in the steps of local training (Sources/Training/MLLinearTraining/LinearTrainer.swift).

Below 500 coefficients an iteration is a Newton step, above one of L-BFGS, or of accelerated proximal gradients where there is
an L1 penalty; each ends with a line search, so that the objective never rises.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .errors import FeatureError

Array = Any
"""An array of NumPy of float64."""

NEWTON_LIMIT = 500
"""The number of coefficients from which Newton's method is too expensive."""


@dataclass
class Settings:
    """The parameters of a linear model by their names in Create ML."""

    max_iterations: int
    l1_penalty: float
    l2_penalty: float
    step_size: float
    convergence_threshold: float
    feature_rescaling: bool

    def __post_init__(self) -> None:
        for name, holds, wanted in (
                ("max_iterations", self.max_iterations >= 1, "1 or more"),
                ("l1_penalty", 0 <= self.l1_penalty < np.inf, "0 or more"),
                ("l2_penalty", 0 <= self.l2_penalty < np.inf, "0 or more"),
                ("step_size", 0 < self.step_size < np.inf, "above 0"),
                ("convergence_threshold", self.convergence_threshold >= 0, "0 or more")):
            if not holds:
                raise FeatureError(f"{name} is {getattr(self, name)}; it must be {wanted}")


class Problem:
    """An objective: losses that a function sums up, and penalties by place, l2 · c² + l1 · |c|."""

    def __init__(
        self, losses: Callable[[Array, bool], tuple[float, Array, Any]], start: Array, l2: Array, l1: Array,
        curvature: float, is_quadratic: bool,
    ):
        self.losses, self.start, self.is_quadratic = losses, start, is_quadratic
        self.l2, self.l1 = (np.tile(each, len(start)) for each in (l2, l1))
        self.curvatures = curvature + 2 * self.l2
        self.uses_newton = start.size < NEWTON_LIMIT
        self.has_l1 = bool((self.l1 > 0).any())

    def at(self, coefficients: Array) -> "Point":
        loss, gradient, hessian = self.losses(coefficients.reshape(self.start.shape), self.uses_newton)
        return Point(self, coefficients, loss, gradient.ravel(), hessian)


class Point:
    """The objective and its derivatives at some coefficients; those of an L1 penalty are left out."""

    def __init__(self, problem: Problem, coefficients: Array, loss: float, gradient: Array, hessian: Any):
        self.coefficients = coefficients
        self.smooth = loss + float(problem.l2 @ coefficients ** 2)
        self.value = self.smooth + float(problem.l1 @ np.abs(coefficients))
        self.gradient = gradient + 2 * problem.l2 * coefficients
        self.hessian = None if hessian is None else hessian + np.diag(2 * problem.l2)


def minimum(problem: Problem, settings: Settings) -> Array:
    """The coefficients where an iteration lowers the objective by no more than the threshold, or after the last iteration."""
    point = problem.at(problem.start.ravel().copy())
    if not np.isfinite(point.value):
        raise FeatureError("the loss of the targets overflows; divide them by their largest magnitude")
    threshold = settings.convergence_threshold * (1e-6 if problem.uses_newton else 1)
    memory, momentum, stalls = Memory(), Momentum(problem, point.coefficients, settings.step_size), 0
    for _ in range(settings.max_iterations):
        if problem.uses_newton:
            if problem.is_quadratic and settings.step_size == 1 and not problem.has_l1:
                # The quadratic model is the objective itself: its minimum needs no line search.
                return (point.coefficients + newton_step(point.hessian, point.gradient)).reshape(problem.start.shape)
            following = _newton(problem, point, settings)
        elif problem.has_l1:
            following = momentum.step(problem, point)
        else:
            following = memory.step(problem, point, settings)
        if following is None:
            break
        stalls = stalls + 1 if point.value - following.value <= threshold else 0
        point = following
        if stalls >= (1 if threshold > 0 else 5):
            break
    return point.coefficients.reshape(problem.start.shape)


def _newton(problem: Problem, point: Point, settings: Settings) -> Optional[Point]:
    if not problem.has_l1:
        return _search(problem, point, newton_step(point.hessian, point.gradient), settings.step_size)
    step = penalized_step(point.hessian, point.gradient, problem.l1, point.coefficients)
    promised = float(point.gradient @ step) + float(
        problem.l1 @ (np.abs(point.coefficients + step) - np.abs(point.coefficients)))
    length = settings.step_size
    for _ in range(50 if promised < 0 else 0):
        candidate = problem.at(point.coefficients + length * step)
        if candidate.value <= point.value + 1e-4 * length * promised:
            return candidate
        length /= 2
    return None


def _search(problem: Problem, point: Point, direction: Array, initial: float) -> Optional[Point]:
    """A line search for the strong Wolfe conditions; `None` where rounding hides any descent."""
    first = float(direction @ point.gradient)
    if first >= 0:
        return None
    low, high, length, low_slope, high_slope = 0.0, np.inf, initial, first, np.nan
    noise = 1e-13 * abs(point.value)
    for _ in range(60):
        candidate = problem.at(point.coefficients + length * direction)
        slope = float(candidate.gradient @ direction)
        descends = candidate.value <= point.value + 1e-4 * length * first or (
            candidate.value <= point.value + noise and slope <= -0.8 * first and np.isfinite(slope))
        if descends and abs(slope) <= -0.9 * first:
            moved = bool((candidate.coefficients != point.coefficients).any())
            return candidate if moved and candidate.value <= point.value + noise else None
        if not descends or slope > 0:
            high, high_slope = length, slope
        else:
            low, low_slope = length, slope
        if high == np.inf:
            length *= 2
        else:
            # The zero of the secant of the slopes, kept away from both ends.
            with np.errstate(all="ignore"):
                crossing = low + (high - low) * np.divide(low_slope, low_slope - high_slope)
            least, most = low + 0.1 * (high - low), high - 0.1 * (high - low)
            length = min(max(float(crossing), least), most) if np.isfinite(crossing) else (low + high) / 2
    return None


def newton_step(hessian: Array, gradient: Array) -> Array:
    """Solves hessian · Δ = -gradient by Cholesky decomposition.

    A coefficient whose column depends linearly on those before it (its pivot is lost in rounding) is left unchanged.
    """
    count = len(gradient)
    factors, dependent = np.tril(hessian), np.zeros(count, bool)
    for pivot in range(count):
        column = factors[pivot:, :pivot] @ factors[pivot, :pivot]
        diagonal = factors[pivot, pivot]
        rest = diagonal - column[0]
        if rest > 1e-12 * diagonal:
            root = np.sqrt(rest)
            factors[pivot, pivot] = root
            factors[pivot + 1:, pivot] = (factors[pivot + 1:, pivot] - column[1:]) / root
        else:
            dependent[pivot] = True
            factors[pivot, pivot], factors[pivot + 1:, pivot] = 1, 0
    step = -gradient
    for row in range(count):
        step[row] = 0 if dependent[row] else (step[row] - factors[row, :row] @ step[:row]) / factors[row, row]
    for row in reversed(range(count)):
        step[row] = 0 if dependent[row] else step[row] / factors[row, row]
        step[:row] -= factors[row, :row] * step[row]
    return step


def penalized_step(hessian: Array, gradient: Array, l1: Array, coefficients: Array) -> Array:
    """The step to the minimum of the quadratic model and Σ l1 · |coefficient + Δ|, by coordinate descent."""
    step, slope = np.zeros_like(gradient), gradient.copy()
    for _ in range(2000):
        farthest = largest = 0.0
        for place in np.flatnonzero(np.diag(hessian) > 0):
            curvature = hessian[place, place]
            old = coefficients[place] + step[place]
            new = softThresholded(old - slope[place] / curvature, l1[place] / curvature)
            largest = max(largest, abs(new))
            if new == old:
                continue
            step[place] += new - old
            farthest = max(farthest, abs(new - old))
            slope += hessian[place] * (new - old)
        if farthest <= 1e-13 * largest:
            break
    return step


def softThresholded(value: Array, amount: Array) -> Array:
    """Soft thresholding: the value moved towards 0 by an amount, at most to 0."""
    return np.sign(value) * np.maximum(np.abs(value) - amount, 0)


class Memory:
    """L-BFGS: the changes of the gradient along the last 11 steps (Nocedal and Wright, "Numerical Optimization", 2006)."""

    CAPACITY = 11

    def __init__(self) -> None:
        self.pairs: list[tuple[Array, Array, float]] = []

    def step(self, problem: Problem, point: Point, settings: Settings) -> Optional[Point]:
        direction = self._direction(point.gradient, problem.curvatures)
        if self.pairs and direction @ point.gradient >= 0:
            self.pairs = []
            direction = self._direction(point.gradient, problem.curvatures)
        following = _search(problem, point, direction, settings.step_size)
        if following is not None:
            change, turn = following.coefficients - point.coefficients, following.gradient - point.gradient
            product = float(change @ turn)
            if product > 1e-300 and product > 1e-16 * np.sqrt(float(turn @ turn)):
                self.pairs = [*self.pairs, (change, turn, product)][-self.CAPACITY:]
        return following

    def _direction(self, gradient: Array, curvatures: Array) -> Array:
        """The step that the memory suggests; without any pairs, the negative gradient scaled by the curvatures."""
        step, shares = -gradient, []
        for change, turn, product in reversed(self.pairs):
            shares.append(float(change @ step) / product)
            step -= shares[-1] * turn
        scale = 1.0
        if self.pairs:
            _, turn, product = self.pairs[-1]
            scale = product / float((turn ** 2 / curvatures).sum())
        step *= scale / curvatures
        for (change, turn, product), share in zip(self.pairs, reversed(shares)):
            step += (share - float(turn @ step) / product) * change
        return step


class Momentum:
    """Accelerated proximal gradients (Beck and Teboulle, 2009)."""

    def __init__(self, problem: Problem, start: Array, step_size: float) -> None:
        self.previous, self.momentum = start, 1.0
        self.curvature = float(problem.curvatures.max()) / step_size

    def step(self, problem: Problem, point: Point) -> Optional[Point]:
        old = point.coefficients
        momentum = (1 + np.sqrt(1 + 4 * self.momentum ** 2)) / 2
        share = (self.momentum - 1) / momentum
        for attempt in range(2):
            moved = share > 0 and attempt == 0
            origin = problem.at(old + share * (old - self.previous)) if moved else point
            for _ in range(60):
                candidate = problem.at(softThresholded(
                    origin.coefficients - origin.gradient / self.curvature, problem.l1 / self.curvature))
                change = candidate.coefficients - origin.coefficients
                bound = origin.smooth + float(change @ (origin.gradient + change * self.curvature / 2))
                if candidate.smooth > bound + 1e-14 * abs(bound):
                    self.curvature *= 2
                    continue
                if candidate.value > point.value:
                    break
                # A step against the momentum resets it (O'Donoghue and Candès, 2015).
                if -float(change @ (candidate.coefficients - old)) > 0:
                    momentum = 1.0
                self.momentum, self.previous = momentum, old
                self.curvature *= 0.95
                return candidate if (candidate.coefficients != old).any() else None
            momentum = 1.0
        return None


__all__ = ["Memory", "Momentum", "Point", "Problem", "Settings", "minimum", "newton_step", "penalized_step", "softThresholded"]
