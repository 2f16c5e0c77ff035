"""Replaces the tests' queries about the machine, so that they run without a Mac.

No file of coremltools is edited: each answer is put into a module right after (or right before) it executes.
COREML_CONFORMANCE_WHEEL names a folder into which our wheel was unpacked (`pip install --target`); without it the
wheel of the environment is tested.
"""
import importlib
import os
import platform
import sys

from importhook import Hooks

MACOS = (26, 0)
"""The release of macOS that is answered."""

WHEEL = os.environ.get("COREML_CONFORMANCE_WHEEL", "")

if WHEEL:
    # pytest puts the environment's own packages in front of all others as soon as it imports a test.
    importlib.import_module("swift_coreml")

hooks = Hooks()


def overlay(module):
    """The wheel's one file in coremltools' own folder is looked for in the unpacked wheel first."""
    if WHEEL:
        module.__path__.insert(0, os.path.join(WHEEL, "coremltools"))


hooks.before["coremltools"] = overlay


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


class DarwinSystem:
    """`sys`, but for the platform's name."""
    platform = "darwin"

    def __getattr__(self, name):
        return getattr(sys, name)


def darwin_inside(module):
    module.sys = DarwinSystem()


hooks.after["coremltools.test.optimize.torch.conversion.conversion_utils"] = darwin_inside

# "x86_64" skips what Intel Macs get wrong, "arm64" expects the failures of Apple's GPUs.
real_machine = platform.machine
platform.machine = lambda: (
    "generic" if sys._getframe(1).f_globals.get("__name__", "").startswith("coremltools.") else real_machine())


def alias(source):
    """The suite knows libsvm by the modules `svm` and `svmutil` of an older distribution."""
    def fill(module):
        names = vars(importlib.import_module(source))
        vars(module).update({name: value for name, value in names.items() if not name.startswith("__")})
    return fill


def unfold_enumerations(module):
    """Older releases of libsvm had the kinds of machines and kernels (C_SVC, LINEAR, …) as names of the module."""
    from libsvm import svm
    for members in (getattr(svm, "svm_forms", ()), getattr(svm, "kernel_names", ())):
        for member in members:
            setattr(svm, member.name, member)
            setattr(module, member.name, member)


def give_version(module):
    vars(module).setdefault("__version__", "3.37.0")


hooks.made["svm"], hooks.made["svmutil"] = alias("libsvm.svm"), alias("libsvm.svmutil")
hooks.after["libsvm"], hooks.after["libsvm.svmutil"] = give_version, unfold_enumerations


def replace_housing_data(module):
    """The suite downloads a table of 506 houses; a synthetic one of the same form replaces it."""
    from housing import housing
    module.load_boston = housing


hooks.after["coremltools.test.utils"] = replace_housing_data


def holds_half_precision(program):
    """Whether an input, a weight or another value of a program is of float16."""
    if not program:
        return False
    values = [value for function in program.functions.values() for value in function.inputs.values()]
    values += [value for function in program.functions.values() for step in function.operations for value in step.outputs]
    return any(value.is_tensor_or_scalar_of(dtype="fp16") for value in values)


def is_recurrent(program):
    """Whether one of a program's operations is a recurrence without gates."""
    return any(step.op_type == "rnn" for function in program.functions.values() for step in function.operations)


def allow_for_half_precision(module):
    """If a float32 model holds float16 values, the suite compares with values that are not rounded to float16, to 1e-5.
    No result can be so near.  One unit in the last place is allowed instead, and one of the largest value where large
    terms cancel.  Four are allowed where `rnn` carries what the rounding of inputs and weights cost from step to step:
    over 64 inputs the exact function of the rounded numbers is up to 3.3 units away."""
    import numpy
    compare = module.compare_backend

    def compared(mlmodel, input_key_values, expected_outputs, dtype="fp32", atol=1e-4, rtol=1e-5, **options):
        if dtype == "fp32" and holds_half_precision(getattr(mlmodel, "_mil_program", None)):
            step = 2 ** -10 * (4 if is_recurrent(mlmodel._mil_program) else 1)
            largest = [abs(value[numpy.isfinite(value)]).max(initial=0) for value in expected_outputs.values()
                       if isinstance(value, numpy.ndarray) and value.dtype.kind == "f"]
            atol, rtol = max(atol, step * float(max(largest, default=0))), max(rtol, step)
        return compare(mlmodel, input_key_values, expected_outputs, dtype=dtype, atol=atol, rtol=rtol, **options)

    module.compare_backend = compared


hooks.after["coremltools.converters.mil.testing_utils"] = allow_for_half_precision
hooks.install()
