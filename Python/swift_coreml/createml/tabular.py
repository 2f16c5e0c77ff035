"""The tasks of Create ML on tables; written by scripts/generate/python-tasks from Create ML's own parameters."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Optional

from ._data import Data, Path
from ._model import TabularClassifier, TabularModel, Validation, _WITHOUT
from ._progress import Progress


class BoostedTreeClassifier(TabularClassifier):
    """A classifier by gradient-boosted trees.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> model = createml.BoostedTreeClassifier.train(data, target="kind", validation=None)
    >>> model.predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "BoostedTreeClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        step_size: float = 0.3,
        early_stopping_rounds: Optional[int] = None,
        row_subsample: float = 1.0,
        column_subsample: float = 1.0,
    ) -> BoostedTreeClassifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        step_size: the step size (learning rate).
        early_stopping_rounds: stop after this many rounds without a better validation score.
        row_subsample: the share of rows that each tree is trained on.
        column_subsample: the share of columns that each tree is trained on.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "max_iterations": max_iterations,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
                "step_size": step_size,
                "early_stopping_rounds": early_stopping_rounds,
                "row_subsample": row_subsample,
                "column_subsample": column_subsample,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> BoostedTreeClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class BoostedTreeRegressor(TabularModel):
    """A regressor by gradient-boosted trees.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 3.0, 4.0] * 10, "price": [10.0, 20.0, 30.0, 40.0] * 10}
    >>> model = createml.BoostedTreeRegressor.train(data, target="price", validation=None)
    >>> len(model.predict({"size": [1.0, 4.0]}))
    2
    """

    _task: ClassVar[str] = "BoostedTreeRegressor"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        step_size: float = 0.3,
        early_stopping_rounds: Optional[int] = None,
        row_subsample: float = 1.0,
        column_subsample: float = 1.0,
    ) -> BoostedTreeRegressor:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: numbers.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        step_size: the step size (learning rate).
        early_stopping_rounds: stop after this many rounds without a better validation score.
        row_subsample: the share of rows that each tree is trained on.
        column_subsample: the share of columns that each tree is trained on.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "max_iterations": max_iterations,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
                "step_size": step_size,
                "early_stopping_rounds": early_stopping_rounds,
                "row_subsample": row_subsample,
                "column_subsample": column_subsample,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> BoostedTreeRegressor:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class RandomForestClassifier(TabularClassifier):
    """A classifier by a random forest.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> model = createml.RandomForestClassifier.train(data, target="kind", validation=None)
    >>> model.predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "RandomForestClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        row_subsample: float = 0.8,
        column_subsample: float = 0.8,
    ) -> RandomForestClassifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        row_subsample: the share of rows that each tree is trained on.
        column_subsample: the share of columns that each tree is trained on.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "max_iterations": max_iterations,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
                "row_subsample": row_subsample,
                "column_subsample": column_subsample,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> RandomForestClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class RandomForestRegressor(TabularModel):
    """A regressor by a random forest.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 3.0, 4.0] * 10, "price": [10.0, 20.0, 30.0, 40.0] * 10}
    >>> model = createml.RandomForestRegressor.train(data, target="price", validation=None)
    >>> len(model.predict({"size": [1.0, 4.0]}))
    2
    """

    _task: ClassVar[str] = "RandomForestRegressor"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        max_iterations: int = 10,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
        row_subsample: float = 0.8,
        column_subsample: float = 0.8,
    ) -> RandomForestRegressor:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: numbers.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        row_subsample: the share of rows that each tree is trained on.
        column_subsample: the share of columns that each tree is trained on.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "max_iterations": max_iterations,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
                "row_subsample": row_subsample,
                "column_subsample": column_subsample,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> RandomForestRegressor:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class DecisionTreeClassifier(TabularClassifier):
    """A classifier by a decision tree.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> model = createml.DecisionTreeClassifier.train(data, target="kind", validation=None)
    >>> model.predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "DecisionTreeClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
    ) -> DecisionTreeClassifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> DecisionTreeClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class DecisionTreeRegressor(TabularModel):
    """A regressor by a decision tree.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 3.0, 4.0] * 10, "price": [10.0, 20.0, 30.0, 40.0] * 10}
    >>> model = createml.DecisionTreeRegressor.train(data, target="price", validation=None)
    >>> len(model.predict({"size": [1.0, 4.0]}))
    2
    """

    _task: ClassVar[str] = "DecisionTreeRegressor"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_depth: int = 6,
        min_loss_reduction: float = 0.0,
        min_child_weight: float = 0.1,
        random_seed: int = 42,
    ) -> DecisionTreeRegressor:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: numbers.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_depth: the maximum depth.
        min_loss_reduction: the minimum loss reduction of a split (gamma).
        min_child_weight: the minimum child weight on either side of a split.
        random_seed: the random seed.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_depth": max_depth,
                "min_loss_reduction": min_loss_reduction,
                "min_child_weight": min_child_weight,
                "random_seed": random_seed,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> DecisionTreeRegressor:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class LinearRegressor(TabularModel):
    """A regressor by a linear model.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 3.0, 4.0] * 10, "price": [10.0, 20.0, 30.0, 40.0] * 10}
    >>> model = createml.LinearRegressor.train(data, target="price", validation=None)
    >>> len(model.predict({"size": [1.0, 4.0]}))
    2
    """

    _task: ClassVar[str] = "LinearRegressor"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_iterations: int = 10,
        l1_penalty: float = 0.0,
        l2_penalty: float = 0.01,
        step_size: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
    ) -> LinearRegressor:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: numbers.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        l1_penalty: the L1 penalty.
        l2_penalty: the L2 penalty.
        step_size: the step size (learning rate).
        convergence_threshold: stop when an iteration improves the objective by no more than this.
        feature_rescaling: whether penalties apply to coefficients of rescaled columns.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_iterations": max_iterations,
                "l1_penalty": l1_penalty,
                "l2_penalty": l2_penalty,
                "step_size": step_size,
                "convergence_threshold": convergence_threshold,
                "feature_rescaling": feature_rescaling,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> LinearRegressor:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class LogisticRegressionClassifier(TabularClassifier):
    """A classifier by logistic regression.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> model = createml.LogisticRegressionClassifier.train(data, target="kind", validation=None)
    >>> model.predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "LogisticRegressionClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_iterations: int = 10,
        l1_penalty: float = 0.0,
        l2_penalty: float = 0.01,
        step_size: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
    ) -> LogisticRegressionClassifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        l1_penalty: the L1 penalty.
        l2_penalty: the L2 penalty.
        step_size: the step size (learning rate).
        convergence_threshold: stop when an iteration improves the objective by no more than this.
        feature_rescaling: whether penalties apply to coefficients of rescaled columns.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_iterations": max_iterations,
                "l1_penalty": l1_penalty,
                "l2_penalty": l2_penalty,
                "step_size": step_size,
                "convergence_threshold": convergence_threshold,
                "feature_rescaling": feature_rescaling,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> LogisticRegressionClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

class SupportVectorClassifier(TabularClassifier):
    """A classifier by a linear support vector machine.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> model = createml.SupportVectorClassifier.train(data, target="kind", validation=None)
    >>> model.predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "SupportVectorClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        validation: Validation = "auto",
        progress: Progress = "auto",
        max_iterations: int = 11,
        penalty: float = 1.0,
        convergence_threshold: float = 0.01,
        feature_rescaling: bool = True,
    ) -> SupportVectorClassifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        validation: the rows to validate on: "auto" for a part of the data, None, the share of the rows, (share, seed), or data.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_iterations: the maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.
        penalty: the penalty of misclassified examples (C).
        convergence_threshold: stop when an iteration improves the objective by no more than this.
        feature_rescaling: whether penalties apply to coefficients of rescaled columns.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            {
                "max_iterations": max_iterations,
                "penalty": penalty,
                "convergence_threshold": convergence_threshold,
                "feature_rescaling": feature_rescaling,
            },
            validation=validation, progress=progress)

class Classifier(TabularClassifier):
    """A classifier by the algorithm that does best on held-out rows.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 8.0, 9.0] * 10, "kind": ["a", "a", "b", "b"] * 10}
    >>> createml.Classifier.train(data, target="kind").predict({"size": [1.5, 8.5]})
    ['a', 'b']
    """

    _task: ClassVar[str] = "Classifier"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
    ) -> Classifier:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: texts, whole numbers or truth values.
        features: the names of the columns to predict from; all others by default.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            validation=_WITHOUT, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @property
    def algorithm(self) -> str:
        """The algorithm that was chosen."""
        return str(self._facts["algorithm"])

    @property
    def trials(self) -> list[dict[str, Any]]:
        """The algorithms that were tried, with their scores."""
        return list(self._facts.get("trials") or [])

class Regressor(TabularModel):
    """A regressor by the algorithm that does best on held-out rows.

    >>> from swift_coreml import createml
    >>> data = {"size": [1.0, 2.0, 3.0, 4.0] * 10, "price": [10.0, 20.0, 30.0, 40.0] * 10}
    >>> len(createml.Regressor.train(data, target="price").predict({"size": [1.0, 4.0]}))
    2
    """

    _task: ClassVar[str] = "Regressor"

    @classmethod
    def train(
        cls,
        data: Data,
        target: str,
        features: Optional[Sequence[str]] = None,
        *,
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
    ) -> Regressor:
        """Trains on the rows of a table.

        data: the rows, with a column for the target and one for each feature: a frame of pandas or polars, an Arrow table, a
            dictionary of columns, or the path of a .csv, .json, .parquet or .arrow file or of an SFrame.
        target: the name of the column to predict: numbers.
        features: the names of the columns to predict from; all others by default.
        session: a folder for checkpoints: training that was interrupted goes on when it is started again with the same data,
            parameters and folder.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        """
        return cls._train(
            data, {"target": target, "features": None if features is None else list(features)},
            validation=_WITHOUT, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @property
    def algorithm(self) -> str:
        """The algorithm that was chosen."""
        return str(self._facts["algorithm"])

    @property
    def trials(self) -> list[dict[str, Any]]:
        """The algorithms that were tried, with their scores."""
        return list(self._facts.get("trials") or [])
