"""Runs the Python of Documentation/PythonTraining.md, block after block, and the notebook of Python/examples."""
import os
import pathlib
import re
import tempfile

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[2]


def page():
    """Each block runs after those before it, in a folder of its own."""
    text = (ROOT / "Documentation" / "PythonTraining.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"PythonTraining.md, block {number + 1}", "exec"), names)
    print(f"{len(blocks)} blocks of PythonTraining.md ran")


def notebook():
    path = ROOT / "Python" / "examples" / "TrainFromPython.ipynb"
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert any("<svg" in str(output.get("data", {}).get("text/html", "")) for output in outputs), "the matrix is drawn"
    assert any("<progress" in str(output.get("data", {}).get("text/html", "")) for output in outputs), "progress is shown"
    print(f"{len(book.cells)} cells of {path.name} ran")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    page()
    notebook()
    os.chdir("/")
