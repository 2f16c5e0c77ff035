"""The native module of coremltools, supplied by swift-coreml.

Its classes are handed out one by one, because coremltools takes them while it is being imported itself: each time, the
modules that are there by then get their answers about the platform.
"""
from swift_coreml import gates, proxies


def __getattr__(name):
    value = getattr(proxies, name)
    gates.lift()
    return value
