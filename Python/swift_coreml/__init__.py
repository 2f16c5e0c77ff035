"""Core ML for Linux, as coremltools wants it: see `coremltools.libcoremlpython`."""
