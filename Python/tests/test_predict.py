"""coremltools predicts where there is no Mac, without a change of its files."""
import csv
import pathlib

import coremltools as ct
import numpy as np
import pytest
from PIL import Image

DIGITS = pathlib.Path(__file__).parents[2] / "Tests" / "Fixtures" / "digits"


@pytest.mark.parametrize("file", ["Digits.mlpackage", "Digits.mlmodel"])
def test_held_out_digits(file):
    model = ct.models.MLModel(str(DIGITS / file))
    with open(DIGITS / "held-out" / "labels.csv") as table:
        for row in csv.DictReader(table):
            answer = model.predict({"image": Image.open(DIGITS / "held-out" / row["file"])})
            assert answer["digit"] == row["predicted"], row["file"]
            assert answer["probabilities"][row["predicted"]] == pytest.approx(float(row["probability"]), abs=2e-3)


def test_a_batch_answers_like_its_rows():
    model = ct.models.MLModel(str(DIGITS / "Digits.mlmodel"))
    rows = [{"image": Image.open(DIGITS / "held-out" / f"{digit}-0.png")} for digit in range(10)]
    assert [answer["digit"] for answer in model.predict(rows)] == [model.predict(row)["digit"] for row in rows]


def test_compiled_models_load_and_predict(tmp_path):
    path = ct.models.utils.compile_model(str(DIGITS / "Digits.mlmodel"), str(tmp_path / "Digits.mlmodelc"))
    model = ct.models.CompiledMLModel(path or str(tmp_path / "Digits.mlmodelc"))
    assert model.predict({"image": Image.open(DIGITS / "held-out" / "7-0.png")})["digit"] == "7"


def test_wrong_inputs_are_named():
    model = ct.models.MLModel(str(DIGITS / "Digits.mlmodel"))
    with pytest.raises(KeyError, match="picture"):
        model.predict({"picture": np.zeros(3, np.float32)})


def test_a_broken_model_says_why(tmp_path):
    broken = tmp_path / "Broken.mlmodel"
    broken.write_bytes((DIGITS / "Digits.mlmodel").read_bytes()[:5000])
    proxy = __import__("coremltools.libcoremlpython", fromlist=["_MLModelProxy"])._MLModelProxy
    with pytest.raises(RuntimeError, match="Error compiling model"):
        proxy(str(broken), "ALL", "", {})


def test_the_oldest_version_that_a_specification_fits():
    from coremltools.libcoremlpython import _MLModelProxy
    specification = ct.utils.load_spec(str(DIGITS / "Digits.mlmodel"))
    kept = specification.SerializeToString()
    specification.specificationVersion = 8
    lowered = ct.proto.Model_pb2.Model.FromString(
        _MLModelProxy.auto_set_specification_version(specification.SerializeToString()))
    assert lowered.specificationVersion <= ct.proto.Model_pb2.Model.FromString(kept).specificationVersion
    with pytest.raises(TypeError):
        _MLModelProxy.auto_set_specification_version(specification)
    with pytest.raises(RuntimeError):
        _MLModelProxy.auto_set_specification_version(b"\xff\xff")


def test_a_compute_plan_divides_the_work():
    from coremltools.models.compute_plan import MLComputePlan
    model = ct.models.MLModel(str(DIGITS / "Digits.mlpackage"))
    plan = MLComputePlan.load_from_path(model.get_compiled_model_path())
    operations = plan.model_structure.program.functions["main"].block.operations
    costs = [plan.get_estimated_cost_for_mlprogram_operation(operation) for operation in operations]
    assert all((cost is None) == (part.operator_name == "const") for part, cost in zip(operations, costs))
    assert sum(cost.weight for cost in costs if cost is not None) == pytest.approx(1)
