"""Tables of Arrow through a model, as Spark and Ray hand them over, and models on their way to other machines."""
import os
import pathlib

import numpy as np
import pytest

import handmade
import swift_coreml

pa = pytest.importorskip("pyarrow")

from swift_coreml.shipping import Package, opened, unpacked
from swift_coreml.tables import TablePredictor

DIGITS = pathlib.Path(__file__).parents[2] / "Tests" / "Fixtures" / "digits"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SWIFT_COREML_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def line(tmp_path):
    return swift_coreml.Model(handmade.linear(tmp_path / "Line.mlmodel", [[1.0, 2.0], [0.5, -1.0]], [0.0, 1.0]))


def test_rows_that_do_not_fit_are_reported_beside_the_answers(line):
    predictor = TablePredictor(line, prefix="answer_", error="wrong")
    table = pa.table({"x": [[1.0, 2.0], [3.0], None, [0.0, 1.0], [None, 1.0], [2.0, 0.0], [1.0] * 9]})
    predictor.check(table.column_names)
    assert [field.name for field in predictor.fields] == ["answer_y", "wrong"]
    answers, wrong = (column.to_pylist() for column in predictor.predict(table))
    for row, answer in zip(table.column("x").to_pylist(), answers):
        if row is not None and len(row) == 2 and None not in row:
            assert answer == [row[0] + 2 * row[1], 0.5 * row[0] - row[1] + 1]
    assert [text is None for text in wrong] == [True, False, False, True, True, True, False]
    assert np.isnan(answers[4]).any() and answers[1] is None and "x" in wrong[1] and "x" in wrong[2]


def test_pictures_columns_of_numbers_and_no_rows(line):
    model = swift_coreml.Model(DIGITS / "Digits.mlmodel")
    files = [(DIGITS / "held-out" / f"{digit}-0.png").read_bytes() for digit in range(4)]
    table = pa.table({"image": pa.array([files[0], b"damaged", None, files[3]], pa.binary())})
    predictor = TablePredictor(model)
    columns = dict(zip([field.name for field in predictor.fields], predictor.predict(table)))
    digits, probabilities, wrong = (columns[name].to_pylist() for name in ("digit", "probabilities", "error"))
    assert digits == ["0", None, None, "3"] and dict(probabilities[3])["3"] == max(dict(probabilities[3]).values())
    assert [text is None for text in wrong] == [True, False, False, True] and "Example" not in wrong[1] + wrong[2]
    predictor = TablePredictor(line, inputs={"x": ["a", "b"]})
    assert predictor.predict(pa.table({"a": [1, 0], "b": [0.5, 1]}))[0].to_pylist() == [[2.0, 1.0], [2.0, 0.0]]
    nothing = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.float64())})
    assert [len(column) for column in predictor.predict(nothing)] == [0, 0]


def test_columns_that_are_missing_or_in_the_way(line):
    for arguments, names, words in [
        ({}, ["z"], "no column 'x'.*inputs="), ({}, ["x", "y"], "'y' already"), ({}, ["x", "error"], "'error' already"),
        ({"inputs": {"x": ["a", "b"]}}, ["a"], "no column 'b'"), ({"inputs": {"q": "x"}}, ["x"], "no input 'q'")]:
        with pytest.raises(swift_coreml.FeatureError, match=words):
            TablePredictor(line, **arguments).check(names)


def test_a_host_unpacks_a_model_once(tmp_path, cache, line):
    package = Package.of(DIGITS / "Digits.mlpackage")
    assert package.digest == Package.of(DIGITS / "Digits.mlpackage").digest
    first = package.model()
    assert first.path.endswith(".mlmodelc") and first is package.model()
    assert [path.name for path in cache.iterdir()] == [package.digest]

    def never():
        raise AssertionError("the files are there")
    assert opened(never, package.digest, package.name, None, None) is first
    picture = {"image": str(DIGITS / "held-out" / "5-0.png")}
    assert first.predict(picture) == swift_coreml.Model(DIGITS / "Digits.mlpackage").predict(picture)


def test_files_that_were_changed_on_their_way_are_refused(tmp_path, cache):
    package = Package.of(DIGITS / "Digits.mlmodel")
    for data in (package.data[:-1], b"", package.data.replace(b"Digits", b"Dogits", 1)):
        with pytest.raises(swift_coreml.ModelFileError, match="checksum"):
            unpacked(lambda: data, package.digest, package.name)
    assert not [path for path in cache.iterdir() if path.name == package.digest]
    import hashlib
    import io
    import tarfile
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        entry = tarfile.TarInfo("../outside")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    data = target.getvalue()
    with pytest.raises(swift_coreml.ModelFileError, match="outside"):
        unpacked(lambda: data, hashlib.sha256(data).hexdigest(), "Evil.mlmodel")
    assert not (tmp_path / "outside").exists()
    os.chmod(cache, 0o777)
    with pytest.raises(swift_coreml.ModelFileError, match="SWIFT_COREML_CACHE"):
        package.model()
    with pytest.raises(swift_coreml.ModelFileError, match="nowhere"):
        Package.of("/nowhere/M.mlmodel")
