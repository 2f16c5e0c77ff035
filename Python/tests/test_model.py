"""`swift_coreml.Model` predicts without coremltools: values of every type, batches, threads, buffers, asyncio."""
import array as plain
import asyncio
import doctest
import importlib
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import handmade
import swift_coreml
from swift_coreml import FeatureError, Model

Image = pytest.importorskip("PIL.Image")
DIGITS = pathlib.Path(__file__).parents[2] / "Tests" / "Fixtures" / "digits"
WEIGHTS = [[0.5, -1.0, 2.0, 0.25], [1.5, 0.0, -0.5, 1.0], [0.0, 3.0, 1.0, -2.0]]
BIAS = [0.5, -0.25, 1.0]


@pytest.fixture
def line(tmp_path):
    return Model(handmade.linear(tmp_path / "Line.mlmodel", WEIGHTS, BIAS))


@pytest.fixture
def everything(tmp_path):
    return Model(handmade.identity(tmp_path / "Everything.mlmodel"))


def expected(x):
    return np.asarray(x, np.float64) @ np.array(WEIGHTS).T + BIAS


@pytest.mark.parametrize("module", ["model"])
def test_examples_in_docstrings(module, monkeypatch):
    monkeypatch.chdir(DIGITS)
    before = swift_coreml.set_threads(None)
    result = doctest.testmod(importlib.import_module("swift_coreml." + module))
    assert swift_coreml.set_threads(None) == before
    assert result.attempted > 5 and result.failed == 0


def test_the_interface(line, everything):
    assert line.inputs["x"].shape == (4,) and line.inputs["x"].dtype == np.float32
    assert line.outputs["y"].shape == (3,) and not line.inputs["x"].optional
    assert line.metadata.author == "A. Author" and line.metadata.user_defined == {"key": "value"}
    assert line.metadata.version == "1.2" and line.inputs["x"].description == "about x"
    assert not line.is_updatable and line.class_labels is None
    features = everything.inputs
    assert [feature.type for feature in features.values()] == [
        "Int64", "Double", "String", "MultiArray", "Image", "Image", "Dictionary", "Dictionary", "Sequence", "Sequence"]
    assert all(feature.optional for feature in features.values())
    assert features["picture"].size == (5, 4) and features["picture"].mode == "RGB" and features["grey"].mode == "L"
    assert features["names"].key_type == "String" and features["steps"].key_type == "Int64"
    digits = Model(DIGITS / "Digits.mlmodel")
    assert digits.class_labels == [str(digit) for digit in range(10)] and digits.predicted_feature == "digit"
    assert "image" in repr(digits)


def whole(**values):
    """A value for each input of `everything`."""
    grey = np.zeros((4, 5), np.uint8)
    return {
        "integer": 1, "number": 2.0, "text": "a", "array": np.zeros((2, 3)), "picture": np.dstack([grey] * 3), "grey": grey,
        "names": {}, "numbers": {}, "words": [], "steps": [], **values}


def test_values_of_every_type_come_back(everything):
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    given = {
        "integer": -(1 << 63), "number": 0.1, "text": "naïve 🌍\0x", "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "picture": Image.fromarray(pixels), "grey": pixels[..., 0], "names": {"b": 2.5, "a": 1, "": 3},
        "numbers": {7: 0.5, -1: 2.0}, "words": ["x", "", "é"], "steps": [3, -5, 1 << 62]}
    answer = everything.predict(given)
    assert answer["integer"] == -(1 << 63) and answer["number"] == 0.1 and answer["text"] == "naïve 🌍\0x"
    assert answer["array"].dtype == np.float32 and np.array_equal(answer["array"], given["array"])
    assert answer["picture"].mode == "RGB" and np.array_equal(np.asarray(answer["picture"]), pixels)
    assert answer["grey"].mode == "L" and np.array_equal(np.asarray(answer["grey"]), pixels[..., 0])
    assert answer["names"] == {"b": 2.5, "a": 1.0, "": 3.0} and answer["numbers"] == {7: 0.5, -1: 2.0}
    assert answer["words"] == ["x", "", "é"] and answer["steps"] == [3, -5, 1 << 62]
    again = everything.predict({**given, "names": {"c": 1.0, "a": 4.0}, "numbers": {}, "words": [], "steps": []})
    assert again["names"] == {"c": 1.0, "a": 4.0} and again["numbers"] == {} and again["words"] == []


def test_none_stands_for_no_value(everything):
    with pytest.raises(FeatureError, match="'number' is missing"):
        everything.predict({**whole(), "number": None})


@pytest.mark.parametrize("x", [
    [1, 2, 3, 4], np.array([1, 2, 3, 4]), np.array([1, 2, 3, 4], np.float64), np.array([1, 2, 3, 4], ">f4"),
    np.arange(1, 9, dtype=np.float32)[::2] / 2 + 0.5, np.array([1, 2, 3, 4], np.uint8),
    np.frombuffer(np.array([1, 2, 3, 4], np.float32).tobytes(), np.float32)])
def test_arrays_of_every_make(line, x):
    for _ in range(3):
        assert np.allclose(line.predict({"x": x})["y"], expected(x), atol=1e-5)


def test_answers_are_arrays_of_their_own(line):
    first = line.predict({"x": np.float32([1, 0, 0, 0])})["y"]
    kept = first.copy()
    for value in range(5):
        line.predict({"x": np.full(4, value, np.float32)})
    assert np.array_equal(first, kept) and first.dtype == np.float32


def test_wrong_values_are_named(line, everything):
    for features, words in [
        ({"x": np.zeros(5, np.float32)}, "x.*5.*4"), ({}, "x.*no value"), ({"y": 1}, "no input 'y'.*x"),
        ({"x": "text"}, "'x'.*str"), ({"x": None}, "x"), ({"x": np.zeros(4, complex)}, "complex128"),
        ({"x": [1, "a", 2, 3]}, "'x'"), ({"x": np.full(4, 1 << 40)}, "int32"), ({"x": np.array(["a"] * 4)}, "<U1"),
        ({"x": [[1, 2], [3]]}, "'x'"), ({"x": np.zeros((0,), np.float32)}, "x"), ({"x": 3.0}, "x"),
        ({"x": np.zeros((1,) * 40, np.float32)}, "x"),
    ]:
        with pytest.raises(FeatureError, match="(?s)" + words):
            line.predict(features)
        assert np.allclose(line.predict({"x": [1, 2, 3, 4]})["y"], expected([1, 2, 3, 4]))
    for name, value, words in [
        ("integer", 1.5, "int"), ("integer", 1 << 63, "64 bits"), ("integer", "1", "str"), ("number", "1", "str"),
        ("number", 10 ** 400, "double"), ("text", 3, "int"), ("text", "\ud800", "surrogate"),
        ("picture", np.zeros((4, 5, 2), np.uint8), r"\(4, 5, 2\)"), ("picture", np.zeros((9, 5, 3), np.uint8), "5 × 9"),
        ("picture", np.zeros((0, 0, 3), np.uint8), "0 × 0"), ("picture", b"no picture", "picture"), ("picture", b"", "picture"),
        ("picture", "/nowhere/at/all.png", "nowhere"), ("picture", Image.new("CMYK", (5, 4)), "CMYK"),
        ("picture", 3, "int"), ("names", [1], "list"), ("names", {1: 2.0}, "1"), ("names", {"a": "b"}, "str"),
        ("numbers", {"a": 1.0}, "'a'"), ("numbers", {True: 1.0}, "True"), ("words", "text", "str"), ("words", [1], "int"),
        ("steps", ["a"], "str"), ("steps", 3, "int")]:
        with pytest.raises(swift_coreml.CoreMLError, match=words) as caught:
            everything.predict({name: value})
        assert name in str(caught.value)


def test_what_is_no_dictionary_and_no_state(line):
    class Graph:
        shape = (4,)

        def __array__(self, *_, **__):
            raise RuntimeError("call detach() first")
    for arguments, words in [
        (([1, 2, 3, 4],), "dict.*list.*x"), (("x",), "dict.*str"), ((None,), "NoneType"), (({"x": Graph()},), "detach")]:
        with pytest.raises(FeatureError, match=words):
            line.predict(*arguments)
    with pytest.raises(FeatureError, match="make_state"):
        line.predict({"x": [1, 2, 3, 4]}, state=3)
    assert not line.states and not line.make_state()
    assert np.allclose(line.predict({"x": [1, 2, 3, 4]}, state=line.make_state())["y"], expected([1, 2, 3, 4]))


def test_models_that_cannot_be_loaded(tmp_path):
    with pytest.raises(swift_coreml.ModelFileError, match="nothing.mlmodel"):
        Model(tmp_path / "nothing.mlmodel")
    whole = (DIGITS / "Digits.mlmodel").read_bytes()
    for count in (0, 1, 100, 5000, len(whole) - 1):
        (tmp_path / "Cut.mlmodel").write_bytes(whole[:count])
        with pytest.raises(swift_coreml.CoreMLError, match="Cut.mlmodel"):
            Model(tmp_path / "Cut.mlmodel").predict({"image": np.zeros((28, 28), np.uint8)})
    for bad in (DIGITS.parent / "FailCases").glob("*.mlmodel"):
        with pytest.raises(swift_coreml.CoreMLError):
            model = Model(bad)
            model.predict({name: 0 for name in model.inputs})
    with pytest.raises(swift_coreml.ParameterError, match="depth"):
        Model(DIGITS / "Digits.mlmodel", parameters={"depth": 3})
    with pytest.raises(swift_coreml.CoreMLError, match="other"):
        Model(DIGITS / "Digits.mlpackage", function="other")


def test_low_precision():
    path, given = DIGITS / "Digits.mlpackage", {"image": DIGITS / "held-out" / "7-0.png"}
    low, full = Model(path, precision="low"), Model(path)
    assert low.predict(given)["digit"] == full.predict(given)["digit"] == "7"
    again = pickle.loads(pickle.dumps(low))
    assert again.predict(given)["probabilities"] == low.predict(given)["probabilities"]
    with pytest.raises(ValueError, match="'half'"):
        Model(path, precision="half")


@pytest.mark.parametrize("file", ["Digits.mlpackage", "Digits.mlmodel"])
def test_pictures_of_every_make(file):
    model, path = Model(DIGITS / file), DIGITS / "held-out" / "7-0.png"
    picture = Image.open(path)
    answers = [model.predict({"image": each}) for each in (
        picture, np.asarray(picture), path, str(path), path.read_bytes(), bytearray(path.read_bytes()),
        np.asarray(picture)[..., None])]
    for answer in answers:
        assert answer["digit"] == "7" and answer["probabilities"] == answers[0]["probabilities"]
    assert sum(answers[0]["probabilities"].values()) == pytest.approx(1, abs=1e-2)


def test_buffers_for_outputs(line):
    x = np.float32([1, 2, 3, 4])
    exact, doubles, strided = np.empty(3, np.float32), np.empty(3, np.float64), np.zeros(6, np.float32)[::2]
    for _ in range(3):
        for buffer in (exact, doubles, strided):
            buffer[...] = -1
            assert line.predict({"x": x}, outputs={"y": buffer})["y"] is buffer
            assert np.allclose(buffer, expected(x))
    assert line.predict({"x": x})["y"] is not exact
    other = plain.array("d", bytes(24))
    assert line.predict({"x": x}, outputs={"y": other})["y"] is other and np.allclose(other, expected(x))
    read_only = np.empty(3, np.float32)
    read_only.flags.writeable = False
    for outputs, words in [
        ({"y": np.empty(4, np.float32)}, r"\[4\].*\[3\]"), ({"z": exact}, "'z'.*'y'"), ({"y": [1, 2, 3]}, "y"),
        ({"y": read_only}, "y"), ({"y": np.empty((3, 1))}, r"\(3, 1\)"), ({"y": bytes(12)}, "'y'"),
        ({"y": plain.array("f", bytes(16))}, r"\[4\].*\[3\]"), ({"y": memoryview(plain.array("f", bytes(12)))[::-1]}, "'y'"),
        ({"y": plain.array("d", bytes(16))}, r"\(2,\)"), ({"y": plain.array("f")}, r"\(0,\)")]:
        with pytest.raises(FeatureError, match=words):
            line.predict({"x": x}, outputs=outputs)
    assert np.allclose(line.predict({"x": x})["y"], expected(x))


def test_buffers_and_values_need_no_numpy(tmp_path):
    handmade.linear(tmp_path / "Line.mlmodel", WEIGHTS, BIAS)
    forest(tmp_path)
    program = """
import array, sys
import swift_coreml
line = swift_coreml.Model("Line.mlmodel")
plain = array.array("f", [1, 2, 3, 4])
for x in ([1, 2, 3, 4], [1.0, 2, 3.0, 4], plain, array.array("d", plain), array.array("i", [1, 2, 3, 4]), memoryview(plain),
          memoryview(plain.tobytes()).cast("f")):
    for y in (array.array("f", bytes(12)), memoryview(bytearray(12)).cast("f")):
        assert line.predict({"x": x}, outputs={"y": y})["y"] is y
        assert all(abs(found - right) < 1e-5 for found, right in zip(y.tolist(), WANTED)), (x, y)
answer = swift_coreml.Model("Forest.mlmodel").predict({"a": 0.25, "b": 1})
assert answer["kind"] == "x" and list(answer["probability"]) == ["x", "y", "z"]
assert "numpy" not in sys.modules
""".replace("WANTED", str(expected([1, 2, 3, 4]).tolist()))
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, env=environment)


def test_shapes_may_change_from_call_to_call(tmp_path):
    model = Model(handmade.linear(tmp_path / "Rows.mlmodel", WEIGHTS, BIAS, ranges=[(1, 64), (4, 4)]))
    assert model.inputs["x"].ranges == ((1, 64), (4, 4))
    generator = np.random.default_rng(0)
    for count in (1, 3, 3, 64, 2, 64):
        x = generator.normal(size=(count, 4)).astype(np.float32)
        assert np.allclose(model.predict({"x": x})["y"], expected(x), atol=1e-5)
    with pytest.raises(FeatureError, match="65"):
        model.predict({"x": np.zeros((65, 4), np.float32)})


def forest(tmp_path):
    trees = [(0, 0.5, [1.0, 0.0, 0.0], (1, 2.0, [0.0, 2.0, 0.0], [0.0, 0.0, 3.0])), (1, 1.0, [0.5, 0.0, 0.25], [0.0] * 3)]
    return Model(handmade.tree_classifier(tmp_path / "Forest.mlmodel", trees, ["a", "b"], ["x", "y", "z"]))


def test_batches_answer_like_their_examples(tmp_path, line, everything):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(50, 4)).astype(np.float32)
    rows = line.predict_batch([{"x": row} for row in x])
    # Products of several rows may add their terms in another order.
    assert all(np.allclose(row["y"], line.predict({"x": each})["y"], rtol=1e-5, atol=1e-6) for row, each in zip(rows, x))
    assert np.array_equal(line.predict_batch({"x": x})["y"], np.stack([row["y"] for row in rows]))
    trees = forest(tmp_path)
    table = {"a": generator.uniform(0, 1, 200), "b": generator.uniform(0, 3, 200)}
    columns = trees.predict_batch(table)
    singles = [trees.predict({"a": a, "b": b}) for a, b in zip(table["a"], table["b"])]
    assert columns["kind"] == [single["kind"] for single in singles] and len(set(columns["kind"])) == 3
    assert list(columns["probability"]) == [single["probability"] for single in singles]
    assert columns["probability"].values.shape == (200, 3) and columns["probability"].labels == ["x", "y", "z"]
    assert columns["probability"][3:5][1] == singles[4]["probability"]
    assert trees.predict_batch([dict(zip(table, row)) for row in zip(*table.values())]) == singles
    assert line.predict_batch([]) == [] and len(trees.predict_batch({"a": [], "b": []})["kind"]) == 0
    values = [whole(words=["b"]), whole(number=2.0, names={"c": 1.0})]
    answers = everything.predict_batch(values)
    assert answers[0]["text"] == "a" and answers[0]["words"] == ["b"] and answers[1]["names"] == {"c": 1.0}
    pictures = {name: [value] * 8 for name, value in whole().items()}
    pictures.update(grey=[np.full((4, 5), value, np.uint8) for value in range(8)], names=[{"a": n} for n in range(8)])
    answers = everything.predict_batch(pictures)
    assert [np.asarray(picture)[0, 0] for picture in answers["grey"]] == list(range(8))
    assert answers["names"][5] == {"a": 5.0}


def test_a_batch_outlives_its_answers(tmp_path):
    trees = forest(tmp_path)
    values = trees.predict_batch({"a": np.linspace(0, 1, 1000), "b": np.full(1000, 0.5)})["probability"].values
    kept = values.copy()
    for _ in range(20):
        trees.predict_batch({"a": np.linspace(1, 0, 1000), "b": np.full(1000, 2.5)})
    assert np.array_equal(values, kept)


def test_frames_are_batches(tmp_path):
    trees = forest(tmp_path)
    table = {"a": [0.1, None, 0.9], "b": [0.5, 2.5, 1.5]}
    wanted = trees.predict_batch({"a": np.array([0.1, np.nan, 0.9]), "b": table["b"]})["kind"]
    assert trees.predict_batch(table)["kind"] == wanted
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert trees.predict_batch(pandas.DataFrame(table))["kind"] == wanted
    assert trees.predict_batch(arrow.table(table))["kind"] == wanted
    assert trees.predict_batch(arrow.RecordBatch.from_pydict(table))["kind"] == wanted


def test_wrong_batches_are_named(tmp_path, line, everything):
    trees = forest(tmp_path)
    for model, batch, words in [
        (line, [{"x": np.zeros(4)}, {"x": np.zeros(5)}], "(?i)example 1.*"), (line, [{"x": np.zeros(4)}, {}], "(?i)example 1"),
        (line, [{"x": np.zeros(4)}, 3], "Example 1.*int"), (line, [{"z": 1}], "Example 0.*'z'"), (line, 3, "int"),
        (line, "text", "str"), (line, {"x": 3}, "'x'.*int"), (trees, {"a": "text", "b": "text"}, "'a'.*str"), (line, {"x": np.zeros((2, 5), np.float32)}, "x"), (trees, {"a": [1.0], "b": [1.0, 2.0]}, "'a': 1"),
        (trees, {"a": [1.0]}, "b"), (trees, {"a": [1.0], "b": ["x"]}, "'b'"), (trees, {"a": [1.0], "b": [[1, 2]]}, "'b'"),
        (trees, {"a": [1.0], "c": [1.0]}, "'c'"), (everything, {"integer": [1, 2.5]}, "Example 1.*2.5"),
        (everything, {"integer": [1, None]}, "Example 1"), (everything, {"text": ["a", None]}, "Example 1.*text"),
        (everything, {"integer": [float("nan")]}, "nan"), (everything, {"integer": np.array([1 << 63], np.uint64)}, "64 bits"),
        (everything, {"array": [np.zeros((2, 3)), np.zeros((3, 2))]}, "Example 1"),
        (everything, {"grey": [np.zeros((4, 5), np.uint8), b"x"]}, "(?i)image")]:
        with pytest.raises(swift_coreml.CoreMLError, match="(?s)" + words):
            model.predict_batch(batch)


def test_threads_share_a_model(line):
    failures = []

    def work(seed):
        generator = np.random.default_rng(seed)
        try:
            for _ in range(300):
                x = generator.normal(size=4).astype(np.float32)
                assert np.allclose(line.predict({"x": x})["y"], expected(x), atol=1e-4)
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_asyncio(line):
    x = np.float32([[1, 2, 3, 4], [4, 3, 2, 1]])

    async def both():
        answers = await asyncio.gather(*[line.predict_async({"x": row}) for row in x])
        batch = await line.predict_batch_async({"x": x})
        with pytest.raises(FeatureError):
            await line.predict_async({"x": 3.0})
        return answers, batch
    answers, batch = asyncio.run(both())
    assert np.allclose([answer["y"] for answer in answers], expected(x)) and np.allclose(batch["y"], expected(x))


def test_a_task_that_is_cancelled_stops_its_batch(tmp_path):
    model = Model(DIGITS / "Digits.mlmodel")
    picture = np.zeros((28, 28), np.uint8)

    async def cancelled():
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def examples():
            loop.call_soon_threadsafe(begun.set)
            for _ in range(30000):
                yield {"image": picture}
        task = asyncio.ensure_future(model.predict_batch_async(examples()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    asyncio.run(cancelled())
    assert model.predict({"image": picture})["digit"] in model.class_labels


def test_a_cancelled_prediction_says_so(line):
    from swift_coreml import native
    from swift_coreml.frames import Frame
    cancellation = native.Handle(native.call("cancellation_new"))
    frame = Frame(line._model, line._interface)
    x = np.zeros(4, np.float32)
    frame.predict({"x": x}, None, None, cancellation.address)
    native.call("cancellation_cancel", cancellation.address)
    with pytest.raises(swift_coreml.PredictionCancelled):
        frame.predict({"x": x}, None, None, cancellation.address)


def test_models_are_pickled_by_their_path(line):
    x = np.float32([1, 2, 3, 4])
    assert np.array_equal(pickle.loads(pickle.dumps(line)).predict({"x": x})["y"], line.predict({"x": x})["y"])


def test_plan_and_profile(tmp_path, line):
    steps = line.plan().steps
    assert steps and all(step.milliseconds is None and step.operation for step in steps)
    profile = Model(DIGITS / "Digits.mlmodel").profile({"image": np.zeros((28, 28), np.uint8)}, runs=3)
    assert any("conv" in step.operation for step in profile.steps) and profile.milliseconds > 0
    trees = forest(tmp_path)
    assert trees.plan().steps[0].operation and trees.profile({"a": 1.0, "b": 2.0}).milliseconds > 0
    with pytest.raises(FeatureError):
        line.profile({"x": np.zeros(5, np.float32)})
    with pytest.raises(ValueError):
        line.profile(runs=0)


def test_nothing_of_coremltools_is_loaded():
    code = ("import sys, swift_coreml; swift_coreml.Model(sys.argv[1]).predict({'image': sys.argv[2]}); "
            "print([name for name in sys.modules if name.split('.')[0] in ('coremltools', 'PIL', 'asyncio_')])")
    answer = subprocess.run(
        [sys.executable, "-c", code, DIGITS / "Digits.mlmodel", DIGITS / "held-out" / "1-0.png"], check=True,
        stdout=subprocess.PIPE, text=True, env=os.environ)
    assert answer.stdout.strip() == "[]"
