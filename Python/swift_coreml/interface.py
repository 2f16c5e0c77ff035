"""A model's inputs and outputs, as stated in its file."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .elements import NAMES, np


class Feature(NamedTuple):
    """An input, output or state of a model.

    What does not apply to the type is `None`.
    """

    name: str
    type: str
    """Core ML's name of the type: Int64, Double, String, Image, MultiArray, Dictionary, Sequence or State."""
    optional: bool
    """Whether a prediction may leave it out."""
    description: str
    """The model author's metadata."""
    shape: Optional[tuple[int, ...]] = None
    """The extents of an array, outermost axis first; the default ones where they are flexible, empty where none are
    stated."""
    element: Optional[str] = None
    """The name of the type of an array's elements: float64, float32, float16, int32 or int8."""
    shapes: Optional[tuple[tuple[int, ...], ...]] = None
    """The shapes that an array may have, where the model lists them."""
    ranges: Optional[tuple[tuple[int, Optional[int]], ...]] = None
    """The smallest and the largest extent of each axis, where the model gives ranges; `None` for no largest."""
    size: Optional[tuple[int, int]] = None
    """Width and height of an image, as Pillow has them; zeros where the model states none."""
    sizes: Optional[tuple[tuple[int, int], ...]] = None
    """The sizes that an image may have, where the model lists them."""
    mode: Optional[str] = None
    """Pillow's mode of an image: RGB, L, or F (half precision)."""
    key_type: Optional[str] = None
    """The type of a dictionary's keys or of a sequence's elements: String or Int64."""
    text: str = ""
    """The type with its constraints in words."""

    @property
    def dtype(self) -> Optional[np.dtype[Any]]:
        """NumPy's type of an array's elements."""
        return None if self.element is None else np.dtype(self.element)

    def __str__(self) -> str:
        return f"{self.name} : {self.text}"


def feature(entry: dict[str, Any]) -> Feature:
    """The feature that the library describes."""
    shape, shapes, ranges, sizes = (entry.get(name) for name in ("shape", "shapes", "ranges", "sizes"))
    return Feature(
        name=entry["name"], type=entry["type"], optional=entry["isOptional"], description=entry["summary"],
        shape=None if shape is None else tuple(shape), element=NAMES.get(entry.get("dataType", 0)),
        shapes=None if shapes is None else tuple(tuple(each) for each in shapes),
        ranges=None if ranges is None else tuple((low, high) for low, high in ranges),
        size=(entry["width"], entry["height"]) if "width" in entry else None,
        sizes=None if sizes is None else tuple((width, height) for width, height in sizes),
        mode=entry.get("color"), key_type=entry.get("keys"), text=entry["text"])


class Parameter(NamedTuple):
    """A parameter of an update, with its default and the values that the model allows."""

    name: str
    default: float
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    choices: Optional[tuple[float, ...]] = None


class Metadata(NamedTuple):
    """The author's metadata of the model; empty fields where the author gives none."""

    description: str
    version: str
    author: str
    license: str
    user_defined: dict[str, str]


class Interface:
    """All that a model's file states about its use."""

    def __init__(self, text: dict[str, Any]):
        def by_name(key: str) -> dict[str, Feature]:
            return {entry["name"]: feature(entry) for entry in text[key]}
        self.inputs, self.outputs, self.states = by_name("inputs"), by_name("outputs"), by_name("states")
        self.training_inputs = by_name("trainingInputs")
        self.metadata = Metadata(user_defined=text["userDefined"], **text["metadata"])
        self.class_labels: Optional[list[Any]] = text.get("stringLabels") or text.get("integerLabels")
        self.predicted_feature: Optional[str] = text.get("predictedFeature")
        self.predicted_probabilities: Optional[str] = text.get("predictedProbabilities")
        self.is_updatable: bool = text["isUpdatable"]
        self.prefers_batches: bool = text["prefersBatches"]
        self.parameters = {
            entry["name"]: Parameter(
                entry["name"], entry["value"], entry.get("minimum"), entry.get("maximum"),
                tuple(entry["choices"]) if entry.get("choices") else None)
            for entry in text["parameters"]}
