"""Sends one model through our reader and writer and lets coremltools judge the result."""
import filecmp
import os
import pathlib
import shutil
import subprocess
import tempfile

TOOL = os.environ["COREML_TOOL"]


def difference(path):
    """The differences after the model at `path` was read and written again; empty if there are none."""
    path = pathlib.Path(path)
    scratch = pathlib.Path(tempfile.mkdtemp())
    try:
        result = scratch / ("out.mlpackage" if path.is_dir() else "out.mlmodel")
        run = subprocess.run([TOOL, "convert-wire", path, result], capture_output=True, text=True)
        if run.returncode:
            return (run.stderr or run.stdout).strip() or f"exit status {run.returncode}"
        return package_difference(path, result) if path.is_dir() else message_difference(path, result)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def message_difference(a, b):
    from coremltools.proto import Model_pb2

    before, after = Model_pb2.Model(), Model_pb2.Model()
    before.ParseFromString(pathlib.Path(a).read_bytes())
    after.ParseFromString(pathlib.Path(b).read_bytes())
    # Equal messages that hold a NaN are unequal, but their canonical bytes are not.
    if before == after or before.SerializeToString(deterministic=True) == after.SerializeToString(deterministic=True):
        return ""
    return "the messages differ"


def package_difference(a, b):
    from coremltools.libmodelpackage import ModelPackage

    if not ModelPackage.isValid(str(b)):
        return "coremltools finds the package invalid"
    before, after = (ModelPackage(str(package)).getRootModel().path() for package in (a, b))
    if found := message_difference(before, after):
        return found
    before, after = (pathlib.Path(root).parent / "weights" for root in (before, after))
    names = sorted(file.name for file in before.iterdir()) if before.is_dir() else []
    if names != (sorted(file.name for file in after.iterdir()) if after.is_dir() else []):
        return "the weight files have other names"
    for name in names:
        if not filecmp.cmp(before / name, after / name, shallow=False):
            return f"weights/{name} differs"
    return ""
