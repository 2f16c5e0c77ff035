"""Arrays of the types that PyTorch and NumPy make reach models and states."""
import coremltools as ct
import numpy as np
import pytest
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types


@pytest.fixture(scope="module")
def embedding(tmp_path_factory):
    """y = table[ids], a row for each of two ids."""
    @mb.program(input_specs=[mb.TensorSpec((2,), types.int32)], opset_version=ct.target.iOS17)
    def program(ids):
        return mb.gather(x=np.arange(12, dtype=np.float32).reshape(4, 3), indices=ids, axis=0, name="y")
    path = str(tmp_path_factory.mktemp("models") / "Embedding.mlpackage")
    ct.convert(program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS17,
               compute_precision=ct.precision.FLOAT32).save(path)
    return ct.models.MLModel(path)


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    """sum += x; y = sum, with a state of float16."""
    @mb.program(input_specs=[mb.TensorSpec((2,), types.fp16), mb.StateTensorSpec((2,), types.fp16)],
                opset_version=ct.target.iOS18)
    def program(x, sum):
        total = mb.add(x=mb.read_state(input=sum), y=x)
        return mb.coreml_update_state(state=sum, value=total, name="y")
    path = str(tmp_path_factory.mktemp("models") / "Counter.mlpackage")
    ct.convert(program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18).save(path)
    return ct.models.MLModel(path)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint64, np.float16, np.float32])
def test_ids_of_any_type(embedding, dtype):
    answer = embedding.predict({"ids": np.array([3, 1], dtype)})["y"]
    assert np.array_equal(answer, [[9, 10, 11], [3, 4, 5]])


def test_ids_as_truth_values_and_lists(embedding):
    for ids in (np.array([True, False]), [1, 0]):       # coremltools makes an int64 array of the list
        assert np.array_equal(embedding.predict({"ids": ids})["y"], [[3, 4, 5], [0, 1, 2]])


def test_a_batch_of_ids(embedding):
    answers = embedding.predict([{"ids": np.array([0, row])} for row in range(4)])
    assert [answer["y"][1, 0] for answer in answers] == [0, 3, 6, 9]


def test_ids_beyond_int32_are_named(embedding):
    with pytest.raises(RuntimeError, match=r"'ids' is an array of int64 that holds 4294967296.*astype\(np.float64\)"):
        embedding.predict({"ids": np.array([0, 2 ** 32])})


def test_dropped_lists_are_named(embedding):
    proxy = embedding.get_compiled_model_path()
    model = ct.models.CompiledMLModel(proxy)                # does not make arrays of lists
    with pytest.raises(RuntimeError, match=r"pass np.array\(ids\)"):
        model.predict({"ids": [1, 0]})
    with pytest.raises(RuntimeError, match=r"pass np.array\(ids\)"):
        model.predict([{"ids": [1, 0]}, {"ids": np.array([1, 0])}])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.int32])
def test_states_are_written_and_read(counter, dtype):
    state = counter.make_state()
    state.write_state("sum", np.array([1, -2], dtype))
    value = state.read_state("sum")
    assert value.dtype == np.float32 and np.array_equal(value, [1, -2])
    answer = counter.predict({"x": np.array([0.5, 0.25], np.float16)}, state=state)["y"]
    assert np.array_equal(answer, [1.5, -1.75]) and np.array_equal(state.read_state("sum"), answer)


def test_a_float16_state_comes_back_bit_by_bit(counter):
    state = counter.make_state()
    for value in ([6e-8, -65504], [0.1, 3.14159], [np.inf, -0.0]):
        value = np.array(value, np.float16)
        state.write_state("sum", value)
        assert state.read_state("sum").astype(np.float16).tobytes() == value.tobytes()


@pytest.mark.parametrize("value, remedy", [
    ([1.0, 2.0], r"pass np.array\(value, np.float16\)"), (3.0, r"pass np.array"), (np.array([1j, 2]), r"pass sum.real"),
    (np.zeros(3, np.float16), r"state 'sum' has shape \[2\], the array \[3\]")])
def test_what_is_no_state_is_named(counter, value, remedy):
    state = counter.make_state()
    with pytest.raises(RuntimeError, match=remedy) as told:
        state.write_state("sum", value)
    assert "\n" not in str(told.value)
