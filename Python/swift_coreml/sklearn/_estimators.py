"""The estimators of scikit-learn; written by scripts/generate/python-tasks from Create ML's own parameters."""
from __future__ import annotations

from typing import Any, ClassVar, Optional

from . import _base


class BoostedTreeClassifier(_base.Classifier):
    """A classifier by gradient-boosted trees; see `swift_coreml.createml.BoostedTreeClassifier`."""

    _task: ClassVar[str] = "BoostedTreeClassifier"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        step_size: float = 0.3,
        early_stopping_rounds: Optional[int] = None,
        row_subsample: float = 1.0,
        column_subsample: float = 1.0,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_iterations = max_iterations
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.step_size = step_size
        self.early_stopping_rounds = early_stopping_rounds
        self.row_subsample = row_subsample
        self.column_subsample = column_subsample
        self.validation = validation

class BoostedTreeRegressor(_base.Regressor):
    """A regressor by gradient-boosted trees; see `swift_coreml.createml.BoostedTreeRegressor`."""

    _task: ClassVar[str] = "BoostedTreeRegressor"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        step_size: float = 0.3,
        early_stopping_rounds: Optional[int] = None,
        row_subsample: float = 1.0,
        column_subsample: float = 1.0,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_iterations = max_iterations
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.step_size = step_size
        self.early_stopping_rounds = early_stopping_rounds
        self.row_subsample = row_subsample
        self.column_subsample = column_subsample
        self.validation = validation

class RandomForestClassifier(_base.Classifier):
    """A classifier by a random forest; see `swift_coreml.createml.RandomForestClassifier`."""

    _task: ClassVar[str] = "RandomForestClassifier"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        row_subsample: float = 0.8,
        column_subsample: float = 0.8,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_iterations = max_iterations
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.row_subsample = row_subsample
        self.column_subsample = column_subsample
        self.validation = validation

class RandomForestRegressor(_base.Regressor):
    """A regressor by a random forest; see `swift_coreml.createml.RandomForestRegressor`."""

    _task: ClassVar[str] = "RandomForestRegressor"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        row_subsample: float = 0.8,
        column_subsample: float = 0.8,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_iterations = max_iterations
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.row_subsample = row_subsample
        self.column_subsample = column_subsample
        self.validation = validation

class DecisionTreeClassifier(_base.Classifier):
    """A classifier by a decision tree; see `swift_coreml.createml.DecisionTreeClassifier`."""

    _task: ClassVar[str] = "DecisionTreeClassifier"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.validation = validation

class DecisionTreeRegressor(_base.Regressor):
    """A regressor by a decision tree; see `swift_coreml.createml.DecisionTreeRegressor`."""

    _task: ClassVar[str] = "DecisionTreeRegressor"
    _allows_missing: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_depth: int = 6,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        validation: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_loss_reduction = min_loss_reduction
        self.min_child_weight = min_child_weight
        self.random_seed = random_seed
        self.validation = validation

class LinearRegressor(_base.Regressor):
    """A regressor by a linear model; see `swift_coreml.createml.LinearRegressor`."""

    _task: ClassVar[str] = "LinearRegressor"
    _allows_missing: ClassVar[bool] = False

    def __init__(
        self,
        *,
        max_iterations: int = 10,
        l1_penalty: float = 0.0,
        l2_penalty: float = 0.01,
        step_size: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
        validation: Any = None,
    ) -> None:
        self.max_iterations = max_iterations
        self.l1_penalty = l1_penalty
        self.l2_penalty = l2_penalty
        self.step_size = step_size
        self.convergence_threshold = convergence_threshold
        self.feature_rescaling = feature_rescaling
        self.validation = validation

class LogisticRegressionClassifier(_base.Classifier):
    """A classifier by logistic regression; see `swift_coreml.createml.LogisticRegressionClassifier`."""

    _task: ClassVar[str] = "LogisticRegressionClassifier"
    _allows_missing: ClassVar[bool] = False

    def __init__(
        self,
        *,
        max_iterations: int = 10,
        l1_penalty: float = 0.0,
        l2_penalty: float = 0.01,
        step_size: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
        validation: Any = None,
    ) -> None:
        self.max_iterations = max_iterations
        self.l1_penalty = l1_penalty
        self.l2_penalty = l2_penalty
        self.step_size = step_size
        self.convergence_threshold = convergence_threshold
        self.feature_rescaling = feature_rescaling
        self.validation = validation

class SupportVectorClassifier(_base.Classifier):
    """A classifier by a linear support vector machine; see `swift_coreml.createml.SupportVectorClassifier`."""

    _task: ClassVar[str] = "SupportVectorClassifier"
    _allows_missing: ClassVar[bool] = False
    _is_binary: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_iterations: int = 11,
        penalty: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
        validation: Any = None,
    ) -> None:
        self.max_iterations = max_iterations
        self.penalty = penalty
        self.convergence_threshold = convergence_threshold
        self.feature_rescaling = feature_rescaling
        self.validation = validation
