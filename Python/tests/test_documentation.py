"""The code of Documentation/Python.md runs; what needs Spark or Ray is run by Oracles/spark-and-ray/check."""
import pathlib
import re
import shutil

import handmade

ROOT = pathlib.Path(__file__).parents[2]


def test_the_page_runs(tmp_path, monkeypatch):
    digits = ROOT / "Tests" / "Fixtures" / "digits"
    shutil.copy(digits / "Digits.mlmodel", tmp_path)
    shutil.copytree(digits / "held-out", tmp_path / "held-out")
    handmade.linear(tmp_path / "Line.mlmodel", [[0.5, 1.0], [1.0, 0.0]], [0.0, 0.5], learns=True)
    handmade.tree_regressor(
        tmp_path / "Prices.mlmodel", [(0, 2.0, [100.0], (1, 80.0, [200.0], [300.0])), (1, 30.0, [-10.0], [10.0])],
        ["rooms", "area"])
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "Documentation" / "Python.md").read_text()
    blocks = [
        block for block in re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
        if "swift_coreml.spark" not in block and "swift_coreml.ray" not in block]
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, "Documentation/Python.md", "exec"), names)
