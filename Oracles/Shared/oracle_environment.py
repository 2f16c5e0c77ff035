"""The Python environments of oracles."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STARTED = "COREML_ORACLE_STARTED"


def enter(name, threads=None):
    """Starts the script anew with the Python that `Oracles/Shared/environment NAME` makes, unless that runs it.

    To be called before anything is imported that is not Python's own; `threads` are those of numerical libraries.
    """
    if os.environ.get(STARTED) == name:
        return
    found = subprocess.run([ROOT / "Oracles" / "Shared" / "environment", name], stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit(f"{sys.argv[0]} needs what `Oracles/Shared/environment {name}` could not install (see above)")
    os.environ[STARTED] = name
    if threads is not None:
        for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
            os.environ[f"{library}_NUM_THREADS"] = str(threads)
    python = f"{found.stdout.strip()}/bin/python"
    os.execv(python, [python, *sys.argv])
