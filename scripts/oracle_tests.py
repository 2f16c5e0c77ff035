"""Tests that oracles drive, built as `make test` builds them."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(name, **environment):
    """Builds the tests, runs those whose names contain `name`, their output to standard error; the exit status."""
    subprocess.run(["swift", "build", "-c", "release", "--build-tests"], cwd=ROOT, check=True, stdout=sys.stderr)
    return subprocess.run(
        ["swift", "test", "-c", "release", "--skip-build", "--filter", name], cwd=ROOT, stdout=sys.stderr,
        env={**os.environ, **environment}).returncode
