"""The programs below Tests that oracles drive: a JSON line for each request, another for its answer."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Runner:
    """A running program, which is built first: an older one would answer as well."""

    def __init__(self, product, threads=None):
        build = ["swift", "build", "-c", "release"]
        subprocess.run([*build, "--product", product], cwd=ROOT, check=True, stdout=sys.stderr)
        folder = subprocess.run([*build, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        environment = dict(os.environ) if threads is None else {**os.environ, "COREML_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [pathlib.Path(folder.stdout.strip()) / product], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the runner stopped")
        return json.loads(line)
