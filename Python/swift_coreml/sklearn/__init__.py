"""Create ML's tasks on tables as estimators of scikit-learn, which must be installed.

>>> import numpy
>>> from swift_coreml.sklearn import BoostedTreeClassifier
>>> X, y = numpy.arange(40.0).reshape(-1, 1), numpy.repeat(["low", "high"], 20)
>>> BoostedTreeClassifier(max_iterations=5).fit(X, y).predict([[3.0], [35.0]]).tolist()
['low', 'high']

Their parameters are those of `swift_coreml.createml`; `validation` is `None`, as scikit-learn holds rows out itself.
"""
from ._estimators import (
    BoostedTreeClassifier, BoostedTreeRegressor, DecisionTreeClassifier, DecisionTreeRegressor, LinearRegressor,
    LogisticRegressionClassifier, RandomForestClassifier, RandomForestRegressor, SupportVectorClassifier)

__all__ = [
    "BoostedTreeClassifier", "BoostedTreeRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor", "LinearRegressor",
    "LogisticRegressionClassifier", "RandomForestClassifier", "RandomForestRegressor", "SupportVectorClassifier"]
