"""pytest plugin: lets coremltools' own tests run where there is no Mac, and writes down their outcomes.

Load it with `-p plugin` before any test module is imported.  The runtime itself comes from the installed wheel; what
is answered here are the questions of the tests alone.  COREML_CONFORMANCE_OUTCOMES names the file of outcomes,
COREML_CONFORMANCE_SAMPLE how many cases of each test function and backend run (0: all).
"""
import gc
import hashlib
import json
import os
import platform
import re
import sys

import pytest
from importhook import Hooks

if any(name.split(".")[0] == "coremltools" for name in sys.modules):
    raise pytest.UsageError("the conformance plugin must be loaded before coremltools is imported")

MACOS = (26, 0)
SAMPLE = int(os.environ.get("COREML_CONFORMANCE_SAMPLE", "0"))
OUTCOMES = os.environ.get("COREML_CONFORMANCE_OUTCOMES", "")

hooks = Hooks()


def answer_by_constant(module):
    module._IS_MACOS, module.MACOS_VERSION = True, MACOS


def answer_by_function(module):
    module._is_macos, module._macos_version = lambda: True, lambda: MACOS


hooks.after["coremltools._deps"] = answer_by_constant
hooks.after["coremltools.models.utils"] = answer_by_function
hooks.after["coremltools.test.optimize.torch.utils"] = answer_by_function


def darwin_while_importing(module):
    """For `from sys import platform`: only the import itself may see "darwin"."""
    real, sys.platform = sys.platform, "darwin"

    def undo():
        sys.platform = real
    return undo


hooks.before["coremltools.converters.mil.backend.nn.passes.test_mlmodel_passes"] = darwin_while_importing
hooks.install()

# "x86_64" skips what Intel Macs get wrong, "arm64" expects the failures of Apple's GPUs.
real_machine = platform.machine
platform.machine = lambda: (
    "generic" if sys._getframe(1).f_globals.get("__name__", "").startswith("coremltools.") else real_machine())


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a second or so")
    if OUTCOMES and not hasattr(config, "workerinput"):
        open(OUTCOMES, "w").close()


def stratum(item):
    """The test function, and the target, precision and front end that a case is for."""
    function = item.nodeid.split("[", 1)[0]
    return function, *re.findall(
        r"neuralnetwork|mlprogram|fp16|fp32|AvailableTarget\.\w+|TorchFrontend\.\w+", item.nodeid[len(function):])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    groups = {}
    for item in items:
        # Some ids hold the address of a function, which is another in every process.
        item._nodeid = re.sub(r" at 0x[0-9a-f]+", "", item.nodeid)
        groups.setdefault(stratum(item), []).append(item)
    if SAMPLE:
        kept = set()
        for members in groups.values():
            members.sort(key=lambda item: hashlib.md5(item.nodeid.encode()).digest())
            kept.update(id(item) for item in members[:SAMPLE])
        items[:] = [item for item in items if id(item) in kept]


def pytest_collection_finish(session):
    gc.collect()
    gc.freeze()         # every conversion collects garbage; with thousands of collected tests that is slow


def pytest_runtest_logreport(report):
    """Runs in the process that gathers the reports, so a worker that dies is written down too."""
    if not OUTCOMES or os.environ.get("PYTEST_XDIST_WORKER"):
        return
    expected = hasattr(report, "wasxfail")
    if report.when == "call" or report.outcome == "failed" or (report.when == "setup" and report.skipped):
        outcome = "skipped" if expected and report.skipped else report.outcome
        with open(OUTCOMES, "a") as file:
            file.write(json.dumps({"test": report.nodeid, "outcome": outcome, "why": reason(report)}) + "\n")


def reason(report):
    """The first words of a failure that say what happened."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:240] if lines else "no message"


def pytest_collectreport(report):
    if report.failed and OUTCOMES and not os.environ.get("PYTEST_XDIST_WORKER"):
        with open(OUTCOMES, "a") as file:
            file.write(json.dumps({
                "test": report.nodeid, "outcome": "failed", "why": "not collected: " + str(report.longrepr)[-200:]}) + "\n")
