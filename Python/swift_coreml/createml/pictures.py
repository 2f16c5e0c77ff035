"""The tasks of Create ML on images."""
from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Optional, TypeVar, Union

from . import _arrow, _data, _metrics, _native, _pictures, _progress
from ._data import Data, Path, Table
from ._model import Model, Validation, validation_options
from ._native import TrainingWarning
from ._pictures import Files, Picture
from ._progress import Progress

Trained = TypeVar("Trained", bound="_PictureModel")


class _PictureModel(Model):
    @classmethod
    def _fitted(
        cls: type[Trained],
        files: Files,
        options: dict[str, Any],
        table: Optional[Table],
        validation: Optional[Table],
        parameters: dict[str, Any],
        session: Optional[Path],
        checkpoint_interval: int,
        progress: Progress,
    ) -> Trained:
        options = {name: value for name, value in options.items() if value is not None}
        options["parameters"] = {_progress.camel(name): value for name, value in parameters.items() if value is not None}
        if session is not None:
            options["session"] = os.fspath(session)
            options["checkpointInterval"] = checkpoint_interval
        model = cls._start(options, table, validation, progress)
        for part in (model._facts, model._facts.get("training"), model._facts.get("validation")):
            for name in ("skipped", "misclassified"):
                files.named((part or {}).get(name))
        return model

    def _compared(self, files: Files, options: dict[str, Any], table: Optional[Table]) -> _metrics.Metrics:
        answer = self._measured(table, options)
        for name in ("skipped", "misclassified"):
            files.named(answer.get(name))
        return _metrics.metrics(answer)

    @property
    def skipped_images(self) -> list[dict[str, Any]]:
        """The images that training left out: `image`, its path or row, and the `reason`."""
        return list(self._facts.get("skipped") or [])


class ImageClassifier(_PictureModel):
    """A classifier of images.

    >>> import numpy
    >>> from swift_coreml import createml
    >>> random = numpy.random.default_rng(1)
    >>> def picture(horizontal):
    ...     stripes = numpy.tile(numpy.arange(32) // 4 % 2 * 160, (32, 1)) + random.integers(0, 60, (32, 32))
    ...     return (stripes.T if horizontal else stripes).astype(numpy.uint8)
    >>> data = {"flat": [picture(True) for _ in range(8)], "upright": [picture(False) for _ in range(8)]}
    >>> model = createml.ImageClassifier.train(
    ...     data, feature_extractor="learned", validation=None, max_iterations=5, progress=False)
    >>> model.predict([picture(True), picture(False)])
    ['flat', 'upright']
    >>> model.evaluate(data).accuracy
    1.0
    """

    _task: ClassVar[str] = "ImageClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        image: str = "image",
        label: str = "label",
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_iterations: int = 25,
        augmentations: Sequence[str] = (),
        feature_extractor: Optional[Path] = None,
        feature_extractor_output: Optional[str] = None,
        fine_tuned_blocks: Optional[int] = None,
        layer_sizes: Optional[Sequence[int]] = None,
    ) -> ImageClassifier:
        """Trains on labelled images.

        data: a folder with a folder of images for each label; a folder of images that are named like `rose.1.jpg`; a table
            with a column of images and one of labels; or a dictionary from labels to lists of images.  Images are paths
            (those of a table's file are relative to it), images of Pillow, or arrays of uint8, upright.
        image, label: the names of the columns.
        validation: the images to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.  Images must be files.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_iterations: the maximum number of iterations.
        augmentations: changed copies that are added to the training data: flip, crop, rotation, exposure, blur, noise.
        feature_extractor: the name of an installed extractor; the path of a model of your own, with a / or a . in it; or
            "learned" for features that are learned from the training images.  Without it, the features are those of
            efficientnet-lite0 if that is installed, or else learned, about which there is a `TrainingWarning`.
        feature_extractor_output: the output of your own model with the features; its only array if left out.
        fine_tuned_blocks: the number of efficientnet-lite0's last blocks that learn, too, 1 to 15; none if left out.
        layer_sizes: the sizes of the hidden layers of a perceptron; logistic regression without.
        """
        with Files(session) as files:
            options, table = files.labelled(data, image, label)
            options["validation"], held = validation_options(validation)
            validation_table = None
            if held is not None:
                more, validation_table = files.labelled(held, image, label)
                options["validation"].update(more)
            extractor = feature_extractor
            if isinstance(extractor, os.PathLike):
                extractor = os.path.abspath(extractor)
            model = cls._fitted(
                files, {**options, "image": image, "label": label}, table, validation_table,
                {
                    "max_iterations": max_iterations, "augmentations": list(augmentations), "feature_extractor": extractor,
                    "feature_extractor_output": feature_extractor_output, "fine_tuned_blocks": fine_tuned_blocks,
                    "layer_sizes": None if layer_sizes is None else list(layer_sizes),
                },
                session, checkpoint_interval, progress)
        if feature_extractor is None and fine_tuned_blocks is None:
            for text in model.warnings:
                warnings.warn(text, TrainingWarning, stacklevel=2)
        return model

    @classmethod
    def resume(
        cls, session: Path, image: str = "image", label: str = "label", *, progress: Progress = "auto",
    ) -> ImageClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress, image=image, label=label)

    @property
    def target(self) -> str:
        """The name of the column of labels."""
        return str(self._facts["target"])

    @property
    def warnings(self) -> list[str]:
        """What limits the use of the model: that its features were learned from the training images, and why."""
        return list(self._facts.get("warnings") or [])

    def evaluate(self, data: Data) -> _metrics.Metrics:
        """The performance on labelled images, in the forms of training's.

        `misclassified` lists the misclassified images, the most confident first: `image`, its path or
        its row among those in memory, `label`, `prediction` and `confidence`; `skipped` those that could not be read.
        """
        with Files() as files:
            options, table = files.labelled(data, self.features[0], self.target)
            return self._compared(files, options, table)

    def predict(self, data: Union[Picture, Data]) -> Any:
        """The label of an image; or the labels of several, of a list of them or a table with their column, in its kind."""
        asked = _pictures.Asked(data, self.features[0])
        labels = _data.given(asked.answers(self._handle, {}), asked.table, self.target)
        return labels[0] if asked.is_single else labels

    def predict_probabilities(self, data: Union[Picture, Data]) -> Any:
        """The probability of each label: a dictionary for an image; a table in the kind of the data for several."""
        asked = _pictures.Asked(data, self.features[0])
        answer = asked.answers(self._handle, {"probabilities": True})
        if asked.is_single:
            return {name: float(values[0]) for name, values in answer.to_dict().items()}
        return _data.given(answer, asked.table)


class ObjectDetector(_PictureModel):
    """A detector of objects, on the features of EfficientNet-Lite0: `coreml extractor install efficientnet-lite0`.

    Without it a small network is trained as a whole, which suits objects of simple shapes and colours.

    ::

        model = createml.ObjectDetector.train("cards/", max_iterations=2000)
        for found in model.predict("table.jpg"):
            print(found["label"], found["confidence"], found["coordinates"]["x"])
    """

    _task: ClassVar[str] = "ObjectDetector"

    @classmethod
    def train(
        cls,
        data: Data,
        image: str = "image",
        annotations: str = "annotations",
        *,
        images: Optional[Path] = None,
        units: str = "pixel",
        origin: str = "topLeft",
        anchor: str = "center",
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        batch_size: Optional[int] = None,
        max_iterations: Optional[int] = None,
        feature_extractor: Optional[str] = None,
        mirror_images: bool = True,
        turn_images: bool = False,
    ) -> ObjectDetector:
        """Trains on annotated images.

        data: a folder of images with one .json or .csv file, or the .xml files of Pascal VOC, in it; the path of such a file,
            or of a folder of .xml files, with the images in `images` or beside it; or a table with a column of images
            and one of annotations.  JSON is Create ML's or COCO's; a CSV file has a row for each image with `annotations`
            as JSON, or a row for each object with `label` and `xmin`, `ymin`, `xmax`, `ymax` or `x`, `y`, `width`, `height`.
            The annotations of a table are Create ML's JSON or lists of dictionaries like it: [{"label": "ace",
            "coordinates": {"x": 80, "y": 60, "width": 20, "height": 30}}].
        image, annotations: the names of the columns of a table.
        images: the folder of the images, if it is not that of the annotations; a table's paths are relative to it.
        units, origin, anchor: what the numbers of boxes are in Create ML's JSON and tables: pixel or normalized; where y is 0,
            topLeft or bottomLeft; of which point of a box x and y are, center, topLeft or bottomLeft.
        validation: the images to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.  Images must be files.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        batch_size: the number of views of images in an iteration, 1 to 256; 16 if left out.
        max_iterations: the maximum number of iterations; 1,200 to 4,000 by the number of images if left out, up to half more
            with turned images, two thirds of it with learned features.
        feature_extractor: "efficientnet-lite0", or "learned" for features that are learned from the training images.
            Without it, the features are those of efficientnet-lite0 if that is installed, or else learned, about which there is
            a `TrainingWarning`.
        mirror_images: whether half of the views are mirror images; False for objects that differ from their mirror images, such
            as playing cards, letters and signs.
        turn_images: whether views are turned by any angle; True for objects that lie in any direction, such as cards on a
            table.
        """
        with Files(session) as files:
            options, table = files.annotated(data, image, annotations, images)
            options["validation"], held = validation_options(validation)
            validation_table = None
            if held is not None:
                more, validation_table = files.annotated(held, image, annotations, images)
                options["validation"].update(more)
            model = cls._fitted(
                files,
                {
                    **options, "image": image, "annotations": annotations, "units": units, "origin": origin,
                    "anchor": anchor,
                },
                table, validation_table,
                {
                    "batch_size": batch_size, "max_iterations": max_iterations, "feature_extractor": feature_extractor,
                    "mirror_images": mirror_images, "turn_images": turn_images,
                },
                session, checkpoint_interval, progress)
        if feature_extractor is None:
            for text in model.warnings:
                warnings.warn(text, TrainingWarning, stacklevel=2)
        return model

    @classmethod
    def resume(
        cls, session: Path, image: str = "image", annotations: str = "annotations", *, progress: Progress = "auto",
    ) -> ObjectDetector:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress, image=image, annotations=annotations)

    @property
    def classes(self) -> list[str]:
        """The labels of the objects that the model finds."""
        return list(self._facts["labels"])

    @property
    def warnings(self) -> list[str]:
        """What limits the use of the model: that its features were learned from the training images, and why."""
        return list(self._facts.get("warnings") or [])

    def evaluate(self, data: Data, *, images: Optional[Path] = None) -> _metrics.Metrics:
        """The performance on annotated images, in the forms of training's: `DetectorMetrics`, with `skipped` images."""
        with Files() as files:
            options, table = files.annotated(data, self.features[0], str(self._facts["target"]), images)
            return self._compared(files, options, table)

    def predict(self, data: Union[Picture, Data]) -> Any:
        """The objects in an image, the most confident first: a list of dictionaries.

        Each has the `label`, the `confidence` from 0 to 1, and the `coordinates` `x`, `y`, `width` and `height`, in the units
        and with the origin and anchor of the annotations that the detector was trained with; annotations have the same form.
        A list of images gives a list of such lists; a table with a column of images a table in its kind, with a row for
        each object: its image, `label`, `confidence`, `x`, `y`, `width` and `height`.
        """
        asked = _pictures.Asked(data, self.features[0])
        found = asked.answers(self._handle, {}).to_dict()
        if asked.is_table:
            pictures = [asked.paths[row] for row in found.pop("picture")]
            answer = Table(_arrow.of_columns({self.features[0]: pictures, **found}))
            return _data.given(answer, Table(answer._handle, asked.table._kind))
        objects: list[list[dict[str, Any]]] = [[] for _ in asked.paths]
        for index, row in enumerate(found["picture"]):
            objects[row].append({
                "label": found["label"][index], "confidence": float(found["confidence"][index]),
                "coordinates": {name: float(found[name][index]) for name in ("x", "y", "width", "height")}})
        return objects[0] if asked.is_single else objects


class StyleTransfer(_PictureModel):
    """A network that draws images in the style of another image.

    Training measures style with a network: EfficientNet-Lite0 (`coreml extractor install efficientnet-lite0`), or one of your
    own.

    ::

        model = createml.StyleTransfer.train("mosaic.jpg", "photos/", max_iterations=500)
        model.stylize("portrait.jpg").save("drawn.png")
    """

    _task: ClassVar[str] = "StyleTransfer"

    @classmethod
    def train(
        cls,
        style_image: Picture,
        content_directory: Union[Path, Sequence[Picture]],
        *,
        processing_option: Optional[str] = "centerCrop",
        validation_image: Optional[Picture] = None,
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        algorithm: str = "cnn",
        max_iterations: int = 500,
        style_strength: int = 5,
        textel_density: int = 256,
        medium: str = "image",
        feature_extractor: Optional[Path] = None,
    ) -> StyleTransfer:
        """Trains on a style image and content images.

        style_image: the image whose style is learned: a path, an image of Pillow, or an array of uint8.
        content_directory: a folder of a few tens of images like those that the model will draw; or a list of images.
        processing_option: how images become squares: centerCrop, scaleFit or scaleFill; None keeps their proportions.
        validation_image: the image that shows the progress beside each checkpoint; the first content image if left out.
        session: a folder for checkpoints; the same call with the same folder goes on from them.  Images must be files.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        algorithm: cnn, or cnnLite with a quarter of the computation.
        max_iterations: the maximum number of iterations, of four crops each.
        style_strength: the strength of the style over the content, 1 to 10.
        textel_density: the side in pixels at which the style is learned, a multiple of 4 from 64 to 1024.
        medium: image; or video, for which movement and noise change the drawing less.
        feature_extractor: the path of a model with one colour image as its input that measures style.
        """
        with Files(session) as files:
            if isinstance(content_directory, (str, os.PathLike)):
                contents = os.fspath(content_directory)
            else:
                contents = files.folder(content_directory)
            return cls._fitted(
                files,
                {
                    "styleImage": files.path(style_image), "contentDirectory": contents,
                    "processingOption": processing_option or "none",
                    "validationImage": None if validation_image is None else files.path(validation_image),
                },
                None, None,
                {
                    "algorithm": algorithm, "max_iterations": max_iterations, "style_strength": style_strength,
                    "textel_density": textel_density, "medium": medium,
                    "feature_extractor": None if feature_extractor is None else os.fspath(feature_extractor),
                },
                session, checkpoint_interval, progress)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> StyleTransfer:
        """Goes on with the session of a folder, with the images and parameters that it was begun with."""
        return cls._resumed(session, progress)

    def stylize(self, picture: Picture) -> Any:
        """Draws an image of 64 × 64 pixels or more: an array for an array, an image of Pillow for one, or for a path.

        Pillow must be installed for a path: `pip install pillow`.
        """
        is_array = not _pictures.is_path(picture) and not _pictures.is_of_pillow(picture)
        if not is_array:
            try:
                from PIL import Image
            except ImportError:
                raise ImportError(
                    "the drawing of a file is an image of Pillow, which is not installed: pip install pillow; or pass an "
                    "array of NumPy, whose drawing is an array") from None
        given = _pictures.handle(picture)
        drawn = _native.Handle(_native.call("trained_stylize", self._handle.address, given.address))
        pixels = _pictures.array(drawn)
        return pixels if is_array else Image.fromarray(pixels)

    def __repr__(self) -> str:
        return "<StyleTransfer>"
