"""Tests of `swift_coreml.createml`, which Oracles/python-training/check runs with pandas, polars and pyarrow."""
import pytest

pytest.importorskip("polars", reason="the environment 'training' has it")

from training_data import KINDS  # noqa: E402


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param
