"""Errors of models as exceptions: each message names the cause and says what to do."""
from __future__ import annotations

import re
from typing import Optional


class CoreMLError(RuntimeError):
    """A model cannot be loaded, used or updated; the base of all errors of this package."""

    code = 0
    """The code of Core ML's `MLModelError`."""

    @property
    def example(self) -> Optional[int]:
        """The number of the example of a batch that it is about, from 0; `None` where the message names none."""
        found = re.match(r"Example (\d+) of the batch: ", str(self))
        return int(found.group(1)) if found else None


class FeatureError(CoreMLError, ValueError):
    """A value does not fit the input, output or state that it is for, or is missing."""

    code = 1


class ModelFileError(CoreMLError):
    """A file cannot be read or written."""

    code = 3


class CustomCodeError(CoreMLError):
    """The model needs a layer or a model that an app supplies."""

    code = 4


class UpdateError(CoreMLError):
    """An update cannot be carried out, or was cancelled."""

    code = 6


class ParameterError(CoreMLError, ValueError):
    """A parameter is unknown, or its value is not allowed."""

    code = 7


class EncryptionError(CoreMLError):
    """The key of an encrypted model cannot be fetched, or does not open it."""

    code = 9


class PredictionCancelled(CoreMLError):
    """A prediction was cancelled while it ran."""

    code = 11


_CLASSES = {
    1: FeatureError, 3: ModelFileError, 4: CustomCodeError, 5: CustomCodeError, 6: UpdateError, 7: ParameterError,
    8: EncryptionError, 9: EncryptionError, 11: PredictionCancelled,
}


def error(text: str) -> CoreMLError:
    """The exception for a failure as the library reports it: a code, a colon, a message."""
    code, colon, message = text.partition(":")
    if not colon or not code.isdigit():
        return CoreMLError(text)
    return _CLASSES.get(int(code), CoreMLError)(message)
