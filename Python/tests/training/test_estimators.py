"""The estimators of scikit-learn: its own checks, and what its users do with estimators."""
import pickle

import numpy
import pytest
import sklearn.base
import sklearn.datasets
import sklearn.model_selection
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.utils.estimator_checks

import swift_coreml.sklearn
from swift_coreml.sklearn import BoostedTreeClassifier, LinearRegressor, LogisticRegressionClassifier

ESTIMATORS = [getattr(swift_coreml.sklearn, name) for name in swift_coreml.sklearn.__all__]


# scikit-learn skips these itself where an environment lacks what they need, or an estimator is not of their kind.
SKIPPED = {"check_array_api_input"}    # arrays of other libraries than NumPy, where SCIPY_ARRAY_API is set


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_scikit_learn_accepts_it(estimator):
    outcomes = sklearn.utils.estimator_checks.check_estimator(estimator(), on_fail=None, on_skip=None)
    failed = {outcome["check_name"]: repr(outcome["exception"]) for outcome in outcomes if outcome["status"] != "passed"}
    assert set(failed) <= SKIPPED, failed
    assert len(outcomes) > 40


def test_pipelines_searches_and_scores():
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    names = numpy.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), LogisticRegressionClassifier())
    assert sklearn.model_selection.cross_val_score(pipeline, X, names, cv=5).mean() > 0.9
    search = sklearn.model_selection.GridSearchCV(
        BoostedTreeClassifier(max_iterations=5), {"max_depth": [1, 3]}, cv=3, scoring="neg_log_loss")
    search.fit(X, names)
    assert search.best_estimator_.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert numpy.allclose(search.predict_proba(X).sum(axis=1), 1)


def test_a_copy_predicts_the_same_and_the_model_is_saved(tmp_path):
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    model = LinearRegressor(max_iterations=50).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.predict(X)).all()
    model.save(tmp_path / "m.mlmodel", author="Ada")
    assert swift_coreml.createml.LinearRegressor.load(tmp_path / "m.mlmodel").features == [f"x{i}" for i in range(10)]
    assert sklearn.base.clone(model).get_params() == model.get_params()


def test_missing_numbers():
    X = numpy.array([[1.0], [numpy.nan], [3.0], [4.0]] * 10)
    y = numpy.array([0, 1, 2, 2] * 10)
    assert (BoostedTreeClassifier(max_iterations=20).fit(X, y).predict(X) == y).all()
    with pytest.raises(ValueError, match="NaN"):
        LogisticRegressionClassifier().fit(X, y)
