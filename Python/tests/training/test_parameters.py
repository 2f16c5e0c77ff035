"""Parameters of the Python classes: Create ML's, by name and default."""
import inspect
import os
import pathlib
import subprocess
import sys

import swift_coreml.sklearn
from swift_coreml import createml
from swift_coreml.createml import _native, _progress

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_every_task_has_its_parameters_and_defaults():
    assert set(_native.tasks()) == {
        name for name in createml.__all__ if hasattr(getattr(createml, name), "train")
        and name not in ("Model", "TabularModel", "TabularClassifier")}
    for name, entry in _native.tasks().items():
        signature = inspect.signature(getattr(createml, name).train).parameters
        for parameter in entry["parameters"]:
            python = _progress.snake(parameter["name"])
            assert python in signature, (name, python)
            default = signature[python].default
            assert (list(default) or None if isinstance(default, tuple) else default) == parameter.get("standard"), (name, python)


def test_the_generated_classes_are_current(tmp_path):
    (tmp_path / "createml").mkdir()
    (tmp_path / "sklearn").mkdir()
    subprocess.run([sys.executable, ROOT / "scripts" / "generate" / "python-tasks", tmp_path], check=True, env=os.environ)
    for name in ("createml/tabular.py", "sklearn/_estimators.py"):
        assert (tmp_path / name).read_text() == (ROOT / "Python" / "swift_coreml" / name).read_text(), name


def test_nothing_else_must_be_installed():
    code = ("import sys\nfor name in ('pandas', 'polars', 'pyarrow', 'sklearn', 'matplotlib', 'IPython', 'coremltools'):\n"
            "    sys.modules[name] = None\n"
            "from swift_coreml import createml\n"
            "data = {'x': [1.0, 2.0] * 20, 'y': ['a', 'b'] * 20}\n"
            "model = createml.DecisionTreeClassifier.train(data, 'y', validation=None)\n"
            "assert model.predict({'x': [2.0]}) == ['b']\nassert model.training_metrics.svg()\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
