"""pytest plugin: lets coremltools' own tests run where there is no Mac, and writes down their outcomes.

Load it with `-p plugin` before any test module is imported.  The runtime itself comes from our wheel; what `gates`
answers are the questions of the tests alone.  Environment, all optional:

    COREML_CONFORMANCE_OUTCOMES   file that a JSON line for each test is appended to
    COREML_CONFORMANCE_COLLECTED  file for the names of all tests that were collected
    COREML_CONFORMANCE_SAMPLE     how many cases of each test function and backend run (0: all)
    COREML_CONFORMANCE_FRACTION   N: run an N-th of the cases, chosen by hash (0 or 1: all)
    COREML_CONFORMANCE_ONLY, COREML_CONFORMANCE_LEAVE_OUT   files of names: run only these; run all but these
"""
import gc
import hashlib
import json
import os
import random
import re
import sys
import zlib

import numpy
import pytest

if any(name.split(".")[0] == "coremltools" for name in sys.modules):
    raise pytest.UsageError("the conformance plugin must be loaded before coremltools is imported")

import gates


def setting(name):
    return os.environ.get("COREML_CONFORMANCE_" + name, "")


SAMPLE, FRACTION = int(setting("SAMPLE") or 0), int(setting("FRACTION") or 1)
OUTCOMES, COLLECTED = setting("OUTCOMES"), setting("COLLECTED")
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")

reached = set()
"""The calls that the running test has made to our module: "load", "predict"."""

started = [0]
"""How many tests have started."""


def noting(step, function):
    def noted(*arguments, **options):
        reached.add(step)
        return function(*arguments, **options)
    return noted


def note_predictions(module):
    proxy = module._MLModelProxy
    proxy.__init__ = noting("load", proxy.__init__)
    proxy.predict, proxy.batchPredict = noting("predict", proxy.predict), noting("predict", proxy.batchPredict)


gates.hooks.after["swift_coreml.proxies"] = note_predictions


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a second or so")


def stratum(name):
    """The test function, and the target, precision and front end that a case is for."""
    function = name.split("[", 1)[0]
    return function, *re.findall(
        r"neuralnetwork|mlprogram|fp16|fp32|AvailableTarget\.\w+|TorchFrontend\.\w+", name[len(function):])


def digest(name):
    return hashlib.md5(name.encode()).digest()


def names_in(path):
    with open(path) as file:
        return set(file.read().splitlines())


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        # Some ids hold the address of a function, which is another in every process.
        item._nodeid = re.sub(r" at 0x[0-9a-f]+", "", item.nodeid).replace("\n", " ")
    if COLLECTED and WORKER in ("", "gw0"):
        with open(COLLECTED, "w") as file:
            file.writelines(item.nodeid + "\n" for item in items)
    yield
    if SAMPLE:
        groups = {}
        for item in items:
            groups.setdefault(stratum(item.nodeid), []).append(item.nodeid)
        kept = {name for members in groups.values() for name in sorted(members, key=digest)[:SAMPLE]}
        items[:] = [item for item in items if item.nodeid in kept]
    if FRACTION > 1:
        items[:] = [item for item in items if int.from_bytes(digest(item.nodeid)[:8], "big") % FRACTION == 0]
    if setting("ONLY"):
        wanted = names_in(setting("ONLY"))
        items[:] = [item for item in items if item.nodeid in wanted]
    if setting("LEAVE_OUT"):
        done = names_in(setting("LEAVE_OUT"))
        items[:] = [item for item in items if item.nodeid not in done]


def freeze():
    """Takes what is alive out of the collector's sight: every conversion collects garbage, which is slow among the
    objects of thousands of tests."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish(session):
    freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Many tests draw their inputs at random: the same for a test at every run."""
    reached.clear()
    started[0] += 1
    if started[0] % 100 == 0:
        freeze()        # tests leave objects behind, too
    seed = zlib.crc32(item.nodeid.encode())
    random.seed(seed)
    numpy.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.reached = sorted(reached)


def write(entry):
    if OUTCOMES and not WORKER:
        with open(OUTCOMES, "a") as file:
            file.write(json.dumps(entry) + "\n")


def pytest_runtest_logreport(report):
    """Runs in the process that gathers the reports, so a worker that dies is written down too."""
    expected = hasattr(report, "wasxfail")
    if report.when == "call" or report.outcome == "failed" or (report.when == "setup" and report.skipped):
        write({
            "test": report.nodeid, "outcome": "skipped" if expected and report.skipped else report.outcome,
            "reached": getattr(report, "reached", []), "seconds": round(report.duration, 2), "why": reason(report)})


def reason(report):
    """The first words of a failure that say what happened."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:3])[:300] if lines else "no message"


def pytest_collectreport(report):
    if report.failed:
        write({
            "test": report.nodeid, "outcome": "failed", "reached": [], "seconds": 0,
            "why": "not collected: " + str(report.longrepr)[-200:]})
