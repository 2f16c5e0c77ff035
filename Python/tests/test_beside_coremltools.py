"""States, with a model that coremltools makes: a counter that adds its input up; and coremltools' own predict()."""
import pathlib

import numpy as np
import pytest

import swift_coreml

ct = pytest.importorskip("coremltools")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types

    @mb.program(
        input_specs=[mb.TensorSpec((2, 3), dtype=types.fp16), mb.StateTensorSpec((2, 3), dtype=types.fp16)],
        opset_version=ct.target.iOS18)
    def program(x, total):
        sum_ = mb.add(x=mb.read_state(input=total), y=x)
        return mb.coreml_update_state(state=total, value=sum_)
    model = ct.convert(program, convert_to="mlprogram", skip_model_load=True, minimum_deployment_target=ct.target.iOS18)
    target = tmp_path_factory.mktemp("states") / "Sum.mlpackage"
    model.save(str(target))
    return target


def test_states_are_kept_read_and_replaced(path):
    model = swift_coreml.Model(path)
    name = next(iter(model.states))
    assert model.states[name].shape == (2, 3) and model.states[name].dtype == np.float16
    first, second = model.make_state(), model.make_state()
    x = np.arange(6, dtype=np.float16).reshape(2, 3)
    output = next(iter(model.outputs))
    for turn in range(1, 4):
        assert np.array_equal(model.predict({"x": x}, state=first)[output], turn * x)
    assert np.array_equal(first[name], 3 * x) and not second[name].any() and list(first) == [name]
    first[name] = np.ones((2, 3), np.float32)
    assert np.array_equal(model.predict({"x": x}, state=first)[output], 1 + x)
    with pytest.raises(swift_coreml.FeatureError, match=r"\[2, 3\].*\[3\]"):
        first[name] = np.zeros(3, np.float16)
    for wrong in (lambda: first["other"], lambda: first.__setitem__("other", x)):
        with pytest.raises(swift_coreml.FeatureError, match="other"):
            wrong()
    with pytest.raises(swift_coreml.FeatureError, match="state"):
        model.predict({"x": x})


@pytest.mark.parametrize("file", ["Digits.mlpackage", "Digits.mlmodel"])
def test_the_answers_are_those_of_coremltools(file):
    from PIL import Image
    folder = pathlib.Path(__file__).parents[2] / "Tests" / "Fixtures" / "digits"
    ours, theirs = swift_coreml.Model(folder / file), ct.models.MLModel(str(folder / file))
    for digit in range(10):
        picture = Image.open(folder / "held-out" / f"{digit}-2.png")
        assert ours.predict({"image": picture}) == theirs.predict({"image": picture})
