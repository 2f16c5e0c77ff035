"""Tasks on tables: the same model from every library and from the command line; metrics, sessions, files."""
import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import threading

import numpy
import pandas
import polars
import pyarrow
import pytest

from swift_coreml import createml
from training_data import as_kind, flowers

CLASSIFIERS = [
    createml.BoostedTreeClassifier, createml.RandomForestClassifier, createml.DecisionTreeClassifier,
    createml.LogisticRegressionClassifier, createml.SupportVectorClassifier]
REGRESSORS = [
    createml.BoostedTreeRegressor, createml.RandomForestRegressor, createml.DecisionTreeRegressor, createml.LinearRegressor]
COREML = os.environ.get("COREML_TOOL", str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "release" / "coreml"))
FEATURES = ["length", "width", "count", "wild", "colour"]


def target_of(task):
    if task is createml.SupportVectorClassifier:
        return "large"    # it tells two classes apart
    return "kind" if task in CLASSIFIERS else "price"


def saved(model, folder, name="m"):
    path = folder / f"{name}.mlmodel"
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("task", CLASSIFIERS + REGRESSORS)
def test_every_library_gives_the_same_model(task, tmp_path):
    columns, target = flowers(), target_of(task)
    models, answers = set(), []
    for kind in ("dictionary", "numpy", "pandas", "polars", "pyarrow"):
        data = as_kind(kind, columns)
        model = task.train(data, target=target, features=FEATURES, progress=False)
        assert model.features == FEATURES and model.target == target
        models.add(saved(model, tmp_path))
        predicted = model.predict(data)
        types = {"dictionary": list, "numpy": numpy.ndarray, "pandas": pandas.Series, "polars": polars.Series,
                 "pyarrow": pyarrow.Array}
        assert isinstance(predicted, types[kind]), kind
        answers.append(predicted.to_pylist() if kind == "pyarrow" else list(predicted))
    assert len(models) == 1
    assert all(answer == answers[0] for answer in answers)
    metrics = model.evaluate(data)
    if task in CLASSIFIERS:
        truth = sum(a == b for a, b in zip(answers[0], columns[target])) / 600
        assert metrics["accuracy"] == pytest.approx(truth) and metrics.accuracy > 0.85
        assert metrics.confusion_matrix().sum() == 600 and metrics.labels == sorted(set(columns[target]))
    else:
        error = math.sqrt(sum((a - b) ** 2 for a, b in zip(answers[0], columns["price"])) / 600)
        assert metrics["root_mean_squared_error"] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("task, algorithm, options", [
    (createml.BoostedTreeClassifier, "boosted-tree", {}), (createml.BoostedTreeRegressor, "boosted-tree", {"max_depth": 3}),
    (createml.RandomForestClassifier, "random-forest", {}), (createml.DecisionTreeRegressor, "decision-tree", {}),
    (createml.LinearRegressor, "linear", {}), (createml.LogisticRegressionClassifier, "logistic", {}),
    (createml.SupportVectorClassifier, "support-vector", {"penalty": 2.0})])
@pytest.mark.skipif(not os.path.exists(COREML), reason="needs the command coreml: COREML_TOOL")
def test_the_command_line_gives_the_same_model(task, algorithm, options, tmp_path):
    target = target_of(task)
    frame = polars.DataFrame(flowers()).select([*FEATURES, target])
    frame.write_csv(tmp_path / "f.csv")
    flags = [text for name, value in options.items() for text in (f"--{ {'max_depth': 'depth'}.get(name, name)}", str(value))]
    subprocess.run(
        [COREML, "train", "tabular", tmp_path / "f.csv", "--target", target, "--algorithm", algorithm, *flags, "--json", "-o",
         tmp_path / "c.mlmodel"], check=True, stdout=subprocess.DEVNULL)
    ours = task.train(frame, target=target, progress=False, **options)
    theirs = task.load(tmp_path / "c.mlmodel")
    assert ours.predict(frame).to_list() == theirs.predict(frame).to_list()
    assert ours.predict(str(tmp_path / "f.csv")) == theirs.predict(str(tmp_path / "f.csv"))


def test_scikit_learn_and_xgboost_do_as_well():
    import sklearn.datasets
    import sklearn.linear_model
    import xgboost
    data = sklearn.datasets.load_breast_cancer(as_frame=True)
    train, test = data.frame.iloc[::2], data.frame.iloc[1::2]
    names = list(data.feature_names)
    model = createml.BoostedTreeClassifier.train(train, "target", validation=None, max_iterations=50, progress=False)
    judge = xgboost.XGBClassifier(n_estimators=50, max_depth=6, learning_rate=0.3, min_child_weight=0.1, tree_method="exact")
    judge.fit(train[names], train["target"])
    own = (model.predict(test).to_numpy() == test["target"].to_numpy()).mean()
    other = (judge.predict(test[names]) == test["target"].to_numpy()).mean()
    assert own >= other - 0.02
    own, other = model.predict_probabilities(test)["1"].to_numpy(), judge.predict_proba(test[names])[:, 1]
    assert numpy.abs(own - other).mean() < 0.02
    data = sklearn.datasets.load_diabetes(as_frame=True).frame
    linear = createml.LinearRegressor.train(data, "target", validation=None, l2_penalty=0.0, max_iterations=100, progress=False)
    judge = sklearn.linear_model.LinearRegression().fit(data.drop(columns="target"), data["target"])
    assert numpy.abs(linear.predict(data) - judge.predict(data.drop(columns="target"))).max() < 1.0


def test_missing_numbers_are_taken_by_trees_and_named_by_linear_models():
    data = {"x": [1.0, None, 3.0, 4.0] * 20, "y": [1.0, 2.0, 3.0, 4.0] * 20}
    assert createml.DecisionTreeRegressor.train(data, "y", validation=None).predict({"x": [None]}) == pytest.approx([2.0], abs=0.2)
    with pytest.raises(createml.TrainingError, match="'x' has no value in row 1"):
        createml.LinearRegressor.train(data, "y", validation=None)


def test_validation(kind):
    columns = flowers()
    data = as_kind(kind, columns)
    train = lambda **options: createml.DecisionTreeClassifier.train(data, "kind", FEATURES, progress=False, **options)
    assert train().validation_metrics["examples"] == 30
    assert not train(validation=None).validation_metrics.is_valid
    assert train(validation=0.5).validation_metrics["examples"] == 300
    assert train(validation=(0.25, 1)).validation_metrics["confusion"] != train(validation=(0.25, 2)).validation_metrics["confusion"]
    held = train(validation=as_kind(kind, flowers(50, seed=8)))
    assert held.validation_metrics["examples"] == 50 and held.training_metrics["examples"] == 600


def test_the_automatic_choice_names_what_it_tried():
    model = createml.Classifier.train(as_kind("polars", flowers(200)), "kind", FEATURES, progress=False)
    assert model.algorithm in {trial["algorithm"] for trial in model.trials} and len(model.trials) >= 3
    model = createml.Regressor.train(as_kind("pandas", flowers(200)), "price", FEATURES, progress=False)
    assert model.algorithm == "linear" or model.validation_metrics.root_mean_squared_error < 3


def test_progress_gets_every_iteration():
    reports = []
    createml.BoostedTreeClassifier.train(flowers(), "kind", FEATURES, max_iterations=5, progress=reports.append)
    trained = [report for report in reports if report["metrics"] and report["phase"] == "training"]
    assert [report["iteration"] for report in trained][-1] == 5
    assert {"loss", "validation_loss", "accuracy"} <= set(trained[-1]["metrics"])


def test_an_interrupted_session_goes_on(tmp_path):
    columns = flowers(3000)
    options = {"target": "price", "features": FEATURES, "max_iterations": 300, "max_depth": 10}
    whole = createml.BoostedTreeRegressor.train(columns, **options, progress=False)

    def interrupt(report):
        if report["iteration"] >= 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        createml.BoostedTreeRegressor.train(columns, **options, session=tmp_path / "s", progress=interrupt)
    assert (tmp_path / "s" / "session.json").exists()
    first = []
    resumed = createml.BoostedTreeRegressor.train(columns, **options, session=tmp_path / "s", progress=first.append)
    assert first[0]["iteration"] >= 5, "it goes on where it stopped"
    assert saved(resumed, tmp_path) == saved(whole, tmp_path)
    again = createml.BoostedTreeRegressor.resume(tmp_path / "s", progress=False)
    assert saved(again, tmp_path) == saved(whole, tmp_path)
    with pytest.raises(createml.TrainingError, match="maxDepth = 10, not 4"):
        createml.BoostedTreeRegressor.train(columns, **{**options, "max_depth": 4}, session=tmp_path / "s", progress=False)
    with pytest.raises(createml.TrainingError, match="not those that the session was begun with"):
        createml.BoostedTreeRegressor.train(flowers(3000, 9), **options, session=tmp_path / "s", progress=False)


def test_an_interrupt_without_progress_ends_training():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        createml.RandomForestRegressor.train(
            flowers(20000), "price", FEATURES, max_iterations=100_000, max_depth=12, progress=False)
    timer.join()


def test_models_are_saved_loaded_and_pickled(tmp_path):
    columns = flowers()
    for task in (createml.BoostedTreeClassifier, createml.LogisticRegressionClassifier, createml.LinearRegressor):
        model = task.train(columns, "price" if task is createml.LinearRegressor else "kind", FEATURES, progress=False)
        for name in ("m.mlmodel", "m.mlpackage"):
            model.save(tmp_path / name, author="Ada", description="Flowers", license="MIT", version="2")
            loaded = task.load(tmp_path / name)
            assert loaded.predict(columns).tolist() == model.predict(columns).tolist()
            assert loaded.features == FEATURES
    with pytest.raises(createml.TrainingError, match="no model of the kind of BoostedTreeClassifier"):
        createml.BoostedTreeClassifier.load(tmp_path / "m.mlmodel")
    with pytest.raises(createml.TrainingError, match="mlmodel"):
        model.save(tmp_path / "m.txt")
    copied = pickle.loads(pickle.dumps(model))
    assert copied.predict(columns).tolist() == model.predict(columns).tolist()


def test_coremltools_predicts_the_same(tmp_path):
    coremltools = pytest.importorskip("coremltools")
    columns = flowers()
    model = createml.BoostedTreeClassifier.train(columns, "kind", ["length", "width"], progress=False)
    model.save(tmp_path / "m.mlmodel")
    specification = coremltools.utils.load_spec(str(tmp_path / "m.mlmodel"))
    assert [feature.name for feature in specification.description.input] == ["length", "width"]
    assert specification.description.predictedFeatureName == "kind"


def test_metrics_are_dictionaries_and_pictures(tmp_path):
    metrics = createml.DecisionTreeClassifier.train(flowers(), "kind", FEATURES).training_metrics
    assert json.loads(json.dumps(metrics))["labels"] == ["daisy", "lily", "rose"]
    assert metrics._repr_html_().count("<svg") == 1
    metrics.save_picture(tmp_path / "m.svg", title="flowers & <trees>")
    import xml.etree.ElementTree
    assert xml.etree.ElementTree.parse(tmp_path / "m.svg").getroot().tag.endswith("svg")
    metrics.save_picture(tmp_path / "m.png")
    assert (tmp_path / "m.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert metrics.plot().get_xlabel() == "predicted"
    with pytest.raises(ValueError, match="'.bmp'"):
        metrics.save_picture(tmp_path / "m.bmp")
    with pytest.raises(AttributeError, match="there are examples"):
        metrics.nothing
    assert list(metrics)[:2] == ["examples", "accuracy"] and isinstance(metrics.accuracy, float)
    assert sorted(os.listdir(tmp_path)) == ["m.png", "m.svg"]


@pytest.mark.parametrize("options, words", [
    ({"target": "nothing"}, "no target column 'nothing'"), ({"features": ["nothing"]}, "no feature column 'nothing'"),
    ({"max_depth": 99}, "(?i)max_?depth"), ({"max_iterations": 0}, "maxIterations is 0"), ({"step_size": "fast"}, "stepSize.*'fast'"),
    ({"validation": 1.5}, "ratio of the split is 1.5"), ({"max_depth": 2.5}, "maxDepth.*2.5"),
    ({"session": "/proc/nowhere"}, "/proc/nowhere")])
def test_wrong_parameters_are_named(options, words):
    with pytest.raises(createml.TrainingError, match=words):
        createml.BoostedTreeClassifier.train(flowers(100), **{"target": "kind", "features": FEATURES, **options})


def test_boolean_and_integer_classes():
    data = {"x": [0.0, 1.0] * 40, "flag": [False, True] * 40, "number": [7, -3] * 40}
    model = createml.DecisionTreeClassifier.train(data, "flag", ["x"], validation=None)
    assert model.predict({"x": [1.0, 0.0]}) == ["true", "false"] and model.classes == ["false", "true"]
    model = createml.DecisionTreeClassifier.train(data, "number", ["x"], validation=None)
    assert model.predict({"x": numpy.array([1.0, 0.0])}).tolist() == [-3, 7] and model.classes == [-3, 7]
    assert list(model.predict_probabilities(polars.DataFrame({"x": [1.0]})).columns) == ["-3", "7"]
