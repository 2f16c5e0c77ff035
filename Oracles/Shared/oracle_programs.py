"""Programs of this project that oracles run; they are built first, because an older build would answer, too."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ["swift", "build", "-c", "release"]
TESTS = "swift-coremlPackageTests"


def build(product):
    """Builds a product of the package, its output to standard error; the folder of products."""
    subprocess.run([*BUILD, "--product", product], cwd=ROOT, check=True, stdout=sys.stderr)
    folder = subprocess.run([*BUILD, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(folder.stdout.strip())


def run_tests(name, **environment):
    """Runs the tests whose names contain `name`, their output to standard error; the exit status."""
    build(TESTS)
    return subprocess.run(
        ["swift", "test", "-c", "release", "--skip-build", "--filter", name], cwd=ROOT, stdout=sys.stderr,
        env={**os.environ, **environment}).returncode


class Runner:
    """A program below Oracles while it runs: a JSON line for each request, another for its answer."""

    def __init__(self, product, threads=None, arguments=()):
        environment = dict(os.environ) if threads is None else {**os.environ, "COREML_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [build(product) / product, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the runner stopped")
        return json.loads(line)
