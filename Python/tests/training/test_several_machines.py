"""Training on several machines: what workers do together equals local training, and what is wrong is said."""
import contextlib
import datetime
import json
import multiprocessing

import numpy
import pyarrow
import pytest

from swift_coreml import createml, descent, growing
from swift_coreml.createml import _native
from swift_coreml.errors import FeatureError

pytest.importorskip("xgboost", reason="the environment 'training' has it")

COUNT = 1200


def table():
    random = numpy.random.default_rng(3)
    town = random.choice(["Bern", "Oslo", "Rome", "Wien"], COUNT, p=[0.5, 0.3, 0.15, 0.05])
    year, size = random.normal(2000, 1, COUNT), random.exponential(3, COUNT)
    price = 3 * (year - 2000) + size + 2 * (town == "Rome") + random.normal(0, 1, COUNT)
    return pyarrow.table({
        "year": year, "town": town, "size": size, "fixed": numpy.full(COUNT, 7), "price": price, "dear": price > 5,
        "band": numpy.where(price < 4, "low", numpy.where(price < 7, "middle", "high"))})


FEATURES = ["year", "town", "size", "fixed"]


def planned(kind, target, rows, features=FEATURES, parameters=None, **options):
    return growing.Plan.chosen(
        kind, target, features, names=rows.column_names, type_of=lambda name: rows.schema.field(name).type,
        values=lambda name: [value for value in rows[name].unique().to_pylist() if value is not None],
        parameters=parameters or {}, **options)


def alone(plan, rows):
    return growing.answered([growing.work(rows.to_batches(300), plan, 0, lambda: contextlib.nullcontext({}))])


def worker(plan, rows, number, arguments, answers):
    try:
        answers.put(growing.work(rows.to_batches(), plan, number, lambda: contextlib.nullcontext(arguments)))
    except growing.WorkerError as error:
        answers.put(error)


def together(plan, rows):
    """The answers of two processes."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with growing.tracker(2, "127.0.0.1") as arguments:
        processes = [
            context.Process(target=worker, args=(plan, rows.slice(number * 500, 500 + number * 10 ** 6), number, arguments, answers))
            for number in range(2)]
        for process in processes:
            process.start()
        result = [answers.get(timeout=60) for _ in processes]
        for process in processes:
            process.join(60)
    return result


def same(metrics, others):
    """Whether metrics agree: counts exactly, numbers but for rounding."""
    assert metrics.keys() == others.keys()
    return all(
        metrics[name] == (others[name] if name in ("labels", "confusion", "examples") else pytest.approx(others[name], rel=1e-5))
        for name in metrics)


@pytest.mark.parametrize("parameters", [
    {}, {"feature_rescaling": False}, {"l1_penalty": 2.0}, {"l2_penalty": 0.0}, {"step_size": 0.5, "max_iterations": 40}])
@pytest.mark.parametrize("kind, target", [
    (createml.LinearRegressor, "price"), (createml.LogisticRegressionClassifier, "dear"),
    (createml.LogisticRegressionClassifier, "band")])
def test_linear_models_have_the_weights_of_local_training(kind, target, parameters):
    rows = table()
    # Both go on until they are at the minimum.
    parameters = {"max_iterations": 100, "convergence_threshold": 1e-9, **parameters}
    local = kind.train(rows, target, FEATURES, validation=None, progress=False, **parameters)
    plan = planned(kind, target, rows, parameters=parameters)
    model = plan.model(kind, alone(plan, rows))
    if target == "price":
        assert numpy.allclose(model.predict(rows), local.predict(rows), rtol=1e-6, atol=1e-6)
        assert model.training_metrics.root_mean_squared_error == pytest.approx(local.training_metrics.root_mean_squared_error)
    else:
        mine, its = (numpy.stack([numpy.asarray(column) for column in each.predict_probabilities(rows).columns]) for each in (model, local))
        assert numpy.allclose(mine, its, rtol=1e-6, atol=1e-6)
        assert model.classes == local.classes
        assert same(model.training_metrics, local.training_metrics)
    assert model.parameters == local.parameters and model.features == local.features


@pytest.mark.parametrize("parameters", [{}, {"l1_penalty": 2.0}])
def test_the_steps_for_many_coefficients_are_those_of_local_training(parameters):
    random = numpy.random.default_rng(5)
    names = [f"word{number:03}" for number in range(520)]
    words = numpy.concatenate([names, random.choice(names[:40], 4000)])
    size = random.normal(0, 1, len(words))
    rows = pyarrow.table({"word": words, "size": size, "large": size + (words < "word020") + random.normal(0, 1, len(words)) > 0})
    local = createml.LogisticRegressionClassifier.train(rows, "large", validation=None, progress=False, **parameters)
    plan = planned(createml.LogisticRegressionClassifier, "large", rows, ["word", "size"], parameters)
    model = plan.model(createml.LogisticRegressionClassifier, alone(plan, rows))
    mine, its = (numpy.asarray(each.predict_probabilities(rows)["true"]) for each in (model, local))
    assert numpy.allclose(mine, its, rtol=1e-6, atol=1e-6)


def test_two_workers_learn_what_one_learns_and_validate(tmp_path):
    rows = table()
    held = numpy.arange(COUNT) % 5 == 0
    rows = rows.append_column(growing.VALIDATES, pyarrow.array(held))
    for kind, target in (
            (createml.LogisticRegressionClassifier, "band"), (createml.BoostedTreeRegressor, "price"),
            (createml.BoostedTreeClassifier, "band")):
        plan = planned(kind, target, rows, workers=2, validates=True)
        one = plan.model(kind, alone(plan, rows))
        two = plan.model(kind, growing.answered(together(plan, rows)))
        for path, model in (("one.mlmodel", one), ("two.mlmodel", two)):
            model.save(tmp_path / path)
            for metrics, chosen in ((model.training_metrics, ~held), (model.validation_metrics, held)):
                assert same(metrics, model.evaluate(rows.filter(pyarrow.array(chosen))))
        assert type(two.training_metrics) is type(one.training_metrics)
        if kind is createml.LogisticRegressionClassifier:
            mine, its = (numpy.stack([numpy.asarray(column) for column in each.predict_probabilities(rows).columns]) for each in (one, two))
            assert numpy.allclose(mine, its, rtol=1e-9, atol=1e-9)


def test_early_stopping_keeps_the_best_round():
    rows = table()
    rows = rows.append_column(growing.VALIDATES, pyarrow.array(numpy.arange(COUNT) % 5 == 0))
    plan = planned(createml.BoostedTreeRegressor, "price", rows, validates=True, parameters={
        "early_stopping_rounds": 3, "max_iterations": 500, "step_size": 0.9})
    assert len(alone(plan, rows)["learned"]["trees"]) < 100


def test_what_is_wrong_with_rows_is_told_by_all_workers():
    rows = table()
    rows = rows.set_column(0, "year", pyarrow.array([float(year) for year in rows["year"].to_pylist()[:-1]] + [None]))
    plan = planned(createml.LinearRegressor, "price", rows, workers=2)
    with pytest.raises(FeatureError, match=r"worker 2 of 2, on .*: the column 'year' has rows without a number"):
        growing.answered(together(plan, rows))


def lists():
    return pyarrow.table({
        "sizes": [[1.0, 2.0]] * 2, "counts": pyarrow.array([[("a", 1.0)]] * 2, pyarrow.map_(pyarrow.string(), pyarrow.float64())),
        "moment": [datetime.datetime(2026, 1, 1)] * 2, "price": [1.0, 2.0]})


@pytest.mark.parametrize("changes, says", [
    ({"parameters": {"depth": 3}}, "no parameter 'depth'"),
    ({"kind": createml.RandomForestRegressor}, "not trained on several machines"),
    ({"target": "town", "features": ["size"]}, "LinearRegressor learns numbers"),
    ({"target": "dear", "features": ["size"]}, "LinearRegressor learns numbers"),
    ({"features": ["price"]}, "named twice"),
    ({"features": ["size", "size"]}, "named twice"),
    ({"features": []}, "no column beside"),
    ({"features": ["height"]}, "no column 'height'"),
    ({"workers": 0}, "at least 1"),
    ({"kind": createml.LogisticRegressionClassifier}, "classes of type float"),
    ({"parameters": {"session": "state"}}, "no sessions, so 'session'"),
    ({"parameters": {"progress": False}}, "no reports of progress, so 'progress'"),
    ({"features": ["sizes"], "rows": lists}, "'sizes' holds list.*columns of their own"),
    ({"features": ["counts"], "rows": lists}, "'counts' holds map.*columns of their own"),
    ({"features": ["moment"], "rows": lists}, "'moment' holds timestamp.*Leave it out"),
    ({"target": "sizes", "features": ["price"], "rows": lists}, "'sizes' holds list.*a target has"),
    ({"parameters": {"l2_penalty": -1.0}}, "l2_penalty is -1.0"),
    ({"kind": createml.BoostedTreeRegressor, "parameters": {"max_depth": -1}}, "max_depth"),
    ({"kind": createml.BoostedTreeRegressor, "parameters": {"early_stopping_rounds": 3}}, "validation"),
])
def test_plans_that_cannot_be_carried_out(changes, says):
    changes = {name: value() if name == "rows" else value for name, value in changes.items()}
    with pytest.raises(FeatureError, match=says):
        planned(**{"kind": createml.LinearRegressor, "target": "price", "rows": table(), **changes})


@pytest.mark.parametrize("column, values, says", [
    ("size", [1.0, numpy.inf], "infinite"), ("price", [1.0, None], "without a value"), ("price", [1.0, numpy.nan], "finite")])
def test_rows_that_are_not_learned_from(column, values, says):
    columns = {"size": [1.0, 2.0], "price": [1.0, 2.0], column: values}
    rows = pyarrow.table({name: pyarrow.array(each, from_pandas=False) for name, each in columns.items()})
    with pytest.raises(FeatureError, match=says):
        alone(planned(createml.BoostedTreeRegressor, "price", rows, ["size"]), rows)


@pytest.mark.parametrize("share, expected", [(None, None), (True, None), (0.2, (0.2, 42)), ((0.2, 7), (0.2, 7))])
def test_shares(share, expected):
    assert growing.share(share) == expected


def test_a_share_of_all_rows_is_refused():
    with pytest.raises(FeatureError, match="between 0 and 1"):
        growing.share(1.0)


def test_a_step_leaves_dependent_columns():
    columns = numpy.array([[1, 2, 2], [1, 0, 0], [1, 5, 5.0]])
    step = descent.newton_step(columns.T @ columns, -columns.T @ numpy.array([5, 1, 11.0]))
    assert numpy.allclose(step, [1, 2, 0])


WEIGHTS = {"target": "price", "features": [{"name": "size"}, {"name": "town", "categories": ["Oslo", "Rome"]}],
           "weights": [[2, 10, 20]], "offsets": [0.5]}


def fitted(kind=createml.LinearRegressor, **changes):
    return kind(_native.Handle(_native.call("trained_from_weights", json.dumps({**WEIGHTS, **changes}).encode())))


def test_weights_make_the_pipeline_of_local_training(tmp_path):
    rows = {"size": [1.0, 2.0], "town": ["Rome", "Wien"]}
    model = fitted()
    assert model.predict(rows) == [22.5, 4.5]
    model.save(tmp_path / "Fitted.mlmodel")
    assert createml.LinearRegressor.load(tmp_path / "Fitted.mlmodel").predict(rows) == [22.5, 4.5]
    three = fitted(createml.LogisticRegressionClassifier, integerLabels=[3, 5, 8], weights=[[1, 0, 0], [2, 0, 0]], offsets=[0, -1.5])
    assert three.predict({"size": [-1.0, 1.0, 9.0], "town": ["Rome"] * 3}) == [3, 5, 8]


@pytest.mark.parametrize("changes, says", [
    ({"weights": [[1, 2]]}, "2 weights for 3 columns"),
    ({"weights": []}, "0 rows of weights"),
    ({"offsets": []}, "0 offsets"),
    ({"textLabels": ["one"]}, "for 0 outputs"),
    ({"textLabels": []}, "for -1 outputs"),
    ({"features": 3}, None)])
def test_what_is_no_linear_model_is_refused(changes, says):
    with pytest.raises(createml.TrainingError, match=says):
        fitted(**changes)
