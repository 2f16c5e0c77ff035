"""Create ML's tasks for Python: training from frames of pandas and polars, Arrow tables, dictionaries, images and files.

>>> from swift_coreml import createml
>>> data = {"petal": [1.0, 1.2, 1.1, 4.9, 5.1, 5.0] * 10, "kind": ["small", "small", "small", "large", "large", "large"] * 10}
>>> model = createml.DecisionTreeClassifier.train(data, target="kind", validation=None)
>>> model.predict({"petal": [1.0, 5.5]})
['small', 'large']
>>> model.training_metrics["accuracy"]
1.0

Names are Create ML's without its prefix, in Python's spelling: `MLBoostedTreeClassifier.ModelParameters.maxDepth` is
`BoostedTreeClassifier.train(max_depth=…)`.  `swift_coreml.sklearn` has the same algorithms as estimators of scikit-learn.
"""
from ._data import Table
from ._metrics import (
    ClassifierMetrics, DetectorMetrics, ImageClassifierMetrics, Metrics, RecommenderMetrics, RegressorMetrics)
from ._model import Model, TabularClassifier, TabularModel
from ._native import TrainingCancelled, TrainingError, TrainingWarning
from .pictures import ImageClassifier, ObjectDetector, StyleTransfer
from .recommender import Recommender
from .series import (
    ActionClassifier, ActivityClassifier, HandActionClassifier, HandPoseClassifier, SoundClassifier)
from .tabular import (
    BoostedTreeClassifier, BoostedTreeRegressor, Classifier, DecisionTreeClassifier, DecisionTreeRegressor, LinearRegressor,
    LogisticRegressionClassifier, RandomForestClassifier, RandomForestRegressor, Regressor, SupportVectorClassifier)
from .text import Gazetteer, TextClassifier, WordEmbedding, WordTagger

__all__ = [
    "ActionClassifier", "ActivityClassifier", "BoostedTreeClassifier", "BoostedTreeRegressor", "Classifier",
    "ClassifierMetrics", "DecisionTreeClassifier", "DecisionTreeRegressor", "DetectorMetrics", "Gazetteer",
    "HandActionClassifier", "HandPoseClassifier", "ImageClassifier", "ImageClassifierMetrics", "LinearRegressor",
    "LogisticRegressionClassifier", "Metrics", "Model", "ObjectDetector", "RandomForestClassifier", "RandomForestRegressor",
    "Recommender", "RecommenderMetrics", "Regressor", "RegressorMetrics", "SoundClassifier", "StyleTransfer",
    "SupportVectorClassifier", "Table", "TabularClassifier", "TabularModel", "TextClassifier", "TrainingCancelled",
    "TrainingError", "TrainingWarning", "WordEmbedding", "WordTagger"]
