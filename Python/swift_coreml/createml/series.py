"""The tasks of Create ML on recordings: of sensors, sounds, and the key points of hands and bodies."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Optional, TypeVar

from . import _data
from ._data import Data, Path
from ._metrics import Metrics
from ._model import Model, Validation
from ._progress import Progress

Keypoints = TypeVar("Keypoints", bound="_KeypointClassifier")


class _Classifier(Model):
    @property
    def target(self) -> str:
        """The name of the column of labels."""
        return str(self._facts["target"])

    def evaluate(self, data: Data) -> Metrics:
        """The performance on labelled data, in the form of training's."""
        return self._evaluated(data, {}, takes_folders=True)


class ActivityClassifier(_Classifier):
    """A classifier of activities by the recordings of sensors.

    >>> from math import sin
    >>> from swift_coreml import createml
    >>> data = {"x": [sin(i / 2) for i in range(400)] + [sin(i / 9) for i in range(400)],
    ...         "label": ["run"] * 400 + ["walk"] * 400, "recording": ["one"] * 400 + ["two"] * 400}
    >>> model = createml.ActivityClassifier.train(
    ...     data, features=["x"], validation=None, prediction_window_size=50, maximum_iterations=2, progress=False)
    >>> len(model.predict(data))
    800
    """

    _task: ClassVar[str] = "ActivityClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        features: Sequence[str],
        label: str = "label",
        recording: str = "recording",
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        batch_size: int = 32,
        maximum_iterations: int = 10,
        prediction_window_size: int = 100,
    ) -> ActivityClassifier:
        """Trains on labelled recordings.

        data: a table with a row for each sample, or a folder with a folder of tables for each label.
        features: the names of the sensors' columns.
        label, recording: the names of the columns of labels, and of the recordings that samples belong to.
        validation: the recordings to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        batch_size: the mini-batch size.
        maximum_iterations: the maximum number of iterations.
        prediction_window_size: the number of samples in a prediction.
        """
        return cls._train(
            data, {"features": list(features), "label": label, "recording": recording},
            {
                "batch_size": batch_size, "maximum_iterations": maximum_iterations,
                "prediction_window_size": prediction_window_size,
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress,
            takes_folders=True)

    @classmethod
    def resume(cls, session: Path, *, progress: Progress = "auto") -> ActivityClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress)

    def predict(self, data: Data, per_window: bool = False) -> Any:
        """The label of each sample, or of each window; in the kind of the data."""
        table = _data.table(data)
        return _data.given(self._predicted(table, per_window=per_window), table, self.target)


class SoundClassifier(_Classifier):
    """A classifier of sounds, of files that libsndfile reads."""

    _task: ClassVar[str] = "SoundClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        file: str = "file",
        label: str = "label",
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        max_iterations: int = 25,
        overlap_factor: float = 0.5,
        layer_sizes: Optional[Sequence[int]] = None,
    ) -> SoundClassifier:
        """Trains on labelled sounds.

        data: a table with a column of paths and one of labels, or a folder with a folder of sounds for each label.
        file, label: the names of the columns.
        validation: the sounds to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        max_iterations: the maximum number of iterations.
        overlap_factor: how far windows overlap, 0 to below 1.
        layer_sizes: the sizes of the hidden layers of a perceptron; logistic regression without.
        """
        return cls._train(
            data, {"file": file, "label": label},
            {
                "max_iterations": max_iterations, "overlap_factor": overlap_factor,
                "layer_sizes": None if layer_sizes is None else list(layer_sizes),
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress,
            takes_folders=True)

    @classmethod
    def resume(
        cls, session: Path, file: str = "file", label: str = "label", *, progress: Progress = "auto",
    ) -> SoundClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed(session, progress, file=file, label=label)

    def predict(self, data: Any) -> Any:
        """The labels of sounds: of a list of paths, or of a table with their column; in the kind of the data."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table), table, self.target)

    def predict_probabilities(self, data: Any) -> Any:
        """The probability of each label for every sound, the mean of its windows: a table in the kind of the data."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table, probabilities=True), table)


class _KeypointClassifier(_Classifier):
    # The name of the column of pictures or videos.
    _media: str = ""

    @classmethod
    def _resumed_from(
        cls: type[Keypoints], session: Path, progress: Progress, session_id: str, label: str, keypoints: str, media: str,
    ) -> Keypoints:
        model = cls._resumed(session, progress, sessionId=session_id, label=label, keypoints=keypoints, media=media)
        model._media = media
        return model

    @classmethod
    def _trained_on(
        cls: type[Keypoints], data: Data, columns: dict[str, Any], parameters: dict[str, Any], **options: Any,
    ) -> Keypoints:
        model = cls._train(data, columns, parameters, takes_folders=True, names_files=True, **options)
        model._media = columns["media"]
        return model

    def evaluate(self, data: Data) -> Metrics:
        """The performance on labelled data, in the forms of training's."""
        return self._evaluated(data, {}, takes_folders=True, names_files=True)

    def predict(self, data: Any, per_window: bool = False) -> Any:
        """The label of each session with its confidence, or of each window of frames; a table in the kind of the data.

        data: a table with a row for each pose, a column of key points, and one of sessions, without which it is one; a table
            with a column of the paths of images or videos; such a path; or a list of them, each of which is a session.
        """
        if isinstance(data, (str, os.PathLike)) and not _data.is_table_file(data):
            data = [data]
        table = _data.texts(data, self._media)
        answer = self._predicted(table, per_window=per_window, **_data.relative(data))
        return _data.given(answer, table)


class HandPoseClassifier(_KeypointClassifier):
    """A classifier of the poses of hands by their key points: 63 numbers, x, y and confidence of 21 joints each."""

    _task: ClassVar[str] = "HandPoseClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        image: str = "imagePath",
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        batch_size: int = 32,
        maximum_iterations: int = 80,
        augmentations: Sequence[str] = ("rotate",),
    ) -> HandPoseClassifier:
        """Trains on labelled poses.

        data: a table with a row for each pose; a table with a row for each image; a folder with a folder for each label; or a
            folder of files that are named like `fist.1.jpg`.  Folders hold images, or tables of key points.  Images need
            the extractor mediapipe-hands: `coreml extractor install mediapipe-hands`.
        session_id, label, keypoints: the names of the columns; key points are lists of numbers.
        image: the column of paths in a table of images.
        validation: the sessions to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        batch_size: the mini-batch size.
        maximum_iterations: the maximum number of iterations.
        augmentations: transformations that add examples: horizontallyFlip, rotate (by up to 20 degrees either way), scale,
            translate.
        """
        return cls._trained_on(
            data,
            {"sessionId": session_id, "label": label, "keypoints": keypoints, "media": image},
            {"batch_size": batch_size, "maximum_iterations": maximum_iterations, "augmentations": list(augmentations)},
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(
        cls,
        session: Path,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        image: str = "imagePath",
        progress: Progress = "auto",
    ) -> HandPoseClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed_from(session, progress, session_id, label, keypoints, image)


class HandActionClassifier(_KeypointClassifier):
    """A classifier of the actions of hands by their key points in a sequence of frames."""

    _task: ClassVar[str] = "HandActionClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        video: str = "videoPath",
        start_time: Optional[str] = None,
        end_time: Optional[str] = None,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        batch_size: int = 32,
        maximum_iterations: int = 80,
        prediction_window_size: int = 60,
        target_frame_rate: float = 30.0,
        augmentations: Sequence[str] = (),
    ) -> HandActionClassifier:
        """Trains on labelled sequences of poses.

        data: a table with a row for each frame of a session, in their order; a table with a row for each video; a folder with a
            folder for each label; or a folder of files that are named like `jump.1.mp4`.  Folders hold videos, folders of
            frames, or tables of key points.  Videos need the extractor mediapipe-hands and the program ffmpeg.
        session_id, label, keypoints: the names of the columns; key points are lists of 63 numbers.
        video, start_time, end_time: the columns of a table of videos: paths, and the seconds where a part begins and ends.
        validation: the sessions to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        batch_size: the mini-batch size.
        maximum_iterations: the maximum number of iterations.
        prediction_window_size: the number of frames in a prediction.
        target_frame_rate: frames per second of the key points, recorded with the session.
        augmentations: transformations that add examples: dropFrames, horizontallyFlip, interpolateFrames, rotate, scale,
            translate.
        """
        return cls._trained_on(
            data,
            {"sessionId": session_id, "label": label, "keypoints": keypoints, "media": video,
             "startTime": start_time, "endTime": end_time},
            {
                "batch_size": batch_size, "maximum_iterations": maximum_iterations,
                "prediction_window_size": prediction_window_size, "target_frame_rate": target_frame_rate,
                "augmentations": list(augmentations),
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(
        cls,
        session: Path,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        video: str = "videoPath",
        progress: Progress = "auto",
    ) -> HandActionClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed_from(session, progress, session_id, label, keypoints, video)


class ActionClassifier(_KeypointClassifier):
    """A classifier of the actions of a body by its key points in a sequence of frames: x, y and confidence of each joint."""

    _task: ClassVar[str] = "ActionClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        video: str = "videoPath",
        start_time: Optional[str] = None,
        end_time: Optional[str] = None,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        batch_size: int = 32,
        maximum_iterations: int = 80,
        prediction_window_size: int = 60,
        target_frame_rate: float = 30.0,
        augmentations: Optional[Sequence[str]] = None,
    ) -> ActionClassifier:
        """Trains on labelled sequences of poses.

        data: a table with a row for each frame of a session, in their order; a table with a row for each video; a folder with a
            folder for each label; or a folder of files that are named like `jump.1.mp4`.  Folders hold videos, folders of
            frames, or tables of key points.  Videos need the extractor mediapipe-body and the program ffmpeg.
        session_id, label, keypoints: the names of the columns; key points are lists of numbers.
        video, start_time, end_time: the columns of a table of videos: paths, and the seconds where a part begins and ends.
        validation: the sessions to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of iterations between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        batch_size: the mini-batch size.
        maximum_iterations: the maximum number of iterations.
        prediction_window_size: the number of frames in a prediction.
        target_frame_rate: frames per second of the key points, recorded with the session.
        augmentations: transformations that add examples: horizontalFlip, which is the default; () for none.
        """
        return cls._trained_on(
            data,
            {"sessionId": session_id, "label": label, "keypoints": keypoints, "media": video,
             "startTime": start_time, "endTime": end_time},
            {
                "batch_size": batch_size, "maximum_iterations": maximum_iterations,
                "prediction_window_size": prediction_window_size, "target_frame_rate": target_frame_rate,
                "augmentations": None if augmentations is None else list(augmentations),
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @classmethod
    def resume(
        cls,
        session: Path,
        session_id: str = "session_id",
        label: str = "label",
        keypoints: str = "keypoints",
        *,
        video: str = "videoPath",
        progress: Progress = "auto",
    ) -> ActionClassifier:
        """Goes on with the session of a folder, with the data and parameters that it was begun with."""
        return cls._resumed_from(session, progress, session_id, label, keypoints, video)
