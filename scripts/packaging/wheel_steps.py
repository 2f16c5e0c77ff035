"""wheel_steps.py: what scripts/checks/wheel-check does with the installed wheel; prints its findings as a line of JSON, its last.

Runs in a folder that it may fill, with no packages but coremltools, those that it depends on, and the wheel.
"""
import json
import pathlib
import platform
import statistics
import subprocess
import sys

FIRST = """
import time
started = time.perf_counter(), time.process_time()
{predict}
elapsed = time.perf_counter() - started[0], time.process_time() - started[1]
assert list(answer["y"]) == [7, -1], answer
print(*(seconds * 1000 for seconds in elapsed))
"""
WITH_NUMPY = """
import numpy
import swift_coreml
answer = swift_coreml.Model("one-layer.mlmodel").predict({"x": numpy.array([1, 2, 3], numpy.float32)})
"""
WITHOUT = """
import array
import swift_coreml
answer = swift_coreml.Model("one-layer.mlmodel").predict({"x": [1, 2, 3]}, outputs={"y": array.array("d", bytes(16))})
"""
STARTS = 11


def one_layer(updatable):
    """y = Wx + b, as coremltools builds it."""
    import numpy as np
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder, SgdParams

    builder = NeuralNetworkBuilder(
        [("x", datatypes.Array(3))], [("y", datatypes.Array(2))], disable_rank5_shape_mapping=True)
    builder.add_inner_product(
        "line", np.array([[1, 0, 2], [0, 1, -1]], np.float32), np.array([0, 0], np.float32), 3, 2, True, "x", "y")
    if updatable:
        builder.make_updatable(["line"])
        builder.set_mean_squared_error_loss("loss", ("y", datatypes.Array(2)))
        builder.set_sgd_optimizer(SgdParams(lr=0.2, batch=4))
        builder.set_epochs(20)
    return builder.spec


def predict():
    """coremltools' own predict(), of a file and of a compiled model."""
    import coremltools as ct
    import numpy as np

    ct.models.utils.save_spec(one_layer(False), "one-layer.mlmodel")
    model = ct.models.MLModel("one-layer.mlmodel")
    for x, expected in ([1, 2, 3], [7, -1]), ([0, -1, 0.5], [1, -1.5]):
        answer = model.predict({"x": np.array(x, np.float32)})["y"]
        assert np.array_equal(answer.ravel(), expected), answer
    compiled = ct.models.CompiledMLModel(ct.models.utils.compile_model("one-layer.mlmodel", "one-layer.mlmodelc"))
    answer = compiled.predict({"x": np.array([1, 2, 3], np.float32)})["y"]
    assert np.array_equal(answer.ravel(), [7, -1]), answer
    return "right"


def update():
    """An update with swift_coreml.Model, whose loss falls, and whose file coremltools predicts with alike."""
    import coremltools as ct
    import numpy as np
    import swift_coreml

    ct.models.utils.save_spec(one_layer(True), "updatable.mlmodel")
    examples = [
        {"x": np.array([a, b, c], np.float32), "y_true": np.array([a + b, c], np.float32)}
        for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    losses = []
    model = swift_coreml.Model("updatable.mlmodel").update(examples, progress=lambda event: losses.append(event.loss))
    assert len(losses) == 20 and losses[-1] < losses[0] / 4, losses
    model.save("updated.mlmodel")
    row = {"x": np.array([1, 1, 0], np.float32)}
    answer, reference = model.predict(row)["y"], ct.models.MLModel("updated.mlmodel").predict(row)["y"]
    assert np.array_equal(np.ravel(answer), np.ravel(reference)), (answer, reference)
    return "right"


def train():
    """A training with swift_coreml.createml, whose file coremltools predicts with alike."""
    import coremltools as ct
    from swift_coreml import createml

    data = {"petal": [1.0, 1.2, 1.1, 4.9, 5.1, 5.0] * 10, "kind": ["small", "small", "small", "large", "large", "large"] * 10}
    model = createml.DecisionTreeClassifier.train(data, target="kind", validation=None)
    assert model.predict({"petal": [1.0, 5.5]}) == ["small", "large"]
    model.save("trained.mlmodel")
    trained = ct.models.MLModel("trained.mlmodel")
    assert [trained.predict({"petal": petal})["kind"] for petal in (1.0, 5.5)] == ["small", "large"]
    return "right"


def steps():
    """The steps in their order."""
    yield from (predict, update, train, first, first_without_numpy)


def first():
    """The start of a prediction with NumPy's arrays."""
    return start(WITH_NUMPY)


def first_without_numpy():
    """The start of a prediction with a list and a buffer."""
    return start(WITHOUT)


def start(predict):
    """Milliseconds from Python's start to the first answer, import included: medians by the clock and of the processor, and the
    least of the processor."""
    program = FIRST.format(predict=predict)
    starts = [
        subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        for _ in range(STARTS)]
    clock, processor = (sorted(map(float, times)) for times in zip(*starts))
    return {
        "clock": round(statistics.median(clock)), "processor": round(statistics.median(processor)), "least": round(processor[0])}


def main():
    findings = {"python": platform.python_version(), "glibc": platform.libc_ver()[1]}
    for step in steps():
        findings[step.__name__] = step()
    print(json.dumps(findings))


if __name__ == "__main__":
    main()
