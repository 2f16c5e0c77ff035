"""Answers the questions about the platform that stand between coremltools and a prediction.

coremltools asks `_is_macos()` and `_macos_version()` of `coremltools.models.utils` before it makes a state, takes
optimisation hints, compiles a model, or loads a compiled one, and when a prediction failed to load, where the answer
"no Mac" would hide the reason.  These two functions, and nothing else, are replaced in `coremltools.models`; what
coremltools knows of the platform elsewhere (`sys.platform`, `_deps._IS_MACOS`) stays as it is.
"""
import sys

RELEASE = (26, 0)
"""The release of macOS whose Core ML is offered here."""


def lift():
    """Replaces the two functions in the modules of `coremltools.models` that are loaded; safe to call again."""
    answers = {"_is_macos": lambda: True, "_macos_version": lambda: RELEASE}
    for name, module in list(sys.modules.items()):
        if module is not None and name.startswith("coremltools.models"):
            for function, answer in answers.items():
                if function in vars(module):
                    setattr(module, function, answer)
