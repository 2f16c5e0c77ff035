"""Estimators of scikit-learn over Create ML's tasks on tables."""
from __future__ import annotations

from typing import Any, ClassVar

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..createml import _data, tabular
from ..createml._model import TabularModel

_TARGET = "y"


def _columns(X: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """The columns under names that no frame has, as a fitted model may be given arrays."""
    return {f"x{index}": X[:, index] for index in range(X.shape[1])}


class _Estimator(BaseEstimator):
    """The common base of classifiers and regressors: validation of input, training, and a state that can be pickled."""

    _task: ClassVar[str] = ""
    _allows_missing: ClassVar[bool] = False

    def _finite(self) -> Any:
        return "allow-nan" if self._allows_missing else True

    def _trained(self, X: numpy.ndarray, y: numpy.ndarray) -> TabularModel:
        task: Any = getattr(tabular, self._task)
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "validation"}
        model: TabularModel = task.train(
            {**_columns(X), _TARGET: y}, _TARGET, validation=self.validation, progress=False, **parameters)
        return model

    def _checked(self, X: Any) -> numpy.ndarray:
        check_is_fitted(self)
        checked: numpy.ndarray = validate_data(
            self, X, reset=False, dtype=numpy.float64, ensure_all_finite=self._finite())
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing
        return tags

    def save(self, path: _data.Path, **metadata: Any) -> None:
        """Writes the fitted model to a `.mlmodel` or `.mlpackage`.

        Its inputs are `x0`, `x1`, … in the order of the columns; the classes of a classifier are their numbers in `classes_`.
        """
        check_is_fitted(self)
        self.model_.save(path, **metadata)


class Regressor(RegressorMixin, _Estimator):
    """A regressor; `model_` is the fitted model of `swift_coreml.createml`."""

    def fit(self, X: Any, y: Any) -> Any:
        """Trains on the rows of `X`: numbers, [rows, features], and their targets `y`."""
        X, y = validate_data(
            self, X, y, dtype=numpy.float64, ensure_all_finite=self._finite(), y_numeric=True)
        self.model_ = self._trained(X, numpy.asarray(y, dtype=numpy.float64))
        return self

    def predict(self, X: Any) -> numpy.ndarray:
        """The predicted targets of rows."""
        X = self._checked(X)
        return numpy.asarray(self.model_.predict(_columns(X)))


class Classifier(ClassifierMixin, _Estimator):
    """A classifier; `model_` is the fitted model of `swift_coreml.createml`, `classes_` are the classes."""

    _is_binary: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._is_binary
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Trains on the rows of `X`: numbers, [rows, features], and their classes `y`."""
        X, y = validate_data(self, X, y, dtype=numpy.float64, ensure_all_finite=self._finite())
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, numbers = numpy.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs examples of at least two classes; y has one class, "
                             f"{self.classes_[0]!r}")
        if self._is_binary and len(self.classes_) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        self.model_ = self._trained(X, numbers.astype(numpy.int64))
        return self

    def predict(self, X: Any) -> numpy.ndarray:
        """The predicted classes of rows."""
        X = self._checked(X)
        classes: numpy.ndarray = self.classes_[numpy.asarray(self.model_.predict(_columns(X)), dtype=numpy.int64)]
        return classes

    def predict_proba(self, X: Any) -> numpy.ndarray:
        """The probability of each class in the order of `classes_`: [rows, classes]."""
        X = self._checked(X)
        table = _data.table(_columns(X))
        columns = self.model_._predicted(table, probabilities=True).to_dict()
        # Rows that were set aside for validation may have held a class that the model does not know.
        result = numpy.zeros((len(X), len(self.classes_)))
        for name, values in columns.items():
            result[:, int(name)] = values
        return result


