"""Core ML for Linux: `Model` loads, predicts and updates without coremltools; `coremltools.libcoremlpython` is what
coremltools' own `predict()` finds."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batches import Scores
    from .errors import (
        CoreMLError, CustomCodeError, EncryptionError, FeatureError, ModelFileError, ParameterError, PredictionCancelled,
        UpdateError)
    from .interface import Feature, Metadata, Parameter
    from .model import Model, Plan, State, Step, set_threads

_PLACES = {
    "Scores": "batches", "Feature": "interface", "Metadata": "interface", "Parameter": "interface", "Model": "model",
    "Plan": "model", "State": "model", "Step": "model", "set_threads": "model", "CoreMLError": "errors",
    "CustomCodeError": "errors", "EncryptionError": "errors", "FeatureError": "errors", "ModelFileError": "errors",
    "ParameterError": "errors", "PredictionCancelled": "errors", "UpdateError": "errors",
}

__all__ = [
    "CoreMLError", "CustomCodeError", "EncryptionError", "Feature", "FeatureError", "Metadata", "Model", "ModelFileError",
    "Parameter", "ParameterError", "Plan", "PredictionCancelled", "Scores", "State", "Step", "UpdateError", "set_threads"]


def __getattr__(name: str) -> Any:
    # The part that coremltools needs of this package is imported without the rest.
    if name in _PLACES:
        import importlib
        return getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
