"""`Model.update` trains like a plain implementation of gradient descent, tells its progress, and stops when told."""
import numpy as np
import pytest

import handmade
import swift_coreml
from swift_coreml import Model

WEIGHTS = np.array([[0.5, -1.0], [1.5, 0.25]])
BIAS = np.array([0.1, -0.2])
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(6, 2)).astype(np.float32)
Y = (X @ np.array([[1.0, 2.0], [-1.0, 0.5]]).T + [0.5, 0.0]).astype(np.float32)
EXAMPLES = [{"x": x, "y_true": y} for x, y in zip(X, Y)]


@pytest.fixture
def model(tmp_path):
    return Model(handmade.linear(tmp_path / "Line.mlmodel", WEIGHTS.tolist(), BIAS.tolist(), learns=True))


def descended(epochs, rate=0.1, size=2):
    """Gradient descent on the squared error, averaged over batch and outputs, in the order of the examples."""
    weights, bias, losses = WEIGHTS.copy(), BIAS.copy(), []
    for _ in range(epochs):
        total = []
        for start in range(0, len(X), size):
            x, y = X[start:start + size], Y[start:start + size]
            difference = x @ weights.T + bias - y
            total.append((difference ** 2).mean())
            gradient = 2 * difference / difference.size
            weights, bias = weights - rate * gradient.T @ x, bias - rate * gradient.sum(0)
        losses.append(np.mean(total))
    return weights, bias, losses


def test_an_update_is_gradient_descent(model, tmp_path):
    seen = []
    updated = model.update(EXAMPLES, progress=seen.append, events=["training_begin", "epoch_end", "mini_batch_end"])
    weights, bias, losses = descended(5)
    assert np.allclose(updated.predict({"x": [1, 2]})["y"], weights @ [1, 2] + bias, atol=1e-4)
    assert np.allclose(model.predict({"x": [1, 2]})["y"], WEIGHTS @ [1, 2] + BIAS, atol=1e-5)
    assert [event.name for event in seen[:4]] == ["training_begin"] + ["mini_batch_end"] * 3
    epochs = [event for event in seen if event.name == "epoch_end"]
    assert [event.epoch for event in epochs] == list(range(5))
    assert np.allclose([event.loss for event in epochs], losses, rtol=1e-3)
    assert epochs[0].parameters["learningRate"] == pytest.approx(0.1)
    for name in ("Updated.mlmodel", "Updated.mlmodelc"):
        updated.save(tmp_path / name)
        again = Model(tmp_path / name)
        assert np.array_equal(again.predict({"x": [1, 2]})["y"], updated.predict({"x": [1, 2]})["y"])
        assert again.is_updatable


def test_an_update_goes_on_from_an_update(model):
    twice = model.update(EXAMPLES, parameters={"epochs": 2}).update({"x": X, "y_true": Y}, parameters={"epochs": 3})
    weights, bias, _ = descended(5)
    assert np.allclose(twice.predict({"x": [1, 2]})["y"], weights @ [1, 2] + bias, atol=1e-4)


def test_progress_may_look_change_cancel_and_fail(model):
    snapshots = []

    def look(event):
        snapshots.append(event.model)
        if event.epoch == 1:
            event.change(learningRate=0.0)
    updated = model.update(EXAMPLES, progress=look)
    weights, bias, _ = descended(2)
    assert np.allclose(updated.predict({"x": [1, 2]})["y"], weights @ [1, 2] + bias, atol=1e-4)
    first_weights, first_bias, _ = descended(1)
    assert np.allclose(snapshots[0].predict({"x": [1, 2]})["y"], first_weights @ [1, 2] + first_bias, atol=1e-4)
    with pytest.raises(swift_coreml.UpdateError, match="cancel"):
        model.update(EXAMPLES, progress=lambda event: event.cancel())

    class Full(Exception):
        pass

    def fail(event):
        raise Full("the disk")
    with pytest.raises(Full, match="the disk"):
        model.update(EXAMPLES, progress=fail)
    with pytest.raises(KeyboardInterrupt):
        model.update(EXAMPLES, progress=lambda event: (_ for _ in ()).throw(KeyboardInterrupt()))
    late = []
    model.update(EXAMPLES, progress=late.append)
    with pytest.raises(swift_coreml.UpdateError):
        late[0].model
    assert np.allclose(model.predict({"x": [1, 2]})["y"], WEIGHTS @ [1, 2] + BIAS, atol=1e-5)


def test_what_an_update_does_not_take(model, tmp_path):
    plain = Model(handmade.linear(tmp_path / "Plain.mlmodel", WEIGHTS.tolist(), BIAS.tolist()))
    assert model.parameters["learningRate"].maximum == 1 and set(model.training_inputs) == {"x", "y_true"}
    for call, kind, words in [
        (lambda: plain.update(EXAMPLES), swift_coreml.UpdateError, "not updatable"),
        (lambda: plain.save(tmp_path / "Copy.mlmodel"), swift_coreml.UpdateError, "saved"),
        (lambda: model.update([]), swift_coreml.UpdateError, "no training data"),
        (lambda: model.update([{"x": X[0]}]), swift_coreml.FeatureError, "(?s)Example 0.*y_true"),
        (lambda: model.update([EXAMPLES[0], {"x": X[0], "y_true": [1, 2, 3]}]), swift_coreml.FeatureError, "Example 1"),
        (lambda: model.update([{"x": X[0], "z": 1}]), swift_coreml.FeatureError, "'z'"),
        (lambda: model.update([3]), swift_coreml.FeatureError, "Example 0.*int"),
        (lambda: model.update({"x": X, "y_true": Y[:2]}), swift_coreml.FeatureError, "'y_true': 2"),
        (lambda: model.update(EXAMPLES, parameters={"learningRate": 7.0}), swift_coreml.ParameterError, "learningRate"),
        (lambda: model.update(EXAMPLES, parameters={"speed": 7.0}), swift_coreml.ParameterError, "speed"),
        (lambda: model.update(EXAMPLES, events=["lunch"]), ValueError, "lunch"),
        (lambda: model.update(EXAMPLES).save(tmp_path / "Plain.mlmodel" / "M.mlmodel"), swift_coreml.ModelFileError, "Plain"),
    ]:
        with pytest.raises(kind, match=words):
            call()
